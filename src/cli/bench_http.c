/* bench_http.c - 1+1 through `vial serve` on a loopback connection that is kept, beside the same
 * with the library, one after the other. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    FIRST = 30, /* that are not counted: code and tables are loaded */
    RUNS = 400,
    PAUSE_MS = 4, /* in which both pools fill again */
    START_TRIES = 500,
    ANSWER_BYTES = 65536,
};

static const char REQUEST[] = "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                              "application/json\r\nContent-Length: 14\r\n\r\n{\"code\":\"1+1\"}";

extern char **environ;

struct peer {
    pid_t pid;
    int fd;
    char directory[64];
    char address[32];
};

/* A port that was free a moment ago. */
static unsigned free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unsigned port = fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
                            getsockname(fd, (struct sockaddr *)&at, &len) == 0
                        ? ntohs(at.sin_port)
                        : 0;

    fd_closep(&fd);
    return port;
}

static int connect_to(unsigned port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
        fd_closep(&fd);
    }
    return fd;
}

static int start(struct peer *p)
{
    unsigned port = free_port();
    char *argv[] = {(char[]){"vial"}, (char[]){"serve"}, (char[]){"--insecure-local"},
        (char[]){"--log-level"}, (char[]){"error"}, (char[]){"--data-dir"}, p->directory,
        (char[]){"--listen"}, p->address, NULL};
    int i;

    (void)snprintf(p->directory, sizeof(p->directory), "/tmp/vial-bench-XXXXXX");
    (void)snprintf(p->address, sizeof(p->address), "127.0.0.1:%u", port);
    p->fd = -1;
    if (mkdtemp(p->directory) == NULL ||
        posix_spawn(&p->pid, "/proc/self/exe", NULL, NULL, argv, environ) != 0) {
        return -1;
    }
    for (i = 0; i < START_TRIES && p->fd < 0; i++) {
        bench_pause_ms(10);
        p->fd = connect_to(port);
    }
    return p->fd;
}

static void stop(struct peer *p)
{
    char command[64 + 16];
    char *argv[] = {(char[]){"rm"}, (char[]){"-rf"}, command, NULL};
    pid_t pid;

    fd_closep(&p->fd);
    if (p->pid > 0) {
        (void)kill(p->pid, SIGTERM);
        (void)waitpid(p->pid, NULL, 0);
    }
    (void)snprintf(command, sizeof(command), "%s", p->directory);
    if (strncmp(command, "/tmp/vial-bench-", 16) == 0 &&
        posix_spawnp(&pid, "rm", NULL, NULL, argv, environ) == 0) {
        (void)waitpid(pid, NULL, 0);
    }
}

/* One request and its whole answer; the time, or 0. */
static uint64_t ask(struct peer *p)
{
    static char answer[ANSWER_BYTES];
    uint64_t begun = clock_now_us();
    size_t len = 0, whole = 0;

    if (fd_write_all(p->fd, REQUEST, sizeof(REQUEST) - 1) < 0) {
        return 0;
    }
    while (whole == 0 || len < whole) {
        ssize_t n = recv(p->fd, answer + len, sizeof(answer) - 1 - len, 0);
        const char *head, *length;

        if (n <= 0) {
            return 0;
        }
        len += (size_t)n;
        answer[len] = '\0';
        head = strstr(answer, "\r\n\r\n");
        length = strstr(answer, "Content-Length: ");
        if (head != NULL && length != NULL) {
            whole = (size_t)(head + 4 - answer) + strtoul(length + 16, NULL, 10);
        }
    }
    return strstr(answer, "\"value\":2,") != NULL ? clock_now_us() - begun : 0;
}

static int measure(struct bench *b, struct peer *p)
{
    struct bench_times ours = {0}, library = {0};
    uint64_t us = 1;
    int i;

    for (i = 0; i < FIRST + RUNS && us != 0; i++) {
        bench_pause_ms(PAUSE_MS);
        us = ask(p);
        if (i >= FIRST && us != 0) {
            bench_times_add(&ours, us);
        }
        bench_pause_ms(PAUSE_MS);
        us = us != 0 ? bench_run(b->engine, "1+1", 3, NULL) : 0;
        if (i >= FIRST && us != 0) {
            bench_times_add(&library, us);
        }
    }
    if (us != 0) {
        bench_line(b, "%-17s p10 %5llu us   p50 %5llu us   p95 %5llu us", "http",
            (unsigned long long)bench_times_at(&ours, 10),
            (unsigned long long)bench_times_at(&ours, 50),
            (unsigned long long)bench_times_at(&ours, 95));
        bench_line(b, "%-17s p10 %5llu us   p50 %5llu us   p95 %5llu us", "  the library",
            (unsigned long long)bench_times_at(&library, 10),
            (unsigned long long)bench_times_at(&library, 50),
            (unsigned long long)bench_times_at(&library, 95));
    }
    if (us != 0 && b->json != NULL) {
        json_key(b->json, "http");
        json_begin_object(b->json);
        json_key(b->json, "p10_us");
        json_u64(b->json, bench_times_at(&ours, 10));
        json_key(b->json, "p50_us");
        json_u64(b->json, bench_times_at(&ours, 50));
        json_key(b->json, "p95_us");
        json_u64(b->json, bench_times_at(&ours, 95));
        json_key(b->json, "library_p10_us");
        json_u64(b->json, bench_times_at(&library, 10));
        json_key(b->json, "library_p50_us");
        json_u64(b->json, bench_times_at(&library, 50));
        json_end_object(b->json);
    }
    bench_times_release(&ours);
    bench_times_release(&library);
    return us != 0 ? EXIT_FINE
                   : cli_fail(EXIT_OUR_FAILURE, "the server did not answer as it should");
}

int bench_http(struct bench *b)
{
    struct peer p = {.pid = 0};
    int code;

    bench_progress("http");
    code = start(&p) < 0 ? cli_fail(EXIT_OUR_FAILURE, "the server did not start") : measure(b, &p);
    stop(&p);
    return code;
}
