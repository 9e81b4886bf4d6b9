/* test_fd.c - descriptors read and written whole, over pipes that are smaller than the data. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

enum { MUCH = 300000 }; /* several times what a pipe holds */

struct scratch {
    char path[64];
    int dirfd;
};

static int make_scratch(void **state)
{
    static struct scratch s;

    (void)memcpy(s.path, "/tmp/vial-test-fd-XXXXXX", 25);
    if (mkdtemp(s.path) == NULL) {
        return -1;
    }
    s.dirfd = open(s.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *state = &s;
    return s.dirfd < 0 ? -1 : 0;
}

static int remove_scratch(void **state)
{
    struct scratch *s = *state;

    (void)unlinkat(s->dirfd, "file", 0);
    (void)unlinkat(s->dirfd, "link", 0);
    fd_closep(&s->dirfd);
    return rmdir(s->path);
}

static void make_file(const struct scratch *s, const char *text)
{
    int fd = openat(s->dirfd, "file", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
    fd_closep(&fd);
}

static void closes_once_and_forgets(void **state)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int number = fd;

    (void)state;
    assert_true(fd >= 0);
    fd_closep(&fd);
    assert_int_equal(fd, -1);
    assert_int_equal(fcntl(number, F_GETFD), -1);
    fd_closep(&fd);
    assert_int_equal(fd, -1);
}

static void closing_keeps_the_errno_of_the_failure_before_it(void **state)
{
    int fd = 1000000; /* not open, so that close fails */

    (void)state;
    errno = EXDEV;
    fd_closep(&fd);
    assert_int_equal(errno, EXDEV);
}

static void writes_and_reads_more_than_a_pipe_holds(void **state)
{
    int ends[2];
    char *bytes = malloc(MUCH);
    ssize_t got;
    pid_t pid;
    int status = -1;
    size_t i;

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    for (i = 0; i < MUCH; i++) {
        bytes[i] = (char)(i % 251);
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(fd_write_all(ends[1], bytes, MUCH) == 0 ? 0 : 1);
    }
    fd_closep(&ends[1]);
    memset(bytes, 0, MUCH);
    got = fd_read_up_to(ends[0], bytes, MUCH);
    assert_int_equal(got, MUCH);
    for (i = 0; i < MUCH; i++) {
        assert_int_equal(bytes[i], (char)(i % 251));
    }
    assert_int_equal(fd_read_up_to(ends[0], bytes, 1), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    fd_closep(&ends[0]);
    free(bytes);
}

static void reading_stops_at_the_maximum(void **state)
{
    int ends[2];
    char bytes[8] = "-------";

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fd_write_all(ends[1], "abcdef", 6), 0);
    assert_int_equal(fd_read_up_to(ends[0], bytes, 4), 4);
    assert_string_equal(bytes, "abcd---");
    assert_int_equal(fd_read_up_to(ends[0], bytes, 0), 0);
    fd_closep(&ends[0]);
    fd_closep(&ends[1]);
}

static void failures_keep_their_errno(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    int ends[2];
    char byte;

    (void)state;
    assert_int_equal(fd_write_all(-1, "x", 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(fd_write_all(-1, "", 0), 0);
    assert_int_equal(fd_read_up_to(-1, &byte, 1), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(sigaction(SIGPIPE, &ignore, &before), 0);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fd_closep(&ends[0]);
    assert_int_equal(fd_write_all(ends[1], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    fd_closep(&ends[1]);
    assert_int_equal(sigaction(SIGPIPE, &before, NULL), 0);
}

/* The other side reads nothing, then everything, then is gone. */
static void sending_ends_with_its_time(void **state)
{
    static char much[MUCH * 4], found[MUCH * 4];
    struct iovec iov[2] = {{.iov_base = much, .iov_len = 10}, {.iov_base = much, .iov_len = 0}};
    uint64_t start = clock_now_us();
    int sv[2];
    pid_t child;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    iov[1].iov_len = sizeof(much);
    assert_int_equal(fd_send_until(sv[0], iov, 2, start + 50000), -1);
    assert_int_equal(errno, ETIMEDOUT);
    assert_in_range(clock_now_us() - start, 50000, 5000000);
    (void)close(sv[0]);
    (void)close(sv[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    memset(much, 7, sizeof(much));
    child = fork();
    if (child == 0) {
        iov[0] = (struct iovec){.iov_base = much, .iov_len = 11};
        iov[1] = (struct iovec){.iov_base = much + 11, .iov_len = sizeof(much) - 11};
        _exit(fd_send_until(sv[0], iov, 2, UINT64_MAX) == 0 ? 0 : 1);
    }
    (void)close(sv[0]);
    assert_int_equal(fd_read_up_to(sv[1], found, sizeof(found)), sizeof(found));
    assert_memory_equal(found, much, sizeof(much));
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(sv[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    (void)close(sv[1]);
    iov[0] = (struct iovec){.iov_base = much, .iov_len = 1};
    assert_int_equal(fd_send_until(sv[0], iov, 1, UINT64_MAX), -1);
    assert_int_equal(errno, EPIPE);
    (void)close(sv[0]);
}

static void puts_and_gets_a_text(void **state)
{
    struct scratch *s = *state;
    char text[16];

    make_file(s, "");
    assert_int_equal(fd_put_text(s->dirfd, "file", "max\n"), 0);
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "max");
}

static void only_the_last_newline_goes(void **state)
{
    struct scratch *s = *state;
    char text[16];

    make_file(s, "a\nb\n\n");
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "a\nb\n");
    make_file(s, "");
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "");
    make_file(s, "\n");
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "");
}

static void a_long_file_is_cut_to_the_room_there_is(void **state)
{
    struct scratch *s = *state;
    char text[5];

    make_file(s, "abcdefgh");
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "abcd");
    assert_int_equal(fd_get_text(s->dirfd, "file", text, 1), 0);
    assert_string_equal(text, "");
}

static void a_missing_file_and_a_link_are_refused(void **state)
{
    struct scratch *s = *state;
    char text[5];

    (void)unlinkat(s->dirfd, "file", 0);
    assert_int_equal(fd_put_text(s->dirfd, "file", "x"), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), -1);
    assert_int_equal(errno, ENOENT);
    make_file(s, "safe");
    assert_int_equal(symlinkat("file", s->dirfd, "link"), 0);
    assert_int_equal(fd_put_text(s->dirfd, "link", "x"), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(fd_get_text(s->dirfd, "file", text, sizeof(text)), 0);
    assert_string_equal(text, "safe");
}

static void a_refused_write_keeps_its_errno(void **state)
{
    (void)state;
    assert_int_equal(fd_put_text(AT_FDCWD, "/dev/full", "x"), -1);
    assert_int_equal(errno, ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sending_ends_with_its_time),
        cmocka_unit_test(closes_once_and_forgets),
        cmocka_unit_test(closing_keeps_the_errno_of_the_failure_before_it),
        cmocka_unit_test(writes_and_reads_more_than_a_pipe_holds),
        cmocka_unit_test(reading_stops_at_the_maximum),
        cmocka_unit_test(failures_keep_their_errno),
        cmocka_unit_test(puts_and_gets_a_text),
        cmocka_unit_test(only_the_last_newline_goes),
        cmocka_unit_test(a_long_file_is_cut_to_the_room_there_is),
        cmocka_unit_test(a_missing_file_and_a_link_are_refused),
        cmocka_unit_test(a_refused_write_keeps_its_errno),
    };

    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
