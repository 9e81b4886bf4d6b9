/* counters.h - the numbers of the server for /metrics. Adding is done from any thread. */
#ifndef VIAL_HTTP_COUNTERS_H
#define VIAL_HTTP_COUNTERS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "vial.h"

struct counters {
    struct metrics *metrics;
    struct metric *runs, *run_seconds, *run_cpu, *run_memory, *queue_seconds, *workers, *sessions,
        *calls, *call_seconds, *denials, *dropped, *requests, *request_seconds, *refusals, *waiting,
        *connections, *build, *audit_lost;
};

VIAL_NODISCARD int counters_init(struct counters *c, struct vial_error *err);
void counters_release(struct counters *c);

/* Counts a run that has ended, by what its result says. */
void counters_run(struct counters *c, const char *language, struct vial_result *result);

/* Counts an answered request; route is the form of its path. */
void counters_request(struct counters *c, const char *route, unsigned status, uint64_t us);

/* Counts a request to run that was not let in, by the code of the problem. */
void counters_refusal(struct counters *c, const char *code);

#endif
