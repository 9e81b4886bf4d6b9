/* replay_read.c - see replay.h. What a recording says is checked here and, like any other request,
 * by the library: the file may have come from anywhere. */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "cli/cli.h"
#include "cli/replay.h"
#include "host/catalog.h"
#include "host/recording.h"
#include "policy/limits.h"

enum { REDACT_EXTRA_BYTES = 64 };

static int broken(const struct replay *r, const char *why)
{
    return cli_fail(EXIT_USAGE, "%s is no recording, or is damaged: %s", r->what, why);
}

static int no_memory(void)
{
    return cli_fail(EXIT_OUR_FAILURE, "no memory for a recording");
}

static const char *text_in(const json_t *root, const char *key, size_t *ret_len)
{
    const json_t *v = json_object_get(root, key);

    *ret_len = json_string_length(v);
    return json_string_value(v);
}

static char *bytes_in(const json_t *root, const char *key, size_t *ret_len)
{
    size_t len;
    const char *text = text_in(root, key, &len);
    char *bytes = text != NULL ? malloc(BASE64_DECODED_MAX(len) + 1) : NULL;

    *ret_len = 0;
    if (bytes != NULL && base64_decode(text, len, bytes, ret_len) != NULL) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static uint64_t large_in(const json_t *root, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(root, key));

    return v >= 0 ? (uint64_t)v : 0;
}

static uint32_t number_in(const json_t *root, const char *key)
{
    uint64_t v = large_in(root, key);

    return v <= UINT32_MAX ? (uint32_t)v : 0;
}

static int read_pasts(struct replay *r)
{
    const json_t *result = json_object_get(r->root, "result");
    const json_t *calls = json_object_get(result, "calls");
    size_t i;

    if (!json_is_object(result)) {
        return broken(r, "it does not say how the run ended");
    }
    r->count = json_array_size(calls);
    r->pasts = calloc(r->count + 1, sizeof(*r->pasts));
    for (i = 0; r->pasts != NULL && i < r->count; i++) {
        const json_t *call = json_array_get(calls, i);
        struct past *p = &r->pasts[i];

        p->call = call;
        p->name = json_string_value(json_object_get(call, "name"));
        p->status = json_string_value(json_object_get(call, "status"));
        p->ended_us = large_in(call, "start_us") + large_in(call, "duration_us");
        p->input = json_object_get(call, "input");
        if (p->name == NULL || p->status == NULL) {
            return broken(r, "a call has no name");
        }
    }
    return r->pasts != NULL ? 0 : no_memory();
}

static int read_strings(
    struct replay *r, const char *key, unsigned slot, const char *const **ret, size_t *ret_count)
{
    const json_t *array = json_object_get(r->root, key);
    size_t i, count = json_array_size(array);

    r->strings[slot] = calloc(count + 1, sizeof(char *));
    if (r->strings[slot] == NULL) {
        return no_memory();
    }
    for (i = 0; i < count; i++) {
        r->strings[slot][i] = json_string_value(json_array_get(array, i));
        if (r->strings[slot][i] == NULL) {
            return broken(r, "a list has something that is no string");
        }
    }
    *ret = r->strings[slot];
    *ret_count = count;
    return 0;
}

static int read_files(struct replay *r)
{
    const json_t *files = json_object_get(r->root, "files");
    size_t i, count = json_array_size(files);

    r->files = calloc(count + 1, sizeof(*r->files));
    if (r->files == NULL) {
        return no_memory();
    }
    r->request.files = r->files;
    for (i = 0; i < count; i++) {
        const json_t *file = json_array_get(files, i);

        r->files[i].name = json_string_value(json_object_get(file, "name"));
        r->files[i].bytes = bytes_in(file, "base64", &r->files[i].len);
        r->files[i].mode = number_in(file, "mode");
        r->request.files_count++;
        if (r->files[i].name == NULL || r->files[i].bytes == NULL) {
            return broken(r, "a file has no name or no bytes");
        }
    }
    return 0;
}

static int read_modules(struct replay *r)
{
    const json_t *modules = json_object_get(r->root, "modules");
    size_t i, count = json_array_size(modules);

    r->modules = calloc(count + 1, sizeof(*r->modules));
    if (r->modules == NULL) {
        return no_memory();
    }
    for (i = 0; i < count; i++) {
        const json_t *module = json_array_get(modules, i);

        r->modules[i].name = json_string_value(json_object_get(module, "name"));
        r->modules[i].source = text_in(module, "source", &r->modules[i].source_len);
        if (r->modules[i].name == NULL || r->modules[i].source == NULL) {
            return broken(r, "a module has no name or no source");
        }
    }
    r->request.modules = r->modules;
    r->request.module_count = count;
    return 0;
}

static int read_rules(struct replay *r)
{
    const json_t *rules = json_object_get(r->root, "scan_rules");
    size_t i, count = json_array_size(rules);

    if (count > VIAL_SCAN_RULES_MAX) {
        return broken(r, "it has too many rules of the scanner");
    }
    r->rules = calloc(count + 1, sizeof(*r->rules));
    if (r->rules == NULL) {
        return no_memory();
    }
    for (i = 0; i < count; i++) {
        const json_t *file = json_array_get(rules, i);

        r->rules[i].name = json_string_value(json_object_get(file, "name"));
        r->rules[i].text = text_in(file, "text", &r->rules[i].len);
        if (r->rules[i].name == NULL || r->rules[i].text == NULL) {
            return broken(r, "rules of the scanner have no name or no text");
        }
    }
    r->request.scan = number_in(r->root, "scan");
    r->request.scan_rules = r->rules;
    r->request.scan_rules_count = (uint32_t)count;
    return 0;
}

static int read_limits(struct replay *r)
{
    const json_t *object = json_object_get(r->root, "limits");
    const struct limit_row *rows;
    size_t count, i;

    r->limits = (struct vial_limits)VIAL_LIMITS_INIT;
    rows = limits_table(&count);
    for (i = 0; i < count; i++) {
        uint64_t v = large_in(object, rows[i].field);

        if (v > rows[i].max) {
            return broken(r, "a limit is larger than it can be");
        }
        limits_put(&r->limits, &rows[i], v);
    }
    r->request.limits = &r->limits;
    return 0;
}

static int read_request(struct replay *r)
{
    struct vial_request *q = &r->request;
    const json_t *root = r->root;
    int code;

    q->size = sizeof(*q);
    q->name = json_string_value(json_object_get(root, "name"));
    q->source = text_in(root, "source", &q->source_len);
    q->input = text_in(root, "input", &q->input_len);
    if (q->input == NULL && json_is_string(json_object_get(root, "input_cbor"))) {
        r->decoded[0] = bytes_in(root, "input_cbor", &q->input_len);
        q->input = r->decoded[0];
        q->input_is_cbor = 1;
    }
    r->decoded[1] = bytes_in(root, "stdin", &q->stdin_len);
    q->stdin_bytes = r->decoded[1];
    q->cwd = json_string_value(json_object_get(root, "cwd"));
    q->globals = text_in(root, "globals", &q->globals_len);
    q->permissions = text_in(root, "permissions", &q->permissions_len);
    q->language = number_in(root, "language");
    q->kind = number_in(root, "kind");
    q->want_text = number_in(root, "want_text");
    q->entry_is_main = number_in(root, "entry_is_main");
    q->files_mode = number_in(root, "files_mode");
    q->record_calls = 1;
    if (q->source == NULL) {
        return broken(r, "there is no program");
    }
    code = read_limits(r);
    code = code != 0 ? code : read_strings(r, "env", 0, &q->env, &q->env_count);
    code = code != 0 ? code : read_strings(r, "args", 1, &q->args, &q->args_count);
    code = code != 0 ? code : read_strings(r, "outs", 2, &q->outs, &q->outs_count);
    code = code != 0 ? code : read_files(r);
    code = code != 0 ? code : read_modules(r);
    code = code != 0 ? code : read_rules(r);
    return code != 0 ? code : read_pasts(r);
}

/* ---- tools ---- */

/* Tools that we are the ones to answer. What they are is said here only where no environment says
 * it. */
static int read_tools(struct replay *r, const json_t *tools, vial_tool_fn call)
{
    size_t i, count = json_array_size(tools);
    int is_whole = r->document == NULL;

    if (count > VIAL_TOOLS_MAX) {
        return broken(r, "it has too many tools");
    }
    r->tools = calloc(count + 1, sizeof(*r->tools));
    if (r->tools == NULL) {
        return no_memory();
    }
    for (i = 0; i < count; i++) {
        const json_t *tool = json_array_get(tools, i);
        const char *name = json_string_value(json_object_get(tool, "name"));
        struct vial_tool *t = &r->tools[r->tools_count];

        *t = (struct vial_tool){.size = sizeof(*t),
            .name = name != NULL ? strdup(name) : NULL,
            .call = call,
            .user = r,
            .flags = VIAL_TOOL_INLINE};
        r->tools_count++;
        if (t->name == NULL) {
            return broken(r, "a tool has no name");
        }
        if (is_whole) { /* all of it stays in root */
            t->input_schema = json_string_value(json_object_get(tool, "input"));
            t->output_schema = json_string_value(json_object_get(tool, "output"));
            t->mode = number_in(tool, "mode");
            t->timeout_ms_max = number_in(tool, "timeout_ms_max");
            t->calls_max = number_in(tool, "calls_max");
            t->concurrency_max = number_in(tool, "concurrency_max");
            t->input_bytes_max = large_in(tool, "input_bytes_max");
            t->output_bytes_max = large_in(tool, "output_bytes_max");
        }
    }
    return 0;
}

static int read_environment(struct replay *r, vial_tool_fn call)
{
    size_t len, i;
    const char *text = text_in(r->root, "environment", &len);
    json_t *document = text != NULL ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *tools = json_object_get(document, "tools"), *tool;
    struct buf report;
    int code;

    if (text == NULL) {
        code = read_tools(r, json_object_get(r->root, "tools"), call);
        r->request.tools = r->tools;
        r->request.tools_count = r->tools_count;
        return code;
    }
    json_array_foreach(tools, i, tool)
    {
        (void)json_object_del(tool, "http"); /* recordings that were made by hand */
        (void)json_object_del(tool, "exec");
        (void)json_object_del(tool, "approve");
    }
    r->document = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    if (r->document == NULL ||
        catalog_parse(r->document, strlen(r->document), &r->read, &report, NULL) < 0) {
        code = broken(r, "its environment cannot be read");
    } else {
        code = read_tools(r, tools, call);
    }
    buf_release(&report);
    json_decref(document);
    return code;
}

/* ---- all of it ---- */

int replay_read(struct replay *r, const char *text, size_t len, vial_tool_fn call)
{
    int code;

    r->root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    if (r->root == NULL) {
        return broken(r, "it is not JSON");
    }
    if (number_in(r->root, "vial_record") != RECORDING_VERSION) {
        return broken(r, "it has no vial_record: 1");
    }
    code = read_request(r);
    return code != 0 ? code : read_environment(r, call);
}

void replay_release(struct replay *r)
{
    size_t i;

    for (i = 0; i < r->tools_count; i++) {
        free((void *)(uintptr_t)r->tools[i].name);
    }
    for (i = 0; i < r->request.files_count; i++) {
        free((void *)(uintptr_t)r->files[i].bytes);
    }
    for (i = 0; i < sizeof(r->strings) / sizeof(r->strings[0]); i++) {
        free(r->strings[i]);
    }
    for (i = 0; i < sizeof(r->decoded) / sizeof(r->decoded[0]); i++) {
        free(r->decoded[i]);
    }
    free(r->pasts);
    free(r->tools);
    free(r->files);
    free(r->modules);
    free(r->rules);
    free(r->document);
    free(r->permissions);
    document_free(r->read);
    json_decref(r->root);
}

json_t *replay_value(const struct replay *r, const char *json, size_t len)
{
    const struct audit_rules *rules = r->read != NULL ? &r->read->audit : NULL;
    json_t *value = NULL;
    struct buf out;

    if (rules == NULL || rules->redact_count == 0) {
        return json_loadb(json, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    }
    buf_init(&out, AUDIT_REDACT_GROWTH * len + REDACT_EXTRA_BYTES);
    if (audit_redact_whole(rules, json, len, &out, NULL) == 0) {
        value = json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    }
    buf_release(&out);
    return value;
}
