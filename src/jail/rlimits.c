/* rlimits.c - see rlimits.h. */
#include "jail/rlimits.h"

#include <stddef.h>
#include <sys/resource.h>

int rlimits_apply(uint32_t open_files_max, uint32_t processes_max)
{
    const struct {
        __rlimit_resource_t resource;
        rlim_t max;
    } rows[] = {
        {RLIMIT_CORE, 0}, /* a crash leaves no file */
        {RLIMIT_NOFILE, open_files_max},
        {RLIMIT_FSIZE, 0},             /* files are in the memory of the cell */
        {RLIMIT_NPROC, processes_max}, /* not counted for the user 0 of the host */
        {RLIMIT_MEMLOCK, 0},           /* no memory that cannot be reclaimed */
        {RLIMIT_MSGQUEUE, 0},          /* no POSIX queues */
        {RLIMIT_SIGPENDING, 64},       /* the engine queues none; libc's needs are below this */
        {RLIMIT_RTPRIO, 0},
        {RLIMIT_NICE, 0},
        {RLIMIT_LOCKS, 0},
    };
    struct rlimit limit;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        limit.rlim_cur = rows[i].max;
        limit.rlim_max = rows[i].max;
        if (setrlimit(rows[i].resource, &limit) < 0) {
            return -1;
        }
    }
    return 0;
}
