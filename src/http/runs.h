/* runs.h - what other handlers share with those of runs. */
#ifndef VIAL_HTTP_RUNS_H
#define VIAL_HTTP_RUNS_H

#include <stdint.h>

#include "http/exchange.h"

struct run;
struct run_spec;

/* Reads the body of x, JSON or a form, into the spec of the run. 0, or -1 with an answer. */
int runs_take_body(struct run *run, struct exchange *x, const char *schema);
int runs_take_spec(struct run_spec *spec, struct exchange *x, const char *schema);

/* Notes who asks, for records. */
void runs_note_client(struct run *run, const struct exchange *x);

/* Begins a run and answers x as its client wants: with the result, a stream, or a place to look. */
void runs_go(struct exchange *x, struct run *run, int is_stream);

/* May the caller see what belongs to this key? */
int runs_may_see(const struct exchange *x, const char *key);

/* The run of the path when it is in memory and may be seen; borrowed. */
struct run *runs_of_path(const struct exchange *x);

/* The run of the path from the store: 0, or -1 with an answer. In a thread beside the loop. */
struct stored_run;
int runs_load(struct exchange *x, struct stored_run *run);

/* A row of the list of runs. */
struct json_writer;
void runs_put_row(struct json_writer *w, const struct stored_run *run);

/* The query's "limit", up to max. 0, or -1 with an answer. */
int runs_page_limit(struct exchange *x, uint32_t max, uint32_t *ret);

#endif
