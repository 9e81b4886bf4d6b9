/* run_files.c - see run_files.h. */
#include "host/run_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/glob.h"
#include "base/name.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { MODE_BITS = 0777, MODE_DEFAULT = 0644 };

/* ---- in ---- */

static int add_strings(
    struct buf *fields, uint8_t tag, const char *const *list, size_t count, struct vial_error *err)
{
    size_t i;
    int r = VIAL_OK;

    for (i = 0; i < count && r == 0; i++) {
        r = field_add(fields, tag, list[i], strlen(list[i]), err);
    }
    return r;
}

size_t files_fields_bytes(const struct vial_request *q)
{
    size_t bytes = q->cwd != NULL ? strlen(q->cwd) + FIELD_HEAD_BYTES : 0;
    size_t i;

    for (i = 0; i < q->env_count; i++) {
        bytes += strlen(q->env[i]) + FIELD_HEAD_BYTES;
    }
    for (i = 0; i < q->args_count; i++) {
        bytes += strlen(q->args[i]) + FIELD_HEAD_BYTES;
    }
    for (i = 0; i < q->outs_count; i++) {
        bytes += strlen(q->outs[i]) + FIELD_HEAD_BYTES;
    }
    return bytes;
}

static int add_limits(const struct vial_limits *limits, struct buf *fields, struct vial_error *err)
{
    int r = field_add_u32(fields, FIELD_FILES_MAX, limits->files_max, err);

    r = r < 0 ? r : field_add_u64(fields, FIELD_DISK_MAX, limits->disk_bytes_max, err);
    return r < 0 ? r : field_add_u32(fields, FIELD_OPEN_FILES_MAX, limits->open_files_max, err);
}

int files_add_fields(const struct vial_request *q, const struct vial_limits *limits,
    struct buf *fields, struct vial_error *err)
{
    const char *name;
    size_t i, len;
    int r = add_strings(fields, FIELD_ENV, q->env, q->env_count, err);

    r = r < 0 ? r : add_strings(fields, FIELD_ARG, q->args, q->args_count, err);
    if (r == 0 && q->files_mode != VIAL_FILES_OFF) {
        r = add_limits(limits, fields, err);
    }
    for (i = 0; i < q->outs_count && r == 0; i++) {
        name = name_beneath(q->outs[i], strlen(q->outs[i]), FILE_NAME_ROOT, &len);
        r = field_add(fields, FIELD_OUT, name, len, err);
    }
    if (r == 0 && q->cwd != NULL) {
        name = name_beneath(q->cwd, strlen(q->cwd), FILE_NAME_ROOT, &len);
        r = len > 0 ? field_add(fields, FIELD_CWD, name, len, err) : 0;
    }
    return r;
}

/* One frame: with the name when it is the first of its file, and a piece of the bytes. */
static int send_piece(int sock, uint64_t until_us, const struct vial_file *file, size_t at,
    size_t piece, struct buf *frame)
{
    struct frame_header header = {.type = FRAME_FILE};
    struct iovec iov;
    const char *name;
    size_t len;
    int r;

    buf_clear(frame);
    r = buf_add(frame, &header, sizeof(header), NULL);
    if (at == 0) {
        name = name_beneath(file->name, strlen(file->name), FILE_NAME_ROOT, &len);
        r = r < 0 ? r : field_add(frame, FIELD_FILE_NAME, name, len, NULL);
        r = r < 0 ? r
                  : field_add_u32(frame, FIELD_FILE_MODE,
                        file->mode != 0 ? file->mode & MODE_BITS : MODE_DEFAULT, NULL);
    }
    r = r < 0 ? r
              : field_add(frame, FIELD_FILE_BYTES, piece > 0 ? file->bytes + at : "", piece, NULL);
    if (r < 0) {
        errno = ENOMEM;
        return -1;
    }
    header.len = (uint32_t)(frame->len - sizeof(header));
    memcpy(frame->data, &header, sizeof(header));
    iov = (struct iovec){.iov_base = frame->data, .iov_len = frame->len};
    return fd_send_until(sock, &iov, 1, until_us);
}

int files_send(const struct vial_request *q, int sock, uint64_t until_us)
{
    struct buf frame;
    size_t i, at, piece;
    int r = 0;

    buf_init(&frame, FRAME_HEADER_BYTES + FRAME_FILE_BYTES_MAX);
    for (i = 0; i < q->files_count && r == 0; i++) {
        at = 0;
        do {
            piece = q->files[i].len - at;
            piece = piece < FRAME_FILE_PIECE_BYTES ? piece : FRAME_FILE_PIECE_BYTES;
            r = send_piece(sock, until_us, &q->files[i], at, piece, &frame);
            at += piece;
        } while (at < q->files[i].len && r == 0);
    }
    buf_release(&frame);
    return r;
}

/* ---- out ---- */

static int was_asked_for(const struct vial_request *q, const char *name, size_t len)
{
    const char *pattern;
    size_t i, pattern_len;

    for (i = 0; i < q->outs_count; i++) {
        pattern = name_beneath(q->outs[i], strlen(q->outs[i]), FILE_NAME_ROOT, &pattern_len);
        if (glob_match(pattern, pattern_len, name, len)) {
            return 1;
        }
    }
    return 0;
}

static int is_known(const struct vial_result *result, const char *name, size_t len)
{
    unsigned i;

    for (i = 0; i < result->files_count; i++) {
        if (strncmp(result->files[i].name, name, len) == 0 && result->files[i].name[len] == '\0') {
            return 1;
        }
    }
    return 0;
}

static enum files_taken begin_file(
    struct vial_result *result, const struct vial_request *q, const char *name, size_t len)
{
    struct result_file *file, *grown;

    if (result->files_count >= FILES_OUT_MAX || name_fault(name, len) != NULL ||
        !was_asked_for(q, name, len) || is_known(result, name, len)) {
        return FILES_MALFORMED;
    }
    grown = realloc(result->files, (result->files_count + 1) * sizeof(*grown));
    if (grown == NULL) {
        return FILES_NOMEM;
    }
    result->files = grown;
    file = &grown[result->files_count];
    *file = (struct result_file){.name = strndup(name, len), .mode = MODE_DEFAULT};
    if (file->name == NULL) {
        return FILES_NOMEM;
    }
    buf_init(&file->bytes, result->limits.disk_bytes_max);
    result->files_count++;
    return FILES_TAKEN;
}

static enum files_taken take_field(
    struct vial_result *result, const struct vial_request *q, const struct field *f)
{
    struct result_file *file =
        result->files_count > 0 ? &result->files[result->files_count - 1] : NULL;

    if (f->tag == FIELD_FILE_NAME) {
        return begin_file(result, q, f->bytes, f->len);
    }
    if (file == NULL) {
        return FILES_MALFORMED;
    }
    if (f->tag == FIELD_FILE_MODE && field_u32(f, &file->mode) == 0) {
        file->mode &= MODE_BITS;
        return FILES_TAKEN;
    }
    if (f->tag != FIELD_FILE_BYTES ||
        f->len > result->limits.disk_bytes_max - result->files_bytes) {
        return FILES_MALFORMED;
    }
    if (buf_add(&file->bytes, f->bytes, f->len, NULL) < 0) {
        return FILES_NOMEM;
    }
    result->files_bytes += f->len;
    return FILES_TAKEN;
}

enum files_taken files_take(
    struct vial_result *result, const struct vial_request *q, const char *payload, size_t len)
{
    enum files_taken taken = FILES_TAKEN;
    struct field f;
    size_t at = 0;
    int r;

    while ((r = field_next(payload, len, &at, &f)) == 1 && taken == FILES_TAKEN) {
        taken = take_field(result, q, &f);
    }
    return r < 0 ? FILES_MALFORMED : taken;
}

static int compare_names(const void *a, const void *b)
{
    const struct result_file *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void files_sort(struct vial_result *result)
{
    if (result->files_count > 1) {
        qsort(result->files, result->files_count, sizeof(*result->files), compare_names);
    }
}

void files_forget(struct vial_result *result)
{
    unsigned i;

    for (i = 0; i < result->files_count; i++) {
        free(result->files[i].name);
        buf_release(&result->files[i].bytes);
    }
    free(result->files);
    result->files = NULL;
    result->files_count = 0;
    result->files_bytes = 0;
    memset(result->left, 0, sizeof(result->left));
}

/* ---- the public functions ---- */

size_t vial_result_file_count(const struct vial_result *result)
{
    return result->files_count;
}

int vial_result_file(const struct vial_result *result, size_t index, struct vial_file *file)
{
    const struct result_file *from;

    if (index >= result->files_count) {
        return VIAL_E_INVALID;
    }
    from = &result->files[index];
    *file = (struct vial_file){.name = from->name,
        .bytes = from->bytes.len > 0 ? from->bytes.data : "",
        .len = from->bytes.len,
        .mode = from->mode};
    return VIAL_OK;
}

uint64_t vial_result_files_left_out(const struct vial_result *result)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < LEFT_COUNT; i++) {
        sum += result->left[i];
    }
    return sum;
}
