/* test_fork.c - starting programs and copying this process: what the child has, and what it has
 * not. */
#include "jail/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

/* Two connected descriptors with numbers that fork_spawn takes. */
static void high_pair(int fds[2])
{
    int low[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low), 0);
    fds[0] = fcntl(low[0], F_DUPFD_CLOEXEC, 20);
    fds[1] = fcntl(low[1], F_DUPFD_CLOEXEC, 20);
    (void)close(low[0]);
    (void)close(low[1]);
    assert_true(fds[0] >= 20 && fds[1] >= 20);
}

/* Runs a shell command as fork_spawn would run a cell program; what it wrote to descriptor 3. */
static int spawn_shell(const char *command, char *answer, size_t size)
{
    const char *const argv[] = {"sh", "-c", command, NULL};
    const char *const envp[] = {"ONLY=this", NULL};
    int control[2], host[2], status = -1;
    pid_t pid = 0;
    ssize_t n;

    high_pair(control);
    high_pair(host);
    assert_int_equal(fork_spawn("/bin/sh", argv, envp, control[1], host[1], -1, &pid), 0);
    (void)close(control[1]);
    n = fd_read_up_to(control[0], answer, size - 1);
    assert_true(n >= 0);
    answer[n] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(control[0]);
    (void)close(host[0]);
    (void)close(host[1]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_program_gets_its_two_descriptors_and_no_others(void **state)
{
    int leaked =
        open("/dev/null", O_RDONLY); /* not close-on-exec, as a careless host would have it */
    char answer[256];

    (void)state;
    assert_true(leaked >= 0);
    assert_int_equal(spawn_shell("cd /proc/self/fd && echo * >&3", answer, sizeof(answer)), 0);
    (void)close(leaked);
    assert_int_equal(strncmp(answer, "0 1 2 3 4", 9), 0); /* and what the shell opens to look */
    assert_true(strlen(answer) <= strlen("0 1 2 3 4 10 11\n"));
    assert_int_equal(spawn_shell("readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 >&3",
                         answer, sizeof(answer)),
        0);
    assert_non_null(strstr(answer, "/dev/null"));
}

static void a_program_finds_its_directory_for_the_linker(void **state)
{
    const char *const argv[] = {
        "sh", "-c", "cd /proc/self/fd && echo * >&3 && readlink 5 >&3", NULL};
    const char *const envp[] = {NULL};
    int directory = open("/usr", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int control[2], host[2], high;
    char answer[256];
    pid_t pid = 0;
    ssize_t n;

    (void)state;
    high = fcntl(directory, F_DUPFD_CLOEXEC, 20);
    (void)close(directory);
    high_pair(control);
    high_pair(host);
    assert_int_equal(
        fork_spawn("/bin/sh", argv, envp, control[1], host[1], FORK_STANDINS_FD, &pid), EBADF);
    assert_int_equal(fork_spawn("/bin/sh", argv, envp, control[1], host[1], high, &pid), 0);
    (void)close(control[1]);
    n = fd_read_up_to(control[0], answer, sizeof(answer) - 1);
    assert_true(n > 0);
    answer[n] = '\0';
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(strncmp(answer, "0 1 2 3 4 5", 11), 0);
    assert_non_null(strstr(answer, "\n/usr\n"));
    (void)close(control[0]);
    (void)close(host[0]);
    (void)close(host[1]);
    (void)close(high);
}

static void a_program_gets_only_the_given_environment(void **state)
{
    char answer[1024];

    (void)state;
    assert_int_equal(setenv("VIAL_TEST_SECRET", "1", 1), 0);
    assert_int_equal(
        spawn_shell("/usr/bin/env | /bin/grep -v ^PWD= >&3", answer, sizeof(answer)), 0);
    assert_non_null(strstr(answer, "ONLY=this"));
    assert_null(strstr(answer, "SECRET"));
}

static void a_program_gets_no_blocked_and_no_ignored_signal(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    unsigned long long blocked, ignored;
    const char *rest;
    sigset_t all, mask;
    char answer[1024];

    (void)state;
    (void)sigfillset(&all);
    (void)sigaction(SIGUSR1, &ignore, &before);
    (void)sigprocmask(SIG_SETMASK, &all, &mask);
    assert_int_equal(
        spawn_shell("/bin/grep -E '^Sig(Blk|Ign)' /proc/self/status >&3", answer, sizeof(answer)),
        0);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    (void)sigaction(SIGUSR1, &before, NULL);
    rest = strstr(answer, "SigBlk:");
    assert_non_null(rest);
    blocked = strtoull(rest + 7, NULL, 16);
    rest = strstr(answer, "SigIgn:");
    assert_non_null(rest);
    ignored = strtoull(rest + 7, NULL, 16);
    assert_true(blocked == 0);
    /* libc keeps two signals to itself and has them ignored in what it spawns: 32 and 33. */
    assert_true((ignored & ~(3ULL << 31)) == 0);
}

static void a_program_that_is_not_there_is_an_errno(void **state)
{
    const char *const argv[] = {"x", NULL};
    const char *const envp[] = {NULL};
    int control[2], host[2];
    unsigned before;
    pid_t pid = 0;

    (void)state;
    high_pair(control);
    high_pair(host);
    before = helper_fds_count();
    assert_int_equal(
        fork_spawn("/no/such/program", argv, envp, control[1], host[1], -1, &pid), ENOENT);
    assert_int_equal(fork_spawn("/etc/passwd", argv, envp, control[1], host[1], -1, &pid), EACCES);
    assert_int_equal(fork_spawn("/bin/true", argv, envp, 3, host[1], -1, &pid), EBADF);
    assert_int_equal(fork_spawn("/bin/true", argv, envp, control[1], 4, -1, &pid), EBADF);
    assert_int_equal(helper_fds_count(), before);
    assert_true(helper_has_no_children());
    (void)close(control[0]);
    (void)close(control[1]);
    (void)close(host[0]);
    (void)close(host[1]);
}

static void a_tool_needs_descriptors_that_are_not_its_own_yet(void **state)
{
    static const int low[][3] = {{0, 10, 10}, {10, 1, 10}, {10, 10, 2}, {-1, 10, 10}};
    const char *const argv[] = {"true", NULL};
    const char *const envp[] = {NULL};
    pid_t pid = 0;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(low) / sizeof(low[0]); i++) {
        assert_int_equal(fork_spawn_tool("/bin/true", argv, envp, -1, low[i], &pid), EBADF);
    }
    assert_true(helper_has_no_children());
}

static void a_tool_gets_three_descriptors_a_directory_and_a_session(void **state)
{
    const char *const argv[] = {"sh", "-c", "pwd; readlink /proc/self/fd/2 >&2; kill -0 -$$", NULL};
    const char *const envp[] = {NULL};
    int out[2], cwd = open("/usr", O_PATH | O_CLOEXEC), status = -1;
    int low = open("/dev/null", O_RDWR | O_CLOEXEC), null = fcntl(low, F_DUPFD_CLOEXEC, 20);
    char answer[200];
    pid_t pid = 0;
    ssize_t n;

    (void)state;
    high_pair(out);
    assert_int_equal(
        fork_spawn_tool("/bin/sh", argv, envp, cwd, (const int[]){null, out[1], out[1]}, &pid), 0);
    (void)close(out[1]);
    n = fd_read_up_to(out[0], answer, sizeof(answer) - 1);
    assert_true(n > 0);
    answer[n] = '\0';
    assert_int_equal(strncmp(answer, "/usr\nsocket:", 12), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0); /* its group has its number */
    (void)close(out[0]);
    (void)close(low);
    (void)close(null);
    (void)close(cwd);
}

static int clone_and_look(void *user)
{
    int pidfd = -1, status = 0;
    siginfo_t info;
    pid_t pid;

    (void)user;
    CHILD_CHECK(fork_prepare() == 0);
    pid = fork_clone(0, &pidfd);
    if (pid == 0) {
        /* libc's idea of the thread number is the kernel's, or abort would signal somebody else. */
        _exit(gettid() == (pid_t)syscall(SYS_gettid) ? 5 : 6);
    }
    CHILD_CHECK(pid > 0 && pidfd >= 0);
    CHILD_CHECK(fcntl(pidfd, F_GETFD) == FD_CLOEXEC);
    CHILD_CHECK(fork_pid_of(pidfd) == pid);
    CHILD_CHECK(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0);
    status = info.si_status;
    CHILD_CHECK(status == 5);
    CHILD_CHECK(fork_pid_of(pidfd) == 0); /* it is gone */
    return CHILD_FINE;
}

static void a_copy_knows_its_own_number(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(clone_and_look, NULL), CHILD_FINE);
}

static int clone_into_namespaces(void *user)
{
    int pidfd = -1;
    siginfo_t info;
    pid_t pid;

    (void)user;
    CHILD_CHECK(fork_prepare() == 0);
    pid = fork_clone(CLONE_NEWUSER | CLONE_NEWPID, &pidfd);
    if (pid < 0) {
        return CHILD_SKIPPED;
    }
    if (pid == 0) {
        _exit(syscall(SYS_getpid) == 1 && gettid() == 1 ? 5 : 6);
    }
    CHILD_CHECK(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) == 0);
    CHILD_CHECK(info.si_status == 5);
    return CHILD_FINE;
}

static void a_copy_in_a_namespace_is_number_one(void **state)
{
    int status = helper_in_child(clone_into_namespaces, NULL);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel gives us no user namespace");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

static void what_is_no_process_descriptor_has_no_number(void **state)
{
    (void)state;
    assert_int_equal(fork_pid_of(0), 0);
    assert_int_equal(fork_pid_of(-1), 0);
    assert_int_equal(fork_pid_of(9999), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_gets_its_two_descriptors_and_no_others),
        cmocka_unit_test(a_program_finds_its_directory_for_the_linker),
        cmocka_unit_test(a_program_gets_only_the_given_environment),
        cmocka_unit_test(a_program_gets_no_blocked_and_no_ignored_signal),
        cmocka_unit_test(a_program_that_is_not_there_is_an_errno),
        cmocka_unit_test(a_tool_needs_descriptors_that_are_not_its_own_yet),
        cmocka_unit_test(a_tool_gets_three_descriptors_a_directory_and_a_session),
        cmocka_unit_test(a_copy_knows_its_own_number),
        cmocka_unit_test(a_copy_in_a_namespace_is_number_one),
        cmocka_unit_test(what_is_no_process_descriptor_has_no_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
