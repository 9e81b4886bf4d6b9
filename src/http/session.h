/* session.h - one session of a client, for the files about sessions. */
#ifndef VIAL_HTTP_SESSION_H
#define VIAL_HTTP_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "http/exchange.h"
#include "http/run_spec.h"
#include "http/sessions.h"
#include "vial.h"

struct client;
struct env_entry;

#define SESSION_PREFIX "ses_"

enum { SESSION_BUCKETS = 1024, SESSION_ENDED_BYTES = 160 };

/* What a session and all that was branched from it share. */
struct session_base {
    struct server *server;
    int refs; /* atomic */
    struct run_spec spec;
    struct vial_tool *tools;
    struct env_entry *env;
    char environment[80];
    uint32_t language;
};

struct session {
    struct session *in_bucket, *next, *previous;
    struct server *server;
    struct session_base *base;   /* NULL once the handle was freed */
    struct vial_session *handle; /* NULL some time after its end */
    struct client *client;       /* NULL once it has ended */
    struct run *run;             /* the evaluation under way, or NULL */
    uint32_t refs;
    char id[ID_BYTES_MAX + 1];
    char parent[ID_BYTES_MAX + 1];
    char key[CALLER_ID_BYTES];
    char name[64];
    char environment[80]; /* name@version, or "" */
    uint32_t language;    /* enum vial_language */
    uint64_t file_evals;  /* of its evaluations, those that files were looked at by */
    uint64_t created_us;
    uint64_t ended_at_us; /* of the clock; 0 while it lives */
    char ended[SESSION_ENDED_BYTES];
    int is_busy; /* something beside an evaluation is done with it */
};

struct sessions {
    struct server *server;
    struct session *buckets[SESSION_BUCKETS];
    struct session *first;
    size_t count, live;
};

/* The session of the path, when the caller may use it and it lives; NULL with an answer. */
struct session *session_of(struct exchange *x);

/* The same for one that may have ended. */
struct session *session_of_any(struct exchange *x);

/* A new one in the table, with a reference of the table's. NULL without memory. */
struct session *session_add(struct server *server, const struct caller *caller,
    struct session_base *base, struct vial_session *handle, const struct session *parent);

/* Marks it as ended and lets go of what it used; the reason is for those who ask later. */
void session_end(struct session *session, const char *reason);
struct session *session_ref(struct session *session);

struct session_base *session_base_ref(struct session_base *base);
void session_base_unref(struct session_base *base);

/* The function of tools that clients answer. */
void session_call_tool(struct vial_engine *engine, const struct vial_call *call, void *user);

/* Adds what a client may know of it to out. 0 or negative. */
int session_describe(struct session *session, struct buf *out);

#endif
