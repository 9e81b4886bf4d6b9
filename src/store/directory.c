/* directory.c - see directory.h. */
#include "store/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { OTHERS_WRITE = S_IWGRP | S_IWOTH, OTHERS = S_IRWXG | S_IRWXO };

/* Makes path and whatever of its parents is missing. path is changed for a while. */
static int make_all(char *path)
{
    char *slash = path;

    while ((slash = strchr(slash + 1, '/')) != NULL) {
        *slash = '\0';
        /* A parent that we may not make, or that is there, shows at the next step. */
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) < 0 && errno != EEXIST ? -1 : 0;
}

int directory_make(const char *path, struct vial_error *err)
{
    char copy[DIRECTORY_BYTES_MAX + 1];
    size_t len = strlen(path);
    struct stat st;

    if (len == 0 || len > DIRECTORY_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "a data directory has a path of 1 to %d bytes, not %zu", DIRECTORY_BYTES_MAX, len);
    }
    memcpy(copy, path, len + 1);
    if (stat(path, &st) < 0 && (make_all(copy) < 0 || stat(path, &st) < 0)) {
        return vial__fail_sys(err, errno, "cannot make the data directory %s", path);
    }
    if (!S_ISDIR(st.st_mode)) {
        return vial__fail_sys(err, ENOTDIR, "the data directory %s", path);
    }
    if (st.st_uid != geteuid() && st.st_uid != 0) {
        return vial__fail_sys(err, EPERM,
            "the data directory %s belongs to user %u, who could put code into environments", path,
            (unsigned)st.st_uid);
    }
    if ((st.st_mode & OTHERS_WRITE) != 0) {
        return vial__fail_sys(err, EPERM,
            "others may write to the data directory %s (mode %04o); make it 0700", path,
            (unsigned)(st.st_mode & 07777));
    }
    if (access(path, R_OK | W_OK | X_OK) < 0) {
        return vial__fail_sys(err, errno, "the data directory %s cannot be used", path);
    }
    return VIAL_OK;
}

int directory_make_file(const char *path, struct vial_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    struct stat st;

    if (fd >= 0) {
        (void)close(fd);
        return VIAL_OK;
    }
    if (errno != EEXIST || lstat(path, &st) < 0) {
        return vial__fail_sys(err, errno, "cannot make %s", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return vial__fail_sys(err, EPERM, "%s is not a regular file", path);
    }
    if ((st.st_mode & OTHERS) != 0 && chmod(path, st.st_mode & 07700) < 0) {
        return vial__fail_sys(err, errno, "cannot take %s from others", path);
    }
    return VIAL_OK;
}
