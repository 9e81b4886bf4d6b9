/* permissions.h - what a program may do, as its cell enforces it: rules about files, the directory,
 * the clock, random numbers.
 *
 * The host says it anew with each start message, so what one evaluation of a session was forbidden
 * another one may be allowed. What is refused is told to the host, and to the program as EACCES
 * with the name of the rule. */
#ifndef VIAL_CELL_PERMISSIONS_H
#define VIAL_CELL_PERMISSIONS_H

#include "base/buf.h"
#include "cell/guest.h"
#include "cell/memfs.h"

/* Before a program: from now on this holds. 0, or -1 when the message is malformed. */
VIAL_NODISCARD int permissions_begin(const struct guest_start *start, struct memfs *files);

/* After it: adds how much was refused beyond what was told of. */
VIAL_NODISCARD int permissions_end(struct buf *result);

#endif
