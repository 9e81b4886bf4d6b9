/* quota_limits.h - how much a key may use, as it is written down and decided by: the store keeps
 * these numbers, src/policy/quota.h judges by them. */
#ifndef VIAL_BASE_QUOTA_LIMITS_H
#define VIAL_BASE_QUOTA_LIMITS_H

#include <stdint.h>

enum {
    QUOTA_CPU_SLOTS = 97, /* of a quarter of an hour: a day, and the one that has begun */
    /* The largest values: what nobody means any more, and what cannot overflow. */
    QUOTA_CONCURRENT_MAX = 10000,
    QUOTA_RUNS_PER_MINUTE_MAX = 1000000,
    QUOTA_CPU_SECONDS_PER_DAY_MAX = 86400 * 1024,
    QUOTA_SESSIONS_MAX = 10000,
};

#define QUOTA_CPU_SLOT_US (UINT64_C(900) * 1000000)

/* 0 allows none at all. */
struct quota {
    uint32_t concurrent;
    uint32_t runs_per_minute;
    uint32_t cpu_seconds_per_day;
    uint32_t sessions;
};

/* What a key has that nobody said anything about. */
#define QUOTA_DEFAULT ((struct quota){4, 600, 3600, 8})

#endif
