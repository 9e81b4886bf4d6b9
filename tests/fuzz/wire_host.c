/* wire_host.c - frames as the host reads them from a cell, in every phase.
 *
 * The input is a phase, a way to cut the stream into pieces, and frames. A frame is either bytes as
 * they are, or a row of fields in a short form whose lengths are put right here: a fuzzer does not
 * often guess three lengths that fit into each other. Whatever comes of it, the result is JSON. */
#include "base/json.h"
#include "fuzz.h"
#include "host/result.h"
#include "host/run_files.h"
#include "policy/limits.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { STREAM_MAX = 1 << 20, FIELD_BYTES_MAX = 255 };

static const char *const OUTS[] = {"*", "**/*.txt", "data/[a-z]?"};

/* Which phase may follow which, as frame.h describes the life of a cell. */
static int may_follow(enum frame_phase before, uint8_t type, enum frame_phase after)
{
    switch (before) {
    case PHASE_BORN:
        return (type == FRAME_READY && after == PHASE_WAITING) ||
               (type == FRAME_BORN && after == PHASE_JOINING) ||
               ((type == FRAME_FAILED || type == FRAME_CANARY) && after == PHASE_DONE);
    case PHASE_JOINING:
        return type == FRAME_READY && after == PHASE_WAITING;
    case PHASE_WAITING:
        return type == FRAME_UNBORN && after == PHASE_WAITING;
    case PHASE_RUNNING:
        return (type == FRAME_FILE && after == PHASE_FILES) ||
               (type == FRAME_RESULT && after == PHASE_DONE) ||
               ((type == FRAME_STDOUT || type == FRAME_STDERR || type == FRAME_CALL ||
                    type == FRAME_ARTIFACT || type == FRAME_DENIED || type == FRAME_FINDINGS) &&
                   after == PHASE_RUNNING);
    case PHASE_FILES:
        return (type == FRAME_FILE && after == PHASE_FILES) ||
               (type == FRAME_RESULT && after == PHASE_DONE);
    case PHASE_DONE:
        return 0;
    }
    return 0;
}

/* Adds one frame of the input to the stream. */
static void add_frame(struct fuzz_input *in, struct buf *stream)
{
    struct frame_header header = {.type = (uint8_t)fuzz_byte(in)};
    unsigned fields = fuzz_byte(in) % 16;
    struct buf payload;
    size_t len;
    uint8_t tag;

    buf_init(&payload, STREAM_MAX);
    while (fields-- > 0 && in->left > 0) {
        tag = (uint8_t)fuzz_byte(in);
        len = fuzz_byte(in);
        len = len < in->left ? len : in->left;
        if (field_add(&payload, tag, in->at, len, NULL) < 0) {
            break;
        }
        in->at += len;
        in->left -= len;
    }
    header.len = (uint32_t)payload.len;
    if (buf_add(stream, &header, sizeof(header), NULL) == 0 && payload.len > 0) {
        (void)!buf_add(stream, payload.data, payload.len, NULL);
    }
    buf_release(&payload);
}

/* Does what the host does with a frame; -1 when it ends the run. */
static int take(struct vial_result *result, const struct vial_request *q, const struct frame *f)
{
    char *payload;

    if (f->type == FRAME_FILE) {
        return files_take(result, q, f->payload, f->len) == FILES_TAKEN ? 0 : -1;
    }
    if (f->type == FRAME_ARTIFACT) {
        return result_artifacts_take(&result->artifacts, f->payload, f->len) == ARTIFACTS_TAKEN
                   ? 0
                   : -1;
    }
    if (f->type == FRAME_FINDINGS) {
        return result_findings_take(&result->findings, f->payload, f->len) == FINDINGS_TAKEN ? 0
                                                                                             : -1;
    }
    if (f->type == FRAME_STDOUT || f->type == FRAME_STDERR) {
        (void)result_output(
            result, f->type == FRAME_STDERR ? VIAL_STDERR : VIAL_STDOUT, f->payload, f->len);
        return 0;
    }
    if (f->type != FRAME_RESULT) {
        return 0;
    }
    payload = malloc(f->len + 1);
    FUZZ_CHECK(payload != NULL, "there is no memory");
    memcpy(payload, f->payload, f->len);
    payload[f->len] = '\0';
    if (result->artifacts.is_open || result_read(result, payload, f->len) < 0) {
        free(payload);
        return -1;
    }
    return 0;
}

/* Reads the stream in pieces of this many bytes; how many frames were taken. */
static unsigned read_stream(const struct buf *stream, size_t piece, enum frame_phase phase,
    struct vial_result *result, const struct vial_request *q)
{
    const struct frame_limits limits = {.value_bytes_max = 1 << 16, .call_bytes_max = 1 << 16};
    struct buf in;
    enum frame_phase before;
    struct frame f;
    size_t at = 0, from = 0;
    unsigned count = 0;
    int r = 0;

    buf_init(&in, STREAM_MAX + 1);
    while (from < stream->len && r >= 0) {
        size_t n = piece < stream->len - from ? piece : stream->len - from;

        FUZZ_CHECK(buf_add(&in, stream->data + from, n, NULL) == 0, "there is no memory");
        from += n;
        do {
            before = phase;
            r = frame_next(&in, &at, &phase, &limits, &f);
            FUZZ_CHECK(r == 1 || phase == before, "a frame that is not there moves the phase");
            if (r == 1) {
                FUZZ_CHECK(may_follow(before, f.type, phase), "%d follows %d", phase, before);
                FUZZ_CHECK(at <= in.len && f.payload + f.len == in.data + at, "a frame's place");
                count++;
                r = result != NULL ? take(result, q, &f) : 0;
                r = r < 0 ? -1 : 1;
            }
        } while (r == 1);
        buf_consume(&in, at);
        at = 0;
    }
    buf_release(&in);
    return count;
}

static void check_result(struct vial_result *result)
{
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    const char *json;
    size_t len = 0, i;

    files_sort(result);
    result_find_line(result, "let a = 1;\nlet b = 2;\n", 22);
    result_name_files(result, "main.js");
    vial_result_error(result, &error);
    (void)vial_result_value(result, NULL);
    (void)vial_result_text(result, NULL);
    json = vial_result_json(result, &len);
    FUZZ_CHECK(json != NULL, "there is no result");
    FUZZ_CHECK(json_check(json, len, 1024, NULL) == 0, "the result is not JSON: %.300s", json);
    for (i = 0; i < len; i++) {
        FUZZ_CHECK(
            (unsigned char)json[i] >= 0x20, "the result holds the control character %d", json[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct vial_request q = VIAL_REQUEST_INIT;
    unsigned first = fuzz_byte(&in);
    enum frame_phase phase = (enum frame_phase)(first % (PHASE_JOINING + 1));
    size_t piece = 1 + fuzz_byte(&in);
    struct vial_result *result = NULL;
    struct vial_limits limits;
    struct buf stream;
    unsigned by_piece;

    q.outs = OUTS;
    q.outs_count = sizeof(OUTS) / sizeof(OUTS[0]);
    buf_init(&stream, STREAM_MAX);
    if (first >= 128) {
        (void)!buf_add(&stream, in.at, in.left, NULL);
    } else {
        while (in.left > 0) {
            add_frame(&in, &stream);
        }
    }
    FUZZ_CHECK(limits_resolve(NULL, &limits, NULL) == 0, "the default limits");
    limits.stdout_bytes_max = 100;
    limits.disk_bytes_max = 2000;
    FUZZ_CHECK(
        result_new(&limits, "{\"level\":\"full\"}", &result, NULL) == 0, "there is no memory");
    by_piece = read_stream(&stream, piece, phase, NULL, NULL);
    FUZZ_CHECK(read_stream(&stream, stream.len + 1, phase, NULL, NULL) == by_piece,
        "it depends on how the bytes come");
    (void)read_stream(&stream, piece, phase, result, &q);
    check_result(result);
    vial_result_free(result);
    buf_release(&stream);
    return 0;
}
