/* egress_resolve.h - the addresses of a name, asked for in a thread of its own. */
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
    EGRESS_UNKNOWN, /* there is no such name, or nobody knows */
    EGRESS_PENDING, /* there is no answer yet */
    EGRESS_CROWDED, /* too many are being asked for */
};

struct egress_question;

/* Begins to ask the resolver of the system. When it has answered, wake_fd, which is an eventfd, is
 * written to; the question has a duplicate of it, so it may be closed any time. NULL: too many are
 * being asked for, or there is no memory or no thread for one more. */
struct egress_question *egress_question_new(const char *name, int wake_fd);

/* What is known by now, without waiting: up to EGRESS_ADDRESSES_MAX addresses, of which there is at
 * least one; or EGRESS_UNKNOWN, or EGRESS_PENDING. */
enum egress_resolved egress_question_look(
    struct egress_question *q, struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count);

/* Nobody waits for it any more. NULL is fine. */
void egress_question_free(struct egress_question *q);

#endif
