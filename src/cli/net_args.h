/* net_args.h - --net and --net-address: rules for the network in short. */
#ifndef VIAL_CLI_NET_ARGS_H
#define VIAL_CLI_NET_ARGS_H

#include <stddef.h>

#include "base/buf.h"

enum { NET_ARGS_MAX = 64, NET_ARGS_BYTES_MAX = 1 << 20 };

/* What was given; the strings are the command line's. */
struct net_args {
    const char *rules[NET_ARGS_MAX];
    size_t rules_count;
    const char *addresses[NET_ARGS_MAX];
    size_t addresses_count;
};

/* Appends the rules as JSON, as permissions.net of an environment has them: each of --net is a rule
 * that allows, and may reach the addresses. 0, or an exit code after a message. */
int net_args_write(const struct net_args *args, struct buf *out);

#endif
