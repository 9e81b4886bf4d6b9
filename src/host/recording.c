/* recording.c - see recording.h.
 *
 * Every function that makes a part gives NULL when it cannot, and jansson takes such a NULL for a
 * failure of whatever it was to be added to: nothing is left out unseen. */
#include "host/recording.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/base64.h"
#include "base/error.h"
#include "policy/limits.h"

enum { REDACT_EXTRA_BYTES = 64 };

/* ---- the policy ---- */

int recording_settle(const char *permissions, size_t len, const struct permission *environment,
    char **ret, struct vial_error *err)
{
    json_t *root = permissions != NULL ? json_loadb(permissions, len, JSON_REJECT_DUPLICATES, NULL)
                                       : json_object();
    time_t now = time(NULL);
    uint64_t seed = 0;
    char at[32] = "", *text;
    struct tm utc;
    int r = 0;

    if (!json_is_object(root)) {
        json_decref(root);
        return vial__fail(err, VIAL_E_INVALID, "the permissions are not a JSON object");
    }
    if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed) ||
        gmtime_r(&now, &utc) == NULL || strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0) {
        json_decref(root);
        return vial__fail(
            err, VIAL_E_SYS, "there is no time, or no random number, to record a run with");
    }
    if (json_object_get(root, "clock") == NULL &&
        (environment == NULL || !environment->clock_is_set)) {
        r |= json_object_set_new(root, "clock", json_pack("{s:s}", "at", at));
    }
    if (json_object_get(root, "random") == NULL &&
        (environment == NULL || !environment->random_is_set)) {
        r |= json_object_set_new(
            root, "random", json_pack("{s:I}", "seed", (json_int_t)(seed >> 11)));
    }
    text = r == 0 ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (text == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for permissions");
    }
    *ret = text;
    return VIAL_OK;
}

/* ---- values ---- */

static json_t *bytes_of(const char *bytes, size_t len)
{
    char *text;
    json_t *json;

    if (bytes == NULL) {
        return json_null();
    }
    text = malloc(BASE64_ENCODED_BYTES(len) + 1);
    if (text == NULL) {
        return NULL;
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

static json_t *word_of(const char *text)
{
    return text_of(text, text != NULL ? strlen(text) : 0);
}

/* Adds what was made to the array; NULL, and the array is gone, when one of both is not there. */
static json_t *with(json_t *array, json_t *made)
{
    if (array == NULL || json_array_append_new(array, made) < 0) {
        json_decref(array);
        return NULL;
    }
    return array;
}

static json_t *strings_of(const char *const *items, size_t count)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; array != NULL && i < count; i++) {
        array = with(array, json_string(items[i]));
    }
    return array;
}

static json_t *files_of(const struct vial_request *q)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; array != NULL && i < q->files_count; i++) {
        const struct vial_file *f = &q->files[i];

        array = with(
            array, json_pack("{s:s, s:o, s:I}", "name", f->name, "base64",
                       bytes_of(f->len > 0 ? f->bytes : "", f->len), "mode", (json_int_t)f->mode));
    }
    return array;
}

static json_t *modules_of(const struct vial_request *q)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; array != NULL && i < q->module_count; i++) {
        array = with(array, json_pack("{s:s, s:s%}", "name", q->modules[i].name, "source",
                                q->modules[i].source, q->modules[i].source_len));
    }
    return array;
}

static json_t *rules_of(const struct vial_request *q)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; array != NULL && i < q->scan_rules_count; i++) {
        array = with(array, json_pack("{s:s, s:s%}", "name", q->scan_rules[i].name, "text",
                                q->scan_rules[i].text, q->scan_rules[i].len));
    }
    return array;
}

/* Of a tool what the program can notice: whoever answers it, the recording has the answers. */
static json_t *tool_of(const struct vial_tool *t)
{
    return json_pack("{s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I}", "name", t->name, "input",
        t->input_schema, "output", t->output_schema, "mode", (json_int_t)t->mode, "timeout_ms_max",
        (json_int_t)t->timeout_ms_max, "calls_max", (json_int_t)t->calls_max, "concurrency_max",
        (json_int_t)t->concurrency_max, "input_bytes_max", (json_int_t)t->input_bytes_max,
        "output_bytes_max", (json_int_t)t->output_bytes_max);
}

static json_t *tools_of(const struct vial_request *q)
{
    json_t *array = json_array();
    size_t i;

    for (i = 0; array != NULL && i < q->tools_count; i++) {
        array = with(array, tool_of(&q->tools[i]));
    }
    return array;
}

static json_t *limits_of(const struct vial_limits *limits)
{
    json_t *object = json_object();
    const struct limit_row *rows;
    size_t count, i;
    int r = 0;

    rows = limits_table(&count);
    for (i = 0; i < count && limits != NULL; i++) {
        r |= json_object_set_new(
            object, rows[i].field, json_integer((json_int_t)limits_get(limits, &rows[i])));
    }
    if (r != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- what is not to be written down ---- */

static int has_rules(const struct audit_rules *rules)
{
    return rules != NULL && rules->redact_count > 0;
}

/* Redacts the JSON text, which the caller frees. NULL on failure. */
static char *redact_text(
    const struct audit_rules *rules, const char *json, size_t len, struct vial_error *err)
{
    struct buf out;
    char *text = NULL;
    size_t text_len;

    buf_init(&out, AUDIT_REDACT_GROWTH * len + REDACT_EXTRA_BYTES);
    if (audit_redact_whole(rules, json, len, &out, err) < 0 ||
        buf_take(&out, &text, &text_len, err) < 0) {
        text = NULL;
    }
    buf_release(&out);
    return text;
}

/* The same for a member of an object, when it has it. 0, or -1. */
static int redact_member(
    const struct audit_rules *rules, json_t *object, const char *key, struct vial_error *err)
{
    const json_t *value = json_object_get(object, key);
    char *text, *redacted;
    int r;

    if (value == NULL || !has_rules(rules)) {
        return 0;
    }
    text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    redacted = text != NULL ? redact_text(rules, text, strlen(text), err) : NULL;
    r = redacted == NULL ? -1
                         : json_object_set_new(object, key,
                               json_loads(redacted, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
    free(text);
    free(redacted);
    return r;
}

static json_t *json_text_of(
    const struct audit_rules *rules, const char *json, size_t len, struct vial_error *err)
{
    char *redacted;
    json_t *made;

    if (json == NULL || !has_rules(rules)) {
        return text_of(json, len);
    }
    redacted = redact_text(rules, json, len, err);
    made = redacted != NULL ? json_string(redacted) : NULL;
    free(redacted);
    return made;
}

/* The document as text, without how its tools are done: headers have keys in them, and neither a
 * repetition nor whoever may see the run has a use for these. */
static json_t *document_of(const struct recording_parts *parts, struct vial_error *err)
{
    json_t *document, *made = NULL, *tool;
    char *text = NULL;
    size_t i;
    int r;

    if (parts->document == NULL) {
        return json_null();
    }
    document = json_loadb(parts->document, parts->document_len, JSON_ALLOW_NUL, NULL);
    json_array_foreach(json_object_get(document, "tools"), i, tool)
    {
        (void)json_object_del(tool, "http");
        (void)json_object_del(tool, "exec");
    }
    r = document == NULL ? -1 : redact_member(parts->rules, document, "env", err);
    r |= redact_member(parts->rules, document, "globals", err);
    text = r == 0 ? json_dumps(document, JSON_COMPACT) : NULL;
    made = text != NULL ? json_string(text) : NULL;
    json_decref(document);
    free(text);
    return made;
}

/* ---- the request ---- */

static json_t *request_of(const struct recording_parts *parts, struct vial_error *err)
{
    const struct vial_request *q = parts->request;
    json_t *root = json_pack("{s:i, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:b}", "vial_record",
        RECORDING_VERSION, "name", word_of(q->name), "source", text_of(q->source, q->source_len),
        "language", (json_int_t)q->language, "kind", (json_int_t)q->kind, "want_text",
        (json_int_t)q->want_text, "entry_is_main", (json_int_t)q->entry_is_main, "files_mode",
        (json_int_t)q->files_mode, "scan", (json_int_t)q->scan, "no_jit", parts->no_jit);
    int r = root == NULL ? -1 : 0;

    if (q->input_is_cbor != 0) {
        r |= json_object_set_new(root, "input_cbor", bytes_of(q->input, q->input_len));
    } else {
        r |= json_object_set_new(
            root, "input", json_text_of(parts->rules, q->input, q->input_len, err));
    }
    r |= json_object_set_new(root, "stdin", bytes_of(q->stdin_bytes, q->stdin_len));
    r |= json_object_set_new(root, "cwd", word_of(q->cwd));
    r |= json_object_set_new(root, "env", strings_of(q->env, q->env_count));
    r |= json_object_set_new(root, "args", strings_of(q->args, q->args_count));
    r |= json_object_set_new(root, "outs", strings_of(q->outs, q->outs_count));
    r |= json_object_set_new(root, "files", files_of(q));
    r |= json_object_set_new(root, "modules", modules_of(q));
    r |= json_object_set_new(root, "scan_rules", rules_of(q));
    r |= json_object_set_new(root, "limits", limits_of(q->limits));
    r |= json_object_set_new(
        root, "globals", json_text_of(parts->rules, q->globals, q->globals_len, err));
    r |= json_object_set_new(root, "permissions", text_of(q->permissions, q->permissions_len));
    r |= json_object_set_new(root, "environment", document_of(parts, err));
    if (parts->document == NULL) { /* else the document has them, and the run says who answers */
        r |= json_object_set_new(root, "tools", tools_of(q));
    }
    if (r != 0) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* ---- the outcome ---- */

/* Puts those members of from that are kept into a new object. */
static json_t *copy_of(const json_t *from, const char *const *kept, size_t count)
{
    json_t *copy = json_object();
    size_t i;
    int r = 0;

    for (i = 0; i < count; i++) {
        json_t *value = json_object_get(from, kept[i]);

        r |= value != NULL ? json_object_set(copy, kept[i], value) : 0;
    }
    if (r != 0) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

/* Of a call what does not depend on how long it took, and that as well when it is wanted. */
static json_t *call_of(
    const json_t *call, const struct audit_rules *rules, int with_times, struct vial_error *err)
{
    static const char *const kept[] = {
        "name", "status", "reason", "input", "output", "error", "start_us", "duration_us"};
    json_t *copy = copy_of(call, kept, with_times ? 8 : 6);

    if (copy != NULL &&
        (redact_member(rules, copy, "input", err) < 0 ||
            redact_member(rules, copy, "output", err) < 0 ||
            redact_member(rules, json_object_get(copy, "error"), "fields", err) < 0)) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

static json_t *calls_of(
    const json_t *calls, const struct audit_rules *rules, int with_times, struct vial_error *err)
{
    json_t *array = json_array();
    size_t i, count = json_array_size(calls);

    for (i = 0; array != NULL && i < count; i++) {
        array = with(array, call_of(json_array_get(calls, i), rules, with_times, err));
    }
    return array;
}

static json_t *outcome_of(struct vial_result *result, const struct audit_rules *rules,
    int with_times, struct vial_error *err)
{
    static const char *const kept[] = {
        "status", "exit_code", "value", "value_format", "error", "stdout", "stderr", "files"};
    json_error_t fault = {.text = "no memory"};
    json_t *whole, *root;
    const char *text;
    size_t len = 0;
    int r;

    text = vial_result_json(result, &len);
    whole = text != NULL ? json_loadb(text, len, JSON_ALLOW_NUL, &fault) : NULL;
    if (whole == NULL) { /* a number may be larger than readers of JSON take */
        (void)vial__fail(err, VIAL_E_INVALID, "its result cannot be read: %s", fault.text);
        return NULL;
    }
    root = copy_of(whole, kept, sizeof(kept) / sizeof(kept[0]));
    r = root == NULL ? -1 : redact_member(rules, root, "value", err);
    text = vial_result_text(result, &len);
    if (text != NULL) {
        r |= json_object_set_new(root, "text", json_stringn(text, len));
    }
    r |= json_object_set_new(
        root, "calls", calls_of(json_object_get(whole, "calls"), rules, with_times, err));
    json_decref(whole);
    if (r != 0) {
        json_decref(root);
        return NULL;
    }
    return root;
}

json_t *recording_outcome(
    struct vial_result *result, const struct audit_rules *rules, struct vial_error *err)
{
    return outcome_of(result, rules, 0, err);
}

/* ---- all of it ---- */

static int fail_large(uint64_t bytes, size_t max, struct vial_error *err)
{
    return vial__fail(err, VIAL_E_INVALID,
        "its recording would have at least %llu bytes; one may have %zu", (unsigned long long)bytes,
        max);
}

/* What was given takes at least so much: nothing is copied that cannot be kept. */
static uint64_t bytes_given(const struct recording_parts *parts)
{
    const struct vial_request *q = parts->request;
    uint64_t bytes = q->source_len + q->input_len + q->stdin_len + q->globals_len;
    size_t i;

    for (i = 0; i < q->files_count; i++) {
        bytes += q->files[i].len;
    }
    for (i = 0; i < q->module_count; i++) {
        bytes += q->modules[i].source_len;
    }
    return bytes;
}

static int dump(const json_t *root, size_t max, char **ret, size_t *ret_len, struct vial_error *err)
{
    size_t len = json_dumpb(root, NULL, 0, JSON_COMPACT);
    char *text;

    if (len > max) {
        return fail_large(len, max, err);
    }
    text = len > 0 ? malloc(len + 1) : NULL;
    if (text == NULL || json_dumpb(root, text, len, JSON_COMPACT) != len) {
        free(text);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a recording");
    }
    text[len] = '\0';
    *ret = text;
    *ret_len = len;
    return VIAL_OK;
}

int recording_write(const struct recording_parts *parts, struct vial_result *result, char **ret,
    size_t *ret_len, struct vial_error *err)
{
    struct vial_error why = {.code = 0};
    json_t *root, *outcome;
    int r;

    if (bytes_given(parts) > parts->bytes_max) {
        return fail_large(bytes_given(parts), parts->bytes_max, err);
    }
    if (has_rules(parts->rules) &&
        (parts->request->input_is_cbor != 0 || parts->request->want_text != 0)) {
        return vial__fail(err, VIAL_E_INVALID,
            "its environment redacts members by name, so its input and its value must be JSON");
    }
    root = request_of(parts, &why);
    outcome = root != NULL ? outcome_of(result, parts->rules, 1, &why) : NULL;
    if (outcome == NULL || json_object_set_new(root, "result", outcome) < 0) {
        json_decref(root);
        return why.code != 0
                   ? vial__fail(err, why.code, "%s", why.text)
                   : vial__fail(err, VIAL_E_INVALID,
                         "something of it is not UTF-8, or there is no memory for its recording");
    }
    r = dump(root, parts->bytes_max, ret, ret_len, err);
    json_decref(root);
    return r;
}
