/* permission_time.c - times as people write them; see permission.h. */
#include "policy/permission.h"

enum { YEAR_FIRST = 1970, DAY_S = 86400, OFFSET_HOURS_MAX = 23 };

/* Takes so many digits, or says that they are not there. */
static int take_digits(const char **text, unsigned count, int *ret)
{
    int v = 0;

    for (; count > 0; count--, (*text)++) {
        if (**text < '0' || **text > '9') {
            return -1;
        }
        v = 10 * v + (**text - '0');
    }
    *ret = v;
    return 0;
}

static int take_char(const char **text, char c)
{
    if (**text != c) {
        return -1;
    }
    (*text)++;
    return 0;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

static int64_t days_since_1970(int year, int month, int day)
{
    int64_t days = day - 1;
    int y, m;

    for (y = YEAR_FIRST; y < year; y++) {
        days += 337 + days_in(y, 2); /* all other months together have 337 days */
    }
    for (m = 1; m < month; m++) {
        days += days_in(year, m);
    }
    return days;
}

/* A fraction of a second in microseconds; more digits than that are read and forgotten. */
static int take_fraction(const char **text, int *ret)
{
    int unit = 100000, us = 0;

    if (take_char(text, '.') < 0) {
        *ret = 0;
        return 0;
    }
    if (**text < '0' || **text > '9') {
        return -1;
    }
    for (; **text >= '0' && **text <= '9'; (*text)++, unit /= 10) {
        us += (**text - '0') * unit;
    }
    *ret = us;
    return 0;
}

/* "Z", or how far the clock is ahead of that; in seconds. */
static int take_zone(const char **text, int *ret)
{
    int sign = **text == '-' ? -1 : 1;
    int hours, minutes;

    *ret = 0;
    if (take_char(text, 'Z') == 0) {
        return 0;
    }
    if ((take_char(text, '+') < 0 && take_char(text, '-') < 0) ||
        take_digits(text, 2, &hours) < 0 || take_char(text, ':') < 0 ||
        take_digits(text, 2, &minutes) < 0 || hours > OFFSET_HOURS_MAX || minutes > 59) {
        return -1;
    }
    *ret = sign * (hours * 3600 + minutes * 60);
    return 0;
}

int permission_time(const char *text, int64_t *ret_us)
{
    int year, month, day, hour, minute, second, us, zone;
    int64_t s;

    if (take_digits(&text, 4, &year) < 0 || take_char(&text, '-') < 0 ||
        take_digits(&text, 2, &month) < 0 || take_char(&text, '-') < 0 ||
        take_digits(&text, 2, &day) < 0 || take_char(&text, 'T') < 0 ||
        take_digits(&text, 2, &hour) < 0 || take_char(&text, ':') < 0 ||
        take_digits(&text, 2, &minute) < 0 || take_char(&text, ':') < 0 ||
        take_digits(&text, 2, &second) < 0 || take_fraction(&text, &us) < 0 ||
        take_zone(&text, &zone) < 0 || *text != '\0') {
        return -1;
    }
    if (year < YEAR_FIRST || month < 1 || month > 12 || day < 1 || day > days_in(year, month) ||
        hour > 23 || minute > 59 || second > 59) {
        return -1;
    }
    s = days_since_1970(year, month, day) * DAY_S + (int64_t)hour * 3600 + (int64_t)minute * 60 +
        second - zone;
    if (s < 0) {
        return -1;
    }
    *ret_us = s * 1000000 + us;
    return 0;
}
