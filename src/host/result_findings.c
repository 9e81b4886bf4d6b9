/* result_findings.c - see result_findings.h and vial.h. */
#include "host/result_findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "host/result.h"
#include "vial.h"

enum {
    ENTRY_BYTES = 512, /* keys and punctuation of a finding, and the name of the program */
    ESCAPED = 6,       /* a byte becomes so many in JSON at most */
};

static const char *const SEVERITY_NAMES[] = {"info", "warn", "block"};

const char *vial_severity_name(int severity)
{
    return severity >= 0 && (size_t)severity < sizeof(SEVERITY_NAMES) / sizeof(SEVERITY_NAMES[0])
               ? SEVERITY_NAMES[severity]
               : "unknown";
}

static int take_text(const struct field *f, const char **ret)
{
    *ret = f->bytes;
    return utf8_valid(f->bytes, f->len, NULL) && memchr(f->bytes, '\0', f->len) == NULL ? 0 : -1;
}

/* Stores one field; -1 when it is malformed or out of place. */
static int take_field(struct result_findings *r, const struct field *f)
{
    struct result_finding *item = r->count > 0 ? &r->items[r->count - 1] : NULL;

    if (f->tag == FIELD_FINDINGS_MORE) {
        return field_u32(f, &r->more_count);
    }
    if (f->tag == FIELD_FINDING_ID) {
        if (r->count == SCAN_FINDINGS_MAX) {
            return -1;
        }
        item = &r->items[r->count++];
        *item = (struct result_finding){.file = "", .text = "", .message = "", .advice = ""};
        return take_text(f, &item->id);
    }
    if (item == NULL) {
        return -1;
    }
    switch (f->tag) {
    case FIELD_FINDING_SEVERITY:
        return field_u32(f, &item->severity) < 0 || item->severity > VIAL_SEVERITY_BLOCK ? -1 : 0;
    case FIELD_FINDING_LINE:
        return field_u32(f, &item->line);
    case FIELD_FINDING_COLUMN:
        return field_u32(f, &item->column);
    case FIELD_FINDING_FILE:
        return take_text(f, &item->file);
    case FIELD_FINDING_TEXT:
        return take_text(f, &item->text);
    case FIELD_FINDING_MESSAGE:
        return take_text(f, &item->message);
    case FIELD_FINDING_ADVICE:
        return take_text(f, &item->advice);
    default:
        return -1;
    }
}

enum findings_taken result_findings_take(struct result_findings *r, const char *payload, size_t len)
{
    struct field f;
    size_t at = 0;
    size_t end = len;
    int taken;

    if (r->payload != NULL) {
        return FINDINGS_MALFORMED;
    }
    r->payload = malloc(len + 1);
    r->items = calloc(SCAN_FINDINGS_MAX, sizeof(*r->items));
    if (r->payload == NULL || r->items == NULL) {
        return FINDINGS_NOMEM;
    }
    memcpy(r->payload, payload, len);
    while ((taken = field_next(r->payload, len, &at, &f)) == 1) {
        /* A field ends where the tag of the next one is, which has just been read. */
        r->payload[end] = '\0';
        end = at;
        if (take_field(r, &f) < 0) {
            taken = -1;
            break;
        }
    }
    r->payload[len] = '\0';
    if (taken < 0) {
        r->count = 0;
        return FINDINGS_MALFORMED;
    }
    return FINDINGS_TAKEN;
}

void result_findings_release(struct result_findings *r)
{
    free(r->payload);
    free(r->items);
    *r = (struct result_findings){.count = 0};
}

const struct result_finding *result_findings_gravest(const struct result_findings *r)
{
    const struct result_finding *best = NULL;

    for (unsigned i = 0; i < r->count; i++) {
        if (best == NULL || r->items[i].severity > best->severity) {
            best = &r->items[i];
        }
    }
    return best;
}

size_t result_findings_bytes(const struct result_findings *r)
{
    size_t bytes = ENTRY_BYTES;

    for (unsigned i = 0; i < r->count; i++) {
        const struct result_finding *f = &r->items[i];

        bytes += ENTRY_BYTES + ESCAPED * (strlen(f->id) + strlen(f->file) + strlen(f->text) +
                                             strlen(f->message) + strlen(f->advice) + 1024);
    }
    return bytes;
}

void result_findings_write(const struct result_findings *r, const char *name, struct json_writer *w)
{
    json_key(w, "findings");
    json_begin_array(w);
    for (unsigned i = 0; i < r->count; i++) {
        const struct result_finding *f = &r->items[i];

        json_begin_object(w);
        json_key(w, "id");
        json_text(w, f->id);
        json_key(w, "severity");
        json_text(w, vial_severity_name((int)f->severity));
        json_key(w, "file");
        json_text(w, f->file[0] != '\0' ? f->file : name);
        json_key(w, "line");
        json_u64(w, f->line);
        json_key(w, "column");
        json_u64(w, f->column);
        json_key(w, "text");
        json_text(w, f->text);
        json_key(w, "message");
        json_text(w, f->message);
        json_key(w, "advice");
        json_text(w, f->advice);
        json_end_object(w);
    }
    json_end_array(w);
    if (r->more_count > 0) {
        json_key(w, "findings_left_out");
        json_u64(w, r->more_count);
    }
}

size_t vial_result_finding_count(const struct vial_result *result)
{
    return result->findings.count;
}

int vial_result_finding(
    const struct vial_result *result, size_t index, struct vial_finding *finding)
{
    const struct result_finding *f;
    struct vial_finding full = VIAL_FINDING_INIT;
    uint32_t size;

    if (index >= result->findings.count || finding == NULL) {
        return vial__fail(NULL, VIAL_E_INVALID, "there is no such finding");
    }
    f = &result->findings.items[index];
    size = finding->size < sizeof(full) ? finding->size : (uint32_t)sizeof(full);
    full = (struct vial_finding){.size = size,
        .severity = f->severity,
        .line = f->line,
        .column = f->column,
        .id = f->id,
        .file = f->file[0] != '\0' ? f->file : result->source_name,
        .text = f->text,
        .message = f->message,
        .advice = f->advice};
    memcpy(finding, &full, size);
    return VIAL_OK;
}
