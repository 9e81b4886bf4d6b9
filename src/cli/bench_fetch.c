/* bench_fetch.c - a guarded request of a program to a server on the loopback, beside the same
 * request with libcurl alone: with a connection that is kept, as the guarded one has it, and with a
 * new one for each request. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "host/libcurl.h"

/* The first requests of a run load what they need; the others are what is measured. */
enum { FIRST = 20, REQUESTS = 400, REPEATS = 7, BODY_BYTES = 1024, CONNECTIONS_MAX = 64 };

struct server {
    pid_t pid;
    unsigned port;
};

/* Answers every request on a connection, as soon as its head is whole; they have no bodies. */
static int serve(int fd)
{
    static char body[BODY_BYTES];
    char request[8192], head[128];
    size_t len = 0;
    ssize_t n;
    int head_len;

    memset(body, 'x', sizeof(body));
    head_len =
        snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", BODY_BYTES);
    for (;;) {
        struct {
            char bytes[sizeof(head) + BODY_BYTES];
        } answer;

        n = recv(fd, request + len, sizeof(request) - 1 - len, 0);
        if (n <= 0) {
            return 0;
        }
        len += (size_t)n;
        request[len] = '\0';
        if (strstr(request, "\r\n\r\n") == NULL) {
            continue;
        }
        len = 0;
        memcpy(answer.bytes, head, (size_t)head_len);
        memcpy(answer.bytes + head_len, body, sizeof(body));
        if (fd_write_all(fd, answer.bytes, (size_t)head_len + sizeof(body)) < 0) {
            return 0;
        }
    }
}

/* A process that serves one connection after another, until we are gone. */
static int server_start(struct server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd;

    if (sock < 0 || bind(sock, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(sock, CONNECTIONS_MAX) < 0 || getsockname(sock, (struct sockaddr *)&at, &len) < 0) {
        return -1;
    }
    s->port = ntohs(at.sin_port);
    s->pid = fork();
    if (s->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        while ((fd = accept(sock, NULL, NULL)) >= 0) {
            (void)serve(fd);
            (void)close(fd);
        }
        _exit(0);
    }
    (void)close(sock);
    return s->pid > 0 ? 0 : -1;
}

static void server_stop(const struct server *s)
{
    (void)kill(s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
}

static size_t ignore(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)user;
    return size * count;
}

/* One request with libcurl; 0, or -1. */
static int ask(const struct libcurl *lib, CURLM *multi, CURL *easy, const char *url)
{
    int running = 1, left;
    CURLMsg *m;

    if (lib->easy_setopt(easy, CURLOPT_URL, url) != CURLE_OK ||
        lib->easy_setopt(easy, CURLOPT_WRITEFUNCTION, ignore) != CURLE_OK ||
        lib->easy_setopt(easy, CURLOPT_PROXY, "") != CURLE_OK ||
        lib->multi_add_handle(multi, easy) != CURLM_OK) {
        return -1;
    }
    while (lib->multi_perform(multi, &running) == CURLM_OK && running > 0) {
        (void)lib->multi_poll(multi, NULL, 0, 1000, NULL);
    }
    m = lib->multi_info_read(multi, &left);
    left = m != NULL && m->data.result == CURLE_OK ? 0 : -1;
    (void)lib->multi_remove_handle(multi, easy);
    return left;
}

/* The time of a request with libcurl alone, in nanoseconds; 0 after a message. */
static uint64_t bare_ns(const char *url, int is_kept)
{
    const struct libcurl *lib = NULL;
    struct vial_error err;
    uint64_t before = 0;
    CURLM *multi;
    CURL *easy;
    int i, r = 0;

    if (libcurl_get(&lib, &err) < 0) {
        (void)cli_fail_library(&err);
        return 0;
    }
    multi = lib->multi_init();
    easy = lib->easy_init();
    for (i = 0; i < FIRST + REQUESTS && r == 0; i++) {
        before = i == FIRST ? clock_now_us() : before;
        if (!is_kept && easy != NULL && multi != NULL) {
            lib->easy_cleanup(easy);
            (void)lib->multi_cleanup(multi);
            multi = lib->multi_init();
            easy = lib->easy_init();
        }
        r = multi != NULL && easy != NULL ? ask(lib, multi, easy, url) : -1;
    }
    before = clock_now_us() - before;
    lib->easy_cleanup(easy);
    (void)lib->multi_cleanup(multi);
    return r == 0 ? before * 1000 / REQUESTS : 0;
}

/* The wall time of a run with so many requests; 0 after a message. */
static uint64_t run_us(struct bench *b, const struct server *s, const char *url, int count)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result;
    struct vial_error err;
    char source[256], net[256];
    int status;

    (void)snprintf(source, sizeof(source),
        "for (let i = 0; i < %d; i++) await (await fetch('%s')).text(); 1", count, url);
    (void)snprintf(net, sizeof(net),
        "[{\"effect\":\"allow\",\"match\":{\"scheme\":\"http\",\"host\":\"127.0.0.1\",\"port\":%u},"
        "\"addresses\":[\"127.0.0.1\"]}]",
        s->port);
    limits.requests_max = 100000;
    request.source = source;
    request.source_len = strlen(source);
    request.net = net;
    request.net_len = strlen(net);
    request.limits = &limits;
    if (vial_run(b->engine, &request, &result, &err) < 0) {
        (void)cli_fail_library(&err);
        return 0;
    }
    vial_result_usage(result, &usage);
    status = vial_result_status(result);
    vial_result_free(result);
    if (status != VIAL_STATUS_OK) {
        (void)cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status));
        return 0;
    }
    return usage.wall_us;
}

/* What was measured, in nanoseconds. */
struct found {
    uint64_t kept, fresh, ours;
};

static int measure(struct bench *b, const struct server *s, struct found *ret)
{
    struct bench_times kept = {0}, fresh = {0}, ours = {0};
    uint64_t few, many, alone, anew;
    char url[64];
    int i, r = 0;

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/x", s->port);
    for (i = 0; i < REPEATS && r == 0; i++) { /* in turn: the machine is not always the same */
        alone = bare_ns(url, 1);
        anew = bare_ns(url, 0);
        few = run_us(b, s, url, FIRST);
        many = run_us(b, s, url, FIRST + REQUESTS);
        r = alone == 0 || anew == 0 || few == 0 || many < few ? -1 : 0;
        bench_times_add(&kept, alone);
        bench_times_add(&fresh, anew);
        bench_times_add(&ours, (many - few) * 1000 / REQUESTS);
    }
    *ret = (struct found){.kept = bench_times_at(&kept, 50),
        .fresh = bench_times_at(&fresh, 50),
        .ours = bench_times_at(&ours, 50)};
    bench_times_release(&kept);
    bench_times_release(&fresh);
    bench_times_release(&ours);
    return r;
}

int bench_fetch(struct bench *b)
{
    struct found found = {.kept = 0};
    struct server s;
    int r;

    if (server_start(&s) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "there is no server to ask");
    }
    r = measure(b, &s, &found);
    server_stop(&s);
    if (r < 0 || found.kept == 0 || found.fresh == 0) {
        return EXIT_OUR_FAILURE;
    }
    bench_line(b,
        "fetch             %.1f us guarded; libcurl alone %.1f us, %.1f us with a connect",
        (double)found.ours / 1000, (double)found.kept / 1000, (double)found.fresh / 1000);
    bench_line(b, "                  %.2fx and %.2fx of it, %d in sequence in one run",
        (double)found.ours / (double)found.kept, (double)found.ours / (double)found.fresh,
        REQUESTS);
    if (b->json != NULL) {
        json_key(b->json, "fetch");
        json_begin_object(b->json);
        json_key(b->json, "bare_ns");
        json_u64(b->json, found.kept);
        json_key(b->json, "bare_connect_ns");
        json_u64(b->json, found.fresh);
        json_key(b->json, "guarded_ns");
        json_u64(b->json, found.ours);
        json_end_object(b->json);
    }
    return EXIT_FINE;
}
