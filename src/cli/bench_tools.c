/* bench_tools.c - calls of tools, beside a bare question and answer over a socket pair. */
#include <inttypes.h>
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

enum { CALLS = 1000, REPEATS = 9, PARALLEL = 100, WAIT_US = 10 * 1000 };

static void answer_at_once(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_answer(engine, call->id, call->args, call->args_len, NULL);
}

static void answer_later(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)usleep(WAIT_US);
    answer_at_once(engine, call, user);
}

static const struct vial_tool TOOLS[] = {
    {.size = sizeof(struct vial_tool),
        .name = "ask",
        .call = answer_at_once,
        .flags = VIAL_TOOL_INLINE},
    {.size = sizeof(struct vial_tool),
        .name = "askNow",
        .call = answer_at_once,
        .flags = VIAL_TOOL_INLINE,
        .mode = VIAL_TOOL_SYNC},
    {.size = sizeof(struct vial_tool), .name = "wait", .call = answer_later},
};

static const char ASYNC[] = "for (let i = 0; i < 1000; i++) await ask(i); 1";
static const char SYNC[] = "for (let i = 0; i < 1000; i++) askNow(i); 1";
static const char AT_ONCE[] = "await Promise.all(Array.from({length: 100}, (_, i) => wait(i))); 1";

/* The wall time of a run with tools; 0 after a message. */
static uint64_t run_us(struct bench *b, const char *source)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result;
    struct vial_error err;
    int status;

    request.source = source;
    request.source_len = strlen(source);
    request.tools = TOOLS;
    request.tools_count = sizeof(TOOLS) / sizeof(TOOLS[0]);
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

/* Answers whatever it is asked, until nobody asks. */
static _Noreturn void echo_process(int sock)
{
    char bytes[64];
    ssize_t n;

    while ((n = read(sock, bytes, sizeof(bytes))) > 0) { /* short counts handled */
        if (fd_write_all(sock, bytes, (size_t)n) < 0) {
            break;
        }
    }
    _exit(0);
}

/* The time of CALLS questions and answers between two bare processes; 0 after a message. */
static uint64_t bare_us(void)
{
    char question[] = "{\"id\":1,\"tool\":\"ask\",\"x\":12345}";
    char answer[sizeof(question)];
    uint64_t before;
    int sv[2];
    pid_t pid;
    int i;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0) {
        return 0;
    }
    pid = fork();
    if (pid == 0) {
        (void)close(sv[0]);
        echo_process(sv[1]);
    }
    (void)close(sv[1]);
    before = clock_now_us();
    for (i = 0; pid > 0 && i < CALLS; i++) {
        if (fd_write_all(sv[0], question, sizeof(question)) < 0 ||
            read(sv[0], answer, sizeof(answer)) <= 0) { /* short counts handled */
            break;
        }
    }
    before = clock_now_us() - before;
    (void)close(sv[0]);
    if (pid > 0) {
        (void)waitpid(pid, NULL, 0);
    }
    return before;
}

static uint64_t median_of(struct bench *b, const char *source, int *failed)
{
    struct bench_times times = {0};
    uint64_t us;
    int i;

    for (i = 0; i < REPEATS && !*failed; i++) {
        us = source != NULL ? run_us(b, source) : bare_us();
        *failed = us == 0;
        bench_times_add(&times, us);
    }
    us = bench_times_at(&times, 50);
    bench_times_release(&times);
    return us;
}

static double per_call(uint64_t us)
{
    return (double)us / CALLS;
}

int bench_tools(struct bench *b)
{
    int failed = 0;
    uint64_t bare = median_of(b, NULL, &failed);
    uint64_t async = median_of(b, ASYNC, &failed);
    uint64_t sync = median_of(b, SYNC, &failed);
    uint64_t at_once = median_of(b, AT_ONCE, &failed);

    if (failed || bare == 0) {
        return EXIT_OUR_FAILURE;
    }
    bench_line(b,
        "tool call         async %.1f us, sync %.1f us; a bare question and answer %.1f us",
        per_call(async), per_call(sync), per_call(bare));
    bench_line(b, "                  %.2fx and %.2fx of it, %d in sequence in one run",
        (double)async / (double)bare, (double)sync / (double)bare, CALLS);
    bench_line(b, "tools at once     %.1f ms for %d calls of a tool that waits %d ms",
        (double)at_once / 1000, PARALLEL, WAIT_US / 1000);
    if (b->json != NULL) {
        json_key(b->json, "tools");
        json_begin_object(b->json);
        json_key(b->json, "bare_ns");
        json_u64(b->json, bare * 1000 / CALLS);
        json_key(b->json, "async_ns");
        json_u64(b->json, async * 1000 / CALLS);
        json_key(b->json, "sync_ns");
        json_u64(b->json, sync * 1000 / CALLS);
        json_key(b->json, "parallel_us");
        json_u64(b->json, at_once);
        json_end_object(b->json);
    }
    return EXIT_FINE;
}
