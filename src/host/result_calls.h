/* result_calls.h - the calls of tools that a result tells of. */
#ifndef VIAL_HOST_RESULT_CALLS_H
#define VIAL_HOST_RESULT_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "vial.h"

enum {
    RESULT_CALLS_MAX = 10000, /* more are only counted: nobody reads them, and each takes memory */
    RESULT_CALL_NONE = UINT32_MAX,
};

struct result_call {
    char *name;
    char *reason;         /* NULL: none */
    char *input, *output; /* JSON when recorded */
    char *error;          /* likewise, what the program got instead of an answer */
    char *request;        /* JSON, of one to the network */
    uint32_t status;      /* enum vial_call_status */
    uint64_t start_us, duration_us;
    uint64_t input_bytes, output_bytes;
};

struct result_calls {
    struct result_call *items;
    size_t count, capacity;
    uint64_t dropped; /* calls that are not in the list */
};

/* Notes a call that begins; its number, or RESULT_CALL_NONE when there is no room for it. */
uint32_t result_calls_add(
    struct result_calls *calls, const char *name, uint64_t start_us, uint64_t input_bytes);

/* Notes how it ended. reason may be NULL. */
void result_calls_end(struct result_calls *calls, uint32_t index, uint32_t status,
    const char *reason, uint64_t now_us, uint64_t output_bytes);

enum result_call_part { CALL_PART_INPUT, CALL_PART_OUTPUT, CALL_PART_ERROR };

/* Keeps the arguments, the answer or the error; without memory they are missing. */
void result_calls_record(struct result_calls *calls, uint32_t index, enum result_call_part part,
    const char *json, size_t len);

/* Notes what a request to the network was about: a JSON object. */
void result_calls_request(struct result_calls *calls, uint32_t index, const char *json, size_t len);

void result_calls_release(struct result_calls *calls);

/* The upper bound of what result_calls_write writes. */
size_t result_calls_bytes(const struct result_calls *calls);
void result_calls_write(const struct result_calls *calls, struct json_writer *w);

#endif
