/* secret_key.c - see secret_key.h. */
#include "store/secret_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"

enum {
    PATH_BYTES_MAX = 4096,
    FOR_OTHERS = S_IRWXG | S_IRWXO,
    /* The service manager lets a service read its credentials through an access list, which shows
     * as the group's right to read; the directory around it is closed to all others. */
    FOR_OTHERS_CREDENTIAL = S_IWGRP | S_IXGRP | S_IRWXO,
};

#define STAGED ".new"
#define UNFINISHED ".part"

void secret_key_wipe(struct secret_key *key)
{
    explicit_bzero(key, sizeof(*key));
}

static int path_with(
    const char *path, const char *end, char ret[PATH_BYTES_MAX], struct vial_error *err)
{
    int n = snprintf(ret, PATH_BYTES_MAX, "%s%s", path, end);

    return n > 0 && n < PATH_BYTES_MAX
               ? VIAL_OK
               : vial__fail(err, VIAL_E_INVALID, "the path of a key file has up to %d bytes",
                     PATH_BYTES_MAX - 8);
}

/* Would somebody else know the key that is in this file, or have chosen it? */
static int check_file(
    const char *path, enum secret_key_kind kind, const struct stat *st, struct vial_error *err)
{
    mode_t others = kind == SECRET_KEY_CREDENTIAL ? FOR_OTHERS_CREDENTIAL : FOR_OTHERS;

    if (!S_ISREG(st->st_mode)) {
        return vial__fail(err, VIAL_E_SYS, "the key file %s is not a regular file", path);
    }
    if (st->st_uid != geteuid() && !(kind == SECRET_KEY_CREDENTIAL && st->st_uid == 0)) {
        return vial__fail(err, VIAL_E_SYS, "the key file %s belongs to user %u, who is not us",
            path, (unsigned)st->st_uid);
    }
    if ((st->st_mode & others) != 0) {
        return vial__fail(err, VIAL_E_SYS,
            "others may use the key file %s (mode %04o); make it 0600, and a new key if they did",
            path, (unsigned)(st->st_mode & 07777));
    }
    if (st->st_size != SEAL_KEY_BYTES) {
        return vial__fail(err, VIAL_E_SYS, "the key file %s has %lld bytes and not %d", path,
            (long long)st->st_size, SEAL_KEY_BYTES);
    }
    return VIAL_OK;
}

static int read_path(
    const char *path, enum secret_key_kind kind, struct secret_key *ret, struct vial_error *err)
{
    /* O_NONBLOCK: a pipe of that name must not hold us until somebody writes to it. */
    int fd VIAL_CLEANUP(fd_closep) =
        open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    unsigned char bytes[SEAL_KEY_BYTES];
    struct stat st;
    ssize_t n;
    int r;

    if (fd < 0 && errno == ELOOP) {
        return vial__fail(err, VIAL_E_SYS, "the key file %s is not a regular file", path);
    }
    if (fd < 0 || fstat(fd, &st) < 0) {
        return vial__fail_sys(err, errno, "cannot read the key file %s", path);
    }
    r = check_file(path, kind, &st, err);
    if (r < 0) {
        return r;
    }
    n = fd_read_up_to(fd, bytes, sizeof(bytes));
    if (n != SEAL_KEY_BYTES) {
        explicit_bzero(bytes, sizeof(bytes));
        return vial__fail_sys(err, n < 0 ? errno : EIO, "cannot read the key file %s", path);
    }
    memcpy(ret->bytes, bytes, sizeof(bytes));
    explicit_bzero(bytes, sizeof(bytes));
    seal_key_id(ret->bytes, ret->id);
    ret->is_set = 1;
    return VIAL_OK;
}

int secret_key_read(
    const struct secret_key_place *place, struct secret_key *ret, struct vial_error *err)
{
    return read_path(place->path, place->kind, ret, err);
}

int secret_key_find(const struct secret_key_place *place, const unsigned char id[SEAL_ID_BYTES],
    struct secret_key *ret, int *ret_staged, struct vial_error *err)
{
    struct secret_key found = {.is_set = 0};
    char staged[PATH_BYTES_MAX];
    struct vial_error why = {.code = 0};
    int r = path_with(place->path, STAGED, staged, err);
    int is_staged = 0;

    if (r < 0) {
        return r;
    }
    r = secret_key_read(place, &found, &why);
    if ((r < 0 || memcmp(found.id, id, SEAL_ID_BYTES) != 0) &&
        place->kind != SECRET_KEY_CREDENTIAL) {
        struct secret_key other = {.is_set = 0};

        is_staged = read_path(staged, place->kind, &other, NULL) == VIAL_OK &&
                    memcmp(other.id, id, SEAL_ID_BYTES) == 0;
        if (is_staged) {
            found = other;
            r = VIAL_OK;
        }
        secret_key_wipe(&other);
    }
    if (r == VIAL_OK && memcmp(found.id, id, SEAL_ID_BYTES) != 0) {
        r = vial__fail(err, VIAL_E_SYS,
            "the key in %s is not the one that the secrets are encrypted with", place->path);
    } else if (r < 0 && why.sys == ENOENT) {
        r = vial__fail(err, VIAL_E_SYS,
            "the key file %s is missing, and the secrets are encrypted with its key; put it back",
            place->path);
    } else if (r < 0 && err != NULL) {
        *err = why;
    }
    if (r == VIAL_OK) {
        *ret = found;
        *ret_staged = is_staged;
    }
    secret_key_wipe(&found);
    return r;
}

void secret_key_new(struct secret_key *ret)
{
    seal_random(ret->bytes, sizeof(ret->bytes));
    seal_key_id(ret->bytes, ret->id);
    ret->is_set = 1;
}

/* Makes a name that was given, or taken away, last. */
static int sync_directory_of(const char *path, struct vial_error *err)
{
    char directory[PATH_BYTES_MAX];
    const char *slash = strrchr(path, '/');
    int fd VIAL_CLEANUP(fd_closep) = -1;
    size_t len = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);

    if (len >= sizeof(directory)) {
        return vial__fail(err, VIAL_E_INVALID, "the path of a key file is too long");
    }
    memcpy(directory, slash == NULL ? "." : path, slash == NULL ? 1 : len);
    directory[slash == NULL ? 1 : len] = '\0';
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0
               ? vial__fail_sys(err, errno, "cannot write the directory of %s", path)
               : VIAL_OK;
}

/* The key under this name, whole and on the disk, or not at all. */
static int write_path(const char *path, const struct secret_key *key, struct vial_error *err)
{
    char part[PATH_BYTES_MAX];
    int fd, failed, sys;
    int r = path_with(path, UNFINISHED, part, err);

    if (r < 0) {
        return r;
    }
    (void)unlink(part); /* of somebody who died, or ENOENT; a third case shows at the next step */
    fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return vial__fail_sys(err, errno, "cannot make the key file %s", part);
    }
    failed = fd_write_all(fd, key->bytes, sizeof(key->bytes)) < 0 || fsync(fd) < 0;
    sys = errno;
    failed = close(fd) < 0 || failed;
    if (failed || rename(part, path) < 0) {
        sys = failed ? sys : errno;
        (void)unlink(part);
        return vial__fail_sys(err, sys, "cannot write the key file %s", path);
    }
    return sync_directory_of(path, err);
}

int secret_key_make(
    const struct secret_key_place *place, const struct secret_key *key, struct vial_error *err)
{
    return write_path(place->path, key, err);
}

int secret_key_stage(
    const struct secret_key_place *place, const struct secret_key *key, struct vial_error *err)
{
    char staged[PATH_BYTES_MAX];
    int r = path_with(place->path, STAGED, staged, err);

    return r < 0 ? r : write_path(staged, key, err);
}

int secret_key_unstage(const struct secret_key_place *place, struct vial_error *err)
{
    char staged[PATH_BYTES_MAX];
    int r = path_with(place->path, STAGED, staged, err);

    if (r < 0) {
        return r;
    }
    if (rename(staged, place->path) < 0) {
        return vial__fail_sys(err, errno,
            "the secrets are encrypted with the key in %s, which could not be renamed to %s",
            staged, place->path);
    }
    return sync_directory_of(place->path, err);
}
