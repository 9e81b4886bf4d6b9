/* result_artifacts.h - what a program showed beside its value, as part of a result.
 *
 * It comes from a process that guest code may have taken over: types and names are checked, counts
 * and bytes are bounded, and only what came to its end is kept. */
#ifndef VIAL_HOST_RESULT_ARTIFACTS_H
#define VIAL_HOST_RESULT_ARTIFACTS_H

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "wire/field.h"

struct result_part {
    char *mime;
    struct buf bytes;
};

struct result_artifact {
    char *name; /* NULL: none */
    unsigned parts_count;
    struct result_part parts[ARTIFACT_PARTS_MAX];
};

/* Zeros are a good beginning. */
struct result_artifacts {
    struct result_artifact *items; /* one more than count while is_open */
    unsigned count;
    int is_open;      /* one has begun and not ended */
    uint64_t dropped; /* by the cell, because they are too many or too large */
    uint64_t bytes;
};

enum artifacts_taken { ARTIFACTS_TAKEN = 0, ARTIFACTS_MALFORMED = -1, ARTIFACTS_NOMEM = -2 };

/* Takes the payload of one ARTIFACT frame. */
enum artifacts_taken result_artifacts_take(
    struct result_artifacts *artifacts, const char *payload, size_t len);

void result_artifacts_release(struct result_artifacts *artifacts);

/* How many bytes of JSON they are at most, and these as members of the object that is open. */
size_t result_artifacts_bytes(const struct result_artifacts *artifacts);
void result_artifacts_write(const struct result_artifacts *artifacts, struct json_writer *w);

#endif
