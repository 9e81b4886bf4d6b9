/* test_family.c - branches of sessions in the real cell program: what a copy has, how copies part,
 * and that nothing is left of those that have ended. */
#include <errno.h>
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
#include "host/session.h"
#include "vial.h"

enum { SESSIONS_MAX = 40, DEEP = 20, MANY = 300 };

static struct vial_engine *engine; /* of the test that runs */

static int start_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.for_sessions = 1;
    options.sessions_max = SESSIONS_MAX;
    return vial_engine_new(&options, &engine, NULL);
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static struct vial_session *open_one(void)
{
    struct vial_session *s = NULL;
    struct vial_error err = {.code = 0};

    if (vial_session_new(engine, NULL, &s, &err) < 0) {
        fail_msg("vial_session_new: %s", err.text);
    }
    return s;
}

static struct vial_session *branch_of(struct vial_session *s)
{
    struct vial_session *b = NULL;
    struct vial_error err = {.code = 0};

    if (vial_session_branch(s, 1, &b, &err) < 0) {
        fail_msg("vial_session_branch: %s", err.text);
    }
    return b;
}

static struct vial_result *eval_with(
    struct vial_session *s, const char *source, const struct vial_limits *limits)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    request.source = source;
    request.source_len = strlen(source);
    request.limits = limits;
    if (vial_session_eval(s, &request, &result, &err) < 0) {
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
    vial_result_free(result);
}

static void expect(struct vial_session *s, const char *source, const char *value)
{
    check_value(eval_with(s, source, NULL), source, value);
}

/* The value of a source as a copy that the caller frees. */
static char *value_of(struct vial_session *s, const char *source)
{
    struct vial_result *result = eval_with(s, source, NULL);
    char *value =
        vial_result_value(result, NULL) != NULL ? strdup(vial_result_value(result, NULL)) : NULL;

    assert_non_null(value);
    vial_result_free(result);
    return value;
}

/* ---- what a copy has ---- */

static void a_branch_has_everything_and_goes_its_own_way(void **state)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT, parent = VIAL_SESSION_INFO_INIT;
    struct vial_session *s = open_one(), *b;

    (void)state;
    expect(
        s, "let n = 1; const add = () => ++n; const m = new Map([[1, { deep: [1] }]]); add()", "2");
    b = branch_of(s);
    expect(b, "add(); m.get(1).deep.push(2); [n, m.get(1).deep.length]", "[3,2]");
    expect(s, "[n, m.get(1).deep.length]", "[2,1]");
    expect(s, "add(); add(); n", "4");
    expect(b, "n", "3");
    vial_session_info(s, &parent);
    vial_session_info(b, &info);
    assert_int_equal(info.parent_id, parent.id);
    assert_int_equal(parent.parent_id, 0);
    assert_int_equal(parent.branch_count, 1);
    assert_int_equal(info.branch_count, 0);
    vial_session_free(s);
    vial_session_free(b);
}

static void timers_and_promises_go_on_in_each_copy(void **state)
{
    struct vial_session *s = open_one(), *b;

    (void)state;
    expect(s,
        "var hits = []; var p = new Promise((r) => setTimeout(() => { hits.push(1); r(7) }, 30)); "
        "var me = 'parent'; 1",
        "1");
    b = branch_of(s);
    expect(b, "me = 'branch'; [await p, hits.length, me]", "[7,1,\"branch\"]");
    expect(s, "[await p, hits.length, me]", "[7,1,\"parent\"]");
    vial_session_free(b);
    vial_session_free(s);
}

static void files_are_copied_and_part(void **state)
{
    struct vial_session *s = open_one(), *b;

    (void)state;
    expect(s,
        "const fs = require('fs'); fs.writeFileSync('a', 'abc'); "
        "fs.writeFileSync('big', Buffer.alloc(300000, 7)); 1",
        "1");
    b = branch_of(s);
    expect(b,
        "fs.appendFileSync('a', 'B'); fs.writeFileSync('only', 'b'); fs.unlinkSync('big'); "
        "fs.readdirSync('.').join()",
        "\"a,only\"");
    expect(s,
        "fs.readFileSync('a', 'utf8') + fs.readdirSync('.').join() + "
        "fs.readFileSync('big')[299999]",
        "\"abca,big7\"");
    expect(s, "fs.appendFileSync('a', 'S'); fs.readFileSync('a', 'utf8')", "\"abcS\"");
    expect(b, "fs.readFileSync('a', 'utf8')", "\"abcB\"");
    vial_session_free(s);
    vial_session_free(b);
}

static void open_files_and_their_places_part(void **state)
{
    struct vial_session *s = open_one(), *b;

    (void)state;
    expect(s,
        "const fs = require('fs'); fs.writeFileSync('a', '0123456789'); var fd = "
        "fs.openSync('a', 'r+'); var one = () => { const c = Buffer.alloc(1); fs.readSync(fd, c, "
        "0, "
        "1, null); return String(c) }; one() + one()",
        "\"01\"");
    b = branch_of(s);
    expect(b, "one() + one() + one()", "\"234\"");
    expect(s, "one()", "\"2\"");
    expect(s, "fs.closeSync(fd); 1", "1");
    expect(b, "one()", "\"5\"");
    vial_session_free(s);
    vial_session_free(b);
}

static void chance_is_anothers_in_each_copy(void **state)
{
    static const char source[] = "[Math.random(), crypto.randomUUID(), "
                                 "crypto.getRandomValues(new Uint32Array(2)).join()].join()";
    struct vial_session *s = open_one(), *b[3];
    char *values[4];
    int i, j;

    (void)state;
    expect(s, "Math.random() < 1 && crypto.randomUUID().length === 36", "true");
    assert_int_equal(vial_session_branch(s, 3, b, NULL), 0);
    values[3] = value_of(s, source);
    for (i = 0; i < 3; i++) {
        values[i] = value_of(b[i], source);
        vial_session_free(b[i]);
    }
    for (i = 0; i < 4; i++) {
        for (j = 0; j < i; j++) {
            char *a = values[i], *c = values[j];

            assert_string_not_equal(a, c);
            assert_int_not_equal(strncmp(a, c, 15), 0); /* the first number alone */
        }
    }
    for (i = 0; i < 4; i++) {
        free(values[i]);
    }
    vial_session_free(s);
}

static void functions_can_be_called_in_each_copy(void **state)
{
    struct vial_session *s = open_one(), *b;
    struct vial_result *result = eval_with(s, "let n = 10; () => n++", NULL);
    unsigned long long handle = 0;

    (void)state;
    assert_int_equal(sscanf(vial_result_value(result, NULL), "{\"$function\":%llu}", &handle), 1);
    vial_result_free(result);
    b = branch_of(s);
    assert_int_equal(vial_session_call(b, handle, "[]", 2, NULL, &result, NULL), 0);
    check_value(result, "branch", "10");
    assert_int_equal(vial_session_release(b, handle, NULL), 0);
    assert_int_equal(vial_session_call(s, handle, "[]", 2, NULL, &result, NULL), 0);
    check_value(result, "parent", "10");
    assert_int_equal(vial_session_call(b, handle, "[]", 2, NULL, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    vial_result_free(result);
    vial_session_free(b);
    vial_session_free(s);
}

/* ---- how many, how deep, who first ---- */

static void many_can_be_made_at_once(void **state)
{
    struct vial_session *s = open_one(), *b[30];
    char source[32], value[32];
    int i;

    (void)state;
    expect(s, "var base = 100", NULL);
    assert_int_equal(vial_session_branch(s, 30, b, NULL), 0);
    for (i = 0; i < 30; i++) {
        (void)snprintf(source, sizeof(source), "base += %d", i);
        (void)snprintf(value, sizeof(value), "%d", 100 + i);
        expect(b[i], source, value);
    }
    expect(s, "base", "100");
    for (i = 29; i >= 0; i--) {
        expect(b[i], "base >= 100", "true");
        vial_session_free(b[i]);
    }
    vial_session_free(s);
}

static void branches_of_branches_outlive_those_before_them(void **state)
{
    struct vial_session *s = open_one();
    int i;

    (void)state;
    expect(s, "var way = []", NULL);
    for (i = 0; i < DEEP; i++) {
        struct vial_session *b = branch_of(s);

        expect(b, "way.push(way.length) > 0", "true");
        vial_session_free(s);
        s = b;
    }
    expect(s, "way.length === 20 && way[19] === 19", "true");
    vial_session_free(s);
}

static void checkpoints_can_be_gone_back_to(void **state)
{
    struct vial_session *checkpoint = open_one();
    int i;

    (void)state;
    expect(checkpoint, "var list = [1, 2, 3]; 1", "1");
    for (i = 0; i < 30; i++) {
        struct vial_session *attempt = branch_of(checkpoint);

        expect(attempt, "list.length = 0; list.push('spoilt'); Array.prototype.map = null; 1", "1");
        vial_session_free(attempt);
    }
    expect(checkpoint, "list.map((x) => x * 2)", "[2,4,6]");
    vial_session_free(checkpoint);
}

static void a_branch_of_a_stopped_program_goes_on(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *s = open_one(), *b;
    struct vial_result *result;

    (void)state;
    limits.wall_ms_max = 100;
    expect(s, "var n = 0", NULL);
    result = eval_with(s, "for (;;) n++", &limits);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    vial_result_free(result);
    b = branch_of(s);
    expect(b, "n > 0", "true");
    result = eval_with(b, "for (;;) n++", &limits); /* and can be stopped like it */
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    assert_int_equal(vial_result_session_lives(result), 1);
    vial_result_free(result);
    expect(b, "n = 1", "1");
    expect(s, "n > 1", "true");
    vial_session_free(s);
    vial_session_free(b);
}

static void the_dead_and_the_busy_are_not_branched(void **state)
{
    struct vial_session *s = open_one(), *b = NULL;

    (void)state;
    (void)pthread_mutex_lock(&engine->lock);
    s->state = VIAL_SESSION_BUSY; /* as while another thread evaluates in it */
    (void)pthread_mutex_unlock(&engine->lock);
    assert_int_equal(vial_session_branch(s, 1, &b, NULL), VIAL_E_BUSY);
    (void)pthread_mutex_lock(&engine->lock);
    s->state = VIAL_SESSION_IDLE;
    (void)pthread_mutex_unlock(&engine->lock);
    b = branch_of(s);
    vial_session_end(s);
    expect(b, "1", "1");
    assert_int_equal(vial_session_branch(s, 1, &b, NULL), VIAL_E_GONE);
    vial_session_free(s);
    assert_int_equal(vial_session_branch(b, 0, &s, NULL), VIAL_E_INVALID);
    vial_session_free(b);
}

/* ---- limits ---- */

static void limits_begin_anew_in_a_branch(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session *s = NULL, *b;
    struct vial_result *result;

    (void)state;
    limits.memory_bytes_max = 96 << 20;
    options.limits = &limits;
    assert_int_equal(vial_session_new(engine, &options, &s, NULL), 0);
    limits.cpu_ms_max = 300;
    check_value(eval_with(s,
                    "var a = []; for (let i = 0; i < 50; i++) a.push(new Uint8Array(1e6).fill(1));"
                    "var t = performance.now(); while (performance.now() - t < 100); 1",
                    &limits),
        "50 MB", "1");
    b = branch_of(s);
    check_value(eval_with(b,
                    "for (let i = 0; i < 50; i++) a.push(new Uint8Array(1e6).fill(1));"
                    "var t = performance.now(); while (performance.now() - t < 100); a.length",
                    &limits),
        "50 MB more", "100");
    result = eval_with(b, "for (;;) a.push(new Uint8Array(1e6).fill(1))", NULL);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_MEMORY_LIMIT);
    vial_result_free(result);
    expect(s, "a.length", "50"); /* the death of a branch is nobody else's */
    vial_session_free(b);
    b = branch_of(s);
    expect(b, "a.length", "50");
    vial_session_free(b);
    vial_session_free(s);
}

/* ---- what is left ---- */

/* Processes below this one. */
static unsigned count_processes(pid_t pid)
{
    char path[64], text[65536];
    unsigned count = 0;
    char *at, *saved = NULL;
    FILE *f;
    size_t n;

    (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    f = fopen(path, "re");
    n = f != NULL ? fread(text, 1, sizeof(text) - 1, f) : 0;
    text[n] = '\0';
    if (f != NULL) {
        (void)fclose(f);
    }
    for (at = strtok_r(text, " ", &saved); at != NULL; at = strtok_r(NULL, " ", &saved)) {
        count += 1 + count_processes((pid_t)strtoul(at, NULL, 10));
    }
    return count;
}

/* What is there when nothing moves any more. */
static unsigned settled_processes(unsigned most)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    unsigned i, count = 0;

    vial_engine_stats(engine, &stats);
    for (i = 0; i < 400; i++) {
        count = count_processes(stats.template_pid);
        if (count <= most) {
            break;
        }
        helper_sleep_ms(5);
    }
    return count;
}

static void three_hundred_branches_leave_nothing(void **state)
{
    struct vial_session *s = open_one(), *b[20];
    unsigned processes, fds, i, k;

    (void)state;
    expect(s, "var kept = new Uint8Array(1e6)", NULL);
    assert_int_equal(vial_session_branch(s, 20, b, NULL), 0);
    for (k = 0; k < 20; k++) {
        vial_session_free(b[k]);
    }
    vial_engine_settle(engine, 1000);
    processes =
        settled_processes(3); /* the family's first process, the session, a cell in the pool */
    assert_true(processes >= 2 && processes <= 3);
    fds = helper_fds_count();
    for (i = 0; i < MANY / 20; i++) {
        assert_int_equal(vial_session_branch(s, 20, b, NULL), 0);
        for (k = 0; k < 20; k++) {
            if (k % 4 == 0) {
                expect(b[k], "kept.fill(1); 1", "1");
            }
            if (k % 5 == 0) {
                vial_session_end(b[k]);
            }
            vial_session_free(b[k]);
        }
    }
    assert_int_equal(settled_processes(processes), processes);
    vial_engine_settle(engine, 1000);
    for (i = 0; i < 200 && helper_fds_count() > fds; i++) {
        helper_sleep_ms(5);
    }
    /* Places in control groups are kept for those who come next, with five descriptors each: as
     * many as there were processes at a time, and those of the round before may still be dying. */
    assert_true(helper_fds_count() <= fds + 20 * 5);
    vial_session_free(s);
    assert_true(settled_processes(1) <= 1);
}

static void an_engine_that_ends_takes_its_families_with_it(void **state)
{
    struct vial_session *s = open_one(), *b = branch_of(s);
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    char paths[CGROUP_CONTROLLERS][CGROUP_PATH_MAX];
    pid_t pid, pids[2];
    unsigned c;

    (void)state;
    pids[0] = engine->cells[s->cell].pid;
    pids[1] = engine->cells[b->cell].pid;
    vial_engine_stats(engine, &stats);
    pid = stats.template_pid;
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        (void)snprintf(paths[c], sizeof(paths[c]), "%s",
            engine->cgroups.controllers[c].dir_fd >= 0 ? engine->cgroups.controllers[c].path
                                                       : "/nowhere");
    }
    vial_session_free(s);
    vial_session_free(b);
    vial_engine_free(engine);
    engine = NULL;
    assert_true(helper_wait_gone(pid, 2000));
    assert_true(helper_wait_gone(pids[0], 2000) && helper_wait_gone(pids[1], 2000));
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        assert_int_not_equal(access(paths[c], F_OK), 0);
    }
}

static void a_template_that_dies_takes_its_sessions_with_it(void **state)
{
    struct vial_session *s = open_one(), *b = branch_of(s);
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    struct vial_result *result = NULL;
    struct vial_request request = VIAL_REQUEST_INIT;
    int i;

    (void)state;
    vial_engine_stats(engine, &stats);
    assert_int_equal(kill(stats.template_pid, SIGKILL), 0);
    for (i = 0; i < 400; i++) {
        vial_session_info(s, &info);
        if (info.state == VIAL_SESSION_ENDED) {
            break;
        }
        helper_sleep_ms(5);
    }
    request.source = "1";
    request.source_len = 1;
    assert_int_equal(vial_session_eval(s, &request, &result, NULL), VIAL_E_GONE);
    assert_int_equal(vial_session_eval(b, &request, &result, NULL), VIAL_E_GONE);
    vial_session_free(b);
    vial_session_free(s);
    s = open_one(); /* of the next template */
    expect(s, "2", "2");
    vial_session_free(s);
}

/* In a child, which would be the one that is moved. */
static int join(void *user)
{
    const int *fd = user;

    return write(*fd, "0", 1) == 1 ? 1 : errno == ENODEV ? 0 : 2;
}

/* A member is given the files by which its branches join their groups, and may keep them. */
static void groups_that_a_family_knows_are_nobody_elses_later(void **state)
{
    struct vial_session *s = open_one(), *b = branch_of(s);
    uint32_t place = b->cell;
    unsigned count = engine->cells[place].cgroups.procs_fds_count, i;
    int kept[CGROUP_CONTROLLERS];

    (void)state;
    for (i = 0; i < count; i++) {
        kept[i] = dup(engine->cells[place].cgroups.procs_fds[i]);
        assert_true(kept[i] >= 0);
    }
    vial_session_free(b);
    vial_session_free(s);
    s = NULL;
    for (i = 0; i < SESSIONS_MAX * 10 && (s == NULL || s->cell != place); i++) {
        vial_session_free(s);
        s = open_one();
        if (s->cell != place) {
            helper_sleep_ms(5); /* until the places are free again */
        }
    }
    assert_int_equal(s->cell, place);
    for (i = 0; i < count; i++) {
        assert_int_equal(helper_in_child(join, &kept[i]), 0);
        (void)close(kept[i]);
    }
    vial_session_free(s);
    if (count == 0) {
        helper_say_skip("there are no control groups here");
    }
}

/* ---- threads ---- */

static void *branch_and_evaluate(void *user)
{
    struct vial_session *s = user, *b = NULL;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    unsigned good = 0;
    int r;

    request.source = "n += 1";
    request.source_len = strlen(request.source);
    while (good < 20) {
        r = vial_session_branch(s, 1, &b, &err);
        if (r == VIAL_E_BUSY) { /* another thread is at it */
            helper_sleep_ms(1);
            continue;
        }
        if (r < 0 || vial_session_eval(b, &request, &result, &err) < 0 ||
            vial_result_value(result, NULL) == NULL ||
            strcmp(vial_result_value(result, NULL), "2") != 0) {
            (void)fprintf(stderr, "branch: %s\n", err.text);
            return NULL;
        }
        good++;
        vial_result_free(result);
        vial_session_free(b);
    }
    return s;
}

static void threads_can_branch_one_session(void **state)
{
    struct vial_session *s = open_one();
    pthread_t threads[6];
    void *good;
    int i;

    (void)state;
    expect(s, "var n = 1", NULL);
    for (i = 0; i < 6; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, branch_and_evaluate, s), 0);
    }
    for (i = 0; i < 6; i++) {
        assert_int_equal(pthread_join(threads[i], &good), 0);
        assert_non_null(good);
    }
    expect(s, "n", "1");
    vial_session_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start_engine, stop_engine)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_branch_has_everything_and_goes_its_own_way),
        TEST(timers_and_promises_go_on_in_each_copy),
        TEST(files_are_copied_and_part),
        TEST(open_files_and_their_places_part),
        TEST(chance_is_anothers_in_each_copy),
        TEST(functions_can_be_called_in_each_copy),
        TEST(many_can_be_made_at_once),
        TEST(branches_of_branches_outlive_those_before_them),
        TEST(checkpoints_can_be_gone_back_to),
        TEST(a_branch_of_a_stopped_program_goes_on),
        TEST(the_dead_and_the_busy_are_not_branched),
        TEST(limits_begin_anew_in_a_branch),
        TEST(three_hundred_branches_leave_nothing),
        TEST(an_engine_that_ends_takes_its_families_with_it),
        TEST(a_template_that_dies_takes_its_sessions_with_it),
        TEST(groups_that_a_family_knows_are_nobody_elses_later),
        TEST(threads_can_branch_one_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
