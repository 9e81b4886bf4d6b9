/* cgroup.h - control groups: the kernel's own count of what a cell uses, on the host's side.
 *
 * An engine has one group per controller, and below it a slot for each cell that can exist at the
 * same time. A cell puts itself into its slot before it does anything else. Both versions of the
 * interface work, also mixed; where nothing can be made (a plain user without delegation)
 * everything here answers "no" and the host counts by polling. The processor has no group: a cell
 * has one thread and cannot take more than one. All groups go with the engine, except vial.host,
 * into which a process steps down that is alone in a delegated group of version 2. */
#ifndef VIAL_JAIL_CGROUP_H
#define VIAL_JAIL_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

#include "jail/layer.h"

enum cgroup_controller { CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CONTROLLERS };

enum { CGROUP_PATH_MAX = 512 };

struct cgroup_base {
    struct {
        int version; /* 1 or 2; 0: there is none */
        int dir_fd;  /* of the engine's group, or -1 */
        char path[CGROUP_PATH_MAX];
    } controllers[CGROUP_CONTROLLERS];
};

struct cgroup_slot {
    int procs_fds[CGROUP_CONTROLLERS]; /* where a process writes itself in; -1: none */
    unsigned procs_fds_count;          /* how many there are, from the front */
    int memory_fd;                     /* the slot's directory in the memory controller, or -1 */
    int peak_fd;                       /* the largest use so far, or -1 */
    int peak_resets;                   /* a write to it starts anew */
    uint64_t peak_before;              /* what it told at the reset, where no write does */
    int kills_fd;                      /* the file that counts the kernel's kills, or -1 */
    int version;
    unsigned processes; /* how many it may have */
    uint64_t limit;     /* in force */
    uint64_t oom_count; /* kills so far, to see a new one */
};

/* Makes the engine's groups under what /proc says is ours, and notes in the report what there is.
 * Never fails: what cannot be made is missing, with its errno in the report. Removes what engines
 * that are gone left behind. */
void cgroup_base_open(struct cgroup_base *base, struct layer_report *report);
void cgroup_base_close(struct cgroup_base *base);

/* Puts a template, which has no limit, into the engine's memory group, so that it is accounted for
 * there. */
void cgroup_base_adopt(const struct cgroup_base *base, pid_t pid);

/* Which controllers there are: bits by enum cgroup_controller. */
uint32_t cgroup_base_groups(const struct cgroup_base *base);

/* A slot with this memory limit. 0, or -1 with errno. Without controllers it is empty and succeeds.
 */
int cgroup_slot_open(const struct cgroup_base *base, unsigned index, uint64_t memory_bytes_max,
    struct cgroup_slot *slot);

/* Closes and removes; a group that still has a process in it stays. 0, or -1 when it stayed. */
int cgroup_slot_close(const struct cgroup_base *base, unsigned index, struct cgroup_slot *slot);

/* Makes the slot as new for the next cell; 0, or -1 with errno. */
int cgroup_slot_reset(struct cgroup_slot *slot);

/* Sets the memory limit when it is another one; 0, or -1 with errno. */
int cgroup_slot_limit(struct cgroup_slot *slot, uint64_t memory_bytes_max);

/* How many processes the slot may have: one, or some more for a family. 0, or -1 with errno. */
int cgroup_slot_processes(
    const struct cgroup_base *base, unsigned index, struct cgroup_slot *slot, unsigned processes);

/* Is this process in all groups of the slot? 1 also where there are none. */
int cgroup_slot_has(const struct cgroup_base *base, unsigned index, pid_t pid);

/* The memory that is used now; 0 when unknown. */
uint64_t cgroup_slot_used(const struct cgroup_slot *slot);

/* The most memory used since the reset; 0 when unknown. */
uint64_t cgroup_slot_peak(const struct cgroup_slot *slot);

/* Has the kernel killed in this slot since the last reset? */
int cgroup_slot_killed(const struct cgroup_slot *slot);

#endif
