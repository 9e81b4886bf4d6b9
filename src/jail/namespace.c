/* namespace.c - see namespace.h. */
#include "jail/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/caps.h"
#include "jail/mutate.h"

struct namespace_row {
    const char *link;
    uint64_t flag;
    unsigned layer;
};

static const struct namespace_row ROWS[7] = {
    {"/proc/self/ns/user", CLONE_NEWUSER, LAYER_USERNS},
    {"/proc/self/ns/mnt", CLONE_NEWNS, LAYER_PRIVATE_ROOT},
    {"/proc/self/ns/pid", CLONE_NEWPID, LAYER_PIDNS},
    {"/proc/self/ns/net", CLONE_NEWNET, LAYER_NETNS},
    {"/proc/self/ns/ipc", CLONE_NEWIPC, LAYER_IPCNS},
    {"/proc/self/ns/uts", CLONE_NEWUTS, LAYER_UTSNS},
    {"/proc/self/ns/cgroup", CLONE_NEWCGROUP, LAYER_CGROUPNS},
};

/* The first host user of a template's range. Ranges of this width, one a process number, lie above
 * everything that distributions and containers hand out and below the top of 32 bits. */
enum { FIRST_USER_SHIFT = 12 };
static const uint32_t FIRST_USER = 0x90000000;

uint64_t namespace_flags(void)
{
    uint64_t flags = 0;
    size_t i;

    for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        flags |= mutate_without(ROWS[i].layer) ? 0 : ROWS[i].flag;
    }
    return flags;
}

void namespace_read(struct namespace_names *names)
{
    size_t i;
    ssize_t n;

    for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        n = readlink(ROWS[i].link, names->link[i], sizeof(names->link[i]) - 1);
        names->link[i][n > 0 ? n : 0] = '\0';
    }
}

void namespace_compare(const struct namespace_names *before, struct layer_report *report)
{
    struct namespace_names now;
    struct layer_entry *e;
    size_t i;

    namespace_read(&now);
    for (i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        e = &report->entries[ROWS[i].layer];
        if (now.link[i][0] == '\0') {
            e->state = LAYER_ON; /* without /proc there is nothing to compare */
        } else {
            e->state = strcmp(now.link[i], before->link[i]) != 0 ? LAYER_PROVEN : LAYER_OFF;
        }
    }
    /* All privileges inside are none outside: a call that wants real ones is refused. */
    if (report->entries[LAYER_USERNS].state != LAYER_OFF && swapoff("") == 0) {
        report->entries[LAYER_USERNS].state = LAYER_BROKEN;
    }
}

int namespace_settle(int range)
{
    if (range && setgroups(0, NULL) < 0) {
        return -1;
    }
    if (caps_become(0, 0) < 0) {
        return -1;
    }
    /* Where /proc/sys is read-only the filter still forbids every call that makes a namespace.
     * Without a user namespace of our own it would be the host's setting. */
    if (!mutate_without(LAYER_USERNS)) {
        (void)fd_put_text(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");
    }
    return sethostname("vial", 4) < 0 && errno != EPERM ? -1 : 0;
}

static int put_map(pid_t pid, const char *file, uint32_t first, uint32_t count)
{
    char path[64], text[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    (void)snprintf(text, sizeof(text), "0 %u %u\n", first, count);
    return fd_put_text(AT_FDCWD, path, text);
}

int namespace_map(pid_t pid, uint32_t *ret_users)
{
    uint32_t first = FIRST_USER + (((uint32_t)getpid() & 0x3ffff) << FIRST_USER_SHIFT);
    char path[64];

    if (mutate_without(LAYER_USERNS)) {
        /* There is nothing to map: they are the host's. */
        *ret_users = mutate_without(LAYER_PRIVATE_UID) ? 1 : NAMESPACE_USERS;
        return 0;
    }
    if (geteuid() == 0 && !mutate_without(LAYER_PRIVATE_UID) &&
        put_map(pid, "gid_map", first, NAMESPACE_USERS) == 0) {
        *ret_users = NAMESPACE_USERS;
        return put_map(pid, "uid_map", first, NAMESPACE_USERS);
    }
    *ret_users = 1;
    (void)snprintf(path, sizeof(path), "/proc/%d/setgroups", (int)pid);
    if (fd_put_text(AT_FDCWD, path, "deny") < 0 && errno != ENOENT) {
        return -1;
    }
    if (put_map(pid, "gid_map", (uint32_t)getegid(), 1) < 0) {
        return -1;
    }
    return put_map(pid, "uid_map", (uint32_t)geteuid(), 1);
}

int namespace_zero_is_plain(void)
{
    char text[512];
    unsigned inside, outside;

    return fd_get_text(AT_FDCWD, "/proc/self/uid_map", text, sizeof(text)) == 0 &&
           sscanf(text, "%u %u", &inside, &outside) == 2 && inside == 0 && outside != 0;
}
