/* run_inside.h - what the files about runs share. */
#ifndef VIAL_HTTP_RUN_INSIDE_H
#define VIAL_HTTP_RUN_INSIDE_H

#include "http/run.h"

enum { RUN_BUCKETS = 4096 };

struct runs {
    struct server *server;
    struct run *buckets[RUN_BUCKETS];
    struct run *oldest, *newest;
    size_t count;
    struct run *live; /* those that have not ended, with a reference */
    size_t live_count;
    uint64_t kept_bytes;
    struct run *to_save, *to_save_last; /* have ended and are not stored yet, with a reference */
    struct run_batch *batch;            /* of those that are being stored; NULL before the first */
    int is_saving;
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

/* Stores the run soon. */
void run_save(struct run *run);

/* Keeps the answer for a request that comes again, and makes it one. */
void run_keep_answer(struct run *run, const struct exchange *x);

#endif
