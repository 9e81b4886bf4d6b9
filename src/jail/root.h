/* root.h - the file tree of a template and its cells: empty, read-only, in memory. */
#ifndef VIAL_JAIL_ROOT_H
#define VIAL_JAIL_ROOT_H

#include <stdint.h>

#include "base/name.h"

/* Where a cell with files has them. */
#define ROOT_WORK_DIR FILE_NAME_ROOT

/* What /tmp is a link to: programs expect to find that. It is made when one first asks. */
#define ROOT_TMP_DIR ROOT_WORK_DIR "/.tmp"

/* Template: replaces everything by an empty tree with one directory for work; the host's files are
 * gone from sight. Needs a mount namespace of its own. 0, or -1 with errno and *ret_undone set: 1
 * while the old tree is still in place, 0 when the process must not go on. */
int root_enter(int *ret_undone);

/* Cell: its own bounded work directory, and the working directory is there. Needs a mount namespace
 * of its own. 0, or -1 with errno. */
int root_mount_work(uint64_t bytes_max, uint32_t files_max, uint32_t uid);

#endif
