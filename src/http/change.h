/* change.h - changes that clients make, of environments, keys and secrets, in the audit. */
#ifndef VIAL_HTTP_CHANGE_H
#define VIAL_HTTP_CHANGE_H

#include "http/exchange.h"

/* Asked before a change: 0, or -1 with an answer when records are required and none can be made. */
int change_may_begin(struct exchange *x);

/* The change was made. what is "key.create" and the like; environment and detail may be NULL. */
void change_was_made(
    struct exchange *x, const char *what, const char *environment, const char *detail);

#endif
