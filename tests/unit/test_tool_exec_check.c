/* test_tool_exec_check.c - which commands, environments and directories a tool may have. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/tool_exec.h"

/* Expects success when text is NULL, else a refusal with this text in it. */
static void expect(const struct tool_exec *tool, const char *text)
{
    struct vial_error err = {0};
    int r = tool_exec_check(tool, &err);

    if (text == NULL) {
        assert_string_equal(err.text, "");
        assert_int_equal(r, 0);
        return;
    }
    assert_int_equal(r, VIAL_E_INVALID);
    assert_int_equal(err.code, VIAL_E_INVALID);
    if (strstr(err.text, text) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", text, err.text);
    }
}

static void a_program_is_found_by_its_path_or_in_a_path(void **state)
{
    const char *command[] = {"/bin/sh", "-c", "true"};
    const char *env[] = {"PATH=/nonexistent:/bin"};
    struct tool_exec tool = {.command = command, .command_count = 3};
    char path[PATH_MAX];

    (void)state;
    expect(&tool, NULL);
    command[0] = "sh";
    expect(&tool, NULL);
    assert_int_equal(tool_exec_find(&tool, path, sizeof(path)), 0);
    assert_string_equal(path, "/usr/bin/sh");
    tool.env = env;
    tool.env_count = 1;
    assert_int_equal(tool_exec_find(&tool, path, sizeof(path)), 0);
    assert_string_equal(path, "/bin/sh");
    env[0] = "PATH=/nonexistent::relative";
    assert_int_equal(tool_exec_find(&tool, path, sizeof(path)), ENOENT);
    expect(&tool, "\"sh\", cannot be executed: No such file");
    command[0] = "/bin/sh"; /* which does not ask PATH */
    expect(&tool, NULL);
    assert_int_equal(tool_exec_find(&tool, path, 5), ENAMETOOLONG);
}

static void a_program_that_cannot_be_executed_is_refused(void **state)
{
    const char *command[] = {"/etc/passwd"};
    struct tool_exec tool = {.command = command, .command_count = 1};

    (void)state;
    expect(&tool, "cannot be executed: Permission denied");
    command[0] = "/tmp";
    expect(&tool, "cannot be executed: Permission denied");
    command[0] = "/no/such/thing";
    expect(&tool, "cannot be executed: No such file");
    command[0] = "./sh";
    expect(&tool, "absolute path");
    command[0] = "";
    expect(&tool, "absolute path");
    tool.command_count = 0;
    expect(&tool, "no command");
}

static void a_relative_folder_in_path_is_passed_over(void **state)
{
    const char *command[] = {"sh"};
    const char *env[] = {"PATH=.:bin:"};
    struct tool_exec tool = {.command = command, .command_count = 1, .env = env, .env_count = 1};
    char path[PATH_MAX], before[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir("/usr/bin"), 0); /* where ./sh would be found */
    assert_int_equal(tool_exec_find(&tool, path, sizeof(path)), ENOENT);
    assert_int_equal(chdir(before), 0);
}

static void variables_have_names_that_do_not_repeat(void **state)
{
    const char *command[] = {"sh"};
    const char *env[] = {"A=1", "_b2=secret=x", "EMPTY="};
    struct tool_exec tool = {.command = command, .command_count = 1, .env = env, .env_count = 3};
    struct vial_error err;

    (void)state;
    expect(&tool, NULL);
    env[1] = "A=2";
    expect(&tool, "has A twice");
    env[1] = "AB=2"; /* begins alike */
    expect(&tool, NULL);
    env[1] = "secret";
    expect(&tool, "variable 2 ");
    assert_int_equal(tool_exec_check(&tool, &err), VIAL_E_INVALID);
    assert_null(strstr(err.text, "secret"));
    env[1] = "=x";
    expect(&tool, "variable 2 ");
    env[1] = "1A=x";
    expect(&tool, "variable 2 ");
    env[1] = "A B=x";
    expect(&tool, "variable 2 ");
}

static void everything_has_a_maximum(void **state)
{
    static char large[TOOL_EXEC_BYTES_MAX + 10];
    const char *words[TOOL_EXEC_WORDS_MAX + 1];
    const char *command[] = {"sh", large};
    struct tool_exec tool = {.command = words, .command_count = TOOL_EXEC_WORDS_MAX + 1};
    size_t i;

    (void)state;
    for (i = 0; i < TOOL_EXEC_WORDS_MAX + 1; i++) {
        words[i] = "sh";
    }
    expect(&tool, "may have 256");
    tool.command_count = TOOL_EXEC_WORDS_MAX;
    expect(&tool, NULL);
    (void)memset(large, 'x', sizeof(large) - 1);
    tool = (struct tool_exec){.command = command, .command_count = 2};
    expect(&tool, "the command of the tool is longer than");
    large[1] = '=';
    tool = (struct tool_exec){
        .command = command, .command_count = 1, .env = command + 1, .env_count = 1};
    expect(&tool, "the environment of the tool is longer than");
}

static void the_directory_has_to_be_there(void **state)
{
    const char *command[] = {"sh"};
    struct tool_exec tool = {.command = command, .command_count = 1, .cwd = "/tmp"};

    (void)state;
    expect(&tool, NULL);
    tool.cwd = "tmp";
    expect(&tool, "not an absolute path");
    tool.cwd = "/no/such/place";
    expect(&tool, "is not there");
    tool.cwd = "/etc/passwd";
    expect(&tool, "is not there");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_found_by_its_path_or_in_a_path),
        cmocka_unit_test(a_program_that_cannot_be_executed_is_refused),
        cmocka_unit_test(a_relative_folder_in_path_is_passed_over),
        cmocka_unit_test(variables_have_names_that_do_not_repeat),
        cmocka_unit_test(everything_has_a_maximum),
        cmocka_unit_test(the_directory_has_to_be_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
