/* test_engine.c - making and ending engines: options, what they report, and what they leave behind.
 */
#include "host/engine.h"

#include <errno.h>
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

static void the_version_is_three_numbers(void **state)
{
    const char *version = vial_version();
    unsigned dots = 0;

    (void)state;
    assert_int_equal(strspn(version, "0123456789."), strlen(version));
    for (; *version != '\0'; version++) {
        dots += *version == '.' ? 1 : 0;
    }
    assert_int_equal(dots, 2);
}

/* Expects that no engine can be made so, and that the message has the word. */
static void assert_refused(const struct vial_engine_options *options, int code, const char *word)
{
    struct vial_engine *engine = NULL;
    struct vial_error err = {.text = ""};
    unsigned before = helper_fds_count();

    assert_int_equal(vial_engine_new(options, &engine, &err), code);
    assert_null(engine);
    assert_int_equal(err.code, code);
    if (strstr(err.text, word) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", word, err.text);
    }
    assert_int_equal(helper_fds_count(), before);
    assert_true(helper_has_no_children());
}

static void options_out_of_range_are_named(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.pool_count = 100000;
    assert_refused(&options, VIAL_E_INVALID, "pool_count");
    options = helper_options();
    options.runs_max = 100000;
    assert_refused(&options, VIAL_E_INVALID, "runs_max");
    options = helper_options();
    options.queue_count_max = UINT32_MAX;
    assert_refused(&options, VIAL_E_INVALID, "queue_count_max");
    options = helper_options();
    options.queue_ms_max = UINT32_MAX;
    assert_refused(&options, VIAL_E_INVALID, "queue_ms_max");
}

static void what_is_required_must_be_known_and_hold(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.require = "no-such-layer";
    assert_refused(&options, VIAL_E_INVALID, "no-such-layer");
    options.require = "landlock>=99";
    assert_refused(&options, VIAL_E_ISOLATION, "landlock");
}

static void a_cell_program_that_is_none_is_told_apart(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.cell_path = "/no/such/program";
    assert_refused(&options, VIAL_E_SYS, "/no/such/program");
    options.cell_path = "/etc/passwd";
    assert_refused(&options, VIAL_E_SYS, "/etc/passwd");
    options.cell_path = "/bin/true";
    assert_refused(&options, VIAL_E_CELL, "ended while it was starting");
}

static void the_isolation_is_reported(void **state)
{
    struct vial_engine *engine = helper_engine();
    const char *json = vial_engine_isolation(engine);
    const char *level = vial_engine_level(engine);
    unsigned i;

    (void)state;
    assert_int_equal(json_check(json, strlen(json), 5, NULL), 0);
    assert_true(strcmp(level, "full") == 0 || strcmp(level, "rootless") == 0 ||
                strcmp(level, "filtered") == 0);
    assert_non_null(strstr(json, level));
    for (i = 0; i < LAYER_COUNT; i++) {
        assert_non_null(strstr(json, layer_name(i)));
        assert_int_not_equal(engine->report.entries[i].state, LAYER_BROKEN);
    }
    assert_int_equal(engine->report.entries[LAYER_SECCOMP].state, LAYER_PROVEN);
    vial_engine_free(engine);
}

static void an_engine_leaves_nothing_behind(void **state)
{
    char paths[CGROUP_CONTROLLERS][CGROUP_PATH_MAX] = {""};
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;
    unsigned fds = helper_fds_count();
    struct vial_engine_options options = helper_options();
    struct vial_engine *engine = NULL;
    unsigned i;

    (void)state;
    options.pool_count = 3;
    assert_int_equal(vial_engine_new(&options, &engine, NULL), 0);
    vial_engine_settle(engine, 5000);
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    vial_engine_settle(engine, 5000);
    vial_engine_stats(engine, &stats);
    assert_int_equal(stats.ready_count, 3); /* idle cells are there when it ends */
    for (i = 0; i < CGROUP_CONTROLLERS; i++) {
        if (engine->cgroups.controllers[i].dir_fd >= 0) {
            (void)snprintf(paths[i], CGROUP_PATH_MAX, "%s", engine->cgroups.controllers[i].path);
            assert_int_equal(access(paths[i], F_OK), 0);
        }
    }
    vial_engine_free(engine);
    assert_true(helper_wait_gone(stats.template_pid, 1000));
    assert_true(helper_wait_gone(stats.idle_cell_pid, 1000));
    assert_true(helper_has_no_children());
    assert_int_equal(helper_fds_count(), fds);
    for (i = 0; i < CGROUP_CONTROLLERS; i++) {
        assert_int_equal(access(paths[i], F_OK), -1);
    }
    vial_engine_free(NULL);
}

static void two_engines_do_not_know_each_other(void **state)
{
    struct vial_engine *first = helper_engine();
    struct vial_engine *second = helper_engine();

    (void)state;
    assert_int_equal(helper_status(first, "1", NULL), VIAL_STATUS_OK);
    assert_int_equal(helper_status(second, "1", NULL), VIAL_STATUS_OK);
    vial_engine_free(first);
    assert_int_equal(helper_status(second, "1", NULL), VIAL_STATUS_OK);
    vial_engine_free(second);
}

static void callers_with_older_structs_are_served(void **state)
{
    struct vial_engine_options options = helper_options();
    struct vial_engine_stats stats;
    struct vial_engine *engine = NULL;

    (void)state;
    options.size = offsetof(struct vial_engine_options, require);
    options.require = (const char *)(uintptr_t)1; /* beyond what the caller says there is */
    assert_int_equal(vial_engine_new(&options, &engine, NULL), 0);
    memset(&stats, 0xee, sizeof(stats));
    stats.size = offsetof(struct vial_engine_stats, template_pid);
    vial_engine_settle(engine, 5000);
    vial_engine_stats(engine, &stats);
    assert_int_equal(stats.size, offsetof(struct vial_engine_stats, template_pid));
    assert_int_equal(stats.ready_count, 1);
    assert_int_equal(stats.template_count, 1);
    assert_int_equal((uint32_t)stats.template_pid, 0xeeeeeeee);
    vial_engine_free(engine);
}

static void without_the_jit_it_runs_all_the_same(void **state)
{
    struct vial_engine_options options = helper_options();
    struct vial_engine *engine = NULL;

    (void)state;
    options.no_jit = 1;
    options.quick = 0;
    assert_int_equal(vial_engine_new(&options, &engine, NULL), 0);
    assert_int_equal(
        helper_status(engine, "let s = 0; for (let i = 0; i < 1e5; i++) s += i; s", NULL),
        VIAL_STATUS_OK);
    vial_engine_free(engine);
}

/* A host that blocks signals or ignores its children must not matter. */
static void the_signals_of_the_host_do_not_matter(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct vial_engine *engine;
    sigset_t all, mask;

    (void)state;
    (void)sigfillset(&all);
    (void)sigaction(SIGCHLD, &ignore, &before);
    (void)sigprocmask(SIG_SETMASK, &all, &mask);
    engine = helper_engine();
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    vial_engine_free(engine);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    (void)sigaction(SIGCHLD, &before, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_three_numbers),
        cmocka_unit_test(options_out_of_range_are_named),
        cmocka_unit_test(what_is_required_must_be_known_and_hold),
        cmocka_unit_test(a_cell_program_that_is_none_is_told_apart),
        cmocka_unit_test(the_isolation_is_reported),
        cmocka_unit_test(an_engine_leaves_nothing_behind),
        cmocka_unit_test(two_engines_do_not_know_each_other),
        cmocka_unit_test(callers_with_older_structs_are_served),
        cmocka_unit_test(without_the_jit_it_runs_all_the_same),
        cmocka_unit_test(the_signals_of_the_host_do_not_matter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
