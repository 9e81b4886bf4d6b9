/* pin.h - pages that every cell is born with a copy of its own of. */
#ifndef VIAL_CELL_PIN_H
#define VIAL_CELL_PIN_H

#include <stdint.h>
#include <sys/uio.h>

enum { PIN_RANGES_MAX = 512 };

/* A place where pages can be pinned, or -1: the kernel has none, or not for us. */
int pin_open(void);

/* Template: from now on the kernel gives every copy of this process its own copies of these pages,
 * when it makes the copy. 0, or -1: they are shared until somebody writes, as everything is. */
int pin_ranges(int pin_fd, const struct iovec *ranges, unsigned count);

#endif
