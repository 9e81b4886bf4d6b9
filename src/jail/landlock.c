/* landlock.c - see landlock.h. The constants and the struct are written out here, because the
 * headers of Debian 12 stop at version 2 and the kernel may be newer. */
#include "jail/landlock.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* since version 4 */
    uint64_t scoped;             /* since version 6 */
};

enum {
    CREATE_RULESET_VERSION = 1,
    FS_VERSION_1 = (1 << 13) - 1, /* execute ... make_sym */
    FS_REFER = 1 << 13,           /* since version 2 */
    FS_TRUNCATE = 1 << 14,        /* since version 3 */
    FS_IOCTL_DEV = 1 << 15,       /* since version 5 */
    NET_BIND_AND_CONNECT = 3,
    SCOPE_ABSTRACT_AND_SIGNAL = 3,
};

int landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);
}

static struct ruleset_attr everything(int abi)
{
    struct ruleset_attr attr = {.handled_access_fs = FS_VERSION_1};

    attr.handled_access_fs |= abi >= 2 ? FS_REFER : 0;
    attr.handled_access_fs |= abi >= 3 ? FS_TRUNCATE : 0;
    attr.handled_access_fs |= abi >= 5 ? FS_IOCTL_DEV : 0;
    attr.handled_access_net = abi >= 4 ? NET_BIND_AND_CONNECT : 0;
    attr.scoped = abi >= 6 ? SCOPE_ABSTRACT_AND_SIGNAL : 0;
    return attr;
}

int landlock_ruleset(void)
{
    int abi = landlock_abi();
    struct ruleset_attr attr = everything(abi);

    return abi < 1 ? -1 : (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

int landlock_enter(int ruleset_fd)
{
    return (int)syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
}
