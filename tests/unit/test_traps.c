/* test_traps.c - finding the engine's switches: they are found in this library, nothing is left
 * behind, and they do what their names say. Each test has a process and an engine of its own. */
#include "cell/js/traps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"
#include "jail/fork.h"

enum { TEST_SECONDS_MAX = 60 };

static JSGlobalContextRef start_engine(void)
{
    static const char *const options[] = {
        "JSC_useConcurrentJIT", "JSC_useConcurrentGC", "JSC_useWasm", "JSC_useSharedArrayBuffer"};
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        (void)setenv(options[i], "0", 1);
    }
    (void)setenv("JSC_numberOfGCMarkers", "1", 1);
    (void)setenv("JSC_usePollingTraps", "1", 1);
    (void)alarm(TEST_SECONDS_MAX);
    jsc_disable_scavenger();
    return fork_prepare() == 0 ? JSGlobalContextCreate(NULL) : NULL;
}

static double number(JSGlobalContextRef ctx, const char *text)
{
    JSStringRef source = JSStringCreateWithUTF8CString(text);
    JSValueRef value = JSEvaluateScript(ctx, source, NULL, NULL, 1, NULL);

    JSStringRelease(source);
    return value != NULL ? JSValueToNumber(ctx, value, NULL) : -1;
}

static int find(void *user)
{
    JSGlobalContextRef ctx = start_engine();
    double names = number(ctx, "Object.getOwnPropertyNames(globalThis).length");
    unsigned fds = helper_fds_count();
    struct traps t;

    (void)user;
    CHILD_CHECK(traps_find(ctx, &t) == 0);
    CHILD_CHECK(*t.bits == 0 && *t.stopping == 0 && *t.requested == 0 && *t.forbidden == 0);
    CHILD_CHECK(number(ctx, "Object.getOwnPropertyNames(globalThis).length") == names);
    CHILD_CHECK(helper_has_no_children());
    CHILD_CHECK(helper_fds_count() == fds);
    return CHILD_FINE;
}

static void finds_the_switches_and_leaves_nothing_behind(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(find, NULL), CHILD_FINE);
}

static int use(void *user)
{
    JSGlobalContextRef ctx = start_engine();
    struct traps t;

    (void)user;
    CHILD_CHECK(traps_find(ctx, &t) == 0);
    traps_set(&t);
    CHILD_CHECK(number(ctx, "try { for (;;); } catch { 1 }") == -1);
    CHILD_CHECK((*t.bits & TRAPS_TERMINATE) == 0 && *t.stopping == 0);
    traps_clear(&t);

    /* Only promises are forbidden now; each call drops those that wait. */
    CHILD_CHECK(number(ctx, "var went = 0; Promise.resolve().then(() => { went = 1 }); 2") == 2);
    CHILD_CHECK(number(ctx, "went") == 0);
    traps_allow(&t);
    CHILD_CHECK(number(ctx, "went") == 0);
    CHILD_CHECK(number(ctx, "Promise.resolve().then(() => { went = 2 }); 3") == 3);
    CHILD_CHECK(number(ctx, "went") == 2);
    return CHILD_FINE;
}

static void each_switch_does_what_its_name_says(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(use, NULL), CHILD_FINE);
}

static int take_back(void *user)
{
    JSGlobalContextRef ctx = start_engine();
    struct traps t;

    (void)user;
    CHILD_CHECK(traps_find(ctx, &t) == 0);
    traps_set(&t);
    traps_clear(&t);
    traps_allow(&t);
    CHILD_CHECK(number(ctx, "let n = 0; for (let i = 0; i < 1e5; i++) n++; n") == 1e5);
    return CHILD_FINE;
}

static void a_request_can_be_taken_back(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(take_back, NULL), CHILD_FINE);
}

static int find_without_copy(void *user)
{
    JSGlobalContextRef ctx;
    struct rlimit none = {0, 0};
    struct traps t = {.bits = NULL};

    (void)user;
    ctx = start_engine();
    CHILD_CHECK(setrlimit(RLIMIT_NPROC, &none) == 0 && setresuid(65534, 65534, 65534) == 0);
    CHILD_CHECK(traps_find(ctx, &t) == -1 && t.bits == NULL);
    CHILD_CHECK(number(ctx, "6 * 7") == 42);
    return CHILD_FINE;
}

static void without_a_copy_there_is_no_soft_stop(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        helper_say_skip("only root can become a user without processes");
        skip();
    }
    assert_int_equal(helper_in_child(find_without_copy, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_switches_and_leaves_nothing_behind),
        cmocka_unit_test(each_switch_does_what_its_name_says),
        cmocka_unit_test(a_request_can_be_taken_back),
        cmocka_unit_test(without_a_copy_there_is_no_soft_stop),
    };

    return cmocka_run_group_tests_name("traps", tests, NULL, NULL);
}
