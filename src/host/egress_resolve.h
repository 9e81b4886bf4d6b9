/* egress_resolve.h - the addresses of a name, asked for once and in bounded time. */
#ifndef VIAL_HOST_EGRESS_RESOLVE_H
#define VIAL_HOST_EGRESS_RESOLVE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/net_address.h"

enum {
    EGRESS_ADDRESSES_MAX = 16, /* of one name; more are not needed to reach a server */
    /* Threads that ask a name server which does not answer; they end when the resolver gives up. */
    EGRESS_RESOLVERS_MAX = 64,
};

enum egress_resolved {
    EGRESS_RESOLVED = 0,
    EGRESS_UNKNOWN,   /* there is no such name, or nobody knows */
    EGRESS_LATE,      /* until_us passed */
    EGRESS_CANCELLED, /* *cancelled is not 0 */
    EGRESS_CROWDED,   /* too many are being asked for */
};

/* Asks the resolver of the system for a name in a thread of its own. Up to EGRESS_ADDRESSES_MAX
 * addresses, of which there is at least one. *cancelled is read atomically every 20 ms. */
enum egress_resolved egress_resolve(const char *name, uint64_t until_us, const int *cancelled,
    struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count);

#endif
