/* record.h - runs whose request says "record": true are kept with all that it takes to repeat
 * them. */
#ifndef VIAL_HTTP_RECORD_H
#define VIAL_HTTP_RECORD_H

#include "http/run.h"

/* In the loop, for a run whose request says so: 0, or -1 with an answer. */
int run_recording_want(struct run *run, struct exchange *x);

/* By the worker, when the environment is there: settles what a repetition needs. */
VIAL_NODISCARD int run_recording_prepare(struct run *run, struct vial_error *err);

/* By the worker, when the program has ended: makes the recording, or says why there is none. */
void run_recording_make(struct run *run);

/* The member of the result that tells of it. */
void run_recording_put(const struct run *run, struct json_writer *w);

/* In the loop: the store has it now. */
void run_recording_forget(struct run *run);

#endif
