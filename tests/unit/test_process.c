/* test_process.c - what a run may be given beside its source, and which runs get a directory. */
#include "policy/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int check(const struct vial_request *q, char text[360])
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_error err = {.text = ""};
    int r;

    assert_int_equal(vial_limits_resolve(&limits, NULL), 0);
    r = process_check(q, &limits, &err);
    (void)snprintf(text, 360, "%s", err.text);
    return r;
}

static void assert_good(const struct vial_request *q)
{
    char text[360];

    if (check(q, text) != 0) {
        fail_msg("%s", text);
    }
}

static void assert_bad(const struct vial_request *q, const char *word)
{
    char text[360];

    assert_int_equal(check(q, text), VIAL_E_INVALID);
    if (strstr(text, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", text, word);
    }
}

static struct vial_request request_of(const char *source)
{
    struct vial_request q = VIAL_REQUEST_INIT;

    q.source = source;
    q.source_len = strlen(source);
    return q;
}

static void variables_have_a_name(void **state)
{
    const char *good[] = {"A=", "A=b=c", "\xc3\xa4=1"};
    const char *bad[] = {"A", "=x", "", "A=\xff"};
    struct vial_request q = request_of("1");
    size_t i;

    (void)state;
    q.env = good;
    q.env_count = 3;
    assert_good(&q);
    for (i = 0; i < 4; i++) {
        q.env = &bad[i];
        q.env_count = 1;
        assert_bad(&q, i < 3 ? "NAME=value" : "UTF-8");
    }
    q.env_count = PROCESS_STRINGS_MAX + 1;
    assert_bad(&q, "up to 1000");
}

static void arguments_are_bounded(void **state)
{
    static char longest[PROCESS_STRINGS_BYTES_MAX + 1];
    const char *args[] = {longest, "", "x"};
    struct vial_request q = request_of("1");

    (void)state;
    memset(longest, 'a', sizeof(longest) - 8);
    q.args = args;
    q.args_count = 3;
    assert_good(&q);
    memset(longest, 'a', sizeof(longest) - 1);
    assert_bad(&q, "more than 1048576 bytes");
}

static void files_have_names_and_room(void **state)
{
    struct vial_file file = {.name = "a/b", .bytes = "x", .len = 1};
    struct vial_request q = request_of("1");
    static const char *const bad[] = {"../a", "/etc/x", "", "a/./b", "a\nb", NULL};
    size_t i;

    (void)state;
    q.files = &file;
    q.files_count = 1;
    assert_good(&q);
    file.name = "/home/vial/x";
    assert_good(&q);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        file.name = bad[i];
        assert_bad(&q, "cannot be called");
    }
    file.name = "big";
    file.len = (size_t)64 << 20;
    assert_good(&q);
    file.len++;
    assert_bad(&q, "--disk-mb");
    file.len = SIZE_MAX;
    assert_bad(&q, "--disk-mb");
    file.bytes = NULL;
    assert_bad(&q, "no bytes");
    q.files_count = 4096;
    assert_bad(&q, "--file-count");
}

static void patterns_and_directories_lie_inside(void **state)
{
    const char *good[] = {"*.txt", "/home/vial/out/**", "./a"};
    const char *bad[] = {"/etc/*", "../*", "[", ""};
    struct vial_request q = request_of("1");
    size_t i;

    (void)state;
    q.outs = good;
    q.outs_count = 3;
    assert_good(&q);
    for (i = 0; i < 4; i++) {
        q.outs = &bad[i];
        q.outs_count = 1;
        assert_bad(&q, "pattern");
    }
    q.outs_count = 0;
    q.cwd = "work/here";
    assert_good(&q);
    q.cwd = "/home/vial";
    assert_good(&q);
    q.cwd = "/";
    assert_bad(&q, "working directory");
    q.cwd = "a/../..";
    assert_bad(&q, "working directory");
}

static void standard_input_is_bounded(void **state)
{
    struct vial_request q = request_of("1");

    (void)state;
    q.stdin_bytes = "x";
    q.stdin_len = PROCESS_STDIN_BYTES_MAX;
    assert_good(&q);
    q.stdin_len++;
    assert_bad(&q, "standard input");
}

static void what_needs_files_is_refused_where_there_are_none(void **state)
{
    static const char *const outs[] = {"x"};
    struct vial_file file = {.name = "x"};
    struct vial_request q = request_of("1");

    (void)state;
    q.files_mode = VIAL_FILES_OFF;
    assert_good(&q);
    q.cwd = "a";
    assert_bad(&q, "--no-files");
    q.cwd = NULL;
    q.outs = outs;
    q.outs_count = 1;
    assert_bad(&q, "--no-files");
    q.outs_count = 0;
    q.files = &file;
    q.files_count = 1;
    assert_bad(&q, "--no-files");
    q.files_mode = VIAL_FILES_ON;
    assert_good(&q);
    q.files_mode = 3;
    assert_bad(&q, "files_mode 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_have_a_name),
        cmocka_unit_test(arguments_are_bounded),
        cmocka_unit_test(files_have_names_and_room),
        cmocka_unit_test(patterns_and_directories_lie_inside),
        cmocka_unit_test(standard_input_is_bounded),
        cmocka_unit_test(what_needs_files_is_refused_where_there_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
