/* events.h - what happens in a run, as a client reads it: one JSON object a line, or SSE.
 *
 * Events are kept with the run, so that a client that lost its connection can read on. Output
 * beyond the maximum is counted and not kept; the result has it all the same. */
#ifndef VIAL_HTTP_EVENTS_H
#define VIAL_HTTP_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/exchange.h"

struct run;

enum event_type {
    EVENT_START,
    EVENT_STDOUT,
    EVENT_STDERR,
    EVENT_CALL,
    EVENT_PROGRESS,
    EVENT_ARTIFACT,
    EVENT_RESULT, /* the object behind it is the run's own */
    EVENT_END,
};

struct event_mark {
    size_t offset; /* of its line in text */
    enum event_type type;
};

struct events {
    struct buf text;
    struct event_mark *marks; /* owned; the number of an event is its index and one */
    size_t count, capacity;
    uint64_t dropped; /* events of output */
    uint64_t begun_us;
    size_t output_bytes_max;
};

void events_init(struct events *events, size_t output_bytes_max);
void events_release(struct events *events);

/* Adds an event; members is what follows in the object, such as "\"text\":\"a\"", or empty. 0, or
 * negative without memory. */
int events_add(struct events *events, enum event_type type, const char *members, size_t len);

/* The same for output. */
int events_add_output(struct events *events, int stream, const char *bytes, size_t len);

/* A client that reads events. */
struct stream {
    struct stream *next; /* of the same run */
    struct exchange *exchange;
    struct run *run; /* a reference */
    size_t at;       /* the next event */
    struct buf out;  /* what is rendered and not yet sent */
    size_t sent;
    uint64_t said_us; /* when something was last sent */
    int is_sse;
    int is_owner; /* when it goes, the run is cancelled */
    int is_gone;
};

/* Makes the answer of x a stream of the events of the run behind number after. 0, or negative. */
int stream_open(struct exchange *x, struct run *run, uint64_t after, int is_owner);

/* Something happened in the run: who waits for it is woken. */
void streams_wake(struct run *run);

/* Sends a sign of life to those that have heard nothing for so long. */
void streams_beat(struct run *run, uint64_t now_us, uint64_t every_us);

/* Queues the answer of an exchange that is a stream. */
enum MHD_Result stream_queue(struct exchange *x);

/* The exchange is over. */
void stream_close(struct exchange *x);

#endif
