/* root.h - the file tree of a template and its cells: empty, read-only, in memory. */
#ifndef VIAL_JAIL_ROOT_H
#define VIAL_JAIL_ROOT_H

/* Template: replaces everything by an empty tree; the host's files are gone from sight. Needs a
 * mount namespace of its own. 0, or -1 with errno and *ret_undone set: 1 while the old tree is
 * still in place, 0 when the process must not go on. */
int root_enter(int *ret_undone);

#endif
