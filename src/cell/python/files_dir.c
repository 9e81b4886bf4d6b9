/* files_dir.c - see files.h: reading directories. A directory is read as a whole when its first
 * entry is asked for, so that names that come and go meanwhile are seen or not, but never twice. */
#include "cell/python/files_inside.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

enum { LISTING_BYTES_MAX = 512 * 1024 * 1024 }; /* more than the largest number of files can have */

/* libc's type for this is opaque; this is what is behind it here. */
struct __dirstream {
    int fd;
    int is_read;
    size_t at;
    struct buf entries; /* one after another: struct entry, the name, NUL */
    struct dirent64 entry;
};

struct entry {
    uint64_t ino;
    uint32_t type; /* as S_IFMT has it */
    uint32_t len;
};

static int add_entry(const char *name, size_t len, uint32_t type, void *user)
{
    struct entry e = {.type = type, .len = (uint32_t)len};
    char text[NAME_MAX + 1];
    struct buf *entries = user;

    if (len > NAME_MAX) {
        return 0;
    }
    memcpy(text, name, len);
    text[len] = '\0';
    e.ino = memfs_ino_of(files_fs, text);
    e.ino = e.ino != 0 ? e.ino : 1; /* 0 means none */
    return buf_add(entries, &e, sizeof(e), NULL) < 0 || buf_add(entries, text, len + 1, NULL) < 0
               ? -ENOMEM
               : 0;
}

/* With the lock held. */
static int read_entries(DIR *dir)
{
    struct memfs_at was;
    int r = memfs_at_begin(files_fs, dir->fd, &was);

    if (r < 0) {
        return r;
    }
    buf_clear(&dir->entries);
    dir->at = 0;
    r = add_entry(".", 1, S_IFDIR, &dir->entries);
    r = r < 0 ? r : add_entry("..", 2, S_IFDIR, &dir->entries);
    r = r < 0 ? r : memfs_list(files_fs, ".", add_entry, &dir->entries);
    memfs_at_end(files_fs, &was);
    dir->is_read = r == 0;
    return r;
}

static DIR *new_dir(int fd)
{
    DIR *dir = calloc(1, sizeof(*dir));

    if (dir != NULL) {
        dir->fd = fd;
        buf_init(&dir->entries, LISTING_BYTES_MAX);
    }
    return dir;
}

FILES_API DIR *opendir(const char *path)
{
    DIR *dir;
    int fd;

    if (!files_are_on) {
        return FILES_REAL(opendir)(path);
    }
    fd = files_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    dir = fd >= 0 ? new_dir(fd) : NULL;
    if (fd >= 0 && dir == NULL) {
        (void)files_close(fd);
        errno = ENOMEM;
    }
    return dir;
}

FILES_API DIR *fdopendir(int fd)
{
    char path[PATH_MAX];
    int r;

    if (!files_are_on) {
        return FILES_REAL(fdopendir)(fd);
    }
    files_lock();
    r = memfs_fd_path(files_fs, fd, path);
    files_unlock();
    if (r == -EBADF || r == -ENOTDIR) {
        (void)files_answer(r);
        return NULL;
    }
    return new_dir(fd); /* what has no path any more can be read all the same */
}

FILES_API struct dirent *readdir(DIR *dir)
{
    struct entry e;

    if (!files_are_on) {
        return FILES_REAL(readdir)(dir);
    }
    if (!dir->is_read && FILES_DO(read_entries(dir)) < 0) {
        return NULL;
    }
    if (dir->at >= dir->entries.len) {
        return NULL;
    }
    memcpy(&e, dir->entries.data + dir->at, sizeof(e));
    dir->entry.d_ino = e.ino;
    dir->entry.d_off = (off_t)(dir->at + sizeof(e) + e.len + 1);
    dir->entry.d_reclen = sizeof(dir->entry);
    dir->entry.d_type = (unsigned char)IFTODT(e.type);
    memcpy(dir->entry.d_name, dir->entries.data + dir->at + sizeof(e), e.len + 1);
    dir->at = (size_t)dir->entry.d_off;
    return (struct dirent *)&dir->entry;
}
FILES_ALSO(readdir, readdir64);
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one function does for both");

FILES_API void rewinddir(DIR *dir)
{
    if (!files_are_on) {
        FILES_REAL(rewinddir)(dir);
        return;
    }
    dir->at = 0;
    dir->is_read = 0;
}

FILES_API int dirfd(DIR *dir)
{
    return files_are_on ? dir->fd : FILES_REAL(dirfd)(dir);
}

FILES_API int closedir(DIR *dir)
{
    int fd;

    if (!files_are_on) {
        return FILES_REAL(closedir)(dir);
    }
    fd = dir->fd;
    buf_release(&dir->entries);
    free(dir);
    return files_close(fd);
}
