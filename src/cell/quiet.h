/* quiet.h - waiting until the engine's helper threads sleep, before the process is copied. */
#ifndef VIAL_CELL_QUIET_H
#define VIAL_CELL_QUIET_H

/* A copy keeps only the calling thread; a lock that another one held would stay locked for ever in
 * it. This returns when all others wait for work (or after a short while: then the host's deadline
 * catches a template that hangs, and starts another). */
void quiet_wait(void);

#endif
