/* clients.c - see clients.h. */
#include "http/clients.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t bucket_of(const char *id)
{
    uint32_t h = 2166136261U;

    for (; *id != '\0'; id++) {
        h = (h ^ (unsigned char)*id) * 16777619U;
    }
    return h % CLIENTS_BUCKETS;
}

struct client *client_get(struct clients *clients, const struct caller *caller)
{
    struct client **at = &clients->buckets[bucket_of(caller->id)], *c;

    for (c = *at; c != NULL && strcmp(c->id, caller->id) != 0; c = c->next) {
    }
    if (c == NULL) {
        c = calloc(1, sizeof(*c));
        if (c == NULL) {
            return NULL;
        }
        (void)snprintf(c->id, sizeof(c->id), "%s", caller->id);
        c->next = *at;
        *at = c;
        clients->count++;
    }
    c->quota = caller->quota;
    c->line.running_max = caller->quota.concurrent > 0 ? caller->quota.concurrent : 1;
    return c;
}

void clients_sweep(struct clients *clients, uint64_t now_us)
{
    size_t i;

    for (i = 0; i < CLIENTS_BUCKETS; i++) {
        struct client **at = &clients->buckets[i];

        while (*at != NULL) {
            struct client *c = *at;

            if (c->refs == 0 && c->line.running == 0 && c->line.waiting == 0 &&
                quota_is_idle(&c->used, now_us)) {
                *at = c->next;
                free(c);
                clients->count--;
            } else {
                at = &c->next;
            }
        }
    }
}

void clients_release(struct clients *clients)
{
    size_t i;

    for (i = 0; i < CLIENTS_BUCKETS; i++) {
        while (clients->buckets[i] != NULL) {
            struct client *c = clients->buckets[i];

            clients->buckets[i] = c->next;
            free(c);
        }
    }
}
