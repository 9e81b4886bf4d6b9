/* root.c - see root.h.
 *
 * The engine is loaded and warm before this runs, so the tree needs no libraries, no devices and no
 * /proc: there is simply nothing in it. */
#include "jail/root.h"

#include <stddef.h>
#include <sys/mount.h>
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
        /* Room for its own top and nothing else. */
        if (mount("vial", PLACES[i], "tmpfs", ROOT_FLAGS, "size=4096,nr_inodes=1,mode=755") == 0) {
            return chdir(PLACES[i]);
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
