/* test_files_mmap.c - files of a run as memory: copies that are kept in step with them. */
#include "python_files.h"

#include <sys/mman.h>

enum { SIZE = 10000 };

static int make(void)
{
    static char bytes[SIZE];
    int fd = open("f", O_RDWR | O_CREAT, 0600);

    memset(bytes, '.', sizeof(bytes));
    assert_int_equal(write(fd, bytes, sizeof(bytes)), SIZE);
    return fd;
}

static char byte_at(int fd, off_t at)
{
    char byte = 0;

    assert_int_equal(pread(fd, &byte, 1, at), 1);
    return byte;
}

static void a_private_one_is_a_copy(void **state)
{
    int fd = make();
    char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);

    (void)state;
    assert_ptr_not_equal(bytes, MAP_FAILED);
    assert_int_equal(bytes[SIZE - 1], '.');
    bytes[0] = 'x';
    assert_int_equal(byte_at(fd, 0), '.');
    assert_int_equal(munmap(bytes, SIZE), 0);
    assert_int_equal(byte_at(fd, 0), '.');
}

static void a_shared_one_is_in_step_with_the_file(void **state)
{
    int fd = make(), other = open("f", O_RDWR);
    char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    (void)state;
    assert_ptr_not_equal(bytes, MAP_FAILED);
    assert_int_equal(close(fd), 0); /* it needs no descriptor */
    bytes[5000] = 'x';
    assert_int_equal(byte_at(other, 5000), 'x');
    assert_int_equal(pwrite(other, "yz", 2, 5000), 2);
    assert_int_equal(bytes[5000], 'y');
    assert_int_equal(bytes[5001], 'z');
    bytes[1] = 'm';
    assert_int_equal(msync(bytes, SIZE, MS_SYNC), 0);
    bytes[2] = 'n';
    assert_int_equal(munmap(bytes, SIZE), 0);
    assert_int_equal(byte_at(other, 1), 'm');
    assert_int_equal(byte_at(other, 2), 'n');
    assert_int_equal(files_maps_count, 0);
}

static void what_is_in_memory_at_the_end_is_in_the_file(void **state)
{
    int fd = make();
    char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), got;

    (void)state;
    bytes[7] = 'e';
    py_files_settle();
    assert_int_equal(memfs_read(&fs, fd, &got, 1, 7), 1);
    assert_int_equal(got, 'e');
    assert_int_equal(munmap(bytes, SIZE), 0);
}

static void it_can_grow_with_the_file(void **state)
{
    int fd = make();
    char *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    (void)state;
    assert_int_equal(ftruncate(fd, 50000), 0);
    bytes = mremap(bytes, SIZE, 50000, MREMAP_MAYMOVE);
    assert_ptr_not_equal(bytes, MAP_FAILED);
    assert_int_equal(bytes[SIZE - 1], '.');
    assert_int_equal(bytes[SIZE], 0);
    bytes[49999] = 'l';
    assert_int_equal(byte_at(fd, 49999), 'l');
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(bytes[100], 0);
    bytes[200] = 'x'; /* behind the end, it goes nowhere */
    assert_int_equal(munmap(bytes, 50000), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), 100);
}

#define assert_refused(len, prot, flags, fd, offset, number)                                       \
    do {                                                                                           \
        errno = 0;                                                                                 \
        assert_ptr_equal(mmap(NULL, len, prot, flags, fd, offset), MAP_FAILED);                    \
        assert_int_equal(errno, number);                                                           \
    } while (0)

static void what_cannot_be_is_refused(void **state)
{
    int fd = make(), reader = open("f", O_RDONLY), d = open(".", O_RDONLY | O_DIRECTORY);
    char *bytes, *more;

    (void)state;
    assert_refused(0, PROT_READ, MAP_SHARED, fd, 0, EINVAL);
    assert_refused(10, PROT_READ, MAP_SHARED, fd, 10, EINVAL);
    assert_refused(10, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0, EACCES);
    assert_refused(10, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0, EPERM);
    assert_refused(10, PROT_READ, MAP_SHARED, d, 0, ENODEV);
    assert_refused(10, PROT_READ, MAP_SHARED, 1, 0, EBADF);
    assert_refused(10, PROT_READ, MAP_SHARED, 3, 0, EBADF);
    bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_refused(10, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0, ENODEV);
    more = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
    assert_ptr_not_equal(more, MAP_FAILED);
    assert_int_equal(files_maps_count, 2);
    assert_int_equal(munmap(bytes, 4096), 0);
    assert_int_equal(ftruncate(open("g", O_RDWR | O_CREAT, 0600), 1 << 20), 0);
    assert_refused(1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, 7, 0, ENOSPC);
    assert_int_equal(munmap(more, 100), 0); /* a part of it ends it as a whole */
    assert_int_equal(files_maps_count, 0);
}

static void other_memory_is_the_kernels(void **state)
{
    char *bytes = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_ptr_not_equal(bytes, MAP_FAILED);
    bytes[0] = 'x';
    bytes = mremap(bytes, 8192, 16384, MREMAP_MAYMOVE);
    assert_int_equal(bytes[0], 'x');
    assert_int_equal(munmap(bytes, 16384), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(a_private_one_is_a_copy), WITH_FILES(a_shared_one_is_in_step_with_the_file),
        WITH_FILES(what_is_in_memory_at_the_end_is_in_the_file),
        WITH_FILES(it_can_grow_with_the_file), WITH_FILES(other_memory_is_the_kernels),
        WITH_FILES(what_cannot_be_is_refused), /* the last: it leaves a mapping behind */
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
