/* test_files_control.c - what libc's functions say about descriptors, and change about them. */
#include "python_files.h"

#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>

static void standard_ones_are_pipes(void **state)
{
    struct stat st;
    int fd;

    (void)state;
    for (fd = 0; fd < 3; fd++) {
        assert_int_equal(fstat(fd, &st), 0);
        assert_true(S_ISFIFO(st.st_mode));
        errno = 0;
        assert_int_equal(isatty(fd), 0);
        assert_int_equal(errno, ENOTTY);
        assert_fails(ioctl(fd, TIOCGWINSZ, &st), ENOTTY);
        assert_fails(ftruncate(fd, 0), EINVAL);
        assert_fails(fsync(fd), EINVAL);
    }
    assert_fails(fstat(3, &st), EBADF);
    assert_int_equal(fstat(open("/dev/null", O_RDWR), &st), 0);
    assert_true(S_ISCHR(st.st_mode));
}

static void flags_are_kept(void **state)
{
    int fd = open("f", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), copy;

    (void)state;
    assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_CREAT), O_WRONLY | O_APPEND);
    assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_APPEND, 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
    assert_int_equal(fcntl(fd, F_GETFD), 0);
    assert_int_equal(ioctl(fd, FIOCLEX), 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    assert_int_equal(copy, 10);
    assert_int_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_DUPFD, 0), 5);
    assert_fails(fcntl(fd, F_GETPIPE_SZ), EINVAL);
}

static void every_lock_is_to_be_had(void **state)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    int fd = open("f", O_RDWR | O_CREAT, 0600);

    (void)state;
    assert_int_equal(fcntl(fd, F_SETLK, &lock), 0);
    assert_int_equal(fcntl(fd, F_OFD_SETLKW, &lock), 0);
    assert_int_equal(fcntl(fd, F_GETLK, &lock), 0);
    assert_int_equal(lock.l_type, F_UNLCK);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(lockf(fd, F_LOCK, 1), 0);
    assert_fails(flock(3, LOCK_EX), EBADF);
    assert_fails(fcntl(3, F_SETLK, &lock), EBADF);
}

static void sizes_change(void **state)
{
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    struct stat st;

    (void)state;
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 100);
    assert_int_equal(posix_fallocate(fd, 0, 8192), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_blocks, 16);
    assert_int_equal(posix_fallocate(fd, 0, 0), EINVAL);
    assert_int_equal(posix_fallocate(fd, 0, 2 << 20), EFBIG);
    assert_int_equal(posix_fallocate(1, 0, 1), ESPIPE);
    assert_int_equal(fallocate(fd, 0, 0, 9000), 0);
    assert_fails(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1), EOPNOTSUPP);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM), 0);
    assert_int_equal(posix_fadvise(99, 0, 0, POSIX_FADV_RANDOM), EBADF);
    assert_int_equal(fsync(fd), 0);
    assert_int_equal(fdatasync(fd), 0);
    sync();
}

static void properties_change(void **state)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 2}};
    int fd = open("f", O_RDWR | O_CREAT, 0600);
    struct stat st;

    (void)state;
    assert_int_equal(fchmod(fd, 0400), 0);
    assert_int_equal(futimens(fd, times), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0400);
    assert_int_equal(st.st_mtim.tv_sec, 2);
    assert_int_equal(futimens(fd, NULL), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_true(st.st_mtim.tv_sec > 2);
    assert_int_equal(fchown(fd, FILES_USER, (gid_t)-1), 0);
    assert_fails(fchown(fd, 0, 0), EPERM);
    assert_fails(fchown(3, 0, 0), EBADF);
}

static void room_is_told(void **state)
{
    struct statvfs st;
    struct statfs plain;

    (void)state;
    assert_int_equal(statvfs("/tmp", &st), 0);
    assert_int_equal(st.f_blocks * st.f_frsize, LIMITS.bytes_max);
    assert_int_equal(fstatvfs(open("f", O_RDWR | O_CREAT, 0600), &st), 0);
    assert_int_equal(st.f_namemax, 255);
    assert_int_equal(statfs(".", &plain), 0);
    assert_fails(statvfs("none", &st), ENOENT);
    assert_fails(fstatvfs(99, &st), EBADF);
    assert_int_equal(pathconf(".", _PC_NAME_MAX), 255);
    assert_int_equal(fpathconf(4, _PC_PATH_MAX), 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(standard_ones_are_pipes),
        WITH_FILES(flags_are_kept),
        WITH_FILES(every_lock_is_to_be_had),
        WITH_FILES(sizes_change),
        WITH_FILES(properties_change),
        WITH_FILES(room_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
