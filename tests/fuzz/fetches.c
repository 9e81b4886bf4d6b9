/* fetches.c - requests to the network as the host takes them from a cell that says anything, with a
 * server that answers anything: each call is answered at most once and well formed, and nothing is
 * left when the run is over.
 *
 * The input is what the server says, up to a byte 0xff, and then calls: which, of which stream,
 * with which flags, and bytes with their length in front. */
#include "host/fetch.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "fuzz.h"
#include "host/egress_net.h"
#include "policy/limits.h"
#include "wire/fetch.h"

enum {
    CALLS_IN_ONE_INPUT = 40,
    ANSWER_BYTES_MAX = 4096,
    ANSWERS_MAX = 8 << 20,
    TURN_MS = 2,
    TURNS_MAX = 12, /* in one input: the server is another thread, which takes its time */
};

/* ---- the server ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char answer[ANSWER_BYTES_MAX];
static size_t answer_len;
static unsigned port;

static void *serve(void *user)
{
    int sock = *(int *)user, fd;
    char text[ANSWER_BYTES_MAX];
    size_t len;

    while ((fd = accept4(sock, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        (void)pthread_mutex_lock(&lock);
        memcpy(text, answer, answer_len);
        len = answer_len;
        (void)pthread_mutex_unlock(&lock);
        (void)send(fd, text, len, MSG_NOSIGNAL);
        (void)shutdown(fd, SHUT_WR);
        (void)close(fd);
    }
    return NULL;
}

/* What there is once. */
static struct vial_engine engine;

static void begin_once(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    static int sock;
    pthread_t thread;

    if (port != 0) {
        return;
    }
    call_table_init(&engine.calls, 1);
    sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FUZZ_CHECK(sock >= 0 && bind(sock, (struct sockaddr *)&at, sizeof(at)) == 0 &&
                   listen(sock, 64) == 0 && getsockname(sock, (struct sockaddr *)&at, &len) == 0 &&
                   pthread_create(&thread, NULL, serve, &sock) == 0,
        "there is no server");
    port = ntohs(at.sin_port);
}

/* ---- calls ---- */

/* The numbers that wait for an answer. */
static unsigned char is_waiting[CALLS_IN_ONE_INPUT + 1];

static void check_bytes(const char *bytes, size_t len)
{
    struct fetch_reply reply;

    FUZZ_CHECK(len >= sizeof(reply), "a reply of %zu bytes", len);
    memcpy(&reply, bytes, sizeof(reply));
    FUZZ_CHECK(reply.head_len <= len - sizeof(reply) && (reply.flags & ~(uint32_t)FETCH_END) == 0,
        "the head of a reply is longer than the reply");
    FUZZ_CHECK(
        reply.head_len == 0 || json_check(bytes + sizeof(reply), reply.head_len, 64, NULL) == 0,
        "the head of an answer is no JSON");
    FUZZ_CHECK(len - sizeof(reply) - reply.head_len <= FETCH_PIECE_BYTES, "a piece is too long");
}

static void read_answers(int sock, struct buf *all, size_t *at)
{
    struct frame_header header;
    struct answer_head head;
    const char *bytes;
    ssize_t n = 1;
    size_t len;

    while (n > 0) {
        FUZZ_CHECK(buf_reserve(all, 1 << 16, NULL) == 0, "the answers are too long");
        n = recv(sock, all->data + all->len, 1 << 16, MSG_DONTWAIT);
        all->len += n > 0 ? (size_t)n : 0;
    }
    while (all->len - *at >= sizeof(header) + sizeof(head)) {
        memcpy(&header, all->data + *at, sizeof(header));
        memcpy(&head, all->data + *at + sizeof(header), sizeof(head));
        FUZZ_CHECK(header.type == FRAME_ANSWER && header.len >= sizeof(head), "no answer");
        if (all->len - *at - sizeof(header) < header.len) {
            break;
        }
        bytes = all->data + *at + sizeof(header) + sizeof(head);
        len = header.len - sizeof(head);
        FUZZ_CHECK(head.id <= CALLS_IN_ONE_INPUT && is_waiting[head.id] == 1,
            "an answer to the call %u, which wants none", head.id);
        is_waiting[head.id] = 0;
        if (head.kind == ANSWER_BYTES) {
            check_bytes(bytes, len);
        } else {
            FUZZ_CHECK(head.kind == ANSWER_ERROR && json_check(bytes, len, 64, NULL) == 0,
                "an answer of kind %u", head.kind);
        }
        *at += sizeof(header) + header.len;
    }
}

/* Reads one call from the input. */
static struct fetch_ask next_call(struct fuzz_input *in, struct buf *ret)
{
    struct call_head head = {.tool = FETCH_TOOL, .kind = CALL_BYTES};
    unsigned which = fuzz_byte(in), flags = fuzz_byte(in);
    struct fetch_ask ask = {.op = which % 5 == 4 ? FETCH_OPEN : which % 5, .flags = flags % 4};
    size_t len;
    char text[160];
    int text_len = 0;

    ask.stream = fuzz_byte(in) % 16;
    len = fuzz_byte(in) * (size_t)(which >= 128 ? 32 : 1);
    len = len < in->left ? len : in->left;
    if (ask.op == FETCH_OPEN && which < 192) { /* one that gets through, mostly */
        text_len = snprintf(text, sizeof(text),
            "{\"url\":\"http://127.0.0.1:%u/x\",\"method\":\"%s\",\"headers\":[[\"X\",\"y\"]]}",
            port, flags >= 128 ? "POST" : "GET");
        ask.head_len = (uint32_t)text_len;
    } else if (ask.op == FETCH_OPEN) {
        ask.head_len = (uint32_t)(len > 20 ? len - 20 : len);
    }
    buf_clear(ret);
    FUZZ_CHECK(buf_add(ret, &head, sizeof(head), NULL) == 0 &&
                   buf_add(ret, &ask, sizeof(ask), NULL) == 0 &&
                   (text_len == 0 || buf_add(ret, text, (size_t)text_len, NULL) == 0) &&
                   (len == 0 || buf_add(ret, in->at, len, NULL) == 0),
        "there is no memory");
    in->at += len;
    in->left -= len;
    return ask;
}

/* A sleep of the run's thread. */
static void turn(struct vial_run *run)
{
    struct pollfd p[EGRESS_SOCKETS_MAX];
    size_t n = fetches_sockets(run, p, EGRESS_SOCKETS_MAX);
    int ready = poll(p, n, n > 0 && fetches_deadline_us(run) > clock_now_us() ? TURN_MS : 0);

    fetches_serve(run, p, ready > 0 ? n : 0, clock_now_us());
    calls_serve(run, clock_now_us());
}

static void make_calls(struct vial_run *run, struct fuzz_input *in, int sock)
{
    unsigned count = 0, turns = 0;
    struct buf payload, answers;
    enum calls_taken r = CALLS_TAKEN;
    struct frame f = {.type = FRAME_CALL};
    struct fetch_ask ask;
    size_t at = 0;

    memset(is_waiting, 0, sizeof(is_waiting));
    buf_init(&payload, 1 << 16);
    buf_init(&answers, ANSWERS_MAX);
    while (in->left > 0 && count < CALLS_IN_ONE_INPUT && r == CALLS_TAKEN) {
        ask = next_call(in, &payload);
        count++;
        memcpy(payload.data, &count, sizeof(count)); /* its number, which counts up */
        is_waiting[count] = ask.op != FETCH_CLOSE;
        f.payload = payload.data;
        f.len = payload.len;
        r = calls_take(run, &f);
        if (fuzz_byte(in) % 3 == 0 && turns++ < TURNS_MAX) {
            turn(run);
        }
        read_answers(sock, &answers, &at);
    }
    while (turns++ < TURNS_MAX && fetches_are_pending(run)) {
        turn(run);
        read_answers(sock, &answers, &at);
    }
    calls_end(run);
    FUZZ_CHECK(!fetches_are_pending(run), "something waits when the run is over");
    read_answers(sock, &answers, &at);
    buf_release(&payload);
    buf_release(&answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct vial_run run = {.engine = &engine, .pidfd = -1, .wake_fd = -1, .id = 1};
    struct vial_limits given = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    const char *said, *json;
    char net[256];
    size_t len = 0;
    int pair[2];

    begin_once();
    said = fuzz_until(&in, (char)0xff, &len);
    (void)pthread_mutex_lock(&lock);
    answer_len = len < ANSWER_BYTES_MAX ? len : ANSWER_BYTES_MAX;
    if (answer_len > 0) {
        memcpy(answer, said, answer_len);
    }
    (void)pthread_mutex_unlock(&lock);
    given.requests_max = 10;
    given.requests_at_once_max = 2;
    given.request_bytes_max = 2000;
    given.response_bytes_max = 3000;
    given.decoded_bytes_max = 5000;
    given.request_ms_max = 100;
    given.redirects_max = 2;
    FUZZ_CHECK(limits_resolve(&given, &run.limits, NULL) == 0, "the limits");
    (void)snprintf(net, sizeof(net),
        "[{\"effect\":\"allow\",\"match\":{\"scheme\":\"http\",\"host\":\"127.0.0.1\",\"port\":%u},"
        "\"addresses\":[\"127.0.0.1\"]}]",
        port);
    run.request = (struct vial_request)VIAL_REQUEST_INIT;
    run.request.net = net;
    run.request.net_len = strlen(net);
    FUZZ_CHECK(result_new(&run.limits, "{}", &result, NULL) == 0, "there is no memory");
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "no socket");
    FUZZ_CHECK(fetches_open(&run, NULL, NULL) == 0 && run.calls.fetches != NULL, "no network");
    FUZZ_CHECK(calls_open(&run, NULL, NULL, BREED_JS, NULL) == 0, "the calls");
    calls_begin(&run, pair[0], result);
    make_calls(&run, &in, pair[1]);
    calls_close(&run);
    if (run.wake_fd >= 0) {
        (void)close(run.wake_fd);
    }
    json = vial_result_json(result, &len);
    FUZZ_CHECK(json != NULL && json_check(json, len, 1024, NULL) == 0, "the result is no JSON");
    vial_result_free(result);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return 0;
}
