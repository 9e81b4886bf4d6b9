/* net_url.h - the one reader of URLs that programs ask for.
 *
 * What is judged must be what is asked for. So a URL is read here once, into its parts; rules look
 * at the parts, and whoever makes the request gets a URL that is written from the same parts. What
 * two readers might read differently is refused, not repaired. */
#ifndef VIAL_POLICY_NET_URL_H
#define VIAL_POLICY_NET_URL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "policy/net_address.h"

enum {
    NET_URL_BYTES_MAX = 8192, /* what servers take */
    NET_HOST_BYTES_MAX = 253, /* a name as the DNS has it */
    NET_PATH_BYTES_MAX = NET_URL_BYTES_MAX,
};

enum net_scheme { NET_HTTPS = 0, NET_HTTP = 1 };

struct net_url {
    int scheme;                        /* enum net_scheme */
    int host_kind;                     /* enum net_host_kind: a name, an address, a disguised one */
    char host[NET_HOST_BYTES_MAX + 3]; /* in lower case; an IPv6 address with its brackets */
    struct net_address address;        /* unless the host is a name */
    uint16_t port;                     /* never 0 */
    struct buf path;                   /* begins with '/', without . and .. */
    struct buf query;                  /* what follows '?', or empty */
    int has_query;
};

/* Reads a URL. 0 with *ret, to be released; -1 with the rest of a sentence about the URL in why. A
 * fragment is dropped, for it never goes to a server. Without memory it is -1, too. */
int net_url_parse(const char *text, size_t len, struct net_url *ret, const char **why);
void net_url_release(struct net_url *url);

uint16_t net_scheme_port(int scheme);
const char *net_scheme_name(int scheme);

/* Appends scheme, host and, when it is not the scheme's own, port. */
VIAL_NODISCARD int net_url_origin(const struct net_url *url, struct buf *out);

/* Appends the whole URL. */
VIAL_NODISCARD int net_url_write(const struct net_url *url, struct buf *out);

/* Appends it as it may be told: of the query the names only. */
VIAL_NODISCARD int net_url_tell(const struct net_url *url, struct buf *out);

/* Do they have scheme, host and port in common? */
int net_url_same_origin(const struct net_url *a, const struct net_url *b);

/* A path in its one spelling: appends it to out. -1 with why when it is none, or when a server
 * might read it as another one. */
int net_path_normalise(const char *path, size_t len, struct buf *out, const char **why);

#endif
