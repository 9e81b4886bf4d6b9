/* call.h - one call of a tool, as the parts of the host that work on it share it; see calls.h. */
#ifndef VIAL_HOST_CALL_H
#define VIAL_HOST_CALL_H

#include "base/trace.h"
#include "host/calls.h"
#include "host/run.h"

enum call_state {
    CALL_WAITING, /* for approval */
    CALL_APPROVED,
    CALL_REFUSED,
    CALL_UNDERWAY,
    CALL_OVER, /* answered, or its run has ended */
};

struct call {
    struct call *next; /* of the run's calls without an answer */
    struct vial_engine *engine;
    struct vial_run *run;   /* NULL when the run is over */
    struct tool_set *tools; /* a reference: the tool outlives the run */
    const struct tool *tool;
    uint64_t id;
    uint32_t cell_id; /* the cell's number for it */
    uint32_t record;  /* in the run's result */
    uint32_t kind;    /* enum call_kind */
    uint8_t state;    /* enum call_state */
    uint8_t held;     /* somebody does it and looks at it */
    int cancelled;    /* atomic: the answer is not wanted any more */
    uint64_t deadline_us;
    uint64_t run_id;
    size_t output_bytes_max;
    char *args;
    size_t args_len;
    char *reason;                  /* of a refusal */
    char traceparent[TRACE_BYTES]; /* or "" */
};

/* An error as the guest gets it. */
struct call_error {
    const char *name;
    const char *message;
    const char *fields; /* a JSON object, or NULL */
};

/* calls.c; with the table's lock held: ends a call with an answer, which is sent or put off. */
void call_finish(struct call *call, uint32_t status, const char *reason, uint32_t kind,
    const char *bytes, size_t len);

/* The same with an error; status and the message are what the result tells. */
void call_finish_error(struct call *call, uint32_t status, const struct call_error *error);

/* The call of this number that still wants an answer, or NULL. */
struct call *call_find(struct call_table *table, uint64_t id);

/* Whoever did it is done with it. */
void call_let_go(struct call *call);

/* call_do.c: has the tool do it; without the lock. */
void call_do(struct call *call);

/* What a function of the host sees of it. */
void call_describe(const struct call *call, struct vial_call *ret);

#endif
