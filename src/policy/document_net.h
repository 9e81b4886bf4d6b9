/* document_net.h - rules for the network as people write them: the member "net" of permissions.
 *
 * "deny" is no network, "allow" is https to every public host, and a list has rules;
 * docs/network.md has what they look like. */
#ifndef VIAL_POLICY_DOCUMENT_NET_H
#define VIAL_POLICY_DOCUMENT_NET_H

#include "policy/document_check.h"
#include "policy/net_rules.h"

/* Checks the member, which may be NULL, and fills *ret, which is empty. */
void document_check_net(struct document_check *c, const json_t *value, struct net_policy *ret);

#endif
