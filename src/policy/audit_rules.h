/* audit_rules.h - what of a run is written down: the words of an environment's "audit", applied.
 *
 *     "audit": {"code": true, "input": true, "output": false, "redact": ["password", "*token*"]}
 *
 * Redaction replaces the value of every member of an object, at any depth, whose name one of the
 * patterns matches by the text "[redacted]". Patterns have * for any characters and ? for one;
 * upper and lower case are the same. Nothing of a value that is redacted is kept, not even its
 * length. */
#ifndef VIAL_POLICY_AUDIT_RULES_H
#define VIAL_POLICY_AUDIT_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    AUDIT_REDACT_MAX = 64,
    AUDIT_REDACT_BYTES_MAX = 64,   /* of one pattern */
    AUDIT_VALUE_BYTES_MAX = 65536, /* of an input or output that is kept whole */
};

/* Zeroed, it keeps no input and no output, and the code only as its hash. */
struct audit_rules {
    int code, input, output; /* are they kept? */
    char **redact;           /* owned */
    size_t redact_count;
};

void audit_rules_release(struct audit_rules *rules);

/* What is wrong with a pattern, as the end of "the pattern ..."; NULL when nothing is. */
const char *audit_redact_fault(const char *pattern, size_t len);

/* Adds the value as it may be kept: without white space between tokens, redacted, and when it is
 * longer than AUDIT_VALUE_BYTES_MAX after that, {"cut":true,"bytes":N} instead. json is one JSON
 * value of any origin; when it is none, {"cut":true,"bytes":N} is added as well. */
VIAL_NODISCARD int audit_redact(const struct audit_rules *rules, const char *json, size_t len,
    struct buf *out, struct vial_error *err);

/* The same without a maximum but that of out, which may have to be AUDIT_REDACT_GROWTH times as
 * long as the value. VIAL_E_INVALID when json is none. */
enum { AUDIT_REDACT_GROWTH = 4 };
VIAL_NODISCARD int audit_redact_whole(const struct audit_rules *rules, const char *json, size_t len,
    struct buf *out, struct vial_error *err);

#endif
