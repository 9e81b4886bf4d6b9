/* jobs.h - a bounded number of threads for what blocks: programs that run, and the disk. Jobs are
 * begun in the order in which they came; whose turn it is was decided before (policy/queue.h). */
#ifndef VIAL_HTTP_JOBS_H
#define VIAL_HTTP_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

struct jobs;

/* Embedded in whatever is to be done. */
struct job {
    struct job *next;
    /* Called in one of the threads; the job is not touched afterwards, so it may be freed. */
    void (*work)(struct job *job);
};

VIAL_NODISCARD int jobs_new(
    uint32_t threads, uint32_t queue_max, struct jobs **ret, struct vial_error *err);

/* Waits for all that were added. */
void jobs_free(struct jobs *jobs);

/* 0, or -1 when the queue is full, or jobs is NULL; then nothing has happened. */
int jobs_add(struct jobs *jobs, struct job *job);

#endif
