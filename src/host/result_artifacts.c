/* result_artifacts.c - see result_artifacts.h. */
#include "host/result_artifacts.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/mime.h"
#include "base/name.h"
#include "base/utf8.h"
#include "host/result.h"
#include "vial.h"

enum {
    /* Longer text is in the result object as base64: six times as long, as escapes may make it, it
     * would be a burden for everybody who reads one. */
    TEXT_BYTES_MAX = 1024 * 1024,
    ENTRY_BYTES = 256, /* keys and punctuation of an artifact, or of a representation */
    ESCAPED = 6,       /* a byte becomes so many in JSON at most */
};

/* ---- taking them ---- */

static enum artifacts_taken begin(struct result_artifacts *a, const struct field *f)
{
    struct result_artifact *grown;

    if (a->is_open || a->count == ARTIFACTS_MAX ||
        (f->len > 0 && name_part_fault(f->bytes, f->len) != NULL)) {
        return ARTIFACTS_MALFORMED;
    }
    grown = realloc(a->items, (a->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return ARTIFACTS_NOMEM;
    }
    a->items = grown;
    grown[a->count] = (struct result_artifact){.name = NULL};
    a->is_open = 1;
    if (f->len > 0) {
        grown[a->count].name = strndup(f->bytes, f->len);
        if (grown[a->count].name == NULL) {
            return ARTIFACTS_NOMEM;
        }
    }
    return ARTIFACTS_TAKEN;
}

static enum artifacts_taken begin_part(struct result_artifact *item, const struct field *f)
{
    struct result_part *part;
    unsigned i;

    if (item->parts_count == ARTIFACT_PARTS_MAX || mime_fault(f->bytes, f->len) != NULL) {
        return ARTIFACTS_MALFORMED;
    }
    for (i = 0; i < item->parts_count; i++) {
        if (strlen(item->parts[i].mime) == f->len &&
            memcmp(item->parts[i].mime, f->bytes, f->len) == 0) {
            return ARTIFACTS_MALFORMED;
        }
    }
    part = &item->parts[item->parts_count];
    part->mime = strndup(f->bytes, f->len);
    if (part->mime == NULL) {
        return ARTIFACTS_NOMEM;
    }
    buf_init(&part->bytes, ARTIFACTS_BYTES_MAX);
    item->parts_count++;
    return ARTIFACTS_TAKEN;
}

static enum artifacts_taken take_bytes(
    struct result_artifacts *a, struct result_artifact *item, const struct field *f)
{
    if (item->parts_count == 0 || f->len > ARTIFACTS_BYTES_MAX - a->bytes) {
        return ARTIFACTS_MALFORMED;
    }
    if (buf_add(&item->parts[item->parts_count - 1].bytes, f->bytes, f->len, NULL) < 0) {
        return ARTIFACTS_NOMEM;
    }
    a->bytes += f->len;
    return ARTIFACTS_TAKEN;
}

static enum artifacts_taken take_field(struct result_artifacts *a, const struct field *f)
{
    struct result_artifact *item = a->is_open ? &a->items[a->count] : NULL;

    if (f->tag == FIELD_ARTIFACT_NAME) {
        return begin(a, f);
    }
    if (f->tag == FIELD_ARTIFACT_DROPPED && item == NULL && f->len == 0) {
        a->dropped++;
        return ARTIFACTS_TAKEN;
    }
    if (item == NULL) {
        return ARTIFACTS_MALFORMED;
    }
    if (f->tag == FIELD_ARTIFACT_MIME) {
        return begin_part(item, f);
    }
    if (f->tag == FIELD_ARTIFACT_BYTES) {
        return take_bytes(a, item, f);
    }
    if (f->tag != FIELD_ARTIFACT_END || f->len != 0 || item->parts_count == 0) {
        return ARTIFACTS_MALFORMED;
    }
    a->count++;
    a->is_open = 0;
    return ARTIFACTS_TAKEN;
}

enum artifacts_taken result_artifacts_take(
    struct result_artifacts *a, const char *payload, size_t len)
{
    enum artifacts_taken taken = ARTIFACTS_TAKEN;
    struct field f;
    size_t at = 0;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1 && taken == ARTIFACTS_TAKEN) {
        taken = take_field(a, &f);
    }
    return r < 0 ? ARTIFACTS_MALFORMED : taken;
}

void result_artifacts_release(struct result_artifacts *a)
{
    unsigned count = a->count + (a->is_open ? 1 : 0);
    unsigned i, k;

    for (i = 0; i < count; i++) {
        free(a->items[i].name);
        for (k = 0; k < a->items[i].parts_count; k++) {
            free(a->items[i].parts[k].mime);
            buf_release(&a->items[i].parts[k].bytes);
        }
    }
    free(a->items);
    *a = (struct result_artifacts){.items = NULL};
}

/* ---- as JSON ---- */

static int is_shown_as_text(const struct result_part *part)
{
    return part->bytes.len <= TEXT_BYTES_MAX && mime_is_text(part->mime) &&
           (part->bytes.len == 0 || utf8_valid(part->bytes.data, part->bytes.len, NULL));
}

size_t result_artifacts_bytes(const struct result_artifacts *a)
{
    size_t bytes = ENTRY_BYTES;
    unsigned i, k;

    for (i = 0; i < a->count; i++) {
        bytes += ENTRY_BYTES + (size_t)ESCAPED * FILE_NAME_PART_BYTES_MAX;
        for (k = 0; k < a->items[i].parts_count; k++) {
            const struct result_part *part = &a->items[i].parts[k];

            bytes += ENTRY_BYTES + MIME_BYTES_MAX +
                     (is_shown_as_text(part) ? ESCAPED * part->bytes.len
                                             : BASE64_ENCODED_BYTES(part->bytes.len));
        }
    }
    return bytes;
}

static void write_part(const struct result_part *part, struct json_writer *w)
{
    json_begin_object(w);
    json_key(w, "mime");
    json_text(w, part->mime);
    json_key(w, "bytes");
    json_u64(w, part->bytes.len);
    if (is_shown_as_text(part)) {
        json_key(w, "text");
        json_write_string(w, part->bytes.data, part->bytes.len);
    } else {
        json_key(w, "base64");
        json_base64(w, part->bytes.data, part->bytes.len);
    }
    json_end_object(w);
}

void result_artifacts_write(const struct result_artifacts *a, struct json_writer *w)
{
    unsigned i, k;

    json_key(w, "artifacts");
    json_begin_array(w);
    for (i = 0; i < a->count; i++) {
        json_begin_object(w);
        json_key(w, "name");
        json_text(w, a->items[i].name);
        json_key(w, "representations");
        json_begin_array(w);
        for (k = 0; k < a->items[i].parts_count; k++) {
            write_part(&a->items[i].parts[k], w);
        }
        json_end_array(w);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, "artifacts_dropped");
    json_u64(w, a->dropped);
}

/* ---- the public functions ---- */

size_t vial_result_artifact_count(const struct vial_result *result)
{
    return result->artifacts.count;
}

int vial_result_artifact(
    const struct vial_result *result, size_t index, struct vial_artifact *artifact)
{
    struct vial_artifact full = {.size = artifact->size};

    if (index >= result->artifacts.count) {
        return vial__fail(NULL, VIAL_E_INVALID, "there is no such artifact");
    }
    full.name = result->artifacts.items[index].name;
    full.representation_count = result->artifacts.items[index].parts_count;
    memcpy(artifact, &full, full.size < sizeof(full) ? full.size : sizeof(full));
    return VIAL_OK;
}

int vial_result_representation(const struct vial_result *result, size_t artifact, size_t index,
    struct vial_representation *representation)
{
    struct vial_representation full = {.size = representation->size};
    const struct result_part *part;

    if (artifact >= result->artifacts.count ||
        index >= result->artifacts.items[artifact].parts_count) {
        return vial__fail(NULL, VIAL_E_INVALID, "there is no such representation");
    }
    part = &result->artifacts.items[artifact].parts[index];
    full.mime = part->mime;
    full.bytes = part->bytes.len > 0 ? part->bytes.data : "";
    full.len = part->bytes.len;
    memcpy(representation, &full, full.size < sizeof(full) ? full.size : sizeof(full));
    return VIAL_OK;
}

uint64_t vial_result_artifacts_dropped(const struct vial_result *result)
{
    return result->artifacts.dropped;
}
