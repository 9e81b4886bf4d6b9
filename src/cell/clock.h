/* clock.h - the time of day as a program sees it: the true one, or one that it was given.
 *
 * Engines and libraries ask libc for the time by name, and clock.c defines these names in the
 * program itself (clock.list), so that questions arrive there. Only the time of day is changed.
 * Clocks that measure how long something takes are left to the kernel, for limits, timers and locks
 * live from them; what a language shows of those to programs it asks here about. */
#ifndef VIAL_CELL_CLOCK_H
#define VIAL_CELL_CLOCK_H

#include <stdint.h>

/* From now on it is that time, in microseconds since 1970: it stands, or goes on from there. */
void clock_set(int64_t at_us, int runs);

/* It is the true time again. */
void clock_unset(void);

/* Does it stand? Then durations are none, either. */
int clock_stands(void);

#endif
