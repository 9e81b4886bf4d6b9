/* test_glob.c - which names a pattern matches, which patterns are none, and that no pattern is
 * slow.
 */
#include "base/glob.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/name.h"

static int matches(const char *pattern, const char *name)
{
    assert_null(glob_fault(pattern, strlen(pattern)));
    return glob_match(pattern, strlen(pattern), name, strlen(name));
}

static void patterns_match_what_they_say(void **state)
{
    static const char *const rows[][2] = {{"a", "a"}, {"*", "a"}, {"*.txt", "a.txt"},
        {"*.txt", "x.txt"}, {"a*b*c", "aXbYbZc"}, {"a?c", "abc"}, {"?", "\xc3\xa4"},
        {"[a-c]x", "bx"}, {"[!a-c]x", "dx"}, {"[]]", "]"}, {"[!]]", "a"}, {"[a-]", "-"},
        {"[\xc3\xa0-\xc3\xbf]", "\xc3\xa4"}, {"\\*", "*"}, {"[\\]]", "]"},
        {"out/*.csv", "out/a.csv"}, {"**", "a"}, {"**", "a/b/c"}, {"**/*.js", "a.js"},
        {"**/*.js", "a/b/c.js"}, {"a/**", "a/b"}, {"a/**/b", "a/b"}, {"a/**/b", "a/x/y/b"},
        {"**/x/**/y", "a/x/b/x/c/y"}, {".*", ".a"}, {"\\.a", ".a"}, {"**/.env", "a/.env"},
        {"a**b", "axxb"}, {"**/**/a", "a"}, {"a/**/**", "a/b"}, {"*/*", "a/b"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!matches(rows[i][0], rows[i][1])) {
            fail_msg("%s does not match %s", rows[i][0], rows[i][1]);
        }
    }
}

static void patterns_match_nothing_else(void **state)
{
    static const char *const rows[][2] = {{"a", "b"}, {"a", "ab"}, {"ab", "a"}, {"*", "a/b"},
        {"*.txt", "a.txt/b"}, {"*.txt", "out/a.txt"}, {"a?c", "a/c"}, {"?", "ab"}, {"[a-c]", "d"},
        {"[!a-c]", "a"}, {"*", ".a"}, {"?a", ".a"}, {"[.]a", ".a"}, {"**", ".a"}, {"**", "a/.b"},
        {"**/b", ".a/b"}, {"a/**/b", "a/x"}, {"a/**/b", "b"}, {"\\*", "a"}, {"*/*", "a"},
        {"**/*.js", "a.jsx"}, {"a/b", "a"}, {"**/*/c", "c"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (matches(rows[i][0], rows[i][1])) {
            fail_msg("%s matches %s", rows[i][0], rows[i][1]);
        }
    }
}

static void what_is_no_pattern_is_refused(void **state)
{
    static const char *const rows[] = {"", "/a", "../*", "a/../b", "a//b", "[", "[a", "[]", "[!]",
        "[a\\]", "a\\", "a\\/b", "[a/b]", "\xff*", "a\n*", "a/"};
    char longest[GLOB_BYTES_MAX + 2];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (glob_fault(rows[i], strlen(rows[i])) == NULL) {
            fail_msg("%s is taken", rows[i]);
        }
    }
    for (i = 0; i < sizeof(longest); i++) {
        longest[i] = i % 100 == 99 ? '/' : 'a';
    }
    assert_null(glob_fault(longest, GLOB_BYTES_MAX));
    assert_non_null(glob_fault(longest, GLOB_BYTES_MAX + 1));
}

/* Were the stars tried in all combinations, this would not end before the test's time is over. */
static void many_stars_are_no_trouble(void **state)
{
    char pattern[GLOB_BYTES_MAX], name[FILE_NAME_BYTES_MAX];
    size_t i, n = 0;

    (void)state;
    for (i = 0; i < 127; i++) {
        pattern[n++] = '*';
        pattern[n++] = 'a';
    }
    pattern[n++] = 'b';
    memset(name, 'a', 255);
    assert_null(glob_fault(pattern, n));
    assert_false(glob_match(pattern, n, name, 255));
    for (i = 0, n = 0; i < 30; i++) {
        memcpy(pattern + n, "**/a*/", 6);
        n += 6;
    }
    pattern[n++] = 'b';
    for (i = 0; i < 127; i++) {
        name[i] = i % 2 == 0 ? 'a' : '/';
    }
    assert_null(glob_fault(pattern, n));
    assert_false(glob_match(pattern, n, name, 127));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_what_they_say),
        cmocka_unit_test(patterns_match_nothing_else),
        cmocka_unit_test(what_is_no_pattern_is_refused),
        cmocka_unit_test(many_stars_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
