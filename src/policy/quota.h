/* quota.h - may this key start another run? Decisions without any I/O: the clock is passed in.
 *
 * A quota is what a key may use; a quota_state is what it has used. Runs are counted over the last
 * 60 seconds and CPU time over the last 24 hours, in windows that slide: at no moment does a window
 * hold more than the quota. CPU time is reserved when a run starts and paid when it ends, so runs
 * beside each other cannot use what is there only once.
 *
 *     quota_ask_run -> quota_begin_run -> ... -> quota_end_run
 *     quota_ask_session -> quota_begin_session -> ... -> quota_end_session
 *
 * The clock is microseconds since 1970, so that what was used survives a restart (quota_restore);
 * one that goes back is taken to stand still. One thread at a time. */
#ifndef VIAL_POLICY_QUOTA_H
#define VIAL_POLICY_QUOTA_H

#include <stddef.h>
#include <stdint.h>

#include "base/quota_limits.h"
#include "vial.h"

enum {
    QUOTA_RATE_SLOTS = 61, /* of one second: a minute, and the second that has begun */
    QUOTA_TEXT_BYTES_MAX = 160,
};

/* Zeroed at the beginning. The fields belong to quota.c. */
struct quota_state {
    uint32_t running, sessions;
    uint64_t reserved_us; /* CPU time of what runs */
    uint64_t second;      /* the newest slot of rate */
    uint64_t quarter;     /* the newest slot of cpu */
    uint32_t rate_sum;
    uint64_t cpu_sum_us;
    uint32_t rate[QUOTA_RATE_SLOTS];
    uint64_t cpu_us[QUOTA_CPU_SLOTS];
};

enum quota_verdict {
    QUOTA_YES,
    QUOTA_CONCURRENT, /* as many run as may: over when one ends */
    QUOTA_RATE,
    QUOTA_CPU,
    QUOTA_SESSIONS,
};

struct quota_answer {
    enum quota_verdict verdict;
    uint64_t limit;       /* of what the verdict is about; of runs a minute for QUOTA_YES */
    uint64_t used;        /* of the same */
    uint64_t retry_us;    /* from now; when the answer may be another one, and never 0 then */
    uint64_t cpu_us_left; /* for QUOTA_YES: what the run may use at most; its limit is lowered to
                             this */
};

/* "concurrent", "run rate", ...: one word for a machine, as errors and metrics have it. */
const char *quota_verdict_name(enum quota_verdict verdict);

/* Nothing is changed by asking, but that old slots leave the windows. */
struct quota_answer quota_ask_run(
    const struct quota *quota, struct quota_state *state, uint64_t now_us);
struct quota_answer quota_ask_session(const struct quota *quota, const struct quota_state *state);

/* Counts a run that was allowed. cpu_us_max is its limit of CPU time; what is reserved of it is
 * returned, and given back to quota_end_run. */
VIAL_NODISCARD uint64_t quota_begin_run(
    const struct quota *quota, struct quota_state *state, uint64_t now_us, uint64_t cpu_us_max);
void quota_end_run(
    struct quota_state *state, uint64_t now_us, uint64_t reserved_us, uint64_t cpu_us_used);
void quota_begin_session(struct quota_state *state);
void quota_end_session(struct quota_state *state);

/* CPU time without a run of its own: an evaluation in a session, and what was used before a
 * restart, at the time when it was. */
void quota_restore(struct quota_state *state, uint64_t now_us, uint64_t then_us, uint64_t cpu_us);

/* Has nothing of the state any effect any more? Then it may be forgotten. */
int quota_is_idle(struct quota_state *state, uint64_t now_us);

/* Sets one field by its name: "concurrent", "runs_per_minute", "cpu_seconds_per_day", "sessions".
 * VIAL_E_INVALID names the field that there is not, or its largest value. */
VIAL_NODISCARD int quota_set(
    struct quota *quota, const char *name, size_t name_len, uint64_t value, struct vial_error *err);

/* Reads "concurrent=4,sessions=0"; what is not named stays as it is. */
VIAL_NODISCARD int quota_parse(const char *text, struct quota *quota, struct vial_error *err);

/* The reverse, with every field. */
void quota_text(const struct quota *quota, char ret[QUOTA_TEXT_BYTES_MAX]);

#endif
