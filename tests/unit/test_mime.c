/* test_mime.c - types of what programs show. */
#include "base/mime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void well_formed_types_are_good(void **state)
{
    static const char *const good[] = {"text/plain", "image/svg+xml", "a/b", "0/1",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "x/a!#$&-^_.+"};
    char longest[MIME_BYTES_MAX + 2];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_null(mime_fault(good[i], strlen(good[i])));
    }
    memset(longest, 'a', sizeof(longest));
    longest[3] = '/';
    assert_null(mime_fault(longest, MIME_BYTES_MAX));
    assert_non_null(strstr(mime_fault(longest, MIME_BYTES_MAX + 1), "127"));
}

static void others_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *mime, *why;
    } bad[] = {{"", "empty"}, {"text", "type/subtype"}, {"/plain", "type/subtype"},
        {"text/", "type/subtype"}, {"/", "type/subtype"}, {"a/b/c", "type/subtype"},
        {"Text/plain", "lower case"}, {"text/Plain", "lower case"},
        {"text/plain; charset=utf-8", "character"}, {"text/\x1b[2J", "character"},
        {"text/pl\xc3\xa4in", "character"}, {"-a/b", "character"}, {"a/.b", "character"},
        {"../../x", "character"}, {"text/plain\n", "character"}, {"te xt/plain", "character"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *why = mime_fault(bad[i].mime, strlen(bad[i].mime));

        assert_non_null(why);
        assert_non_null(strstr(why, bad[i].why));
    }
    assert_non_null(mime_fault("text/pl\0in", 10));
}

static void text_is_known(void **state)
{
    (void)state;
    assert_true(mime_is_text("text/html"));
    assert_true(mime_is_text("application/json"));
    assert_true(mime_is_text("application/geo+json"));
    assert_true(mime_is_text("image/svg+xml"));
    assert_false(mime_is_text("image/png"));
    assert_false(mime_is_text("application/octet-stream"));
    assert_false(mime_is_text("application/text"));
}

static void files_have_the_end_that_people_expect(void **state)
{
    (void)state;
    assert_string_equal(mime_extension("image/png"), "png");
    assert_string_equal(mime_extension("image/jpeg"), "jpg");
    assert_string_equal(mime_extension("image/svg+xml"), "svg");
    assert_string_equal(mime_extension("text/plain"), "txt");
    assert_string_equal(mime_extension("text/x-anything"), "txt");
    assert_string_equal(mime_extension("application/vnd.vegalite.v5+json"), "json");
    assert_string_equal(mime_extension("application/atom+xml"), "xml");
    assert_string_equal(mime_extension("application/epub+zip"), "zip");
    assert_string_equal(mime_extension("application/x-what"), "bin");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_types_are_good),
        cmocka_unit_test(others_are_refused_with_a_reason),
        cmocka_unit_test(text_is_known),
        cmocka_unit_test(files_have_the_end_that_people_expect),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
