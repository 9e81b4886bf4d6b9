/* test_alloc.c - fails the n-th allocation of the library, for every n, until everything goes well
 * again.
 *
 * The linker sends the library's calls of malloc and its kin through the functions here. Each step
 * of a run's life is swept on its own, because a failure in one must not hide the next. Whatever
 * fails must end in an error code or in a result with a status, and must leave no descriptor,
 * process or memory behind. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

enum { SWEEP_MAX = 300 }; /* far more allocations than any step makes */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

static int armed;   /* atomic; is the count running? */
static int left;    /* atomic; how many allocations still succeed */
static int refused; /* atomic; how many were refused */

/* One single allocation fails, in whichever thread; those behind it succeed. */
static int refuse(void)
{
    if (__atomic_load_n(&armed, __ATOMIC_SEQ_CST) == 0 ||
        __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST) != 0) {
        return 0;
    }
    (void)__atomic_fetch_add(&refused, 1, __ATOMIC_SEQ_CST);
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return refuse() ? NULL : __real_strndup(text, len);
}

static void arm(int n)
{
    __atomic_store_n(&refused, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&left, n, __ATOMIC_SEQ_CST);
    __atomic_store_n(&armed, 1, __ATOMIC_SEQ_CST);
}

/* Was an allocation refused since arm? */
static int disarm(void)
{
    __atomic_store_n(&armed, 0, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&refused, __ATOMIC_SEQ_CST) != 0;
}

static struct vial_engine_options small_options(void)
{
    struct vial_engine_options options = helper_options();

    options.runs_max = 1;
    options.queue_ms_max = 3000;
    return options;
}

static struct vial_engine *small_engine(void)
{
    struct vial_engine_options options = small_options();
    struct vial_engine *engine = NULL;

    assert_int_equal(vial_engine_new(&options, &engine, NULL), 0);
    vial_engine_settle(engine, 5000);
    return engine;
}

/* The start, with the pool's first cell: what the keeper allocates is in the sweep, too. */
static void an_engine_starts_or_says_that_there_is_no_memory(void **state)
{
    struct vial_engine_options options = small_options();
    unsigned fds = helper_fds_count();
    struct vial_engine *engine;
    struct vial_error err;
    int n, r, hit = 1;

    (void)state;
    options.require = "seccomp";
    for (n = 0; hit && n < SWEEP_MAX; n++) {
        engine = NULL;
        err = (struct vial_error){.code = 0};
        arm(n);
        r = vial_engine_new(&options, &engine, &err);
        if (r == 0) {
            vial_engine_settle(engine, 3000);
        }
        hit = disarm();
        if (r < 0) {
            assert_int_equal(hit, 1);
            assert_int_equal(r, VIAL_E_NOMEM);
            assert_int_equal(err.code, r);
            assert_true(strlen(err.text) > 0);
            assert_null(engine);
        } else {
            assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
            vial_engine_free(engine);
        }
        assert_int_equal(helper_fds_count(), fds);
        assert_true(helper_has_no_children());
    }
    assert_int_equal(hit, 0);
    assert_in_range(n, 5, SWEEP_MAX - 1);
}

/* A run may end in a result that is not ok, or in an error, and the next one works. */
static void a_run_ends_or_says_that_there_is_no_memory(void **state)
{
    struct vial_engine *engine = small_engine();
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result;
    struct vial_error err;
    int n, r, hit = 1;

    (void)state;
    request.source =
        "console.log('x'.repeat(100000)); console.error('y'); "
        "display('a'.repeat(100000), { name: 'n' }); display({ b: 1 }); 'z'.repeat(200000)";
    request.source_len = strlen(request.source);
    request.input = "[1]";
    request.input_len = 3;
    request.want_text = 1;
    for (n = 0; hit && n < SWEEP_MAX; n++) {
        result = NULL;
        err = (struct vial_error){.code = 0};
        vial_engine_settle(engine, 5000);
        arm(n);
        r = vial_run(engine, &request, &result, &err);
        hit = disarm();
        if (r < 0) {
            assert_int_equal(hit, 1);
            assert_true(r == VIAL_E_NOMEM || (r == VIAL_E_SYS && err.sys == ENOMEM));
            assert_null(result);
        } else {
            assert_true(hit || vial_result_status(result) == VIAL_STATUS_OK);
            vial_result_free(result);
        }
        assert_int_equal(helper_status(engine, "1", NULL), VIAL_STATUS_OK);
    }
    assert_int_equal(hit, 0);
    assert_in_range(n, 4, SWEEP_MAX - 1);
    vial_engine_free(engine);
    assert_true(helper_has_no_children());
}

static void a_result_becomes_text_or_null(void **state)
{
    struct vial_engine *engine = small_engine();
    struct vial_result *result = NULL;
    const char *json = NULL;
    int n, hit = 1;

    (void)state;
    for (n = 0; hit && n < SWEEP_MAX; n++) {
        result = helper_run(engine,
            "console.log('x'.repeat(50000)); display('x'.repeat(50000)); "
            "display({ 'image/png': 'y'.repeat(50000) }); throw new Error('e')",
            NULL);
        arm(n);
        json = vial_result_json(result, NULL);
        hit = disarm();
        assert_true(json != NULL || hit);
        assert_non_null(vial_result_json(result, NULL)); /* asked again, it works */
        vial_result_free(result);
    }
    assert_int_equal(hit, 0);
    assert_in_range(n, 2, SWEEP_MAX - 1);
    vial_engine_free(engine);
}

static void an_engine_ends_without_any_memory(void **state)
{
    unsigned fds = helper_fds_count();
    struct vial_engine *engine = small_engine();
    int n;

    (void)state;
    for (n = 0; n < 3; n++) {
        arm(n);
        vial_engine_free(engine);
        (void)disarm();
        assert_int_equal(helper_fds_count(), fds);
        assert_true(helper_has_no_children());
        engine = n < 2 ? small_engine() : NULL;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_starts_or_says_that_there_is_no_memory),
        cmocka_unit_test(a_run_ends_or_says_that_there_is_no_memory),
        cmocka_unit_test(a_result_becomes_text_or_null),
        cmocka_unit_test(an_engine_ends_without_any_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
