/* root.c - see root.h.
 *
 * The engine is loaded and warm before this runs, so the tree needs no libraries, no devices and no
 * /proc: there is simply nothing in it. */
#include "jail/root.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Any directory will do to mount the new root on for a moment; one of these is on every system. */
static const char *const PLACES[] = {"/tmp", "/var/tmp", "/mnt", "/dev"};

enum { ROOT_FLAGS = MS_NOSUID | MS_NODEV | MS_NOEXEC };

static int root_make(void)
{
    size_t i;

    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        return -1;
    }
    for (i = 0; i < sizeof(PLACES) / sizeof(PLACES[0]); i++) {
        /* Room for the few directories below and nothing else. */
        if (mount("vial", PLACES[i], "tmpfs", ROOT_FLAGS, "size=65536,nr_inodes=8,mode=755") == 0) {
            /* The template's umask would keep the users of the cells out. */
            return chdir(PLACES[i]) < 0 || mkdir("home", 0755) < 0 || chmod("home", 0755) < 0 ||
                           mkdir("home/vial", 0755) < 0 || chmod("home/vial", 0755) < 0 ||
                           symlink(ROOT_TMP_DIR, "tmp") < 0
                       ? -1
                       : 0;
        }
    }
    return -1;
}

int root_enter(int *ret_undone)
{
    *ret_undone = 1;
    if (root_make() < 0 || syscall(SYS_pivot_root, ".", ".") < 0) {
        return -1;
    }
    *ret_undone = 0;
    if (umount2(".", MNT_DETACH) < 0 || chdir("/") < 0) {
        return -1;
    }
    return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | ROOT_FLAGS, NULL);
}

int root_mount_work(uint64_t bytes_max, uint32_t files_max, uint32_t uid)
{
    char options[128];

    (void)snprintf(options, sizeof(options), "size=%llu,nr_inodes=%u,mode=700,uid=%u,gid=%u",
        (unsigned long long)bytes_max, files_max, uid, uid);
    if (mount("work", ROOT_WORK_DIR, "tmpfs", ROOT_FLAGS, options) < 0) {
        return -1;
    }
    return chdir(ROOT_WORK_DIR);
}
