/* test_common.c - what the commands of the program share: messages, numbers, arguments and files.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "cli/cli.h"

/* ---- catching what goes to stderr ---- */

static int kept_stderr = -1, caught_fd = -1;
static char caught[4096];

static int catch_begin(void **state)
{
    (void)state;
    (void)fflush(stderr);
    kept_stderr = dup(2);
    caught_fd = memfd_create("stderr", MFD_CLOEXEC);
    return kept_stderr < 0 || caught_fd < 0 || dup2(caught_fd, 2) < 0 ? -1 : 0;
}

static int catch_end(void **state)
{
    (void)state;
    (void)dup2(kept_stderr, 2);
    (void)close(kept_stderr);
    (void)close(caught_fd);
    return 0;
}

/* What was written since the last call. */
static const char *message(void)
{
    ssize_t n;

    (void)fflush(stderr);
    n = pread(caught_fd, caught, sizeof(caught) - 1, 0);
    caught[n > 0 ? n : 0] = '\0';
    (void)!ftruncate(caught_fd, 0);
    (void)lseek(caught_fd, 0, SEEK_SET);
    return caught;
}

static void a_failure_is_one_line_and_its_code(void **state)
{
    (void)state;
    assert_int_equal(cli_fail(EXIT_USAGE, "no %s for %d", "room", 3), EXIT_USAGE);
    assert_string_equal(message(), "vial: no room for 3\n");
}

static void a_failure_cannot_drive_the_terminal(void **state)
{
    (void)state;
    (void)cli_fail(EXIT_USAGE, "a\x1b[2Jb\nc\rd\x7f");
    assert_string_equal(message(), "vial: a?[2Jb?c?d?\n");
}

static void a_long_failure_is_cut(void **state)
{
    static char text[5000];

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    (void)cli_fail(EXIT_USAGE, "%s", text);
    assert_in_range(strlen(message()), 100, 1100);
}

static void errors_of_the_library_have_their_codes(void **state)
{
    const struct {
        int code, exit_code;
    } rows[] = {{VIAL_E_INVALID, EXIT_USAGE}, {VIAL_E_ISOLATION, EXIT_DENIED},
        {VIAL_E_NOMEM, EXIT_OUR_FAILURE}, {VIAL_E_SYS, EXIT_OUR_FAILURE},
        {VIAL_E_BUSY, EXIT_OUR_FAILURE}, {VIAL_E_CELL, EXIT_OUR_FAILURE}};
    struct vial_error err = {.text = "100% wrong"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        err.code = rows[i].code;
        assert_int_equal(cli_fail_library(&err), rows[i].exit_code);
        assert_string_equal(message(), "vial: 100% wrong\n");
    }
}

static void numbers_are_plain_digits(void **state)
{
    static const char *const bad[] = {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.5", "one",
        "18446744073709551616", "99999999999999999999999", "1,000", "\xd9\xa1"};
    uint64_t v = 7;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cli_number(bad[i], &v), -1);
        assert_int_equal(v, 7);
    }
    assert_int_equal(cli_number("0", &v), 0);
    assert_true(v == 0);
    assert_int_equal(cli_number("0042", &v), 0);
    assert_true(v == 42);
    assert_int_equal(cli_number("18446744073709551615", &v), 0);
    assert_true(v == UINT64_MAX);
}

static void arguments_are_walked_through(void **state)
{
    const char *argv[] = {
        "file", "-e", "code", "--name=value", "--flag", "--empty=", "-", "--", "-x", "--", NULL};
    struct cli_args a;

    (void)state;
    cli_args_init(&a, 10, (char **)(uintptr_t)argv);
    assert_int_equal(cli_args_next(&a), 1);
    assert_null(a.option);
    assert_string_equal(a.word, "file");
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.option, "-e");
    assert_string_equal(cli_args_value(&a, "run"), "code");
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.option, "--name");
    assert_string_equal(cli_args_value(&a, "run"), "value");
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.option, "--flag");
    assert_int_equal(cli_args_plain(&a, "run"), 0);
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.option, "--empty");
    assert_string_equal(cli_args_value(&a, "run"), "");
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.word, "-"); /* a word, not an option */
    assert_int_equal(cli_args_next(&a), 1);
    assert_null(a.option);
    assert_string_equal(a.word, "-x"); /* behind -- everything is a word */
    assert_int_equal(cli_args_next(&a), 1);
    assert_string_equal(a.word, "--");
    assert_int_equal(cli_args_next(&a), 0);
    assert_int_equal(cli_args_next(&a), 0);
}

static void a_missing_and_an_unwanted_value_are_said(void **state)
{
    const char *argv[] = {"--json=1", "--input", NULL};
    struct cli_args a;

    (void)state;
    cli_args_init(&a, 2, (char **)(uintptr_t)argv);
    assert_int_equal(cli_args_next(&a), 1);
    assert_int_equal(cli_args_plain(&a, "run"), EXIT_USAGE);
    assert_string_equal(message(), "vial: --json takes no value; see `vial run --help`\n");
    assert_int_equal(cli_args_next(&a), 1);
    assert_null(cli_args_value(&a, "run"));
    assert_string_equal(message(), "vial: --input needs a value; see `vial run --help`\n");
}

static void a_long_option_name_is_cut_and_unknown(void **state)
{
    char option[300];
    const char *argv[] = {option, NULL};
    struct cli_args a;

    (void)state;
    memset(option, '-', sizeof(option));
    memcpy(option + 250, "=value", 7);
    cli_args_init(&a, 1, (char **)(uintptr_t)argv);
    assert_int_equal(cli_args_next(&a), 1);
    assert_true(strlen(a.option) < sizeof(a.name));
    assert_string_equal(a.word, "value");
}

static void the_nearest_option_is_offered(void **state)
{
    static const char *const known[] = {"--json", "--input", "--input-file", "--wall-ms", NULL};

    (void)state;
    assert_int_equal(cli_unknown_option("run", "--jsno", known), EXIT_USAGE);
    assert_non_null(strstr(message(), "did you mean --json?"));
    assert_int_equal(cli_unknown_option("run", "--wal-ms", known), EXIT_USAGE);
    assert_non_null(strstr(message(), "did you mean --wall-ms?"));
    assert_int_equal(cli_unknown_option("run", "--something-else", known), EXIT_USAGE);
    assert_null(strstr(message(), "did you mean"));
}

/* ---- files ---- */

static char dir[] = "/tmp/vial-test-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "%s/file", dir);
    (void)unlink(path);
    return rmdir(dir);
}

static const char *make_file(const void *bytes, size_t len)
{
    int fd;

    (void)snprintf(path, sizeof(path), "%s/file", dir);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, bytes, len), 0);
    (void)close(fd);
    return path;
}

static void a_file_is_read_whole(void **state)
{
    size_t size = 200000, len = 0;
    char *bytes = malloc(size), *read_back = NULL;

    (void)state;
    assert_non_null(bytes);
    memset(bytes, 'x', size);
    bytes[100] = '\0';
    assert_int_equal(cli_read_file(make_file(bytes, size), size, "a program", &read_back, &len), 0);
    assert_int_equal(len, size);
    assert_memory_equal(read_back, bytes, size);
    assert_int_equal(read_back[len], '\0');
    free(read_back);
    free(bytes);
    assert_int_equal(cli_read_file(make_file("", 0), 10, "a program", &read_back, &len), 0);
    assert_int_equal(len, 0);
    free(read_back);
}

static void a_file_that_is_too_long_is_refused_unread(void **state)
{
    char *read_back = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(
        cli_read_file(make_file("12345", 5), 4, "a program", &read_back, &len), EXIT_USAGE);
    assert_non_null(strstr(message(), "has 5 bytes; a program may have up to 4"));
    assert_null(read_back);
    assert_int_equal(cli_read_file("/dev/zero", 1000, "a program", &read_back, &len), EXIT_USAGE);
    assert_non_null(strstr(message(), "more than the 1000 bytes"));
}

static void what_cannot_be_read_is_said(void **state)
{
    char *read_back = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(cli_read_file("/no/such", 10, "a program", &read_back, &len), EXIT_USAGE);
    assert_string_equal(message(), "vial: cannot read /no/such: No such file or directory\n");
    assert_int_equal(cli_read_file("/tmp", 10, "a program", &read_back, &len), EXIT_USAGE);
    assert_string_equal(message(), "vial: /tmp is a directory; give a program\n");
    assert_null(read_back);
}

#define CAUGHT(test) cmocka_unit_test_setup_teardown(test, catch_begin, catch_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAUGHT(a_failure_is_one_line_and_its_code),
        CAUGHT(a_failure_cannot_drive_the_terminal),
        CAUGHT(a_long_failure_is_cut),
        CAUGHT(errors_of_the_library_have_their_codes),
        cmocka_unit_test(numbers_are_plain_digits),
        cmocka_unit_test(arguments_are_walked_through),
        CAUGHT(a_missing_and_an_unwanted_value_are_said),
        cmocka_unit_test(a_long_option_name_is_cut_and_unknown),
        CAUGHT(the_nearest_option_is_offered),
        cmocka_unit_test(a_file_is_read_whole),
        CAUGHT(a_file_that_is_too_long_is_refused_unread),
        CAUGHT(what_cannot_be_read_is_said),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
