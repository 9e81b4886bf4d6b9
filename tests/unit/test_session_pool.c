/* test_session_pool.c - sessions that are kept ready and lent out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

static struct vial_engine *engine;

static int start_engine(void **state)
{
    (void)state;
    engine = helper_engine();
    return 0;
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

/* Evaluates; the status, or a negative code. The value is what ret_value becomes. */
static int eval(struct vial_session *session, const char *source, char ret_value[64])
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    const char *value;
    size_t len = 0;
    int r;

    request.source = source;
    request.source_len = strlen(source);
    r = vial_session_eval(session, &request, &result, NULL);
    r = r < 0 ? r : vial_result_status(result);
    value = result != NULL ? vial_result_value(result, &len) : NULL;
    ret_value[0] = '\0';
    if (value != NULL && len < 64) {
        memcpy(ret_value, value, len);
        ret_value[len] = '\0';
    }
    vial_result_free(result);
    return r;
}

static void expect_status(struct vial_pool *pool, unsigned total, unsigned available, unsigned used)
{
    struct vial_pool_status status = VIAL_POOL_STATUS_INIT;

    vial_pool_status(pool, &status);
    assert_int_equal(status.total_count, total);
    assert_int_equal(status.available_count, available);
    assert_int_equal(status.in_use_count, used);
}

static void sessions_are_lent_and_counted(void **state)
{
    struct vial_session *a = NULL, *b = NULL, *c = NULL;
    struct vial_pool *pool = NULL;
    struct vial_error err;
    char value[64];

    (void)state;
    assert_int_equal(vial_pool_new(engine, 2, NULL, &pool, NULL), 0);
    expect_status(pool, 2, 2, 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &a, NULL), 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &b, NULL), 0);
    expect_status(pool, 2, 0, 2);
    assert_ptr_not_equal(a, b);
    assert_int_equal(vial_pool_acquire(pool, 10, &c, &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "in use"));
    assert_int_equal(eval(a, "1 + 1", value), VIAL_STATUS_OK);
    assert_string_equal(value, "2");
    assert_int_equal(vial_pool_release(pool, a, NULL), 0);
    expect_status(pool, 2, 1, 1);
    assert_int_equal(vial_pool_acquire(pool, 0, &c, NULL), 0);
    vial_pool_free(pool); /* also those that are lent */
}

static void what_is_given_back_leaves_nothing_behind(void **state)
{
    struct vial_session *session = NULL;
    struct vial_pool *pool = NULL;
    char value[64];

    (void)state;
    assert_int_equal(vial_pool_new(engine, 1, NULL, &pool, NULL), 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &session, NULL), 0);
    assert_int_equal(
        eval(session, "globalThis.left = 1; require('fs').writeFileSync('left', 'x')", value),
        VIAL_STATUS_OK);
    assert_int_equal(vial_pool_release(pool, session, NULL), 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &session, NULL), 0);
    assert_int_equal(
        eval(session, "[typeof left, require('fs').existsSync('left')]", value), VIAL_STATUS_OK);
    assert_string_equal(value, "[\"undefined\",false]");
    assert_int_equal(vial_pool_release(pool, session, NULL), 0);
    vial_pool_free(pool);
}

static void a_session_that_ended_is_replaced(void **state)
{
    struct vial_session *session = NULL;
    struct vial_pool *pool = NULL;
    char value[64];

    (void)state;
    assert_int_equal(vial_pool_new(engine, 1, NULL, &pool, NULL), 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &session, NULL), 0);
    assert_int_equal(eval(session, "process.exit(3)", value), VIAL_STATUS_OK);
    assert_int_equal(eval(session, "1", value), VIAL_E_GONE);
    assert_int_equal(vial_pool_release(pool, session, NULL), 0);
    assert_int_equal(vial_pool_acquire(pool, 0, &session, NULL), 0);
    assert_int_equal(eval(session, "1", value), VIAL_STATUS_OK);
    vial_pool_free(pool);
}

static void what_makes_no_sense_is_refused(void **state)
{
    struct vial_session *session = NULL;
    struct vial_pool *pool = NULL;

    (void)state;
    assert_int_equal(vial_pool_new(engine, 0, NULL, &pool, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_pool_new(engine, 100000, NULL, &pool, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_pool_new(NULL, 1, NULL, &pool, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_pool_acquire(NULL, 0, &session, NULL), VIAL_E_INVALID);
    assert_int_equal(vial_pool_new(engine, 1, NULL, &pool, NULL), 0);
    assert_int_equal(vial_session_new(engine, NULL, &session, NULL), 0);
    assert_int_equal(vial_pool_release(pool, session, NULL), VIAL_E_INVALID); /* not the pool's */
    vial_session_free(session);
    vial_pool_free(pool);
    vial_pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_are_lent_and_counted),
        cmocka_unit_test(what_is_given_back_leaves_nothing_behind),
        cmocka_unit_test(a_session_that_ended_is_replaced),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
