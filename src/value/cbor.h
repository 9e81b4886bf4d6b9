/* cbor.h - values of guests that JSON cannot say: checked, and shown as JSON with tags.
 *
 * A cell encodes such a value as CBOR (RFC 8949) in one fixed vocabulary, see docs/values.md. The
 * bytes may come from a process that guest code has taken over, so nothing is believed: definite
 * lengths only, known tags around what they may be around, valid UTF-8, a bounded depth, exactly
 * one value. */
#ifndef VIAL_VALUE_CBOR_H
#define VIAL_VALUE_CBOR_H

#include <stddef.h>

#include "base/buf.h"

/* The encoder in the cell stops at 100 levels of JavaScript values; a tag and what it is around are
 * two or three levels here. The walk recurses, some 200 bytes of stack a level. */
enum { VALUE_CBOR_DEPTH_MAX = 320 };

/* 0 when bytes are exactly one value of the vocabulary; else VIAL_E_INVALID, and the text of err
 * says what is wrong and where. */
VIAL_NODISCARD int value_cbor_check(const char *bytes, size_t len, struct vial_error *err);

/* Adds the value as JSON to out: what JSON has as it is, all else as an object with one member
 * whose name begins with a `$`, such as {"$date":"2026-01-01T00:00:00.000Z"}. Checks like the
 * above; VIAL_E_NOMEM when out is full. On failure out is as it was. */
VIAL_NODISCARD int value_cbor_to_json(
    const char *bytes, size_t len, struct buf *out, struct vial_error *err);

#endif
