/* test_metrics_process.c - what is said of this process is true. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/metrics.h"

static struct vial_error err;

/* The value of a metric; -1 when it is missing. */
static double value_of(const char *name)
{
    struct buf out;
    double value = -1;
    const char *p;
    size_t len = strlen(name);

    buf_init(&out, METRICS_TEXT_BYTES_MAX);
    assert_int_equal(metrics_write_process(&out, &err), 0);
    for (p = out.data; p != NULL && *p != '\0'; p = strchr(p, '\n'), p = p != NULL ? p + 1 : p) {
        if (strncmp(p, name, len) == 0 && p[len] == ' ') {
            value = strtod(p + len + 1, NULL);
        }
    }
    buf_release(&out);
    return value;
}

static void everything_is_there(void **state)
{
    double start = value_of("process_start_time_seconds"), now = (double)time(NULL);

    (void)state;
    assert_true(start > now - 600 && start <= now + 2);
    assert_true(value_of("process_resident_memory_bytes") > 500000);
    assert_true(
        value_of("process_virtual_memory_bytes") > value_of("process_resident_memory_bytes"));
    assert_true(value_of("process_threads") >= 1);
    assert_true(value_of("process_max_fds") >= 16);
}

static void descriptors_and_time_are_counted(void **state)
{
    double before = value_of("process_open_fds"), cpu = value_of("process_cpu_seconds_total");
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    clock_t start = clock();

    (void)state;
    assert_true(before >= 3);
    assert_true(value_of("process_open_fds") == before + 1);
    (void)close(fd);
    while (clock() - start < CLOCKS_PER_SEC / 20) {
    }
    assert_true(value_of("process_cpu_seconds_total") > cpu);
}

static void a_name_with_parentheses_confuses_nobody(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_NAME, ") 1 2 (x) 3"), 0);
    everything_is_there(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_there),
        cmocka_unit_test(descriptors_and_time_are_counted),
        cmocka_unit_test(a_name_with_parentheses_confuses_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
