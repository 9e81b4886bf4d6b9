/* attack.h - the place where the hostile suite puts raw system calls into a cell.
 *
 * A build configured with -Dmutation=true links tests/attacks/raw_*.c, and a cell asked for with
 * CELL_ATTACK, or one with CELL_ORIGIN and a number, runs one of them instead of guest code. In
 * every other build there is no such code.
 */
#ifndef VIAL_CELL_ATTACK_H
#define VIAL_CELL_ATTACK_H

#include <stddef.h>

#include "jail/spec.h"

#ifdef VIAL_MUTATION
/* Remembers which attack this cell is for. */
void attack_arm(const struct cell_spec *spec);

/* Is this cell for an attack? Then it has happened, or happens now, and its report is JSON in *ret.
 */
int attack_report(const char **ret, size_t *ret_len);

/* A cell that stays is told to branch. 0: it should do so; 1: it has done whatever it does; 2: this
 * is the branch. */
int attack_on_branch(uint32_t cell, const int *fds, unsigned fds_count);
#else
static inline void attack_arm(const struct cell_spec *spec)
{
    (void)spec;
}

static inline int attack_report(const char **ret, size_t *ret_len)
{
    (void)ret;
    (void)ret_len;
    return 0;
}

static inline int attack_on_branch(uint32_t cell, const int *fds, unsigned fds_count)
{
    (void)cell;
    (void)fds;
    (void)fds_count;
    return 0;
}
#endif

#endif
