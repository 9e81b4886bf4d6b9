/* test_filter.c - the generated system call filters against the table they were made from.
 *
 * A small interpreter runs the BPF programs for every call number and many arguments, and the
 * answers are compared with a plain reading of filter_table.inc. Then the real kernel gets a few of
 * them. */
#include "jail/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#else
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum {
    NUMBERS = 1024,
    NUMBER_LAST = 450, /* above it a call is newer than the table, see tools/gen-filter.c */
    VALUES_MAX = 24,
    REFUSED = SECCOMP_RET_ERRNO | EPERM,
    MISSING = SECCOMP_RET_ERRNO | ENOSYS,
};

/* ---- the table, read plainly ---- */

enum who { CELL = 1, SETUP = 2, ORIGIN = 4, INIT = 8, THREADS = 16 };
#define BRANCH_FLAGS (CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)
#define THREAD_FLAGS                                                                               \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |            \
        CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
enum kind { UNLISTED, ALLOW, IN, CLEAR, NOSYS, KILL };

struct rule {
    enum kind kind;
    unsigned who;
    unsigned arg, arg2, values_count;
    uint32_t values[VALUES_MAX];
};

static struct rule rules[NUMBERS];
static struct rule only[NUMBERS];

#define COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define CALL(name, w, reason) rules[SYS_##name] = (struct rule){.kind = ALLOW, .who = (w)};
#define CALL_IN(name, w, a, reason, ...)                                                           \
    rules[SYS_##name] = (struct rule){.kind = IN,                                                  \
        .who = (w),                                                                                \
        .arg = (a),                                                                                \
        .values = {__VA_ARGS__},                                                                   \
        .values_count = COUNT(__VA_ARGS__)};
#define CALL_CLEAR(name, w, a, bits, reason)                                                       \
    rules[SYS_##name] = (struct rule){                                                             \
        .kind = CLEAR, .who = (w), .arg = (a), .values = {(bits)}, .values_count = 1};
#define CALL_CLEAR2(name, w, a, bits, a2, bits2, reason)                                           \
    rules[SYS_##name] = (struct rule){.kind = CLEAR,                                               \
        .who = (w),                                                                                \
        .arg = (a),                                                                                \
        .arg2 = (a2),                                                                              \
        .values = {(bits), (bits2)},                                                               \
        .values_count = 2};
#define CALL_ONLY(name, w, a, reason, ...)                                                         \
    only[SYS_##name] = (struct rule){.kind = IN,                                                   \
        .who = (w),                                                                                \
        .arg = (a),                                                                                \
        .values = {__VA_ARGS__},                                                                   \
        .values_count = COUNT(__VA_ARGS__)};
#define CALL_NOSYS(name, reason) rules[SYS_##name] = (struct rule){.kind = NOSYS};
#define CALL_KILL(name, reason) rules[SYS_##name] = (struct rule){.kind = KILL};

static int read_table(void **state)
{
    (void)state;
#include "jail/filter_table.inc"
    return 0;
}

static uint32_t naive_template(const struct seccomp_data *data)
{
    const struct rule *rule;
    uint64_t arg;
    unsigned i;

    if (data->arch != THIS_ARCH) {
        return SECCOMP_RET_KILL_PROCESS;
    }
    if ((uint32_t)data->nr > NUMBER_LAST) {
        return MISSING;
    }
    rule = &rules[data->nr];
    arg = data->args[rule->arg];
    switch (rule->kind) {
    case ALLOW:
        return SECCOMP_RET_ALLOW;
    case IN:
        for (i = 0; i < rule->values_count; i++) {
            if (arg == rule->values[i]) {
                return SECCOMP_RET_ALLOW;
            }
        }
        return REFUSED;
    case CLEAR:
        if (rule->values_count > 1 && (data->args[rule->arg2] > UINT32_MAX ||
                                          (data->args[rule->arg2] & rule->values[1]) != 0)) {
            return REFUSED;
        }
        return arg <= UINT32_MAX && (arg & rule->values[0]) == 0 ? SECCOMP_RET_ALLOW : REFUSED;
    case NOSYS:
        return MISSING;
    case KILL:
        return SECCOMP_RET_KILL_PROCESS;
    case UNLISTED:
        return REFUSED;
    }
    return REFUSED;
}

/* What a cell of a profile gets: the template's answer, but nothing that only others may do. */
static uint32_t naive_profile(const struct seccomp_data *data, unsigned who)
{
    const struct rule *own = (uint32_t)data->nr <= NUMBER_LAST ? &only[data->nr] : NULL;
    unsigned i;

    if (data->arch != THIS_ARCH) {
        return SECCOMP_RET_KILL_PROCESS;
    }
    if (own != NULL && (own->who & who) != 0) {
        for (i = 0; i < own->values_count; i++) {
            if (data->args[own->arg] == own->values[i]) {
                return naive_template(data);
            }
        }
        return REFUSED;
    }
    if ((uint32_t)data->nr <= NUMBER_LAST && rules[data->nr].who != 0 &&
        (rules[data->nr].who & who) == 0) {
        return data->nr == SYS_clone3 ? MISSING
                                      : REFUSED; /* libc falls back from a missing clone3 */
    }
    return naive_template(data);
}

/* ---- the programs, interpreted ---- */

static uint32_t interpret(const struct sock_fprog *program, const struct seccomp_data *data)
{
    const struct sock_filter *s;
    uint32_t a = 0, loaded = 0;
    unsigned at = 0;

    while (at < program->len) {
        s = &program->filter[at++];
        switch (s->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            assert_true(s->k % 4 == 0 && s->k + 4 <= sizeof(*data));
            memcpy(&a, (const char *)data + s->k, sizeof(a));
            loaded = s->k;
            break;
        case BPF_JMP | BPF_JA:
            at += s->k;
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            at += a == s->k ? s->jt : s->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            at += a >= s->k ? s->jt : s->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            assert_true(loaded >= offsetof(struct seccomp_data, args)); /* see every_number */
            at += (a & s->k) != 0 ? s->jt : s->jf;
            break;
        case BPF_RET | BPF_K:
            return s->k;
        default:
            fail_msg("an instruction that the interpreter does not know: %#x", s->code);
        }
    }
    fail_msg("the program has no end");
    return 0;
}

/* As the kernel combines them: the strictest answer, of equal ones the one loaded last. */
static uint32_t combined(const struct sock_fprog *last, const struct seccomp_data *data)
{
    uint32_t own = interpret(last, data);
    uint32_t inherited = interpret(&filter_template, data);

    return (int32_t)(inherited & SECCOMP_RET_ACTION_FULL) < (int32_t)(own & SECCOMP_RET_ACTION_FULL)
               ? inherited
               : own;
}

static void compare(const struct seccomp_data *data)
{
    const struct {
        const char *name;
        uint32_t got, wanted;
    } rows[] = {
        {"template", interpret(&filter_template, data), naive_template(data)},
        {"compute", combined(&filter_compute, data), naive_profile(data, CELL)},
        {"threads", combined(&filter_threads, data), naive_profile(data, CELL | THREADS)},
        {"origin", combined(&filter_origin, data), naive_profile(data, CELL | ORIGIN)},
        {"init", combined(&filter_init, data), naive_profile(data, INIT)},
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].got != rows[i].wanted) {
            fail_msg("%s: call %d with %#llx, %#llx, %#llx gives %#x instead of %#x", rows[i].name,
                data->nr, (unsigned long long)data->args[0], (unsigned long long)data->args[1],
                (unsigned long long)data->args[2], rows[i].got, rows[i].wanted);
        }
    }
}

/* ---- the tests ---- */

static void every_number_with_plain_arguments(void **state)
{
    static const uint64_t values[] = {0, 1, 2, 3, 4, 5, 7, 8, 64, 255, 256, 0x10000000, 0x7fffffff,
        0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff, UINT64_MAX};
    struct seccomp_data data = {.arch = THIS_ARCH};
    size_t i, j;

    (void)state;
    for (data.nr = 0; data.nr < NUMBERS; data.nr++) {
        for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
            for (j = 0; j < 6; j++) {
                data.args[j] = values[i];
            }
            compare(&data);
        }
    }
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return x < y ? -1 : x > y;
}

/* The programs compare a number with constants and do nothing else with it, so between two of these
 * all numbers get the same answer. The constants and their neighbours stand for all that there are,
 * and likewise for processors. */
static void every_number_there_is(void **state)
{
    static const struct sock_fprog *const programs[] = {
        &filter_template, &filter_compute, &filter_threads, &filter_origin, &filter_init};
    static const uint32_t arches[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_AARCH64, AUDIT_ARCH_I386,
        AUDIT_ARCH_ARM, THIS_ARCH - 1, THIS_ARCH + 1, 0, UINT32_MAX};
    static const uint64_t args[] = {0, 1, UINT32_MAX, UINT64_MAX};
    static uint32_t numbers[5 * 3 * 4096 + 2];
    size_t count = 0, i, j, k, n;
    unsigned at, tried = 0;

    (void)state;
    for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        for (at = 0; at < programs[i]->len; at++) {
            for (n = 0; n < 3; n++) {
                numbers[count++] = programs[i]->filter[at].k + (uint32_t)n - 1;
            }
        }
    }
    numbers[count++] = 0;
    numbers[count++] = UINT32_MAX;
    qsort(numbers, count, sizeof(numbers[0]), compare_u32);
    for (i = 0; i < count; i++) {
        struct seccomp_data data = {.nr = (int)numbers[i]};

        if (i > 0 && numbers[i] == numbers[i - 1]) {
            continue;
        }
        tried++;
        for (j = 0; j < sizeof(arches) / sizeof(arches[0]); j++) {
            data.arch = arches[j];
            for (k = 0; k < sizeof(args) / sizeof(args[0]); k++) {
                for (n = 0; n < 6; n++) {
                    data.args[n] = args[k];
                }
                compare(&data);
            }
        }
    }
    assert_in_range(tried, 100, 20000);
}

static void every_listed_value_and_its_neighbours(void **state)
{
    struct seccomp_data data = {.arch = THIS_ARCH};
    unsigned nr, i, checked = 0;

    (void)state;
    for (nr = 0; nr <= NUMBER_LAST; nr++) {
        const struct rule *rule = &rules[nr];

        for (i = 0; i < rule->values_count; i++) {
            const uint64_t v = rule->values[i];
            const uint64_t tries[] = {
                v, v + 1, v - 1, v | 0x100000000, v << 32, v | 0x80000000, ~v};
            size_t t;

            data.nr = (int)nr;
            for (t = 0; t < sizeof(tries) / sizeof(tries[0]); t++) {
                memset(data.args, 0xff, sizeof(data.args)); /* no other argument has a say */
                data.args[rule->arg] = tries[t];
                compare(&data);
                if (rule->kind == CLEAR && rule->values_count > 1) { /* but where two have */
                    data.args[rule->arg] = i == 0 ? tries[t] : 0;
                    data.args[rule->arg2] = i == 0 ? 0 : tries[t];
                    compare(&data);
                }
                checked++;
            }
        }
    }
    assert_true(checked > 100);
}

static void numbers_from_nowhere_do_not_exist(void **state)
{
    struct seccomp_data data = {.arch = THIS_ARCH};
    unsigned i;

    (void)state;
    for (i = 0; i < NUMBERS; i++) { /* the x32 forms of all calls */
        data.nr = (int)(0x40000000U + i);
        assert_int_equal(interpret(&filter_template, &data), MISSING);
        compare(&data);
    }
    data.nr = -1;
    assert_int_equal(interpret(&filter_template, &data), MISSING);
    compare(&data);
    data.nr = INT32_MAX;
    compare(&data);
    data.nr = INT32_MIN;
    compare(&data);
}

static void another_processor_is_the_end(void **state)
{
    static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM, 0, UINT32_MAX};
    struct seccomp_data data = {.nr = SYS_read};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        data.arch = others[i];
        for (data.nr = 0; data.nr < NUMBERS; data.nr++) {
            assert_int_equal(interpret(&filter_template, &data), SECCOMP_RET_KILL_PROCESS);
        }
    }
}

static void no_profile_has_what_a_sandbox_must_not_have(void **state)
{
    static const int never[] = {SYS_clone, SYS_fork, SYS_vfork, SYS_clone3, SYS_execve,
        SYS_execveat, SYS_socket, SYS_connect, SYS_kill, SYS_tgkill, SYS_tkill,
        SYS_pidfd_send_signal, SYS_setns, SYS_unshare, SYS_mount, SYS_umount2, SYS_pivot_root,
        SYS_chroot, SYS_keyctl, SYS_prctl, SYS_seccomp, SYS_ioctl, SYS_memfd_create,
        SYS_io_uring_setup, SYS_ptrace, SYS_recvmsg, SYS_sendmsg, SYS_setresuid, SYS_capset,
        SYS_prlimit64, SYS_setrlimit};
    struct seccomp_data data = {.arch = THIS_ARCH};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        data.nr = never[i];
        assert_int_not_equal(combined(&filter_compute, &data), SECCOMP_RET_ALLOW);
    }
    data.nr = SYS_openat;
    assert_int_equal(combined(&filter_compute, &data), REFUSED);
}

static void the_programs_are_short_enough_to_load_quickly(void **state)
{
    (void)state;
    assert_in_range(filter_template.len, 10, 1000);
    assert_in_range(filter_compute.len, 10, 300);
}

static int mmap_says(int prot, int flags)
{
    return mmap(NULL, 4096, prot, flags | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
}

static int load_and_try(void *user)
{
    int fd;

    (void)user;
    CHILD_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (filter_load(&filter_template) < 0) {
        return errno == ENOSYS || errno == EINVAL ? CHILD_SKIPPED : CHILD_FAILED;
    }
    CHILD_CHECK(syscall(SYS_getppid) > 0);
    CHILD_CHECK(syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM);
    fd = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC);
    CHILD_CHECK(fd >= 0);
    CHILD_CHECK(mmap_says(PROT_READ | PROT_WRITE, MAP_PRIVATE) == 0);
    CHILD_CHECK(mmap_says(PROT_READ | PROT_WRITE, MAP_SHARED) == EPERM);
    CHILD_CHECK(mmap_says(PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE) == EPERM);
    CHILD_CHECK(mmap_says(PROT_READ | PROT_EXEC, MAP_PRIVATE) == EPERM);
    CHILD_CHECK(filter_load(&filter_compute) == 0);
    CHILD_CHECK(syscall(SYS_getppid) < 0 && errno == EPERM);
    CHILD_CHECK(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC) < 0);
    CHILD_CHECK(errno == EPERM);
    CHILD_CHECK(syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
    CHILD_CHECK(
        filter_load(&filter_compute) < 0 && errno == EPERM); /* nothing more can be loaded */
    CHILD_CHECK(syscall(SYS_getpid) > 0);
    (void)syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
    return CHILD_FAILED; /* not reached */
}

static void the_kernel_answers_the_same(void **state)
{
    int status = helper_in_child(load_and_try, NULL);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel has no seccomp filters");
        skip();
    }
    assert_int_equal(status, 256 + SIGSYS);
}

/* The members of a family: no clone without consent. */
static int hold_and_try(void *user)
{
    int listener = -2, second = -2;

    (void)user;
    CHILD_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    if (filter_hold_clone(0, &listener) < 0) {
        return errno == ENOSYS || errno == EINVAL ? CHILD_SKIPPED : CHILD_FAILED;
    }
    if (listener < 0) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0);
    CHILD_CHECK(prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0 && errno == EPERM);
    CHILD_CHECK(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0 && errno == EPERM);
    /* There is one listener in a process. Whoever finds that it is taken may not clone at all. */
    CHILD_CHECK(filter_hold_clone(0, &second) == 0 && second == -1);
    CHILD_CHECK(syscall(SYS_clone, BRANCH_FLAGS, 0, 0, 0, 0) < 0 && errno == EPERM);
    return CHILD_FINE;
}

static void a_member_clones_nowhere_without_consent(void **state)
{
    int status = helper_in_child(hold_and_try, NULL);

    (void)state;
    if (status == CHILD_SKIPPED) {
        helper_say_skip("this kernel, or who watches over us, gives no listener");
        skip();
    }
    assert_int_equal(status, CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_with_plain_arguments),
        cmocka_unit_test(every_number_there_is),
        cmocka_unit_test(every_listed_value_and_its_neighbours),
        cmocka_unit_test(numbers_from_nowhere_do_not_exist),
        cmocka_unit_test(another_processor_is_the_end),
        cmocka_unit_test(no_profile_has_what_a_sandbox_must_not_have),
        cmocka_unit_test(the_programs_are_short_enough_to_load_quickly),
        cmocka_unit_test(the_kernel_answers_the_same),
        cmocka_unit_test(a_member_clones_nowhere_without_consent),
    };

    return cmocka_run_group_tests(tests, read_table, NULL);
}
