/* test_tool_exec.c - tools that are programs, with real ones: what they get, what they may do, and
 * that nothing of them is left behind. */
#include "host/tool_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"
#include "helper.h"

enum { ANSWER_MAX = 1000000, LONG_MS = 20000 };

/* A call and what came of it. */
struct outcome {
    int r;
    struct buf answer;
    struct tool_failure failure;
    struct vial_error err;
    uint64_t us;
};

static void outcome_release(struct outcome *o)
{
    buf_release(&o->answer);
    tool_failure_release(&o->failure);
}

static void call_tool(const struct tool_exec *tool, const char *args, size_t len, unsigned ms,
    const int *cancelled, struct outcome *o)
{
    uint64_t begun = clock_now_us();

    *o = (struct outcome){.r = 99};
    buf_init(&o->answer, ANSWER_MAX);
    tool_failure_init(&o->failure);
    o->r = tool_exec_call(tool, args, len, begun + (uint64_t)ms * 1000, ANSWER_MAX, cancelled,
        &o->answer, &o->failure, &o->err);
    o->us = clock_now_us() - begun;
    assert_int_equal(strlen(o->err.text) > 0, o->r < 0);
    assert_int_equal(strlen(o->failure.name) > 0, o->r == TOOL_FAILED);
    assert_int_equal(strlen(o->failure.message) > 0, o->r == TOOL_FAILED);
    assert_true(o->r == 0 || o->answer.len == 0);
    if (o->failure.fields.len > 0) {
        assert_int_equal(o->r, TOOL_FAILED);
        assert_int_equal(json_check(o->failure.fields.data, o->failure.fields.len, 4, NULL), 0);
    }
}

/* The same with a script for the shell. */
static void call_shell(const char *script, const char *args, unsigned ms, struct outcome *o)
{
    const char *const command[] = {"sh", "-c", script};
    struct tool_exec tool = {.command = command, .command_count = 3};

    call_tool(&tool, args, strlen(args), ms, NULL, o);
}

static void expect_answer(const char *script, const char *args, const char *answer)
{
    struct outcome o;

    call_shell(script, args, LONG_MS, &o);
    if (o.r != 0) {
        fail_msg("%s: %s %s %s", script, o.failure.name, o.failure.message, o.err.text);
    }
    assert_string_equal(o.answer.data, answer);
    outcome_release(&o);
}

/* Expects a failure with this name, this text in the message and, unless NULL, in the fields. */
static void expect_failure(
    const char *script, unsigned ms, const char *name, const char *message, const char *fields)
{
    struct outcome o;

    call_shell(script, "{}", ms, &o);
    assert_int_equal(o.r, TOOL_FAILED);
    assert_string_equal(o.failure.name, name);
    if (strstr(o.failure.message, message) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", message, o.failure.message);
    }
    if (fields != NULL) {
        assert_true(o.failure.fields.len > 0);
        if (strstr(o.failure.fields.data, fields) == NULL) {
            fail_msg("\"%s\" is not in \"%s\"", fields, o.failure.fields.data);
        }
    } else {
        assert_int_equal(o.failure.fields.len, 0);
    }
    outcome_release(&o);
}

static void a_program_gets_the_arguments_and_gives_the_answer(void **state)
{
    (void)state;
    expect_answer("cat", "{\"a\": [1, 2]}", "{\"a\": [1, 2]}");
    expect_answer("cat >/dev/null; echo '\"done\"'", "{}", "\"done\"\n");
    expect_answer("echo chatter >&2; echo 7", "{}", "7\n");
    expect_answer("printf '\\357\\273\\277null'", "{}", "null"); /* a byte order mark */
}

static void the_trace_is_a_variable_unless_the_tool_has_its_own(void **state)
{
    static const char trace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const char *const command[] = {"sh", "-c", "echo \"\\\"$TRACEPARENT\\\"\""};
    const char *const own[] = {"TRACEPARENT=own"};
    struct tool_exec tool = {.command = command, .command_count = 3, .traceparent = trace};
    struct outcome o;

    (void)state;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_non_null(strstr(o.answer.data, trace));
    outcome_release(&o);
    tool.env = own;
    tool.env_count = 1;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_string_equal(o.answer.data, "\"own\"\n");
    outcome_release(&o);
    tool.traceparent = NULL;
    tool.env_count = 0;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_string_equal(o.answer.data, "\"\"\n");
    outcome_release(&o);
}

static void large_arguments_and_answers_pass_both_ways_at_once(void **state)
{
    const char *const command[] = {"cat"};
    struct tool_exec tool = {.command = command, .command_count = 1};
    char *text = malloc(ANSWER_MAX);
    struct outcome o;

    (void)state;
    assert_non_null(text);
    (void)memset(text, 'x', ANSWER_MAX);
    text[0] = text[ANSWER_MAX - 1] = '"';
    call_tool(&tool, text, ANSWER_MAX, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_int_equal(o.answer.len, ANSWER_MAX);
    assert_memory_equal(o.answer.data, text, ANSWER_MAX);
    outcome_release(&o);
    free(text);
}

static void an_exit_code_is_a_failure_with_the_end_of_stderr(void **state)
{
    (void)state;
    expect_failure("echo one >&2; echo 'file not found' >&2; echo >&2; exit 3", LONG_MS,
        "ExecError", "ended with exit code 3: file not found",
        "{\"exit_code\":3,\"stderr\":\"one\\nfile not found\\n\\n\"}");
    expect_failure("echo '{}'; exit 1", LONG_MS, "ExecError", "ended with exit code 1",
        "{\"exit_code\":1,\"stderr\":\"\"}");
    expect_failure("kill -SEGV $$", LONG_MS, "ExecError", "ended with SIGSEGV",
        "{\"exit_code\":null,\"signal\":\"SIGSEGV\",\"stderr\":\"\"}");
    expect_failure("kill -34 $$", LONG_MS, "ExecError", "ended with signal 34", "\"signal 34\"");
}

static void of_a_long_stderr_the_end_is_kept(void **state)
{
    struct outcome o;

    (void)state;
    call_shell("i=0; while [ $i -lt 5000 ]; do echo \"line $i of many\" >&2; i=$((i+1)); done; "
               "printf 'the \\377 last' >&2; exit 1",
        "{}", LONG_MS, &o);
    assert_int_equal(o.r, TOOL_FAILED);
    assert_string_equal(
        o.failure.message, "the program of the tool ended with exit code 1: the ? last");
    assert_true(o.failure.fields.len > 3000);
    assert_true(o.failure.fields.len <= 8192);
    assert_null(strstr(o.failure.fields.data, "line 100 of"));
    assert_non_null(strstr(o.failure.fields.data, "line 4999 of"));
    outcome_release(&o);
    call_shell("head -c 3000000 /dev/zero >&2; echo 1", "{}", LONG_MS, &o);
    assert_int_equal(o.r, 0);
    outcome_release(&o);
    call_shell("head -c 3000000 /dev/zero >&2; exit 1", "{}", LONG_MS, &o);
    assert_int_equal(o.r, TOOL_FAILED); /* six bytes for each of them */
    assert_true(o.failure.fields.len > 24576);
    outcome_release(&o);
}

static void what_is_no_json_is_no_answer(void **state)
{
    (void)state;
    expect_failure("echo hello", LONG_MS, "AnswerError", "not JSON: line 1, column 1", NULL);
    expect_failure("printf '\"\\377\"'", LONG_MS, "AnswerError", "not UTF-8", NULL);
    expect_failure(
        "echo why >&2; echo '1 2'", LONG_MS, "AnswerError", "not JSON", "{\"stderr\":\"why\\n\"}");
    expect_failure("true", LONG_MS, "AnswerError", "printed nothing", NULL);
    expect_failure("echo; echo", LONG_MS, "AnswerError", "printed nothing", NULL);
}

static void too_much_output_ends_the_program(void **state)
{
    struct outcome o;

    (void)state;
    call_shell("cat /dev/zero", "{}", LONG_MS, &o);
    assert_int_equal(o.r, TOOL_FAILED);
    assert_string_equal(o.failure.name, "AnswerError");
    assert_non_null(strstr(o.failure.message, "larger than the 1000000 bytes"));
    assert_true(o.us < 10000000);
    outcome_release(&o);
    /* So large only once it has ended. */
    call_shell("head -c 1000001 /dev/zero", "{}", LONG_MS, &o);
    assert_non_null(strstr(o.failure.message, "larger than"));
    outcome_release(&o);
}

static void a_program_need_not_read_its_input(void **state)
{
    static char large[300000];
    const char *const early[] = {"sh", "-c", "exec <&-; sleep 0.05; echo 1"};
    const char *const never[] = {"sh", "-c", "echo 2"};
    struct tool_exec tool = {.command = early, .command_count = 3};
    struct sigaction before;
    struct outcome o;

    (void)state;
    (void)memset(large, ' ', sizeof(large));
    (void)sigaction(SIGPIPE, NULL, &before);
    assert_true(before.sa_handler == SIG_DFL); /* so one that is delivered ends this program */
    call_tool(&tool, large, sizeof(large), LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_string_equal(o.answer.data, "1\n");
    outcome_release(&o);
    tool.command = never;
    call_tool(&tool, large, sizeof(large), LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_string_equal(o.answer.data, "2\n");
    outcome_release(&o);
}

static void at_the_deadline_the_whole_group_is_killed(void **state)
{
    struct outcome o;
    int child = 0;

    (void)state;
    call_shell("trap '' TERM HUP INT; sleep 1000 & echo $! >&2; sleep 1000", "{}", 300, &o);
    assert_int_equal(o.r, TOOL_FAILED);
    assert_string_equal(o.failure.name, "TimeoutError");
    assert_true(o.us >= 300000 && o.us < 5000000);
    assert_int_equal(sscanf(o.failure.fields.data, "{\"stderr\":\"%d", &child), 1);
    assert_true(helper_wait_gone(child, 5000));
    assert_true(helper_has_no_children());
    outcome_release(&o);
}

static void a_deadline_that_has_passed_starts_nothing(void **state)
{
    const char *const command[] = {"sh", "-c", "touch /tmp/vial-test-must-not-be"};
    struct tool_exec tool = {.command = command, .command_count = 3};
    int cancelled = 1;
    struct outcome o;

    (void)state;
    (void)unlink("/tmp/vial-test-must-not-be");
    call_tool(&tool, "{}", 2, 0, NULL, &o);
    assert_string_equal(o.failure.name, "TimeoutError");
    outcome_release(&o);
    call_tool(&tool, "{}", 2, LONG_MS, &cancelled, &o);
    assert_string_equal(o.failure.name, "AbortError");
    outcome_release(&o);
    assert_int_equal(access("/tmp/vial-test-must-not-be", F_OK), -1);
}

static void *cancel_soon(void *user)
{
    helper_sleep_ms(100);
    __atomic_store_n((int *)user, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void a_cancelled_call_ends_at_once(void **state)
{
    const char *const command[] = {"sh", "-c", "trap '' TERM; sleep 1000"};
    struct tool_exec tool = {.command = command, .command_count = 3};
    int cancelled = 0;
    struct outcome o;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &cancelled), 0);
    call_tool(&tool, "{}", 2, LONG_MS, &cancelled, &o);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(o.r, TOOL_FAILED);
    assert_string_equal(o.failure.name, "AbortError");
    assert_true(o.us < 5000000);
    assert_true(helper_has_no_children());
    outcome_release(&o);
}

static void children_that_hold_the_pipe_are_not_waited_for(void **state)
{
    struct outcome o;
    int child = 0;

    (void)state;
    call_shell("sleep 1000 & echo $!", "{}", LONG_MS, &o); /* holds stdin, stdout and stderr */
    assert_int_equal(o.r, 0);
    assert_true(o.us < 10000000);
    assert_int_equal(sscanf(o.answer.data, "%d", &child), 1);
    assert_true(helper_wait_gone(child, 5000));
    outcome_release(&o);
    /* One that left the group lives on, and floods what nobody reads any more. */
    call_shell("setsid sh -c 'echo $$ >&2; sleep 0.2; exec timeout 20 yes' & sleep 0.1; echo 5",
        "{}", LONG_MS, &o);
    assert_int_equal(o.r, 0);
    assert_true(o.us < 10000000);
    assert_string_equal(o.answer.data, "5\n");
    outcome_release(&o);
}

static void a_program_has_only_its_own_environment_and_descriptors(void **state)
{
    const char *const command[] = {"/usr/bin/env"};
    const char *const listing[] = {"sh", "-c", "cd /proc/self/fd && echo * >&2; exit 1"};
    const char *const env[] = {"TOKEN=x y", "LANG=de_DE.UTF-8"};
    struct tool_exec tool = {.command = command, .command_count = 1};
    int leaked = open("/dev/null", O_RDONLY); /* not close-on-exec, as a careless host has it */
    const char *rest;
    struct outcome o;

    (void)state;
    assert_true(leaked >= 0);
    assert_int_equal(setenv("VIAL_TEST_SECRET", "1", 1), 0);
    assert_int_equal(setenv("HOME", "/root", 1), 0);
    tool.command =
        (const char *const[]){"sh", "-c", "/usr/bin/env | grep -v ^PWD= | sort >&2; exit 1"};
    tool.command_count = 3;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    rest = strstr(o.failure.fields.data, "\"stderr\":");
    assert_non_null(rest);
    assert_string_equal(
        rest, "\"stderr\":\"LANG=C.UTF-8\\nPATH=/usr/local/bin:/usr/bin:/bin\\n\"}");
    outcome_release(&o);
    tool.env = env;
    tool.env_count = 2;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    rest = strstr(o.failure.fields.data, "\"stderr\":");
    assert_non_null(rest);
    assert_string_equal(rest,
        "\"stderr\":\"LANG=de_DE.UTF-8\\nPATH=/usr/local/bin:/usr/bin:/bin\\nTOKEN=x y\\n\"}");
    outcome_release(&o);
    tool.command = listing;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    rest = strstr(o.failure.fields.data, "\"stderr\":\"0 1 2");
    assert_non_null(rest);
    assert_true(strlen(rest) <= strlen("\"stderr\":\"0 1 2 10 11\\n\"}"));
    outcome_release(&o);
    (void)close(leaked);
}

static void a_program_runs_in_its_directory_and_session(void **state)
{
    const char *const command[] = {
        "sh", "-c", "set -- $(cat /proc/self/stat); echo \"[\\\"$(pwd)\\\", $5, $6, $$]\""};
    struct tool_exec tool = {.command = command, .command_count = 3, .cwd = "/usr"};
    int group = 0, session = 0, self = 0;
    struct outcome o;

    (void)state;
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_int_equal(o.r, 0);
    assert_int_equal(sscanf(o.answer.data, "[\"/usr\", %d, %d, %d]", &group, &session, &self), 3);
    assert_int_equal(group, self);
    assert_int_equal(session, self);
    outcome_release(&o);
}

static void what_cannot_be_started_is_a_failure_that_names_no_path(void **state)
{
    static const char *const commands[][1] = {
        {"/no/such/program"}, {"/etc/passwd"}, {"no-such-program-anywhere"}};
    struct tool_exec tool = {.command_count = 1};
    const char *const shell[] = {"sh"};
    struct outcome o;
    unsigned before = helper_fds_count();
    size_t i;

    (void)state;
    for (i = 0; i < 3; i++) {
        tool.command = commands[i];
        call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
        assert_int_equal(o.r, TOOL_FAILED);
        assert_string_equal(o.failure.name, "ExecError");
        assert_non_null(strstr(o.failure.message, "cannot be started (E"));
        assert_null(strchr(o.failure.message, '/'));
        assert_non_null(strstr(o.failure.detail, commands[i][0]));
        outcome_release(&o);
    }
    tool.command = shell;
    tool.cwd = "/no/such/directory";
    call_tool(&tool, "{}", 2, LONG_MS, NULL, &o);
    assert_string_equal(o.failure.name, "ExecError");
    assert_non_null(strstr(o.failure.detail, "/no/such/directory"));
    outcome_release(&o);
    assert_int_equal(helper_fds_count(), before);
    assert_true(helper_has_no_children());
}

static int call_without_standard_descriptors(void *user)
{
    const char *const command[] = {"sh", "-c", "cat; echo lost >&2"};
    struct tool_exec tool = {.command = command, .command_count = 3};
    struct buf answer;
    struct tool_failure failure;
    int r;

    (void)user;
    (void)close(0);
    (void)close(1);
    (void)close(2);
    buf_init(&answer, 100);
    tool_failure_init(&failure);
    r = tool_exec_call(
        &tool, "[4]", 3, clock_now_us() + 10000000, 100, NULL, &answer, &failure, NULL);
    if (r != 0 || strcmp(answer.data, "[4]") != 0) {
        return CHILD_FAILED;
    }
    buf_release(&answer);
    tool_failure_release(&failure);
    return CHILD_FINE;
}

static void a_host_without_standard_descriptors_can_call_too(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(call_without_standard_descriptors, NULL), CHILD_FINE);
}

static int call_with_children_ignored(void *user)
{
    const char *const command[] = {"sh", "-c", "echo 1"};
    struct tool_exec tool = {.command = command, .command_count = 3};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct vial_error err = {0};
    struct tool_failure failure;
    struct buf answer;

    (void)user;
    (void)sigaction(SIGCHLD, &ignore, NULL);
    buf_init(&answer, 100);
    tool_failure_init(&failure);
    CHILD_CHECK(tool_exec_call(&tool, "1", 1, clock_now_us() + 10000000, 100, NULL, &answer,
                    &failure, &err) == VIAL_E_SYS);
    CHILD_CHECK(err.sys == ECHILD && strstr(err.text, "SIGCHLD") != NULL);
    buf_release(&answer);
    tool_failure_release(&failure);
    return CHILD_FINE;
}

static void a_host_that_ignores_its_children_is_told_so(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(call_with_children_ignored, NULL), CHILD_FINE);
}

enum { CALLERS = 8, CALLS = 12 };

static void *call_again_and_again(void *user)
{
    static const char *const scripts[] = {"cat", "exit 4", "sleep 1000", "kill -9 $$"};
    unsigned *bad = user;
    struct outcome o;
    unsigned i;
    int wanted;

    for (i = 0; i < CALLS; i++) {
        call_shell(scripts[i % 4], "[1]", i % 4 == 2 ? 50 : LONG_MS, &o);
        wanted = i % 4 == 0 ? 0 : TOOL_FAILED;
        *bad += o.r != wanted;
        outcome_release(&o);
    }
    return NULL;
}

static void many_calls_at_once_leave_nothing_and_take_no_child_of_others(void **state)
{
    unsigned before = helper_fds_count();
    unsigned bad[CALLERS] = {0};
    pthread_t threads[CALLERS];
    int status = 0;
    pid_t other;
    unsigned i;

    (void)state;
    other = fork(); /* a child of the host's own, which ends in the middle of it */
    assert_true(other >= 0);
    if (other == 0) {
        _exit(42);
    }
    for (i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, call_again_and_again, &bad[i]), 0);
    }
    for (i = 0; i < CALLERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(bad[i], 0);
    }
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    assert_true(helper_has_no_children());
    assert_int_equal(helper_fds_count(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_the_arguments_and_gives_the_answer),
        cmocka_unit_test(the_trace_is_a_variable_unless_the_tool_has_its_own),
        cmocka_unit_test(large_arguments_and_answers_pass_both_ways_at_once),
        cmocka_unit_test(an_exit_code_is_a_failure_with_the_end_of_stderr),
        cmocka_unit_test(of_a_long_stderr_the_end_is_kept),
        cmocka_unit_test(what_is_no_json_is_no_answer),
        cmocka_unit_test(too_much_output_ends_the_program),
        cmocka_unit_test(a_program_need_not_read_its_input),
        cmocka_unit_test(at_the_deadline_the_whole_group_is_killed),
        cmocka_unit_test(a_deadline_that_has_passed_starts_nothing),
        cmocka_unit_test(a_cancelled_call_ends_at_once),
        cmocka_unit_test(children_that_hold_the_pipe_are_not_waited_for),
        cmocka_unit_test(a_program_has_only_its_own_environment_and_descriptors),
        cmocka_unit_test(a_program_runs_in_its_directory_and_session),
        cmocka_unit_test(what_cannot_be_started_is_a_failure_that_names_no_path),
        cmocka_unit_test(a_host_without_standard_descriptors_can_call_too),
        cmocka_unit_test(a_host_that_ignores_its_children_is_told_so),
        cmocka_unit_test(many_calls_at_once_leave_nothing_and_take_no_child_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
