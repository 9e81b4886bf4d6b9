/* egress_net.h - what the requests of one run share: libcurl's handles, with the connections that
 * are kept, the sockets that are waited for, and the names that were looked up.
 *
 * All of it belongs to the thread that waits for the run. Nothing here waits: the sockets and the
 * time of the next turn are given to whoever sleeps, and what happened is taken in a turn. Nothing
 * is shared between runs, so no program meets a connection that another one has used. */
#ifndef VIAL_HOST_EGRESS_NET_H
#define VIAL_HOST_EGRESS_NET_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "host/egress_resolve.h"
#include "host/libcurl.h"

enum {
    EGRESS_NAMES_MAX = 64,             /* names of one run that are known or being asked for */
    EGRESS_NAME_US = 10 * 1000 * 1000, /* for so long an answer holds: half of a common TTL */
    EGRESS_UNKNOWN_US = 1000 * 1000,
    EGRESS_SOCKETS_MAX = 512, /* twice the requests that may be open; a connect tries two at once */
};

struct egress_net;

VIAL_NODISCARD int egress_net_new(int wake_fd, struct egress_net **ret, struct vial_error *err);
void egress_net_free(struct egress_net *net);

const struct libcurl *egress_net_lib(const struct egress_net *net);

/* From now on there may be TLS, whose libraries write without asking for EPIPE. */
void egress_net_expect_tls(struct egress_net *net);

/* A handle without options, and giving it back. NULL without memory. */
CURL *egress_net_take(struct egress_net *net);
void egress_net_give_back(struct egress_net *net, CURL *easy);

/* Sets a handle with its options going, and stops it. 0, or -1 without memory. */
int egress_net_add(struct egress_net *net, CURL *easy);
void egress_net_remove(struct egress_net *net, CURL *easy);

/* The sockets to sleep on: at most max. */
size_t egress_net_sockets(const struct egress_net *net, struct pollfd *ret, size_t max);

/* When the next turn must be at the latest. */
uint64_t egress_net_deadline_us(const struct egress_net *net);

/* Takes what happened on the sockets, and what is due. Of exchanges that ended, *is_done and *code
 * of their struct egress_end are set. */
struct egress_end {
    int is_done;
    CURLcode code;
};
void egress_net_turn(struct egress_net *net, const struct pollfd *sockets, size_t count);

/* The addresses of a name, if they are known; else they are asked for, and there will be a turn
 * when the answer has come. */
enum egress_resolved egress_net_resolve(struct egress_net *net, const char *host,
    struct net_address ret[EGRESS_ADDRESSES_MAX], size_t *ret_count);

#endif
