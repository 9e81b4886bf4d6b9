/* binding.h - the parts of the Node addon, a thin layer over vial.h.
 *
 * JavaScript prepares everything (js/) and the addon only carries it: an operation that waits is a
 * job, done in a thread of our own, and what happens meanwhile comes back through one threadsafe
 * function for each environment of Node (the main thread and every worker have one) as a call of
 * dispatch(). */
#ifndef VIAL_NODE_BINDING_H
#define VIAL_NODE_BINDING_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <pthread.h>
#include <stdint.h>

#include "vial.h"

/* ---- memory that is given back together ---- */

struct arena {
    unsigned refs;
    struct block *blocks;
};
struct arena *arena_new(void);
struct arena *arena_take(struct arena *a);
void arena_drop(struct arena *a);               /* accepts NULL */
void *arena_alloc(struct arena *a, size_t len); /* zeroed; NULL without memory */

/* ---- one environment of Node ---- */

struct instance {
    napi_env env;
    napi_threadsafe_function calls;
    napi_ref dispatch;
    pthread_mutex_t lock;
    pthread_cond_t quiet; /* when job_count becomes 0 */
    struct instance *next;
    struct handle *handles;
    struct job *jobs;
    uint32_t id;
    unsigned refs; /* one of Node's, one for each handle, one of the poll's */
    unsigned job_count;
    int is_closed;
    /* here.c */
    void *poll; /* of libuv's, on here_fd; NULL: runs are for threads */
    napi_async_cleanup_hook_handle poll_hook; /* that closes it */
    napi_async_context context;               /* of what JavaScript is told without a detour */
    napi_ref resource;                        /* its object */
    unsigned skip_count;                      /* runs that it does not wait for, see here.c */
    int here_fd;                              /* an epoll's, of the run that is here; -1: none */
    int is_deaf;                              /* the poll could not be started */
    struct job *here;                         /* it is nobody else's; lock */
};

/* ---- what JavaScript holds ---- */

enum handle_kind { HANDLE_ENGINE = 1, HANDLE_ENVIRONMENT = 2, HANDLE_SESSION = 3 };

struct handle {
    struct instance *instance;
    struct handle *prev, *next; /* of the instance's */
    struct handle *engine;      /* of an environment or a session; a reference */
    struct handle *environment; /* of a session; a reference, or NULL */
    struct arena *arena;        /* what the library points to as long as it lives */
    enum handle_kind kind;
    unsigned refs;
    union {
        void *any; /* NULL: freed */
        struct vial_engine *engine;
        struct vial_env *env;
        struct vial_session *session;
    } is;
};

struct handle *handle_new(
    struct instance *in, enum handle_kind kind, void *object, struct handle *engine);
struct handle *handle_take(struct handle *h);
void handle_drop(struct handle *h); /* may wait: not in Node's thread; accepts NULL */
/* Ends what is left, in the order that the library wants. Nothing else may be going on. */
void handles_end(struct instance *in);
/* Throws and returns NULL when the value is no open handle of this kind. */
struct handle *handle_of(napi_env env, napi_value value, enum handle_kind kind);
napi_value handle_value(napi_env env, struct handle *h); /* takes the reference */

/* ---- what to do ---- */

struct request {
    struct arena *arena;
    struct vial_request request;
    struct vial_session_options options;
    struct vial_limits limits;
    struct handle *environment; /* a reference, or NULL */
    int has_more;               /* than a program and its input */
};

/* Reads an object that js/request.js has made. 0, or -1 with an exception thrown. */
int request_fill(napi_env env, struct instance *in, napi_value object, struct request *ret);
void request_release(struct request *q);
/* Copies a string, or bytes, into the arena. -1 when it is neither; *ret is NULL for undefined. */
int copy_bytes(napi_env env, struct arena *a, napi_value value, const char **ret, size_t *ret_len);
int tools_fill(napi_env env, struct instance *in, struct arena *a, napi_value list,
    const struct vial_tool **ret, size_t *ret_count);
napi_value named(napi_env env, napi_value object, const char *name);
int is_missing(napi_env env, napi_value value);

enum operation {
    OP_ENGINE_NEW = 0,
    OP_RUN = 1,
    OP_ENV_NEW = 2,
    OP_ENV_START = 3,
    OP_SESSION_NEW = 4,
    OP_SESSION_EVAL = 5,
    OP_SESSION_CALL = 6,
    OP_SESSION_BRANCH = 7,
    OP_SETTLE = 8,
    OP_CLOSE = 9,
    OP_COUNT
};

struct job {
    struct instance *instance;
    struct job *prev, *next; /* of the instance's */
    struct job *queued;
    uint64_t number; /* what JavaScript calls it */
    enum operation op;
    struct handle *target; /* a reference, or NULL */
    struct request request;
    struct vial_engine_options engine_options;
    struct vial_run *run;
    int is_cancelled;
    int is_over;    /* it has failed before a thread had it */
    int has_posted; /* output of it is on its way to JavaScript */
    uint64_t here_until_us;
    size_t count;      /* of branches, or milliseconds */
    uint64_t function; /* to call */
    const char *bytes; /* a document, or arguments */
    size_t len;
    int code; /* what came of it */
    struct vial_error err;
    struct vial_result *result;
    struct handle *made;
    struct handle **branches; /* count of them */
};

enum { JOBS_MAX = 10000, BRANCHES_MAX = 1024 };

/* ---- what happened, for dispatch() ---- */

enum event_kind { EVENT_OUTPUT = 0, EVENT_CALL = 1, EVENT_APPROVE = 2, EVENT_DONE = 3 };

struct event {
    enum event_kind kind;
    int flag;        /* the stream, or whether the bytes are CBOR */
    uint64_t number; /* of the job, or of the tool */
    uint64_t call_id, run_id;
    struct job *job; /* of EVENT_DONE */
    size_t len;
    char bytes[]; /* and, for EVENT_APPROVE, the name after them */
};

/* Takes the event. From any thread; 0, or -1 when nobody listens any more. */
int post(struct instance *in, struct event *e);
struct event *event_new(enum event_kind kind, uint64_t number, const char *bytes, size_t len);
void call_dispatch(napi_env env, napi_value unused, void *context, void *data);

/* The number that the library gets for a tool: of the instance, and of the tool there. */
void *tool_user(const struct instance *in, uint32_t number);
void tool_called(struct vial_engine *engine, const struct vial_call *call, void *user);
int tool_needs_approval(struct vial_engine *engine, const struct vial_call *call, void *user);
void output_came(int stream, const char *bytes, size_t len, void *user);

/* ---- jobs ---- */

/* -1 when there are too many, or no thread. What is over at once leaves its outcome in ret_outcome
 * and says nothing else; NULL: everything is told later. */
int job_submit(struct job *job, napi_value *ret_outcome);
void job_forget(struct job *job); /* its outcome is with JavaScript */
int job_enqueue(struct job *job); /* for a thread: -1 when there is none */
void job_do(struct job *job);     /* in a thread */
void job_finish(struct job *job); /* in a thread, when it is done: tells JavaScript */
/* The first half of that. What JavaScript is to be told, or NULL. */
struct event *job_settle(struct job *job);
void job_end_run(struct job *job);
void job_cancel(struct job *job);
void job_free(struct job *job); /* not while the instance's lock is held */
napi_value job_outcome(napi_env env, struct job *job);

/* ---- runs in Node's own thread ---- */

void here_open(struct instance *in); /* without it, they are for threads */
/* 0: the job has begun, and is told of when it is over. -1: it is for a thread, begun or not. */
int here_begin(struct instance *in, struct job *job, napi_value *ret_outcome);
/* Gives the run that is here to a thread if its time is over by then; else that time, if it is
 * earlier than the one that is there (0: none). */
void here_hand_over(struct instance *in, uint64_t due_us, uint64_t *ret_next_us);
uint64_t instances_hand_over(uint64_t due_us); /* of all; when to look again, or 0 */

void instance_stop(struct instance *in);
struct instance *instance_of(uint32_t id); /* with a reference, or NULL */
void instance_drop(struct instance *in);

#endif
