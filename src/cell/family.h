/* family.h - cells that stay and are branched: the processes that make up a family.
 *
 * The first process of a family is of our making, runs nothing of a guest, and only reaps; it is
 * the first of a pid namespace, so the family ends with it. Its copy is the origin, where guest
 * code runs. A branch is a copy of a member beside it. It has the member's confinement, and a
 * socket and an account of its own. */
#ifndef VIAL_CELL_FAMILY_H
#define VIAL_CELL_FAMILY_H

#include <stddef.h>

enum { FAMILY_FDS_MAX = 5 }; /* a socket and at most four cgroup files */

/* In the first process, confined but for the last filter: returns in the origin only, confined
 * wholly and known to the host. On failure the process ends. */
void family_split(int threads, void (*failed)(const char *step, int sys));

/* Reads len bytes of the control socket with the descriptors that come along, of which at most
 * FAMILY_FDS_MAX. 0, or -1 when the host has gone. */
int family_read(void *bytes, size_t len, int fds[FAMILY_FDS_MAX], unsigned *ret_fds_count);

/* Makes a copy with these descriptors. 1 in the copy, which is on its own account and socket; 0 in
 * this process; -1 with errno when there is none. */
int family_branch(const int *fds, unsigned fds_count);

/* Closes the descriptors of a branch, in the process that it is a copy of. The host takes the end
 * of a socket for the end of a branch: one that could not be made is told before. */
void family_let_go(const int *fds, unsigned fds_count);

#endif
