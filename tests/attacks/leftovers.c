/* leftovers.c - is anything left of runs that have ended: descriptors, processes, members of
 * groups?
 *
 * The engine's own tables say what should be there. They change while cells come and go in the
 * background, so a difference counts only when it stays. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "suite.h"

enum {
    PATIENCE_MS = 20000, /* a template starts in 60 ms, twice and on a busy machine in seconds */
    PAUSE_US = 2000,
    PROCESSES_MAX = 4096,
};

/* Our descriptors: those of the engine's groups, and the others. */
struct open_fds {
    int groups;
    int others;
};

static struct open_fds count_fds(void)
{
    struct open_fds n = {0};
    struct dirent *entry;
    char target[1024];
    ssize_t len;
    DIR *dir = opendir("/proc/self/fd");

    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        len = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
        if (len <= 0) {
            continue; /* the two dots */
        }
        target[len] = '\0';
        n.groups += strstr(target, "/vial.") != NULL;
        n.others += strstr(target, "/vial.") == NULL;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return n;
}

/* What the engine's tables say. */
struct tally {
    int fds;       /* descriptors of the engine that are not of groups */
    int slots;     /* groups that cells have or had; how many descriptors each takes is the engine's
                      affair */
    int processes; /* templates and cells */
    int moving;    /* cells that come or go right now */
};

static struct tally tally_of(struct vial_engine *e)
{
    struct tally t = {0};
    unsigned i;

    (void)pthread_mutex_lock(&e->lock);
    for (i = 0; i < TEMPLATES_MAX; i++) {
        t.fds += (e->templates[i].sock >= 0) + (e->templates[i].pidfd >= 0);
        t.processes += e->templates[i].pidfd >= 0;
    }
    for (i = 0; i < e->cells_count; i++) {
        const struct cell *c = &e->cells[i];

        t.fds += (c->sock >= 0) + (c->pidfd >= 0) + (c->statm_fd >= 0);
        t.slots += c->has_slot;
        t.processes += c->state == CELL_BORN || c->state == CELL_READY || c->state == CELL_TAKEN;
        t.moving += c->state == CELL_FORKING || c->state == CELL_ENDING;
    }
    for (i = 0; i < e->families_count; i++) {
        const struct family *f = &e->families[i];

        t.fds += (f->sock >= 0) + (f->pidfd >= 0) + (f->listener >= 0);
        t.processes += f->pidfd >= 0;
    }
    t.fds += (int)e->busy_count; /* a run holds the process descriptor of its cell */
    (void)pthread_mutex_unlock(&e->lock);
    return t;
}

int leftovers_descendants(void)
{
    static pid_t pids[PROCESSES_MAX], parents[PROCESSES_MAX];
    static char ours[PROCESSES_MAX];
    struct dirent *entry;
    char path[64], text[512];
    const char *after;
    char state;
    int n = 0, found = 0, more = 1, i, j;
    DIR *dir = opendir("/proc");

    while (dir != NULL && n < PROCESSES_MAX && (entry = readdir(dir)) != NULL) {
        (void)snprintf(path, sizeof(path), "/proc/%.20s/stat", entry->d_name);
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
            fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0 ||
            (after = strrchr(text, ')')) == NULL || sscanf(text, "%d", &pids[n]) != 1 ||
            sscanf(after, ") %c %d", &state, &parents[n]) != 2 || state == 'Z') {
            continue; /* the dead whose parent is gone are ours, and do nothing any more */
        }
        ours[n] = parents[n] == getpid();
        n++;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    while (more) {
        for (more = 0, i = 0; i < n; i++) {
            for (j = 0; j < n && !ours[i]; j++) {
                ours[i] = ours[j] && pids[j] == parents[i];
                more |= ours[i];
            }
        }
    }
    for (i = 0; i < n; i++) {
        found += ours[i];
    }
    return found;
}

/* A slot that no cell has must have nobody in its group. */
static int find_member(struct vial_engine *e, char *why, size_t size)
{
    char path[CGROUP_PATH_MAX + 64], text[256];
    unsigned i, c;
    int is_free;

    for (i = 0; i < e->cells_count; i++) {
        (void)pthread_mutex_lock(&e->lock);
        is_free = e->cells[i].state == CELL_FREE && e->cells[i].has_slot;
        (void)pthread_mutex_unlock(&e->lock);
        for (c = 0; is_free && c < CGROUP_CONTROLLERS; c++) {
            (void)snprintf(
                path, sizeof(path), "%s/%u/cgroup.procs", e->cgroups.controllers[c].path, i);
            if (e->cgroups.controllers[c].dir_fd >= 0 &&
                fd_get_text(AT_FDCWD, path, text, sizeof(text)) == 0 && text[0] != '\0') {
                (void)snprintf(why, size, "process %s is left in group %u", text, i);
                return 1;
            }
        }
    }
    return 0;
}

void leftovers_base(struct suite *s)
{
    struct open_fds n = count_fds();
    struct tally t = tally_of(s->engine);
    int bases = 0;
    unsigned c;

    for (c = 0; c < CGROUP_CONTROLLERS; c++) {
        bases += s->engine->cgroups.controllers[c].dir_fd >= 0;
    }
    s->fds_base = n.others - t.fds;
    s->slot_fds = t.slots > 0 ? (n.groups - bases) / t.slots : 0;
    s->group_fds_base = bases;
}

static int look_once(struct suite *s, char *why, size_t size)
{
    struct tally before = tally_of(s->engine);
    struct open_fds n = count_fds();
    int processes =
        before.moving > 0 ? 0 : leftovers_descendants(); /* it takes some milliseconds */
    struct tally t = tally_of(s->engine);

    if (before.moving > 0 || t.moving > 0) {
        (void)snprintf(why, size, "%d cells are still coming or going", t.moving);
        return 0;
    }
    if (n.others - t.fds != s->fds_base || n.groups != s->group_fds_base + s->slot_fds * t.slots) {
        (void)snprintf(why, size, "%d descriptors of the host are left, and %d of groups",
            n.others - t.fds - s->fds_base, n.groups - s->group_fds_base - s->slot_fds * t.slots);
        return 0;
    }
    if (processes != t.processes) {
        (void)snprintf(why, size, "%d processes instead of %d", processes, t.processes);
        return 0;
    }
    return !find_member(s->engine, why, size);
}

int leftovers_none(struct suite *s, char *why, size_t size)
{
    uint64_t until = clock_now_us() + PATIENCE_MS * 1000ULL;

    while (!look_once(s, why, size)) {
        if (clock_now_us() > until) {
            return 0;
        }
        (void)usleep(PAUSE_US);
    }
    return 1;
}

uint64_t leftovers_rss(void)
{
    char text[128];
    unsigned long pages = 0;

    if (fd_get_text(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) < 0 ||
        sscanf(text, "%*u %lu", &pages) != 1) {
        return 0;
    }
    return (uint64_t)pages * 4096;
}
