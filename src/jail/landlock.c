/* landlock.c - see landlock.h. The constants and the struct are written out here, because the
 * headers of Debian 12 stop at version 2 and the kernel may be newer. */
#include "jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ruleset_attr {
    uint64_t handled_access_fs;
    uint64_t handled_access_net; /* since version 4 */
    uint64_t scoped;             /* since version 6 */
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

enum {
    CREATE_RULESET_VERSION = 1,
    RULE_PATH_BENEATH = 1,
    FS_EXECUTE = 1 << 0,
    FS_MAKE_CHAR = 1 << 6,
    FS_MAKE_SOCK = 1 << 9,
    FS_MAKE_FIFO = 1 << 10,
    FS_MAKE_BLOCK = 1 << 11,
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

int landlock_ruleset(const char *tree)
{
    int abi = landlock_abi();
    struct ruleset_attr attr = everything(abi);
    struct path_beneath_attr rule;
    int fd, dir, saved;
    long r;

    if (abi < 1) {
        return -1;
    }
    fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (fd < 0 || tree == NULL) {
        return fd;
    }
    dir = open(tree, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    rule = (struct path_beneath_attr){
        .allowed_access =
            attr.handled_access_fs & ~(uint64_t)(FS_EXECUTE | FS_MAKE_CHAR | FS_MAKE_SOCK |
                                                 FS_MAKE_FIFO | FS_MAKE_BLOCK | FS_IOCTL_DEV),
        .parent_fd = dir,
    };
    r = dir < 0 ? -1 : syscall(SYS_landlock_add_rule, fd, RULE_PATH_BENEATH, &rule, 0);
    saved = errno;
    if (dir >= 0) {
        (void)close(dir);
    }
    if (r < 0) {
        (void)close(fd);
        fd = -1;
    }
    errno = saved;
    return fd;
}

int landlock_enter(int ruleset_fd)
{
    return (int)syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
}
