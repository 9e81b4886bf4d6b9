/* python_files.h - what the tests of files_*.c share: a run with files, whose output is kept. To be
 * included first, for the same reason as files_inside.h. The functions that are tested are libc's
 * by name, and this program has them in the place of libc's. */
#ifndef VIAL_TESTS_PYTHON_FILES_H
#define VIAL_TESTS_PYTHON_FILES_H

#include "cell/python/files_inside.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cell/python/files.h"

static const struct memfs_limits LIMITS = {.bytes_max = 1 << 20, .files_max = 64, .open_max = 16};
static struct memfs fs;
static char printed[3][256];

void cell_output(int stream, const char *bytes, size_t len)
{
    size_t at = strlen(printed[stream]);

    assert_true(at + len < sizeof(printed[stream]));
    memcpy(printed[stream] + at, bytes, len);
}

static inline int begin_files(void **state)
{
    static const char text[] = "typed in";
    const struct guest_start start = {
        .files = &fs, .stdin_bytes = text, .stdin_len = sizeof(text) - 1};

    (void)state;
    memset(printed, 0, sizeof(printed));
    memfs_init(&fs, &LIMITS);
    py_files_begin(&start, NULL);
    return 0;
}

static inline int begin_without_files(void **state)
{
    const struct guest_start start = {.files = NULL};

    (void)state;
    memset(printed, 0, sizeof(printed));
    memfs_init(&fs, &LIMITS);
    py_files_begin(&start, NULL);
    return 0;
}

static inline int end_files(void **state)
{
    (void)state;
    py_files_settle();
    py_files_end();
    memfs_release(&fs);
    return 0;
}

/* It failed, with this. */
#define assert_fails(call, number)                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_int_equal(call, -1);                                                                \
        assert_int_equal(errno, number);                                                           \
    } while (0)

#define WITH_FILES(function) cmocka_unit_test_setup_teardown(function, begin_files, end_files)
#define WITHOUT_FILES(function)                                                                    \
    cmocka_unit_test_setup_teardown(function, begin_without_files, end_files)

#endif
