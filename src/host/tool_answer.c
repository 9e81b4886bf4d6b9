/* tool_answer.c - see tool_answer.h. */
#include "host/tool_answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

void tool_failure_init(struct tool_failure *failure)
{
    *failure = (struct tool_failure){.name = ""};
    buf_init(&failure->fields, TOOL_FIELDS_BYTES_MAX);
}

void tool_failure_release(struct tool_failure *failure)
{
    buf_release(&failure->fields);
}

void tool_failure_clear(struct tool_failure *failure)
{
    failure->name[0] = '\0';
    failure->message[0] = '\0';
    failure->detail[0] = '\0';
    buf_clear(&failure->fields);
}

size_t tool_excerpt_len(const char *text, size_t len, size_t max)
{
    size_t back;

    if (len <= max) {
        return len;
    }
    for (back = 0; back <= 3 && back < max; back++) { /* a sequence has three such bytes at most */
        if (((unsigned char)text[max - back] & 0xc0) != 0x80) {
            return max - back;
        }
    }
    return max; /* no UTF-8 in any case */
}

/* Makes text fit to be shown: parts of it come from servers and programs. */
static void clean(char *text)
{
    size_t len = strlen(text);
    size_t i = 0;
    int n;

    while (i < len) {
        n = utf8_sequence(text + i, len - i);
        if (n < 0) {
            text[i] = '?';
            n = 1;
        } else if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            text[i] = ' ';
        }
        i += (size_t)n;
    }
}

static __attribute__((format(printf, 3, 0))) void put(
    char *text, size_t size, const char *format, va_list args)
{
    int n = vsnprintf(text, size, format, args);
    size_t len = strlen(text);
    size_t i;

    if (n >= 0 && (size_t)n >= size) { /* it was cut: the last character may be half of one */
        for (i = len; i > 0 && len - i < 3 && ((unsigned char)text[i - 1] & 0xc0) == 0x80; i--) {
        }
        if (i > 0 && utf8_sequence(text + i - 1, len - i + 1) < 0) {
            text[i - 1] = '\0';
        }
    }
    clean(text);
}

int tool_failure_set(struct tool_failure *failure, const char *name, const char *format, ...)
{
    va_list args;

    (void)snprintf(failure->name, sizeof(failure->name), "%s", name);
    va_start(args, format);
    put(failure->message, sizeof(failure->message), format, args);
    va_end(args);
    return TOOL_FAILED;
}

void tool_failure_detail(struct tool_failure *failure, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    put(failure->detail, sizeof(failure->detail), format, args);
    va_end(args);
}

int tool_answer_check(struct buf *answer, struct tool_failure *failure)
{
    struct json_fault fault;

    if (answer->len >= 3 && memcmp(answer->data, "\xef\xbb\xbf", 3) == 0) {
        buf_consume(answer, 3);
    }
    if (json_check(answer->data, answer->len, TOOL_ANSWER_DEPTH_MAX, &fault) == 0) {
        return 0;
    }
    return tool_failure_set(failure, TOOL_ERROR_ANSWER,
        "the answer of the tool is not JSON: line %u, column %u: %s", fault.line, fault.column,
        fault.why);
}
