/* files_stdio.c - see files.h: libc's FILEs over the run's files, for libraries that use them. */
#include "cell/python/files_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ssize_t cookie_read(void *cookie, char *bytes, size_t len)
{
    return files_read((int)(intptr_t)cookie, bytes, len, -1);
}

/* Says 0 for a failure. */
static ssize_t cookie_write(void *cookie, const char *bytes, size_t len)
{
    int64_t n = files_write((int)(intptr_t)cookie, bytes, len, -1);

    return n < 0 ? 0 : n;
}

static int cookie_seek(void *cookie, off64_t *offset, int whence)
{
    int64_t at = files_lseek((int)(intptr_t)cookie, *offset, whence);

    *offset = at;
    return at < 0 ? -1 : 0;
}

static int cookie_close(void *cookie)
{
    return files_close((int)(intptr_t)cookie);
}

/* What a mode of fopen means for open; -1: nothing. */
static int flags_of(const char *mode)
{
    int flags;

    if (mode == NULL || (mode[0] != 'r' && mode[0] != 'w' && mode[0] != 'a')) {
        return -1;
    }
    flags = mode[0] == 'r'   ? O_RDONLY
            : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
                             : O_WRONLY | O_CREAT | O_APPEND;
    for (mode++; *mode != '\0' && *mode != ','; mode++) {
        flags = *mode == '+' ? (flags & ~O_ACCMODE) | O_RDWR : flags;
        flags |= *mode == 'x' ? O_EXCL : *mode == 'e' ? O_CLOEXEC : 0;
    }
    return flags;
}

static FILE *file_of(int fd, const char *mode)
{
    const cookie_io_functions_t functions = {
        .read = cookie_read, .write = cookie_write, .seek = cookie_seek, .close = cookie_close};
    char plain[4] = {mode[0], strchr(mode, '+') != NULL ? '+' : '\0', '\0', '\0'};
    FILE *file = fopencookie((void *)(intptr_t)fd, plain, functions);

    if (file != NULL) {
        file->_fileno = fd; /* so that fileno() tells it */
    }
    return file;
}

FILES_API FILE *fopen(const char *path, const char *mode)
{
    int flags = flags_of(mode);
    FILE *file;
    int fd;

    if (!files_are_on) {
        return FILES_REAL(fopen)(path, mode);
    }
    if (flags < 0) {
        errno = EINVAL;
        return NULL;
    }
    fd = files_open(AT_FDCWD, path, flags, 0666);
    file = fd >= 0 ? file_of(fd, mode) : NULL;
    if (fd >= 0 && file == NULL) {
        (void)files_close(fd);
    }
    return file;
}
FILES_ALSO(fopen, fopen64);

FILES_API FILE *fdopen(int fd, const char *mode)
{
    int flags = flags_of(mode);
    int64_t has;

    if (!files_are_on) {
        return FILES_REAL(fdopen)(fd, mode);
    }
    has = FILES_DO(memfs_get_flags(files_fs, fd));
    if (has < 0) {
        return NULL;
    }
    if (flags < 0 || ((has & O_ACCMODE) != O_RDWR && (has & O_ACCMODE) != (flags & O_ACCMODE))) {
        errno = EINVAL;
        return NULL;
    }
    if ((flags & O_APPEND) != 0) {
        (void)FILES_DO(memfs_set_flags(files_fs, fd, (int)has | O_APPEND));
    }
    return file_of(fd, mode);
}

FILES_API FILE *tmpfile(void)
{
    char path[] = "/tmp/tmpfXXXXXX";
    FILE *file;

    if (!files_are_on) {
        return FILES_REAL(tmpfile)();
    }
    /* A directory is what memfs makes under a new name; the file in it has no name for long. */
    if (FILES_AT(AT_FDCWD, path, memfs_mkdtemp(files_fs, path)) < 0 ||
        FILES_DO(memfs_rmdir(files_fs, path)) < 0) {
        return NULL;
    }
    file = fopen(path, "w+x");
    if (file != NULL) {
        (void)FILES_DO(memfs_unlink(files_fs, path));
    }
    return file;
}
FILES_ALSO(tmpfile, tmpfile64);
