/* raw_family.c - raw attacks of a cell that stays: it makes processes nobody ordered, lies about
 * the branches that were, and reaches for the others of its family. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "cell/attack.h"
#include "raw.h"
#include "wire/field.h"
#include "wire/frame.h"

enum {
    CONTROL = 3,
    FLAGS = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD, /* of a branch */
    FDS_BEYOND = 4096, /* far above what a cell may open */
    RESTLESS_MB = 128, /* what a cell that rests takes; more than it may have */
};

static _Noreturn void stall(void)
{
    struct timespec long_time = {.tv_sec = 1000};

    for (;;) {
        (void)nanosleep(&long_time, NULL);
    }
}

/* A clone as the filter lets it through to the gate. A signal ends the wait there, and it waits
 * again. What comes out of it as a copy stays, to be found. */
static long clone_once(void)
{
    static pid_t number;
    long r;

    do {
        r = syscall(SYS_clone, FLAGS, NULL, NULL, &number, 0UL);
    } while (r == -1 && errno == EINTR);
    if (r == 0) {
        stall();
    }
    return r;
}

void raw_clone_unordered(uint64_t unused)
{
    (void)unused;
    raw_note("clone without an order", clone_once(), "EPERM");
}

void raw_clone_otherwise(uint64_t unused)
{
    static char stack[65536];
    static const unsigned long flags[] = {0, SIGCHLD, CLONE_PARENT | SIGCHLD,
        FLAGS & ~(unsigned long)CLONE_PARENT, FLAGS | CLONE_VM, FLAGS | CLONE_VM | CLONE_VFORK,
        FLAGS | CLONE_FILES, FLAGS | CLONE_FS, FLAGS | CLONE_PTRACE, FLAGS | CLONE_IO,
        FLAGS | CLONE_NEWUSER, FLAGS | CLONE_NEWPID, FLAGS | CLONE_NEWNS, FLAGS | CLONE_UNTRACED,
        FLAGS | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, FLAGS | 1UL << 32, FLAGS | 1UL << 63,
        (FLAGS & ~(unsigned long)SIGCHLD) | SIGKILL};
    size_t i;
    long r;

    (void)unused;
    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        r = syscall(SYS_clone, flags[i], stack + sizeof(stack), NULL, NULL, 0UL);
        if (r == 0) {
            _exit(0);
        }
        raw_note("clone with other flags", r, "EPERM");
    }
    RAW(fork, "EPERM", 0);
    RAW(vfork, "EPERM", 0);
    RAW_NUMBER(SYS_clone3, "clone3", "ENOSYS", RAW_NOWHERE, 88);
    RAW(unshare, "EPERM", CLONE_THREAD);
    RAW(setns, "EPERM", 0, 0);
}

/* The first process has number 1 in a pid namespace; brothers and sisters those behind it. */
void raw_reach_family(uint64_t unused)
{
    static const int signals[] = {0, SIGSTOP, SIGKILL, SIGUSR2};
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    size_t i;
    int pid;

    (void)unused;
    for (pid = -1; pid < 5; pid++) {
        for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
            RAW(kill, "EPERM", pid, signals[i]);
        }
        RAW(tkill, "EPERM", pid, SIGKILL);
        RAW(tgkill, "EPERM", pid, pid, SIGKILL);
        RAW(pidfd_open, "EPERM", pid, 0);
        RAW(prlimit64, "EPERM", pid, RLIMIT_CPU, &limit, 0);
        RAW(sched_setaffinity, "EPERM", pid, 8, RAW_NOWHERE);
        RAW(setpriority, "EPERM", 0, pid, 19);
        RAW(kcmp, "EPERM", pid, 2, 0, 3, 3);
        RAW(wait4, "EPERM", pid, 0, 1, 0);
        RAW(get_robust_list, "EPERM", pid, RAW_NOWHERE, RAW_NOWHERE);
    }
    RAW(setrlimit, "EPERM", RLIMIT_NPROC, &limit);
    RAW(getppid, "EPERM", 0);
    RAW(setresuid, "EPERM", 0, 0, 0);
}

/* No filter of its own, no listener of its own, no message with descriptors, no other dealings. */
void raw_member_calls(uint64_t unused)
{
    static const int options[] = {PR_SET_DUMPABLE, PR_SET_PTRACER, PR_SET_NAME, PR_SET_MM,
        PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_GET_DUMPABLE, PR_GET_PDEATHSIG, 0, -1};
    size_t i;

    (void)unused;
    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        RAW(prctl, "EPERM", options[i], SIGKILL, 0, 0, 0);
    }
    RAW(prctl, "EPERM", PR_SET_PDEATHSIG, 0, 0, 0, 0);
    RAW(seccomp, "EPERM", 1, 8, RAW_NOWHERE);
    RAW(seccomp, "EPERM", 1, 0, RAW_NOWHERE);
    RAW(sendmsg, "EPERM", CONTROL, RAW_NOWHERE, 0);
    RAW(sendto, "EPERM", CONTROL, "x", 1, 0, 0, 0);
    RAW(socketpair, "EPERM", AF_UNIX, SOCK_STREAM, 0, RAW_NOWHERE);
    RAW(dup, "EPERM", CONTROL);
    RAW(dup3, "EPERM", CONTROL, 9, 0);
    RAW(fcntl, "EPERM", CONTROL, 0, 9);
    RAW(ioctl, "EPERM", CONTROL, 0xc0502100, RAW_NOWHERE);
    RAW(close_range, "EPERM", 3, 9, 0);
    RAW(openat, "EPERM", -100, "/", 0, 0);
}

static void map(const char *what, int flags, const char *want)
{
    /* By number: in a cell for Python the function of this name is ours. */
    long p = syscall(SYS_mmap, NULL, 65536, PROT_READ | PROT_WRITE, flags, -1, 0);

    raw_note(what, p == -1 ? -1 : 0, want);
}

/* Memory that two copies would both have is a way from one to the other. */
void raw_keep_shared(uint64_t unused)
{
    (void)unused;
    map("memory of its own", MAP_PRIVATE | MAP_ANONYMOUS, "ok");
    map("memory that is shared", MAP_SHARED | MAP_ANONYMOUS, "EPERM");
    map("and checked", MAP_SHARED_VALIDATE | MAP_ANONYMOUS, "EPERM");
    RAW(shmget, "EPERM", 0, 4096, 0666);
    RAW(memfd_create, "EPERM", "x", 0);
    RAW(pipe2, "EPERM", RAW_NOWHERE, 0);
    RAW(eventfd2, "EPERM", 0, 0);
}

void raw_control_socket(uint64_t how)
{
    char byte;
    struct iovec iov = {.iov_base = &byte, .iov_len = 1};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    int fd;

    switch (how) {
    case 0: /* gone */
        (void)close(CONTROL);
        stall();
    case 1: /* another file, which takes everything */
        (void)syscall(SYS_dup2, 0, CONTROL);
        break;
    default: /* as often as it can; nothing comes of it */
        for (fd = CONTROL + 1; fd < FDS_BEYOND && syscall(SYS_dup2, CONTROL, fd) >= 0; fd++) {
        }
        raw_note("a copy of the socket beyond the limit", syscall(SYS_dup2, CONTROL, fd), "EBADF");
        raw_note("a message that is not there", syscall(SYS_recvmsg, CONTROL, &msg, MSG_DONTWAIT),
            "EAGAIN");
        raw_note("a message to nowhere", syscall(SYS_recvmsg, CONTROL, RAW_NOWHERE, MSG_DONTWAIT),
            "EFAULT");
        raw_note("a message of no socket", syscall(SYS_recvmsg, 0, &msg, 0), "ENOTSOCK");
        break;
    }
}

/* ---- lies on the wire ---- */

static void say(int fd, uint8_t type, const void *payload, uint32_t len)
{
    struct frame_header header = {.type = type, .len = len};
    char frame[sizeof(header) + 64];

    memcpy(frame, &header, sizeof(header));
    if (len > 0) {
        memcpy(frame + sizeof(header), payload, len);
    }
    if (write(fd, frame, sizeof(header) + len) != (ssize_t)(sizeof(header) + len)) {
        _exit(1);
    }
}

static char row[64];
static uint32_t row_len;

static void add_row(uint8_t tag, const void *value, uint32_t len)
{
    row[row_len] = (char)tag;
    memcpy(row + row_len + 1, &len, sizeof(len));
    memcpy(row + row_len + FIELD_HEAD_BYTES, value, len);
    row_len += FIELD_HEAD_BYTES + len;
}

/* A result of this outcome with one more field. */
static void say_result(uint32_t outcome, uint8_t tag, const void *value, uint32_t len)
{
    row_len = 0;
    add_row(FIELD_OUTCOME, &outcome, sizeof(outcome));
    add_row(tag, value, len);
    say(CONTROL, FRAME_RESULT, row, row_len);
}

/* Words of a member that is not running anything, from one that is. */
void raw_out_of_turn(uint64_t type)
{
    uint32_t none[2] = {0, EAGAIN};

    say(CONTROL, (uint8_t)type, none, type == FRAME_UNBORN ? sizeof(none) : 0);
    stall();
}

void raw_session_result(uint64_t how)
{
    static const uint64_t files[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t one = 1;

    switch (how) {
    case 0: /* it ends, though it lives on */
        say_result(OUTCOME_OK, FIELD_ENDED, &one, sizeof(one));
        break;
    case 1: /* more files than there are numbers */
        say_result(OUTCOME_OK, FIELD_SESSION_FILES, files, sizeof(files));
        break;
    case 2: /* half of that */
        say_result(OUTCOME_OK, FIELD_SESSION_FILES, files, sizeof(files[0]));
        break;
    default: /* it was stopped, which nobody has asked for */
        say_result(OUTCOME_INTERRUPTED, FIELD_ERROR_LINE, &one, sizeof(one));
        break;
    }
    stall();
}

/* A result, and then ears shut: the next program is for somebody who does not read it. */
void raw_deaf_member(uint64_t unused)
{
    static const uint64_t files[2] = {0, 0};

    (void)unused;
    say_result(OUTCOME_OK, FIELD_SESSION_FILES, files, sizeof(files));
    stall();
}

/* A result, and then it goes on by itself: with the processor, or with memory. */
void raw_restless(uint64_t how)
{
    static const uint64_t files[2] = {0, 0};

    (void)signal(SIGXCPU, SIG_IGN);
    say_result(OUTCOME_OK, FIELD_SESSION_FILES, files, sizeof(files));
    for (;;) {
        if (how == 1) {
            raw_touch(RESTLESS_MB);
            stall();
        }
    }
}

/* Calls of tools with numbers that are none. */
void raw_call_numbers(uint64_t how)
{
    struct call_head head = {.id = 1, .tool = 0, .kind = CALL_JSON};
    char payload[sizeof(head) + 2];
    uint32_t len = sizeof(payload);

    switch (how) {
    case 0:
        head.tool = 1; /* there is one */
        break;
    case 1:
        head.tool = UINT32_MAX;
        break;
    case 2:
        head.id = 0;
        break;
    case 3:
        head.kind = 99;
        break;
    case 4:
        head.zero = 1;
        break;
    case 5: /* a size that is not all there */
        head.kind = CALL_LARGE;
        break;
    case 6:
        len = sizeof(head) - 1;
        break;
    default: /* a good one, and the same number again */
        memcpy(payload, &head, sizeof(head));
        memcpy(payload + sizeof(head), "{}", 2);
        say(CONTROL, FRAME_CALL, payload, len);
        break;
    }
    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), "{}", 2);
    say(CONTROL, FRAME_CALL, payload, len);
    stall();
}

/* Waits for orders to branch: what happens is in attack_on_branch. */
void raw_wait_for_order(uint64_t unused)
{
    (void)unused;
    raw_note_yes("it waits for the order", 1);
}

/* ---- lies about branches ---- */

static void say_unborn(uint32_t cell)
{
    uint32_t refusal[2] = {cell, EAGAIN};

    say(CONTROL, FRAME_UNBORN, refusal, sizeof(refusal));
}

static int copy(void)
{
    static pid_t number;

    return (int)syscall(SYS_clone, FLAGS, NULL, NULL, &number, 0UL);
}

/* Onto the account of the branch. */
static void join(const int *fds, unsigned count)
{
    unsigned i;

    for (i = 1; i < count; i++) {
        if (write(fds[i], "0", 1) != 1) {
            _exit(1);
        }
    }
}

/* In the copy: as it should be, but for its account. 2: go on as a branch. */
static int be_born(const int *fds, unsigned count, int joins)
{
    if (joins) {
        join(fds, count);
    }
    (void)syscall(SYS_dup2, fds[0], CONTROL);
    (void)close(fds[0]);
    say(CONTROL, FRAME_BORN, NULL, 0);
    return 2;
}

int attack_on_branch(uint32_t cell, const int *fds, unsigned count)
{
    static const uint32_t one[2] = {1, 1};
    const struct timespec later = {.tv_sec = 1, .tv_nsec = 500 * 1000 * 1000};
    int pid;

    switch (attack_branch_number()) {
    case BRANCH_AS_IT_SHOULD:
        return 0;
    case BRANCH_SILENT:
        stall();
    case BRANCH_REFUSE_AND_CLONE: /* the order is given up; is the consent still good? */
        say_unborn(cell);
        (void)nanosleep(&later, NULL); /* when nobody looks any more */
        (void)clone_once();
        stall();
    case BRANCH_CLONE_AND_REFUSE: /* a copy that no cell stands for */
        (void)clone_once();
        say_unborn(cell);
        return 1;
    case BRANCH_SPEAK_FOR_IT: /* we are our own branch, and the copy is nobody */
        (void)clone_once();
        join(fds, count);
        say(fds[0], FRAME_BORN, NULL, 0);
        return 1;
    case BRANCH_WRONG_NUMBER:
        say_unborn(cell + 1);
        say_unborn(UINT32_MAX);
        say_unborn(0);
        return 1;
    case BRANCH_NOT_JOINING: /* on the account of the one it is a copy of */
        pid = copy();
        return pid == 0 ? be_born(fds, count, 0) : 1;
    default: /* a copy that talks when it is not asked */
        pid = copy();
        if (pid == 0) {
            (void)be_born(fds, count, 1);
            say(CONTROL, FRAME_READY, NULL, 0);
            say(CONTROL, FRAME_RESULT, one, sizeof(one));
            stall();
        }
        return 1;
    }
}
