/* test_sigpipe.c - writing into a pipe that nobody reads, without a word of it to the program. */
#include "base/sigpipe.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

static int broken_write(void)
{
    int fds[2];
    ssize_t n;

    assert_int_equal(pipe(fds), 0);
    (void)close(fds[0]);
    n = write(fds[1], "x", 1);
    (void)close(fds[1]);
    return n < 0 ? errno : 0;
}

static int is_pending(void)
{
    sigset_t pending;

    (void)sigpending(&pending);
    return sigismember(&pending, SIGPIPE);
}

static int is_blocked(void)
{
    sigset_t blocked;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return sigismember(&blocked, SIGPIPE);
}

static void a_broken_pipe_is_an_errno_and_leaves_no_signal(void **state)
{
    struct sigpipe held;

    (void)state;
    sigpipe_hold(&held);
    assert_int_equal(broken_write(), EPIPE); /* which ends this program when it is not held */
    assert_true(is_pending());
    errno = EXDEV;
    sigpipe_release(&held);
    assert_int_equal(errno, EXDEV);
    assert_false(is_pending());
    assert_false(is_blocked());
}

static void nothing_happens_when_nothing_is_written(void **state)
{
    struct sigpipe held;

    (void)state;
    sigpipe_hold(&held);
    sigpipe_release(&held);
    assert_false(is_pending());
    assert_false(is_blocked());
}

static void a_signal_that_was_there_before_is_left_to_the_program(void **state)
{
    struct sigpipe held, outer;

    (void)state;
    sigpipe_hold(&outer);
    (void)pthread_kill(pthread_self(), SIGPIPE);
    assert_true(is_pending());
    sigpipe_hold(&held);
    assert_int_equal(broken_write(), EPIPE);
    sigpipe_release(&held);
    assert_true(is_pending());
    assert_true(is_blocked());
    sigpipe_release(&outer);
    assert_false(is_pending());
    assert_false(is_blocked());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_pipe_is_an_errno_and_leaves_no_signal),
        cmocka_unit_test(nothing_happens_when_nothing_is_written),
        cmocka_unit_test(a_signal_that_was_there_before_is_left_to_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
