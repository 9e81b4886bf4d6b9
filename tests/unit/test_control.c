/* test_control.c - messages between host and template over a socket pair: whole, with descriptors,
 * with the sender's number, and nothing leaks when they are malformed. */
#include "wire/control.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

struct pair {
    int fd[2];
};

static int make_pair(void **state)
{
    static struct pair pair;
    int on = 1;

    *state = &pair;
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.fd) < 0 ||
                   setsockopt(pair.fd[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0
               ? -1
               : 0;
}

static int close_pair(void **state)
{
    struct pair *pair = *state;

    (void)close(pair->fd[0]);
    (void)close(pair->fd[1]);
    return 0;
}

static void a_message_is_whole_and_the_rest_of_it_zero(void **state)
{
    struct pair *pair = *state;
    struct control_failed failed = {.sys = EPERM, .step = "somewhere"};
    struct control_message out, in;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 99;
    size_t i;

    memset(&out, 0xff, sizeof(out));
    control_message_init(&out, CONTROL_FAILED, 7, &failed, sizeof(failed));
    assert_int_equal(control_send(pair->fd[0], &out, NULL, 0), 0);
    assert_int_equal(control_receive(pair->fd[1], &in, fds, CONTROL_FDS_MAX, &fds_count, NULL), 1);
    assert_int_equal(fds_count, 0);
    assert_int_equal(in.type, CONTROL_FAILED);
    assert_int_equal(in.cell, 7);
    assert_memory_equal(in.payload, &failed, sizeof(failed));
    for (i = sizeof(failed); i < sizeof(in.payload); i++) {
        assert_int_equal(in.payload[i], 0);
    }
}

static void descriptors_arrive_closed_on_exec(void **state)
{
    struct pair *pair = *state;
    struct control_message m;
    int pipes[2], fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    char byte = 0;

    assert_int_equal(pipe(pipes), 0);
    control_message_init(&m, CONTROL_FORK, 1, NULL, 0);
    assert_int_equal(control_send(pair->fd[0], &m, pipes, 2), 0);
    (void)close(pipes[0]);
    assert_int_equal(control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, NULL), 1);
    assert_int_equal(fds_count, 2);
    assert_int_equal(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(pipes[1], "x", 1), 1);
    assert_int_equal(read(fds[0], &byte, 1), 1); /* it is the other end of the same pipe */
    assert_int_equal(byte, 'x');
    (void)close(pipes[1]);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void as_many_descriptors_as_there_can_be(void **state)
{
    struct pair *pair = *state;
    int sent[CONTROL_FDS_MAX] = {0, 1, 2, 0, 1};
    int fds[CONTROL_FDS_MAX];
    struct control_message m;
    unsigned fds_count = 0;

    control_message_init(&m, CONTROL_FORK, 1, NULL, 0);
    assert_int_equal(control_send(pair->fd[0], &m, sent, CONTROL_FDS_MAX), 0);
    assert_int_equal(control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, NULL), 1);
    assert_int_equal(fds_count, CONTROL_FDS_MAX);
    while (fds_count > 0) {
        (void)close(fds[--fds_count]);
    }
}

static void the_sender_is_known(void **state)
{
    struct pair *pair = *state;
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    pid_t pid = 0;

    control_message_init(&m, CONTROL_UP, 0, NULL, 0);
    assert_int_equal(control_send(pair->fd[0], &m, NULL, 0), 0);
    assert_int_equal(control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, &pid), 1);
    assert_int_equal(pid, getpid());
}

static void silence_and_the_end_are_told_apart(void **state)
{
    struct pair *pair = *state;
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;

    assert_int_equal(control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, NULL), -1);
    assert_int_equal(errno, EAGAIN);
    (void)shutdown(pair->fd[0], SHUT_WR);
    assert_int_equal(control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, NULL), 0);
}

/* Sends bytes of any length with one descriptor. */
static void send_raw(int sock, size_t len)
{
    static char bytes[sizeof(struct control_message) + 64];
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } ancillary = {{0}};
    struct iovec iov = {.iov_base = bytes, .iov_len = len};
    struct msghdr msg = {.msg_iov = &iov,
        .msg_iovlen = 1,
        .msg_control = ancillary.bytes,
        .msg_controllen = sizeof(ancillary.bytes)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    int fd = 0;

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    assert_int_equal(sendmsg(sock, &msg, MSG_NOSIGNAL), len);
}

static void a_message_of_another_length_is_refused_without_a_leak(void **state)
{
    static const size_t lengths[] = {
        1, sizeof(struct control_message) - 1, sizeof(struct control_message) + 1};
    struct pair *pair = *state;
    struct control_message m;
    int fds[CONTROL_FDS_MAX];
    unsigned fds_count = 0;
    unsigned before = helper_fds_count();
    size_t i;

    for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        send_raw(pair->fd[0], lengths[i]);
        assert_int_equal(
            control_receive(pair->fd[1], &m, fds, CONTROL_FDS_MAX, &fds_count, NULL), -1);
        assert_int_equal(errno, EPROTO);
        assert_int_equal(fds_count, 0);
        assert_int_equal(helper_fds_count(), before);
    }
}

static void more_descriptors_than_asked_for_are_refused_without_a_leak(void **state)
{
    struct pair *pair = *state;
    int sent[3] = {0, 1, 2};
    int fds[CONTROL_FDS_MAX];
    struct control_message m;
    unsigned fds_count = 0;
    unsigned before = helper_fds_count();

    control_message_init(&m, CONTROL_FORK, 1, NULL, 0);
    assert_int_equal(control_send(pair->fd[0], &m, sent, 3), 0);
    assert_int_equal(control_receive(pair->fd[1], &m, fds, 2, &fds_count, NULL), -1);
    assert_int_equal(errno, EPROTO);
    assert_int_equal(helper_fds_count(), before);
}

static void writing_to_one_that_is_gone_is_an_error_and_no_signal(void **state)
{
    struct pair *pair = *state;
    struct control_message m;

    (void)close(pair->fd[1]);
    pair->fd[1] = -1;
    control_message_init(&m, CONTROL_FORK, 1, NULL, 0);
    assert_int_equal(control_send(pair->fd[0], &m, NULL, 0), -1);
    assert_int_equal(errno, EPIPE);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, make_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PAIR(a_message_is_whole_and_the_rest_of_it_zero),
        WITH_PAIR(descriptors_arrive_closed_on_exec),
        WITH_PAIR(as_many_descriptors_as_there_can_be),
        WITH_PAIR(the_sender_is_known),
        WITH_PAIR(silence_and_the_end_are_told_apart),
        WITH_PAIR(a_message_of_another_length_is_refused_without_a_leak),
        WITH_PAIR(more_descriptors_than_asked_for_are_refused_without_a_leak),
        WITH_PAIR(writing_to_one_that_is_gone_is_an_error_and_no_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
