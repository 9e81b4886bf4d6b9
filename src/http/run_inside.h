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
    struct run_batch *batch;            /* of those that are being stored; NULL before the first */
    int is_saving, is_last;             /* and whether it is the last attempt */
    int has_failed;                     /* the last attempt did */
    uint64_t save_after_us;             /* the clock, when there is to be another */
    struct run *heard; /* whose program the loop itself listens to, see run_here.c; or NULL */
    int heard_fd, is_heard_fd_watched;
    uint64_t heard_until_us;
};

/* A worker's part, and how a worker gets it. */
void run_work(struct job *job);
void run_hand_over(struct run *run);

/* The parts of it that the loop does as well: before and after the program, and the record. */
VIAL_NODISCARD int run_prepare(struct run *run, struct vial_error *err);
void run_conclude(struct run *run);
void run_record_end(struct run *run);

/* 0 when it may go on, 1 when it was cancelled before. */
int run_set_handle(struct run *run, struct vial_run *handle, int is_evaluating);

/* run_here.c: runs a small program without a worker, for a moment. 1, or 0 when a worker has to. */
int run_here(struct run *run);

/* Waits for the end of such a program while the loop has nothing else to do. 1 when it has ended
 * and whoever waits has the answer. */
int run_hear(struct run *run);

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
