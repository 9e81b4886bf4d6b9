/* jobs.h - a bounded number of threads for what blocks: programs that run, and the disk.
 *
 * A job is embedded in whatever is to be done, and says by its key whose it is. Jobs of one key are
 * begun in the order in which they came; between keys the turns are fair, so that nobody who asks
 * for much keeps the others waiting. */
#ifndef VIAL_HTTP_JOBS_H
#define VIAL_HTTP_JOBS_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

struct jobs;

struct job {
    struct job *next;
    const char *key; /* borrowed: lives as long as the job */
    /* Called in one of the threads; the job is not touched afterwards, so it may be freed. */
    void (*work)(struct job *job);
};

VIAL_NODISCARD int jobs_new(
    uint32_t threads, uint32_t queue_max, struct jobs **ret, struct vial_error *err);

/* Waits for those that have begun. Nothing may wait any more. */
void jobs_free(struct jobs *jobs);

/* 0, or -1 when the queue is full; then nothing has happened. */
int jobs_add(struct jobs *jobs, struct job *job);

/* Takes a job back that has not begun: 1 when that was so. */
int jobs_remove(struct jobs *jobs, struct job *job);

/* How many wait, and how many are being done. */
void jobs_count(struct jobs *jobs, size_t *ret_waiting, size_t *ret_working);

#endif
