/* time_args.c - see time_args.h. */
#include "cli/time_args.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { YEARS_MAX = 100, DIGITS_MAX = 12 };

#define LENGTH_SECONDS_MAX ((uint64_t)YEARS_MAX * 366 * 86400)

int time_args_length(const char *text, uint64_t *ret_us)
{
    static const char units[] = "smhdw";
    static const uint64_t seconds[] = {1, 60, 3600, 86400, 604800};
    uint64_t number = 0;
    const char *unit;
    size_t i;

    for (i = 0; text[i] >= '0' && text[i] <= '9' && i < DIGITS_MAX; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0 || text[i] == '\0' || text[i + 1] != '\0' ||
        (unit = strchr(units, text[i])) == NULL) {
        return -1;
    }
    number *= seconds[unit - units];
    if (number == 0 || number > LENGTH_SECONDS_MAX) {
        return -1;
    }
    *ret_us = number * 1000000;
    return 0;
}

int time_args_point(const char *text, uint64_t now_us, uint64_t *ret_us)
{
    struct tm parts = {.tm_mday = 1};
    const char *end;
    uint64_t us;
    time_t seconds;

    if (time_args_length(text, &us) == 0) {
        *ret_us = now_us > us ? now_us - us : 1;
        return 0;
    }
    end = strptime(text, "%Y-%m-%d", &parts);
    if (end != NULL && *end != '\0') {
        end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    if (end == NULL || *end != '\0') {
        return -1;
    }
    seconds = timegm(&parts);
    if (seconds <= 0) {
        return -1;
    }
    *ret_us = (uint64_t)seconds * 1000000;
    return 0;
}
