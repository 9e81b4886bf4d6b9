/* bench_fetch.c - a guarded request of a program to a server on the loopback, beside the same
 * request with libcurl alone: both on a connection that is kept, and both on a new one for each
 * request, because the server closes it.
 *
 * Beside the time on the clock, which has the wake-ups of other processors in it, there is the
 * processor time of whoever asks: of libcurl the thread's, of ours the thread's and the cell's. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

#define PATH_KEEP "/keep"
#define PATH_CLOSE "/close"

/* What a request costs, in nanoseconds: on the clock, and of processors. */
struct cost {
    uint64_t wall, cpu;
};

struct server {
    pid_t pid;
    unsigned port;
};

/* Answers every request on a connection, as soon as its head is whole; they have no bodies. Who
 * asks for PATH_CLOSE gets a last answer. */
static void serve(int fd)
{
    char request[8192], answer[256 + BODY_BYTES];
    int is_last = 0, head_len;
    size_t len = 0;
    ssize_t n;

    while (!is_last) {
        n = recv(fd, request + len, sizeof(request) - 1 - len, 0);
        if (n <= 0) {
            return;
        }
        len += (size_t)n;
        request[len] = '\0';
        if (strstr(request, "\r\n\r\n") == NULL) {
            continue;
        }
        len = 0;
        is_last = strncmp(request, "GET " PATH_CLOSE, strlen("GET " PATH_CLOSE)) == 0;
        head_len =
            snprintf(answer, sizeof(answer), "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n",
                BODY_BYTES, is_last ? "Connection: close\r\n" : "");
        memset(answer + head_len, 'x', BODY_BYTES);
        if (fd_write_all(fd, answer, (size_t)head_len + BODY_BYTES) < 0) {
            return;
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
            serve(fd);
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

/* The processor time of this thread so far, in microseconds. */
static uint64_t thread_us(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_THREAD, &r);
    return (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

/* A request with libcurl alone; -1 after a message. */
static int bare(const char *url, struct cost *ret)
{
    const struct libcurl *lib = NULL;
    struct vial_error err;
    uint64_t before = 0, cpu = 0;
    CURLM *multi;
    CURL *easy;
    int i, r = 0;

    if (libcurl_get(&lib, &err) < 0) {
        return cli_fail_library(&err), -1;
    }
    multi = lib->multi_init();
    easy = lib->easy_init();
    for (i = 0; i < FIRST + REQUESTS && r == 0; i++) {
        before = i == FIRST ? clock_now_us() : before;
        cpu = i == FIRST ? thread_us() : cpu;
        r = multi != NULL && easy != NULL ? ask(lib, multi, easy, url) : -1;
    }
    ret->wall = (clock_now_us() - before) * 1000 / REQUESTS;
    ret->cpu = (thread_us() - cpu) * 1000 / REQUESTS;
    lib->easy_cleanup(easy);
    (void)lib->multi_cleanup(multi);
    return r == 0 ? 0 : (cli_fail(EXIT_OUR_FAILURE, "a request with libcurl failed"), -1);
}

/* A run with so many requests, in microseconds; -1 after a message. */
static int run(
    struct bench *b, const struct server *s, const char *url, int count, struct cost *ret)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result;
    struct vial_error err;
    char source[256], net[256];
    uint64_t cpu = thread_us();
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
        return cli_fail_library(&err), -1;
    }
    vial_result_usage(result, &usage);
    status = vial_result_status(result);
    vial_result_free(result);
    if (status != VIAL_STATUS_OK) {
        return cli_fail(EXIT_OUR_FAILURE, "a benchmark ended as %s", vial_status_name(status)), -1;
    }
    *ret = (struct cost){.wall = usage.wall_us, .cpu = usage.cpu_us + thread_us() - cpu};
    return 0;
}

/* A request of a program: what a run with many takes longer than one with a few. */
static int guarded(struct bench *b, const struct server *s, const char *url, struct cost *ret)
{
    struct cost few, many;

    if (run(b, s, url, FIRST, &few) < 0 || run(b, s, url, FIRST + REQUESTS, &many) < 0) {
        return -1;
    }
    ret->wall = many.wall > few.wall ? (many.wall - few.wall) * 1000 / REQUESTS : 1;
    ret->cpu = many.cpu > few.cpu ? (many.cpu - few.cpu) * 1000 / REQUESTS : 1;
    return 0;
}

/* Both, on one kind of connection. */
struct pair {
    struct cost bare, guarded;
};

static struct cost median(struct bench_times *wall, struct bench_times *cpu)
{
    return (struct cost){.wall = bench_times_at(wall, 50), .cpu = bench_times_at(cpu, 50)};
}

static int measure(struct bench *b, const struct server *s, const char *path, struct pair *ret)
{
    struct bench_times times[4] = {{0}};
    struct pair p = {.bare = {0}};
    char url[64];
    int i, r = 0;

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", s->port, path);
    for (i = 0; i < REPEATS && r == 0; i++) { /* in turn: the machine is not always the same */
        r = bare(url, &p.bare) < 0 || guarded(b, s, url, &p.guarded) < 0 ? -1 : 0;
        bench_times_add(&times[0], p.bare.wall);
        bench_times_add(&times[1], p.bare.cpu);
        bench_times_add(&times[2], p.guarded.wall);
        bench_times_add(&times[3], p.guarded.cpu);
    }
    ret->bare = median(&times[0], &times[1]);
    ret->guarded = median(&times[2], &times[3]);
    for (i = 0; i < 4; i++) {
        bench_times_release(&times[i]);
    }
    return r;
}

static double ratio(uint64_t a, uint64_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

static void tell(struct bench *b, const char *name, const char *what, const struct pair *p)
{
    bench_line(b, "%-17s %.1f us guarded, %.1f us with libcurl alone: %.2fx; %s", name,
        (double)p->guarded.wall / 1000, (double)p->bare.wall / 1000,
        ratio(p->guarded.wall, p->bare.wall), what);
    bench_line(b, "                  %.1f us and %.1f us of processor time: %.2fx, %d in one run",
        (double)p->guarded.cpu / 1000, (double)p->bare.cpu / 1000,
        ratio(p->guarded.cpu, p->bare.cpu), REQUESTS);
}

static void tell_json(struct bench *b, const char *name, const struct pair *p)
{
    json_key(b->json, name);
    json_begin_object(b->json);
    json_key(b->json, "guarded_ns");
    json_u64(b->json, p->guarded.wall);
    json_key(b->json, "guarded_cpu_ns");
    json_u64(b->json, p->guarded.cpu);
    json_key(b->json, "bare_ns");
    json_u64(b->json, p->bare.wall);
    json_key(b->json, "bare_cpu_ns");
    json_u64(b->json, p->bare.cpu);
    json_end_object(b->json);
}

int bench_fetch(struct bench *b)
{
    struct pair keep = {.bare = {0}}, fresh = {.bare = {0}};
    struct server s;
    int r;

    if (server_start(&s) < 0) {
        return cli_fail(EXIT_OUR_FAILURE, "there is no server to ask");
    }
    r = measure(b, &s, PATH_KEEP, &keep);
    r = r < 0 ? r : measure(b, &s, PATH_CLOSE, &fresh);
    server_stop(&s);
    if (r < 0) {
        return EXIT_OUR_FAILURE;
    }
    tell(b, "fetch, kept", "the connection is there", &keep);
    tell(b, "fetch, new", "a new connection each", &fresh);
    if (b->json != NULL) {
        json_key(b->json, "fetch");
        json_begin_object(b->json);
        tell_json(b, "kept", &keep);
        tell_json(b, "new", &fresh);
        json_end_object(b->json);
    }
    return EXIT_FINE;
}
