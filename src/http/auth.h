/* auth.h - who asks, and may they? Fails closed: whatever is not clearly allowed is refused. */
#ifndef VIAL_HTTP_AUTH_H
#define VIAL_HTTP_AUTH_H

#include "http/exchange.h"

/* Finds the caller of x by its key, or because none is needed. 0, or -1 with the answer filled in.
 */
int auth_check(struct exchange *x);

/* The same user at the other end of a Unix socket? */
int auth_is_same_user(int fd);

/* Is the address, as getsockname or getpeername have it, on loopback? */
struct sockaddr;
int auth_is_loopback(const struct sockaddr *address);

/* Where the client is, for records: an address, or "uid 1000". */
void auth_from(const struct exchange *x, char *text, size_t size);

#endif
