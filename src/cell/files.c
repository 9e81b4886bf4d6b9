/* files.c - see files.h.
 *
 * Every step goes from an open directory to a name in it that is no link. A directory is opened
 * anew from the root for each look, part by part, so that the walk needs two descriptors however
 * deep the tree is, and no stack. */
#include "cell/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/glob.h"
#include "wire/frame.h"

enum {
    /* Names of directories that wait for their turn: the kernel has spent more on each. */
    PENDING_BYTES_MAX = 16 * 1024 * 1024,
    MODE_BITS = 0777,
    MODE_DEFAULT = 0644,
    DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* ---- in ---- */

void files_in_init(struct files_in *in, int root)
{
    in->root = root;
    in->fd = -1;
    in->sys = 0;
    in->name[0] = '\0';
}

void files_in_end(struct files_in *in)
{
    fd_closep(&in->fd);
}

/* The next directory on the way down, made when make is set; closes dir unless it is root. */
static int step_down(int root, int dir, const char *part, int make)
{
    int next, saved;

    if (make && mkdirat(dir, part, 0755) < 0 && errno != EEXIST) {
        next = -1;
    } else {
        next = openat(dir, part, DIR_FLAGS);
    }
    saved = errno;
    if (dir != root) {
        (void)close(dir);
    }
    errno = saved;
    return next;
}

/* Opens a directory beneath root, part by part; "" is root itself. The caller closes what it gets.
 */
static int open_dir(int root, const char *name, size_t len, int make)
{
    char part[FILE_NAME_PART_BYTES_MAX + 1];
    const char *end = name + len;
    const char *slash;
    size_t n;
    int dir = root;

    if (len == 0) {
        return openat(root, ".", DIR_FLAGS);
    }
    while (name < end && dir >= 0) {
        slash = memchr(name, '/', (size_t)(end - name));
        n = (size_t)((slash != NULL ? slash : end) - name);
        if (n == 0 || n >= sizeof(part)) {
            errno = ENAMETOOLONG;
            if (dir != root) {
                (void)close(dir);
            }
            return -1;
        }
        memcpy(part, name, n);
        part[n] = '\0';
        dir = step_down(root, dir, part, make);
        name = slash != NULL ? slash + 1 : end;
    }
    return dir;
}

int files_make_dir(int root, const char *name, size_t len)
{
    return open_dir(root, name, len, 1);
}

/* Makes the file and leaves it open. */
static int begin_file(struct files_in *in, const char *name, size_t len)
{
    const char *slash;
    int dir;

    if (name_fault(name, len) != NULL) { /* the host has checked it too */
        return -1;
    }
    memcpy(in->name, name, len);
    in->name[len] = '\0';
    slash = strrchr(in->name, '/');
    dir = open_dir(in->root, in->name, slash != NULL ? (size_t)(slash - in->name) : 0, 1);
    in->fd = dir < 0 ? -1
                     : openat(dir, slash != NULL ? slash + 1 : in->name,
                           O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, MODE_DEFAULT);
    in->sys = in->fd < 0 ? errno : 0;
    if (dir >= 0) {
        (void)close(dir);
    }
    return 0;
}

int files_in_take(struct files_in *in, const char *payload, size_t len)
{
    struct field f;
    uint32_t mode;
    size_t at = 0;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1 && in->sys == 0) {
        if (f.tag == FIELD_FILE_NAME) {
            files_in_end(in);
            r = begin_file(in, f.bytes, f.len);
        } else if (f.tag == FIELD_FILE_MODE && in->fd >= 0 && field_u32(&f, &mode) == 0) {
            in->sys = fchmod(in->fd, mode & MODE_BITS) < 0 ? errno : 0;
        } else if (f.tag == FIELD_FILE_BYTES && in->fd >= 0) {
            in->sys = fd_write_all(in->fd, f.bytes, f.len) < 0 ? errno : 0;
        } else {
            r = -1;
        }
        if (r < 0) {
            return -1;
        }
    }
    return r < 0 ? -1 : 0;
}

/* ---- out ---- */

struct walk {
    const struct files_out *out;
    uint32_t *left;
    struct buf pending;  /* names of directories still to be read, each with its NUL */
    unsigned parts_max;  /* how deep a match can lie */
    unsigned sent_count; /* files */
    uint64_t sent_bytes;
    char path[2 * FILE_NAME_BYTES_MAX]; /* of the present entry */
    size_t path_len;
};

static int is_wanted(const struct files_out *out, const char *name, size_t len)
{
    struct field f;
    size_t at = 0;

    while (field_next(out->fields, out->fields_len, &at, &f) == 1) {
        if (f.tag == FIELD_OUT && glob_match(f.bytes, f.len, name, len)) {
            return 1;
        }
    }
    return 0;
}

/* A match lies no deeper than the pattern with the most parts, unless one has a double star. */
static unsigned parts_of_patterns(const struct files_out *out)
{
    unsigned most = 0, parts;
    struct field f;
    size_t at = 0, i;

    while (field_next(out->fields, out->fields_len, &at, &f) == 1) {
        if (f.tag != FIELD_OUT) {
            continue;
        }
        if (memmem(f.bytes, f.len, "**", 2) != NULL) {
            return FILE_NAME_PARTS_MAX;
        }
        parts = 1;
        for (i = 0; i < f.len; i++) {
            parts += f.bytes[i] == '/';
        }
        most = parts > most ? parts : most;
    }
    return most < FILE_NAME_PARTS_MAX ? most : FILE_NAME_PARTS_MAX;
}

/* Sends the pieces of an open file. The first one carries its name and mode. */
static void send_file(struct walk *w, int fd, const struct stat *st)
{
    static char frame[FRAME_FILE_BYTES_MAX];
    uint32_t mode = st->st_mode & MODE_BITS;
    uint64_t size = (uint64_t)st->st_size, done = 0;
    size_t at, want;
    ssize_t n;

    field_head(frame, FIELD_FILE_NAME, (uint32_t)w->path_len);
    memcpy(frame + FIELD_HEAD_BYTES, w->path, w->path_len);
    at = FIELD_HEAD_BYTES + w->path_len;
    field_head(frame + at, FIELD_FILE_MODE, sizeof(mode));
    memcpy(frame + at + FIELD_HEAD_BYTES, &mode, sizeof(mode));
    at += FIELD_HEAD_BYTES + sizeof(mode);
    do {
        want = size - done < FRAME_FILE_PIECE_BYTES ? (size_t)(size - done)
                                                    : (size_t)FRAME_FILE_PIECE_BYTES;
        n = fd_read_up_to(fd, frame + at + FIELD_HEAD_BYTES, want);
        n = n > 0 ? n : 0;
        field_head(frame + at, FIELD_FILE_BYTES, (uint32_t)n);
        w->out->send(frame, at + FIELD_HEAD_BYTES + (size_t)n);
        done += (uint64_t)n;
        at = 0;
    } while (n > 0 && done < size);
    w->sent_count++;
    w->sent_bytes += done;
}

/* Nobody runs beside us, but it costs nothing to believe only what the open file says. */
static void take_file(struct walk *w, int dir, const char *name)
{
    struct stat st;
    int fd;

    if (w->sent_count >= FILES_OUT_MAX) {
        w->left[LEFT_MANY]++;
        return;
    }
    fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0) {
        w->left[errno == ELOOP ? LEFT_SYMLINK : LEFT_UNREADABLE]++;
    } else if (!S_ISREG(st.st_mode)) {
        w->left[LEFT_SPECIAL]++;
    } else if ((uint64_t)st.st_size > w->out->bytes_max - w->sent_bytes) {
        w->left[LEFT_LARGE]++;
    } else {
        send_file(w, fd, &st);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static unsigned parts_in(const char *name)
{
    unsigned parts = 1;

    for (; *name != '\0'; name++) {
        parts += *name == '/';
    }
    return parts;
}

/* A directory waits for its turn when something in it can match. */
static void take_directory(struct walk *w)
{
    if (parts_in(w->path) < w->parts_max) {
        if (name_fault(w->path, w->path_len) != NULL) {
            w->left[LEFT_NAME]++;
        } else if (buf_add(&w->pending, w->path, w->path_len + 1, NULL) < 0) {
            w->left[LEFT_MANY]++;
        }
    } else if (w->parts_max == FILE_NAME_PARTS_MAX) {
        w->left[LEFT_DEEP]++;
    }
}

static void take_entry(struct walk *w, int dir, const char *name)
{
    struct stat st;

    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return;
    }
    if (S_ISDIR(st.st_mode)) {
        take_directory(w);
    } else if (name_fault(w->path, w->path_len) != NULL) {
        w->left[LEFT_NAME]++;
    } else if (is_wanted(w->out, w->path, w->path_len)) {
        if (S_ISREG(st.st_mode)) {
            take_file(w, dir, name);
        } else {
            w->left[S_ISLNK(st.st_mode) ? LEFT_SYMLINK : LEFT_SPECIAL]++;
        }
    }
}

/* Looks at everything in one directory. Its name is in path already. */
static void read_directory(struct walk *w)
{
    const struct dirent *e;
    size_t base = w->path_len, n;
    int fd = open_dir(w->out->root, w->path, w->path_len, 0);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (dir == NULL) {
        w->left[LEFT_UNREADABLE]++;
        fd_closep(&fd);
        return;
    }
    if (base > 0) {
        w->path[base++] = '/';
    }
    while ((e = readdir(dir)) != NULL) {
        n = strlen(e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        memcpy(w->path + base, e->d_name, n + 1); /* fits: a checked name and one part */
        w->path_len = base + n;
        take_entry(w, dirfd(dir), e->d_name);
    }
    (void)closedir(dir);
}

void files_collect(const struct files_out *out, uint32_t left[LEFT_COUNT])
{
    static struct walk w;
    size_t at = 0;

    memset(left, 0, LEFT_COUNT * sizeof(left[0]));
    memset(&w, 0, sizeof(w));
    w.out = out;
    w.left = left;
    w.parts_max = parts_of_patterns(out);
    buf_init(&w.pending, PENDING_BYTES_MAX);
    read_directory(&w); /* the root: its name is empty */
    while (at < w.pending.len) {
        w.path_len = strlen(w.pending.data + at);
        memcpy(w.path, w.pending.data + at, w.path_len + 1);
        at += w.path_len + 1;
        read_directory(&w);
    }
    buf_release(&w.pending);
}
