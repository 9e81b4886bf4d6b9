/* record.c - see record.h.
 *
 * A recording is one JSON object: all of the request, the environment's document, and the outcome
 * with the arguments and answers of every call. Bytes that need not be text are base64. */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/fd.h"
#include "policy/limits.h"

static json_t *bytes_of(const char *bytes, size_t len)
{
    char *text = malloc(BASE64_ENCODED_BYTES(len) + 1);
    json_t *json;

    if (text == NULL || bytes == NULL) {
        free(text);
        return json_null();
    }
    base64_encode(bytes, len, text);
    json = json_stringn(text, BASE64_ENCODED_BYTES(len));
    free(text);
    return json;
}

static json_t *text_of(const char *text, size_t len)
{
    return text != NULL ? json_stringn(text, len) : json_null();
}

static json_t *strings_of(const char *const *items, size_t count)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < count; i++) {
        (void)json_array_append_new(array, json_string(items[i]));
    }
    return array;
}

static json_t *files_of(const struct vial_file *files, size_t count)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < count; i++) {
        (void)json_array_append_new(
            array, json_pack("{s:s, s:o, s:I}", "name", files[i].name, "base64",
                       bytes_of(files[i].bytes, files[i].len), "mode", (json_int_t)files[i].mode));
    }
    return array;
}

static json_t *modules_of(const struct vial_request *q)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; i < q->module_count; i++) {
        (void)json_array_append_new(
            array, json_pack("{s:s, s:s%}", "name", q->modules[i].name, "source",
                       q->modules[i].source, q->modules[i].source_len));
    }
    return array;
}

static json_t *limits_of(const struct vial_limits *limits)
{
    json_t *object = json_object();
    const struct limit_row *rows;
    size_t count, i;

    rows = limits_table(&count);
    for (i = 0; i < count && limits != NULL; i++) {
        (void)json_object_set_new(
            object, rows[i].field, json_integer((json_int_t)limits_get(limits, &rows[i])));
    }
    return object;
}

/* NULL when something of it is no text. */
static json_t *request_of(const struct vial_request *q, const struct run_env *e, int no_jit)
{
    json_t *root = json_pack("{s:i, s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:b}", "vial_record",
        RECORD_VERSION, "name", q->name, "source", text_of(q->source, q->source_len), "language",
        (json_int_t)q->language, "kind", (json_int_t)q->kind, "want_text", (json_int_t)q->want_text,
        "entry_is_main", (json_int_t)q->entry_is_main, "files_mode", (json_int_t)q->files_mode,
        "no_jit", no_jit);
    int r = root == NULL ? -1 : 0;

    r |= json_object_set_new(root, q->input_is_cbor != 0 ? "input_cbor" : "input",
        q->input_is_cbor != 0 ? bytes_of(q->input, q->input_len) : text_of(q->input, q->input_len));
    r |= json_object_set_new(root, "stdin", bytes_of(q->stdin_bytes, q->stdin_len));
    r |= json_object_set_new(root, "cwd", text_of(q->cwd, q->cwd != NULL ? strlen(q->cwd) : 0));
    r |= json_object_set_new(root, "env", strings_of(q->env, q->env_count));
    r |= json_object_set_new(root, "args", strings_of(q->args, q->args_count));
    r |= json_object_set_new(root, "outs", strings_of(q->outs, q->outs_count));
    r |= json_object_set_new(root, "files", files_of(q->files, q->files_count));
    r |= json_object_set_new(root, "modules", modules_of(q));
    r |= json_object_set_new(root, "limits", limits_of(q->limits));
    r |= json_object_set_new(root, "globals", text_of(q->globals, q->globals_len));
    r |= json_object_set_new(root, "permissions", text_of(q->permissions, q->permissions_len));
    r |= json_object_set_new(root, "environment", text_of(e->document, e->document_len));
    if (r != 0) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* Of a call what does not depend on how long it took. */
static json_t *calls_of(const json_t *calls, int with_times)
{
    static const char *const kept[] = {"name", "status", "reason", "input", "output", "error"};
    json_t *array = json_array(), *call, *copy;
    size_t i, k;

    json_array_foreach((json_t *)(uintptr_t)calls, i, call)
    {
        copy = json_object();
        for (k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
            if (json_object_get(call, kept[k]) != NULL) {
                (void)json_object_set(copy, kept[k], json_object_get(call, kept[k]));
            }
        }
        if (with_times) {
            (void)json_object_set(copy, "start_us", json_object_get(call, "start_us"));
            (void)json_object_set(copy, "duration_us", json_object_get(call, "duration_us"));
        }
        (void)json_array_append_new(array, copy);
    }
    return array;
}

static json_t *outcome_of(struct vial_result *result, int with_times)
{
    static const char *const kept[] = {
        "status", "exit_code", "value", "value_format", "error", "stdout", "stderr", "files"};
    json_t *whole, *root = json_object();
    const char *text;
    size_t len, i;

    text = vial_result_json(result, &len);
    whole = text != NULL ? json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) : NULL;
    if (whole == NULL || root == NULL) {
        json_decref(whole);
        json_decref(root);
        return NULL;
    }
    for (i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        if (json_object_get(whole, kept[i]) != NULL) {
            (void)json_object_set(root, kept[i], json_object_get(whole, kept[i]));
        }
    }
    text = vial_result_text(result, &len);
    if (text != NULL) {
        (void)json_object_set_new(root, "text", json_stringn(text, len));
    }
    (void)json_object_set_new(root, "calls", calls_of(json_object_get(whole, "calls"), with_times));
    json_decref(whole);
    return root;
}

json_t *record_outcome(struct vial_result *result)
{
    return outcome_of(result, 0);
}

int record_write(const char *path, const struct vial_request *q, const struct run_env *e,
    int no_jit, struct vial_result *result)
{
    json_t *root = request_of(q, e, no_jit);
    json_t *outcome = root != NULL ? outcome_of(result, 1) : NULL;
    char *text = NULL;
    int fd, code = 0;

    if (outcome == NULL || json_object_set_new(root, "result", outcome) < 0 ||
        (text = json_dumps(root, JSON_COMPACT)) == NULL) {
        json_decref(root);
        return cli_fail(EXIT_OUR_FAILURE, "the run cannot be recorded: something of it is not "
                                          "UTF-8, or there is no memory");
    }
    json_decref(root);
    /* Programs, their input and what tools answered are nobody else's business. */
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0) {
        code = cli_fail(EXIT_OUR_FAILURE, "cannot write %s: %s", path, strerrordesc_np(errno));
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    free(text);
    return code;
}
