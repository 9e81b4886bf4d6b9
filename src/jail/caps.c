/* caps.c - see caps.h. */
#include "jail/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CAPS_MAX = 64 }; /* the kernel's sets have 64 bits */

int caps_close_sources(void)
{
    unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                         SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED | SECBIT_KEEP_CAPS_LOCKED;
    unsigned cap;

    for (cap = 0; cap < CAPS_MAX; cap++) {
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
            if (errno == EINVAL) {
                break; /* behind the last capability that this kernel knows */
            }
            if (errno != EPERM) {
                return -1;
            }
            return 0; /* a plain user without a namespace has nothing to drop */
        }
    }
    return prctl(PR_SET_SECUREBITS, bits, 0, 0, 0);
}

int caps_become(uint32_t uid, uint32_t gid)
{
    if (syscall(SYS_setresgid, gid, gid, gid) < 0) {
        return -1;
    }
    return (int)syscall(SYS_setresuid, uid, uid, uid);
}

int caps_drop(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    if (syscall(SYS_capset, &header, none) < 0) {
        return -1;
    }
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
