/* run_inside.h - what the files about runs share. */
#ifndef VIAL_HTTP_RUN_INSIDE_H
#define VIAL_HTTP_RUN_INSIDE_H

#include "http/run.h"
#include "store/run_store.h"

enum { RUN_BUCKETS = 4096 };

struct runs {
    struct server *server;
    struct run *buckets[RUN_BUCKETS];
    struct run *oldest, *newest;
    size_t count;
    struct run *live; /* those that have not ended, with a reference */
    size_t live_count;
    uint64_t kept_bytes;
    size_t unstored_count; /* of the table: they run, or have ended and are not stored yet */
    struct run *to_save, *to_save_last; /* have ended and are not stored yet, with a reference */
    int is_saving, is_last;             /* and whether it is the last attempt */
    int has_failed;                     /* the last attempt did */
    uint64_t save_after_us;             /* the clock, when there is to be another */
};

/* A worker's part. */
void run_work(struct job *job);

/* Sends a small program to its cell from the loop, so that it runs while the worker wakes up. */
void run_start_early(struct run *run);

/* Makes the object that a client gets, from the result or from what went wrong. 0 or negative. */
int run_make_json(struct run *run);

/* In the loop, when the worker is done. */
void run_finish(struct loop_post *post);

/* Events. */
int run_event_start(struct run *run);
void run_events_end(struct run *run);

/* Artifacts (run_shown.c): an event for each as soon as the program has shown it, and its bytes for
 * those who ask before the run has ended. */
void run_on_artifact(const struct vial_result *result, size_t index, void *user);

/* The run has ended: events for those that have none yet; from now on the result has them all. */
void run_shown_end(struct run *run);

/* A representation of what a run that has not ended has shown: 0, or -1. Borrowed. */
int run_shown_find(
    const struct run *run, size_t artifact, size_t index, struct vial_representation *ret);
void run_shown_release(struct run *run);

/* Stores the run soon. A store that cannot take it is asked again every second, as long as the run
 * is in memory. */
void run_save(struct run *run);
void runs_save_again(struct server *server, uint64_t now_us);

/* What the store keeps of a run, as it is now; request and result are borrowed. */
void run_to_stored(const struct run *run, struct stored_run *ret);

/* Keeps the answer for a request that comes again, and makes it one. */
void run_keep_answer(struct run *run, const struct exchange *x);

#endif
