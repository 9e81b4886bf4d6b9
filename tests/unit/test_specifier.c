/* test_specifier.c - which names of modules are taken, what they mean, and which are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/specifier.h"

static void assert_resolves(const char *specifier, const char *referrer, const char *expected)
{
    struct buf out;
    const char *why;

    buf_init(&out, 8192);
    why = specifier_resolve(
        specifier, strlen(specifier), referrer, referrer != NULL ? strlen(referrer) : 0, &out);
    if (why != NULL) {
        fail_msg("%s: %s", specifier, why);
    }
    assert_string_equal(out.data, expected);
    buf_release(&out);
}

static void assert_refuses(const char *specifier, size_t len, const char *why)
{
    struct buf out;
    const char *said;

    buf_init(&out, 8192);
    assert_int_equal(buf_add_text(&out, "before", NULL), 0);
    said = specifier_resolve(specifier, len, "./a/b.js", 8, &out);
    assert_non_null(said);
    assert_non_null(strstr(said, why));
    assert_int_equal(out.len, 6);
    buf_release(&out);
}

static void a_relative_name_is_in_the_folder_of_who_asks(void **state)
{
    (void)state;
    assert_resolves("./b.js", NULL, "./b.js");
    assert_resolves("./b.js", "./a.js", "./b.js");
    assert_resolves("./b.js", "./x/a.js", "./x/b.js");
    assert_resolves("./y/b.js", "./x/a.js", "./x/y/b.js");
    assert_resolves("./b.js", "pkg/lib/a.js", "pkg/lib/b.js");
    assert_resolves("./b.js", "pkg", "./b.js");
    assert_resolves("./b.js", "@scope/pkg", "@scope/b.js");
}

static void dots_that_mean_nothing_are_left_out(void **state)
{
    (void)state;
    assert_resolves("././b.js", NULL, "./b.js");
    assert_resolves("./x/./b.js", "./y/a.js", "./y/x/b.js");
    assert_resolves("pkg/./b.js", NULL, "pkg/b.js");
}

static void a_bare_name_is_as_it_is(void **state)
{
    (void)state;
    assert_resolves("lodash", "./x/a.js", "lodash");
    assert_resolves("@scope/pkg", "./x/a.js", "@scope/pkg");
    assert_resolves("node:fs", "./x/a.js", "node:fs");
    assert_resolves("node:fs/promises", NULL, "node:fs/promises");
    assert_resolves("__proto__", NULL, "__proto__");
    assert_resolves("...", NULL, "...");
    assert_resolves("a b?c%2e*", NULL, "a b?c%2e*");
    assert_resolves("\xc3\xbc\xf0\x9f\x98\x80", NULL, "\xc3\xbc\xf0\x9f\x98\x80");
    assert_resolves(":x", NULL, ":x");
}

static void what_is_no_name_is_refused_with_a_reason(void **state)
{
    static const char *const cases[][2] = {{"", "empty"}, {"..", ".. in it"}, {"../a", ".. in it"},
        {"./a/../b", ".. in it"}, {"a/..", ".. in it"}, {"/etc/passwd", "absolute"},
        {"/", "absolute"}, {"file:///x", "URL"}, {"http://x", "URL"}, {"https://x", "URL"},
        {"data:,1", "URL"}, {"HTTPS://x", "URL"}, {"a+b-c.d:x", "URL"}, {"vial:./a.js", "URL"},
        {"C:/x", "URL"}, {"a\\b", "backslash"}, {"a\nb", "control"}, {"a\x7f", "control"},
        {"\xff", "UTF-8"}, {".", "folder"}, {"./", "folder"}, {"a/", "folder"}, {"a/.", "folder"},
        {"a//b", "empty part"}, {"#x", "#"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refuses(cases[i][0], strlen(cases[i][0]), cases[i][1]);
    }
    assert_refuses("a\0b", 3, "control");
}

static void a_name_has_a_maximum_also_with_its_folder(void **state)
{
    char name[SPECIFIER_BYTES_MAX + 2];
    struct buf out;

    (void)state;
    memset(name, 'x', sizeof(name));
    assert_refuses(name, sizeof(name) - 1, "longer");
    buf_init(&out, 8192);
    assert_null(specifier_resolve(name, SPECIFIER_BYTES_MAX, NULL, 0, &out));
    assert_int_equal(out.len, SPECIFIER_BYTES_MAX);
    name[0] = '.';
    name[1] = '/';
    assert_refuses(name, SPECIFIER_BYTES_MAX, "longer");
    buf_release(&out);
}

static void a_run_cannot_name_a_built_in_module(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 8192);
    assert_non_null(strstr(specifier_resolve_own("node:fs", 7, &out), "built-in"));
    assert_null(specifier_resolve_own("fs", 2, &out));
    assert_string_equal(out.data, "fs");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_relative_name_is_in_the_folder_of_who_asks),
        cmocka_unit_test(dots_that_mean_nothing_are_left_out),
        cmocka_unit_test(a_bare_name_is_as_it_is),
        cmocka_unit_test(what_is_no_name_is_refused_with_a_reason),
        cmocka_unit_test(a_name_has_a_maximum_also_with_its_folder),
        cmocka_unit_test(a_run_cannot_name_a_built_in_module),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
