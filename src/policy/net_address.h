/* net_address.h - addresses of the network, and which of them programs may reach.
 *
 * A program behind the wall may reach the public network where it is allowed to, and nothing else:
 * not the host, not its neighbours, not the services that hand out a machine's credentials. Those
 * are recognised in every way an address can be written or wrapped into another one. */
#ifndef VIAL_POLICY_NET_ADDRESS_H
#define VIAL_POLICY_NET_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

enum {
    NET_ADDRESS_BYTES = 16,
    NET_ADDRESS_TEXT_BYTES = 46, /* with its NUL; as INET6_ADDRSTRLEN has it */
};

/* In network order; an IPv4 address is ::ffff:a.b.c.d, so that each address is written once. */
struct net_address {
    uint8_t bytes[NET_ADDRESS_BYTES];
};

/* What the host of a URL is. */
enum net_host_kind {
    NET_HOST_NAME,      /* a name for the resolver, in lower case, or it may be one */
    NET_HOST_ADDRESS,   /* an address in its ordinary spelling */
    NET_HOST_DISGUISED, /* an address as only inet_aton() reads it: 127.1, 2130706433, 0x7f.1 */
    NET_HOST_BAD,       /* neither */
};

/* What these bytes are; the brackets of an IPv6 address are part of them. *ret is the address when
 * they are one, disguised or not; a disguised one that is out of range is 0.0.0.0. */
enum net_host_kind net_host_kind(const char *host, size_t len, struct net_address *ret);

/* An address in its ordinary spelling, without brackets; 0, or -1. */
int net_address_parse(const char *text, size_t len, struct net_address *ret);

/* From the bytes of an IPv4 address, and of an IPv6 one. */
struct net_address net_address_v4(const uint8_t bytes[4]);
struct net_address net_address_v6(const uint8_t bytes[16]);

int net_address_is_v4(const struct net_address *a);
int net_address_equal(const struct net_address *a, const struct net_address *b);

/* The ordinary spelling, without brackets. */
void net_address_text(const struct net_address *a, char text[NET_ADDRESS_TEXT_BYTES]);

/* What the address, or the one that is wrapped into it, is instead of public: "a loopback address";
 * NULL when it is public. */
const char *net_address_fault(const struct net_address *a);

#endif
