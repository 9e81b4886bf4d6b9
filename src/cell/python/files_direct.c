/* files_direct.c - the cell's own calls of functions that files_*.c define for the libraries:
 * always to the kernel, whose descriptors are not those of the program. The linker sends them here
 * (--wrap). The kernel's is the only one that may touch the control socket. */
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
