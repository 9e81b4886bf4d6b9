/* test_cgroup.c - slots: what is written to the files of both versions, on a directory that only
 * looks like a control group, and then the real thing where it can be had. */
#include "jail/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

#define MIB (UINT64_C(1) << 20)

enum { SLOT = 7 };

/* ---- a directory with the files of a slot in it ---- */

struct fake {
    char path[40];
    int dir_fd;
    struct cgroup_base base;
};

static void put(const struct fake *f, const char *name, const char *text)
{
    char path[64];
    int fd;

    (void)snprintf(path, sizeof(path), "%d/%s", SLOT, name);
    fd = openat(f->dir_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
    (void)close(fd);
}

static void assert_file(const struct fake *f, const char *name, const char *text)
{
    char path[64], found[64];

    (void)snprintf(path, sizeof(path), "%d/%s", SLOT, name);
    assert_int_equal(fd_get_text(f->dir_fd, path, found, sizeof(found)), 0);
    assert_string_equal(found, text);
}

static void make_fake(struct fake *f, int version)
{
    *f = (struct fake){.path = "/tmp/vial-test-XXXXXX"};
    assert_non_null(mkdtemp(f->path));
    f->dir_fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(f->dir_fd >= 0);
    assert_int_equal(mkdirat(f->dir_fd, "7", 0700), 0);
    f->base.controllers[CGROUP_MEMORY].version = version;
    f->base.controllers[CGROUP_MEMORY].dir_fd = f->dir_fd;
    f->base.controllers[CGROUP_PIDS].version = version;
    f->base.controllers[CGROUP_PIDS].dir_fd = f->dir_fd;
    put(f, "cgroup.procs", "");
    put(f, "pids.max", "");
}

static void remove_fake(struct fake *f)
{
    static const char *const names[] = {"cgroup.procs", "pids.max", "memory.max", "memory.swap.max",
        "memory.oom.group", "memory.peak", "memory.current", "memory.events",
        "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes",
        "memory.oom_control"};
    char path[64];
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%d/%s", SLOT, names[i]);
        (void)unlinkat(f->dir_fd, path, 0);
    }
    (void)unlinkat(f->dir_fd, "7", AT_REMOVEDIR);
    (void)close(f->dir_fd);
    assert_int_equal(rmdir(f->path), 0);
}

/* Plain files keep what was longer before, which real ones do not. */
static void empty(const struct fake *f, const char *name)
{
    put(f, name, "");
}

/* The kernel ends all of a group at once, or one of it: a family's first process must live on. */
static void version_2_spares_the_first_process_of_a_family(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "memory.oom.group", "");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_file(&f, "memory.oom.group", "1");
    assert_int_equal(cgroup_slot_processes(&f.base, SLOT, &slot, 2), 0);
    assert_file(&f, "memory.oom.group", "0");
    assert_int_equal(cgroup_slot_processes(&f.base, SLOT, &slot, 1), 0);
    assert_file(&f, "memory.oom.group", "1");
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void who_is_in_a_group_is_told(void **state)
{
    struct cgroup_base none = {.controllers = {{.dir_fd = -1}, {.dir_fd = -1}}};
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "cgroup.procs", "12\n345\n");
    assert_int_equal(cgroup_slot_has(&f.base, SLOT, 12), 1);
    assert_int_equal(cgroup_slot_has(&f.base, SLOT, 345), 1);
    assert_int_equal(cgroup_slot_has(&f.base, SLOT, 34), 0);
    assert_int_equal(cgroup_slot_has(&f.base, SLOT + 1, 12), 0);
    assert_int_equal(cgroup_slot_has(&none, SLOT, 12), 1);
    /* A group with somebody in it is not made anew for somebody else. */
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), -1);
    assert_int_equal(errno, EBUSY);
    remove_fake(&f);
}

static void version_2_gets_its_limits(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "memory.swap.max", "");
    put(&f, "memory.oom.group", "");
    put(&f, "memory.peak", "123456\n");
    put(&f, "memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 0\n");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(slot.version, 2);
    assert_int_equal(
        slot.procs_fds_count, 1); /* one group for all: a second would undo the first */
    assert_file(&f, "memory.max", "33554432");
    assert_file(&f, "memory.swap.max", "0");
    assert_file(&f, "memory.oom.group", "1");
    assert_file(&f, "pids.max", "1");
    assert_int_equal(cgroup_slot_peak(&slot), 23456 /* the 0 that resets, on a plain file */);
    assert_int_equal(cgroup_slot_killed(&slot), 0); /* the two kills were before our time */
    put(&f, "memory.peak", "765432\n");
    put(&f, "memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 3\noom_group_kill 1\n");
    assert_int_equal(cgroup_slot_killed(&slot), 1);
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    assert_int_equal(cgroup_slot_peak(&slot), 65432);
    assert_int_equal(cgroup_slot_killed(&slot), 0);
    empty(&f, "memory.max");
    assert_int_equal(cgroup_slot_limit(&slot, 32 * MIB), 0);
    assert_file(&f, "memory.max", ""); /* the same limit is not written again */
    assert_int_equal(cgroup_slot_limit(&slot, 64 * MIB), 0);
    assert_file(&f, "memory.max", "67108864");
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void version_2_without_a_peak_file_tells_the_present_use(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "memory.current", "4096\n");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(cgroup_slot_peak(&slot), 4096);
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void version_2_with_a_peak_that_stays_tells_what_is_this_cells(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "memory.current", "4096\n");
    put(&f, "memory.peak", "123456\n");
    put(&f, "memory.events", "oom_kill 2\n");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    put(&f, "memory.peak", "123456\n");
    slot.peak_resets = 0; /* a plain file can be written to */
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    assert_int_equal(cgroup_slot_peak(&slot), 4096);
    put(&f, "memory.peak", "123457\n");
    assert_int_equal(cgroup_slot_peak(&slot), 123457);
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    put(&f, "memory.events", "oom_kill 3\n");
    assert_int_equal(cgroup_slot_peak(&slot), 32 * MIB);
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void version_1_gets_its_limits(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 1);
    put(&f, "memory.limit_in_bytes", "");
    put(&f, "memory.memsw.limit_in_bytes", "");
    put(&f, "memory.max_usage_in_bytes", "8192\n");
    put(&f, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(slot.version, 1);
    assert_file(&f, "memory.limit_in_bytes", "33554432");
    assert_file(&f, "memory.memsw.limit_in_bytes", "33554432");
    assert_file(&f, "pids.max", "1");
    assert_int_equal(cgroup_slot_peak(&slot), 8192);
    put(&f, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    assert_int_equal(cgroup_slot_killed(&slot), 1);
    put(&f, "memory.max_usage_in_bytes", "9\n");
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    assert_int_equal(cgroup_slot_killed(&slot), 0);
    assert_file(&f, "memory.max_usage_in_bytes", "0");
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void version_1_may_lack_the_account_of_swap(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 1);
    put(&f, "memory.limit_in_bytes", "");
    put(&f, "memory.max_usage_in_bytes", "");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(cgroup_slot_limit(&slot, 16 * MIB), 0);
    assert_file(&f, "memory.limit_in_bytes", "16777216");
    assert_int_equal(cgroup_slot_limit(&slot, 48 * MIB), 0);
    assert_file(&f, "memory.limit_in_bytes", "50331648");
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void a_limit_that_cannot_be_set_fails_without_a_leak(void **state)
{
    struct cgroup_slot slot;
    struct fake f;
    unsigned before;

    (void)state;
    make_fake(&f, 2); /* there is no memory.max */
    before = helper_fds_count();
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(helper_fds_count(), before);
    assert_int_equal(slot.memory_fd, -1);
    remove_fake(&f);
}

static void nonsense_in_the_files_counts_as_nothing(void **state)
{
    struct cgroup_slot slot;
    struct fake f;

    (void)state;
    make_fake(&f, 2);
    put(&f, "memory.max", "");
    put(&f, "memory.peak", "what\n");
    put(&f, "memory.events", "oom_kill what\n");
    assert_int_equal(cgroup_slot_open(&f.base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(cgroup_slot_peak(&slot), 0);
    assert_int_equal(cgroup_slot_killed(&slot), 0);
    (void)cgroup_slot_close(&f.base, SLOT, &slot);
    remove_fake(&f);
}

static void without_controllers_a_slot_is_empty_and_succeeds(void **state)
{
    struct cgroup_base base = {.controllers = {{.dir_fd = -1}, {.dir_fd = -1}}};
    struct cgroup_slot slot;

    (void)state;
    assert_int_equal(cgroup_slot_open(&base, SLOT, 32 * MIB, &slot), 0);
    assert_int_equal(slot.procs_fds_count, 0);
    assert_int_equal(cgroup_slot_limit(&slot, 64 * MIB), 0);
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    assert_int_equal(cgroup_slot_peak(&slot), 0);
    assert_int_equal(cgroup_slot_killed(&slot), 0);
    assert_int_equal(cgroup_slot_close(&base, SLOT, &slot), 0);
    cgroup_base_adopt(&base, getpid());
    cgroup_base_close(&base);
}

/* ---- the real thing ---- */

/* Joins the slot and then takes much more memory than it may have. */
static int eat_memory(void *user)
{
    const struct cgroup_slot *slot = user;
    size_t size = 256 * MIB;
    unsigned i;
    char *p;

    for (i = 0; i < slot->procs_fds_count; i++) {
        CHILD_CHECK(fd_write_all(slot->procs_fds[i], "0", 1) == 0);
    }
    CHILD_CHECK(fork() < 0); /* one process is all */
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHILD_CHECK(p != MAP_FAILED);
    memset(p, 1, size);
    return CHILD_FAILED;
}

static void the_kernel_keeps_to_it(void **state)
{
    struct layer_report report;
    struct cgroup_base base;
    struct cgroup_slot slot;
    char path[CGROUP_PATH_MAX];
    unsigned before = helper_fds_count();

    (void)state;
    cgroup_base_open(&base, &report);
    if (report.entries[LAYER_CGROUP_MEMORY].state != LAYER_ON ||
        report.entries[LAYER_CGROUP_PIDS].state != LAYER_ON) {
        cgroup_base_close(&base);
        helper_say_skip("no control groups can be made here (memory: %s, pids: %s)",
            strerrorname_np(report.entries[LAYER_CGROUP_MEMORY].sys),
            strerrorname_np(report.entries[LAYER_CGROUP_PIDS].sys));
        skip();
    }
    (void)snprintf(path, sizeof(path), "%s", base.controllers[CGROUP_MEMORY].path);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(cgroup_slot_open(&base, 3, 64 * MIB, &slot), 0);
    assert_int_equal(cgroup_slot_limit(&slot, 128 * MIB), 0);
    assert_int_equal(cgroup_slot_limit(&slot, 32 * MIB), 0);
    assert_int_equal(helper_in_child(eat_memory, &slot), 256 + SIGKILL);
    assert_int_equal(cgroup_slot_killed(&slot), 1);
    assert_in_range(cgroup_slot_peak(&slot), 30 * MIB, 34 * MIB);
    assert_int_equal(cgroup_slot_reset(&slot), 0);
    assert_int_equal(cgroup_slot_killed(&slot), 0);
    assert_int_equal(cgroup_slot_close(&base, 3, &slot), 0);
    cgroup_base_close(&base);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(helper_fds_count(), before);
}

static int make_groups_and_vanish(void *user)
{
    struct layer_report report;
    struct cgroup_base base;
    char *path = user;

    cgroup_base_open(&base, &report);
    if (base.controllers[CGROUP_MEMORY].version != 0) {
        (void)snprintf(path, CGROUP_PATH_MAX, "%s", base.controllers[CGROUP_MEMORY].path);
    }
    return CHILD_FINE;
}

/* A process in the slot that takes its time to end. */
static void members_that_are_just_ending_are_waited_for(void **state)
{
    struct layer_report report;
    char path[CGROUP_PATH_MAX];
    struct cgroup_base base;
    struct cgroup_slot slot;
    unsigned i;
    pid_t pid;

    (void)state;
    cgroup_base_open(&base, &report);
    if (report.entries[LAYER_CGROUP_PIDS].state != LAYER_ON) {
        cgroup_base_close(&base);
        helper_say_skip("no control groups can be made here");
        skip();
    }
    (void)snprintf(path, sizeof(path), "%s", base.controllers[CGROUP_PIDS].path);
    assert_int_equal(cgroup_slot_open(&base, 3, 64 * MIB, &slot), 0);
    pid = fork();
    if (pid == 0) {
        for (i = 0; i < slot.procs_fds_count; i++) {
            (void)fd_write_all(slot.procs_fds[i], "0", 1);
        }
        (void)kill(getpid(), SIGSTOP);
        (void)usleep(30 * 1000);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid); /* it is in there, and stopped */
    (void)cgroup_slot_close(&base, 3, &slot);
    assert_int_equal(access(path, F_OK), 0);
    (void)kill(pid, SIGCONT);
    cgroup_base_close(&base);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void what_a_dead_engine_left_is_swept_away(void **state)
{
    char *path =
        mmap(NULL, CGROUP_PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct layer_report report;
    struct cgroup_base base;

    (void)state;
    assert_true(path != MAP_FAILED);
    assert_int_equal(helper_in_child(make_groups_and_vanish, path), CHILD_FINE);
    if (path[0] == '\0') {
        (void)munmap(path, CGROUP_PATH_MAX);
        helper_say_skip("no control groups can be made here");
        skip();
    }
    cgroup_base_open(&base, &report); /* which may meet another engine that has swept before */
    assert_int_equal(access(path, F_OK), -1);
    cgroup_base_close(&base);
    (void)munmap(path, CGROUP_PATH_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_gets_its_limits),
        cmocka_unit_test(version_2_spares_the_first_process_of_a_family),
        cmocka_unit_test(who_is_in_a_group_is_told),
        cmocka_unit_test(version_2_without_a_peak_file_tells_the_present_use),
        cmocka_unit_test(version_2_with_a_peak_that_stays_tells_what_is_this_cells),
        cmocka_unit_test(version_1_gets_its_limits),
        cmocka_unit_test(version_1_may_lack_the_account_of_swap),
        cmocka_unit_test(a_limit_that_cannot_be_set_fails_without_a_leak),
        cmocka_unit_test(nonsense_in_the_files_counts_as_nothing),
        cmocka_unit_test(without_controllers_a_slot_is_empty_and_succeeds),
        cmocka_unit_test(the_kernel_keeps_to_it),
        cmocka_unit_test(members_that_are_just_ending_are_waited_for),
        cmocka_unit_test(what_a_dead_engine_left_is_swept_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
