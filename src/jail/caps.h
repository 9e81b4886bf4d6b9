/* caps.h - giving up privileges for ever. All functions: 0, or -1 with errno. */
#ifndef VIAL_JAIL_CAPS_H
#define VIAL_JAIL_CAPS_H

#include <stdint.h>

/* Template: nothing that is executed or forked from here can gain a capability by exec or by user
 * 0. */
int caps_close_sources(void);

/* Cell: becomes a user and a group. Raw calls: libc's wrappers would look for threads that a
 * process made by a raw clone does not have. */
int caps_become(uint32_t uid, uint32_t gid);

/* Cell: the three sets become empty, and the process cannot be looked into. */
int caps_drop(void);

#endif
