/* artifacts.c - see artifacts.h.
 *
 * The limits are kept here, so that nothing is sent that the host would not take: for what is
 * beyond them a few bytes say that there was something. */
#include "cell/artifacts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mime.h"
#include "base/name.h"
#include "cell/guest.h"
#include "wire/field.h"
#include "wire/frame.h"

static unsigned sent_count;
static size_t sent_bytes;

/* The frame that is being filled. Most artifacts are one. */
static char frame[FRAME_ARTIFACT_BYTES_MAX];
static size_t frame_len;

void artifacts_begin(void)
{
    sent_count = 0;
    sent_bytes = 0;
}

static void flush(void)
{
    cell_send_artifact(frame, frame_len);
    frame_len = 0;
}

static void put(uint8_t tag, const char *bytes, size_t len)
{
    if (len + FIELD_HEAD_BYTES > sizeof(frame) - frame_len) {
        flush();
    }
    field_head(frame + frame_len, tag, (uint32_t)len);
    frame_len += FIELD_HEAD_BYTES;
    if (len > 0) {
        memcpy(frame + frame_len, bytes, len);
    }
    frame_len += len;
}

static const char *part_fault(const struct artifact_part *parts, unsigned at)
{
    static char why[MIME_BYTES_MAX + 80];
    const char *fault = mime_fault(parts[at].mime, parts[at].mime_len);
    int shown = parts[at].mime_len < MIME_BYTES_MAX ? (int)parts[at].mime_len : MIME_BYTES_MAX;
    unsigned i;

    for (i = 0; i < at && fault == NULL; i++) {
        if (parts[i].mime_len == parts[at].mime_len &&
            memcmp(parts[i].mime, parts[at].mime, parts[at].mime_len) == 0) {
            fault = "is there twice";
        }
    }
    if (fault == NULL) {
        return NULL;
    }
    (void)snprintf(why, sizeof(why), "the MIME type \"%.*s\" %s", shown, parts[at].mime, fault);
    return why;
}

static const char *fault_of(
    const char *name, size_t name_len, const struct artifact_part *parts, unsigned count)
{
    static char why[96];
    const char *fault = name_len > 0 ? name_part_fault(name, name_len) : NULL;
    unsigned i;

    if (fault != NULL) {
        (void)snprintf(why, sizeof(why), "the name of an artifact %s", fault);
        return why;
    }
    if (count == 0 || count > ARTIFACT_PARTS_MAX) {
        (void)snprintf(
            why, sizeof(why), "an artifact has 1 to %d representations", ARTIFACT_PARTS_MAX);
        return why;
    }
    for (i = 0; i < count && fault == NULL; i++) {
        fault = part_fault(parts, i);
    }
    return fault;
}

/* Is there room for all of it? */
static int fits(const struct artifact_part *parts, unsigned count)
{
    size_t room = ARTIFACTS_BYTES_MAX - sent_bytes;
    unsigned i;

    for (i = 0; i < count; i++) {
        if (parts[i].len > room) {
            return 0;
        }
        room -= parts[i].len;
    }
    return sent_count < ARTIFACTS_MAX;
}

int cell_artifact(const char *name, size_t name_len, const struct artifact_part *parts,
    unsigned count, const char **ret_why)
{
    const char *fault = fault_of(name, name_len, parts, count);
    size_t at, piece;
    unsigned i;

    if (fault != NULL) {
        *ret_why = fault;
        return -1;
    }
    if (!fits(parts, count)) {
        put(FIELD_ARTIFACT_DROPPED, NULL, 0);
        flush();
        return 0;
    }
    put(FIELD_ARTIFACT_NAME, name, name_len);
    for (i = 0; i < count; i++) {
        put(FIELD_ARTIFACT_MIME, parts[i].mime, parts[i].mime_len);
        for (at = 0; at < parts[i].len; at += piece) {
            piece = parts[i].len - at;
            piece = piece < FRAME_ARTIFACT_PIECE_BYTES ? piece : FRAME_ARTIFACT_PIECE_BYTES;
            put(FIELD_ARTIFACT_BYTES, parts[i].bytes + at, piece);
        }
        sent_bytes += parts[i].len;
    }
    put(FIELD_ARTIFACT_END, NULL, 0);
    flush();
    sent_count++;
    return 0;
}
