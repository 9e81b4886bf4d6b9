/* outputs.c - see outputs.h.
 *
 * A file is: a head, a record for each output, their names and types, their bytes, all in the order
 * of the list and in the byte order of the machine, which is the one that reads it. Whatever is
 * read is checked against the length of the file: a disk may have lost a part of it. */
#include "store/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/id.h"
#include "store/directory.h"
#include "store/run_store.h"

#define MAGIC "vialout1"
#define HALF ".new"

enum { PATH_BYTES = DIRECTORY_BYTES_MAX + 64, NAMES_MAX = 1000000 };

struct head {
    char magic[8];
    uint64_t file_bytes; /* of all of it */
    uint64_t count;
};

struct record {
    uint64_t len;
    uint32_t name_len, type_len;
};

struct outputs {
    pthread_mutex_t lock; /* of everything below, and of removing */
    uint64_t run_bytes_max, bytes_max;
    uint64_t bytes;
    int fd; /* of the directory */
};

/* ---- the directory ---- */

struct entry {
    char id[ID_BYTES_MAX + 1];
    uint64_t bytes;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

/* All of them, the oldest first; what is half written is removed when clean is set. */
static int scan(struct outputs *o, int clean, struct entry **ret, size_t *ret_count)
{
    int fd = openat(o->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct entry *list = NULL, *grown;
    size_t count = 0, capacity = 0;
    const struct dirent *d;
    struct stat st;

    if (dir == NULL) {
        fd_closep(&fd);
        return -1;
    }
    while (count < NAMES_MAX && (d = readdir(dir)) != NULL) {
        size_t len = strlen(d->d_name);

        if (clean && len > strlen(HALF) && strcmp(d->d_name + len - strlen(HALF), HALF) == 0) {
            (void)unlinkat(o->fd, d->d_name, 0);
        }
        if (!id_is_valid(RUN_PREFIX, d->d_name, len) ||
            fstatat(o->fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode)) {
            continue;
        }
        if (count == capacity) {
            capacity = capacity == 0 ? 64 : 2 * capacity;
            grown = realloc(list, capacity * sizeof(*grown));
            if (grown == NULL) {
                break;
            }
            list = grown;
        }
        (void)snprintf(list[count].id, sizeof(list[count].id), "%s", d->d_name);
        list[count++].bytes = (uint64_t)st.st_size;
    }
    (void)closedir(dir);
    if (count > 0) {
        qsort(list, count, sizeof(*list), compare);
    }
    *ret = list;
    *ret_count = count;
    return 0;
}

/* With the lock held: counts anew, and removes the oldest while they are too many, or too old. */
static void shrink(struct outputs *o, int clean, uint64_t older_than_us)
{
    struct entry *list = NULL;
    size_t count = 0, i;

    if (scan(o, clean, &list, &count) < 0) {
        return;
    }
    o->bytes = 0;
    for (i = 0; i < count; i++) {
        o->bytes += list[i].bytes;
    }
    for (i = 0; i < count && (o->bytes > o->bytes_max ||
                                 id_time_ms(RUN_PREFIX, list[i].id) * 1000 < older_than_us);
         i++) {
        if (unlinkat(o->fd, list[i].id, 0) == 0) {
            o->bytes -= list[i].bytes;
        }
    }
    free(list);
}

int outputs_open(const char *data_dir, struct outputs **ret, struct vial_error *err)
{
    char path[PATH_BYTES];
    struct outputs *o;
    int r = directory_make(data_dir, err);

    (void)snprintf(path, sizeof(path), "%s/outputs", data_dir);
    r = r < 0 ? r : directory_make(path, err);
    if (r < 0) {
        return r;
    }
    o = calloc(1, sizeof(*o));
    if (o == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for outputs");
    }
    o->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (o->fd < 0) {
        r = vial__fail_sys(err, errno, "opening %s", path);
        free(o);
        return r;
    }
    (void)pthread_mutex_init(&o->lock, NULL);
    o->run_bytes_max = o->bytes_max = UINT64_MAX;
    shrink(o, 1, 0);
    *ret = o;
    return VIAL_OK;
}

void outputs_free(struct outputs *o)
{
    if (o != NULL) {
        fd_closep(&o->fd);
        (void)pthread_mutex_destroy(&o->lock);
        free(o);
    }
}

void outputs_set_limits(struct outputs *o, uint64_t run_bytes_max, uint64_t bytes_max)
{
    (void)pthread_mutex_lock(&o->lock);
    o->run_bytes_max = run_bytes_max < bytes_max ? run_bytes_max : bytes_max;
    o->bytes_max = bytes_max;
    if (o->bytes > bytes_max) {
        shrink(o, 0, 0);
    }
    (void)pthread_mutex_unlock(&o->lock);
}

void outputs_retain(struct outputs *o, uint64_t older_than_us)
{
    (void)pthread_mutex_lock(&o->lock);
    shrink(o, 0, older_than_us);
    (void)pthread_mutex_unlock(&o->lock);
}

uint64_t outputs_bytes(struct outputs *o)
{
    uint64_t bytes;

    (void)pthread_mutex_lock(&o->lock);
    bytes = o->bytes;
    (void)pthread_mutex_unlock(&o->lock);
    return bytes;
}

/* ---- writing ---- */

static struct record record_of(const struct output *output)
{
    return (struct record){.len = output->len,
        .name_len = (uint32_t)(strlen(output->kind) + strlen(output->name)),
        .type_len = (uint32_t)strlen(output->type)};
}

/* How long the file will be; 0 when these cannot be kept. */
static uint64_t size_of(const struct output *list, size_t count)
{
    uint64_t bytes = sizeof(struct head);
    size_t i;

    if (count > OUTPUTS_COUNT_MAX) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        struct record r = record_of(&list[i]);

        if (r.name_len > OUTPUTS_NAME_BYTES_MAX || r.type_len > OUTPUTS_TYPE_BYTES_MAX ||
            r.len > (uint64_t)INT64_MAX / 2) {
            return 0;
        }
        bytes += sizeof(r) + r.name_len + r.type_len + r.len;
    }
    return bytes;
}

static int put(FILE *file, const void *bytes, size_t len)
{
    return len == 0 || fwrite(bytes, 1, len, file) == len ? 0 : -1;
}

static int put_all(FILE *file, const struct output *list, size_t count, uint64_t size)
{
    struct head head = {.magic = MAGIC, .file_bytes = size, .count = count};
    int r = put(file, &head, sizeof(head));
    size_t i;

    for (i = 0; i < count && r == 0; i++) {
        struct record record = record_of(&list[i]);

        r = put(file, &record, sizeof(record));
    }
    for (i = 0; i < count && r == 0; i++) {
        r = put(file, list[i].kind, strlen(list[i].kind));
        r = r < 0 ? r : put(file, list[i].name, strlen(list[i].name));
        r = r < 0 ? r : put(file, list[i].type, strlen(list[i].type));
    }
    for (i = 0; i < count && r == 0; i++) {
        r = put(file, list[i].bytes, list[i].len);
    }
    return r;
}

/* Writes the file and gives it its name when it is whole. */
static int write_file(struct outputs *o, const char *run, const struct output *list, size_t count,
    uint64_t size, struct vial_error *err)
{
    char half[ID_BYTES_MAX + sizeof(HALF)];
    FILE *file;
    int fd, sys = 0;

    (void)snprintf(half, sizeof(half), "%s" HALF, run);
    fd = openat(o->fd, half, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (file == NULL) {
        sys = errno;
        fd_closep(&fd);
        return vial__fail_sys(err, sys, "keeping the files of a run");
    }
    errno = 0;
    if (put_all(file, list, count, size) < 0) {
        sys = errno != 0 ? errno : EIO;
    }
    if (fclose(file) != 0 && sys == 0) {
        sys = errno;
    }
    if (sys == 0 && renameat(o->fd, half, o->fd, run) < 0) {
        sys = errno;
    }
    if (sys != 0) {
        (void)unlinkat(o->fd, half, 0);
        return vial__fail_sys(err, sys, "keeping the files of a run");
    }
    return VIAL_OK;
}

int outputs_save(struct outputs *o, const char *run, const struct output *list, size_t count,
    struct vial_error *err)
{
    uint64_t size = size_of(list, count);
    int r;

    if (!id_is_valid(RUN_PREFIX, run, strlen(run))) {
        return vial__fail(err, VIAL_E_INVALID, "this is no name of a run");
    }
    (void)pthread_mutex_lock(&o->lock);
    if (size == 0 || size > o->run_bytes_max) {
        (void)pthread_mutex_unlock(&o->lock);
        return 1;
    }
    r = write_file(o, run, list, count, size, err);
    if (r == VIAL_OK) {
        o->bytes += size;
        if (o->bytes > o->bytes_max) {
            shrink(o, 0, 0);
        }
    }
    (void)pthread_mutex_unlock(&o->lock);
    return r;
}

/* ---- reading ---- */

static int fail_damaged(const char *run, struct vial_error *err)
{
    return vial__fail_sys(err, EIO, "what was kept of the files of %s is damaged", run);
}

static int fail_missing(int sys, struct vial_error *err)
{
    int r = vial__fail(err, VIAL_E_INVALID,
        sys == ENOENT ? "the files of this run are not kept, or not any more"
                      : "the run left no such file");

    if (err != NULL) {
        err->sys = sys;
    }
    return r;
}

/* Reads exactly so many bytes. */
static int get(int fd, uint64_t at, void *bytes, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pread(fd, (char *)bytes + done, len - done, (off_t)(at + done));

        if (n <= 0 && !(n < 0 && errno == EINTR)) {
            return -1;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Where things are in a file. */
struct place {
    uint64_t names_at, bytes_at; /* of the record that is looked at */
    struct record record;
};

/* Looks for the name; 1 when it is there, 0 when not, -1 when the file is damaged. */
static int find(int fd, const char *name, uint64_t size, struct place *p)
{
    struct record *records = NULL;
    char text[OUTPUTS_NAME_BYTES_MAX];
    struct head head;
    uint64_t i, names;
    int found = -1;

    if (size < sizeof(head) || get(fd, 0, &head, sizeof(head)) < 0 ||
        memcmp(head.magic, MAGIC, sizeof(head.magic)) != 0 || head.file_bytes != size ||
        head.count > OUTPUTS_COUNT_MAX) {
        return -1;
    }
    records = calloc((size_t)head.count + 1, sizeof(*records));
    names = sizeof(head) + head.count * sizeof(*records);
    if (records != NULL &&
        get(fd, sizeof(head), records, (size_t)head.count * sizeof(*records)) == 0) {
        found = 0;
        p->names_at = p->bytes_at = names;
        for (i = 0; i < head.count && found == 0; i++) {
            if (records[i].name_len > OUTPUTS_NAME_BYTES_MAX ||
                records[i].type_len > OUTPUTS_TYPE_BYTES_MAX || records[i].len > size) {
                found = -1;
            }
            p->bytes_at += (uint64_t)records[i].name_len + records[i].type_len;
        }
        for (i = 0; i < head.count && found == 0; i++) {
            p->record = records[i];
            if (records[i].name_len == strlen(name)) {
                found = get(fd, p->names_at, text, records[i].name_len) < 0 ? -1
                        : memcmp(text, name, records[i].name_len) == 0      ? 1
                                                                            : 0;
            }
            if (found == 0) {
                p->names_at += (uint64_t)records[i].name_len + records[i].type_len;
                p->bytes_at += records[i].len;
            }
        }
    }
    free(records);
    return found;
}

int outputs_get(struct outputs *o, const char *run, const char *name, struct output_found *ret,
    struct vial_error *err)
{
    int fd VIAL_CLEANUP(fd_closep) = -1;
    struct place p = {.names_at = 0};
    struct stat st;
    int found;

    if (!id_is_valid(RUN_PREFIX, run, strlen(run))) {
        return fail_missing(ENOENT, err);
    }
    fd = openat(o->fd, run, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return errno == ENOENT ? fail_missing(ENOENT, err)
                               : vial__fail_sys(err, errno, "reading the files of %s", run);
    }
    found = fstat(fd, &st) == 0 ? find(fd, name, (uint64_t)st.st_size, &p) : -1;
    if (found <= 0) {
        return found == 0 ? fail_missing(ENODATA, err) : fail_damaged(run, err);
    }
    *ret = (struct output_found){.len = (size_t)p.record.len};
    ret->bytes = malloc(ret->len + 1);
    if (ret->bytes == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a file of %zu bytes", ret->len);
    }
    if (get(fd, p.names_at + p.record.name_len, ret->type, p.record.type_len) < 0 ||
        get(fd, p.bytes_at, ret->bytes, ret->len) < 0) {
        free(ret->bytes);
        ret->bytes = NULL;
        return fail_damaged(run, err);
    }
    return VIAL_OK;
}
