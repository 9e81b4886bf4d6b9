/* clock.c - see clock.h. */
#undef _FORTIFY_SOURCE
#include "cell/clock.h"

#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* For a function that libraries call in the place of libc's. */
#define CLOCK_API __attribute__((visibility("default")))

enum { CLOCK_TRUE, CLOCK_STANDS, CLOCK_RUNS };

static int mode;
static struct timespec at;   /* what it is, or was when it was set */
static struct timespec from; /* of the monotonic clock, when it was set */

/* libc's own. It is found in the template, where a name can still be looked up. */
static int true_clock(clockid_t id, struct timespec *ret)
{
    static int (*real)(clockid_t, struct timespec *);

    if (real == NULL) {
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
        if (real == NULL) {
            _exit(1); /* a libc without it is not the one this was built for */
        }
    }
    return real(id, ret);
}

static int is_time_of_day(clockid_t id)
{
    return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI ||
           id == CLOCK_REALTIME_ALARM;
}

/* The time of day that was given. */
static void given_time(struct timespec *ret)
{
    struct timespec now;

    *ret = at;
    if (mode == CLOCK_RUNS && true_clock(CLOCK_MONOTONIC, &now) == 0) {
        ret->tv_sec += now.tv_sec - from.tv_sec;
        ret->tv_nsec += now.tv_nsec - from.tv_nsec;
        if (ret->tv_nsec < 0 || ret->tv_nsec >= 1000000000) {
            ret->tv_sec += ret->tv_nsec < 0 ? -1 : 1;
            ret->tv_nsec += ret->tv_nsec < 0 ? 1000000000 : -1000000000;
        }
    }
}

void clock_set(int64_t at_us, int runs)
{
    at.tv_sec = (time_t)(at_us / 1000000);
    at.tv_nsec = (long)(at_us % 1000000) * 1000;
    (void)true_clock(CLOCK_MONOTONIC, &from);
    mode = runs ? CLOCK_RUNS : CLOCK_STANDS;
}

void clock_unset(void)
{
    mode = CLOCK_TRUE;
}

int clock_stands(void)
{
    return mode == CLOCK_STANDS;
}

/* ---- what libraries call ---- */

CLOCK_API int clock_gettime(clockid_t id, struct timespec *ret)
{
    if (mode == CLOCK_TRUE || !is_time_of_day(id)) {
        return true_clock(id, ret);
    }
    given_time(ret);
    return 0;
}

CLOCK_API int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    int r = clock_gettime(CLOCK_REALTIME, &now);

    if (zone != NULL) {
        *(struct timezone *)zone = (struct timezone){.tz_minuteswest = 0};
    }
    if (r == 0) {
        ret->tv_sec = now.tv_sec;
        ret->tv_usec = now.tv_nsec / 1000;
    }
    return r;
}

CLOCK_API time_t time(time_t *ret)
{
    struct timespec now = {.tv_sec = -1};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL) {
        *ret = now.tv_sec;
    }
    return now.tv_sec;
}

CLOCK_API int timespec_get(struct timespec *ret, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, ret) == 0 ? base : 0;
}
