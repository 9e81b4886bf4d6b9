/* test_trace.c - what is a traceparent, and what is none. */
#include "base/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char GOOD[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

static void one_of_version_00_is_valid(void **state)
{
    (void)state;
    assert_int_equal(strlen(GOOD), TRACE_BYTES - 1);
    assert_true(trace_is_valid(GOOD));
    assert_true(trace_is_valid("00-00000000000000000000000000000001-0000000000000001-00"));
}

static void everything_else_is_not(void **state)
{
    static const char *const bad[] = {"", "00", "nonsense",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", /* a version that nobody knows */
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", /* large digits */
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",  /* one too few */
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011", /* one too many */
        "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01", /* no trace */
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", /* no parent */
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n"};
    char text[TRACE_BYTES];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (trace_is_valid(bad[i])) {
            fail_msg("%s", bad[i]);
        }
    }
    for (i = 0; i < strlen(GOOD); i++) { /* no place takes a character that could end a header */
        memcpy(text, GOOD, sizeof(text));
        text[i] = '\r';
        assert_false(trace_is_valid(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_version_00_is_valid),
        cmocka_unit_test(everything_else_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
