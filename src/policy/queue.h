/* queue.h - whose run starts next, when more are asked for than may run at once. No I/O, no clock
 * but the one passed in, no memory of its own for what waits.
 *
 * Each key has a line of its own. When there is room, the line whose key has the fewest runs going
 * is next, and among equals the one that waited longest since its last turn: a key that floods, or
 * whose runs are long, only makes its own line longer. Room is a number of runs, and memory: the
 * sum of the memory limits of what runs stays within a budget.
 *
 * The first of a line that does not fit into the memory that is left lets smaller ones of others
 * pass, but only QUEUE_PASSES_MAX times; then nothing starts before it.
 *
 * Lines are bounded, one by one and together. When all together are full, a newcomer whose line is
 * shorter than the longest takes the place of the last one there: so a flood cannot shut others
 * out. Whoever was pushed out is told so.
 *
 *     queue_add -> (queue_next -> queue_done | queue_remove)
 *
 * One thread at a time. */
#ifndef VIAL_POLICY_QUEUE_H
#define VIAL_POLICY_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    QUEUE_PASSES_MAX = 16,
    QUEUE_WAITING_MAX = 100000, /* the largest waiting_max: each is a connection or a row */
};

struct queue_limits {
    uint32_t running_max;      /* runs at once, of all keys */
    uint32_t waiting_max;      /* all lines together */
    uint32_t waiting_key_max;  /* one line */
    uint64_t memory_bytes_max; /* sum of the limits of what runs */
};

/* The line of one key. Zeroed at the beginning, but for running_max; owned by the caller, who keeps
 * it while anything of the key waits or runs. The other fields belong to queue.c. */
struct queue_line {
    uint32_t running_max; /* runs of this key at once; what is more waits. May change */
    uint32_t running, waiting;
    struct queue_item *first, *last;
    struct queue_line *next, *previous; /* among the lines in which somebody waits */
};

enum queue_state { QUEUE_OUT, QUEUE_WAITS, QUEUE_RUNS };

/* One run. Zeroed at the beginning, but for memory_bytes and user; owned by the caller. */
struct queue_item {
    uint64_t memory_bytes; /* its limit, with what a cell takes beside it */
    void *user;
    enum queue_state state;
    uint32_t passes;   /* others that went first since it has its turn */
    uint64_t since_us; /* waiting, or running */
    struct queue_line *line;
    struct queue_item *next, *previous;
};

struct queue {
    struct queue_limits limits;
    uint32_t running, waiting;
    uint64_t memory_bytes;   /* of what runs */
    struct queue_line *turn; /* lines in which somebody waits, longest without a turn first */
    struct queue_line *turn_last;
    uint64_t run_us_mean; /* of the last ones, for estimates */
};

void queue_init(struct queue *q, const struct queue_limits *limits);

/* New limits; what runs and waits stays. */
void queue_set_limits(struct queue *q, const struct queue_limits *limits);

enum queue_answer {
    QUEUE_ADDED,
    QUEUE_PUSHED_OUT, /* added, and *ret_out is out instead */
    QUEUE_FULL_KEY,   /* the line of this key is full */
    QUEUE_FULL,       /* all are, and no line is longer than this one */
    QUEUE_TOO_LARGE,  /* it would not fit if nothing else ran */
};

/* Puts an item at the end of its line. */
VIAL_NODISCARD enum queue_answer queue_add(struct queue *q, struct queue_line *line,
    struct queue_item *item, uint64_t now_us, struct queue_item **ret_out);

/* The next one to start, which counts as running from here; NULL when nothing may start now.
 * Ask until NULL after each queue_add, queue_done and queue_set_limits. */
struct queue_item *queue_next(struct queue *q, uint64_t now_us);

/* A run has ended. */
void queue_done(struct queue *q, struct queue_item *item, uint64_t now_us);

/* Somebody who waits has gone. */
void queue_remove(struct queue *q, struct queue_item *item);

/* How long until somebody who comes now would start, about; for Retry-After. From one second to one
 * minute. */
uint64_t queue_wait_us(const struct queue *q);

/* How many wait before this one, if all lines go on as they are; a guess for people. */
uint32_t queue_place(const struct queue *q, const struct queue_item *item);

#endif
