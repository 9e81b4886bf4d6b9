/* start.h - the start message: tells a cell what to run. */
#ifndef VIAL_HOST_START_H
#define VIAL_HOST_START_H

#include "host/run.h"

/* Sends it; source and input go from the caller's memory to the socket without a copy. 0, or -1
 * with errno. */
int start_send(const struct vial_run *run, int sock, uint64_t until_us);

#endif
