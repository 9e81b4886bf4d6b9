/* files_direct.c - the cell's own calls of functions that files_*.c define for the libraries:
 * always to the kernel, whose descriptors are not those of the program. The linker sends them here
 * (--wrap). The kernel's is the only one that may touch the control socket. */
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t __wrap_read(int fd, void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
int __wrap_close(int fd);
int __wrap_dup2(int from, int to);
int __wrap_ioctl(int fd, unsigned long what, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...);
ssize_t __wrap_pread64(int fd, void *bytes, size_t len, off_t at);

ssize_t __wrap_read(int fd, void *bytes, size_t len)
{
    return syscall(SYS_read, fd, bytes, len);
}

ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
    return syscall(SYS_write, fd, bytes, len);
}

int __wrap_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

int __wrap_dup2(int from, int to)
{
#ifdef SYS_dup2
    return (int)syscall(SYS_dup2, from, to); /* which is what libc calls, and the filter knows */
#else
    return from == to ? to : (int)syscall(SYS_dup3, from, to, 0);
#endif
}

int __wrap_ioctl(int fd, unsigned long what, ...)
{
    va_list rest;
    void *arg;

    va_start(rest, what);
    arg = va_arg(rest, void *);
    va_end(rest);
    return (int)syscall(SYS_ioctl, fd, what, arg);
}

/* The cell makes no files: there is no mode. */
int __wrap_open64(const char *path, int flags, ...)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

int __wrap_openat64(int dir_fd, const char *path, int flags, ...)
{
    return (int)syscall(SYS_openat, dir_fd, path, flags, 0);
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t len, off_t at)
{
    return syscall(SYS_pread64, fd, bytes, len, at);
}
