/* start.h - the start message: tells a cell what to run. */
#ifndef VIAL_HOST_START_H
#define VIAL_HOST_START_H

#include "host/tool.h"
#include "vial.h"

/* Sends it; tools may be NULL; source and input go from the caller's memory to the socket without a
 * copy. 0, or -1 with errno. */
int start_send(int sock, const struct vial_request *request, const struct vial_limits *limits,
    const struct tool_set *tools);

#endif
