/* test_session_cancel.c - stopping evaluations of a session from another thread. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "helper.h"

enum { EVALS = 300 };

static struct vial_engine *engine;

static int start_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.pool_count = 1;
    options.for_sessions = 1;
    return vial_engine_new(&options, &engine, NULL);
}

static int end_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static struct vial_session *new_session(void)
{
    struct vial_session *s = NULL;

    assert_int_equal(vial_session_new(engine, NULL, &s, NULL), 0);
    return s;
}

/* How it ended, and whether the session lives. */
static int eval(struct vial_session *s, const char *source, int *ret_lives)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.text = ""};
    int status;

    request.source = source;
    request.source_len = strlen(source);
    if (vial_session_eval(s, &request, &result, &err) < 0) {
        fail_msg("an evaluation failed: %s", err.text);
    }
    status = vial_result_status(result);
    *ret_lives = vial_result_session_lives(result);
    vial_result_free(result);
    return status;
}

static void *cancel_soon(void *user)
{
    helper_sleep_ms(200);
    vial_session_cancel(user);
    return NULL;
}

static void stop_a_loop(struct vial_session *s)
{
    pthread_t thread;
    int lives = 0;

    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, s), 0);
    assert_int_equal(eval(s, "var kept = 7; for (;;);", &lives), VIAL_STATUS_CANCELLED);
    assert_int_equal(lives, 1);
    (void)pthread_join(thread, NULL);
}

static void a_loop_is_stopped_and_the_session_lives(void **state)
{
    struct vial_session *s = new_session();
    int lives = 0;

    (void)state;
    stop_a_loop(s);
    assert_int_equal(eval(s, "if (kept !== 7) throw kept", &lives), VIAL_STATUS_OK);
    vial_session_free(s);
}

static uint64_t used_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void the_host_sleeps_again_after_a_cancellation(void **state)
{
    struct vial_session *s = new_session();
    uint64_t before;
    int lives = 0;

    (void)state;
    stop_a_loop(s);
    before = used_us();
    assert_int_equal(
        eval(s, "await new Promise(done => setTimeout(done, 1000))", &lives), VIAL_STATUS_OK);
    assert_in_range(used_us() - before, 0, 300 * 1000);
    vial_session_free(s);
}

static void a_cancellation_of_nothing_does_nothing(void **state)
{
    struct vial_session *s = new_session();
    int lives = 0;

    (void)state;
    vial_session_cancel(s);
    assert_int_equal(eval(s, "1", &lives), VIAL_STATUS_OK);
    vial_session_cancel(s);
    assert_int_equal(eval(s, "1", &lives), VIAL_STATUS_OK);
    vial_session_free(s);
}

/* What a session begins with is put into it by an evaluation, which is over by then. */
static void a_cancellation_before_the_first_program_does_nothing(void **state)
{
    static const char *const variables[] = {"A=1"};
    struct vial_session_options options = VIAL_SESSION_OPTIONS_INIT;
    struct vial_session *s = NULL;
    int lives = 0;

    (void)state;
    options.env = variables;
    options.env_count = 1;
    assert_int_equal(vial_session_new(engine, &options, &s, NULL), 0);
    vial_session_cancel(s);
    assert_int_equal(eval(s, "if (process.env.A !== '1') throw 1", &lives), VIAL_STATUS_OK);
    vial_session_free(s);
}

static int is_over;

static void *cancel_always(void *user)
{
    while (!__atomic_load_n(&is_over, __ATOMIC_SEQ_CST)) {
        vial_session_cancel(user);
    }
    return NULL;
}

/* Sanitizers see it when the one touches what the other has freed. */
static void a_cancellation_may_come_at_any_moment(void **state)
{
    struct vial_session *s = new_session();
    pthread_t thread;
    int lives = 1;
    int i;

    (void)state;
    is_over = 0;
    assert_int_equal(pthread_create(&thread, NULL, cancel_always, s), 0);
    for (i = 0; i < EVALS && lives; i++) {
        int status = eval(s, "1", &lives);

        assert_true(status == VIAL_STATUS_OK || status == VIAL_STATUS_CANCELLED);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_SEQ_CST);
    (void)pthread_join(thread, NULL);
    vial_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_stopped_and_the_session_lives),
        cmocka_unit_test(the_host_sleeps_again_after_a_cancellation),
        cmocka_unit_test(a_cancellation_of_nothing_does_nothing),
        cmocka_unit_test(a_cancellation_before_the_first_program_does_nothing),
        cmocka_unit_test(a_cancellation_may_come_at_any_moment),
    };

    return cmocka_run_group_tests(tests, start_engine, end_engine);
}
