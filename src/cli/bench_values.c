/* bench_values.c - large values on their way in and out, beside what node needs for the same text.
 *
 * Both sides are fresh processes that see the text for the first time. Ours counts from the call to
 * the result; node's counts JSON.parse and the loop alone, its start and the reading of the file
 * are left out. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "cli/bench.h"
#include "cli/cli.h"

enum {
    VALUE_RUNS = 7,
    TEXT_BYTES = 10 * 1024 * 1024,
    MEMORY_BYTES = 512 * 1024 * 1024,
    SETTLE_MS = 1000,
    ANSWER_BYTES_MAX = 64,
};

extern char **environ;

static const char SUM[] = "let sum = 0; for (const row of input) sum += row.value; sum";
static const char NODE_SUM[] = "const s = require('fs').readFileSync(process.argv[1], 'latin1');"
                               "const t = process.hrtime.bigint(); const input = JSON.parse(s);"
                               "let sum = 0; for (const row of input) sum += row.value;"
                               "console.log(Number((process.hrtime.bigint() - t) / 1000n))";

/* About 10 MB of the same rows, made by the program itself. */
#define MAKE_ROWS                                                                                  \
    "const rows = []; for (let i = 0; i < 110000; i++) rows.push({id: i, name: 'row number ' + i," \
    " value: i * 1.5, ok: i % 2 === 0, tags: ['a', 'b'], none: null});"
static const char MAKE[] = MAKE_ROWS "rows";
static const char NODE_MAKE[] =
    "const t = process.hrtime.bigint();" MAKE_ROWS "const text = JSON.stringify(rows);"
    "console.log(Number((process.hrtime.bigint() - t) / 1000n))";

static int make_text(struct buf *text)
{
    char row[160];
    int i, r = buf_add_text(text, "[", NULL);

    for (i = 0; r == 0 && text->len < TEXT_BYTES; i++) {
        (void)snprintf(row, sizeof(row),
            "%s{\"id\":%d,\"name\":\"row number "
            "%d\",\"value\":%d.5,\"ok\":%s,\"tags\":[\"a\",\"b\"],"
            "\"none\":null}",
            i > 0 ? "," : "", i, i, i, i % 2 == 0 ? "true" : "false");
        r = buf_add_text(text, row, NULL);
    }
    return r < 0 ? r : buf_add_text(text, "]", NULL);
}

/* The number that a node program prints; 0 when there is no node or it fails. */
static uint64_t ask_node(const char *program, const char *path)
{
    char node[] = "node", eval[] = "-e", answer[ANSWER_BYTES_MAX] = "";
    char *const argv[] = {node, eval, strdup(program), strdup(path), NULL};
    posix_spawn_file_actions_t actions;
    uint64_t us = 0;
    int fds[2];
    int r, status = 1;
    pid_t pid;

    if (argv[2] == NULL || argv[3] == NULL || pipe2(fds, O_CLOEXEC) < 0) {
        free(argv[2]);
        free(argv[3]);
        return 0;
    }
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    r = posix_spawnp(&pid, node, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(fds[1]);
    if (r == 0) {
        (void)fd_read_up_to(fds[0], answer, sizeof(answer) - 1);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    (void)close(fds[0]);
    free(argv[2]);
    free(argv[3]);
    return status == 0 && sscanf(answer, "%" SCNu64, &us) == 1 ? us : 0;
}

static uint64_t node_median(const char *program, const char *path)
{
    struct bench_times times = {0};
    uint64_t us;
    int i;

    for (i = 0; i < VALUE_RUNS; i++) {
        us = ask_node(program, path);
        if (us != 0) {
            bench_times_add(&times, us);
        }
    }
    us = bench_times_at(&times, 50);
    bench_times_release(&times);
    return us;
}

static uint64_t our_median(struct bench *b, const char *source, const struct buf *input)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct bench_times times = {0};
    struct vial_result *result;
    struct vial_error err;
    uint64_t us = 0;
    int i, ok = 1;

    limits.memory_bytes_max = MEMORY_BYTES;
    limits.value_bytes_max = (uint64_t)4 * TEXT_BYTES;
    request.limits = &limits;
    request.source = source;
    request.source_len = strlen(source);
    request.input = input != NULL ? input->data : NULL;
    request.input_len = input != NULL ? input->len : 0;
    for (i = 0; i < VALUE_RUNS && ok; i++) {
        vial_engine_settle(b->engine, SETTLE_MS);
        us = clock_now_us();
        if (vial_run(b->engine, &request, &result, &err) < 0) {
            (void)cli_fail_library(&err);
            ok = 0;
            continue;
        }
        bench_times_add(&times, clock_now_us() - us);
        ok = vial_result_status(result) == VIAL_STATUS_OK;
        vial_result_free(result);
    }
    us = ok ? bench_times_at(&times, 50) : 0;
    bench_times_release(&times);
    return us;
}

static int report(struct bench *b, const char *name, const char *what, uint64_t ours, uint64_t node)
{
    if (ours == 0) {
        return cli_fail(EXIT_OUR_FAILURE, "the benchmark %s failed", name);
    }
    if (node != 0) {
        bench_line(b, "%-17s %5.1f ms %s, node %.1f ms: %.2f of it", name, (double)ours / 1000,
            what, (double)node / 1000, (double)ours / (double)node);
    } else {
        bench_line(
            b, "%-17s %5.1f ms %s (no node here to compare with)", name, (double)ours / 1000, what);
    }
    if (b->json != NULL) {
        json_key(b->json, name);
        json_begin_object(b->json);
        json_key(b->json, "vial_us");
        json_u64(b->json, ours);
        json_key(b->json, "node_us");
        if (node != 0) {
            json_u64(b->json, node);
        } else {
            json_write_null(b->json);
        }
        json_end_object(b->json);
    }
    return EXIT_FINE;
}

int bench_json_in(struct bench *b)
{
    char path[] = "/tmp/vial-bench-XXXXXX";
    uint64_t ours, node = 0;
    struct buf text;
    int fd;

    buf_init(&text, (size_t)2 * TEXT_BYTES);
    if (make_text(&text) < 0) {
        buf_release(&text);
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the benchmark");
    }
    ours = our_median(b, SUM, &text);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) {
        if (fd_write_all(fd, text.data, text.len) == 0) {
            node = node_median(NODE_SUM, path);
        }
        (void)close(fd);
        (void)unlink(path);
    }
    buf_release(&text);
    return report(b, "json_in", "for 10 MB of input, one field summed", ours, node);
}

int bench_json_out(struct bench *b)
{
    return report(b, "json_out", "for 10 MB made and returned", our_median(b, MAKE, NULL),
        node_median(NODE_MAKE, ""));
}
