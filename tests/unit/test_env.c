/* test_env.c - environments in the real cell program: what a prefix leaves to every run, what runs
 * may not say, prefixes that go wrong, and templates that die, are put down or are wanted by many
 * at once. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"
#include "host/env.h"
#include "host/session.h"
#include "vial.h"

enum { THREADS = 8, ROUNDS = 20 };

static struct vial_engine *engine; /* of the test that runs */

static int start_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.for_sessions = 1;
    return vial_engine_new(&options, &engine, NULL);
}

/* One in which no environment fits beside another. */
static int start_small_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.for_sessions = 1;
    options.env_bytes_max = 1;
    return vial_engine_new(&options, &engine, NULL);
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

/* ---- tools ---- */

static unsigned calls_count;

static void count(struct vial_engine *e, const struct vial_call *call, void *user)
{
    char text[32];

    (void)user;
    (void)snprintf(text, sizeof(text), "%u", __atomic_add_fetch(&calls_count, 1, __ATOMIC_RELAXED));
    (void)!vial_call_answer(e, call->id, text, strlen(text), NULL);
}

static void other(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_answer(e, call->id, "\"other\"", 7, NULL);
}

static const struct vial_tool COUNT = {.size = sizeof(COUNT), .name = "count", .call = count};
static const struct vial_tool OTHER = {.size = sizeof(OTHER), .name = "count", .call = other};
static const struct vial_tool STRANGE = {.size = sizeof(STRANGE), .name = "strange", .call = other};

/* ---- environments and runs ---- */

static struct vial_env *open_with(
    const char *document, const struct vial_tool *tools, size_t tools_count)
{
    struct vial_env *env = NULL;
    struct vial_error err = {.code = 0};

    if (vial_env_new(engine, document, strlen(document), tools, tools_count, &env, &err) < 0) {
        fail_msg("%s: %s", document, err.text);
    }
    return env;
}

static struct vial_env *open_prefix(const char *prefix)
{
    char document[4096];

    (void)snprintf(document, sizeof(document), "{\"name\":\"e\",\"prefix\":\"%s\"}", prefix);
    return open_with(document, NULL, 0);
}

static struct vial_request request_of(struct vial_env *env, const char *source)
{
    struct vial_request request = VIAL_REQUEST_INIT;

    request.environment = env;
    request.source = source;
    request.source_len = strlen(source);
    return request;
}

static int run_code(struct vial_request *request, struct vial_error *err)
{
    struct vial_result *result = NULL;
    int r = vial_run(engine, request, &result, err);

    vial_result_free(result);
    return r;
}

static void expect_request(struct vial_request *request, const char *value)
{
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    const char *found;

    if (vial_run(engine, request, &result, &err) < 0) {
        fail_msg("%s: %s", request->source, err.text);
    }
    found = vial_result_value(result, NULL);
    if (vial_result_status(result) != VIAL_STATUS_OK || found == NULL ||
        strcmp(found, value) != 0) {
        fail_msg("%s is not %s but %s", request->source, value, vial_result_json(result, NULL));
    }
    vial_result_free(result);
}

static void expect(struct vial_env *env, const char *source, const char *value)
{
    struct vial_request request = request_of(env, source);

    expect_request(&request, value);
}

static int status_of(struct vial_env *env, const char *source, const struct vial_limits *limits)
{
    struct vial_request request = request_of(env, source);
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    int status;

    request.limits = limits;
    if (vial_run(engine, &request, &result, &err) < 0) {
        fail_msg("%s: %s", source, err.text);
    }
    status = vial_result_status(result);
    vial_result_free(result);
    return status;
}

/* ---- what the prefix leaves ---- */

static void every_run_has_what_the_prefix_made_as_new(void **state)
{
    struct vial_env *env =
        open_prefix("let n = 1; const add = () => ++n; const m = new Map([[1, "
                    "{ deep: [] }]]); class A { #x = 7; get x() { return this.#x } }");
    int i;

    (void)state;
    for (i = 0; i < 5; i++) {
        expect(env,
            "add(); m.get(1).deep.push(1); globalThis.left = (globalThis.left ?? 0) + 1; "
            "[n, m.get(1).deep.length, new A().x, left]",
            "[2,1,7,1]");
    }
    vial_env_free(env);
}

static void what_a_run_spoils_is_whole_in_the_next(void **state)
{
    struct vial_env *env = open_prefix("const keep = { list: [1, 2, 3] }");

    (void)state;
    expect(env,
        "keep.list.length = 0; Array.prototype.map = null; Object.prototype.bad = 1; "
        "delete globalThis.Map; JSON.stringify = null; Promise.prototype.then = null; 1",
        "1");
    assert_int_equal(status_of(env, "process.exit(3)", NULL), VIAL_STATUS_OK);
    assert_int_equal(status_of(env, "keep.list = null; throw 1", NULL), VIAL_STATUS_EXCEPTION);
    expect(env, "[keep.list.map((x) => x * 2), 'bad' in {}, typeof Map]",
        "[[2,4,6],false,\"function\"]");
    vial_env_free(env);
}

static void timers_and_promises_of_the_prefix_go_on_in_each_run(void **state)
{
    struct vial_env *env = open_prefix("let ticks = 0; setInterval(() => { ticks++ }, 5); "
                                       "const p = new Promise((r) => setTimeout(r, 20, 'late')); "
                                       "const never = new Promise(() => {})");

    (void)state;
    expect(env, "await p", "\"late\"");
    expect(env, "await new Promise((r) => setTimeout(r, 50)); ticks > 0", "true");
    expect(env, "1", "1"); /* an interval of the prefix keeps no run from ending */
    assert_int_equal(status_of(env, "await never", NULL) == VIAL_STATUS_OK, 0);
    vial_env_free(env);
}

static void modules_types_files_and_await_work_in_a_prefix(void **state)
{
    static const char document[] =
        "{\"name\":\"ts\",\"language\":\"typescript\",\"prefix\":\"import { up } from './m.js';\\n"
        "const shout = (s: string): string => up(s) + '!';\\n"
        "const data: number[] = await new Promise((r) => setTimeout(r, 5, [1, 2]));\\n"
        "const text: string = require('fs').readFileSync('a.txt', 'utf8');\","
        "\"modules\":{\"./m.js\":\"export let n = 0; export const up = (s) => (n++, "
        "s.toUpperCase());\"},"
        "\"files\":{\"a.txt\":\"abc\"},\"env\":{\"WHO\":\"me\"}}";
    struct vial_env *env = open_with(document, NULL, 0);

    (void)state;
    expect(env, "const s: string = 'a'; [shout(s), data, text, process.env.WHO]",
        "[\"A!\",[1,2],\"abc\",\"me\"]");
    expect(env, "import * as m from './m.js'; m.up('x'); m.n", "1");
    expect(env, "require('fs').writeFileSync('a.txt', 'new'); 1", "1");
    expect(env, "require('fs').readFileSync('a.txt', 'utf8')", "\"abc\"");
    vial_env_free(env);
}

static void chance_is_another_in_each_run(void **state)
{
    struct vial_env *env =
        open_prefix("const early = Math.random(); const f = () => Math.random()");
    struct vial_request request = request_of(env, "[f(), crypto.randomUUID()]");
    struct vial_result *results[2] = {NULL, NULL};

    (void)state;
    assert_int_equal(vial_run(engine, &request, &results[0], NULL), 0);
    assert_int_equal(vial_run(engine, &request, &results[1], NULL), 0);
    assert_string_not_equal(
        vial_result_value(results[0], NULL), vial_result_value(results[1], NULL));
    vial_result_free(results[0]);
    vial_result_free(results[1]);
    vial_env_free(env);
}

static void the_prefix_can_call_tools(void **state)
{
    struct vial_env *env = open_with("{\"name\":\"t\",\"prefix\":\"const first = await count(); "
                                     "const forgotten = count(); forgotten.catch(() => 0)\","
                                     "\"tools\":[{\"name\":\"count\"}]}",
        &COUNT, 1);

    (void)state;
    calls_count = 0;
    expect(env, "first", "1");
    expect(env, "first", "1");
    expect(env, "const a = await count(); typeof a", "\"number\"");
    vial_env_free(env);
}

static void the_value_can_be_that_of_main(void **state)
{
    struct vial_env *env = open_with("{\"name\":\"m\",\"entry\":\"main\"}", NULL, 0);

    (void)state;
    expect(env, "async function main() { return 5 } 7", "5");
    assert_int_equal(status_of(env, "7", NULL), VIAL_STATUS_EXCEPTION);
    vial_env_free(env);
}

/* ---- what runs may say ---- */

static void globals_are_those_that_were_declared(void **state)
{
    struct vial_env *env =
        open_with("{\"name\":\"g\",\"globals\":{\"who\":\"nobody\",\"list\":[1]}}", NULL, 0);
    struct vial_request request = request_of(env, "[who, list.length]");
    struct vial_error err = {.code = 0};

    (void)state;
    expect(env, "[who, list.length]", "[\"nobody\",1]");
    request.globals = "{\"who\":\"me\",\"list\":[1,2,3]}";
    request.globals_len = strlen(request.globals);
    expect_request(&request, "[\"me\",3]");
    expect(env, "who = 'x'; list.push(2); 1", "1");
    expect(env, "[who, list.length]", "[\"nobody\",1]");
    request.globals = "{\"process\":1}";
    request.globals_len = strlen(request.globals);
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "process"));
    request.globals = "{\"who\":1,\"who\":2}";
    request.globals_len = strlen(request.globals);
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    request.globals = "[]";
    request.globals_len = 2;
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    vial_env_free(env);
}

static void tools_can_be_done_by_others_in_one_run(void **state)
{
    struct vial_env *env = open_with("{\"name\":\"t\",\"prefix\":\"const f = () => count()\","
                                     "\"tools\":[{\"name\":\"count\"}]}",
        &COUNT, 1);
    struct vial_request request = request_of(env, "await f()");
    struct vial_env *none;
    struct vial_error err = {.code = 0};

    (void)state;
    request.tools = &OTHER;
    request.tools_count = 1;
    expect_request(&request, "\"other\"");
    expect(env, "typeof await f()", "\"number\"");
    request.tools = &STRANGE;
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    assert_int_equal(
        vial_env_new(engine, "{\"name\":\"t\"}", 12, &COUNT, 1, &none, &err), VIAL_E_INVALID);
    vial_env_free(env);
}

static void limits_have_defaults_and_maxima(void **state)
{
    struct vial_env *env =
        open_with("{\"name\":\"l\",\"limits\":{\"default\":{\"wall_ms_max\":150},"
                  "\"max\":{\"wall_ms_max\":400,\"calls_max\":5}}}",
            NULL, 0);
    struct vial_request request =
        request_of(env, "await new Promise((r) => setTimeout(r, 250, 1))");
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_error err = {.code = 0};

    (void)state;
    assert_int_equal(status_of(env, request.source, NULL), VIAL_STATUS_WALL_LIMIT);
    limits.wall_ms_max = 400;
    request.limits = &limits;
    expect_request(&request, "1");
    limits.wall_ms_max = 401;
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "wall_ms_max"));
    limits.wall_ms_max = 0;
    limits.calls_max = 6;
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    vial_env_free(env);
}

static void a_run_brings_files_and_modules_but_no_variables(void **state)
{
    const struct vial_file file = {.name = "a", .bytes = "own", .len = 3};
    const struct vial_module module = {
        .name = "./a.js", .source = "export default 'mine'", .source_len = 21};
    static const char *const variables[] = {"A=1"};
    struct vial_env *env = open_prefix("1");
    struct vial_request request =
        request_of(env, "import a from './a.js'; a + require('fs').readFileSync('a')");

    (void)state;
    request.files = &file;
    request.files_count = 1;
    request.modules = &module;
    request.module_count = 1;
    expect_request(&request, "\"mineown\"");
    expect(env, "require('fs').existsSync('a')", "false"); /* the next run has nothing of it */
    request.env = variables;
    request.env_count = 1;
    assert_int_equal(run_code(&request, NULL), VIAL_E_INVALID);
    request.env_count = 0;
    request.cwd = "x";
    assert_int_equal(run_code(&request, NULL), VIAL_E_INVALID);
    vial_env_free(env);
}

/* ---- prefixes that go wrong ---- */

static void expect_bad_prefix(const char *prefix, const char *why)
{
    struct vial_env *env = open_prefix(prefix);
    struct vial_request request = request_of(env, "1");
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s: %s", prefix, err.text);
    }
    assert_int_equal(vial_env_start(env, &result, &err), 0);
    assert_int_not_equal(vial_result_status(result), VIAL_STATUS_OK);
    vial_result_free(result);
    vial_env_free(env);
}

static void a_prefix_that_fails_is_told(void **state)
{
    (void)state;
    expect_bad_prefix("const a = 1;\\nnull.x", "line 2");
    expect_bad_prefix("const a = ", "SyntaxError");
    expect_bad_prefix("await new Promise(() => {})", "never settle");
    expect_bad_prefix("const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", "memory");
    helper_expect(engine, "1", "1");
}

static void a_prefix_that_loops_is_stopped(void **state)
{
    (void)state;
    expect_bad_prefix("for (;;) {}", "Limit");
}

static void a_prefix_that_prints_or_exits(void **state)
{
    struct vial_env *env = open_prefix("console.log('once'); console.error('twice')");
    struct vial_request request = request_of(env, "console.log('run'); 1");
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    assert_int_equal(vial_env_start(env, &result, NULL), 0);
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, NULL, NULL), "once\n");
    assert_string_equal(vial_result_output(result, VIAL_STDERR, NULL, NULL), "twice\n");
    vial_result_free(result);
    assert_int_equal(vial_run(engine, &request, &result, NULL), 0);
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, NULL, NULL), "run\n");
    vial_result_free(result);
    vial_env_free(env);
    env = open_prefix("process.exit(0)");
    request = request_of(env, "1");
    assert_int_equal(run_code(&request, &err), VIAL_E_INVALID); /* it left nothing to run in */
    assert_non_null(strstr(err.text, "process.exit"));
    vial_env_free(env);
}

/* ---- templates ---- */

static pid_t template_of(struct vial_env *env)
{
    pid_t pid = 0;

    (void)pthread_mutex_lock(&engine->lock);
    if (env->origin != NULL && env->origin->cell != CELL_NONE) {
        pid = engine->cells[env->origin->cell].pid;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return pid;
}

static void a_template_that_is_killed_is_built_anew(void **state)
{
    struct vial_env *env = open_prefix("let n = 1");
    pid_t before;
    int i, k;

    (void)state;
    for (i = 0; i < 5; i++) {
        expect(env, "++n", "2");
        before = template_of(env);
        assert_true(before > 0);
        assert_int_equal(kill(before, SIGKILL), 0);
        if (i % 2 == 0) { /* with and without the keeper's having seen it */
            assert_true(helper_wait_gone(before, 2000));
        }
        for (k = 0; k < 2 * ENV_READY_MAX; k++) { /* more than were ready */
            expect(env, "++n", "2");
        }
        assert_int_not_equal(template_of(env), before);
    }
    vial_env_free(env);
}

static void a_run_outlives_the_template_it_came_from(void **state)
{
    struct vial_env *env = open_prefix("let n = 1");
    struct vial_request request =
        request_of(env, "await new Promise((r) => setTimeout(r, 300)); ++n");
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;

    (void)state;
    expect(env, "n", "1");
    helper_sleep_ms(50);
    assert_int_equal(vial_run_start(engine, &request, &run, NULL), 0);
    helper_sleep_ms(50);
    assert_int_equal(kill(template_of(env), SIGKILL), 0);
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    vial_result_free(result);
    vial_run_free(run);
    vial_env_free(env);
}

static void limits_of_one_run_are_nobody_elses(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_env *env = open_prefix("const a = new Uint8Array(2e7).fill(1)");
    pid_t before;

    (void)state;
    expect(env, "a.length", "20000000");
    before = template_of(env);
    limits.memory_bytes_max = 32 << 20;
    limits.wall_ms_max = 200;
    assert_int_equal(status_of(env, "for (;;) {}", &limits), VIAL_STATUS_WALL_LIMIT);
    limits.wall_ms_max = 5000;
    assert_int_equal(
        status_of(env, "const b = []; for (;;) b.push(new Uint8Array(1e6).fill(1))", &limits),
        VIAL_STATUS_MEMORY_LIMIT);
    assert_int_equal(
        status_of(env, "a[0]", &limits), VIAL_STATUS_OK); /* only what it adds counts */
    expect(env, "a[19999999]", "1");
    assert_int_equal(template_of(env), before);
    vial_env_free(env);
}

static void environments_make_room_for_each_other(void **state)
{
    struct vial_env *envs[3];
    char prefix[64], value[16];
    int i, round;

    (void)state;
    for (i = 0; i < 3; i++) {
        (void)snprintf(prefix, sizeof(prefix), "const which = %d", i);
        envs[i] = open_prefix(prefix);
    }
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 3; i++) {
            (void)snprintf(value, sizeof(value), "%d", i);
            expect(envs[i], "which", value);
            assert_int_equal(template_of(envs[(i + 1) % 3]), 0);
        }
    }
    for (i = 0; i < 3; i++) {
        vial_env_free(envs[i]);
    }
}

/* ---- threads ---- */

struct user {
    struct vial_env *env;
    const char *source, *value;
    unsigned rounds;
    unsigned bad;
    char why[400];
};

static void *use(void *arg)
{
    struct user *u = arg;
    unsigned i;

    for (i = 0; i < u->rounds; i++) {
        struct vial_request request = request_of(u->env, u->source);
        struct vial_result *result = NULL;
        struct vial_error err = {.code = 0};
        int r = vial_run(engine, &request, &result, &err);

        if (r < 0 || vial_result_value(result, NULL) == NULL ||
            strcmp(vial_result_value(result, NULL), u->value) != 0) {
            u->bad++;
            (void)snprintf(u->why, sizeof(u->why), "%.390s",
                r < 0 ? err.text : vial_result_json(result, NULL));
        }
        vial_result_free(result);
    }
    return NULL;
}

static void run_users(struct user *users, int users_count)
{
    pthread_t threads[THREADS];
    int i;

    for (i = 0; i < users_count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
    }
    for (i = 0; i < users_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (i = 0; i < users_count; i++) {
        if (users[i].bad > 0) {
            fail_msg("%u runs of thread %d: %s", users[i].bad, i, users[i].why);
        }
    }
}

static void many_can_be_the_first(void **state)
{
    struct vial_env *env =
        open_with("{\"name\":\"t\",\"prefix\":\"const first = await count(); let n = 1\","
                  "\"tools\":[{\"name\":\"count\"}]}",
            &COUNT, 1);
    struct user users[THREADS];
    int i;

    (void)state;
    calls_count = 0;
    for (i = 0; i < THREADS; i++) {
        users[i] =
            (struct user){.env = env, .source = "[first, ++n]", .value = "[1,2]", .rounds = ROUNDS};
    }
    run_users(users, THREADS);
    assert_int_equal(calls_count, 1); /* the prefix was evaluated once */
    vial_env_free(env);
}

/* Each use puts the other environment down, in the middle of whatever it does. */
static void environments_that_push_each_other_out_still_serve(void **state)
{
    struct vial_env *envs[2] = {open_prefix("const which = 0"), open_prefix("const which = 1")};
    struct user users[4];
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        users[i] = (struct user){.env = envs[i % 2],
            .source = "which",
            .value = i % 2 == 0 ? "0" : "1",
            .rounds = ROUNDS};
    }
    run_users(users, 4);
    vial_env_free(envs[0]);
    vial_env_free(envs[1]);
}

static void an_environment_can_be_freed_with_cells_ready(void **state)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_env *env;
    pid_t pid;
    int i;

    (void)state;
    for (i = 0; i < 30; i++) {
        env = open_prefix("let n = 1");
        if (i % 3 != 0) {
            expect(env, "++n", "2");
        }
        pid = template_of(env);
        if (i % 2 == 0) {
            helper_sleep_ms(10); /* a cell is ready; else it is on its way */
        }
        vial_env_free(env);
        assert_true(pid == 0 || helper_wait_gone(pid, 2000));
    }
    vial_env_free(NULL);
    vial_engine_stats(engine, &stats);
    assert_int_equal(stats.busy_count, 0);
    helper_expect(engine, "1", "1");
}

/* ---- sessions in them ---- */

static void sessions_and_branches_begin_with_the_prefix(void **state)
{
    struct vial_env *env =
        open_with("{\"name\":\"s\",\"prefix\":\"let n = 1; const add = () => ++n\","
                  "\"globals\":{\"who\":\"x\"},\"tools\":[{\"name\":\"count\"}]}",
            &COUNT, 1);
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_session *s = NULL, *b = NULL;
    struct vial_result *result = NULL;

    (void)state;
    options.environment = env;
    options.globals = "{\"who\":\"me\"}";
    options.globals_len = strlen(options.globals);
    assert_int_equal(vial_session_new(engine, &options, &s, NULL), 0);
    request.source = "add(); [n, who, typeof await count()].join()";
    request.source_len = strlen(request.source);
    assert_int_equal(vial_session_eval(s, &request, &result, NULL), 0);
    assert_string_equal(vial_result_value(result, NULL), "\"2,me,number\"");
    vial_result_free(result);
    assert_int_equal(vial_session_branch(s, 1, &b, NULL), 0);
    assert_int_equal(vial_session_eval(b, &request, &result, NULL), 0);
    assert_string_equal(vial_result_value(result, NULL), "\"3,me,number\"");
    vial_result_free(result);
    expect(env, "[n, who]", "[1,\"x\"]");
    vial_session_free(s);
    vial_session_free(b);
    options.globals = "{\"process\":1}";
    options.globals_len = strlen(options.globals);
    assert_int_equal(vial_session_new(engine, &options, &s, NULL), VIAL_E_INVALID);
    vial_env_free(env);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)
#define TEST_SMALL(name) cmocka_unit_test_setup_teardown(name, start_small_engine, stop_engine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_run_has_what_the_prefix_made_as_new),
        TEST(what_a_run_spoils_is_whole_in_the_next),
        TEST(timers_and_promises_of_the_prefix_go_on_in_each_run),
        TEST(modules_types_files_and_await_work_in_a_prefix),
        TEST(chance_is_another_in_each_run),
        TEST(the_prefix_can_call_tools),
        TEST(the_value_can_be_that_of_main),
        TEST(globals_are_those_that_were_declared),
        TEST(tools_can_be_done_by_others_in_one_run),
        TEST(limits_have_defaults_and_maxima),
        TEST(a_run_brings_files_and_modules_but_no_variables),
        TEST(a_prefix_that_fails_is_told),
        TEST(a_prefix_that_loops_is_stopped),
        TEST(a_prefix_that_prints_or_exits),
        TEST(a_template_that_is_killed_is_built_anew),
        TEST(a_run_outlives_the_template_it_came_from),
        TEST(limits_of_one_run_are_nobody_elses),
        TEST_SMALL(environments_make_room_for_each_other),
        TEST(many_can_be_the_first),
        TEST_SMALL(environments_that_push_each_other_out_still_serve),
        TEST(an_environment_can_be_freed_with_cells_ready),
        TEST(sessions_and_branches_begin_with_the_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
