/* router.h - which handler answers which request: one table of all routes. */
#ifndef VIAL_HTTP_ROUTER_H
#define VIAL_HTTP_ROUTER_H

#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"

enum route_flags {
    ROUTE_OPEN = 1,          /* no key is needed */
    ROUTE_WORKS = 2,         /* the handler may block: it is called in a thread beside the loop */
    ROUTE_ANY_BODY = 4,      /* the body is not JSON, or not only */
    ROUTE_WHEN_STOPPING = 8, /* also while the server is stopping */
};

struct route {
    const char *method;
    const char *path; /* with {params}; the last may be {path*} and take slashes along */
    uint32_t scopes;  /* enum key_scope; any of these bits is enough */
    unsigned flags;   /* enum route_flags */
    const char *body; /* the schema of the body in the OpenAPI document; NULL: there is none */
    void (*handle)(struct exchange *x);
};

/* All routes, ended by one without a method. */
extern const struct route ROUTES[];

/* Finds the route for a method and a path as it came, and cuts copy, which is the same path, into
 * params. NULL when there is none: then *ret_allow tells what the path takes ("" when nothing:
 * there is no such path), and *ret_bad whether a part of it cannot be decoded. */
const struct route *router_find(const char *method, const char *path, char *copy,
    const char *params[EXCHANGE_PARAMS_MAX], char *ret_allow, size_t allow_size, int *ret_bad);

#endif
