/* cgroup.c - see cgroup.h. */
#include "jail/cgroup.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "jail/cgroup_find.h"
#include "jail/mutate.h"

static const unsigned LAYERS[CGROUP_CONTROLLERS] = {LAYER_CGROUP_MEMORY, LAYER_CGROUP_PIDS};
static const char *const NAMES[CGROUP_CONTROLLERS] = {"memory", "pids"};

enum {
    LIMIT_TRIES_MAX = 50, /* of a pause each: 50 ms, while some 20 were seen */
    LIMIT_PAUSE_US = 1000,
    GONE_US_MAX = 1000 * 1000, /* a killed process is out of its group long before */
};

/* A cell is one process with one thread; it is itself counted. */
static const char *const PIDS_MAX = "1"; /* a cell is one process */

static int open_dir(int dirfd, const char *path)
{
    return openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Removes groups named vial.PID.* of processes that are gone. Groups with processes in them stay.
 */
static void sweep(int parent_fd)
{
    int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    int pid, child;

    while (dir != NULL && (e = readdir(dir)) != NULL) {
        if (sscanf(e->d_name, "vial.%d.", &pid) != 1 || pid <= 0 || kill(pid, 0) == 0 ||
            errno != ESRCH) {
            continue;
        }
        child = open_dir(parent_fd, e->d_name);
        if (child >= 0) {
            cgroup_remove_children(child);
            (void)close(child);
        }
        (void)unlinkat(parent_fd, e->d_name, AT_REMOVEDIR);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    } else if (fd >= 0) {
        (void)close(fd);
    }
}

/* Version 2: a group hands a controller on only if it has it, and only while no process is in the
 * group itself. A service manager starts a program in the very group that it delegates: alone in
 * there, we step down into a group of our own first. */
static int hand_on(int parent_fd, int fd, unsigned controller)
{
    char what[32], procs[64], self[16];

    (void)snprintf(what, sizeof(what), "+%s", NAMES[controller]);
    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    if (fd_put_text(parent_fd, "cgroup.subtree_control", what) < 0 && errno == EBUSY &&
        fd_get_text(parent_fd, "cgroup.procs", procs, sizeof(procs)) == 0 &&
        strcmp(procs, self) == 0 &&
        (mkdirat(parent_fd, CGROUP_HOST_GROUP, 0755) == 0 || errno == EEXIST) &&
        fd_put_text(parent_fd, CGROUP_HOST_GROUP "/cgroup.procs", self) == 0) {
        (void)fd_put_text(parent_fd, "cgroup.subtree_control", what);
    }
    return fd_put_text(fd, "cgroup.subtree_control", what);
}

/* In version 2 a process is in one group for all controllers, so the second one joins the first. */
static int base_share(struct cgroup_base *base, unsigned c, const char *parent)
{
    int parent_fd = open_dir(AT_FDCWD, parent);
    int fd = base->controllers[CGROUP_MEMORY].dir_fd;
    int r = parent_fd >= 0 ? hand_on(parent_fd, fd, c) : -1;
    int saved = errno;

    if (parent_fd >= 0) {
        (void)close(parent_fd);
    }
    if (r == 0) {
        fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        saved = errno;
        r = fd < 0 ? -1 : 0;
    }
    if (r == 0) {
        base->controllers[c] = base->controllers[CGROUP_MEMORY];
        base->controllers[c].dir_fd = fd;
    }
    errno = saved;
    return r;
}

/* Makes the engine's group below parent and checks that slots in it will have the controller. */
static int base_make(struct cgroup_base *base, unsigned c, const char *parent, int version)
{
    char name[64];
    int parent_fd = open_dir(AT_FDCWD, parent);
    int fd = -1;
    int ok, saved;

    if (parent_fd < 0) {
        return -1;
    }
    sweep(parent_fd);
    (void)snprintf(name, sizeof(name), "vial.%d.%" PRIx64, (int)getpid(), clock_now_us());
    if (mkdirat(parent_fd, name, 0755) == 0) {
        fd = open_dir(parent_fd, name);
    }
    ok = fd >= 0;
    if (ok && version == 2) {
        ok = hand_on(parent_fd, fd, c) == 0;
    }
    saved = errno;
    if (!ok) {
        if (fd >= 0) {
            (void)close(fd);
        }
        (void)unlinkat(parent_fd, name, AT_REMOVEDIR);
        (void)close(parent_fd);
        errno = saved;
        return -1;
    }
    (void)close(parent_fd);
    base->controllers[c].version = version;
    base->controllers[c].dir_fd = fd;
    (void)snprintf(base->controllers[c].path, CGROUP_PATH_MAX, "%s/%s", parent, name);
    return 0;
}

static int base_try(
    struct cgroup_base *base, unsigned c, const struct cgroup_place *place, unsigned first_version)
{
    return c != CGROUP_MEMORY && place->version == 2 && first_version == 2
               ? base_share(base, c, place->path)
               : base_make(base, c, place->path, place->version);
}

void cgroup_base_open(struct cgroup_base *base, struct layer_report *report)
{
    struct cgroup_place places[CGROUP_CONTROLLERS][CGROUP_PLACES_MAX];
    unsigned counts[CGROUP_CONTROLLERS];
    unsigned c, i;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) { /* before anything can move us to another group */
        base->controllers[c].version = 0;
        base->controllers[c].dir_fd = -1;
        counts[c] = cgroup_find(NAMES[c], places[c]);
    }
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        struct layer_entry *e = &report->entries[LAYERS[c]];

        *e = (struct layer_entry){.state = LAYER_OFF, .sys = ENOENT};
        if (mutate_without(LAYERS[c])) {
            continue;
        }
        for (i = 0; i < counts[c] && base->controllers[c].version == 0; i++) {
            if (base_try(base, c, &places[c][i],
                    (unsigned)base->controllers[CGROUP_MEMORY].version) < 0) {
                e->sys = (uint16_t)errno;
            }
        }
        if (base->controllers[c].version != 0) {
            *e = (struct layer_entry){
                .state = LAYER_ON, .version = (uint8_t)base->controllers[c].version};
        }
    }
}

/* Is this controller in the same group as the one before it? */
static int base_shares(const struct cgroup_base *base, unsigned c)
{
    return c != CGROUP_MEMORY && base->controllers[c].version == 2 &&
           base->controllers[CGROUP_MEMORY].version == 2;
}

void cgroup_base_close(struct cgroup_base *base)
{
    uint64_t until = clock_now_us() + GONE_US_MAX;
    unsigned c;
    int r;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (base->controllers[c].dir_fd >= 0) {
            /* Without a process namespace nobody waits for the last cells of a template: they are
             * killed, and are still there for a moment. */
            do {
                cgroup_remove_children(base->controllers[c].dir_fd);
                r = rmdir(base->controllers[c].path);
            } while (
                r < 0 && errno == EBUSY && clock_now_us() < until && usleep(LIMIT_PAUSE_US) == 0);
            fd_closep(&base->controllers[c].dir_fd);
            base->controllers[c].version = 0;
        }
    }
}

uint32_t cgroup_base_groups(const struct cgroup_base *base)
{
    uint32_t groups = 0;
    unsigned c;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        groups |= base->controllers[c].version != 0 ? 1U << c : 0;
    }
    return groups;
}

void cgroup_base_adopt(const struct cgroup_base *base, pid_t pid)
{
    int fd = base->controllers[CGROUP_MEMORY].dir_fd;
    char text[16];

    if (fd >= 0 && (mkdirat(fd, "template", 0755) == 0 || errno == EEXIST)) {
        (void)snprintf(text, sizeof(text), "%d", (int)pid);
        (void)fd_put_text(fd, "template/cgroup.procs", text);
    }
}

static int put_u64(int dirfd, const char *file, uint64_t v)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu64, v);
    return fd_put_text(dirfd, file, text);
}

static int write_limit(const struct cgroup_slot *slot, uint64_t bytes, int raising)
{
    int r;

    if (slot->version == 2) {
        return put_u64(slot->memory_fd, "memory.max", bytes);
    }
    /* Memory alone may never exceed memory with swap, so the order depends on the direction. The
     * second file is missing where the kernel does not account for swap. */
    if (raising) {
        r = put_u64(slot->memory_fd, "memory.memsw.limit_in_bytes", bytes);
        if (r < 0 && errno != ENOENT) {
            return r;
        }
        return put_u64(slot->memory_fd, "memory.limit_in_bytes", bytes);
    }
    r = put_u64(slot->memory_fd, "memory.limit_in_bytes", bytes);
    if (r == 0 && put_u64(slot->memory_fd, "memory.memsw.limit_in_bytes", bytes) < 0 &&
        errno != ENOENT) {
        return -1;
    }
    return r;
}

/* How often the kernel has killed in this group. */
static uint64_t read_kills(const struct cgroup_slot *slot)
{
    char text[512];
    const char *found;
    uint64_t n = 0;
    ssize_t len = slot->kills_fd >= 0 ? pread(slot->kills_fd, text, sizeof(text) - 1, 0) : -1;

    if (len <= 0) {
        return 0;
    }
    text[len] = '\0';
    found = strstr(text, "oom_kill ");
    return found != NULL && sscanf(found, "oom_kill %" SCNu64, &n) == 1 ? n : 0;
}

/* The largest use that the file tells; 0 when unknown. */
static uint64_t read_peak(const struct cgroup_slot *slot)
{
    char text[32];
    uint64_t v = 0;
    ssize_t n = slot->peak_fd >= 0 ? pread(slot->peak_fd, text, sizeof(text) - 1, 0) : -1;

    if (n <= 0) {
        return 0;
    }
    text[n] = '\0';
    return sscanf(text, "%" SCNu64, &v) == 1 ? v : 0;
}

static int slot_open_memory(struct cgroup_slot *slot, int fd, int version, uint64_t bytes)
{
    slot->memory_fd = fd;
    slot->version = version;
    if (version == 2) {
        (void)fd_put_text(fd, "memory.swap.max", "0");
        (void)fd_put_text(fd, "memory.oom.group", "1");
        /* Since 6.12 a write resets the peak, for readers of the same open file. Before that root
         * can open the file for writing all the same, so only a write tells. */
        slot->peak_fd = openat(fd, "memory.peak", O_RDWR | O_CLOEXEC);
        if (slot->peak_fd < 0) {
            slot->peak_fd = openat(fd, "memory.peak", O_RDONLY | O_CLOEXEC);
        } else {
            slot->peak_resets = pwrite(slot->peak_fd, "0", 1, 0) == 1;
        }
    } else {
        slot->peak_fd = openat(fd, "memory.max_usage_in_bytes", O_RDWR | O_CLOEXEC);
        slot->peak_resets = slot->peak_fd >= 0;
    }
    slot->kills_fd =
        openat(fd, version == 2 ? "memory.events" : "memory.oom_control", O_RDONLY | O_CLOEXEC);
    slot->limit = bytes;
    return write_limit(slot, bytes, 0);
}

/* Where a process writes "0" to join. Moving a whole process takes a lock that waits for an RCU
 * grace period, some 15 ms, whenever the last move was a while ago; a thread that moves itself
 * takes none, and a cell has one thread. Version 2 has no groups of threads with memory limits. */
static const char *join_file(int version)
{
    return version == 1 ? "tasks" : "cgroup.procs";
}

static void slot_close_fds(struct cgroup_slot *slot)
{
    unsigned i;

    for (i = 0; i < slot->procs_fds_count; i++) {
        fd_closep(&slot->procs_fds[i]);
    }
    slot->procs_fds_count = 0;
    fd_closep(&slot->memory_fd);
    fd_closep(&slot->peak_fd);
    fd_closep(&slot->kills_fd);
}

/* A group that could not be removed before may have somebody in it who must not be there. */
static int make_empty(int dir, const char *name, const char *members, int is_made)
{
    char text[32];

    if (mkdirat(dir, name, 0755) == 0 || (errno == EEXIST && is_made)) {
        return 0;
    }
    if (errno != EEXIST) {
        return -1;
    }
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0) {
        return mkdirat(dir, name, 0755);
    }
    if (fd_get_text(dir, members, text, sizeof(text)) == 0 && text[0] != '\0') {
        errno = EBUSY;
        return -1;
    }
    return 0;
}

int cgroup_slot_open(const struct cgroup_base *base, unsigned index, uint64_t memory_bytes_max,
    struct cgroup_slot *slot)
{
    char name[16], path[32];
    unsigned c;
    int dir, fd, r, saved;

    *slot =
        (struct cgroup_slot){.procs_fds = {-1, -1}, .memory_fd = -1, .peak_fd = -1, .kills_fd = -1};
    (void)snprintf(name, sizeof(name), "%u", index);
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        dir = base->controllers[c].dir_fd;
        if (dir < 0) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%u/%s", index, join_file(base->controllers[c].version));
        if (make_empty(dir, name, path, base_shares(base, c)) < 0) {
            slot_close_fds(slot);
            return -1;
        }
        fd = open_dir(dir, name);
        if (fd >= 0 && !base_shares(base, c)) {
            slot->procs_fds[slot->procs_fds_count] = openat(dir, path, O_WRONLY | O_CLOEXEC);
            slot->procs_fds_count += slot->procs_fds[slot->procs_fds_count] >= 0 ? 1 : 0;
        }
        r = fd < 0 ? -1 : 0;
        if (r == 0 && c == CGROUP_MEMORY) {
            r = slot_open_memory(slot, fd, base->controllers[c].version, memory_bytes_max);
        } else if (r == 0) {
            r = fd_put_text(fd, "pids.max", PIDS_MAX);
            (void)close(fd);
        }
        if (r < 0) {
            saved = errno;
            slot_close_fds(slot);
            errno = saved;
            return -1;
        }
    }
    slot->processes = 1;
    slot->oom_count = read_kills(slot);
    slot->peak_before = slot->peak_resets ? 0 : read_peak(slot);
    return 0;
}

int cgroup_slot_processes(
    const struct cgroup_base *base, unsigned index, struct cgroup_slot *slot, unsigned processes)
{
    int dir = base->controllers[CGROUP_PIDS].dir_fd;
    char path[32], text[16];

    if (slot->processes == processes) {
        return 0;
    }
    /* The first process of a family is in the group of the origin, and must outlive it. */
    if (slot->version == 2 && slot->memory_fd >= 0) {
        (void)fd_put_text(slot->memory_fd, "memory.oom.group", processes > 1 ? "0" : "1");
    }
    if (dir < 0) {
        slot->processes = processes;
        return 0;
    }
    (void)snprintf(path, sizeof(path), "%u/pids.max", index);
    (void)snprintf(text, sizeof(text), "%u", processes);
    if (fd_put_text(dir, path, text) < 0) {
        return -1;
    }
    slot->processes = processes;
    return 0;
}

int cgroup_slot_has(const struct cgroup_base *base, unsigned index, pid_t pid)
{
    char path[32], text[1024]; /* a slot has at most some 20 processes */
    const char *at;
    unsigned c;
    int found, n, used;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (base->controllers[c].dir_fd < 0 || base_shares(base, c)) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%u/%s", index, join_file(base->controllers[c].version));
        if (fd_get_text(base->controllers[c].dir_fd, path, text, sizeof(text)) < 0) {
            return 0;
        }
        found = 0;
        for (at = text; !found && sscanf(at, "%d%n", &n, &used) == 1; at += used) {
            found = n == (int)pid;
        }
        if (!found) {
            return 0;
        }
    }
    return 1;
}

uint64_t cgroup_slot_used(const struct cgroup_slot *slot)
{
    char text[32];
    uint64_t v = 0;

    return slot->memory_fd >= 0 &&
                   fd_get_text(slot->memory_fd,
                       slot->version == 2 ? "memory.current" : "memory.usage_in_bytes", text,
                       sizeof(text)) == 0 &&
                   sscanf(text, "%" SCNu64, &v) == 1
               ? v
               : 0;
}

int cgroup_slot_close(const struct cgroup_base *base, unsigned index, struct cgroup_slot *slot)
{
    char name[16];
    unsigned c;
    int r = 0;

    slot_close_fds(slot);
    (void)snprintf(name, sizeof(name), "%u", index);
    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        if (base->controllers[c].dir_fd >= 0 &&
            unlinkat(base->controllers[c].dir_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT) {
            r = -1;
        }
    }
    return r;
}

int cgroup_slot_reset(struct cgroup_slot *slot)
{
    if (slot->memory_fd < 0) {
        return 0;
    }
    if (slot->peak_resets && pwrite(slot->peak_fd, "0", 1, 0) != 1) {
        return -1;
    }
    slot->oom_count = read_kills(slot);
    slot->peak_before = slot->peak_resets ? 0 : read_peak(slot);
    return 0;
}

int cgroup_slot_limit(struct cgroup_slot *slot, uint64_t memory_bytes_max)
{
    int tries = 0;
    int r;

    if (slot->memory_fd < 0 || slot->limit == memory_bytes_max) {
        return 0;
    }
    /* Version 1 says EBUSY while more is charged than the new limit. What the last cell here had is
     * given back a moment after its death. */
    do {
        r = write_limit(slot, memory_bytes_max, memory_bytes_max > slot->limit);
    } while (r < 0 && errno == EBUSY && ++tries < LIMIT_TRIES_MAX && usleep(LIMIT_PAUSE_US) == 0);
    if (r == 0) {
        slot->limit = memory_bytes_max;
    }
    return r;
}

uint64_t cgroup_slot_peak(const struct cgroup_slot *slot)
{
    uint64_t v = read_peak(slot);

    if (slot->memory_fd < 0 || slot->version == 1 || slot->peak_resets || v > slot->peak_before) {
        return v;
    }
    /* The peak is that of a cell that was here earlier. Where the kernel killed, the limit was
     * reached; else what is used now is honest. */
    if (cgroup_slot_killed(slot)) {
        return slot->limit;
    }
    return cgroup_slot_used(slot);
}

int cgroup_slot_killed(const struct cgroup_slot *slot)
{
    return read_kills(slot) != slot->oom_count;
}
