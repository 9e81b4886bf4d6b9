/* mounts.h - directories of the host that a cell can read: each look at one is a question to the
 * host. */
#ifndef VIAL_CELL_MOUNTS_H
#define VIAL_CELL_MOUNTS_H

#include "cell/guest.h"
#include "cell/memfs.h"

/* Makes the directories that the start message names. 0, or -errno. */
int mounts_make(struct memfs *fs, const struct guest_start *start);

/* Makes the first count directories of a library (wire/library.h). 0, or -errno. */
int mounts_make_library(struct memfs *fs, const char *const *paths, unsigned count);

#endif
