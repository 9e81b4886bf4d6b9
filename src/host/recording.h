/* recording.h - all of a run as one JSON object, so that `vial replay` can repeat it.
 *
 *     recording_settle, before the run -> the run, with record_calls -> recording_write
 *
 * A recording has the request, the environment's document as it was, and the outcome with the
 * arguments and answers of every call. Bytes that need not be text are base64. What it never has:
 * how tools reach the host (addresses, headers, commands, variables), which a repetition does not
 * need, and the values of what the environment's audit redacts. Secrets are not in a result to
 * begin with. */
#ifndef VIAL_HOST_RECORDING_H
#define VIAL_HOST_RECORDING_H

#include <jansson.h>
#include <stddef.h>

#include "policy/audit_rules.h"
#include "policy/permission.h"
#include "vial.h"

enum {
    RECORDING_VERSION = 1,
    RECORDING_BYTES_MAX = 512 << 20, /* larger ones are not read: all of it is in memory */
};

/* What there is beside the result; borrowed. */
struct recording_parts {
    const struct vial_request *request;
    const char *document; /* of the environment that the run was in, or NULL */
    size_t document_len;
    const struct audit_rules *rules; /* that environment's, or NULL */
    int no_jit;
    size_t bytes_max;
};

/* The policy of a run that is to be repeated: the given one (NULL: none), with the clock standing
 * at the present time and a seed, unless it or that of the environment (NULL: there is none) says
 * something of them. The text belongs to the caller and ends in NUL. */
VIAL_NODISCARD int recording_settle(const char *permissions, size_t len,
    const struct permission *environment, char **ret, struct vial_error *err);

/* The recording, which belongs to the caller and ends in NUL. VIAL_E_INVALID when it is longer than
 * bytes_max, or something of the run cannot be said in JSON. */
VIAL_NODISCARD int recording_write(const struct recording_parts *parts, struct vial_result *result,
    char **ret, size_t *ret_len, struct vial_error *err);

/* What a repetition has to have in common with the run: status, value, output, calls, files;
 * redacted by the rules, which may be NULL. NULL on failure. */
json_t *recording_outcome(
    struct vial_result *result, const struct audit_rules *rules, struct vial_error *err);

#endif
