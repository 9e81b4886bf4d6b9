/* document_text.c - see document_text.h. */
#include "policy/document_text.h"

#include <stdio.h>

#include "base/json.h"
#include "policy/document.h"

/* How many values a text that is JSON has, or a few more. */
static size_t count_values(const char *json, size_t len)
{
    size_t count = 1, i;
    int in_string = 0;

    for (i = 0; i < len; i++) {
        if (in_string && json[i] == '\\') {
            i++;
        } else if (json[i] == '"') {
            in_string = !in_string;
        } else if (!in_string) {
            count += json[i] == ',' || json[i] == '[' || json[i] == '{';
        }
    }
    return count;
}

int document_text_check(const char *json, size_t len, char *why, size_t why_size)
{
    struct json_fault fault;

    if (len > DOCUMENT_BYTES_MAX) {
        (void)snprintf(why, why_size, "the document has %zu bytes; it may have up to %d", len,
            DOCUMENT_BYTES_MAX);
        return -1;
    }
    if (json_check(json, len, DOCUMENT_DEPTH_MAX, &fault) < 0) {
        (void)snprintf(why, why_size, "the document is not JSON: line %u, column %u: %s",
            fault.line, fault.column, fault.why);
        return -1;
    }
    if (count_values(json, len) > DOCUMENT_VALUES_MAX) {
        (void)snprintf(why, why_size, "the document has more than %d values", DOCUMENT_VALUES_MAX);
        return -1;
    }
    return 0;
}

int report_begin(struct buf *report)
{
    return buf_add(report, "[", 1, NULL);
}

int report_add(struct buf *report, const char *path, const char *message)
{
    struct json_writer w;
    int r = report->len > 1 ? buf_add(report, ",", 1, NULL) : VIAL_OK;

    if (r < 0) {
        return r;
    }
    json_init(&w, report, NULL);
    json_begin_object(&w);
    json_key(&w, "path");
    json_text(&w, path);
    json_key(&w, "message");
    json_text(&w, message);
    json_end_object(&w);
    return json_finish(&w);
}

int report_end(struct buf *report)
{
    return buf_add(report, "]", 1, NULL);
}

int document_text_quote(const char *text, size_t len, struct buf *out)
{
    struct json_writer w;

    json_init(&w, out, NULL);
    json_write_string(&w, text, len);
    return json_finish(&w);
}
