/* start.h - reads the start message of a program. */
#ifndef VIAL_CELL_START_H
#define VIAL_CELL_START_H

#include "cell/guest.h"
#include "cell/memfs.h"

/* Fills in start, which then points into payload, and what of limits the message has. files is what
 * the program gets when it may have files. 0, or -1 when the message is malformed. */
int start_parse(const char *payload, size_t len, struct memfs *files, struct guest_start *start,
    struct memfs_limits *limits);

#endif
