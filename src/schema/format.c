/* format.c - see format.h.
 *
 * Dates and times are those of RFC 3339, with the days of each month and leap years; addresses of
 * mail are a dot-atom or a quoted string before the @ and a host name behind it; a URI needs a
 * scheme and only characters of RFC 3986. */
#include "schema/format.h"

#include <arpa/inet.h>
#include <string.h>

enum {
    HOST_BYTES_MAX = 253,  /* of RFC 1123 */
    LABEL_BYTES_MAX = 63,  /* likewise */
    LOCAL_BYTES_MAX = 64,  /* of RFC 5321 */
    EMAIL_BYTES_MAX = 254, /* likewise */
    UUID_BYTES = 36,
};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Two digits as a number, or -1. */
static int two_digits(const char *p)
{
    return is_digit(p[0]) && is_digit(p[1]) ? (p[0] - '0') * 10 + (p[1] - '0') : -1;
}

static int is_date(const char *p, size_t len)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century, year, month, day;

    if (len != 10 || p[4] != '-' || p[7] != '-') {
        return 0;
    }
    century = two_digits(p);
    year = two_digits(p + 2);
    month = two_digits(p + 5);
    day = two_digits(p + 8);
    if (century < 0 || year < 0 || month < 1 || month > 12 || day < 1) {
        return 0;
    }
    year += century * 100;
    if (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) {
        return day <= 29;
    }
    return day <= days[month - 1];
}

/* "Z", "+01:00"; *ret_minutes is what is to be subtracted for UTC. */
static int is_offset(const char *p, size_t len, int *ret_minutes)
{
    int hours, minutes;

    *ret_minutes = 0;
    if (len == 1) {
        return *p == 'Z' || *p == 'z';
    }
    if (len != 6 || (*p != '+' && *p != '-') || p[3] != ':') {
        return 0;
    }
    hours = two_digits(p + 1);
    minutes = two_digits(p + 4);
    *ret_minutes = (hours * 60 + minutes) * (*p == '-' ? -1 : 1);
    return hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59;
}

static int is_time(const char *p, size_t len)
{
    int hours, minutes, seconds, offset;
    size_t at = 8;

    if (len < 9 || p[2] != ':' || p[5] != ':') {
        return 0;
    }
    hours = two_digits(p);
    minutes = two_digits(p + 3);
    seconds = two_digits(p + 6);
    if (p[at] == '.') {
        for (at++; at < len && is_digit(p[at]); at++) {
        }
        if (at == 9) {
            return 0;
        }
    }
    if (at == len || !is_offset(p + at, len - at, &offset)) {
        return 0;
    }
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) {
        return 0;
    }
    /* A leap second is the last of a day in UTC. */
    return seconds < 60 || (hours * 60 + minutes - offset + 2 * 24 * 60) % (24 * 60) == 24 * 60 - 1;
}

static int is_date_time(const char *p, size_t len)
{
    return len > 11 && (p[10] == 'T' || p[10] == 't') && is_date(p, 10) &&
           is_time(p + 11, len - 11);
}

static int is_hostname(const char *p, size_t len)
{
    size_t i, label = 0;

    if (len == 0 || len > HOST_BYTES_MAX) {
        return 0;
    }
    for (i = 0; i < len; i++) {
        if (p[i] == '.') {
            if (label == 0 || p[i - 1] == '-') {
                return 0;
            }
            label = 0;
            continue;
        }
        if (!(is_letter(p[i]) || is_digit(p[i]) || (p[i] == '-' && label > 0))) {
            return 0;
        }
        label++;
        if (label > LABEL_BYTES_MAX) {
            return 0;
        }
    }
    return label > 0 && p[len - 1] != '-';
}

static int is_ipv4(const char *p, size_t len)
{
    struct in_addr address;
    char text[16];

    if (len >= sizeof(text) || memchr(p, '\0', len) != NULL) {
        return 0;
    }
    memcpy(text, p, len);
    text[len] = '\0';
    return inet_pton(AF_INET, text, &address) == 1;
}

static int is_ipv6(const char *p, size_t len)
{
    struct in6_addr address;
    char text[INET6_ADDRSTRLEN];

    if (len >= sizeof(text) || memchr(p, '\0', len) != NULL) {
        return 0;
    }
    memcpy(text, p, len);
    text[len] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1;
}

static int is_local_part(const char *p, size_t len)
{
    size_t i;

    if (len == 0 || len > LOCAL_BYTES_MAX) {
        return 0;
    }
    if (p[0] == '"') {
        for (i = 1; i + 1 < len; i++) {
            if ((unsigned char)p[i] < 0x20 || p[i] == 0x7f || p[i] == '"') {
                return 0;
            }
            i += p[i] == '\\';
        }
        return len > 2 && i + 1 == len && p[len - 1] == '"';
    }
    for (i = 0; i < len; i++) {
        if (p[i] == '.' && (i == 0 || i + 1 == len || p[i - 1] == '.')) {
            return 0;
        }
        if (!(is_letter(p[i]) || is_digit(p[i]) || is_one_of(p[i], ".!#$%&'*+-/=?^_`{|}~"))) {
            return 0;
        }
    }
    return 1;
}

static int is_email(const char *p, size_t len)
{
    const char *at = len > 0 && len <= EMAIL_BYTES_MAX ? memrchr(p, '@', len) : NULL;
    size_t local, host;

    if (at == NULL) {
        return 0;
    }
    local = (size_t)(at - p);
    host = len - local - 1;
    if (!is_local_part(p, local)) {
        return 0;
    }
    at++;
    if (host > 2 && at[0] == '[' && at[host - 1] == ']') {
        if (host > 7 && memcmp(at, "[IPv6:", 6) == 0) {
            return is_ipv6(at + 6, host - 7);
        }
        return is_ipv4(at + 1, host - 2);
    }
    return is_hostname(at, host);
}

/* What is between the brackets of a host: an IPv6 address, or "v", a version and the rest. */
static int is_bracketed(const char *p, size_t len)
{
    return is_ipv6(p, len) || (len > 3 && (p[0] | 0x20) == 'v' && is_hex(p[1]) && p[2] == '.');
}

/* The authority, up to a slash, a question mark or the end; p is behind the "//". */
static int is_authority(const char *p, size_t len)
{
    const char *user = memrchr(p, '@', len), *bracket, *stop;
    size_t i;

    if (user != NULL) {
        if (memchr(p, '[', (size_t)(user - p)) != NULL) {
            return 0;
        }
        len -= (size_t)(user - p) + 1;
        p = user + 1;
    }
    bracket = memchr(p, '[', len);
    if (bracket != NULL) {
        stop = memchr(p, ']', len);
        if (bracket != p || stop == NULL || !is_bracketed(p + 1, (size_t)(stop - p) - 1)) {
            return 0;
        }
        len -= (size_t)(stop - p) + 1;
        p = stop + 1;
        if (len > 0 && *p != ':') {
            return 0;
        }
    }
    stop = memchr(p, ':', len);
    for (i = stop == NULL ? len : (size_t)(stop - p) + 1; i < len; i++) {
        if (!is_digit(p[i])) {
            return 0;
        }
    }
    return memchr(p, ']', len) == NULL;
}

static int is_uri(const char *p, size_t len)
{
    static const char marks[] = "-._~:/?#[]@!$&'()*+,;=%";
    size_t i, scheme, rest, fragments = 0;

    for (scheme = 0;
         scheme < len && (is_letter(p[scheme]) ||
                             (scheme > 0 && (is_digit(p[scheme]) || is_one_of(p[scheme], "+-."))));
         scheme++) {
    }
    if (scheme == 0 || scheme == len || p[scheme] != ':') {
        return 0;
    }
    for (i = scheme + 1; i < len; i++) {
        if (!(is_letter(p[i]) || is_digit(p[i]) || is_one_of(p[i], marks))) {
            return 0;
        }
        if (p[i] == '%' && (len - i < 3 || !is_hex(p[i + 1]) || !is_hex(p[i + 2]))) {
            return 0;
        }
        fragments += p[i] == '#';
    }
    rest = scheme + 1;
    if (fragments > 1) {
        return 0;
    }
    if (len - rest >= 2 && memcmp(p + rest, "//", 2) == 0) {
        p += rest + 2;
        len -= rest + 2;
        for (i = 0; i < len && !is_one_of(p[i], "/?#"); i++) {
        }
        return is_authority(p, i) && memchr(p + i, '[', len - i) == NULL &&
               memchr(p + i, ']', len - i) == NULL;
    }
    return memchr(p, '[', len) == NULL && memchr(p, ']', len) == NULL;
}

static int is_uuid(const char *p, size_t len)
{
    size_t i;

    if (len != UUID_BYTES) {
        return 0;
    }
    for (i = 0; i < len; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23 ? p[i] != '-' : !is_hex(p[i])) {
            return 0;
        }
    }
    return 1;
}

const struct format *format_find(const char *name, size_t len)
{
    static const struct format formats[] = {
        {"date-time", "a date and time such as 2024-12-31T23:59:59Z", is_date_time},
        {"date", "a date such as 2024-12-31", is_date},
        {"time", "a time such as 23:59:59Z", is_time},
        {"email", "an email address", is_email},
        {"uri", "a URI with its scheme, such as https://example.com/", is_uri},
        {"uuid", "a UUID such as 123e4567-e89b-12d3-a456-426614174000", is_uuid},
        {"ipv4", "an IPv4 address such as 192.0.2.1", is_ipv4},
        {"ipv6", "an IPv6 address such as 2001:db8::1", is_ipv6},
        {"hostname", "a host name such as example.com", is_hostname},
    };
    size_t i;

    for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strlen(formats[i].name) == len && memcmp(formats[i].name, name, len) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}
