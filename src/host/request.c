/* request.c - see request.h. */
#include "host/request.h"

#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "host/modules.h"
#include "value/cbor.h"
#include "wire/frame.h"

enum {
    LATE_CHECK_BYTES = 1024 * 1024,
    INPUT_DEPTH_MAX = 512, /* deeper JSON is an attack on somebody's recursion */
    NAME_BYTES_MAX = 1024,
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
    INPUT_BYTES_MAX = 128 * 1024 * 1024,
    START_EXTRA_BYTES = 65536, /* of a start message, beside the texts of the caller */
};

int request_check_input(const struct vial_request *q, struct vial_error *err)
{
    struct json_fault fault;
    int r;

    if (q->input != NULL && q->input_is_cbor != 0) {
        r = value_cbor_check(q->input, q->input_len, err);
        return r < 0 ? vial__wrap(err, r, "the input is not CBOR that a guest can have") : VIAL_OK;
    }
    if (q->input != NULL && json_check(q->input, q->input_len, INPUT_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "the input is not JSON: %s at line %u, column %u",
            fault.why, fault.line, fault.column);
    }
    return VIAL_OK;
}

/* Large JSON is checked while the cell reads it: the engine's own parser refuses what is none, so
 * no program runs with it; ours only says better where it is wrong. The decoder of CBOR in the cell
 * relies on the check. */
int request_is_checked_late(const struct vial_request *q)
{
    return q->input != NULL && q->input_is_cbor == 0 && q->input_len > LATE_CHECK_BYTES;
}

int request_check(const struct vial_request *q, struct vial_error *err)
{
    size_t bytes = q->source_len + q->input_len;
    size_t bad;
    int r;

    if (q->source == NULL || q->source_len > SOURCE_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the source is %zu bytes long; it may have up to %d",
            q->source_len, SOURCE_BYTES_MAX);
    }
    if (!utf8_valid(q->source, q->source_len, &bad)) {
        return vial__fail(err, VIAL_E_INVALID, "the source is not UTF-8 (at byte %zu)", bad);
    }
    if (q->name != NULL &&
        (strlen(q->name) > NAME_BYTES_MAX || !utf8_valid(q->name, strlen(q->name), NULL))) {
        return vial__fail(err, VIAL_E_INVALID,
            "the name of the source must be UTF-8 of up to %d bytes", NAME_BYTES_MAX);
    }
    if (q->language > VIAL_LANGUAGE_TYPESCRIPT) {
        return vial__fail(err, VIAL_E_INVALID, "%u is not a language", q->language);
    }
    if (q->input != NULL && q->input_len > INPUT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the input is %zu bytes long; it may have up to %d",
            q->input_len, INPUT_BYTES_MAX);
    }
    r = request_is_checked_late(q) ? VIAL_OK : request_check_input(q, err);
    if (r < 0) {
        return r;
    }
    if (q->kind > VIAL_KIND_MODULE) {
        return vial__fail(err, VIAL_E_INVALID, "%u is no kind of source", q->kind);
    }
    r = modules_check(q, &bytes, err);
    if (r == VIAL_OK && bytes > FRAME_START_BYTES_MAX - START_EXTRA_BYTES) {
        return vial__fail(err, VIAL_E_INVALID,
            "source, input and modules are %zu bytes long; together they may have up to %d", bytes,
            FRAME_START_BYTES_MAX - START_EXTRA_BYTES);
    }
    return r;
}
