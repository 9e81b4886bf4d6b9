/* run.h - one run, as the parts of the host that work on it share it. */
#ifndef VIAL_HOST_RUN_H
#define VIAL_HOST_RUN_H

#include "host/calls.h"
#include "host/engine.h"

enum {
    /* A process that touches pages as fast as it can gets 5 MB in this time. */
    MEMORY_POLL_US = 2000,
};

struct vial_run {
    struct vial_engine *engine;
    struct vial_request request; /* as given; its strings are the caller's */
    struct vial_limits limits;
    struct cell_spec spec;
    uint32_t cell; /* CELL_NONE while there is none */
    int pidfd;     /* ours from when the cell is taken, -1 before */
    int cancelled; /* atomic */
    uint64_t asked_us, started_us, ended_us;
    uint64_t received[2];    /* bytes of stdout and stderr */
    uint64_t memory_peak;    /* seen while polling */
    uint64_t memory_next_us; /* when to look at it again */
    uint64_t id;
    struct run_calls calls;
    int together; /* the cell sits on our processor, see drive_sit_together */
    uint64_t together_until_us;
};

#endif
