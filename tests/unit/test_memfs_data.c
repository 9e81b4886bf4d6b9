/* test_memfs_data.c - contents of files: holes, growth, room, and what happens without memory.
 *
 * What is read is compared with a plain array that the same bytes were written to. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cell/memfs_tree.h"

enum { BYTES = 4 * MEMFS_CHUNK, PAGES = 64, DISK = PAGES * MEMFS_PAGE, SWEEP_MAX = 400 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static int left = -1; /* allocations that still succeed; below 0: all */
static int refused;

static int refuse(void)
{
    if (left < 0 || left-- > 0) {
        return 0;
    }
    left = -1;
    refused = 1;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : __real_strdup(text);
}

static struct memfs fs;
static struct memfs_data data;

static int open_data(void **state)
{
    const struct memfs_limits limits = {.bytes_max = DISK, .files_max = 64, .open_max = 16};

    (void)state;
    memfs_init(&fs, &limits);
    data = (struct memfs_data){0};
    return 0;
}

static int close_data(void **state)
{
    (void)state;
    memfs_data_release(&fs, &data);
    memfs_release(&fs);
    return fs.pages_count == 0 ? 0 : -1;
}

static void what_was_written_is_read(void **state)
{
    static char model[BYTES], bytes[BYTES], got[BYTES];
    uint64_t size = 0;
    unsigned seed = 1;
    int i, n;

    (void)state;
    for (n = 0; n < BYTES; n++) {
        bytes[n] = (char)(n * 31 + n / 251 + 1);
    }
    for (i = 0; i < 4000; i++) {
        size_t at, len;

        seed = seed * 1103515245U + 12345U;
        at = (seed >> 8) % BYTES;
        seed = seed * 1103515245U + 12345U;
        len = (seed >> 8) % (i % 8 == 0 ? BYTES - at : 300);
        len = len < BYTES - at ? len : BYTES - at;
        if (i % 5 == 4) { /* larger or smaller */
            assert_int_equal(memfs_data_resize(&fs, &data, at), 0);
            if (at < size) {
                memset(model + at, 0, BYTES - at);
            }
            size = at;
        } else if (len > 0) {
            assert_int_equal(
                memfs_data_write(&fs, &data, bytes + i % 7, len - len % 7, at), len - len % 7);
            memcpy(model + at, bytes + i % 7, len - len % 7);
            size = len >= 7 && at + len - len % 7 > size ? at + len - len % 7 : size;
        }
        assert_int_equal(data.size, size);
        assert_int_equal(fs.pages_count, data.pages);
        memset(got, 'x', sizeof(got));
        assert_int_equal(memfs_data_read(&data, got, sizeof(got), 0), size);
        assert_memory_equal(got, model, size);
        if (at < size) {
            assert_int_equal(
                memfs_data_read(&data, got, 100, at), size - at < 100 ? size - at : 100);
            assert_memory_equal(got, model + at, size - at < 100 ? size - at : 100);
        }
    }
}

static void a_hole_takes_no_room_and_reads_as_zeros(void **state)
{
    const uint64_t huge = UINT64_C(1) << 40;
    char got[8];

    (void)state;
    fs.limits.bytes_max = 2 * huge;
    assert_int_equal(memfs_data_resize(&fs, &data, huge), 0);
    assert_int_equal(data.pages, 0);
    assert_int_equal(data.chunks_count, 0);
    memset(got, 'x', sizeof(got));
    assert_int_equal(memfs_data_read(&data, got, sizeof(got), huge - 4), 4);
    assert_memory_equal(got, "\0\0\0\0xxxx", 8);
    assert_int_equal(memfs_data_write(&fs, &data, "end", 3, 10 * (uint64_t)BYTES), 3);
    assert_int_equal(data.pages, 1);
    assert_int_equal(data.size, huge);
}

static void small_files_are_small(void **state)
{
    (void)state;
    assert_int_equal(memfs_data_write(&fs, &data, "x", 1, 0), 1);
    assert_true(data.chunks[0].capacity <= 256);
    assert_int_equal(memfs_data_write(&fs, &data, "x", 1, MEMFS_CHUNK - 1), 1);
    assert_int_equal(data.chunks[0].capacity, MEMFS_CHUNK);
    assert_int_equal(memfs_data_resize(&fs, &data, 10), 0);
    assert_true(data.chunks[0].capacity <= 256); /* and are so again */
    assert_int_equal(data.pages, 1);
    assert_int_equal(memfs_data_resize(&fs, &data, 0), 0);
    assert_null(data.chunks);
}

static void a_full_disk_takes_what_fits(void **state)
{
    static char bytes[DISK + 10];
    struct memfs_data other = {0};

    (void)state;
    memset(bytes, 'a', sizeof(bytes));
    assert_int_equal(memfs_data_write(&fs, &other, bytes, MEMFS_PAGE + 1, 0), MEMFS_PAGE + 1);
    assert_int_equal(memfs_data_write(&fs, &data, bytes, DISK, 0), DISK - 2 * (size_t)MEMFS_PAGE);
    assert_int_equal(fs.pages_count, PAGES);
    assert_int_equal(memfs_data_write(&fs, &data, "x", 1, data.size), -ENOSPC);
    assert_int_equal(fs.pages_count, PAGES);
    assert_int_equal(memfs_data_write(&fs, &data, "x", 1, 5), 1); /* what is there can change */
    assert_int_equal(memfs_data_write(&fs, &other, bytes, 100, MEMFS_PAGE + 1), 100);
    memfs_data_release(&fs, &other);
    assert_int_equal(fs.pages_count, PAGES - 2);
    /* Behind a gap that does not fit, nothing is written, and the gap takes no room. */
    assert_int_equal(memfs_data_resize(&fs, &data, DISK - 10 * (size_t)MEMFS_PAGE), 0);
    assert_int_equal(memfs_data_resize(&fs, &data, 0), 0);
    assert_int_equal(memfs_data_write(&fs, &other, bytes, DISK - 2 * (size_t)MEMFS_PAGE, 0),
        DISK - 2 * (size_t)MEMFS_PAGE);
    assert_int_equal(memfs_data_write(&fs, &data, "x", 1, 5 * (size_t)MEMFS_PAGE), -ENOSPC);
    assert_int_equal(fs.pages_count, PAGES - 2);
    assert_int_equal(data.size, 0);
    memfs_data_release(&fs, &other);
}

static void a_file_is_no_larger_than_the_disk(void **state)
{
    static char bytes[20];

    (void)state;
    assert_int_equal(memfs_data_resize(&fs, &data, DISK + 1), -EFBIG);
    assert_int_equal(memfs_data_resize(&fs, &data, DISK), 0);
    assert_int_equal(memfs_data_write(&fs, &data, bytes, 20, DISK - 5), 5);
    assert_int_equal(memfs_data_write(&fs, &data, bytes, 20, DISK), -EFBIG);
    assert_int_equal(memfs_data_write(&fs, &data, bytes, 20, UINT64_MAX - 5), -EFBIG);
    assert_int_equal(memfs_data_write(&fs, &data, bytes, 0, UINT64_MAX), 0);
    assert_int_equal(memfs_data_read(&data, bytes, 20, UINT64_MAX), 0);
}

static void a_copy_keeps_the_holes(void **state)
{
    struct memfs_data copy = {0};
    char got[3];

    (void)state;
    assert_int_equal(memfs_data_write(&fs, &data, "abc", 3, 2 * (size_t)MEMFS_CHUNK), 3);
    assert_int_equal(memfs_data_resize(&fs, &data, 3 * (size_t)MEMFS_CHUNK), 0);
    assert_int_equal(memfs_data_copy(&fs, &data, &copy), 0);
    assert_int_equal(copy.size, 3 * (size_t)MEMFS_CHUNK);
    assert_int_equal(copy.pages, 1);
    assert_int_equal(memfs_data_read(&copy, got, 3, 2 * (size_t)MEMFS_CHUNK), 3);
    assert_memory_equal(got, "abc", 3);
    memfs_data_release(&fs, &copy);
}

/* Steps that together use all that allocates; each must come to an end that is no crash. */
static int many_steps(void)
{
    static char bytes[2 * MEMFS_CHUNK];
    char path[PATH_MAX];
    int fd, bad = 0;

    bad |= memfs_mkdir(&fs, "d", 0777) < 0;
    bad |= memfs_chdir(&fs, "/tmp") < 0;
    fd = memfs_open(&fs, "f", O_RDWR | O_CREAT, 0666);
    bad |= fd < 0 || memfs_write(&fs, fd, bytes, sizeof(bytes), -1) != (int64_t)sizeof(bytes);
    bad |= memfs_symlink(&fs, "f", "l") < 0;
    bad |= memfs_link(&fs, "f", "h") < 0;
    bad |= memfs_rename(&fs, "h", "../d/h") < 0;
    bad |= memfs_copy(&fs, "f", "copy", 0) < 0;
    bad |= memfs_realpath(&fs, "l", path) < 0;
    bad |= memfs_rename(&fs, "../d", "d") < 0;
    bad |= memfs_truncate(&fs, "f", 10) < 0;
    bad |= memfs_unlink(&fs, "f") < 0;
    if (fd >= 0) {
        bad |= memfs_close(&fs, fd) < 0;
    }
    return bad;
}

static void each_allocation_may_fail(void **state)
{
    const struct memfs_limits limits = fs.limits;
    int n, bad;

    (void)state;
    refused = 1;
    for (n = 0; refused && n < SWEEP_MAX; n++) {
        memfs_release(&fs);
        memfs_init(&fs, &limits);
        refused = 0;
        left = n;
        bad = many_steps();
        left = -1;
        assert_true(refused || !bad);
        /* Whatever failed: it says so, and what is there is whole and goes away whole. */
        (void)memfs_chdir(&fs, "/home/vial");
        assert_int_equal(memfs_mkdir(&fs, "later", 0777), 0);
        memfs_release(&fs);
        assert_int_equal(fs.files_count, 0);
        assert_int_equal(fs.pages_count, 0);
    }
    assert_in_range(n, 20, SWEEP_MAX - 1);
}

#define WITH_DATA(function) cmocka_unit_test_setup_teardown(function, open_data, close_data)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_DATA(what_was_written_is_read),
        WITH_DATA(a_hole_takes_no_room_and_reads_as_zeros),
        WITH_DATA(small_files_are_small),
        WITH_DATA(a_full_disk_takes_what_fits),
        WITH_DATA(a_file_is_no_larger_than_the_disk),
        WITH_DATA(a_copy_keeps_the_holes),
        WITH_DATA(each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
