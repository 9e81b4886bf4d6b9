/* files.c - see files.h.
 *
 * Every step goes from a directory to a name in it that is no link, and not by a path, which might
 * lead through one. A directory that waits for its turn is a name in a buffer, so the walk needs no
 * stack however deep the tree is. */
#include "cell/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/glob.h"
#include "cell/memfs_tree.h"
#include "wire/frame.h"

enum {
    PENDING_BYTES_MAX = 16 * 1024 * 1024, /* of names of directories that wait for their turn */
    MODE_BITS = 0777,
    MODE_DEFAULT = 0644,
};

/* ---- in ---- */

void files_in_init(struct files_in *in, struct memfs *fs)
{
    in->fs = fs;
    in->file = NULL;
    in->at = 0;
    in->sys = 0;
    in->name[0] = '\0';
}

int files_enter(struct memfs *fs, const char *name, size_t len)
{
    struct memfs_node *dir = NULL;
    int r = name_fault(name, len) != NULL ? -EINVAL : memfs_make_dirs(fs, name, len, &dir);

    if (r == 0 && dir->dir.served != NULL) {
        return memfs_enter(fs, dir, "");
    }
    return r < 0 ? r : memfs_enter(fs, dir, NULL);
}

/* Empties the file that is there, or makes one. 0 or -errno. */
static int make_file(
    struct memfs *fs, struct memfs_node *dir, const char *name, size_t len, struct memfs_node **ret)
{
    const struct memfs_entry *e = memfs_find(dir, name, len);
    int r;

    if (e == NULL) {
        r = memfs_may_change(dir);
        return r < 0 ? r : memfs_make(fs, dir, name, len, S_IFREG | MODE_DEFAULT, ret);
    }
    if (!S_ISREG(e->node->mode)) {
        return S_ISDIR(e->node->mode) ? -EISDIR : -ELOOP;
    }
    *ret = e->node;
    r = memfs_may(e->node, MEMFS_W);
    return r < 0 ? r : memfs_data_resize(fs, &e->node->data, 0);
}

static int begin_file(struct files_in *in, const char *name, size_t len)
{
    struct memfs_node *dir = NULL;
    const char *slash;
    int r;

    if (name_fault(name, len) != NULL) { /* the host has checked it too */
        return -1;
    }
    memcpy(in->name, name, len);
    in->name[len] = '\0';
    slash = strrchr(in->name, '/');
    name = slash != NULL ? slash + 1 : in->name;
    r = memfs_make_dirs(in->fs, in->name, slash != NULL ? (size_t)(slash - in->name) : 0, &dir);
    r = r < 0 ? r : make_file(in->fs, dir, name, strlen(name), &in->file);
    in->at = 0;
    in->sys = -r;
    return 0;
}

static void add_bytes(struct files_in *in, const char *bytes, size_t len)
{
    int64_t n = memfs_data_write(in->fs, &in->file->data, bytes, len, in->at);

    in->at += n > 0 ? (uint64_t)n : 0;
    in->sys = n < 0 ? (int)-n : (size_t)n < len ? ENOSPC : 0;
}

int files_in_take(struct files_in *in, const char *payload, size_t len)
{
    struct field f;
    uint32_t mode;
    size_t at = 0;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1 && in->sys == 0) {
        if (f.tag == FIELD_FILE_NAME) {
            in->file = NULL;
            r = begin_file(in, f.bytes, f.len);
        } else if (f.tag == FIELD_FILE_MODE && in->file != NULL && field_u32(&f, &mode) == 0) {
            in->sys = -memfs_node_chmod(in->file, mode & MODE_BITS);
        } else if (f.tag == FIELD_FILE_BYTES && in->file != NULL) {
            add_bytes(in, f.bytes, f.len);
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

/* Sends the pieces of a file. The first one carries its name and mode. */
static void send_file(struct walk *w, const struct memfs_node *file)
{
    static char frame[FRAME_FILE_BYTES_MAX];
    uint32_t mode = file->mode & MODE_BITS;
    uint64_t done = 0;
    size_t at, n;

    field_head(frame, FIELD_FILE_NAME, (uint32_t)w->path_len);
    memcpy(frame + FIELD_HEAD_BYTES, w->path, w->path_len);
    at = FIELD_HEAD_BYTES + w->path_len;
    field_head(frame + at, FIELD_FILE_MODE, sizeof(mode));
    memcpy(frame + at + FIELD_HEAD_BYTES, &mode, sizeof(mode));
    at += FIELD_HEAD_BYTES + sizeof(mode);
    do {
        n = memfs_data_read(
            &file->data, frame + at + FIELD_HEAD_BYTES, FRAME_FILE_PIECE_BYTES, done);
        field_head(frame + at, FIELD_FILE_BYTES, (uint32_t)n);
        w->out->send(frame, at + FIELD_HEAD_BYTES + n);
        done += n;
        at = 0;
    } while (done < file->data.size);
    w->sent_count++;
    w->sent_bytes += done;
}

static void take_file(struct walk *w, const struct memfs_node *file)
{
    if (w->sent_count >= FILES_OUT_MAX) {
        w->left[LEFT_MANY]++;
    } else if (memfs_may(file, MEMFS_R) < 0) {
        w->left[LEFT_UNREADABLE]++;
    } else if (file->data.size > w->out->bytes_max - w->sent_bytes) {
        w->left[LEFT_LARGE]++;
    } else {
        send_file(w, file);
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

static void take_entry(struct walk *w, const struct memfs_node *node)
{
    if (S_ISDIR(node->mode)) {
        if (node->dir.served == NULL) {
            take_directory(w);
        }
    } else if (name_fault(w->path, w->path_len) != NULL) {
        w->left[LEFT_NAME]++;
    } else if (is_wanted(w->out, w->path, w->path_len)) {
        if (S_ISREG(node->mode)) {
            take_file(w, node);
        } else {
            w->left[LEFT_SYMLINK]++;
        }
    }
}

/* The directory whose name is in path, and "" is the root; NULL when it may not be entered. */
static const struct memfs_node *find_directory(const struct walk *w)
{
    const struct memfs_node *dir = w->out->fs->work;
    const char *name = w->path, *end = w->path + w->path_len;
    const struct memfs_entry *e;
    size_t n;

    while (dir != NULL && name < end) {
        const char *slash = memchr(name, '/', (size_t)(end - name));

        n = (size_t)((slash != NULL ? slash : end) - name);
        e = memfs_may(dir, MEMFS_X) == 0 ? memfs_find(dir, name, n) : NULL;
        dir = e != NULL && S_ISDIR(e->node->mode) ? e->node : NULL;
        name += slash != NULL ? n + 1 : n;
    }
    return dir != NULL && memfs_may(dir, MEMFS_R | MEMFS_X) == 0 ? dir : NULL;
}

/* Looks at everything in one directory. Its name is in path already. */
static void read_directory(struct walk *w)
{
    const struct memfs_node *dir = find_directory(w);
    const struct memfs_entry *e;
    size_t base = w->path_len;

    if (dir == NULL) {
        w->left[LEFT_UNREADABLE]++;
        return;
    }
    if (base > 0) {
        w->path[base++] = '/';
    }
    for (e = dir->dir.first; e != NULL; e = e->next) {
        memcpy(w->path + base, e->name, e->len + 1); /* fits: a checked name and one part */
        w->path_len = base + e->len;
        take_entry(w, e->node);
    }
}

void files_collect(const struct files_out *out, uint32_t left[LEFT_COUNT])
{
    static struct walk w;
    size_t at = 0;

    memset(left, 0, LEFT_COUNT * sizeof(left[0]));
    if (out->fs->root == NULL) {
        return; /* nobody has used a file */
    }
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
