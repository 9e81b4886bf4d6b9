/* wall.h - what the kernel says about a cell, from outside, against what the report claims. */
#ifndef VIAL_FAULTS_WALL_H
#define VIAL_FAULTS_WALL_H

#include <stddef.h>
#include <sys/types.h>

#include "host/engine.h"

enum { WALL_FACTS = 20 };

/* Facts about one cell, each of which stands for a layer. */
struct wall {
    long facts[WALL_FACTS];
};

/* Looks at a process. 0, or -1 when it is gone. */
int wall_look(pid_t pid, struct wall *ret);

/* Looks at all cells that wait in the engine's pool: each must have everything that the report
 * claims, as a cell has it when nothing fails. 1, or 0 with the reason. Stores the last one that
 * was looked at in *ret, when that is not NULL, and how many there were. */
int wall_holds(struct vial_engine *engine, const struct wall *sound, struct wall *ret,
    unsigned *ret_count, char *why, size_t size);

#endif
