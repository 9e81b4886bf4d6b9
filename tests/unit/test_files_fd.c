/* test_files_fd.c - libc's functions for descriptors, on the files of a run. */
#include "python_files.h"

#include <pthread.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

static void before_a_program_they_are_libcs(void **state)
{
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    int copy = dup(fd);
    char byte;

    (void)state;
    assert_true(fd >= 3 && copy > fd);
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_int_equal(pread(copy, &byte, 1, 0), 1);
    assert_int_equal(lseek(copy, 0, SEEK_CUR), 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(close(copy), 0);
    assert_fails(close(copy), EBADF);
}

static void bytes_go_in_and_come_out(void **state)
{
    int fd = open("f", O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    char got[8] = "";

    (void)state;
    assert_int_equal(fd, MEMFS_FD_FIRST);
    assert_int_equal(write(fd, "abcdef", 6), 6);
    assert_int_equal(lseek(fd, 2, SEEK_SET), 2);
    assert_int_equal(read(fd, got, 8), 4);
    assert_string_equal(got, "cdef");
    assert_int_equal(pwrite(fd, "X", 1, 1), 1);
    assert_int_equal(pread(fd, got, 3, 0), 3);
    assert_memory_equal(got, "aXc", 3);
    assert_fails(pread(fd, got, 1, -1), EINVAL);
    assert_fails(open("none", O_RDONLY), ENOENT);
    assert_fails(open("/etc/passwd", O_RDONLY), ENOENT);
    assert_fails(open("f", O_WRONLY | O_CREAT | O_EXCL, 0600), EEXIST);
    assert_int_equal(close(fd), 0);
    assert_fails(read(fd, got, 1), EBADF);
}

static void standard_ones_are_the_runs(void **state)
{
    char got[16] = "";

    (void)state;
    assert_int_equal(write(1, "out", 3), 3);
    assert_int_equal(write(2, "err", 3), 3);
    assert_string_equal(printed[1], "out");
    assert_string_equal(printed[2], "err");
    assert_int_equal(read(0, got, 5), 5);
    assert_int_equal(read(0, got + 5, 10), 3);
    assert_string_equal(got, "typed in");
    assert_int_equal(read(0, got, 1), 0);
    assert_fails(write(0, "x", 1), EBADF);
    assert_fails(read(1, got, 1), EBADF);
    assert_fails(lseek(1, 0, SEEK_CUR), ESPIPE);
    assert_fails(pwrite(1, "x", 1, 0), ESPIPE);
    assert_int_equal(close(1), 0);
    assert_fails(write(1, "x", 1), EBADF);
}

static void the_control_socket_is_nobodys(void **state)
{
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    char byte;

    (void)state;
    assert_fails(read(3, &byte, 1), EBADF);
    assert_fails(write(3, "x", 1), EBADF);
    assert_fails(close(3), EBADF);
    assert_fails(dup(3), EBADF);
    assert_fails(dup2(fd, 3), EBADF);
    assert_fails(dup2(3, fd), EBADF);
    assert_fails(fcntl(3, F_GETFL), EBADF);
}

static void output_can_be_sent_elsewhere_and_back(void **state)
{
    int fd = open("log", O_RDWR | O_CREAT, 0600), kept = dup(1);
    char got[4] = "";

    (void)state;
    assert_int_equal(dup2(fd, 1), 1);
    assert_int_equal(write(1, "log", 3), 3);
    assert_int_equal(dup2(kept, 1), 1);
    assert_int_equal(write(1, "out", 3), 3);
    assert_int_equal(pread(fd, got, 3, 0), 3);
    assert_string_equal(got, "log");
    assert_string_equal(printed[1], "out");
    assert_fails(dup3(fd, fd, 0), EINVAL);
    assert_int_equal(dup3(fd, 9, O_CLOEXEC), 9);
    assert_int_equal(fcntl(9, F_GETFD), FD_CLOEXEC);
    assert_int_equal(close_range(3, ~0U, 0), 0);
    assert_fails(close(fd), EBADF);
    assert_int_equal(write(1, "!", 1), 1);
}

static void devices_are_what_programs_expect(void **state)
{
    int null = open("/dev/null", O_RDWR), chance = open("/dev/urandom", O_RDONLY);
    int out = open("/dev/stdout", O_WRONLY), in = open("/dev/stdin", O_RDONLY);
    char got[64] = "";

    (void)state;
    assert_int_equal(write(null, "x", 1), 1);
    assert_int_equal(read(null, got, 1), 0);
    assert_int_equal(read(chance, got, 64), 64);
    assert_int_equal(write(out, "o", 1), 1);
    assert_string_equal(printed[1], "o");
    assert_int_equal(read(in, got, 5), 5);
    assert_fails(open("/dev/sda", O_RDONLY), ENOENT);
}

static void parts_are_one_after_another(void **state)
{
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    char a[3] = "", b[3] = "";
    char c[3] = "ab", d[3] = "cd";
    struct iovec put[2] = {{.iov_base = c, .iov_len = 2}, {.iov_base = d, .iov_len = 2}};
    struct iovec get[2] = {{.iov_base = a, .iov_len = 2}, {.iov_base = b, .iov_len = 2}};

    (void)state;
    assert_int_equal(writev(fd, put, 2), 4);
    assert_int_equal(pwritev2(fd, put, 2, 3, 0), 4);
    assert_int_equal(preadv2(fd, get, 2, 5, 0), 2);
    assert_string_equal(a, "cd");
    assert_int_equal(lseek(fd, 1, SEEK_SET), 1);
    assert_int_equal(readv(fd, get, 2), 4);
    assert_string_equal(a, "bc");
    assert_string_equal(b, "ab");
    assert_fails(readv(99, get, 2), EBADF);
}

static void files_are_copied_within(void **state)
{
    int from = open("f", O_RDWR | O_CREAT, 0600), to = open("g", O_RDWR | O_CREAT, 0600);
    off64_t at = 1, to_at = 40000;
    char piece[40000], got[2];

    (void)state;
    memset(piece, 'x', sizeof(piece));
    piece[1] = 'y';
    assert_int_equal(write(from, piece, sizeof(piece)), sizeof(piece));
    assert_int_equal(lseek(from, 0, SEEK_SET), 0);
    assert_int_equal(sendfile(to, from, NULL, 1 << 20), sizeof(piece));
    assert_int_equal(sendfile(to, from, NULL, 1), 0);
    assert_int_equal(copy_file_range(from, &at, to, &to_at, 1, 0), 1);
    assert_int_equal(at, 2);
    assert_int_equal(pread(to, got, 2, 40000), 1);
    assert_int_equal(got[0], 'y');
    assert_fails(sendfile(99, from, &at, 1), EBADF);
    assert_fails(sendfile(to, 99, NULL, 1), EBADF);
}

/* Makes, writes, reads and removes a file again and again, and says what went wrong. */
static void *work(void *name)
{
    char got[4];
    int i, fd, copy;

    for (i = 0; i < 500; i++) {
        fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        copy = dup(fd);
        if (fd < 0 || copy < 0 || write(fd, name, 1) != 1 || pread(copy, got, 4, 0) != 1 ||
            got[0] != *(char *)name || close(fd) != 0 || close(copy) != 0 || unlink(name) != 0) {
            return name;
        }
    }
    return NULL;
}

static void threads_do_not_meet(void **state)
{
    char names[4][2] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    void *failed;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, names[i]), 0);
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_int_equal(fs.files_count, 1);
}

static void without_files_there_is_output_only(void **state)
{
    (void)state;
    assert_fails(open("f", O_RDWR | O_CREAT, 0600), EPERM);
    assert_int_equal(write(1, "out", 3), 3);
    assert_string_equal(printed[1], "out");
    assert_int_equal(dup(1), 4);
    assert_int_equal(open("/dev/null", O_WRONLY), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_program_they_are_libcs),
        WITH_FILES(bytes_go_in_and_come_out),
        WITH_FILES(standard_ones_are_the_runs),
        WITH_FILES(the_control_socket_is_nobodys),
        WITH_FILES(output_can_be_sent_elsewhere_and_back),
        WITH_FILES(devices_are_what_programs_expect),
        WITH_FILES(parts_are_one_after_another),
        WITH_FILES(files_are_copied_within),
        WITH_FILES(threads_do_not_meet),
        WITHOUT_FILES(without_files_there_is_output_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
