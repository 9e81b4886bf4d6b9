/* files_inside.h - what the files_*.c share; see files.h. To be included first, for the headers
 * must neither give the names that are defined there to other symbols nor define them themselves.
 */
#ifndef VIAL_CELL_PYTHON_FILES_INSIDE_H
#define VIAL_CELL_PYTHON_FILES_INSIDE_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cell/memfs.h"

_Static_assert(sizeof(struct stat) == sizeof(struct stat64) && sizeof(off_t) == 8,
    "a function and its form with 64 in the name are the same");

enum { FILES_USER = 1000 }; /* and group: who programs are told they are */

/* What is no file of the run, as memfs knows it by number. */
enum files_stream { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAM_NULL, STREAM_RANDOM };

/* For a function that libraries call in the place of libc's. */
#define FILES_API __attribute__((visibility("default")))

/* The same function by another name. */
#define FILES_ALSO(name, other)                                                                    \
    __asm__(".globl " #other "\n.type " #other ", %function\n.set " #other ", " #name "\n")

/* libc's own, for the time before the first program. */
#define FILES_REAL(name)                                                                           \
    (__extension__({                                                                               \
        static __typeof__(name) *real_one;                                                         \
        if (real_one == NULL) {                                                                    \
            real_one = (__typeof__(name) *)files_real(#name);                                      \
        }                                                                                          \
        real_one;                                                                                  \
    }))

/* -1 and errno for a result of memfs that is -errno; else the result. */
#define FILES_DO(expression)                                                                       \
    (__extension__({                                                                               \
        int64_t did;                                                                               \
        files_lock();                                                                              \
        did = (expression);                                                                        \
        files_unlock();                                                                            \
        files_answer(did);                                                                         \
    }))

/* The same for a path that begins at an open directory, or at the working directory. */
#define FILES_AT(dirfd, path, expression)                                                          \
    (__extension__({                                                                               \
        struct memfs_at was;                                                                       \
        int64_t did = files_at_begin(dirfd, path, &was);                                           \
        if (did == 0) {                                                                            \
            did = (expression);                                                                    \
            files_at_end(&was);                                                                    \
        }                                                                                          \
        files_answer(did);                                                                         \
    }))

extern int files_are_on;       /* a program has begun */
extern int files_exist;        /* the run has files */
extern struct memfs *files_fs; /* of the run; without files only for its descriptors */

void *files_real(const char *name);
void files_lock(void);
void files_unlock(void);
int64_t files_answer(int64_t r);

/* Locks, and makes paths begin at dirfd when it matters; 0, or -errno and nothing was done. */
int files_at_begin(int dirfd, const char *path, struct memfs_at *ret_was);
void files_at_end(const struct memfs_at *was);

/* The stream that a name in /dev means, or -1. */
int files_device(const char *path);
void files_stream_stat(int stream, struct stat *ret);

/* ---- files_fd.c; offset -1: where the descriptor is. Errors are in errno. ---- */

int files_open(int dirfd, const char *path, int flags, uint32_t mode);
int files_close(int fd);
int64_t files_read(int fd, void *bytes, size_t len, int64_t offset);
int64_t files_write(int fd, const void *bytes, size_t len, int64_t offset);
int64_t files_lseek(int fd, int64_t offset, int whence);

/* What comes in through standard input. */
void files_set_input(const char *bytes, size_t len);

/* ---- files_mmap.c; all with the lock held. ---- */

extern unsigned files_maps_count;

/* What was changed through memory goes to the file of this descriptor. */
void files_maps_flush(int fd);

/* What was changed in the file is seen through memory. */
void files_maps_refresh(int fd);
void files_maps_flush_all(void);

#endif
