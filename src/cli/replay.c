/* replay.c - `vial replay`: repeats a run that was recorded, with the answers that its tools gave
 * then, and says where it first differs.
 *
 * The tools of the environment become functions of ours. Each call gets the answer of the first
 * recorded call of that name and with those arguments that has not been repeated, and answers come
 * in the order in which they came then: a program that races its calls sees the same winner. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "cli/cli.h"
#include "cli/record.h"
#include "policy/limits.h"

enum { SHOWN_BYTES = 200, TOOLS_MAX = VIAL_TOOLS_MAX };

/* A call of then. */
struct past {
    const char *name, *status;
    const json_t *input; /* or NULL */
    const json_t *call;  /* all of it */
    uint64_t ended_us;
    uint64_t id; /* of the call of now that repeats it; 0: none yet */
    int is_answered;
};

struct replay {
    json_t *root;
    struct past *pasts;
    size_t count;
    int has_strayed; /* a call was made that was not made then: order means nothing any more */
    struct vial_request request;
    struct vial_limits limits;
    struct vial_file *files;
    struct vial_module *modules;
    const char **strings[3];
    struct vial_tool *tools;
    char *document;
    char *decoded[3]; /* input, stdin, and a spare */
};

/* ---- the answers of then ---- */

static int reached_its_tool(const struct past *p)
{
    return strcmp(p->status, "ok") == 0 || strcmp(p->status, "failed") == 0 ||
           strcmp(p->status, "timeout") == 0;
}

static void answer(struct vial_engine *engine, struct past *p)
{
    const json_t *error = json_object_get(p->call, "error");
    const json_t *output = json_object_get(p->call, "output");
    const char *name = json_string_value(json_object_get(error, "name"));
    const char *message = json_string_value(json_object_get(error, "message"));
    json_t *fields = json_object_get(error, "fields");
    struct vial_error ignored;
    char *text;

    p->is_answered = 1;
    if (error != NULL) {
        text = fields != NULL ? json_dumps(fields, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        (void)!vial_call_fail(engine, p->id, name != NULL ? name : "Error",
            message != NULL ? message : "the call failed", text, &ignored);
    } else {
        text = output != NULL ? json_dumps(output, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
        (void)!vial_call_answer(engine, p->id, text, text != NULL ? strlen(text) : 0, &ignored);
    }
    free(text);
}

/* Must another call be answered before this one? */
static int must_wait(const struct replay *r, const struct past *p)
{
    size_t i;

    for (i = 0; i < r->count && !r->has_strayed; i++) {
        const struct past *other = &r->pasts[i];

        if (other != p && !other->is_answered && reached_its_tool(other) &&
            (other->ended_us < p->ended_us || (other->ended_us == p->ended_us && other < p))) {
            return 1;
        }
    }
    return 0;
}

static void answer_due(struct replay *r, struct vial_engine *engine)
{
    size_t i;
    int again = 1;

    while (again) {
        again = 0;
        for (i = 0; i < r->count; i++) {
            struct past *p = &r->pasts[i];

            if (p->id != 0 && !p->is_answered && reached_its_tool(p) && !must_wait(r, p)) {
                answer(engine, p);
                again = 1;
            }
        }
    }
}

static struct past *find_past(struct replay *r, const char *name, const json_t *input)
{
    size_t i;

    for (i = 0; i < r->count; i++) {
        struct past *p = &r->pasts[i];

        if (p->id == 0 && strcmp(p->name, name) == 0 &&
            (input == NULL || (p->input != NULL && json_equal(p->input, input)))) {
            return p;
        }
    }
    return NULL;
}

/* In the thread that waits for the run, like all calls of these tools. */
static void repeat(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct replay *r = user;
    json_t *input = json_loadb(call->args, call->args_len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    struct past *p = input != NULL ? find_past(r, call->name, input) : NULL;
    struct vial_error ignored;

    json_decref(input);
    if (p == NULL) {
        r->has_strayed = 1;
        p = find_past(r, call->name, NULL);
    }
    if (p != NULL) {
        p->id = call->id;
    } else {
        (void)!vial_call_fail(engine, call->id, "ReplayError",
            "this call was not made when the run was recorded", NULL, &ignored);
    }
    answer_due(r, engine);
}

/* ---- reading ---- */

static int broken(const char *what)
{
    return cli_fail(EXIT_USAGE, "this is no recording of `vial run --record`: %s", what);
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

static uint32_t number_in(const json_t *root, const char *key)
{
    json_int_t v = json_integer_value(json_object_get(root, key));

    return v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static int read_pasts(struct replay *r)
{
    const json_t *calls = json_object_get(json_object_get(r->root, "result"), "calls");
    size_t i;

    r->count = json_array_size(calls);
    r->pasts = calloc(r->count + 1, sizeof(*r->pasts));
    for (i = 0; r->pasts != NULL && i < r->count; i++) {
        const json_t *call = json_array_get(calls, i);
        struct past *p = &r->pasts[i];

        p->call = call;
        p->name = json_string_value(json_object_get(call, "name"));
        p->status = json_string_value(json_object_get(call, "status"));
        p->ended_us = (uint64_t)json_integer_value(json_object_get(call, "start_us")) +
                      (uint64_t)json_integer_value(json_object_get(call, "duration_us"));
        p->input = json_object_get(call, "input");
        if (p->name == NULL || p->status == NULL) {
            return broken("a call has no name");
        }
    }
    return r->pasts != NULL ? 0 : cli_fail(EXIT_OUR_FAILURE, "no memory for a recording");
}

static int read_strings(
    struct replay *r, const char *key, unsigned slot, const char *const **ret, size_t *ret_count)
{
    const json_t *array = json_object_get(r->root, key);
    size_t i, count = json_array_size(array);

    r->strings[slot] = calloc(count + 1, sizeof(char *));
    for (i = 0; r->strings[slot] != NULL && i < count; i++) {
        r->strings[slot][i] = json_string_value(json_array_get(array, i));
        if (r->strings[slot][i] == NULL) {
            return broken("a list has something that is no string");
        }
    }
    *ret = r->strings[slot];
    *ret_count = r->strings[slot] != NULL ? count : 0;
    return 0;
}

static int read_files(struct replay *r)
{
    const json_t *files = json_object_get(r->root, "files");
    const json_t *modules = json_object_get(r->root, "modules");
    size_t i, count = json_array_size(files), module_count = json_array_size(modules);

    r->files = calloc(count + 1, sizeof(*r->files));
    r->modules = calloc(module_count + 1, sizeof(*r->modules));
    if (r->files == NULL || r->modules == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a recording");
    }
    for (i = 0; i < count; i++) {
        const json_t *file = json_array_get(files, i);

        r->files[i].name = json_string_value(json_object_get(file, "name"));
        r->files[i].bytes = bytes_in(file, "base64", &r->files[i].len);
        r->files[i].mode = number_in(file, "mode");
        r->request.files_count++;
        if (r->files[i].name == NULL || r->files[i].bytes == NULL) {
            return broken("a file has no name or no bytes");
        }
    }
    for (i = 0; i < module_count; i++) {
        const json_t *module = json_array_get(modules, i);

        r->modules[i].name = json_string_value(json_object_get(module, "name"));
        r->modules[i].source = text_in(module, "source", &r->modules[i].source_len);
        if (r->modules[i].name == NULL || r->modules[i].source == NULL) {
            return broken("a module has no name or no source");
        }
    }
    r->request.files = r->files;
    r->request.modules = r->modules;
    r->request.module_count = module_count;
    return 0;
}

static void read_limits(struct replay *r)
{
    const json_t *object = json_object_get(r->root, "limits");
    const struct limit_row *rows;
    size_t count, i;

    r->limits = (struct vial_limits)VIAL_LIMITS_INIT;
    rows = limits_table(&count);
    for (i = 0; i < count; i++) {
        json_int_t v = json_integer_value(json_object_get(object, rows[i].field));

        limits_put(&r->limits, &rows[i], v > 0 ? (uint64_t)v : 0);
    }
    r->request.limits = &r->limits;
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
    if (q->name == NULL || q->source == NULL) {
        return broken("there is no program");
    }
    read_limits(r);
    code = read_strings(r, "env", 0, &q->env, &q->env_count);
    code = code != 0 ? code : read_strings(r, "args", 1, &q->args, &q->args_count);
    code = code != 0 ? code : read_strings(r, "outs", 2, &q->outs, &q->outs_count);
    code = code != 0 ? code : read_files(r);
    return code != 0 ? code : read_pasts(r);
}

/* The environment, with tools that we are the ones to answer. */
static int read_environment(struct replay *r, size_t *ret_tools_count)
{
    size_t len, i, count;
    const char *text = text_in(r->root, "environment", &len);
    json_t *document = text != NULL ? json_loadb(text, len, JSON_ALLOW_NUL, NULL) : NULL;
    json_t *tools = json_object_get(document, "tools");

    *ret_tools_count = 0;
    if (text == NULL) {
        return 0;
    }
    count = json_array_size(tools);
    r->tools = calloc(count + 1, sizeof(*r->tools));
    for (i = 0; r->tools != NULL && i < count; i++) {
        json_t *tool = json_array_get(tools, i);
        const char *name = json_string_value(json_object_get(tool, "name"));

        r->tools[i] = (struct vial_tool){.size = sizeof(*r->tools),
            .name = name != NULL ? strdup(name) : NULL,
            .call = repeat,
            .user = r,
            .flags = VIAL_TOOL_INLINE};
        (void)json_object_del(tool, "http");
        (void)json_object_del(tool, "exec");
        (void)json_object_del(tool, "approve");
        ++*ret_tools_count;
    }
    r->document = document != NULL ? json_dumps(document, JSON_COMPACT) : NULL;
    json_decref(document);
    return r->document != NULL && r->tools != NULL ? 0 : broken("its environment cannot be read");
}

/* ---- comparing ---- */

static char *shown(const json_t *value)
{
    char *text =
        value != NULL ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : strdup("nothing");

    if (text != NULL && strlen(text) > SHOWN_BYTES) {
        text[SHOWN_BYTES] = '\0';
    }
    return text;
}

static int differs(const char *where, const json_t *then, const json_t *now)
{
    char *a, *b;

    if (then == now || (then != NULL && now != NULL && json_equal(then, now))) {
        return 0;
    }
    a = shown(then);
    b = shown(now);
    (void)printf(
        "differs in %s:\n  then: %s\n  now:  %s\n", where, a != NULL ? a : "", b != NULL ? b : "");
    free(a);
    free(b);
    return 1;
}

static int calls_differ(const json_t *then, const json_t *now)
{
    static const char *const keys[] = {"name", "input", "reason", "output", "error"};
    size_t count = json_array_size(then), count_now = json_array_size(now), i, k;
    char where[64];

    for (i = 0; i < count && i < count_now; i++) {
        for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            (void)snprintf(where, sizeof(where), "calls[%zu].%s", i, keys[k]);
            if (differs(where, json_object_get(json_array_get(then, i), keys[k]),
                    json_object_get(json_array_get(now, i), keys[k]))) {
                return 1;
            }
        }
    }
    (void)snprintf(where, sizeof(where), "calls[%zu]", i);
    return differs(where, json_array_get(then, i), json_array_get(now, i));
}

/* First what happened first, as far as one can tell: calls, then output, then how it ended. */
static int compare(const struct replay *r, struct vial_result *result)
{
    static const char *const keys[] = {
        "stdout", "stderr", "status", "error", "value", "text", "exit_code", "files"};
    const json_t *then = json_object_get(r->root, "result");
    json_t *now = record_outcome(result);
    size_t i;
    int differ;

    if (now == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for the result");
    }
    differ = calls_differ(json_object_get(then, "calls"), json_object_get(now, "calls"));
    for (i = 0; i < sizeof(keys) / sizeof(keys[0]) && !differ; i++) {
        differ = differs(keys[i], json_object_get(then, keys[i]), json_object_get(now, keys[i]));
    }
    if (!differ) {
        (void)printf("the same: status %s, %zu calls\n",
            json_string_value(json_object_get(now, "status")), r->count);
    }
    json_decref(now);
    return differ ? EXIT_REFUSED : EXIT_FINE;
}

/* ---- the command ---- */

static int is_python(const struct replay *r)
{
    const char *end = strrchr(r->request.name, '.');

    return r->request.language == VIAL_LANGUAGE_PYTHON ||
           (end != NULL && strcmp(end, ".py") == 0) ||
           (r->document != NULL && strstr(r->document, "\"language\":\"python\"") != NULL);
}

static int run_again(struct replay *r, size_t tools_count)
{
    struct vial_engine_options eo = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine = NULL;
    struct vial_result *result = NULL;
    struct vial_env *env = NULL;
    struct vial_error err;
    int code = EXIT_FINE;

    eo.pool_count = eo.runs_max = 1;
    eo.quick = 1;
    eo.no_jit = json_is_true(json_object_get(r->root, "no_jit"));
    eo.for_sessions = r->document != NULL;
    eo.language = is_python(r) ? VIAL_LANGUAGE_PYTHON : VIAL_LANGUAGE_JAVASCRIPT;
    if (vial_engine_new(&eo, &engine, &err) < 0 ||
        (r->document != NULL && vial_env_new(engine, r->document, strlen(r->document), r->tools,
                                    tools_count, &env, &err) < 0)) {
        vial_engine_free(engine);
        return cli_fail_library(&err);
    }
    r->request.environment = env;
    if (vial_run(engine, &r->request, &result, &err) < 0) {
        code = cli_fail_library(&err);
    } else {
        code = compare(r, result);
    }
    vial_result_free(result);
    vial_env_free(env);
    vial_engine_free(engine);
    return code;
}

static void release(struct replay *r, size_t tools_count)
{
    size_t i;

    for (i = 0; i < tools_count; i++) {
        free((void *)(uintptr_t)r->tools[i].name);
    }
    for (i = 0; i < r->request.files_count && r->files != NULL; i++) {
        free((void *)(uintptr_t)r->files[i].bytes);
    }
    for (i = 0; i < 3; i++) {
        free(r->strings[i]);
        free(r->decoded[i]);
    }
    free(r->pasts);
    free(r->tools);
    free(r->files);
    free(r->modules);
    free(r->document);
    json_decref(r->root);
}

int cmd_replay(int argc, char **argv)
{
    static struct replay r;
    size_t len = 0, tools_count = 0;
    char *text = NULL;
    int code;

    if (argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
        (void)printf(
            "usage: vial replay FILE\n\n"
            "Repeats a run that `vial run --record FILE` has recorded, with the answers that "
            "its tools\ngave then, and says where it first differs: in its calls, its "
            "output or its value\n(docs/permissions.md).\n\n"
            "Exit codes: 0 the same, 1 it differs, 2 usage.\n");
        return EXIT_FINE;
    }
    if (argc != 1 || (argv[0][0] == '-' && argv[0][1] != '\0')) {
        return cli_fail(EXIT_USAGE, "give one recording: vial replay FILE");
    }
    code = cli_read_file(argv[0], RECORD_BYTES_MAX, "a recording", &text, &len);
    if (code != 0) {
        return code;
    }
    r.root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    free(text);
    code = number_in(r.root, "vial_record") == RECORD_VERSION ? read_request(&r)
                                                              : broken("it has no vial_record: 1");
    code = code != 0 ? code : read_environment(&r, &tools_count);
    code = code != 0 ? code : run_again(&r, tools_count);
    release(&r, tools_count);
    return code;
}
