/* test_host_session.c - sessions in the real cell program: what stays between programs, what each
 * limit does to a session, how one ends, and functions that it gave to the host. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"
#include "host/session.h"
#include "vial.h"

static struct vial_engine *engine; /* of the test that runs */

static int start_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.for_sessions = 1;
    options.sessions_max = 4;
    return vial_engine_new(&options, &engine, NULL);
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static struct vial_session *open_with(const struct vial_session_options *options)
{
    struct vial_session *s = NULL;
    struct vial_error err = {.code = 0};

    if (vial_session_new(engine, options, &s, &err) < 0) {
        fail_msg("vial_session_new: %s", err.text);
    }
    return s;
}

static struct vial_session *open_one(void)
{
    return open_with(NULL);
}

static int eval_code(struct vial_session *s, const char *source, const struct vial_limits *limits,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_request request = VIAL_REQUEST_INIT;

    request.source = source;
    request.source_len = strlen(source);
    request.limits = limits;
    return vial_session_eval(s, &request, ret, err);
}

static struct vial_result *eval_with(
    struct vial_session *s, const char *source, const struct vial_limits *limits)
{
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    if (eval_code(s, source, limits, &result, &err) < 0) {
        fail_msg("%s: %s", source, err.text);
    }
    return result;
}

static void check_value(struct vial_result *result, const char *source, const char *value)
{
    const char *found = vial_result_value(result, NULL);

    if (vial_result_status(result) != VIAL_STATUS_OK || (value == NULL) != (found == NULL) ||
        (value != NULL && strcmp(found, value) != 0)) {
        fail_msg("%s is not %s but %s", source, value, vial_result_json(result, NULL));
    }
    assert_int_equal(vial_result_session_lives(result), 1);
    vial_result_free(result);
}

/* Evaluates a source that must have this value. */
static void expect(struct vial_session *s, const char *source, const char *value)
{
    check_value(eval_with(s, source, NULL), source, value);
}

/* Evaluates a source that must end in this way, and leave the session alive or not. */
static void expect_end(struct vial_session *s, const char *source, const struct vial_limits *limits,
    int status, int lives)
{
    struct vial_result *result = eval_with(s, source, limits);
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    if (vial_result_status(result) != status || vial_result_session_lives(result) != lives) {
        fail_msg("%s: %s", source, vial_result_json(result, NULL));
    }
    if (status != VIAL_STATUS_OK && status != VIAL_STATUS_EXCEPTION) {
        assert_non_null(e.hint);
        assert_non_null(strstr(e.hint, lives ? "still there" : "has ended"));
    }
    vial_result_free(result);
}

static void expect_gone(struct vial_session *s, const char *why)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    struct vial_session *branch = NULL;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    char *names = NULL;

    vial_session_info(s, &info);
    assert_int_equal(info.state, VIAL_SESSION_ENDED);
    assert_int_equal(eval_code(s, "1", NULL, &result, &err), VIAL_E_GONE);
    assert_non_null(strstr(err.text, why));
    assert_non_null(strstr(info.ended, why));
    assert_int_equal(vial_session_branch(s, 1, &branch, &err), VIAL_E_GONE);
    assert_int_equal(vial_session_call(s, 1, "[]", 2, NULL, &result, &err), VIAL_E_GONE);
    assert_int_equal(vial_session_release(s, 1, &err), VIAL_E_GONE);
    assert_int_equal(vial_session_complete(s, "a", 1, &names, &err), VIAL_E_GONE);
    assert_null(result);
    assert_null(branch);
}

/* ---- what stays ---- */

static void globals_functions_and_classes_stay(void **state)
{
    struct vial_session *s = open_one();

    (void)state;
    expect(s, "let count = 1; const add = (n) => { count += n; return count; }; class A { x = 7 }",
        NULL);
    expect(s, "add(2); add(3)", "6");
    expect(s, "new A().x + count", "13");
    expect(s, "let count = 10; typeof add", "\"function\"");
    expect(s, "globalThis.later = new Map([[1, { deep: [count] }]]); later.get(1).deep[0]", "10");
    expect(s, "later.get(1).deep[0] + later.size", "11");
    vial_session_free(s);
}

static void timers_and_promises_go_on_in_later_programs(void **state)
{
    struct vial_session *s = open_one();

    (void)state;
    expect(s,
        "var hits = 0; setTimeout(() => { hits++ }, 5); var p = new Promise((r) => "
        "setTimeout(r, 10, 'done')); hits",
        "0");
    expect(s, "await p", "\"done\"");
    expect(s, "hits", "1");
    vial_session_free(s);
}

static void an_exception_leaves_what_was_before_it(void **state)
{
    struct vial_session *s = open_one();

    (void)state;
    expect_end(s, "var kept = 1; null.x; var never = 2", NULL, VIAL_STATUS_EXCEPTION, 1);
    expect_end(s, "x =", NULL, VIAL_STATUS_EXCEPTION, 1);
    expect_end(s, "await new Promise(() => {})", NULL, VIAL_STATUS_EXCEPTION, 1);
    expect(s, "[kept, typeof never]", "[1,\"undefined\"]");
    vial_session_free(s);
}

static void files_stay_and_are_counted(void **state)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    const struct vial_file file = {.name = "in/a.txt", .bytes = "abc", .len = 3};
    struct vial_session *s;

    (void)state;
    options.files = &file;
    options.files_count = 1;
    options.name = "with files";
    s = open_with(&options);
    expect(s, "const fs = require('fs'); fs.readFileSync('in/a.txt', 'utf8')", "\"abc\"");
    expect(s, "fs.writeFileSync('b', 'x'.repeat(100000)); fs.mkdirSync('d'); 1", "1");
    expect(s, "[fs.statSync('b').size, fs.readdirSync('.').join()]", "[100000,\"b,d,in\"]");
    vial_session_info(s, &info);
    assert_string_equal(info.name, "with files");
    assert_true(info.file_count >= 3 && info.file_count < 10);
    assert_true(info.file_bytes >= 100000 && info.file_bytes < 200000);
    vial_session_free(s);
}

static void modules_globals_and_variables_are_the_sessions(void **state)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    const struct vial_module module = {.name = "./m.js",
        .source = "export let n = 0; export const up = () => ++n;",
        .source_len = 46};
    static const char *const env[] = {"WHO=me"};
    struct vial_session *s;

    (void)state;
    options.modules = &module;
    options.module_count = 1;
    options.env = env;
    options.env_count = 1;
    options.globals = "{\"given\": [1, 2]}";
    options.globals_len = strlen(options.globals);
    s = open_with(&options);
    expect(s, "import { up } from './m.js'; up(); up()", "2");
    expect(s, "import * as m from './m.js'; [m.n, given.length, process.env.WHO]", "[2,2,\"me\"]");
    vial_session_free(s);
}

static void a_program_may_not_bring_what_is_the_sessions(void **state)
{
    const struct vial_file file = {.name = "a", .bytes = "", .len = 0};
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_session *s = open_one();
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    request.source = "1";
    request.source_len = 1;
    request.files = &file;
    request.files_count = 1;
    assert_int_equal(vial_session_eval(s, &request, &result, &err), VIAL_E_INVALID);
    request.files_count = 0;
    request.globals = "{}";
    request.globals_len = 2;
    assert_int_equal(vial_session_eval(s, &request, &result, &err), VIAL_E_INVALID);
    request.globals = NULL;
    request.size = sizeof(request) + 8;
    assert_int_equal(vial_session_eval(s, &request, &result, &err), VIAL_E_INVALID);
    expect(s, "2", "2"); /* nothing of that has touched it */
    vial_session_free(s);
}

static void output_and_input_are_those_of_each_program(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_session *s = open_one();
    struct vial_result *result = NULL;
    uint64_t dropped = 9;
    size_t len = 0;
    int i;

    (void)state;
    request.source = "console.log(input.n); input.n";
    request.source_len = strlen(request.source);
    for (i = 0; i < 3; i++) {
        char input[16], want[16];

        (void)snprintf(input, sizeof(input), "{\"n\":%d}", i);
        (void)snprintf(want, sizeof(want), "%d\n", i);
        request.input = input;
        request.input_len = strlen(input);
        assert_int_equal(vial_session_eval(s, &request, &result, NULL), 0);
        assert_string_equal(vial_result_output(result, VIAL_STDOUT, &len, &dropped), want);
        assert_int_equal(dropped, 0);
        vial_result_free(result);
    }
    vial_session_free(s);
}

/* ---- limits ---- */

static void a_soft_limit_keeps_the_session(void **state)
{
    struct vial_limits wall = VIAL_LIMITS_INIT, cpu = VIAL_LIMITS_INIT;
    struct vial_session *s = open_one();

    (void)state;
    wall.wall_ms_max = 100;
    cpu.cpu_ms_max = 100;
    expect(s, "var kept = 'kept'", NULL);
    expect_end(s, "for (;;) {}", &wall, VIAL_STATUS_WALL_LIMIT, 1);
    expect_end(s, "for (;;) {}", &cpu, VIAL_STATUS_CPU_LIMIT, 1);
    expect_end(
        s, "await new Promise((r) => setTimeout(r, 60000))", &wall, VIAL_STATUS_WALL_LIMIT, 1);
    expect_end(s, "try { for (;;) {} } finally { for (;;) {} }", &wall, VIAL_STATUS_WALL_LIMIT, 1);
    expect_end(s, "for (;;) { try { for (;;) {} } catch {} }", &wall, VIAL_STATUS_WALL_LIMIT, 1);
    expect(s, "kept", "\"kept\"");
    vial_session_free(s);
}

static void each_program_has_its_limits_anew(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s = open_one();
    int i;

    (void)state;
    limits.cpu_ms_max = 400;
    for (i = 0; i < 5; i++) { /* together far beyond one limit, and beyond seconds of the clock */
        check_value(
            eval_with(
                s, "var t = performance.now(); while (performance.now() - t < 250); 1", &limits),
            "250 ms", "1");
    }
    limits.cpu_ms_max = 5000;
    check_value(eval_with(s, "2", &limits), "2", "2");
    limits.stdout_bytes_max = 10;
    check_value(eval_with(s, "console.log('x'.repeat(50)); 3", &limits), "50 bytes", "3");
    check_value(eval_with(s, "console.log('x'.repeat(50)); 4", &limits), "50 bytes", "4");
    vial_session_free(s);
}

static void a_native_loop_that_hears_nothing_ends_the_session(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s = open_one();

    (void)state;
    limits.wall_ms_max = 100;
    expect_end(s, "/a*a*a*a*a*a*c/.test('a'.repeat(300))", &limits, VIAL_STATUS_WALL_LIMIT, 0);
    expect_gone(s, "wall_limit");
    vial_session_free(s);
}

static void memory_is_a_hard_limit_of_all_programs_together(void **state)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s;

    (void)state;
    limits.memory_bytes_max = 64 << 20;
    options.limits = &limits;
    s = open_with(&options);
    expect(s,
        "var kept = []; for (let i = 0; i < 20; i++) kept.push(new Uint8Array(1e6).fill(1)); 1",
        "1");
    expect(s, "kept.length", "20");
    expect_end(
        s, "for (;;) kept.push(new Uint8Array(1e6).fill(1))", NULL, VIAL_STATUS_MEMORY_LIMIT, 0);
    expect_gone(s, "memory_limit");
    vial_session_free(s);
}

static void a_program_that_exits_ends_the_session(void **state)
{
    struct vial_session *s = open_one();
    struct vial_result *result;

    (void)state;
    result = eval_with(s, "process.exit(3)", NULL);
    assert_int_equal(vial_result_exit_code(result), 3);
    assert_int_equal(vial_result_session_lives(result), 0);
    vial_result_free(result);
    expect_gone(s, "ended it");
    vial_session_free(s);
}

static pid_t pid_of(struct vial_session *s)
{
    pid_t pid;

    (void)pthread_mutex_lock(&engine->lock);
    pid = engine->cells[s->cell].pid;
    (void)pthread_mutex_unlock(&engine->lock);
    return pid;
}

static void a_crash_ends_the_session_and_no_other(void **state)
{
    struct vial_session *s = open_one();
    struct vial_session *other = open_one();
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    int i;

    (void)state;
    expect(other, "var alive = 1", NULL);
    assert_int_equal(kill(pid_of(s), SIGKILL), 0);
    for (i = 0; i < 400; i++) {
        vial_session_info(s, &info);
        if (info.state == VIAL_SESSION_ENDED) {
            break;
        }
        helper_sleep_ms(5);
    }
    expect_gone(s, "died");
    expect(other, "alive", "1");
    vial_session_free(s);
    vial_session_free(other);
}

/* Kills the process of the session a while later. */
static void *kill_soon(void *user)
{
    helper_sleep_ms(100);
    (void)kill(pid_of(user), SIGKILL);
    return NULL;
}

static void a_crash_in_a_program_says_so(void **state)
{
    struct vial_session *s = open_one();
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, kill_soon, s), 0);
    expect_end(s, "for (;;) {}", NULL, VIAL_STATUS_CRASHED, 0);
    (void)pthread_join(thread, NULL);
    expect_gone(s, "crashed");
    vial_session_free(s);
}

static void sessions_that_nobody_uses_or_that_are_old_end(void **state)
{
    struct vial_session_options idle = VIAL_SESSION_OPTIONS_INIT, life = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session *a, *b;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    int i;

    (void)state;
    idle.idle_ms_max = 1500;
    life.life_ms_max = 1500;
    a = open_with(&idle);
    b = open_with(&life);
    for (i = 0; i < 100; i++) {
        struct vial_result *result = NULL;

        (void)eval_code(b, "1", NULL, &result, NULL); /* it is in use, but old */
        vial_result_free(result);
        vial_session_info(a, &info);
        if (info.state == VIAL_SESSION_ENDED) {
            vial_session_info(b, &info);
            if (info.state == VIAL_SESSION_ENDED) {
                break;
            }
        }
        helper_sleep_ms(50);
    }
    expect_gone(a, "not used");
    expect_gone(b, "old");
    vial_session_free(a);
    vial_session_free(b);
    idle.idle_ms_max = 8 * 24 * 3600 * 1000U;
    assert_int_equal(vial_session_new(engine, &idle, &a, NULL), VIAL_E_INVALID);
}

/* ---- other threads ---- */

enum other_deed { OTHER_CANCELS, OTHER_ENDS, OTHER_EVALUATES };

struct other {
    struct vial_session *session;
    enum other_deed deed;
    int code;
};

static void *other_thread(void *user)
{
    struct other *o = user;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    struct vial_result *result = NULL;

    do {
        helper_sleep_ms(5);
        vial_session_info(o->session, &info);
    } while (info.state != VIAL_SESSION_BUSY);
    helper_sleep_ms(50);
    if (o->deed == OTHER_CANCELS) {
        vial_session_cancel(o->session);
    } else if (o->deed == OTHER_ENDS) {
        vial_session_end(o->session);
    } else {
        o->code = eval_code(o->session, "1", NULL, &result, NULL);
        vial_session_cancel(o->session);
    }
    return NULL;
}

static void a_cancelled_program_keeps_the_session(void **state)
{
    struct vial_session *s = open_one();
    struct other o = {.session = s, .deed = OTHER_CANCELS};
    static const char *const sources[] = {
        "for (;;) {}", "await new Promise((r) => setTimeout(r, 60000))", "while (true) kept++"};
    pthread_t thread;
    size_t i;

    (void)state;
    vial_session_cancel(s); /* nothing is in progress: nothing happens */
    expect(s, "var kept = 1", NULL);
    for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        assert_int_equal(pthread_create(&thread, NULL, other_thread, &o), 0);
        expect_end(s, sources[i], NULL, VIAL_STATUS_CANCELLED, 1);
        (void)pthread_join(thread, NULL);
    }
    vial_session_cancel(s);
    expect(s, "kept > 0", "true");
    vial_session_free(s);
}

static uint64_t thread_cpu_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void waiting_after_a_cancellation_costs_the_host_nothing(void **state)
{
    struct vial_session *s = open_one();
    struct other o = {.session = s, .deed = OTHER_CANCELS};
    pthread_t thread;
    uint64_t before;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &o), 0);
    expect_end(s, "for (;;) {}", NULL, VIAL_STATUS_CANCELLED, 1);
    (void)pthread_join(thread, NULL);
    before = thread_cpu_us();
    expect(s, "await new Promise((r) => setTimeout(r, 500, 1))", "1");
    assert_true(thread_cpu_us() - before < 200000);
    vial_session_free(s);
}

static void a_busy_session_says_so(void **state)
{
    struct vial_session *s = open_one();
    struct other o = {.session = s, .deed = OTHER_EVALUATES};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &o), 0);
    expect_end(s, "for (;;) {}", NULL, VIAL_STATUS_CANCELLED, 1);
    (void)pthread_join(thread, NULL);
    assert_int_equal(o.code, VIAL_E_BUSY);
    vial_session_free(s);
}

static void another_thread_can_end_it_in_the_middle(void **state)
{
    struct vial_session *s = open_one();
    struct other o = {.session = s, .deed = OTHER_ENDS};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &o), 0);
    expect_end(s, "for (;;) {}", NULL, VIAL_STATUS_CANCELLED, 0);
    (void)pthread_join(thread, NULL);
    expect_gone(s, "was ended");
    vial_session_end(s); /* again: nothing */
    vial_session_free(s);
    vial_session_free(NULL);
    vial_session_end(NULL);
}

/* Cancels as fast as it can while programs come and go. */
static void *cancel_for_ever(void *user)
{
    struct other *o = user;

    while (__atomic_load_n(&o->code, __ATOMIC_RELAXED) == 0) {
        vial_session_cancel(o->session);
    }
    return NULL;
}

static void cancelling_at_any_moment_is_safe(void **state)
{
    struct vial_session *s = open_one();
    struct other o = {.session = s};
    struct vial_result *result = NULL;
    pthread_t thread;
    int i;

    (void)state;
    expect(s, "var n = 0", NULL);
    assert_int_equal(pthread_create(&thread, NULL, cancel_for_ever, &o), 0);
    for (i = 0; i < 100; i++) {
        if (eval_code(s, "n++", NULL, &result, NULL) == 0) {
            vial_result_free(result);
        }
    }
    __atomic_store_n(&o.code, 1, __ATOMIC_RELAXED);
    (void)pthread_join(thread, NULL);
    expect(s, "n >= 0", "true");
    vial_session_free(s);
}

/* ---- looking ---- */

static void infos_tell_what_there_is(void **state)
{
    struct vial_session_info infos[4], info = VIAL_SESSION_INFO_INIT;
    struct vial_session *a = open_one(), *b = open_one();
    size_t before = vial_engine_sessions(engine, NULL, 0), i;
    uint64_t used;

    (void)state;
    for (i = 0; i < 4; i++) {
        infos[i] = (struct vial_session_info)VIAL_SESSION_INFO_INIT;
    }
    assert_int_equal(before, 2);
    assert_int_equal(vial_engine_sessions(engine, infos, 4), 2);
    assert_int_not_equal(infos[0].id, infos[1].id);
    vial_session_info(a, &info);
    used = info.used_us;
    assert_int_equal(info.eval_count, 0);
    expect(a, "var big = new Uint8Array(8e6).fill(7); 1", "1");
    vial_session_info(a, &info);
    assert_int_equal(info.eval_count, 1);
    assert_int_equal(info.state, VIAL_SESSION_IDLE);
    assert_true(info.used_us > used);
    assert_true(info.memory_bytes > 7 << 20);
    info.size = 8; /* an older caller: nothing beyond it is written */
    info.id = 12345;
    vial_session_info(a, &info);
    assert_int_equal(info.id, 12345);
    assert_int_equal(vial_engine_sessions(engine, infos, 1), 2);
    vial_session_free(a);
    assert_int_equal(vial_engine_sessions(engine, infos, 4), 1);
    vial_session_free(b);
}

static void there_are_no_more_than_sessions_max(void **state)
{
    struct vial_session *s[5] = {NULL};
    struct vial_error err = {.code = 0};
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        s[i] = open_one();
    }
    assert_int_equal(vial_session_new(engine, NULL, &s[4], &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "sessions_max"));
    assert_int_equal(vial_session_branch(s[0], 1, &s[4], &err), VIAL_E_BUSY);
    assert_int_equal(vial_session_branch(s[0], SIZE_MAX, &s[4], &err), VIAL_E_BUSY);
    vial_session_free(s[1]);
    s[1] = open_one();
    for (i = 0; i < 4; i++) {
        expect(s[i], "1", "1");
        vial_session_free(s[i]);
    }
}

/* ---- functions ---- */

static struct vial_result *call_with(struct vial_session *s, uint64_t handle, const char *args)
{
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    if (vial_session_call(s, handle, args, strlen(args), NULL, &result, &err) < 0) {
        fail_msg("call %llu: %s", (unsigned long long)handle, err.text);
    }
    return result;
}

/* The number behind the n-th {"$function": of a value. */
static uint64_t handle_in(struct vial_result *result, int n)
{
    const char *at = vial_result_value(result, NULL);
    unsigned long long handle = 0;

    while (at != NULL && n-- >= 0) {
        at = strstr(at, "{\"$function\":");
        at = at != NULL ? at + strlen("{\"$function\":") : NULL;
    }
    if (at == NULL || sscanf(at, "%llu", &handle) != 1) {
        fail_msg("no function in %s", vial_result_json(result, NULL));
    }
    return handle;
}

static void functions_can_be_called_and_let_go(void **state)
{
    struct vial_session *s = open_one();
    struct vial_result *result = eval_with(s, "let n = 0; (by) => n += by", NULL);
    uint64_t handle = handle_in(result, 0);
    struct vial_error err = {.code = 0};

    (void)state;
    vial_result_free(result);
    check_value(call_with(s, handle, "[2]"), "call", "2");
    check_value(call_with(s, handle, " [5]"), "call", "7");
    expect(s, "n", "7");
    result = call_with(s, handle + 100, "[]");
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    assert_int_equal(vial_result_session_lives(result), 1);
    vial_result_free(result);
    result = NULL;
    assert_int_equal(vial_session_call(s, 0, "[]", 2, NULL, &result, &err), VIAL_E_INVALID);
    assert_int_equal(vial_session_call(s, handle, "{}", 2, NULL, &result, &err), VIAL_E_INVALID);
    assert_int_equal(vial_session_call(s, handle, "[1,", 3, NULL, &result, &err), VIAL_E_INVALID);
    assert_int_equal(
        vial_session_call(s, 1ULL << 40, "[]", 2, NULL, &result, &err), VIAL_E_INVALID);
    assert_int_equal(vial_session_release(s, handle, &err), 0);
    assert_int_equal(vial_session_release(s, handle, &err), VIAL_E_GONE);
    result = call_with(s, handle, "[1]");
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    vial_result_free(result);
    vial_session_free(s);
}

static void functions_in_a_value_have_what_held_them(void **state)
{
    struct vial_session *s = open_one();
    struct vial_result *result = eval_with(s,
        "({ name: 'x', who() { return this.name }, deep: [async function (a) { return "
        "[this.length, a] }], f: null })",
        NULL);

    (void)state;
    check_value(call_with(s, handle_in(result, 0), "[]"), "who", "\"x\"");
    check_value(call_with(s, handle_in(result, 1), "[[1]]"), "deep", "[1,[1]]");
    vial_result_free(result);
    vial_session_free(s);
}

static void calls_of_functions_have_limits_and_can_throw(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s = open_one();
    struct vial_result *result =
        eval_with(s, "(x) => { if (x) throw new RangeError(x); for (;;); }", NULL);
    uint64_t handle = handle_in(result, 0);
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    (void)state;
    vial_result_free(result);
    result = call_with(s, handle, "[\"bad\"]");
    vial_result_error(result, &e);
    assert_string_equal(e.name, "RangeError");
    vial_result_free(result);
    limits.wall_ms_max = 100;
    request.limits = &limits;
    result = NULL;
    assert_int_equal(vial_session_call(s, handle, "[]", 2, &request, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    assert_int_equal(vial_result_session_lives(result), 1);
    vial_result_free(result);
    expect(s, "1", "1");
    vial_session_free(s);
}

static void names_are_completed_and_nothing_runs(void **state)
{
    struct vial_session *s = open_one();
    char *names = NULL;

    (void)state;
    expect(s,
        "var alpha = { beta: 1, bee: { c: 2 }, get bad() { globalThis.ran = 1 } }; "
        "var alps = new Proxy({}, { ownKeys() { globalThis.ran = 1; return [] } })",
        NULL);
    assert_int_equal(vial_session_complete(s, "alp", 3, &names, NULL), 0);
    assert_non_null(strstr(names, "\"alpha\""));
    assert_non_null(strstr(names, "\"alps\""));
    vial_text_free(names);
    assert_int_equal(vial_session_complete(s, "alpha.be", 8, &names, NULL), 0);
    assert_string_equal(names, "[\"alpha.beta\",\"alpha.bee\"]");
    vial_text_free(names);
    assert_int_equal(vial_session_complete(s, "alpha.bad.", 10, &names, NULL), 0);
    assert_string_equal(names, "[]");
    vial_text_free(names);
    assert_int_equal(vial_session_complete(s, "alps.", 5, &names, NULL), 0);
    vial_text_free(names);
    expect(s, "typeof ran", "\"undefined\"");
    assert_int_equal(vial_session_complete(s, "x", 5000, &names, NULL), VIAL_E_INVALID);
    vial_session_free(s);
}

/* ---- tools ---- */

static uint64_t asked_id;
static unsigned calls_count;

static void echo(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    (void)__atomic_add_fetch(&calls_count, 1, __ATOMIC_RELAXED);
    (void)!vial_call_answer(e, call->id, call->args, call->args_len, NULL);
}

static void never(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)e;
    (void)user;
    __atomic_store_n(&asked_id, call->id, __ATOMIC_RELEASE);
}

static int ask_later(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)e;
    (void)user;
    __atomic_store_n(&asked_id, call->id, __ATOMIC_RELEASE);
    return VIAL_APPROVAL_LATER;
}

#define TOOL(...)                                                                                  \
    {                                                                                              \
        .size = sizeof(struct vial_tool), __VA_ARGS__                                              \
    }
static const struct vial_tool TOOLS[] = {
    TOOL(.name = "echo", .call = echo),
    TOOL(.name = "echoNow", .call = echo, .mode = VIAL_TOOL_SYNC),
    TOOL(.name = "never", .call = never),
    TOOL(.name = "neverNow", .call = never, .mode = VIAL_TOOL_SYNC),
    TOOL(.name = "danger", .call = echo, .flags = VIAL_TOOL_APPROVE),
};

static struct vial_session *open_with_tools(void)
{
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;

    options.tools = TOOLS;
    options.tools_count = sizeof(TOOLS) / sizeof(TOOLS[0]);
    return open_with(&options);
}

static void tools_are_there_in_every_program(void **state)
{
    struct vial_session *s = open_with_tools();
    struct vial_limits limits = VIAL_LIMITS_INIT;

    (void)state;
    expect(s, "await echo(1)", "1");
    expect(s, "const f = (x) => echoNow(x); f([2])", "[2]");
    limits.wall_ms_max = 100;
    expect_end(s, "await never(1)", &limits, VIAL_STATUS_WALL_LIMIT, 1);
    expect_end(s, "neverNow(1)", &limits, VIAL_STATUS_WALL_LIMIT, 1);
    assert_int_equal(vial_call_answer(engine, asked_id, "1", 1, NULL), VIAL_E_GONE);
    expect(s, "f(3)", "3");
    limits.wall_ms_max = 0;
    limits.calls_max = 2;
    check_value(eval_with(s, "f(1); f(2)", &limits), "two calls", "2");
    check_value(eval_with(s, "f(1); f(2)", &limits), "two calls", "2");
    vial_session_free(s);
}

static void a_call_that_nobody_waits_for_ends_with_its_program(void **state)
{
    struct vial_session *s = open_with_tools();

    (void)state;
    expect(s, "var p = never(1); var got; p.catch((e) => { got = e.name }); 1", "1");
    assert_int_equal(vial_call_answer(engine, asked_id, "1", 1, NULL), VIAL_E_GONE);
    expect(s, "await 0; await 0; got", "\"AbortError\"");
    vial_session_free(s);
}

/* The answers come when the program is over, small or so large that the socket takes only a part.
 */
static void answers_that_come_too_late_do_no_harm(void **state)
{
    struct vial_session *s = open_with_tools();
    int i;

    (void)state;
    for (i = 0; i < 50; i++) {
        expect(s, "echo(1); echo(2); 1", "1");
        expect(s, "echo('x'.repeat(900000)); echo('y'.repeat(900000)); 2", "2");
        expect(s,
            "echo('x'.repeat(900000)).then((t) => { globalThis.late = t.length }); echoNow(3)",
            "3");
    }
    expect(s, "await echo(4)", "4");
    vial_session_free(s);
}

static void a_session_goes_on_when_an_approval_was_left_open(void **state)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s = open_with_tools();
    struct vial_result *result = NULL;
    int i;

    (void)state;
    limits.wall_ms_max = 2000;
    limits.approval_ms_max = 20;
    request.source = "danger(1).catch(() => 0); 1";
    request.source_len = strlen(request.source);
    request.on_approve = ask_later;
    request.limits = &limits;
    for (i = 0; i < 30; i++) { /* the cell is stopped before it has given its result, or after */
        assert_int_equal(vial_session_eval(s, &request, &result, NULL), 0);
        check_value(result, request.source, "1");
        assert_int_equal(vial_call_approve(engine, asked_id, 1, NULL, NULL), VIAL_E_GONE);
        check_value(eval_with(s, "2", &limits), "after it", "2");
    }
    vial_session_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)

/* ---- permissions ---- */

static void a_session_and_its_branches_have_its_permissions(void **state)
{
    static const char deny[] = "{\"fs\": \"deny\"}", loose[] = "{\"fs\": \"allow\"}";
    static const char look[] = "try { require('fs').readdirSync('.').length } catch (e) { e.rule }";
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_session *s, *branch = NULL;
    struct vial_result *result = NULL;

    (void)state;
    options.permissions = deny;
    options.permissions_len = sizeof(deny) - 1;
    s = open_with(&options);
    expect(s, look, "\"fs: \\\"deny\\\" of the session\"");
    assert_int_equal(vial_session_branch(s, 1, &branch, NULL), VIAL_OK);
    vial_session_free(s);
    request.source = look;
    request.source_len = sizeof(look) - 1;
    request.permissions = loose; /* cannot loosen it */
    request.permissions_len = sizeof(loose) - 1;
    assert_int_equal(vial_session_eval(branch, &request, &result, NULL), VIAL_OK);
    check_value(result, look, "\"fs: \\\"deny\\\" of the session\"");
    vial_session_free(branch);
}

static void an_evaluation_can_tighten_for_itself(void **state)
{
    static const char deny[] = "{\"fs\": \"deny\", \"clock\": \"deny\"}", bad[] = "{\"fs\": 1}";
    static const char look[] = "[(() => { try { return require('fs').readdirSync('.').length } "
                               "catch (e) { return e.code } "
                               "})(), Date.now() > 0]";
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_session *s = open_one();
    struct vial_result *result = NULL;
    struct vial_error err;

    (void)state;
    expect(s, look, "[0,true]");
    request.source = look;
    request.source_len = sizeof(look) - 1;
    request.permissions = deny;
    request.permissions_len = sizeof(deny) - 1;
    assert_int_equal(vial_session_eval(s, &request, &result, &err), VIAL_OK);
    check_value(result, look, "[\"EACCES\",false]");
    expect(s, look, "[0,true]");
    request.permissions = bad;
    request.permissions_len = sizeof(bad) - 1;
    assert_int_equal(vial_session_eval(s, &request, &result, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "/permissions/fs"));
    expect(s, look, "[0,true]"); /* it is still there */
    vial_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_session_and_its_branches_have_its_permissions),
        TEST(an_evaluation_can_tighten_for_itself),
        TEST(globals_functions_and_classes_stay),
        TEST(timers_and_promises_go_on_in_later_programs),
        TEST(an_exception_leaves_what_was_before_it),
        TEST(files_stay_and_are_counted),
        TEST(modules_globals_and_variables_are_the_sessions),
        TEST(a_program_may_not_bring_what_is_the_sessions),
        TEST(output_and_input_are_those_of_each_program),
        TEST(a_soft_limit_keeps_the_session),
        TEST(each_program_has_its_limits_anew),
        TEST(a_native_loop_that_hears_nothing_ends_the_session),
        TEST(memory_is_a_hard_limit_of_all_programs_together),
        TEST(a_program_that_exits_ends_the_session),
        TEST(a_crash_ends_the_session_and_no_other),
        TEST(a_crash_in_a_program_says_so),
        TEST(sessions_that_nobody_uses_or_that_are_old_end),
        TEST(a_cancelled_program_keeps_the_session),
        TEST(waiting_after_a_cancellation_costs_the_host_nothing),
        TEST(a_busy_session_says_so),
        TEST(another_thread_can_end_it_in_the_middle),
        TEST(cancelling_at_any_moment_is_safe),
        TEST(infos_tell_what_there_is),
        TEST(there_are_no_more_than_sessions_max),
        TEST(functions_can_be_called_and_let_go),
        TEST(functions_in_a_value_have_what_held_them),
        TEST(calls_of_functions_have_limits_and_can_throw),
        TEST(names_are_completed_and_nothing_runs),
        TEST(tools_are_there_in_every_program),
        TEST(a_call_that_nobody_waits_for_ends_with_its_program),
        TEST(answers_that_come_too_late_do_no_harm),
        TEST(a_session_goes_on_when_an_approval_was_left_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
