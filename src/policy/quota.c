/* quota.c - see quota.h.
 *
 * A window is a ring of slots, each with the number of the second (or quarter of an hour) that it
 * is about given by its place. Moving on to a newer slot empties those in between. The slot that
 * has begun is counted whole, and so is the oldest: a window is up to one slot longer than it says,
 * which errs on the side of no. */
#include "policy/quota.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/near.h"

#define SECOND_US UINT64_C(1000000)

enum {
    RETRY_CONCURRENT_US = 1000000, /* when a run ends is not known: as short as Retry-After gets */
    FIELDS_COUNT = 4,
};

/* ---- windows ---- */

static void move_rate(struct quota_state *state, uint64_t now_us)
{
    uint64_t second = now_us / SECOND_US;

    if (second <= state->second) {
        return; /* also when the clock has gone back */
    }
    if (second - state->second >= QUOTA_RATE_SLOTS) {
        memset(state->rate, 0, sizeof(state->rate));
        state->rate_sum = 0;
        state->second = second;
        return;
    }
    while (state->second < second) {
        uint32_t *slot = &state->rate[++state->second % QUOTA_RATE_SLOTS];

        state->rate_sum -= *slot;
        *slot = 0;
    }
}

static void move_cpu(struct quota_state *state, uint64_t now_us)
{
    uint64_t quarter = now_us / QUOTA_CPU_SLOT_US;

    if (quarter <= state->quarter) {
        return;
    }
    if (quarter - state->quarter >= QUOTA_CPU_SLOTS) {
        memset(state->cpu_us, 0, sizeof(state->cpu_us));
        state->cpu_sum_us = 0;
        state->quarter = quarter;
        return;
    }
    while (state->quarter < quarter) {
        uint64_t *slot = &state->cpu_us[++state->quarter % QUOTA_CPU_SLOTS];

        state->cpu_sum_us -= *slot;
        *slot = 0;
    }
}

/* How long until the sum of the rate window is below the limit. With a limit of 0 that is never:
 * the whole window. */
static uint64_t rate_retry_us(const struct quota_state *state, uint32_t limit, uint64_t now_us)
{
    uint64_t sum = state->rate_sum, end;
    uint64_t slot = state->second + 1; /* the oldest one is at the place of the next */
    unsigned i;

    for (i = 0; i < QUOTA_RATE_SLOTS && sum >= limit; i++, slot++) {
        sum -= state->rate[slot % QUOTA_RATE_SLOTS];
    }
    /* The slot of second s leaves when second s + QUOTA_RATE_SLOTS begins; the last one that was
     * taken away was that of slot - 1 - QUOTA_RATE_SLOTS. */
    end = (slot - 1) * SECOND_US;
    return end > now_us ? end - now_us : 1;
}

static uint64_t cpu_retry_us(const struct quota_state *state, uint64_t limit_us, uint64_t now_us)
{
    uint64_t sum = state->cpu_sum_us + state->reserved_us, end;
    uint64_t slot = state->quarter + 1;
    unsigned i;

    if (state->reserved_us > 0 && state->cpu_sum_us < limit_us) {
        return RETRY_CONCURRENT_US; /* what runs may give some of its reserve back */
    }
    for (i = 0; i < QUOTA_CPU_SLOTS && sum >= limit_us; i++, slot++) {
        sum -= state->cpu_us[slot % QUOTA_CPU_SLOTS];
    }
    end = (slot - 1) * QUOTA_CPU_SLOT_US;
    return end > now_us ? end - now_us : 1;
}

static void add_cpu(struct quota_state *state, uint64_t quarter, uint64_t cpu_us)
{
    uint64_t most =
        UINT64_C(1) << 48; /* nine years: nothing real, and 97 of them do not overflow */
    uint64_t *slot = &state->cpu_us[quarter % QUOTA_CPU_SLOTS];
    uint64_t more = cpu_us < most ? cpu_us : most;

    more = *slot + more > most ? most - *slot : more;
    *slot += more;
    state->cpu_sum_us += more;
}

/* ---- decisions ---- */

const char *quota_verdict_name(enum quota_verdict verdict)
{
    static const char *const names[] = {
        "yes", "concurrent", "runs_per_minute", "cpu_seconds_per_day", "sessions"};

    return names[verdict];
}

struct quota_answer quota_ask_run(
    const struct quota *quota, struct quota_state *state, uint64_t now_us)
{
    uint64_t cpu_limit_us = quota->cpu_seconds_per_day * SECOND_US;
    uint64_t cpu_used_us;

    move_rate(state, now_us);
    move_cpu(state, now_us);
    cpu_used_us = state->cpu_sum_us + state->reserved_us;
    if (state->rate_sum >= quota->runs_per_minute) {
        return (struct quota_answer){.verdict = QUOTA_RATE,
            .limit = quota->runs_per_minute,
            .used = state->rate_sum,
            .retry_us = rate_retry_us(state, quota->runs_per_minute, now_us)};
    }
    if (cpu_used_us >= cpu_limit_us) {
        return (struct quota_answer){.verdict = QUOTA_CPU,
            .limit = quota->cpu_seconds_per_day,
            .used = cpu_used_us / SECOND_US,
            .retry_us = cpu_retry_us(state, cpu_limit_us, now_us)};
    }
    if (state->running >= quota->concurrent) {
        return (struct quota_answer){.verdict = QUOTA_CONCURRENT,
            .limit = quota->concurrent,
            .used = state->running,
            .retry_us = RETRY_CONCURRENT_US};
    }
    return (struct quota_answer){.verdict = QUOTA_YES,
        .limit = quota->runs_per_minute,
        .used = state->rate_sum,
        .cpu_us_left = cpu_limit_us - cpu_used_us};
}

struct quota_answer quota_ask_session(const struct quota *quota, const struct quota_state *state)
{
    int is_full = state->sessions >= quota->sessions;

    return (struct quota_answer){.verdict = is_full ? QUOTA_SESSIONS : QUOTA_YES,
        .limit = quota->sessions,
        .used = state->sessions,
        .retry_us = is_full ? RETRY_CONCURRENT_US : 0};
}

uint64_t quota_begin_run(
    const struct quota *quota, struct quota_state *state, uint64_t now_us, uint64_t cpu_us_max)
{
    uint64_t limit_us = quota->cpu_seconds_per_day * SECOND_US, used_us, reserve;

    move_rate(state, now_us);
    move_cpu(state, now_us);
    used_us = state->cpu_sum_us + state->reserved_us;
    reserve = used_us < limit_us ? limit_us - used_us : 0;
    reserve = cpu_us_max < reserve ? cpu_us_max : reserve;
    state->running++;
    state->reserved_us += reserve;
    if (state->rate_sum < UINT32_MAX) {
        state->rate[state->second % QUOTA_RATE_SLOTS]++;
        state->rate_sum++;
    }
    return reserve;
}

void quota_end_run(
    struct quota_state *state, uint64_t now_us, uint64_t reserved_us, uint64_t cpu_us_used)
{
    assert(state->running > 0 && state->reserved_us >= reserved_us);
    state->running--;
    state->reserved_us -= reserved_us;
    move_cpu(state, now_us);
    add_cpu(state, state->quarter, cpu_us_used);
}

void quota_begin_session(struct quota_state *state)
{
    state->sessions++;
}

void quota_end_session(struct quota_state *state)
{
    assert(state->sessions > 0);
    state->sessions--;
}

void quota_restore(struct quota_state *state, uint64_t now_us, uint64_t then_us, uint64_t cpu_us)
{
    uint64_t quarter = then_us / QUOTA_CPU_SLOT_US;

    move_cpu(state, now_us);
    quarter = quarter < state->quarter ? quarter : state->quarter; /* nothing is in the future */
    if (state->quarter - quarter < QUOTA_CPU_SLOTS) {
        add_cpu(state, quarter, cpu_us);
    }
}

int quota_is_idle(struct quota_state *state, uint64_t now_us)
{
    move_rate(state, now_us);
    move_cpu(state, now_us);
    return state->running == 0 && state->sessions == 0 && state->rate_sum == 0 &&
           state->cpu_sum_us == 0;
}

/* ---- text ---- */

struct field {
    const char *name;
    uint32_t max;
    uint32_t *value;
};

static void list_fields(struct quota *quota, struct field ret[FIELDS_COUNT])
{
    const struct field fields[FIELDS_COUNT] = {
        {"concurrent", QUOTA_CONCURRENT_MAX, &quota->concurrent},
        {"runs_per_minute", QUOTA_RUNS_PER_MINUTE_MAX, &quota->runs_per_minute},
        {"cpu_seconds_per_day", QUOTA_CPU_SECONDS_PER_DAY_MAX, &quota->cpu_seconds_per_day},
        {"sessions", QUOTA_SESSIONS_MAX, &quota->sessions},
    };

    memcpy(ret, fields, sizeof(fields));
}

int quota_set(
    struct quota *quota, const char *name, size_t name_len, uint64_t value, struct vial_error *err)
{
    static const char *const names[] = {
        "concurrent", "runs_per_minute", "cpu_seconds_per_day", "sessions", NULL};
    struct field fields[FIELDS_COUNT];
    char shown[NEAR_BYTES_MAX + 1];
    const char *near;
    size_t i;

    list_fields(quota, fields);
    for (i = 0; i < FIELDS_COUNT; i++) {
        if (strlen(fields[i].name) != name_len || memcmp(fields[i].name, name, name_len) != 0) {
            continue;
        }
        if (value > fields[i].max) {
            return vial__fail(err, VIAL_E_INVALID, "the quota %s is at most %u", fields[i].name,
                (unsigned)fields[i].max);
        }
        *fields[i].value = (uint32_t)value;
        return VIAL_OK;
    }
    (void)snprintf(
        shown, sizeof(shown), "%.*s", (int)(name_len < 64 ? name_len : NEAR_BYTES_MAX), name);
    near = near_word(shown, names);
    return vial__fail(err, VIAL_E_INVALID, "there is no quota %s; %s%s%s", shown,
        near != NULL ? "did you mean " : "",
        near != NULL ? near
                     : "there are concurrent, runs_per_minute, cpu_seconds_per_day, sessions",
        near != NULL ? "?" : "");
}

/* A whole number in plain digits up to the end; -1 when it is none, or absurd. */
static int64_t read_number(const char *text, size_t len)
{
    int64_t value = 0;
    size_t i;

    for (i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || value > INT64_MAX / 20) {
            return -1;
        }
        value = value * 10 + (text[i] - '0');
    }
    return len > 0 ? value : -1;
}

int quota_parse(const char *text, struct quota *quota, struct vial_error *err)
{
    struct quota made = *quota;
    const char *p = text;

    for (;;) {
        size_t len = strcspn(p, ",");
        const char *equals = memchr(p, '=', len);
        size_t name_len = equals != NULL ? (size_t)(equals - p) : len;
        int64_t value = equals != NULL ? read_number(equals + 1, len - name_len - 1) : -1;
        int r;

        if (value < 0) {
            return vial__fail(err, VIAL_E_INVALID,
                "a quota is NAME=NUMBER, with commas between several: concurrent=4,sessions=8");
        }
        r = quota_set(&made, p, name_len, (uint64_t)value, err);
        if (r < 0) {
            return r;
        }
        if (p[len] == '\0') {
            *quota = made;
            return VIAL_OK;
        }
        p += len + 1;
    }
}

void quota_text(const struct quota *quota, char ret[QUOTA_TEXT_BYTES_MAX])
{
    (void)snprintf(ret, QUOTA_TEXT_BYTES_MAX,
        "concurrent=%u,runs_per_minute=%u,cpu_seconds_per_day=%u,sessions=%u",
        (unsigned)quota->concurrent, (unsigned)quota->runs_per_minute,
        (unsigned)quota->cpu_seconds_per_day, (unsigned)quota->sessions);
}
