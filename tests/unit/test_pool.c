/* test_pool.c - cells that wait for runs: bounds and deadlines of the queue, cancelling, and a pool
 * that survives the death of its template, its idle cells and of many runs at once. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper.h"
#include "host/engine.h"
#include "vial.h"

static const char FOREVER[] = "for (;;) {}";
static const char SLEEPS[] = "await new Promise(r => setTimeout(r, 300)); 'slept'";

static struct vial_engine *new_engine(uint32_t runs_max, uint32_t queue_count, uint32_t queue_ms)
{
    struct vial_engine_options options = helper_options();
    struct vial_engine *engine = NULL;
    struct vial_error err = {.text = ""};

    options.runs_max = runs_max;
    options.queue_count_max = queue_count;
    options.queue_ms_max = queue_ms;
    if (vial_engine_new(&options, &engine, &err) < 0) {
        fail_msg("vial_engine_new: %s", err.text);
    }
    vial_engine_settle(engine, 5000); /* so that a run that is started runs */
    return engine;
}

static struct vial_run *start(struct vial_engine *engine, const char *source)
{
    static struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_run *run = NULL;

    limits.wall_ms_max = 20000;
    limits.cpu_ms_max = 20000;
    request.source = source;
    request.source_len = strlen(source);
    request.limits = &limits;
    assert_int_equal(vial_run_start(engine, &request, &run, NULL), 0);
    return run;
}

/* Waits for a run and frees it; its status, or a negative code. */
static int finish(struct vial_run *run, struct vial_error *err)
{
    struct vial_result *result = NULL;
    int r = vial_run_wait(run, &result, err);

    r = r < 0 ? r : vial_result_status(result);
    vial_result_free(result);
    vial_run_free(run);
    return r;
}

static struct vial_engine_stats stats_of(struct vial_engine *engine)
{
    struct vial_engine_stats stats = VIAL_ENGINE_STATS_INIT;

    vial_engine_stats(engine, &stats);
    return stats;
}

static void the_pool_fills_and_refills(void **state)
{
    struct vial_engine_options options = helper_options();
    struct vial_engine *engine = NULL;
    int i;

    (void)state;
    options.pool_count = 3;
    assert_int_equal(vial_engine_new(&options, &engine, NULL), 0);
    for (i = 0; i < 3; i++) {
        vial_engine_settle(engine, 5000);
        assert_int_equal(stats_of(engine).ready_count, 3);
        assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    }
    assert_int_equal(stats_of(engine).run_count, 3);
    assert_int_equal(stats_of(engine).busy_count, 0);
    assert_int_equal(stats_of(engine).template_count, 1);
    vial_engine_free(engine);
}

static void a_full_engine_is_busy_after_the_deadline(void **state)
{
    struct vial_engine *engine = new_engine(1, 4, 150);
    struct vial_run *first = start(engine, FOREVER);
    struct vial_run *second = start(engine, "1");
    struct vial_error err = {.text = ""};
    uint64_t before = clock_now_us();

    (void)state;
    assert_int_equal(finish(second, &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "150 ms"));
    assert_in_range(clock_now_us() - before, 140 * 1000, 2000 * 1000);
    assert_int_equal(stats_of(engine).busy_count, 1);
    vial_run_cancel(first);
    assert_int_equal(finish(first, &err), VIAL_STATUS_CANCELLED);
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    vial_engine_free(engine);
}

struct thread {
    struct vial_engine *engine;
    struct vial_run *run;
    const char *source;
    unsigned runs_count, wrong_count;
    int status;
    pthread_t thread;
};

static void *finish_main(void *user)
{
    struct thread *t = user;

    t->status = finish(t->run, NULL);
    return NULL;
}

static void the_queue_has_a_bound(void **state)
{
    struct vial_engine *engine = new_engine(1, 1, 10000);
    struct vial_run *first = start(engine, FOREVER);
    struct thread waiting = {.engine = engine, .run = start(engine, "1")};
    struct vial_error err = {.text = ""};
    uint64_t before;

    (void)state;
    assert_int_equal(pthread_create(&waiting.thread, NULL, finish_main, &waiting), 0);
    helper_sleep_ms(100); /* now it waits */
    before = clock_now_us();
    assert_int_equal(finish(start(engine, "2"), &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "waiting"));
    assert_in_range(clock_now_us() - before, 0, 1000 * 1000);
    vial_run_cancel(first);
    assert_int_equal(finish(first, &err), VIAL_STATUS_CANCELLED);
    (void)pthread_join(waiting.thread, NULL);
    assert_int_equal(
        waiting.status, VIAL_STATUS_OK); /* its turn came when the first one was over */
    vial_engine_free(engine);
}

static void who_waits_gets_the_next_free_cell(void **state)
{
    struct vial_engine *engine = new_engine(1, 10, 10000);
    struct vial_run *first = start(engine, SLEEPS);
    struct thread waiting = {.engine = engine, .run = start(engine, "1")};

    (void)state;
    assert_int_equal(pthread_create(&waiting.thread, NULL, finish_main, &waiting), 0);
    assert_int_equal(finish(first, NULL), VIAL_STATUS_OK);
    (void)pthread_join(waiting.thread, NULL);
    assert_int_equal(waiting.status, VIAL_STATUS_OK);
    vial_engine_free(engine);
}

static void *cancel_main(void *user)
{
    struct thread *t = user;

    helper_sleep_ms(100);
    vial_run_cancel(t->run);
    return NULL;
}

static void a_run_can_be_cancelled_at_any_time(void **state)
{
    struct vial_engine *engine = new_engine(1, 4, 10000);
    struct thread t = {.engine = engine};
    struct vial_result *result = NULL;
    struct vial_run *queued;

    (void)state;
    t.run = start(engine, FOREVER); /* before it is waited for */
    vial_run_cancel(t.run);
    vial_run_cancel(t.run);
    assert_int_equal(finish(t.run, NULL), VIAL_STATUS_CANCELLED);
    t.run = start(engine, FOREVER); /* from another thread while it is waited for */
    assert_int_equal(pthread_create(&t.thread, NULL, cancel_main, &t), 0);
    assert_int_equal(vial_run_wait(t.run, &result, NULL), 0);
    (void)pthread_join(t.thread, NULL);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_CANCELLED);
    vial_result_free(result);
    vial_run_free(t.run);
    t.run = start(engine, FOREVER); /* while it waits for a cell */
    queued = start(engine, "1");
    vial_run_cancel(queued);
    assert_int_equal(finish(queued, NULL), VIAL_STATUS_CANCELLED);
    vial_run_cancel(t.run);
    assert_int_equal(finish(t.run, NULL), VIAL_STATUS_CANCELLED);
    t.run = start(engine, "1"); /* after its end */
    assert_int_equal(vial_run_wait(t.run, &result, NULL), 0);
    vial_run_cancel(t.run);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    vial_result_free(result);
    vial_run_free(t.run);
    vial_engine_free(engine);
}

static void a_run_that_nobody_waits_for_ends(void **state)
{
    struct vial_engine *engine = new_engine(1, 1, 5000);
    struct vial_engine_stats stats;

    (void)state;
    vial_engine_settle(engine, 5000);
    stats = stats_of(engine);
    vial_run_free(start(engine, FOREVER));
    assert_true(helper_wait_gone(stats.idle_cell_pid, 2000));
    assert_int_equal(stats_of(engine).busy_count, 0);
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    vial_run_free(NULL);
    vial_engine_free(engine);
}

static void a_dead_template_is_replaced(void **state)
{
    struct vial_engine *engine = new_engine(2, 4, 10000);
    struct vial_engine_stats stats;

    (void)state;
    vial_engine_settle(engine, 5000);
    stats = stats_of(engine);
    assert_int_equal(kill(stats.template_pid, SIGKILL), 0); /* while all is idle */
    assert_true(helper_wait_gone(stats.idle_cell_pid, 3000));
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    assert_int_equal(stats_of(engine).template_count, 2);
    assert_int_not_equal(stats_of(engine).template_pid, stats.template_pid);
    vial_engine_free(engine);
}

static void a_template_that_dies_takes_its_runs_and_no_more(void **state)
{
    struct vial_engine *engine = new_engine(2, 4, 10000);
    struct vial_run *run;

    (void)state;
    vial_engine_settle(engine, 5000);
    run = start(engine, FOREVER);
    assert_int_equal(kill(stats_of(engine).template_pid, SIGKILL), 0);
    assert_int_equal(finish(run, NULL), VIAL_STATUS_CRASHED);
    assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    assert_true(stats_of(engine).template_count >= 2);
    assert_int_equal(stats_of(engine).busy_count, 0);
    vial_engine_free(engine);
}

static void a_dead_idle_cell_is_replaced(void **state)
{
    struct vial_engine *engine = new_engine(2, 4, 10000);
    struct vial_engine_stats stats;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        vial_engine_settle(engine, 5000);
        stats = stats_of(engine);
        assert_true(stats.idle_cell_pid > 0);
        assert_int_equal(kill(stats.idle_cell_pid, SIGKILL), 0);
        assert_true(helper_wait_gone(stats.idle_cell_pid, 3000));
        helper_sleep_ms(20); /* the keeper hears of it */
        assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    }
    assert_int_equal(stats_of(engine).template_count, 1);
    vial_engine_free(engine);
}

static void a_cell_of_another_kind_is_not_taken_from_the_pool(void **state)
{
    struct vial_engine *engine = new_engine(2, 4, 2000);
    struct cell_want want = {.spec = engine->spec_default, .origin = CELL_NONE};
    uint32_t cell = 0;
    int pidfd = -1, cancelled = 0;

    (void)state;
    vial_engine_settle(engine, 5000);
    want.spec.open_files_max++;
    assert_int_equal(pool_take(engine, &want, 0, &cancelled, &cell, &pidfd, NULL), VIAL_E_BUSY);
    assert_int_equal(cell, CELL_NONE);
    assert_int_equal(pool_take(engine, &want, 1, &cancelled, &cell, &pidfd, NULL), 0);
    assert_int_not_equal(cell, CELL_NONE);
    assert_int_equal(engine->cells[cell].spec.open_files_max, want.spec.open_files_max);
    assert_int_equal(kill(engine->cells[cell].pid, SIGKILL), 0);
    assert_int_equal(pool_wait_gone(engine, cell, 5000), 1);
    assert_int_equal(engine->cells[cell].exit_status, SIGKILL);
    pool_give_back(engine, cell, 0);
    (void)close(pidfd);
    vial_engine_free(engine);
}

static void a_run_with_files_has_a_cell_of_the_pool(void **state)
{
    struct vial_engine *engine = new_engine(2, 4, 2000);
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    const char *const outs[] = {"f"};

    (void)state;
    vial_engine_settle(engine, 5000);
    request.source = "require('fs').writeFileSync('f', 'x')";
    request.source_len = strlen(request.source);
    request.limits = &limits;
    request.outs = outs;
    request.outs_count = 1;
    limits.files_max = 9;
    limits.open_files_max = 9;
    limits.disk_bytes_max = 4096;
    assert_int_equal(vial_run_start(engine, &request, &run, NULL), 0);
    assert_int_equal(stats_of(engine).busy_count, 1); /* it had not to wait for one */
    assert_int_equal(vial_run_wait(run, &result, NULL), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_int_equal(vial_result_file_count(result), 1);
    vial_result_free(result);
    vial_run_free(run);
    vial_engine_free(engine);
}

static void *many_main(void *user)
{
    struct thread *t = user;
    unsigned i;

    for (i = 0; i < t->runs_count; i++) {
        t->wrong_count += helper_status(t->engine, t->source, NULL) != t->status ? 1U : 0U;
    }
    return NULL;
}

static void fifty_runs_from_four_threads(void **state)
{
    struct thread threads[4] = {
        {.runs_count = 14, .source = "[1,2,3].map(x => x * 2)", .status = VIAL_STATUS_OK},
        {.runs_count = 12, .source = "throw new Error('x')", .status = VIAL_STATUS_EXCEPTION},
        {.runs_count = 12,
            .source = "await new Promise(r => setTimeout(r, 3)); 1",
            .status = VIAL_STATUS_OK},
        {.runs_count = 12, .source = "console.log('x'.repeat(5000))", .status = VIAL_STATUS_OK}};
    struct vial_engine *engine = new_engine(3, 16, 10000);
    unsigned fds, i;

    (void)state;
    vial_engine_settle(engine, 5000);
    fds = helper_fds_count();
    for (i = 0; i < 4; i++) {
        threads[i].engine = engine;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, many_main, &threads[i]), 0);
    }
    for (i = 0; i < 4; i++) {
        (void)pthread_join(threads[i].thread, NULL);
        assert_int_equal(threads[i].wrong_count, 0);
    }
    assert_int_equal(stats_of(engine).run_count, 50);
    assert_int_equal(stats_of(engine).busy_count, 0);
    vial_engine_settle(engine, 5000);
    assert_in_range(
        helper_fds_count(), fds, fds + 60); /* places that were used keep their groups open */
    vial_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pool_fills_and_refills),
        cmocka_unit_test(a_full_engine_is_busy_after_the_deadline),
        cmocka_unit_test(the_queue_has_a_bound),
        cmocka_unit_test(who_waits_gets_the_next_free_cell),
        cmocka_unit_test(a_run_can_be_cancelled_at_any_time),
        cmocka_unit_test(a_run_that_nobody_waits_for_ends),
        cmocka_unit_test(a_dead_template_is_replaced),
        cmocka_unit_test(a_template_that_dies_takes_its_runs_and_no_more),
        cmocka_unit_test(a_dead_idle_cell_is_replaced),
        cmocka_unit_test(a_cell_of_another_kind_is_not_taken_from_the_pool),
        cmocka_unit_test(a_run_with_files_has_a_cell_of_the_pool),
        cmocka_unit_test(fifty_runs_from_four_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
