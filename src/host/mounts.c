/* mounts.c - see mounts.h. */
#include "host/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "jail/mutate.h"
#include "wire/field.h"
#include "wire/library.h"
#include "wire/look.h"

struct mounts {
    unsigned count;
    struct {
        int fd;     /* the directory */
        char *name; /* what the guest calls it */
    } items[DOCUMENT_MOUNTS_MAX];
};

int mounts_open(const struct document *d, struct mounts **ret, struct vial_error *err)
{
    struct mounts *m;
    size_t i;

    *ret = NULL;
    if (d->mounts_count == 0) {
        return VIAL_OK;
    }
    m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for mounts");
    }
    for (i = 0; i < d->mounts_count && i < DOCUMENT_MOUNTS_MAX; i++) {
        int fd = open(d->mounts[i].from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0) {
            int sys = errno;

            mounts_free(m);
            return vial__fail(err, VIAL_E_INVALID, "the directory %s of the environment %s: %s",
                d->mounts[i].from, d->name, strerrordesc_np(sys));
        }
        m->items[i].fd = fd;
        m->items[i].name = strdup(d->mounts[i].name);
        m->count++;
        if (m->items[i].name == NULL) {
            mounts_free(m);
            return vial__fail(err, VIAL_E_NOMEM, "no memory for mounts");
        }
    }
    *ret = m;
    return VIAL_OK;
}

void mounts_free(struct mounts *m)
{
    unsigned i;

    for (i = 0; m != NULL && i < m->count; i++) {
        fd_closep(&m->items[i].fd);
        free(m->items[i].name);
    }
    free(m);
}

int mounts_add_fields(const struct mounts *m, struct buf *fields, struct vial_error *err)
{
    unsigned i;
    int r = VIAL_OK;

    for (i = 0; r == VIAL_OK && i < m->count; i++) {
        r = field_add(fields, FIELD_MOUNT, m->items[i].name, strlen(m->items[i].name), err);
    }
    return r;
}

/* Opens what the path means inside of the directory; links that lead out of it lead nowhere, and
 * what is neither a file nor a directory is not there. */
static int open_beneath(int dir, const char *path, struct stat *st)
{
    uint64_t beneath = mutate_without_part("library-beneath") ? 0 : RESOLVE_BENEATH;
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
        .resolve = beneath | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, dir, path[0] != '\0' ? path : ".", &how, sizeof(how));

    if (fd < 0) {
        if (errno == EXDEV) {
            errno = EACCES;
        }
        return -1;
    }
    if (fstat(fd, st) < 0 || (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))) {
        fd_closep(&fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

static int look_stat(const struct stat *st, struct buf *answer)
{
    struct look_stat seen = {.type = S_ISDIR(st->st_mode) ? LOOK_DIRECTORY : LOOK_FILE,
        .mode = st->st_mode & 0555,
        .size = (uint64_t)st->st_size,
        .mtime_s = st->st_mtim.tv_sec,
        .mtime_ns = (uint32_t)st->st_mtim.tv_nsec};

    return buf_add(answer, &seen, sizeof(seen), NULL) < 0 ? ENOMEM : 0;
}

static int look_read(int fd, const struct look *look, struct buf *answer)
{
    size_t len = look->len < LOOK_BYTES_MAX ? look->len : LOOK_BYTES_MAX;
    ssize_t n;

    if (look->offset > INT64_MAX || buf_reserve(answer, len, NULL) < 0) {
        return look->offset > INT64_MAX ? EINVAL : ENOMEM;
    }
    n = pread(fd, answer->data, len, (off_t)look->offset);
    if (n < 0) {
        return errno;
    }
    answer->len = (size_t)n;
    return 0;
}

/* One name, when it is a file or a directory; 1 when there is no more room. */
static int add_name(int fd, const struct dirent *entry, struct buf *answer)
{
    size_t len = strlen(entry->d_name);
    struct stat st;
    char head[2];

    if (answer->len + sizeof(head) + len > LOOK_BYTES_MAX) {
        return 1;
    }
    if (fstatat(fd, entry->d_name, &st, 0) < 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
        st.st_mode = S_IFREG; /* it is listed all the same: numbers must not shift */
    }
    head[0] = S_ISDIR(st.st_mode) ? LOOK_DIRECTORY : LOOK_FILE;
    head[1] = (char)len;
    return buf_add(answer, head, sizeof(head), NULL) < 0 ||
           buf_add(answer, entry->d_name, len, NULL) < 0;
}

static int look_list(int fd, const struct look *look, struct buf *answer)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    const struct dirent *entry;
    uint64_t number = 0;

    if (dir == NULL) {
        int sys = errno;

        fd_closep(&copy);
        return sys;
    }
    while (
        (entry = readdir(dir)) != NULL) { /* NOLINT(concurrency-mt-unsafe): a stream of our own */
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (number++ >= look->offset && add_name(fd, entry, answer) != 0) {
            break;
        }
    }
    (void)closedir(dir);
    return 0;
}

/* The directory that a look is into, open, and -1 when there is none of this number. A library is
 * looked at so seldom that it is not kept open. */
static int open_mount(const struct mounts *m, unsigned library_count, uint32_t number)
{
    if (mutate_without_part("library-list")) {
        library_count = LIBRARY_DATA_COUNT;
    }
    if (number >= LIBRARY_MOUNT_FIRST) {
        return number - LIBRARY_MOUNT_FIRST < library_count
                   ? open(LIBRARY_PYTHON[number - LIBRARY_MOUNT_FIRST],
                         O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                   : -1;
    }
    return m != NULL && number < m->count ? fcntl(m->items[number].fd, F_DUPFD_CLOEXEC, 3) : -1;
}

static int answer_look(const struct look *look, int fd, const struct stat *st, struct buf *answer)
{
    if (look->what == LOOK_STAT) {
        return look_stat(st, answer);
    }
    if (look->what == LOOK_READ) {
        return S_ISREG(st->st_mode) ? look_read(fd, look, answer) : EISDIR;
    }
    return S_ISDIR(st->st_mode) ? look_list(fd, look, answer) : ENOTDIR;
}

int mounts_look(const struct mounts *m, unsigned library_count, const char *question, size_t len,
    int (*may)(const char *name, const char *path, const void *user), const void *user,
    struct buf *answer)
{
    char path[LOOK_PATH_BYTES_MAX + 1];
    struct look look;
    struct stat st;
    int dir, fd, sys;

    if (len < sizeof(look) || len - sizeof(look) > LOOK_PATH_BYTES_MAX) {
        return EINVAL;
    }
    memcpy(&look, question, sizeof(look));
    memcpy(path, question + sizeof(look), len - sizeof(look));
    path[len - sizeof(look)] = '\0';
    if (look.what > LOOK_LIST || look.zero != 0 || strlen(path) != len - sizeof(look)) {
        return EINVAL;
    }
    if (may != NULL && m != NULL && look.mount < m->count) {
        sys = may(m->items[look.mount].name, path, user);
        if (sys != 0) {
            return sys;
        }
    }
    dir = open_mount(m, library_count, look.mount);
    if (dir < 0) {
        return look.mount >= LIBRARY_MOUNT_FIRST ? ENOENT : EINVAL;
    }
    fd = open_beneath(dir, path, &st);
    sys = fd < 0 ? errno : answer_look(&look, fd, &st, answer);
    fd_closep(&dir);
    fd_closep(&fd);
    return sys;
}
