/* run.h - one run from the request to the end, and the table of those that are kept in memory.
 *
 *     run_new -> run_submit -> (a worker: the program) -> run_finish, in the loop
 *
 * A run belongs to the loop. The worker that runs it has what is marked as its own until it posts
 * the end. Evaluations in sessions are runs as well. */
#ifndef VIAL_HTTP_RUN_H
#define VIAL_HTTP_RUN_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/trace.h"
#include "http/events.h"
#include "http/exchange.h"
#include "http/jobs.h"
#include "http/problem.h"
#include "http/run_spec.h"
#include "policy/queue.h"
#include "vial.h"

struct server;
struct client;
struct env_entry;
struct session;

enum run_state { RUN_STATE_QUEUED, RUN_STATE_RUNNING, RUN_STATE_ENDED };

enum {
    RUN_TAIL_BYTES = 4,   /* of a character whose rest has not come yet */
    RUN_CALLS_MAX = 1024, /* that wait for a client's answer */
    RUN_FAULT_BYTES = 400,
};

/* A call that a client has to answer, or to approve. */
struct run_call {
    struct run_call *next;
    uint64_t id;
    int is_approval;
};

struct run {
    struct run *in_bucket, *older, *newer; /* of the table */
    struct run *live_next, *live_before;   /* of those that have not ended */
    struct run *next_to_save;
    struct server *server;
    struct client *client; /* NULL when it has ended */
    struct queue_item item;
    struct run_spec spec;
    uint64_t created_us, started_us, ended_us; /* since 1970 */
    uint64_t queued_us;                        /* of the clock */
    uint64_t reserved_us;                      /* of processor time, at the quota */
    struct exchange *waiter;                   /* who waits for the result, or NULL */
    struct stream *streams;
    struct events events;
    struct run_call *calls;
    size_t calls_count;
    struct run_shown *shown; /* what it has shown so far, the last first; none when it has ended */
    size_t shown_count;      /* artifacts that have an event */
    char *idempotency;       /* what the client called the request, or NULL */
    char *whole_request;     /* then: its method, path and body */
    char *stored_request;    /* what the store keeps of the request, or NULL */
    size_t whole_request_len, stored_request_len;
    struct session *session; /* what it is an evaluation in; a reference */
    /* For who made the run; may be NULL. Called in the loop when it has ended. */
    void (*on_end)(struct run *run, void *user);
    void *on_end_user;
    /* Called by the worker around the program; may be NULL. after is called in any case, also when
     * before failed or the run never began. */
    int (*before)(struct run *run, struct vial_error *err);
    void (*after)(struct run *run);
    void *around_user;
    size_t recording_bytes_max; /* 0: it is not to be recorded */
    char *recording;            /* JSON, until the store has it; the worker's until the end */
    size_t recording_len;
    size_t body_bytes; /* of memory that the result takes beside its text */
    size_t kept_bytes;

    pthread_mutex_t lock;      /* of handle, cancel_reason and is_evaluating */
    struct vial_run *handle;   /* while it can be cancelled */
    struct vial_run *ended;    /* the same when the loop has heard its end; to be freed */
    const char *cancel_reason; /* static; NULL: it was not */

    /* The worker's until the end. */
    struct job job;
    struct loop_source ear; /* when the loop listens to the program */
    struct loop_post done, tidy;
    struct env_entry *env;
    struct vial_tool *tools; /* what the request's tools are */
    size_t tails_len[2];
    struct vial_result *result;
    uint64_t cpu_us;
    char *json; /* what a client gets; owned */
    size_t json_len;
    struct vial_error err;

    uint32_t refs;
    enum run_state state;
    enum problem problem; /* when r is negative */
    int r;
    int wants_events; /* output is worth an event */
    int is_detached;
    int is_quiet; /* not in the table, not stored: a part of something else */
    int is_evaluating;
    int was_begun_around; /* before went well */
    int was_never_begun;
    int is_prepared;   /* run_prepare went well */
    int is_unrecorded; /* records and events of its end are made when the answer is on its way */
    int is_to_save;    /* waits to be stored */
    int is_stored;     /* as it ended */
    int is_in_table;
    char tails[2][RUN_TAIL_BYTES];
    char id[ID_BYTES_MAX + 1];
    char key[CALLER_ID_BYTES];
    char traceparent[TRACE_BYTES];
    char agent[SPEC_AGENT_BYTES_MAX + 1];
    char from[64];        /* where the client is */
    char environment[80]; /* name@version, or "" */
    char status[24];
    char recording_fault[RUN_FAULT_BYTES]; /* why there is no recording */
};

struct runs;
VIAL_NODISCARD int runs_new(struct server *server, struct runs **ret, struct vial_error *err);
void runs_free(struct runs *runs);

/* A new run of the exchange's caller, whose spec is to be filled in; NULL without memory. It has
 * one reference. */
struct run *run_new(struct server *server, const struct caller *caller, struct vial_error *err);
struct run *run_ref(struct run *run);
void run_unref(struct run *run);

/* Lets the run in: quotas, the queue. 0, or -1 with the answer of x filled in. From then on the
 * table has a reference of its own. */
int run_submit(struct run *run, struct exchange *x);

/* Stops it, whatever it does at the moment. The reason is a static word. */
void run_cancel(struct run *run, const char *reason);

/* A run that is in memory; borrowed. NULL when there is none. */
struct run *runs_find(struct server *server, const char *id);

/* Calls fn with each that has not ended. */
void runs_each_live(struct server *server, void (*fn)(struct run *run, void *user), void *user);
size_t runs_live_count(const struct server *server);

/* Heartbeats and the like. */
void runs_tick(struct server *server, uint64_t now_us);

/* When the loop has to stop listening to a program, and a worker goes on; UINT64_MAX: there is
 * none. The second one, after each step, sees to both. */
uint64_t runs_deadline_us(const struct server *server);
void runs_relieve(struct server *server, uint64_t now_us);

/* Waits until everything that has ended is stored; the loop stands meanwhile. */
void runs_flush(struct server *server);

/* What a client sees of a run at the moment; added to out. */
int run_describe(const struct run *run, struct buf *out);

/* Answers a call. 0 with *ret_known 1, or *ret_known 0 when the run has no such call. */
int run_answer_call(struct run *run, uint64_t call, const char *json, size_t len, int *ret_known,
    struct vial_error *err);

/* A time as RFC 3339 has it, in UTC. */
enum { RUN_TIME_BYTES = 32 };
void run_time_text(uint64_t us, char text[RUN_TIME_BYTES]);

/* The functions of tools that the client answers; user is the run, or for a session that. */
void run_call_tool(struct vial_engine *engine, const struct vial_call *call, void *user);
int run_approve(struct vial_engine *engine, const struct vial_call *call, void *user);

#endif
