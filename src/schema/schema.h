/* schema.h - JSON Schema: is this value what a tool takes or promised to give, and if not, why not
 * in words that a model can act on.
 *
 * A schema is compiled once and then used for every call. Drafts 2020-12 and 07 are understood as
 * far as tools use them; docs/schemas.md has the list. What is not understood is refused when it is
 * compiled, never skipped when a value is checked. */
#ifndef VIAL_SCHEMA_SCHEMA_H
#define VIAL_SCHEMA_SCHEMA_H

#include <stddef.h>

#include "base/buf.h"
#include "vial.h"

enum {
    SCHEMA_BYTES_MAX = 1024 * 1024, /* the largest known tool has a tenth of it */
    /* Schemas that apply to one and the same value, inside each other: allOf in anyOf in $ref ...
     * Each takes a piece of the stack for each level of a value. */
    SCHEMA_APPLIED_MAX = 32,
    SCHEMA_PROBLEMS_MAX = 16, /* a model mends a few at a time */
    /* Room for any report: each problem has a path and a message, escaped at worst. */
    SCHEMA_REPORT_BYTES_MAX = 64 * 1024,
    SCHEMA_PATH_BYTES_MAX = 300, /* of one problem; cut with "..." beyond */
    SCHEMA_MESSAGE_BYTES_MAX = 400,
};

struct schema;

/* VIAL_E_INVALID, with the JSON pointer of the place, when it is no schema: keywords of wrong
 * types, unknown names of types, bad regular expressions, references that lead nowhere, outside or
 * in a circle, keywords that are not supported or look misspelt. The text is copied. What is stored
 * is never changed again: it may be used by many threads at once. */
VIAL_NODISCARD int schema_compile(
    const char *json, size_t len, struct schema **ret, struct vial_error *err);
void schema_free(struct schema *schema);

/* 0: valid. 1: not valid, and report, which may be NULL, gets a JSON array of at most
 * SCHEMA_PROBLEMS_MAX objects {"path":"/rows/0/id","message":"must be an integer, is a string"}.
 * Negative: a failure of ours, json is no JSON (VIAL_E_INVALID), or to tell would take too much
 * work. */
VIAL_NODISCARD int schema_check(const struct schema *schema, const char *json, size_t len,
    struct buf *report, struct vial_error *err);

/* The same report as one text: "rows[0].id: must be an integer, is a string; name: is missing". */
VIAL_NODISCARD int schema_report_text(
    const char *report, size_t len, struct buf *out, struct vial_error *err);

/* The names under the top-level "properties", in the order of the document, for positional
 * arguments; none when there are none. A $ref at the top is followed. */
size_t schema_property_count(const struct schema *schema);
const char *schema_property_name(const struct schema *schema, size_t index);

/* Is its type exactly "object"? */
int schema_is_object(const struct schema *schema);

#endif
