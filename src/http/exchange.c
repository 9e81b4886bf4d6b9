/* exchange.c - see exchange.h. */
#include "http/exchange.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *exchange_header(const struct exchange *x, const char *name)
{
    return mhd->lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

const char *exchange_query(const struct exchange *x, const char *name)
{
    return mhd->lookup_connection_value(x->mhd, MHD_GET_ARGUMENT_KIND, name);
}

void exchange_wait(struct exchange *x)
{
    if (!x->is_waiting) {
        x->is_waiting = 1;
        mhd->suspend_connection(x->mhd);
    }
}

void exchange_wake(struct exchange *x)
{
    if (x->is_waiting) {
        x->is_waiting = 0;
        mhd->resume_connection(x->mhd);
    }
}

void answer_release(struct answer *answer)
{
    while (answer->headers_count > 0) {
        free(answer->headers[--answer->headers_count].value);
    }
    free(answer->bytes);
    *answer = (struct answer){.status = 0};
}

void answer_bytes(struct exchange *x, unsigned status, const char *type, char *bytes, size_t len)
{
    free(x->answer.bytes);
    x->answer.status = status;
    x->answer.type = type;
    x->answer.bytes = bytes;
    x->answer.len = len;
}

void answer_json(struct exchange *x, unsigned status, struct buf *out)
{
    char *bytes = NULL;
    size_t len = 0;

    if (buf_take(out, &bytes, &len, NULL) < 0) {
        answer_text(x, 500, "text/plain", "out of memory\n");
        return;
    }
    answer_bytes(x, status, "application/json", bytes, len);
}

void answer_text(struct exchange *x, unsigned status, const char *type, const char *text)
{
    char *copy = strdup(text);

    answer_bytes(x, status, type, copy, copy != NULL ? strlen(copy) : 0);
}

void answer_empty(struct exchange *x, unsigned status)
{
    answer_bytes(x, status, NULL, NULL, 0);
}

void answer_header(struct exchange *x, const char *name, const char *format, ...)
{
    struct answer *a = &x->answer;
    char *value = malloc(ANSWER_HEADER_BYTES);
    va_list ap;

    assert(a->headers_count < ANSWER_HEADERS_MAX);
    if (value == NULL) {
        return;
    }
    va_start(ap, format);
    (void)vsnprintf(value, ANSWER_HEADER_BYTES, format, ap);
    va_end(ap);
    a->headers[a->headers_count].name = name;
    a->headers[a->headers_count++].value = value;
}
