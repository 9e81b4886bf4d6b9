/* auth.c - see auth.h. */
#include "http/auth.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/log.h"
#include "http/problem.h"
#include "http/router.h"
#include "http/server.h"

/* A user of this machine may do what the machine can: there is no key to count for. */
static const struct quota LOCAL_QUOTA = {.concurrent = QUOTA_CONCURRENT_MAX,
    .runs_per_minute = QUOTA_RUNS_PER_MINUTE_MAX,
    .cpu_seconds_per_day = QUOTA_CPU_SECONDS_PER_DAY_MAX,
    .sessions = QUOTA_SESSIONS_MAX};

int auth_is_same_user(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && len == sizeof(peer) &&
           peer.uid == geteuid();
}

int auth_is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, address, sizeof(in));
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, address, sizeof(in6));
        return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr) != 0;
    }
    return 0;
}

void auth_from(const struct exchange *x, char *text, size_t size)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof(address);
    struct ucred peer;
    socklen_t peer_len = sizeof(peer);
    char host[INET6_ADDRSTRLEN] = "";

    (void)getpeername(x->connection->fd, (struct sockaddr *)&address, &len);
    if (address.ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &((struct sockaddr_in *)&address)->sin_addr, host, sizeof(host));
    } else if (address.ss_family == AF_INET6) {
        (void)inet_ntop(
            AF_INET6, &((struct sockaddr_in6 *)&address)->sin6_addr, host, sizeof(host));
    } else if (getsockopt(x->connection->fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) == 0) {
        (void)snprintf(host, sizeof(host), "uid %u", (unsigned)peer.uid);
    }
    (void)snprintf(text, size, "%s", host);
}

/* The token of the request, or NULL. */
static const char *token_of(const struct exchange *x)
{
    const char *value = exchange_header(x, "Authorization");

    if (value != NULL) {
        if (strncasecmp(value, "Bearer ", 7) != 0) {
            return "";
        }
        for (value += 7; *value == ' '; value++) {
        }
        return value;
    }
    return exchange_header(x, "X-API-Key");
}

/* A page of somebody else in a browser of this machine could ask as well: its requests say where
 * they come from, and a name of its own that it has pointed here is in Host. */
static int is_from_elsewhere(const struct exchange *x)
{
    const char *origin = exchange_header(x, "Origin"), *host = exchange_header(x, "Host");
    const char *of = origin != NULL ? strstr(origin, "://") : NULL;

    return origin != NULL && (of == NULL || host == NULL || strcasecmp(of + 3, host) != 0);
}

static int is_local_name(const char *host)
{
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t i;

    for (i = 0; host != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strlen(names[i]);

        if (strncasecmp(host, names[i], len) == 0 && (host[len] == '\0' || host[len] == ':')) {
            return 1;
        }
    }
    return 0;
}

static int refuse(struct exchange *x, const char *detail)
{
    answer_header(x, "WWW-Authenticate", "Bearer realm=\"vial\"");
    answer_problem(x, PROBLEM_UNAUTHORIZED, "%s", detail);
    return -1;
}

static int refuse_key(struct exchange *x, const char *token, const struct vial_error *err)
{
    char id[KEY_ID_BYTES + 1] = "", from[64] = "";
    struct audit_record record = {.kind = AUDIT_KEY, .status = "denied", .from = from};

    auth_from(x, from, sizeof(from));
    if (key_token_id(token, strlen(token), id) == 0) {
        record.key = id;
    }
    record.detail = err->sys == EKEYREVOKED   ? "the key was revoked"
                    : err->sys == EKEYEXPIRED ? "the key has expired"
                                              : "there is no such key";
    (void)!server_record(x->server, &record, NULL);
    log_say(LOG_WARN, "a key was refused", "key", id, "from", from, "why", record.detail, NULL);
    if (err->code != VIAL_E_INVALID) { /* the store: refused as well, but not for good */
        answer_problem(x, PROBLEM_STORE, "keys cannot be checked at the moment: %s", err->text);
        return -1;
    }
    return refuse(x, err->sys == EKEYREVOKED   ? "this key was revoked"
                     : err->sys == EKEYEXPIRED ? "this key has expired"
                                               : "this is not a valid key");
}

static int find_caller(struct exchange *x, struct caller *caller)
{
    const char *token = token_of(x);
    struct vial_error err = {.code = 0};
    struct key_info info;

    if (token == NULL && x->connection->is_trusted) {
        if (!x->connection->is_unix && !is_local_name(exchange_header(x, "Host")) &&
            exchange_header(x, "Host") != NULL) {
            return refuse(x, "without a key, ask for localhost by that name");
        }
        *caller = (struct caller){.scopes = KEY_SCOPES_ALL, .quota = LOCAL_QUOTA};
        return 0;
    }
    if (token == NULL) {
        return refuse(x, "give a key: Authorization: Bearer vial_...; `vial key create` makes one");
    }
    if (x->server->keys == NULL) {
        return refuse(x, "there are no keys here");
    }
    if (key_find(x->server->keys, token, strlen(token), &info, &err) < 0) {
        return refuse_key(x, token, &err);
    }
    *caller = (struct caller){.scopes = info.scopes, .quota = info.quota};
    (void)snprintf(caller->id, sizeof(caller->id), "%s", info.id);
    return 0;
}

int auth_check(struct exchange *x)
{
    char scopes[KEY_SCOPES_TEXT_BYTES_MAX];

    if ((x->route->flags & ROUTE_OPEN) != 0) {
        return 0;
    }
    if (is_from_elsewhere(x)) {
        answer_problem(x, PROBLEM_FORBIDDEN, "a page of another origin may not ask this");
        return -1;
    }
    if (find_caller(x, &x->caller) < 0) {
        return -1;
    }
    if ((x->caller.scopes & x->route->scopes) == 0) {
        key_scopes_text(x->route->scopes, scopes);
        answer_problem(x, PROBLEM_FORBIDDEN, "this needs a key with the scope %s", scopes);
        return -1;
    }
    return 0;
}
