/* test_meter.c - what a cell uses, seen from outside: of this process, and of real runs. */
#include "host/meter.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fd.h"
#include "helper.h"

#define MIB (UINT64_C(1) << 20)

/* A cell that is this very process and has no cgroup. */
static struct cell self(void)
{
    return (struct cell){.pid = getpid(),
        .sock = -1,
        .pidfd = -1,
        .statm_fd = -1,
        .cgroups = {.memory_fd = -1, .peak_fd = -1}};
}

static void spend_cpu_us(uint64_t us)
{
    struct timespec from, now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    do {
        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((uint64_t)(now.tv_sec - from.tv_sec) * 1000000 + (uint64_t)now.tv_nsec / 1000 <
             (uint64_t)from.tv_nsec / 1000 + us);
}

static void processor_time_is_counted_from_the_base(void **state)
{
    struct cell cell = self();

    (void)state;
    spend_cpu_us(5000);
    meter_base(NULL, &cell);
    assert_in_range(meter_cpu_us(&cell), 0, 4000);
    spend_cpu_us(20000);
    assert_in_range(meter_cpu_us(&cell), 20000, 60000);
    fd_closep(&cell.statm_fd);
}

static void a_process_that_is_gone_has_what_the_template_said(void **state)
{
    struct cell cell = self();

    (void)state;
    cell.gone = 1;
    cell.cpu_us_base = 100;
    cell.exit_cpu_us = 350;
    assert_int_equal(meter_cpu_us(&cell), 250);
    cell.exit_cpu_us = 0; /* the template died and could not say */
    assert_int_equal(meter_cpu_us(&cell), 0);
}

static void without_a_cgroup_pages_are_counted(void **state)
{
    struct cell cell = self();
    size_t size = 32 * MIB;
    char *p;

    (void)state;
    assert_int_equal(meter_polls(&cell), 1);
    meter_base(NULL, &cell);
    assert_true(cell.statm_fd >= 0);
    assert_in_range(meter_memory_bytes(&cell), 0, 4 * MIB);
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, 1, size);
    assert_in_range(meter_memory_bytes(&cell), 30 * MIB, 40 * MIB);
    (void)munmap(p, size);
    assert_in_range(meter_memory_bytes(&cell), 0, 8 * MIB);
    fd_closep(&cell.statm_fd);
}

/* What could be shared counts beyond what the template's image has. */
static void pages_of_the_image_are_not_counted(void **state)
{
    struct cell cell = self();
    size_t size = 32 * MIB;
    char *p;

    (void)state;
    meter_base(NULL, &cell);
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    memset(p, 1, size);
    assert_in_range(meter_memory_bytes(&cell), 30 * MIB, 40 * MIB);
    cell.image_pages = 24 * MIB / 4096;
    assert_in_range(meter_memory_bytes(&cell), 6 * MIB, 16 * MIB);
    cell.image_pages = 64 * MIB / 4096;
    assert_in_range(meter_memory_bytes(&cell), 0, 8 * MIB);
    (void)munmap(p, size);
    fd_closep(&cell.statm_fd);
}

static void with_a_cgroup_its_peak_counts(void **state)
{
    struct cell cell = self();
    char path[] = "/tmp/vial-test-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, "777\n", 4), 0);
    cell.cgroups.memory_fd = 0;
    cell.cgroups.peak_fd = fd;
    assert_int_equal(meter_polls(&cell), 0);
    assert_int_equal(meter_memory_bytes(&cell), 777);
    (void)close(fd);
    (void)unlink(path);
}

static void nobody_uses_nothing(void **state)
{
    struct cell cell = self();

    (void)state;
    cell.pid = 0;
    assert_int_equal(meter_cpu_us(&cell), 0);
    assert_int_equal(meter_memory_bytes(&cell), 0);
    cell.pid = 1 << 22; /* one more than the kernel gives out */
    meter_base(NULL, &cell);
    assert_int_equal(cell.statm_fd, -1);
    assert_int_equal(meter_cpu_us(&cell), 0);
}

static void runs_are_told_what_they_used(void **state)
{
    struct vial_engine *engine = helper_engine();
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result;

    (void)state;
    result = helper_run(engine,
        "const a = new Uint8Array(40e6).fill(1); for (let t = Date.now(); Date.now() < t + 50;); 1",
        NULL);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    vial_result_usage(result, &usage);
    assert_in_range(usage.memory_bytes_peak, 35 * MIB, 80 * MIB);
    assert_in_range(usage.cpu_us, 30 * 1000, 500 * 1000);
    assert_in_range(usage.wall_us, 50 * 1000, 2000 * 1000);
    vial_result_free(result);
    result = helper_run(engine, "await new Promise(r => setTimeout(r, 60))", NULL);
    vial_result_usage(result, &usage);
    assert_in_range(usage.wall_us, 60 * 1000, 2000 * 1000);
    assert_in_range(usage.cpu_us, 0, 50 * 1000); /* waiting costs nothing */
    vial_result_free(result);
    vial_engine_free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processor_time_is_counted_from_the_base),
        cmocka_unit_test(a_process_that_is_gone_has_what_the_template_said),
        cmocka_unit_test(without_a_cgroup_pages_are_counted),
        cmocka_unit_test(pages_of_the_image_are_not_counted),
        cmocka_unit_test(with_a_cgroup_its_peak_counts),
        cmocka_unit_test(nobody_uses_nothing),
        cmocka_unit_test(runs_are_told_what_they_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
