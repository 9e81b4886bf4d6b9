/* sessions.h - sessions that clients have: made, evaluated in, branched, ended. The table belongs
 * to the loop; what blocks is done in threads beside it. */
#ifndef VIAL_HTTP_SESSIONS_H
#define VIAL_HTTP_SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "http/exchange.h"
#include "vial.h"

struct server;
struct run;
struct session;
struct sessions;

VIAL_NODISCARD int sessions_new(
    struct server *server, struct sessions **ret, struct vial_error *err);

/* Ends all of them. No evaluation may be under way. */
void sessions_free(struct sessions *sessions);

const char *session_id(const struct session *session);
const char *session_environment(const struct session *session); /* name@version, or "" */
void session_unref(struct session *session);                    /* may be NULL */

/* Evaluates the run's program; in a worker. */
int session_eval(struct session *session, struct run *run);

/* Stops the evaluation; the caller holds the lock of its run. */
void session_cancel(struct session *session);

/* Forgets those that ended a while ago. */
void sessions_tick(struct server *server, uint64_t now_us);
size_t sessions_count(const struct server *server);

/* The handlers. */
void sessions_create(struct exchange *x);
void sessions_list(struct exchange *x);
void sessions_get(struct exchange *x);
void sessions_eval(struct exchange *x);
void sessions_branch(struct exchange *x);
void sessions_delete(struct exchange *x);
void sessions_file_get(struct exchange *x);
void sessions_file_put(struct exchange *x);
void sessions_file_delete(struct exchange *x);
void sessions_file_list(struct exchange *x);
void sessions_complete(struct exchange *x);

#endif
