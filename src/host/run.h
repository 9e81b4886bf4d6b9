/* run.h - one run, as the parts of the host that work on it share it. */
#ifndef VIAL_HOST_RUN_H
#define VIAL_HOST_RUN_H

#include "host/calls.h"
#include "host/engine.h"
#include "host/permit.h"

enum {
    /* A process that touches pages as fast as it can gets 5 MB in this time. */
    MEMORY_POLL_US = 2000,
};

struct vial_run {
    struct vial_engine *engine;
    struct vial_request request; /* as given; its strings are the caller's */
    struct vial_limits limits;
    struct cell_want want;
    uint32_t cell; /* CELL_NONE while there is none */
    int pidfd;     /* ours from when the cell is taken, -1 before */
    int cancelled; /* atomic */
    uint64_t asked_us, started_us, ended_us;
    uint64_t received[2];    /* bytes of stdout and stderr */
    uint64_t memory_peak;    /* seen while polling */
    uint64_t memory_next_us; /* when to look at it again */
    uint64_t id;
    struct run_calls calls;
    int wake_fd; /* wakes the thread that waits; -1: nobody will want to */
    /* An evaluation in a session: its cell is not ours to end, if that can be helped. */
    struct vial_session *session; /* NULL: a run */
    int interrupted;              /* the program was asked to stop: enum drive_event */
    uint64_t grace_end_us;        /* until then it may do so by itself */
    struct tool_set *introduce;   /* tools that the cell does not know yet; NULL: none */
    uint32_t function, release,
        complete; /* not a program but this; see the fields of these names */
    const struct mounts *introduce_mounts;         /* likewise directories */
    uint32_t scan;                                 /* enum scan_mode: what holds for it */
    const struct vial_scan_rules *introduce_rules; /* that the cell does not know yet */
    size_t introduce_rules_count;
    uint32_t session_kind; /* what the start message says of it: enum session_kind */
    struct run_permit permit;
    int together; /* the cell sits on our processor, see drive_sit_together */
    uint64_t together_until_us;
    uint64_t called_us; /* when a tool was last called that answered at once */
};

/* run.c: checks a request and makes a run of it that has no cell yet. */
VIAL_NODISCARD int run_new(struct vial_engine *engine, const struct vial_request *request,
    struct vial_run **ret, struct vial_error *err);

/* With a cell: sets its limits and tells it what to run. */
VIAL_NODISCARD int run_begin(struct vial_run *run, struct vial_error *err);

/* With a result: everything that is known only now. */
void run_complete(struct vial_run *run, struct vial_result *result);

#endif
