/* clock.h - the one clock that deadlines are made of: monotonic, so a jump of the wall clock moves
 * none. */
#ifndef VIAL_BASE_CLOCK_H
#define VIAL_BASE_CLOCK_H

#include <stdint.h>

/* Microseconds since some fixed point. */
uint64_t clock_now_us(void);

#endif
