/* time_args.h - times and lengths of time as they are typed. */
#ifndef VIAL_CLI_TIME_ARGS_H
#define VIAL_CLI_TIME_ARGS_H

#include <stdint.h>

/* A length of time, "90s", "15m", "12h", "30d" or "2w", in microseconds; 0, or -1 when it is none
 * or longer than a hundred years. */
int time_args_length(const char *text, uint64_t *ret_us);

/* A point in time: "2026-11-18", "2026-11-18T02:30:00Z", or a length of time, which means that long
 * before now_us. In UTC. 0, or -1. */
int time_args_point(const char *text, uint64_t now_us, uint64_t *ret_us);

#endif
