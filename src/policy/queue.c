/* queue.c - see queue.h.
 *
 * The lines in which somebody waits are a list in the order of their last turns: a line that had
 * its turn goes to the end of it. Looking for the next one walks through that list once, which is
 * as long as there are keys that wait. */
#include "policy/queue.h"

#include <assert.h>

enum {
    MEAN_SHIFT = 3, /* the mean follows the last eight runs or so */
    WAIT_US_MIN = 1000000,
    WAIT_US_MAX = 60000000,
};

static void check_limits(const struct queue_limits *limits)
{
    assert(limits->running_max > 0 && limits->waiting_key_max <= limits->waiting_max);
    assert(limits->waiting_max <= QUEUE_WAITING_MAX);
}

void queue_init(struct queue *q, const struct queue_limits *limits)
{
    check_limits(limits);
    *q = (struct queue){.limits = *limits};
}

void queue_set_limits(struct queue *q, const struct queue_limits *limits)
{
    check_limits(limits);
    q->limits = *limits;
}

/* ---- lists ---- */

static void append_line(struct queue *q, struct queue_line *line)
{
    line->next = NULL;
    line->previous = q->turn_last;
    if (q->turn_last != NULL) {
        q->turn_last->next = line;
    } else {
        q->turn = line;
    }
    q->turn_last = line;
}

static void take_line(struct queue *q, struct queue_line *line)
{
    if (line->previous != NULL) {
        line->previous->next = line->next;
    } else {
        q->turn = line->next;
    }
    if (line->next != NULL) {
        line->next->previous = line->previous;
    } else {
        q->turn_last = line->previous;
    }
    line->next = line->previous = NULL;
}

static void append_item(struct queue *q, struct queue_line *line, struct queue_item *item)
{
    item->next = NULL;
    item->previous = line->last;
    if (line->last != NULL) {
        line->last->next = item;
    } else {
        line->first = item;
        append_line(q, line);
    }
    line->last = item;
    line->waiting++;
    q->waiting++;
}

static void take_item(struct queue *q, struct queue_item *item)
{
    struct queue_line *line = item->line;

    assert(item->state == QUEUE_WAITS && line->waiting > 0 && q->waiting > 0);
    if (item->previous != NULL) {
        item->previous->next = item->next;
    } else {
        line->first = item->next;
    }
    if (item->next != NULL) {
        item->next->previous = item->previous;
    } else {
        line->last = item->previous;
    }
    item->next = item->previous = NULL;
    item->state = QUEUE_OUT;
    line->waiting--;
    q->waiting--;
    if (line->first == NULL) {
        take_line(q, line);
    }
}

/* ---- in and out ---- */

static struct queue_line *longest_line(const struct queue *q)
{
    struct queue_line *longest = q->turn, *line;

    for (line = q->turn; line != NULL; line = line->next) {
        longest = line->waiting > longest->waiting ? line : longest;
    }
    return longest;
}

enum queue_answer queue_add(struct queue *q, struct queue_line *line, struct queue_item *item,
    uint64_t now_us, struct queue_item **ret_out)
{
    enum queue_answer answer = QUEUE_ADDED;
    struct queue_line *longest;

    assert(item->state == QUEUE_OUT);
    if (item->memory_bytes > q->limits.memory_bytes_max) {
        return QUEUE_TOO_LARGE;
    }
    if (line->waiting >= q->limits.waiting_key_max) {
        return QUEUE_FULL_KEY;
    }
    if (q->waiting >= q->limits.waiting_max) {
        longest = longest_line(q);
        /* With only one more, the two would push each other out in turns. */
        if (longest == NULL || longest->waiting < line->waiting + 2) {
            return QUEUE_FULL;
        }
        *ret_out = longest->last;
        take_item(q, longest->last);
        answer = QUEUE_PUSHED_OUT;
    }
    item->line = line;
    item->state = QUEUE_WAITS;
    item->passes = 0;
    item->since_us = now_us;
    append_item(q, line, item);
    return answer;
}

/* The line that is next, among those whose first one needs at most so much memory: the fewest runs,
 * then the longest without a turn. */
static struct queue_line *next_line(const struct queue *q, uint64_t memory_bytes_max)
{
    struct queue_line *best = NULL, *line;

    for (line = q->turn; line != NULL; line = line->next) {
        if (line->running >= line->running_max || line->first->memory_bytes > memory_bytes_max) {
            continue;
        }
        best = best == NULL || line->running < best->running ? line : best;
    }
    return best;
}

struct queue_item *queue_next(struct queue *q, uint64_t now_us)
{
    uint64_t left = q->limits.memory_bytes_max > q->memory_bytes
                        ? q->limits.memory_bytes_max - q->memory_bytes
                        : 0;
    struct queue_line *line, *turn;
    struct queue_item *item;

    if (q->running >= q->limits.running_max) {
        return NULL;
    }
    turn = line = next_line(q, UINT64_MAX);
    if (turn != NULL && turn->first->memory_bytes > left) {
        line = turn->first->passes < QUEUE_PASSES_MAX ? next_line(q, left) : NULL;
    }
    if (line == NULL) {
        return NULL;
    }
    turn->first->passes += line != turn;
    item = line->first;
    assert(item != NULL); /* lines without any are not in the list */
    take_item(q, item);
    if (line->first != NULL) { /* it has had its turn */
        take_line(q, line);
        append_line(q, line);
    }
    item->state = QUEUE_RUNS;
    item->since_us = now_us;
    line->running++;
    q->running++;
    q->memory_bytes += item->memory_bytes;
    return item;
}

void queue_done(struct queue *q, struct queue_item *item, uint64_t now_us)
{
    uint64_t us = now_us > item->since_us ? now_us - item->since_us : 0;

    assert(item->state == QUEUE_RUNS && q->running > 0 && item->line->running > 0);
    assert(q->memory_bytes >= item->memory_bytes);
    item->state = QUEUE_OUT;
    item->line->running--;
    q->running--;
    q->memory_bytes -= item->memory_bytes;
    q->run_us_mean = q->run_us_mean == 0
                         ? us
                         : q->run_us_mean - (q->run_us_mean >> MEAN_SHIFT) + (us >> MEAN_SHIFT);
}

void queue_remove(struct queue *q, struct queue_item *item)
{
    take_item(q, item);
}

/* ---- estimates ---- */

uint64_t queue_wait_us(const struct queue *q)
{
    uint64_t mean = q->run_us_mean < WAIT_US_MAX ? q->run_us_mean : WAIT_US_MAX;
    uint64_t us = mean * (q->waiting + 1U) / q->limits.running_max;

    return us < WAIT_US_MIN ? WAIT_US_MIN : us > WAIT_US_MAX ? WAIT_US_MAX : us;
}

uint32_t queue_place(const struct queue *q, const struct queue_item *item)
{
    const struct queue_line *line;
    const struct queue_item *i;
    uint32_t own = 0, before = 0;

    assert(item->state == QUEUE_WAITS);
    for (i = item->previous; i != NULL; i = i->previous) {
        own++;
    }
    /* By the time it is first in its line, each other line has had about as many turns. */
    for (line = q->turn; line != NULL; line = line->next) {
        if (line == item->line) {
            before += own;
        } else {
            before += line->waiting < own ? line->waiting : own;
        }
    }
    return before;
}
