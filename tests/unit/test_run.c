/* test_run.c - one run after another in the real cell program: values, errors, every limit,
 * cancelling. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

static struct vial_engine *engine; /* one for all: starting it is what takes time */

static int start_quick_engine(void **state)
{
    (void)state;
    engine = helper_engine();
    return 0;
}

/* A template that is warmed up for many runs goes other ways: it rehearses, and slims itself. */
static int start_warm_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.quick = 0;
    return vial_engine_new(&options, &engine, NULL);
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static void values_come_back_as_json(void **state)
{
    struct vial_result *result;
    size_t len = 99;

    (void)state;
    helper_expect(engine, "1 + 1", "2");
    helper_expect(engine, "({a: [1, 'x', null, true]})", "{\"a\":[1,\"x\",null,true]}");
    helper_expect(engine, "await new Promise(r => setTimeout(() => r('late'), 5))", "\"late\"");
    helper_expect(engine, "__return([1]); 2", "[1]");
    result = helper_run(engine, "undefined", NULL);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_null(vial_result_value(result, &len));
    assert_int_equal(len, 0);
    assert_null(vial_result_text(result, NULL));
    vial_result_free(result);
}

static void a_value_is_rendered_when_asked_for(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    size_t len = 0;

    (void)state;
    request.source = "[1, 'a', new Map([[1, 2]])]";
    request.source_len = strlen(request.source);
    request.want_text = 1;
    assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_string_equal(vial_result_text(result, &len), "[ 1, 'a', Map(1) { 1 => 2 } ]");
    assert_int_equal(len, strlen(vial_result_text(result, NULL)));
    vial_result_free(result);
}

static void the_language_can_be_given(void **state)
{
    static const struct {
        uint32_t language;
        uint32_t size;
        int status;
    } cases[] = {
        {VIAL_LANGUAGE_AUTO, sizeof(struct vial_request), VIAL_STATUS_OK},
        {VIAL_LANGUAGE_TYPESCRIPT, sizeof(struct vial_request), VIAL_STATUS_OK},
        {VIAL_LANGUAGE_JAVASCRIPT, sizeof(struct vial_request), VIAL_STATUS_EXCEPTION},
        /* A caller that was compiled before there was a choice. */
        {VIAL_LANGUAGE_JAVASCRIPT, offsetof(struct vial_request, language), VIAL_STATUS_OK},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct vial_request request = VIAL_REQUEST_INIT;
        struct vial_result *result = NULL;

        request.size = cases[i].size;
        request.source = "enum E { A = 2 } const x: number = E.A; x";
        request.source_len = strlen(request.source);
        request.language = cases[i].language;
        assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
        assert_int_equal(vial_result_status(result), cases[i].status);
        vial_result_free(result);
    }
}

static void a_large_value_comes_whole(void **state)
{
    struct vial_result *result = helper_run(engine, "'x'.repeat(10 * 1000 * 1000)", NULL);
    size_t len = 0;

    (void)state;
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_non_null(vial_result_value(result, &len));
    assert_int_equal(len, 10 * 1000 * 1000 + 2);
    vial_result_free(result);
}

static void an_exception_says_where(void **state)
{
    struct vial_result *result = helper_run(engine, "let x = 1;\nnull.f();\n", NULL);
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;

    (void)state;
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    vial_result_error(result, &error);
    assert_string_equal(error.name, "TypeError");
    assert_int_equal(error.line, 2);
    assert_string_equal(error.source_line, "null.f();");
    assert_non_null(strstr(error.stack, "main.js:2"));
    vial_result_usage(result, &usage);
    assert_true(usage.wall_us > 0 && usage.cpu_us > 0);
    assert_null(vial_result_value(result, NULL));
    vial_result_free(result);
}

static void output_is_kept_by_stream(void **state)
{
    struct vial_result *result = helper_run(engine, "console.log('a'); console.error('b');", NULL);
    uint64_t dropped = 99;
    size_t len = 0;

    (void)state;
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, &len, &dropped), "a\n");
    assert_int_equal(len, 2);
    assert_int_equal(dropped, 0);
    assert_string_equal(vial_result_output(result, VIAL_STDERR, &len, &dropped), "b\n");
    vial_result_free(result);
}

static void collect(int stream, const char *bytes, size_t len, void *user)
{
    char *text = user;
    size_t used = strlen(text);

    if (stream == VIAL_STDOUT && used + len < 100) {
        memcpy(text + used, bytes, len);
        text[used + len] = '\0';
    }
}

static void output_is_passed_on_up_to_its_limit(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    char text[100] = "";
    uint64_t dropped = 0;

    (void)state;
    limits.stdout_bytes_max = 5;
    request.source = "console.log('abc'); console.log('defg'); console.log('hi');";
    request.source_len = strlen(request.source);
    request.limits = &limits;
    request.on_output = collect;
    request.user = text;
    assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
    assert_string_equal(text, "abc\nd");
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, NULL, &dropped), "abc\nd");
    assert_int_equal(dropped, 7);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    vial_result_free(result);
}

static void each_limit_has_its_status(void **state)
{
    const struct {
        struct vial_limits limits;
        const char *source;
        int status;
        const char *name, *hint;
    } rows[] = {
        {{.wall_ms_max = 100}, "for (;;) {}", VIAL_STATUS_WALL_LIMIT, "WallLimit", "--wall-ms"},
        {{.wall_ms_max = 100}, "await new Promise(r => setTimeout(r, 60000))",
            VIAL_STATUS_WALL_LIMIT, "WallLimit", "--wall-ms"},
        {{.cpu_ms_max = 100}, "for (;;) {}", VIAL_STATUS_CPU_LIMIT, "CpuLimit", "--cpu-ms"},
        {{.memory_bytes_max = 32 << 20},
            "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", VIAL_STATUS_MEMORY_LIMIT,
            "MemoryLimit", "--memory-mb"},
        {{.stdout_bytes_max = 1000}, "for (;;) console.log('x'.repeat(1000))",
            VIAL_STATUS_OUTPUT_LIMIT, "OutputLimit", "--stdout-bytes"},
        {{.stderr_bytes_max = 1000}, "for (;;) console.error('x'.repeat(1000))",
            VIAL_STATUS_OUTPUT_LIMIT, "OutputLimit", "--stderr-bytes"},
        {{.value_bytes_max = 64}, "'x'.repeat(100)", VIAL_STATUS_EXCEPTION, "RangeError",
            "--value-bytes"},
        {{.timers_max = 3}, "for (;;) setTimeout(() => {}, 1)", VIAL_STATUS_EXCEPTION, "RangeError",
            "--timers"},
    };
    struct vial_result_error error;
    struct vial_result *result;
    struct vial_limits limits;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        limits = rows[i].limits;
        limits.size = sizeof(limits);
        result = helper_run(engine, rows[i].source, &limits);
        assert_string_equal(
            vial_status_name(vial_result_status(result)), vial_status_name(rows[i].status));
        error = (struct vial_result_error)VIAL_RESULT_ERROR_INIT;
        vial_result_error(result, &error);
        assert_string_equal(error.name, rows[i].name);
        assert_non_null(strstr(error.hint != NULL ? error.hint : error.message, rows[i].hint));
        vial_result_free(result);
        helper_expect(engine, "'still here'", "\"still here\"");
    }
}

static void what_was_printed_before_a_limit_is_kept(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;

    (void)state;
    limits.wall_ms_max = 100;
    result = helper_run(engine, "console.log('before'); for (;;) {}", &limits);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, NULL, NULL), "before\n");
    vial_result_free(result);
}

static void limits_of_an_older_header_are_enough(void **state)
{
    struct vial_limits limits = {
        .size = offsetof(struct vial_limits, timers_max), .wall_ms_max = 80};

    (void)state;
    limits.timers_max = 0xffffffff; /* beyond what the caller says there is */
    assert_int_equal(helper_status(engine, "for (;;) {}", &limits), VIAL_STATUS_WALL_LIMIT);
    assert_int_equal(
        helper_status(engine, "void setTimeout(() => {}, 1)", &limits), VIAL_STATUS_OK);
}

static void a_request_of_an_older_header_is_enough(void **state)
{
    struct vial_request request;
    struct vial_result *result = NULL;

    (void)state;
    memset(&request, 0xee, sizeof(request));
    request.size = offsetof(struct vial_request, name);
    request.want_text = 0;
    request.source = "typeof input";
    request.source_len = strlen(request.source);
    assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
    assert_string_equal(vial_result_value(result, NULL), "\"undefined\"");
    vial_result_free(result);
}

static void a_request_that_makes_no_sense_is_refused(void **state)
{
    struct vial_limits limits = {.size = sizeof(limits), .memory_bytes_max = 1};
    static char name[2000];
    const struct {
        struct vial_request request;
        const char *word;
    } rows[] = {
        {{.source = NULL}, "source"},
        {{.source = "\xff", .source_len = 1}, "UTF-8"},
        {{.source = "1", .source_len = (size_t)1 << 40}, "source"},
        {{.source = "1", .source_len = 1, .name = name}, "name"},
        {{.source = "1", .source_len = 1, .name = "\xff"}, "name"},
        {{.source = "1", .source_len = 1, .input = "{\n\"a\":}", .input_len = 7},
            "line 2, column 5"},
        {{.source = "1", .source_len = 1, .input = "", .input_len = 0}, "JSON"},
        {{.source = "1", .source_len = 1, .limits = &limits}, "memory"},
        {{.source = "1", .source_len = 1, .language = 4}, "language"},
    };
    struct vial_request request;
    struct vial_run *run = NULL;
    struct vial_error err;
    size_t i;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        request = rows[i].request;
        request.size = sizeof(request);
        assert_int_equal(vial_run_start(engine, &request, &run, &err), VIAL_E_INVALID);
        assert_non_null(strstr(err.text, rows[i].word));
        assert_null(run);
    }
}

static void input_and_name_reach_the_guest(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;

    (void)state;
    request.source = "input.rows.length + new Error('x').stack";
    request.source_len = strlen(request.source);
    request.name = "folder/query.js";
    request.input = "{\"rows\":[1,2,3]}";
    request.input_len = strlen(request.input);
    assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
    assert_non_null(strstr(vial_result_value(result, NULL), "query.js"));
    assert_int_equal(vial_result_value(result, NULL)[1], '3');
    vial_result_free(result);
}

static void chance_differs_between_runs(void **state)
{
    char first[64];
    struct vial_result *result;
    int i;

    (void)state;
    result = helper_run(engine, "Math.random()", NULL);
    (void)memcpy(
        first, vial_result_value(result, NULL), strlen(vial_result_value(result, NULL)) + 1);
    vial_result_free(result);
    for (i = 0; i < 4; i++) {
        result = helper_run(engine, "Math.random()", NULL);
        assert_string_not_equal(vial_result_value(result, NULL), first);
        vial_result_free(result);
    }
}

static void nothing_of_a_run_is_left_for_the_next(void **state)
{
    (void)state;
    helper_expect(engine, "globalThis.mark = 1; Array.prototype.mark = 2; 3", "3");
    helper_expect(engine, "typeof globalThis.mark + typeof [].mark", "\"undefinedundefined\"");
}

static void limits_of_files_hold_for_the_run_that_has_them(void **state)
{
    static const char source[] = "const fs = require('fs'); let n = 0;"
                                 "try { for (;;) { fs.openSync('f', 'w'); n++; } } catch {} n";
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;

    (void)state;
    limits.open_files_max = 20;
    result = helper_run(engine, source, &limits);
    assert_string_equal(vial_result_value(result, NULL), "16");
    vial_result_free(result);
    helper_expect(engine, source, "28");
}

static void a_process_that_is_killed_from_outside_has_crashed(void **state)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;

    (void)state;
    vial_engine_settle(engine, 5000);
    vial_engine_stats(engine, &stats);
    assert_true(stats.idle_cell_pid > 0);
    request.source = "for (;;) {}";
    request.source_len = strlen(request.source);
    assert_int_equal(vial_run_start(engine, &request, &run, NULL), 0);
    assert_int_equal(kill(stats.idle_cell_pid, SIGKILL), 0);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_CRASHED);
    vial_result_error(result, &error);
    assert_non_null(strstr(error.message, "SIGKILL"));
    vial_result_free(result);
    vial_run_free(run);
    helper_expect(engine, "1", "1");
}

/* Sleeps until the run has something to say. */
static void wait_for(const struct vial_run *run)
{
    struct pollfd p = {.fd = vial_run_fd(run), .events = POLLIN};

    assert_true(p.fd >= 0);
    assert_int_equal(poll(&p, 1, 10000), 1);
}

static struct vial_run *start(struct vial_request *request, const char *source)
{
    struct vial_run *run = NULL;

    vial_engine_settle(engine, 5000);
    request->source = source;
    request->source_len = strlen(source);
    assert_int_equal(vial_run_start(engine, request, &run, NULL), 0);
    return run;
}

static void a_thread_that_may_not_wait_goes_on_with_a_run(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run = start(&request, "6 * 7");
    struct vial_usage usage = VIAL_USAGE_INIT;

    (void)state;
    wait_for(run);
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_non_null(result);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_string_equal(vial_result_value(result, NULL), "42");
    vial_result_usage(result, &usage);
    assert_true(usage.cpu_us > 0 && usage.memory_bytes_peak > 0);
    assert_int_equal(vial_run_fd(run), -1);
    vial_result_free(result);
    vial_run_free(run);
}

static void a_run_that_was_tried_can_be_waited_for(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run = start(
        &request, "console.log('first'); await new Promise(r => setTimeout(r, 100)); 'second'");
    const char *text;
    size_t len = 0;

    (void)state;
    wait_for(run);
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_null(result);
    assert_true(vial_run_fd(run) >= 0);
    assert_int_equal(vial_run_try(run, &result, NULL), 0); /* there is nothing to hear */
    assert_null(result);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_string_equal(vial_result_value(result, NULL), "\"second\"");
    text = vial_result_output(result, VIAL_STDOUT, &len, NULL);
    assert_int_equal(len, strlen("first\n"));
    assert_memory_equal(text, "first\n", len);
    vial_result_free(result);
    vial_run_free(run);
    limits.wall_ms_max = 50;
    request.limits = &limits;
    run = start(&request, "for (;;) {}");
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_null(result);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    vial_result_free(result);
    vial_run_free(run);
}

/* How a process died takes a moment to find out. */
static void only_who_waits_learns_how_a_process_died(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run;

    (void)state;
    vial_engine_settle(engine, 5000);
    vial_engine_stats(engine, &stats);
    run = start(&request, "for (;;) {}");
    assert_int_equal(kill(stats.idle_cell_pid, SIGKILL), 0);
    wait_for(run);
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_null(result);
    assert_int_equal(vial_run_fd(run), -1);
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_null(result);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_CRASHED);
    vial_result_free(result);
    vial_run_free(run);
    run = start(&request, "for (;;) {}"); /* cancelled, and not waited for */
    vial_run_cancel(run);
    wait_for(run);
    assert_int_equal(vial_run_try(run, &result, NULL), 0);
    assert_null(result);
    vial_run_free(run);
    helper_expect(engine, "1", "1");
}

static void no_tool(struct vial_engine *of, const struct vial_call *call, void *user)
{
    (void)of;
    (void)call;
    (void)user;
}

static void a_run_with_tools_has_to_be_waited_for(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_tool tool = VIAL_TOOL_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run;

    (void)state;
    tool.name = "no";
    tool.call = no_tool;
    request.tools = &tool;
    request.tools_count = 1;
    run = start(&request, "1");
    assert_int_equal(vial_run_fd(run), -1);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_string_equal(vial_result_value(result, NULL), "1");
    vial_result_free(result);
    vial_run_free(run);
}

/* What one run returns becomes the input of the next, which returns it again. */
static void values_keep_their_identity_there_and_back(void **state)
{
    static const char source[] =
        "const e = new TypeError('m', {cause: new RangeError('c')});"
        "({u: undefined, n: [NaN, Infinity, -0, 1.5, -7, 2 ** 53], b: [0n, -1n, 2n ** 80n, -(2n ** "
        "80n)],"
        " d: [new Date(1234567890123), new Date(NaN), new Date(8.64e15 - 1)], y: new "
        "Uint8Array([1, 2]),"
        " t: [new Float32Array([1.5]), new BigInt64Array([-1n]), new Uint8ClampedArray([9])],"
        " a: new Uint16Array([1, 2]).buffer, m: new Map([[1, new Map()], ['k', null]]), s: new "
        "Set(['x']),"
        " r: /a+/gi, h: [1, , 3], e, o: {$date: 1, ['__proto__']: 2}, l: "
        "'\u00e4\u20ac'.repeat(30)})";
    static const char again[] =
        "if (!(input.m.get(1) instanceof Map && input.d[0] instanceof Date && 1 in input.h === "
        "false &&"
        " Object.is(input.n[2], -0) && input.t[1][0] === -1n && input.a.byteLength === 4 &&"
        " input.e instanceof TypeError && input.e.cause instanceof RangeError && "
        "input.r.test('xA') &&"
        " Object.hasOwn(input.o, '__proto__') && 'u' in input && input.b[2] === 2n ** 80n))"
        " throw new Error('lost'); input";
    struct vial_result *first = helper_run(engine, source, NULL);
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *second = NULL;
    size_t len;

    (void)state;
    request.source = again;
    request.source_len = strlen(again);
    request.input = vial_result_cbor(first, &len);
    request.input_len = len;
    request.input_is_cbor = 1;
    assert_non_null(request.input);
    assert_int_equal(vial_run(engine, &request, &second, NULL), 0);
    assert_int_equal(vial_result_status(second), VIAL_STATUS_OK);
    assert_string_equal(vial_result_value(second, NULL), vial_result_value(first, NULL));
    vial_result_free(first);
    vial_result_free(second);
}

/* The kernel brings the account of a running process up to date at its ticks only: a run shorter
 * than one must not seem to have used nothing. */
static void short_runs_have_used_something(void **state)
{
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result;
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        result = helper_run(engine, "1", NULL);
        vial_result_usage(result, &usage);
        assert_true(usage.cpu_us > 0);
        vial_result_free(result);
    }
}

static void nonsense_of_the_caller_is_refused(void **state)
{
    struct vial_engine_stats stats = {.size = 0};
    struct vial_usage usage = {.size = 3};
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = helper_run(engine, "1", NULL);
    struct vial_run *run = NULL;

    (void)state;
    assert_int_equal(vial_run_start(NULL, &request, &run, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_run_start(engine, NULL, &run, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_run_start(engine, &request, NULL, NULL), VIAL_E_INVALID);
    vial_engine_stats(engine, &stats);
    assert_int_equal(stats.run_count, 0);
    vial_result_usage(result, &usage);
    assert_int_equal(usage.cpu_us, 0);
    vial_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_back_as_json),
        cmocka_unit_test(values_keep_their_identity_there_and_back),
        cmocka_unit_test(short_runs_have_used_something),
        cmocka_unit_test(nonsense_of_the_caller_is_refused),
        cmocka_unit_test(a_value_is_rendered_when_asked_for),
        cmocka_unit_test(the_language_can_be_given),
        cmocka_unit_test(a_large_value_comes_whole),
        cmocka_unit_test(an_exception_says_where),
        cmocka_unit_test(output_is_kept_by_stream),
        cmocka_unit_test(output_is_passed_on_up_to_its_limit),
        cmocka_unit_test(each_limit_has_its_status),
        cmocka_unit_test(what_was_printed_before_a_limit_is_kept),
        cmocka_unit_test(limits_of_an_older_header_are_enough),
        cmocka_unit_test(a_request_of_an_older_header_is_enough),
        cmocka_unit_test(a_request_that_makes_no_sense_is_refused),
        cmocka_unit_test(input_and_name_reach_the_guest),
        cmocka_unit_test(chance_differs_between_runs),
        cmocka_unit_test(nothing_of_a_run_is_left_for_the_next),
        cmocka_unit_test(limits_of_files_hold_for_the_run_that_has_them),
        cmocka_unit_test(a_process_that_is_killed_from_outside_has_crashed),
        cmocka_unit_test(a_thread_that_may_not_wait_goes_on_with_a_run),
        cmocka_unit_test(a_run_that_was_tried_can_be_waited_for),
        cmocka_unit_test(only_who_waits_learns_how_a_process_died),
        cmocka_unit_test(a_run_with_tools_has_to_be_waited_for),
    };

    return cmocka_run_group_tests_name("quick", tests, start_quick_engine, stop_engine) +
           cmocka_run_group_tests_name("warm", tests, start_warm_engine, stop_engine);
}
