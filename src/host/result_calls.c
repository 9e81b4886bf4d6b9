/* result_calls.c - see result_calls.h. */
#include "host/result_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/result.h"

enum { FIRST_CAPACITY = 8, ENTRY_BYTES = 400 };

static const char *const STATUS_NAMES[] = {
    "ok", "failed", "invalid", "denied", "timeout", "limit", "cancelled"};

const char *vial_call_status_name(int status)
{
    return status >= 0 && (size_t)status < sizeof(STATUS_NAMES) / sizeof(STATUS_NAMES[0])
               ? STATUS_NAMES[status]
               : "unknown";
}

uint32_t result_calls_add(
    struct result_calls *calls, const char *name, uint64_t start_us, uint64_t input_bytes)
{
    struct result_call *grown;
    char *copy;

    if (calls->count == calls->capacity && calls->count < RESULT_CALLS_MAX) {
        size_t capacity = calls->capacity > 0 ? 2 * calls->capacity : FIRST_CAPACITY;

        capacity = capacity < RESULT_CALLS_MAX ? capacity : RESULT_CALLS_MAX;
        grown = realloc(calls->items, capacity * sizeof(*grown));
        if (grown != NULL) {
            calls->items = grown;
            calls->capacity = capacity;
        }
    }
    copy = calls->count < calls->capacity ? strdup(name) : NULL;
    if (copy == NULL) {
        calls->dropped++;
        return RESULT_CALL_NONE;
    }
    calls->items[calls->count] = (struct result_call){.name = copy,
        .status = VIAL_CALL_CANCELLED,
        .start_us = start_us,
        .input_bytes = input_bytes};
    return (uint32_t)calls->count++;
}

void result_calls_end(struct result_calls *calls, uint32_t index, uint32_t status,
    const char *reason, uint64_t now_us, uint64_t output_bytes)
{
    struct result_call *c;

    if (index >= calls->count) {
        return;
    }
    c = &calls->items[index];
    c->status = status;
    c->duration_us = now_us > c->start_us ? now_us - c->start_us : 0;
    c->output_bytes = output_bytes;
    c->reason = reason != NULL ? strdup(reason) : NULL;
}

void result_calls_record(struct result_calls *calls, uint32_t index, enum result_call_part part,
    const char *json, size_t len)
{
    struct result_call *c;
    char **kept, *copy;
    size_t i;

    if (index >= calls->count) {
        return;
    }
    copy = malloc(len + 1);
    if (copy == NULL) {
        return;
    }
    memcpy(copy, json, len);
    copy[len] = '\0';
    for (i = 0; i < len; i++) { /* the result object is one line, whoever wrote a part of it */
        copy[i] = copy[i] == '\n' || copy[i] == '\r' ? ' ' : copy[i];
    }
    c = &calls->items[index];
    kept = part == CALL_PART_INPUT ? &c->input : part == CALL_PART_OUTPUT ? &c->output : &c->error;
    free(*kept);
    *kept = copy;
}

void result_calls_request(struct result_calls *calls, uint32_t index, const char *json, size_t len)
{
    if (index < calls->count && calls->items[index].request == NULL) {
        calls->items[index].request = strndup(json, len);
    }
}

void result_calls_release(struct result_calls *calls)
{
    size_t i;

    for (i = 0; i < calls->count; i++) {
        free(calls->items[i].name);
        free(calls->items[i].reason);
        free(calls->items[i].input);
        free(calls->items[i].output);
        free(calls->items[i].error);
        free(calls->items[i].request);
    }
    free(calls->items);
    *calls = (struct result_calls){.items = NULL};
}

static size_t len_of(const char *text)
{
    return text != NULL ? strlen(text) : 0;
}

size_t result_calls_bytes(const struct result_calls *calls)
{
    size_t bytes = ENTRY_BYTES;
    size_t i;

    for (i = 0; i < calls->count; i++) {
        const struct result_call *c = &calls->items[i];

        bytes += ENTRY_BYTES + len_of(c->name) + 6 * len_of(c->reason) + len_of(c->input) +
                 len_of(c->output) + len_of(c->error) + len_of(c->request);
    }
    return bytes;
}

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    if (text != NULL) {
        json_write_string(w, text, strlen(text));
    } else {
        json_write_null(w);
    }
}

static void put_json(struct json_writer *w, const char *key, const char *json)
{
    if (json != NULL) {
        json_key(w, key);
        json_raw(w, json, strlen(json));
    }
}

static void put_number(struct json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    json_u64(w, v);
}

void result_calls_write(const struct result_calls *calls, struct json_writer *w)
{
    size_t i;

    json_key(w, "calls");
    json_begin_array(w);
    for (i = 0; i < calls->count; i++) {
        const struct result_call *c = &calls->items[i];

        json_begin_object(w);
        put_text(w, "name", c->name);
        put_text(w, "status", vial_call_status_name((int)c->status));
        put_text(w, "reason", c->reason);
        put_number(w, "start_us", c->start_us);
        put_number(w, "duration_us", c->duration_us);
        put_number(w, "input_bytes", c->input_bytes);
        put_number(w, "output_bytes", c->output_bytes);
        put_json(w, "input", c->input);
        put_json(w, "output", c->output);
        put_json(w, "error", c->error);
        put_json(w, "request", c->request);
        json_end_object(w);
    }
    json_end_array(w);
    if (calls->dropped > 0) {
        put_number(w, "calls_dropped", calls->dropped);
    }
}

size_t vial_result_call_count(const struct vial_result *result)
{
    return result->calls.count;
}

int vial_result_call(
    const struct vial_result *result, size_t index, struct vial_call_record *record)
{
    const struct result_call *c;
    struct vial_call_record full = {.size = record->size};

    if (index >= result->calls.count) {
        return vial__fail(NULL, VIAL_E_INVALID, "there is no such call");
    }
    c = &result->calls.items[index];
    full.status = c->status;
    full.name = c->name;
    full.reason = c->reason;
    full.start_us = c->start_us;
    full.duration_us = c->duration_us;
    full.input_bytes = c->input_bytes;
    full.output_bytes = c->output_bytes;
    full.input = c->input;
    full.output = c->output;
    full.error = c->error;
    full.request = c->request;
    memcpy(record, &full, full.size < sizeof(full) ? full.size : sizeof(full));
    return VIAL_OK;
}
