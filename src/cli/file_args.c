/* file_args.c - see file_args.h.
 *
 * In a directory that is copied, only regular files count, and links are not followed: what a
 * program is given is what its owner sees in that directory. Names of outputs come from a guest.
 * They were checked by the library, and each step of writing one goes from an open directory to a
 * name in it that is no link. */
#include "cli/file_args.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/name.h"

enum {
    PATH_BYTES_MAX = 8192,
    PENDING_BYTES_MAX = 64 * 1024 * 1024, /* names of directories still to be read */
    EXECUTABLE = 0100,
    DIR_FLAGS = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
};

/* ---- in ---- */

void file_args_release(struct file_args *files)
{
    union {
        const char *borrowed;
        char *owned;
    } p;
    size_t i;

    for (i = 0; i < files->count; i++) {
        p.borrowed = files->items[i].name;
        free(p.owned);
        p.borrowed = files->items[i].bytes;
        free(p.owned);
    }
    free(files->items);
    memset(files, 0, sizeof(*files));
}

/* Adds one file; takes over bytes. */
static int add_file(struct file_args *files, const char *name, char *bytes, size_t len,
    unsigned mode, const struct vial_limits *limits)
{
    struct vial_file *grown;
    char *copy;

    files->bytes += len;
    if (files->count + 1 >= limits->files_max || files->bytes > limits->disk_bytes_max) {
        free(bytes);
        return cli_fail(EXIT_USAGE,
            "%s is one too many: the files of a run may be up to %u with %llu "
            "bytes (--file-count, --disk-mb)",
            name, limits->files_max - 1, (unsigned long long)limits->disk_bytes_max);
    }
    if (files->count == files->capacity) {
        files->capacity = files->capacity == 0 ? 16 : 2 * files->capacity;
        grown = realloc(files->items, files->capacity * sizeof(*grown));
        if (grown == NULL) {
            free(bytes);
            return cli_fail(EXIT_OUR_FAILURE, "no memory for %s", name);
        }
        files->items = grown;
    }
    copy = strdup(name);
    if (copy == NULL) {
        free(bytes);
        return cli_fail(EXIT_OUR_FAILURE, "no memory for %s", name);
    }
    files->items[files->count++] = (struct vial_file){
        .name = copy, .bytes = bytes, .len = len, .mode = (mode & EXECUTABLE) != 0 ? 0755 : 0644};
    return 0;
}

/* One entry of a directory, by its path on the host and its name in the cell. */
static int read_entry(struct file_args *files, struct buf *pending, const char *path,
    const char *name, const struct vial_limits *limits)
{
    struct stat st;
    char *bytes = NULL;
    size_t len = 0;
    int code;

    if (lstat(path, &st) < 0) {
        return cli_fail(EXIT_USAGE, "cannot read %s: %s", path, strerrordesc_np(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        code = buf_add(pending, path, strlen(path) + 1, NULL) < 0 ||
                       buf_add(pending, name, strlen(name) + 1, NULL) < 0
                   ? cli_fail(EXIT_USAGE, "%s has too many directories", path)
                   : 0;
        return code;
    }
    if (!S_ISREG(st.st_mode)) {
        files->skipped++;
        return 0;
    }
    if ((uint64_t)st.st_size > limits->disk_bytes_max) {
        return cli_fail(EXIT_USAGE, "%s has %llu bytes; --disk-mb gives room for %llu", path,
            (unsigned long long)st.st_size, (unsigned long long)limits->disk_bytes_max);
    }
    code = cli_read_file(path, limits->disk_bytes_max, "a file of a run (--disk-mb)", &bytes, &len);
    return code != 0 ? code : add_file(files, name, bytes, len, st.st_mode, limits);
}

static int join(char *out, size_t size, const char *directory, const char *name)
{
    int n = snprintf(out, size, "%s%s%s", directory, directory[0] != '\0' ? "/" : "", name);

    return n >= 0 && (size_t)n < size
               ? 0
               : cli_fail(EXIT_USAGE, "a path in %s is longer than %zu bytes", directory, size - 1);
}

static int read_directory(struct file_args *files, struct buf *pending, const char *path,
    const char *name, const struct vial_limits *limits)
{
    char entry_path[PATH_BYTES_MAX], entry_name[PATH_BYTES_MAX];
    const struct dirent *e;
    DIR *dir = opendir(path);
    int code = 0;

    if (dir == NULL) {
        return cli_fail(EXIT_USAGE, "cannot read %s: %s", path, strerrordesc_np(errno));
    }
    while (code == 0 && (e = readdir(dir)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        code = join(entry_path, sizeof(entry_path), path, e->d_name);
        code = code != 0 ? code : join(entry_name, sizeof(entry_name), name, e->d_name);
        code = code != 0 ? code : read_entry(files, pending, entry_path, entry_name, limits);
    }
    (void)closedir(dir);
    return code;
}

/* A whole tree, without recursion: directories wait in a list. */
static int read_tree(
    struct file_args *files, const char *path, const char *name, const struct vial_limits *limits)
{
    char *next_path, *next_name;
    struct buf pending;
    size_t at = 0;
    int code;

    buf_init(&pending, PENDING_BYTES_MAX);
    code = read_directory(files, &pending, path, name, limits);
    while (code == 0 && at < pending.len) { /* copies: the list moves when it grows */
        next_path = strdup(pending.data + at);
        at += strlen(pending.data + at) + 1;
        next_name = strdup(pending.data + at);
        at += strlen(pending.data + at) + 1;
        code = next_path == NULL || next_name == NULL
                   ? cli_fail(EXIT_OUR_FAILURE, "no memory for %s", path)
                   : read_directory(files, &pending, next_path, next_name, limits);
        free(next_path);
        free(next_name);
    }
    buf_release(&pending);
    return code;
}

/* The last part of a path. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Cuts SRC[:DST] at its last colon. src is owned by the caller and has no slashes at its end. */
static int cut_spec(const char *spec, char *src, char *dst, size_t size)
{
    const char *colon = strrchr(spec, ':');
    size_t len = colon != NULL ? (size_t)(colon - spec) : strlen(spec);
    size_t beneath_len = 0;
    const char *beneath;

    if (len == 0 || (colon != NULL && colon[1] == '\0') || strcmp(spec, "-") == 0) {
        return cli_fail(EXIT_USAGE, "--file takes SRC or SRC:DST, not \"%s\"", spec);
    }
    if (len >= size || strlen(spec) - len >= size / 2) {
        return cli_fail(EXIT_USAGE, "--file \"%.60s...\" is too long", spec);
    }
    memcpy(src, spec, len);
    src[len] = '\0';
    while (len > 1 && src[len - 1] == '/') {
        src[--len] = '\0';
    }
    dst[0] = '\0';
    if (colon != NULL) {
        beneath = name_beneath(colon + 1, strlen(colon + 1), FILE_NAME_ROOT, &beneath_len);
        if (beneath == NULL) {
            return cli_fail(
                EXIT_USAGE, "--file %s: %s is not inside of " FILE_NAME_ROOT, spec, colon + 1);
        }
        (void)snprintf(dst, size, "%.*s", (int)beneath_len, beneath);
    }
    return 0;
}

int file_args_read(struct file_args *files, const char *spec, const struct vial_limits *limits)
{
    char src[PATH_BYTES_MAX] = "", dst[PATH_BYTES_MAX] = "", name[2 * PATH_BYTES_MAX] = "";
    const char *fault;
    struct stat st;
    char *bytes = NULL;
    size_t len = 0;
    int code = cut_spec(spec, src, dst, sizeof(src));

    if (code != 0) {
        return code;
    }
    if (stat(src, &st) < 0) {
        return cli_fail(EXIT_USAGE, "--file %s: %s", src, strerrordesc_np(errno));
    }
    if (strrchr(spec, ':') == NULL || spec[strlen(spec) - 1] == '/') { /* into that directory */
        code = join(name, sizeof(name), dst, base_name(src));
    } else {
        code = join(name, sizeof(name), "", dst);
    }
    if (code != 0) {
        return code;
    }
    /* All of a directory may also go to the top. */
    fault = S_ISDIR(st.st_mode) && (name[0] == '\0' || strcmp(name, ".") == 0)
                ? NULL
                : name_fault(name, strlen(name));
    if (fault != NULL) {
        return cli_fail(EXIT_USAGE, "--file %s: the name %s", spec, fault);
    }
    if (S_ISDIR(st.st_mode)) {
        return read_tree(files, src, strcmp(name, ".") == 0 ? "" : name, limits);
    }
    code = cli_read_file(src, limits->disk_bytes_max, "a file of a run (--disk-mb)", &bytes, &len);
    return code != 0 ? code : add_file(files, name, bytes, len, st.st_mode, limits);
}

/* ---- out ---- */

/* Opens the directory that a file lies in, and makes those that are missing. */
static int open_parent(int dir, const char *name, const char **ret_base)
{
    char part[FILE_NAME_PART_BYTES_MAX + 1];
    const char *slash;
    int at = dup(dir), next;

    while (at >= 0 && (slash = strchr(name, '/')) != NULL) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
        next = mkdirat(at, part, 0777) < 0 && errno != EEXIST
                   ? -1
                   : openat(at, part, DIR_FLAGS | O_NOFOLLOW);
        (void)close(at);
        at = next;
        name = slash + 1;
    }
    *ret_base = name;
    return at;
}

/* Gives the finished file its name. */
static int publish(int parent, const char *part, const char *base, int force)
{
    int r;

    if (force) {
        return renameat(parent, part, parent, base);
    }
    r = renameat2(parent, part, parent, base, RENAME_NOREPLACE);
    if (r < 0 &&
        errno == EINVAL) { /* not every file system can; links are never made over a file */
        r = linkat(parent, part, parent, base, 0);
        return r < 0 ? r : unlinkat(parent, part, 0);
    }
    return r;
}

/* Writes under another name first: a disk that is full must not cost what was there. */
static int write_beneath(int parent, const char *base, const struct vial_file *file, int force)
{
    unsigned mode = (file->mode & EXECUTABLE) != 0 ? 0777 : 0666;
    char part[64];
    int fd, r, saved;

    if (!force && faccessat(parent, base, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST; /* said before anything is written; publish looks again */
        return -1;
    }
    (void)snprintf(part, sizeof(part), ".vial-%d.part", (int)getpid());
    fd = openat(parent, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) {
        return -1;
    }
    r = fd_write_all(fd, file->bytes, file->len);
    saved = errno;
    if (close(fd) < 0 && r == 0) {
        r = -1;
        saved = errno;
    }
    if (r == 0) {
        r = publish(parent, part, base, force);
        saved = errno;
    }
    if (r < 0) {
        (void)unlinkat(parent, part, 0);
    }
    errno = saved;
    return r;
}

int file_args_write_one(const struct vial_file *file, int dir, const char *dir_name, int force)
{
    const char *base = file->name;
    int parent = open_parent(dir, file->name, &base);
    int r = parent >= 0 ? write_beneath(parent, base, file, force) : -1;
    int saved = errno;

    if (parent >= 0) {
        (void)close(parent);
    }
    if (r == 0) {
        return 0;
    }
    if (saved == EEXIST) {
        return cli_fail(EXIT_OUR_FAILURE, "%s/%s exists and was left alone; --force overwrites",
            dir_name, file->name);
    }
    return cli_fail(EXIT_OUR_FAILURE, "cannot write %s/%s: %s", dir_name, file->name,
        saved == ELOOP ? "it would go through a symbolic link" : strerrordesc_np(saved));
}

int file_args_write(const struct vial_result *result, int dir, const char *dir_name, int force)
{
    struct vial_file file;
    size_t i;
    int code = 0, r;

    for (i = 0; i < vial_result_file_count(result); i++) {
        if (vial_result_file(result, i, &file) < 0) {
            break;
        }
        r = file_args_write_one(&file, dir, dir_name, force);
        code = code != 0 ? code : r;
    }
    return code;
}
