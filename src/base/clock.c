/* clock.c - see clock.h. */
#include "base/clock.h"

#include <assert.h>
#include <time.h>

uint64_t clock_now_us(void)
{
    struct timespec t;
    int r = clock_gettime(CLOCK_MONOTONIC, &t);

    assert(r == 0);
    (void)r;
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}
