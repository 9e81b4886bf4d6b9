/* result.c - see result.h. */
#include "host/result.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "host/run_files.h"
#include "value/cbor.h"
#include "wire/field.h"

enum {
    VALUE_DEPTH_MAX = 256, /* the cell stops at 100 levels; a hostile one is refused here */
    /* A byte of CBOR is at most that many of JSON: undefined, with its comma. */
    TAGGED_FACTOR = 24,
    TAGGED_BYTES_EXTRA = 1024,
    EXIT_CODE_MAX = 255,
};

static const char *const STATUS_NAMES[] = {"ok", "exception", "wall_limit", "cpu_limit",
    "memory_limit", "output_limit", "call_limit", "disk_limit", "denied", "cancelled", "crashed"};

const char *vial_status_name(int status)
{
    return status >= 0 && (size_t)status < sizeof(STATUS_NAMES) / sizeof(STATUS_NAMES[0])
               ? STATUS_NAMES[status]
               : "unknown";
}

int result_new(const struct vial_limits *limits, const char *isolation_json,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_result *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a result");
    }
    r->limits = *limits;
    r->exit_code = -1;
    r->error = (struct vial_result_error)VIAL_RESULT_ERROR_INIT;
    r->usage = (struct vial_usage)VIAL_USAGE_INIT;
    buf_init(&r->output[0], limits->stdout_bytes_max);
    buf_init(&r->output[1], limits->stderr_bytes_max);
    r->isolation_json = strdup(isolation_json);
    if (r->isolation_json == NULL) {
        vial_result_free(r);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a result");
    }
    *ret = r;
    return VIAL_OK;
}

void vial_result_free(struct vial_result *result)
{
    if (result == NULL) {
        return;
    }
    free(result->payload);
    files_forget(result);
    result_artifacts_release(&result->artifacts);
    result_calls_release(&result->calls);
    result_findings_release(&result->findings);
    buf_release(&result->output[0]);
    buf_release(&result->output[1]);
    free(result->isolation_json);
    free(result->json);
    free(result->tagged);
    free(result);
}

/* Stores a field of a stack frame; -1 when it is malformed or out of place. */
static int take_frame_field(struct vial_result *result, const struct field *f)
{
    struct result_frame *frame =
        result->frames_count > 0 ? &result->frames[result->frames_count - 1] : NULL;

    if (f->tag == FIELD_FRAME_FUNCTION) {
        if (result->frames_count == RESULT_FRAMES_MAX) {
            return -1;
        }
        result->frames[result->frames_count++] =
            (struct result_frame){.function = f->bytes, .file = ""};
        return 0;
    }
    if (frame == NULL) {
        return -1;
    }
    switch (f->tag) {
    case FIELD_FRAME_FILE:
        frame->file = f->bytes;
        return 0;
    case FIELD_FRAME_LINE:
        return field_u32(f, &frame->line);
    default:
        return field_u32(f, &frame->column);
    }
}

/* Operations that were refused and are not in the list of calls. */
static int take_denials(struct vial_result *result, const struct field *f)
{
    uint32_t count = 0;

    if (field_u32(f, &count) < 0) {
        return -1;
    }
    result->calls.dropped += count;
    return 0;
}

/* Stores one field; -1 when it is malformed or out of place. */
static int take_field(struct vial_result *result, const struct field *f, uint32_t *outcome)
{
    uint32_t code;

    switch (f->tag) {
    case FIELD_OUTCOME:
        return field_u32(f, outcome);
    case FIELD_VALUE:
        result->value = f->bytes;
        result->value_len = f->len;
        return json_check(f->bytes, f->len, VALUE_DEPTH_MAX, NULL);
    case FIELD_VALUE_CBOR:
        result->cbor = f->bytes;
        result->cbor_len = f->len;
        return value_cbor_check(f->bytes, f->len, NULL);
    case FIELD_TEXT:
        result->text = f->bytes;
        result->text_len = f->len;
        return utf8_valid(f->bytes, f->len, NULL) ? 0 : -1;
    case FIELD_ERROR_NAME:
        result->error.name = f->bytes;
        return 0;
    case FIELD_ERROR_MESSAGE:
        result->error.message = f->bytes;
        return 0;
    case FIELD_ERROR_STACK:
        result->error.stack = f->bytes;
        return 0;
    case FIELD_ERROR_HINT:
        result->error.hint = f->len > 0 ? f->bytes : NULL;
        return 0;
    case FIELD_ERROR_FILE:
        result->error.file = f->bytes;
        return 0;
    case FIELD_ERROR_LINE:
        return field_u32(f, &result->error.line);
    case FIELD_ERROR_COLUMN:
        return field_u32(f, &result->error.column);
    case FIELD_FRAME_FUNCTION:
    case FIELD_FRAME_FILE:
    case FIELD_FRAME_LINE:
    case FIELD_FRAME_COLUMN:
        return take_frame_field(result, f);
    case FIELD_EXIT_CODE:
        if (field_u32(f, &code) < 0 || code > EXIT_CODE_MAX) {
            return -1;
        }
        result->exit_code = (int)code;
        return 0;
    case FIELD_SESSION_FILES:
        if (f->len != sizeof(result->session_files)) {
            return -1;
        }
        memcpy(result->session_files, f->bytes, f->len);
        return 0;
    case FIELD_DENIALS:
        return take_denials(result, f);
    case FIELD_ENDED:
        result->ended = 1;
        return 0;
    case FIELD_LEFT_OUT:
        if (f->len != sizeof(result->left)) {
            return -1;
        }
        memcpy(result->left, f->bytes, f->len);
        return 0;
    default:
        return -1;
    }
}

static void forget(struct vial_result *result)
{
    files_forget(result);
    result->exit_code = -1;
    result->value = result->cbor = result->text = NULL;
    result->error = (struct vial_result_error)VIAL_RESULT_ERROR_INIT;
    result->frames_count = 0;
}

/* The scanner did not let it be evaluated; what it found came before. */
static void state_refused(struct vial_result *result)
{
    const struct result_finding *f = result_findings_gravest(&result->findings);

    result_state(result, VIAL_STATUS_DENIED, "ScanRefused", f != NULL ? f->advice : NULL,
        "the scanner refused the program, line %u: %.300s (%.64s)", f != NULL ? f->line : 0,
        f != NULL ? f->message : "", f != NULL ? f->id : "");
    result->error.line = f != NULL ? f->line : 0;
    result->error.file = f != NULL ? f->file : NULL;
    result->error.column = f != NULL ? f->column : 0;
    result->refused = 1;
}

int result_read(struct vial_result *result, char *payload, size_t len)
{
    uint32_t outcome = UINT32_MAX;
    struct field f;
    size_t at = 0;
    size_t end = len;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1) {
        /* A field ends where the tag of the next one is, which has just been read: room for a NUL.
         */
        payload[end] = '\0';
        end = at;
        if (take_field(result, &f, &outcome) < 0) {
            r = -1;
            break;
        }
    }
    if (r < 0 || outcome > OUTCOME_REFUSED ||
        ((outcome == OUTCOME_EXCEPTION || outcome == OUTCOME_MEMORY) &&
            (result->error.name == NULL || result->error.message == NULL))) {
        forget(result);
        return -1;
    }
    if (outcome == OUTCOME_OK) { /* whatever else came: a result is one or the other */
        result->error = (struct vial_result_error)VIAL_RESULT_ERROR_INIT;
        result->frames_count = 0;
        result->exit_code = result->exit_code >= 0 ? result->exit_code : 0;
    } else {
        result->value = result->cbor = result->text = NULL;
        result->exit_code = 1;
    }
    if (result->value != NULL) { /* a hostile cell may have sent both */
        result->cbor = NULL;
    }
    files_sort(result);
    result->payload = payload;
    result->payload_len = len;
    result->status = outcome == OUTCOME_OK       ? VIAL_STATUS_OK
                     : outcome == OUTCOME_MEMORY ? VIAL_STATUS_MEMORY_LIMIT
                                                 : VIAL_STATUS_EXCEPTION;
    if (outcome == OUTCOME_MEMORY && result->error.hint == NULL) {
        result->error.hint =
            "raise it with --memory-mb (memory_bytes_max), or keep less in memory at once";
    }
    if (outcome == OUTCOME_INTERRUPTED) { /* who asked for it says more */
        result->interrupted = 1;
        result_state(result, VIAL_STATUS_CANCELLED, "Cancelled", NULL, "the program was stopped");
    }
    if (outcome == OUTCOME_REFUSED) {
        state_refused(result);
    }
    return 0;
}

void result_state(struct vial_result *result, int status, const char *name, const char *hint,
    const char *format, ...)
{
    va_list ap;

    forget(result);
    result->status = status;
    va_start(ap, format);
    (void)vsnprintf(result->own_message, sizeof(result->own_message), format, ap);
    va_end(ap);
    result->error.name = name;
    result->error.message = result->own_message;
    result->error.hint = hint;
}

/* The engine tells no column for a script that it cannot read, but what it did not expect: where
 * that stands only once on the line, there it is. Columns count UTF-16 units. */
static uint32_t column_of_token(const char *message, const char *line)
{
    const char *open = strchr(message, '\'');
    const char *close = open != NULL ? strchr(open + 1, '\'') : NULL;
    size_t len = close != NULL ? (size_t)(close - open) - 1 : 0;
    const char *found, *p;
    uint32_t column = 1;

    if (strncmp(message, "Unexpected ", 11) != 0 || len == 0) {
        return 0;
    }
    found = memmem(line, strlen(line), open + 1, len);
    if (found == NULL || memmem(found + 1, strlen(found + 1), open + 1, len) != NULL) {
        return 0;
    }
    found -= found > line && found[-1] == '\'' ? 1 : 0; /* a string begins with its quote */
    for (p = line; p < found; p++) {
        unsigned char c = (unsigned char)*p;

        column += (c & 0xc0) != 0x80 ? (c >= 0xf0 ? 2U : 1U) : 0U;
    }
    return column;
}

void result_find_line(struct vial_result *result, const char *source, size_t len)
{
    const char *line = source;
    const char *end = source + len;
    const char *newline;
    uint32_t i;
    size_t n;

    if (result->error.line == 0) {
        return;
    }
    for (i = 1; i < result->error.line && line != NULL; i++) {
        line = memchr(line, '\n', (size_t)(end - line));
        line = line != NULL ? line + 1 : NULL;
    }
    if (line == NULL) {
        return;
    }
    newline = memchr(line, '\n', (size_t)(end - line));
    n = (size_t)((newline != NULL ? newline : end) - line);
    n = n < sizeof(result->own_source_line) ? n : sizeof(result->own_source_line) - 1;
    memcpy(result->own_source_line, line, n);
    if (n > 0 && result->own_source_line[n - 1] == '\r') {
        n--;
    }
    result->own_source_line[n] = '\0';
    result->error.source_line = result->own_source_line;
    if (result->error.column == 0 && result->error.name != NULL && result->error.message != NULL &&
        strcmp(result->error.name, "SyntaxError") == 0 && n + 1 < sizeof(result->own_source_line)) {
        result->error.column = column_of_token(result->error.message, result->own_source_line);
    }
}

void result_name_files(struct vial_result *result, const char *name)
{
    unsigned i;

    (void)snprintf(result->source_name, sizeof(result->source_name), "%s", name);
    if (result->error.line == 0) {
        result->error.file = NULL; /* nowhere in particular */
    } else if (result->error.file == NULL || result->error.file[0] == '\0') {
        result->error.file = result->source_name;
    }
    for (i = 0; i < result->frames_count; i++) {
        if (result->frames[i].file[0] == '\0') {
            result->frames[i].file = result->source_name;
        }
    }
}

size_t result_output(struct vial_result *result, int stream, const char *bytes, size_t len)
{
    int i = stream == VIAL_STDERR;
    struct buf *b = &result->output[i];
    size_t kept = len < b->max - b->len ? len : b->max - b->len;

    /* Without memory for it the output is lost like any other beyond a limit, and counted. */
    if (kept > 0 && buf_add(b, bytes, kept, NULL) < 0) {
        kept = 0;
    }
    result->dropped[i] += len - kept;
    return kept;
}

int vial_result_status(const struct vial_result *result)
{
    return result->status;
}

int vial_result_exit_code(const struct vial_result *result)
{
    return result->exit_code;
}

const char *vial_result_value(struct vial_result *result, size_t *len)
{
    const char *value = result->value;
    size_t n = result->value_len;
    struct buf out;

    if (value == NULL && result->cbor != NULL) {
        if (result->tagged == NULL) {
            buf_init(&out, TAGGED_BYTES_EXTRA + TAGGED_FACTOR * result->cbor_len);
            if (value_cbor_to_json(result->cbor, result->cbor_len, &out, NULL) < 0 ||
                buf_take(&out, &result->tagged, &result->tagged_len, NULL) < 0) {
                buf_release(&out);
            }
        }
        value = result->tagged;
        n = result->tagged_len;
    }
    if (len != NULL) {
        *len = value != NULL ? n : 0;
    }
    return value;
}

const char *vial_result_cbor(const struct vial_result *result, size_t *len)
{
    if (len != NULL) {
        *len = result->cbor != NULL ? result->cbor_len : 0;
    }
    return result->cbor;
}

const char *vial_result_text(const struct vial_result *result, size_t *len)
{
    if (len != NULL) {
        *len = result->text != NULL ? result->text_len : 0;
    }
    return result->text;
}

const char *vial_result_output(
    const struct vial_result *result, int stream, size_t *len, uint64_t *dropped)
{
    int i = stream == VIAL_STDERR;

    if (len != NULL) {
        *len = result->output[i].len;
    }
    if (dropped != NULL) {
        *dropped = result->dropped[i];
    }
    return result->output[i].data != NULL ? result->output[i].data : "";
}

/* Copies as much of a struct as the caller, maybe compiled against an older header, has room for.
 */
static void copy_sized(void *to, uint32_t to_size, const void *from, size_t from_size)
{
    size_t n = to_size < from_size ? to_size : from_size;

    if (n <= sizeof(to_size)) {
        return;
    }
    memcpy((char *)to + sizeof(to_size), (const char *)from + sizeof(to_size), n - sizeof(to_size));
}

void vial_result_error(const struct vial_result *result, struct vial_result_error *error)
{
    copy_sized(error, error->size, &result->error, sizeof(result->error));
}

void vial_result_usage(const struct vial_result *result, struct vial_usage *usage)
{
    copy_sized(usage, usage->size, &result->usage, sizeof(result->usage));
}

int vial_result_session_lives(const struct vial_result *result)
{
    return result->session_lives;
}
