/* net_server.h - the servers that the cases about the network attack from and to: two addresses of
 * the loopback with the same port, which do what the path says, as badly as a server can. */
#ifndef VIAL_ATTACKS_NET_SERVER_H
#define VIAL_ATTACKS_NET_SERVER_H

#include <pthread.h>
#include <stddef.h>

enum { NET_SERVERS = 2, NET_SEEN_BYTES = 8192 }; /* 127.0.0.1 and 127.0.0.2 */

struct net_server {
    struct net_servers *all;
    int fd;
    unsigned connections_count, requests_count, open_count; /* guarded by the lock */
    char seen[NET_SEEN_BYTES];                              /* all heads of requests so far */
    size_t seen_len;
};

struct net_servers {
    struct net_server servers[NET_SERVERS];
    pthread_t threads[NET_SERVERS];
    pthread_mutex_t lock;
    int stopping; /* atomic */
    unsigned port;
};

/* 0, or -1. */
int net_servers_start(struct net_servers *s);

/* Ends them; nothing of them is left. */
void net_servers_stop(struct net_servers *s);

/* Waits until nobody is connected any more, at most ms; how many still are. */
unsigned net_servers_wait(struct net_servers *s, unsigned ms);

/* Did a server see this in a head of a request? */
int net_server_saw(struct net_server *s, const char *text);

#endif
