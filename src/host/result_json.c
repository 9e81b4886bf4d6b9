/* result_json.c - the one result object as text. The value is spliced in as the engine wrote it. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "host/result.h"
#include "policy/limits.h"

enum {
    JSON_EXTRA_BYTES = 1024 * 1024, /* everything but value and output, generously */
    JSON_FIRST_BYTES = 3000,        /* and what it has in most cases */
};

static void put_text(struct json_writer *w, const char *key, const char *text)
{
    json_key(w, key);
    if (text != NULL) {
        json_text(w, text);
    } else {
        json_write_null(w);
    }
}

static void put_number(struct json_writer *w, const char *key, uint64_t v)
{
    json_key(w, key);
    json_u64(w, v);
}

/* The engine tells no column for a script that it cannot read. */
static void put_position(struct json_writer *w, const char *key, uint32_t v)
{
    json_key(w, key);
    if (v != 0) {
        json_u64(w, v);
    } else {
        json_write_null(w);
    }
}

static void put_error(struct json_writer *w, const struct vial_result *r)
{
    unsigned i;

    json_key(w, "error");
    if (r->error.name == NULL) {
        json_write_null(w);
        return;
    }
    json_begin_object(w);
    put_text(w, "name", r->error.name);
    put_text(w, "message", r->error.message);
    put_text(w, "stack", r->error.stack);
    put_text(w, "file", r->error.file);
    put_position(w, "line", r->error.line);
    put_position(w, "column", r->error.column);
    put_text(w, "source_line", r->error.source_line);
    json_key(w, "frames");
    json_begin_array(w);
    for (i = 0; i < r->frames_count; i++) {
        json_begin_object(w);
        put_text(w, "function", r->frames[i].function);
        put_text(w, "file", r->frames[i].file);
        put_number(w, "line", r->frames[i].line);
        put_number(w, "column", r->frames[i].column);
        json_end_object(w);
    }
    json_end_array(w);
    put_text(w, "hint", r->error.hint);
    json_end_object(w);
}

static void put_output(struct json_writer *w, const struct vial_result *r)
{
    json_key(w, "stdout");
    json_write_string(w, r->output[0].len > 0 ? r->output[0].data : "", r->output[0].len);
    json_key(w, "stderr");
    json_write_string(w, r->output[1].len > 0 ? r->output[1].data : "", r->output[1].len);
    json_key(w, "dropped");
    json_begin_object(w);
    put_number(w, "stdout", r->dropped[0]);
    put_number(w, "stderr", r->dropped[1]);
    json_end_object(w);
}

static void put_usage(struct json_writer *w, const struct vial_result *r)
{
    json_key(w, "usage");
    json_begin_object(w);
    put_number(w, "wall_us", r->usage.wall_us);
    put_number(w, "cpu_us", r->usage.cpu_us);
    put_number(w, "memory_bytes_peak", r->usage.memory_bytes_peak);
    put_number(w, "queue_us", r->usage.queue_us);
    put_number(w, "host_us", r->usage.host_us);
    put_number(w, "approval_us", r->usage.approval_us);
    json_end_object(w);
}

static void put_exit_code(struct json_writer *w, const struct vial_result *r)
{
    json_key(w, "exit_code");
    if (r->exit_code >= 0) {
        json_i64(w, r->exit_code);
    } else {
        json_write_null(w);
    }
}

/* Names and sizes; the bytes are had by vial_result_file. */
static void put_files(struct json_writer *w, const struct vial_result *r)
{
    static const char *const reasons[LEFT_COUNT] = {
        "symlink", "special", "name", "deep", "many", "large", "unreadable"};
    unsigned i;

    json_key(w, "files");
    json_begin_array(w);
    for (i = 0; i < r->files_count; i++) {
        json_begin_object(w);
        put_text(w, "name", r->files[i].name);
        put_number(w, "size", r->files[i].bytes.len);
        json_end_object(w);
    }
    json_end_array(w);
    json_key(w, "files_left_out");
    json_begin_object(w);
    for (i = 0; i < LEFT_COUNT; i++) {
        if (r->left[i] > 0) {
            put_number(w, reasons[i], r->left[i]);
        }
    }
    json_end_object(w);
}

static void put_limits(struct json_writer *w, const struct vial_result *r)
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);

    json_key(w, "limits");
    json_begin_object(w);
    for (i = 0; i < count; i++) {
        put_number(w, rows[i].field, limits_get(&r->limits, &rows[i]));
    }
    json_end_object(w);
}

const char *vial_result_json(struct vial_result *r, size_t *len)
{
    const char *value;
    size_t value_len = 0;
    struct json_writer w;
    struct buf out;
    size_t names = 0;
    unsigned i;

    if (r->json == NULL) {
        for (i = 0; i < r->files_count; i++) {
            names += 2 * strlen(r->files[i].name) + 64;
        }
        value = vial_result_value(r, &value_len);
        buf_init(&out, JSON_EXTRA_BYTES + result_calls_bytes(&r->calls) +
                           result_findings_bytes(&r->findings) +
                           result_artifacts_bytes(&r->artifacts) + names + r->payload_len +
                           value_len + 6 * (r->output[0].len + r->output[1].len));
        (void)!buf_reserve(
            &out, JSON_FIRST_BYTES + value_len, NULL); /* if not, the writer says so */
        json_init(&w, &out, NULL);
        json_begin_object(&w);
        put_text(&w, "status", vial_status_name(r->status));
        put_exit_code(&w, r);
        if (value != NULL) {
            json_key(&w, "value");
            json_raw(&w, value, value_len);
            put_text(&w, "value_format", r->value != NULL ? "json" : "tagged");
        }
        put_error(&w, r);
        result_findings_write(&r->findings, r->source_name, &w);
        put_output(&w, r);
        result_calls_write(&r->calls, &w);
        put_files(&w, r);
        result_artifacts_write(&r->artifacts, &w);
        put_usage(&w, r);
        put_limits(&w, r);
        json_key(&w, "isolation");
        json_raw(&w, r->isolation_json, strlen(r->isolation_json));
        json_end_object(&w);
        if (json_finish(&w) < 0 || buf_take(&out, &r->json, &r->json_len, NULL) < 0) {
            buf_release(&out);
            return NULL;
        }
    }
    if (len != NULL) {
        *len = r->json_len;
    }
    return r->json;
}
