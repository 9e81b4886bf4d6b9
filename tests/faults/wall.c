/* wall.c - see wall.h.
 *
 * The facts of a cell in an engine that nothing went wrong with are the measure: a cell of another
 * engine may differ from them only where that engine's report says that a layer is off. */
#include "wall.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "jail/layer.h"

enum { CELLS_MAX = 16, TEXT_BYTES = 4096 };

static const struct {
    const char *name;
    unsigned layer;
    const char *word; /* in status, limits or cgroup; for namespaces the link */
    int base;         /* of the number behind it */
} FACTS[WALL_FACTS] = {
    {"the user namespace", LAYER_USERNS, "ns/user", 0},
    {"the mount namespace", LAYER_PRIVATE_ROOT, "ns/mnt", 0},
    {"the process namespace", LAYER_PIDNS, "ns/pid", 0},
    {"the network namespace", LAYER_NETNS, "ns/net", 0},
    {"the IPC namespace", LAYER_IPCNS, "ns/ipc", 0},
    {"the name namespace", LAYER_UTSNS, "ns/uts", 0},
    {"the group namespace", LAYER_CGROUPNS, "ns/cgroup", 0},
    {"no new privileges", LAYER_NO_NEW_PRIVS, "\nNoNewPrivs:", 10},
    {"the mode of filters", LAYER_SECCOMP, "\nSeccomp:", 10},
    {"the number of filters", LAYER_SECCOMP, "\nSeccomp_filters:", 10},
    {"effective capabilities", LAYER_CAPABILITIES, "\nCapEff:", 16},
    {"permitted capabilities", LAYER_CAPABILITIES, "\nCapPrm:", 16},
    {"inheritable capabilities", LAYER_CAPABILITIES, "\nCapInh:", 16},
    {"ambient capabilities", LAYER_CAPABILITIES, "\nCapAmb:", 16},
    {"threads", LAYER_SECCOMP, "\nThreads:", 10},
    {"open files", LAYER_RLIMITS, "Max open files", 10},
    {"the size of core files", LAYER_RLIMITS, "Max core file size", 10},
    {"descriptors", LAYER_DESCRIPTORS, NULL, 0},
    {"a user of its own", LAYER_PRIVATE_UID, "\nUid:", 10},
    {"a group of its own", LAYER_CGROUP_PIDS, "vial.", 0},
};

static int read_about(pid_t pid, const char *file, char *ret, size_t size)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    return fd_get_text(AT_FDCWD, path, ret, size);
}

/* 1 when the namespace is another one than ours. */
static long is_other(pid_t pid, const char *link)
{
    char path[64], theirs[64] = "", ours[64] = "";

    (void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, link);
    (void)!readlink(path, theirs, sizeof(theirs) - 1);
    (void)snprintf(path, sizeof(path), "/proc/self/%s", link);
    (void)!readlink(path, ours, sizeof(ours) - 1);
    return strcmp(theirs, ours) != 0;
}

static long count_fds(pid_t pid)
{
    struct dirent *entry;
    char path[64];
    long n = 0;
    DIR *dir;

    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    dir = opendir(path);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        n += entry->d_name[0] != '.';
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

/* The number behind a word of a text; -1 when there is none. */
static long number_in(const char *text, const char *word, int base)
{
    const char *found = strstr(text, word);
    unsigned long long v = 0;

    if (found == NULL || sscanf(found + strlen(word), base == 16 ? "%llx" : "%llu", &v) != 1) {
        return -1;
    }
    return (long)v;
}

int wall_look(pid_t pid, struct wall *ret)
{
    char status[TEXT_BYTES], limits[TEXT_BYTES], groups[TEXT_BYTES];
    size_t i;

    if (read_about(pid, "status", status, sizeof(status)) < 0 ||
        read_about(pid, "limits", limits, sizeof(limits)) < 0 ||
        read_about(pid, "cgroup", groups, sizeof(groups)) < 0) {
        return -1;
    }
    for (i = 0; i < WALL_FACTS; i++) {
        const char *word = FACTS[i].word;

        if (word == NULL) {
            ret->facts[i] = count_fds(pid);
        } else if (strncmp(word, "ns/", 3) == 0) {
            ret->facts[i] = is_other(pid, word);
        } else if (strncmp(word, "Max", 3) == 0) {
            ret->facts[i] = number_in(limits, word, FACTS[i].base);
        } else if (FACTS[i].base == 0) {
            ret->facts[i] = strstr(groups, word) != NULL;
        } else {
            ret->facts[i] = number_in(status, word, FACTS[i].base);
        }
        if (FACTS[i].layer == LAYER_PRIVATE_UID) { /* which one it is does not matter */
            ret->facts[i] = ret->facts[i] >> 16;
            ret->facts[i] = ret->facts[i] >= 0x9000;
        }
    }
    return 0;
}

static int has_layer(const struct vial_engine *engine, unsigned layer)
{
    uint8_t state = engine->report.entries[layer].state;

    return state == LAYER_ON || state == LAYER_PROVEN;
}

static unsigned ready_pids(struct vial_engine *e, pid_t *pids)
{
    unsigned i, n = 0;

    (void)pthread_mutex_lock(&e->lock);
    for (i = 0; i < e->cells_count && n < CELLS_MAX; i++) {
        if (e->cells[i].state == CELL_READY) {
            pids[n++] = e->cells[i].pid;
        }
    }
    (void)pthread_mutex_unlock(&e->lock);
    return n;
}

int wall_holds(struct vial_engine *engine, const struct wall *sound, struct wall *ret,
    unsigned *ret_count, char *why, size_t size)
{
    pid_t pids[CELLS_MAX];
    unsigned count = ready_pids(engine, pids), i, fact;
    struct wall now;

    *ret_count = 0;
    for (i = 0; i < count; i++) {
        if (wall_look(pids[i], &now) < 0) {
            continue; /* it has just ended */
        }
        *ret_count += 1;
        for (fact = 0; sound != NULL && fact < WALL_FACTS; fact++) {
            if (has_layer(engine, FACTS[fact].layer) && now.facts[fact] != sound->facts[fact]) {
                (void)snprintf(why, size,
                    "a cell has %s as %ld instead of %ld, and the report says "
                    "that %s holds",
                    FACTS[fact].name, now.facts[fact], sound->facts[fact],
                    layer_name(FACTS[fact].layer));
                return 0;
            }
        }
        if (ret != NULL) {
            *ret = now;
        }
    }
    return 1;
}
