/* result_findings.h - what the scanner has found in a program, as part of a result.
 *
 * It comes from a process that guest code may have taken over, so counts are bounded and texts are
 * UTF-8, whoever wrote them. */
#ifndef VIAL_HOST_RESULT_FINDINGS_H
#define VIAL_HOST_RESULT_FINDINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "wire/field.h"

struct result_finding {
    const char *id, *file, *text, *message, *advice; /* in payload; file is empty for the program */
    uint32_t severity, line, column;
};

/* Zeros are a good beginning. */
struct result_findings {
    char *payload; /* of the frame, with NULs behind its fields; NULL: none came */
    struct result_finding *items;
    unsigned count;
    uint32_t more_count; /* that were found and are not among them */
};

enum findings_taken { FINDINGS_TAKEN = 0, FINDINGS_MALFORMED = -1, FINDINGS_NOMEM = -2 };

/* Takes the payload of a FINDINGS frame. A second one is malformed. */
enum findings_taken result_findings_take(
    struct result_findings *findings, const char *payload, size_t len);

void result_findings_release(struct result_findings *findings);

/* The first one of the gravest, or NULL. */
const struct result_finding *result_findings_gravest(const struct result_findings *findings);

/* How many bytes of JSON they are at most, and these as members of the object that is open. name is
 * what the program is called. */
size_t result_findings_bytes(const struct result_findings *findings);
void result_findings_write(
    const struct result_findings *findings, const char *name, struct json_writer *w);

#endif
