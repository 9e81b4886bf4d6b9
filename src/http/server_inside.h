/* server_inside.h - what the files about the server itself share. */
#ifndef VIAL_HTTP_SERVER_INSIDE_H
#define VIAL_HTTP_SERVER_INSIDE_H

#include "http/listen.h"
#include "http/server.h"

extern const struct listen_handlers SERVER_HANDLERS;

/* One turn of the loop, at most so long; -1: as long as it takes. */
void server_step(struct server *server, int timeout_ms);

/* What is done now and then: old things forgotten, the store kept small. */
void server_tend(struct server *server, uint64_t now_us);

/* Checks JSON against a schema of the OpenAPI document: 0, or -1 with an answer. */
int body_check(struct exchange *x, const char *schema, const char *json, size_t len,
    struct buf *report, struct vial_error *err);

/* For bytes that are nobody's to free. */
void leave_alone(void *bytes);

#endif
