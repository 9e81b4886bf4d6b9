/* files.c - see files.h: the two modes, the lock, and where paths begin. */
#include "cell/python/files_inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cell/python/files.h"

/* Of a run without files, which still reads Python's library. */
static const struct memfs_limits NO_FILES = {.open_max = 64};
static const char LIBRARY[] = "/usr/";

int files_are_on;
int files_exist;
struct memfs *files_fs;

static struct memfs no_files;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *files_real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL) {
        _exit(1); /* a libc without it is not the one this was built for */
    }
    return found;
}

void files_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void files_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

int64_t files_answer(int64_t r)
{
    if (r < 0) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

/* The first program finds its input and output in the places where programs look for them. */
static void make_streams(void)
{
    if (memfs_open_stream(files_fs, STDIN_FILENO, STREAM_IN, O_RDONLY) < 0 ||
        memfs_open_stream(files_fs, STDOUT_FILENO, STREAM_OUT, O_WRONLY) < 0 ||
        memfs_open_stream(files_fs, STDERR_FILENO, STREAM_ERR, O_WRONLY) < 0) {
        _exit(1); /* no memory for the first thing there is */
    }
}

void py_files_begin(const struct guest_start *start, int (*furnish)(struct memfs *fs))
{
    if (!files_are_on) {
        if (start->files == NULL) {
            memfs_init(&no_files, &NO_FILES);
            no_files.on_begin = furnish;
        }
        files_fs = start->files != NULL ? start->files : &no_files;
        files_exist = start->files != NULL;
        files_set_input(start->stdin_bytes, start->stdin_len);
        make_streams();
        files_are_on = 1;
    }
}

void py_files_settle(void)
{
    if (files_are_on && files_maps_count > 0) {
        files_lock();
        files_maps_flush_all();
        files_unlock();
    }
}

void py_files_branched(void)
{
    (void)pthread_mutex_init(&lock, NULL);
}

void py_files_end(void)
{
    files_are_on = 0;
    memfs_release(&no_files);
}

int files_at_begin(int dirfd, const char *path, struct memfs_at *ret_was)
{
    int r = path == NULL ? -EFAULT : 0;

    if (r == 0 && !files_exist && strncmp(path, LIBRARY, sizeof(LIBRARY) - 1) != 0) {
        r = -EPERM;
    }
    if (r < 0) {
        return r;
    }
    ret_was->cwd = NULL;
    files_lock();
    if (dirfd != AT_FDCWD && path[0] != '/') {
        r = memfs_at_begin(files_fs, dirfd, ret_was);
    }
    if (r < 0) {
        files_unlock();
    }
    return r;
}

void files_at_end(const struct memfs_at *was)
{
    if (was->cwd != NULL) {
        memfs_at_end(files_fs, was);
    }
    files_unlock();
}

int files_device(const char *path)
{
    static const struct {
        const char *name;
        enum files_stream stream;
    } names[] = {{"/dev/null", STREAM_NULL}, {"/dev/urandom", STREAM_RANDOM},
        {"/dev/random", STREAM_RANDOM}, {"/dev/stdin", STREAM_IN}, {"/dev/stdout", STREAM_OUT},
        {"/dev/stderr", STREAM_ERR}, {"/dev/fd/0", STREAM_IN}, {"/dev/fd/1", STREAM_OUT},
        {"/dev/fd/2", STREAM_ERR}};
    size_t i;

    if (path == NULL || strncmp(path, "/dev/", 5) != 0) {
        return -1;
    }
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(path, names[i].name) == 0) {
            return (int)names[i].stream;
        }
    }
    return -1;
}

/* Python makes its errors of what this says. An operation that a rule refused says which. */
FILES_API char *strerror(int number)
{
    static char text[sizeof(files_fs->denied_by) + 64];

    if (!files_are_on || number != EACCES || files_fs->denied_by[0] == '\0') {
        return FILES_REAL(strerror)(number);
    }
    (void)snprintf(text, sizeof(text), "Permission denied by %s", files_fs->denied_by);
    files_fs->denied_by[0] = '\0';
    return text;
}

void files_stream_stat(int stream, struct stat *ret)
{
    *ret = (struct stat){.st_ino = (ino_t)(stream + 1),
        .st_dev = 2, /* files have 1 */
        .st_mode = stream >= STREAM_NULL ? S_IFCHR | 0666 : S_IFIFO | 0600,
        .st_nlink = 1,
        .st_uid = FILES_USER,
        .st_gid = FILES_USER,
        .st_blksize = MEMFS_PAGE};
}
