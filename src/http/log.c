/* log.c - see log.h. A line is written by one write, so that lines of threads never mix. */
#include "http/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"

enum { LINE_BYTES_MAX = 8192, TIME_BYTES = 40 };

static const char *const NAMES[] = {"error", "warn", "info", "debug"};
static enum log_level level_max = LOG_INFO;
static int is_text;

void log_setup(enum log_level level, int as_text)
{
    level_max = level;
    is_text = as_text < 0 ? isatty(STDERR_FILENO) : as_text;
}

int log_level_of(const char *name)
{
    int i;

    for (i = 0; i <= LOG_DEBUG; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

static void put_time(char *text, size_t size)
{
    struct timespec now;
    struct tm parts;
    size_t len;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    len = gmtime_r(&now.tv_sec, &parts) != NULL ? strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts)
                                                : 0;
    (void)snprintf(text + len, size - len, ".%03ldZ", now.tv_nsec / 1000000);
}

static void put_text(struct buf *out, const char *key, const char *value)
{
    struct json_writer w;

    if (key == NULL) {
        (void)!buf_add_text(out, value, NULL);
        return;
    }
    (void)!buf_add_text(out, " ", NULL);
    (void)!buf_add_text(out, key, NULL);
    (void)!buf_add_text(out, "=", NULL);
    json_init(&w, out, NULL); /* quotes what could drive a terminal */
    json_text(&w, value);
    (void)!json_finish(&w);
}

static void put_line(
    struct buf *out, const char *at, enum log_level level, const char *message, va_list pairs)
{
    const char *key;
    struct json_writer w;

    if (is_text) {
        put_text(out, NULL, at);
        put_text(out, NULL, " ");
        put_text(out, NULL, NAMES[level]);
        put_text(out, NULL, ": ");
        put_text(out, NULL, message);
        while ((key = va_arg(pairs, const char *)) != NULL) {
            const char *value = va_arg(pairs, const char *);

            if (value != NULL) {
                put_text(out, key, value);
            }
        }
        return;
    }
    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "ts");
    json_text(&w, at);
    json_key(&w, "level");
    json_text(&w, NAMES[level]);
    json_key(&w, "msg");
    json_text(&w, message);
    while ((key = va_arg(pairs, const char *)) != NULL) {
        const char *value = va_arg(pairs, const char *);

        if (value != NULL) {
            json_key(&w, key);
            json_text(&w, value);
        }
    }
    json_end_object(&w);
    (void)!json_finish(&w);
}

void log_say(enum log_level level, const char *message, ...)
{
    char at[TIME_BYTES];
    struct buf out;
    va_list pairs;

    if (level > level_max) {
        return;
    }
    put_time(at, sizeof(at));
    buf_init(&out, LINE_BYTES_MAX);
    va_start(pairs, message);
    put_line(&out, at, level, message, pairs);
    va_end(pairs);
    if (out.len > 0 && buf_add_text(&out, "\n", NULL) == 0) {
        (void)fd_write_all(STDERR_FILENO, out.data, out.len);
    }
    buf_release(&out);
}
