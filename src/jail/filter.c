/* filter.c - loads the generated programs; see filter.h. */
#include "jail/filter.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

int filter_load(const struct sock_fprog *program)
{
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
}
