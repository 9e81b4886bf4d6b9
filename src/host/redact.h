/* redact.h - keeps secrets out of what others say: takes every occurrence of a value out of a
 * stream of bytes and puts "[secret NAME]" in its place.
 *
 *     redact_new -> redact_stream_new -> redact_feed ... -> redact_end -> redact_stream_free
 *
 * A value is found as it is, in percent-encoding (any of its bytes as %XX, a space also as +), in
 * the escapes of JSON, and in base64 of both alphabets, also in the middle of a longer text that
 * was encoded, and wherever the stream is cut into pieces; the outcome does not depend on the
 * pieces. It is not found in other encodings, or when it is encoded twice. Who receives a secret
 * can always say it in a way that nobody recognizes: this is for servers that echo what they were
 * sent, and for messages of libraries.
 *
 * Takes time in proportion to the bytes, whatever they are, and holds back no more than what may be
 * the beginning of an occurrence. Pure: nothing but memory is used. */
#ifndef VIAL_HOST_REDACT_H
#define VIAL_HOST_REDACT_H

#include <stddef.h>

#include "base/buf.h"
#include "vial.h"

enum {
    REDACT_SECRETS_MAX = 64, /* in use for one request; rules name one or two */
    /* Shorter ones would be found by chance everywhere, and could be read off from where they are.
     */
    REDACT_VALUE_BYTES_MIN = 4,
    REDACT_BYTES_MAX = 256 << 10, /* all values together; each byte takes 24 in the tables */
};

struct redact;
struct redact_stream;

/* One secret that is in use; copied. */
struct redact_secret {
    const char *name;
    const char *bytes;
    size_t len;
};

/* The tables for some secrets, which any number of streams can share. VIAL_E_INVALID when one is
 * too short to be kept out, or they are too many. */
VIAL_NODISCARD int redact_new(
    const struct redact_secret *secrets, size_t count, struct redact **ret, struct vial_error *err);
void redact_free(struct redact *set); /* overwrites what it knew */

/* A stream; set must outlive it. */
VIAL_NODISCARD int redact_stream_new(
    const struct redact *set, struct redact_stream **ret, struct vial_error *err);
void redact_stream_free(struct redact_stream *stream);

/* Takes some bytes, and adds what may be passed on by now to *out; redact_end adds the rest. After
 * a failure (no memory, or *out is full) the stream says nothing more: every further call fails. */
VIAL_NODISCARD int redact_feed(struct redact_stream *stream, const char *bytes, size_t len,
    struct buf *out, struct vial_error *err);
VIAL_NODISCARD int redact_end(
    struct redact_stream *stream, struct buf *out, struct vial_error *err);

/* All of that for a text that is there as a whole. */
VIAL_NODISCARD int redact_text(const struct redact *set, const char *bytes, size_t len,
    struct buf *out, struct vial_error *err);

#endif
