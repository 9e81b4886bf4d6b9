/* clients.h - what each key does at the moment and has done lately: its line in the queue, its
 * quotas. Belongs to the loop. */
#ifndef VIAL_HTTP_CLIENTS_H
#define VIAL_HTTP_CLIENTS_H

#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"
#include "policy/queue.h"
#include "policy/quota.h"

enum { CLIENTS_BUCKETS = 1024 };

struct client {
    struct client *next;
    char id[CALLER_ID_BYTES];
    struct quota quota;
    struct quota_state used;
    struct queue_line line;
    uint32_t refs; /* runs and sessions */
};

struct clients {
    struct client *buckets[CLIENTS_BUCKETS];
    size_t count;
};

/* The client of a caller, with the quota that the caller has now; NULL without memory. */
struct client *client_get(struct clients *clients, const struct caller *caller);

/* Forgets those that nothing is known of any more. */
void clients_sweep(struct clients *clients, uint64_t now_us);
void clients_release(struct clients *clients);

#endif
