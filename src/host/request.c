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
    SCAN_NAME_BYTES_MAX = 64, /* as code/scanner.h has them */
    SCAN_RULES_BYTES_MAX = 256 * 1024,
    /* Of a start message, beside the texts of the caller: mostly rules, of three policies. */
    START_EXTRA_BYTES = 16 << 20,
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

const char *request_name(const struct vial_request *q)
{
    const char *usual = q->language == VIAL_LANGUAGE_PYTHON ? "main.py" : "main.js";

    return q->name != NULL ? q->name : usual;
}

int request_check_scan(uint32_t scan, const struct vial_scan_rules *rules, size_t count,
    size_t *bytes, struct vial_error *err)
{
    size_t i;

    if (scan > VIAL_SCAN_ONLY) {
        return vial__fail(err, VIAL_E_INVALID, "%u is nothing that the scanner can do", scan);
    }
    if (count > VIAL_SCAN_RULES_MAX || (rules == NULL && count > 0)) {
        return vial__fail(err, VIAL_E_INVALID,
            "there may be up to %d files of rules for the scanner", VIAL_SCAN_RULES_MAX);
    }
    if (scan == VIAL_SCAN_AUTO && count > 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "rules for the scanner say nothing in a run that is not to be scanned: set scan as "
            "well");
    }
    for (i = 0; i < count; i++) {
        if (rules[i].name == NULL || strlen(rules[i].name) > SCAN_NAME_BYTES_MAX ||
            !utf8_valid(rules[i].name, strlen(rules[i].name), NULL) || rules[i].text == NULL ||
            rules[i].len > SCAN_RULES_BYTES_MAX) {
            return vial__fail(err, VIAL_E_INVALID,
                "a file of rules needs a name of up to %d bytes and a text of up to %d",
                SCAN_NAME_BYTES_MAX, SCAN_RULES_BYTES_MAX);
        }
        *bytes += rules[i].len;
    }
    return VIAL_OK;
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
    /* Python reads other encodings, too, when the source says which. */
    if (q->language != VIAL_LANGUAGE_PYTHON && !utf8_valid(q->source, q->source_len, &bad)) {
        return vial__fail(err, VIAL_E_INVALID, "the source is not UTF-8 (at byte %zu)", bad);
    }
    if (q->name != NULL &&
        (strlen(q->name) > NAME_BYTES_MAX || !utf8_valid(q->name, strlen(q->name), NULL))) {
        return vial__fail(err, VIAL_E_INVALID,
            "the name of the source must be UTF-8 of up to %d bytes", NAME_BYTES_MAX);
    }
    if (q->language > VIAL_LANGUAGE_PYTHON) {
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
    r = request_check_scan(q->scan, q->scan_rules, q->scan_rules_count, &bytes, err);
    r = r < 0 ? r : modules_check(q, &bytes, err);
    if (r == VIAL_OK && bytes > FRAME_START_BYTES_MAX - START_EXTRA_BYTES) {
        return vial__fail(err, VIAL_E_INVALID,
            "source, input and modules are %zu bytes long; together they may have up to %d", bytes,
            FRAME_START_BYTES_MAX - START_EXTRA_BYTES);
    }
    return r;
}
