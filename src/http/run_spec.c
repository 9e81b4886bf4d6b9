/* run_spec.c - see run_spec.h. */
#include "http/run_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "policy/limits.h"

/* Memory of the spec, in a list. */
struct spec_block {
    struct spec_block *next;
    max_align_t bytes[];
};

void *run_spec_alloc(struct run_spec *spec, size_t size)
{
    struct spec_block *block = calloc(1, sizeof(*block) + size);

    if (block == NULL) {
        return NULL;
    }
    block->next = spec->blocks;
    spec->blocks = block;
    return block->bytes;
}

/* ---- values ---- */

static int no_memory(struct vial_error *err)
{
    return vial__fail(err, VIAL_E_NOMEM, "no memory for a request");
}

/* A copy that ends in NUL. */
static int copy_bytes(
    struct run_spec *spec, const char *bytes, size_t len, char **ret, struct vial_error *err)
{
    char *copy;

    if (memchr(bytes, '\0', len) != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a name or a word has a NUL character in it");
    }
    copy = run_spec_alloc(spec, len + 1);
    if (copy == NULL) {
        return no_memory(err);
    }
    memcpy(copy, bytes, len);
    *ret = copy;
    return VIAL_OK;
}

static int copy_text(struct run_spec *spec, uint32_t at, char **ret, struct vial_error *err)
{
    const struct tree_value *v = &spec->tree.values[at];

    return copy_bytes(spec, v->text, v->len, ret, err);
}

static int is_true(const struct run_spec *spec, uint32_t at)
{
    return at != 0 && spec->tree.values[at].kind == TREE_TRUE;
}

/* The value as JSON text: a string is written anew, for the tree has it decoded. */
static int raw_json(
    struct run_spec *spec, uint32_t at, const char **ret, size_t *ret_len, struct vial_error *err)
{
    const struct tree_value *v = &spec->tree.values[at];
    struct json_writer w;
    struct buf out;
    char *copy;

    *ret = v->text;
    *ret_len = v->len;
    if (v->kind != TREE_STRING) {
        return VIAL_OK;
    }
    buf_init(&out, (size_t)v->len * 6 + 64);
    json_init(&w, &out, err);
    json_write_string(&w, v->text, v->len);
    if (json_finish(&w) < 0) {
        return err != NULL ? err->code : VIAL_E_NOMEM;
    }
    copy = run_spec_alloc(spec, out.len + 1);
    if (copy != NULL) {
        memcpy(copy, out.data, out.len);
        *ret = copy;
        *ret_len = out.len;
    }
    buf_release(&out);
    return copy != NULL ? VIAL_OK : no_memory(err);
}

static int read_u64(const struct tree_value *v, uint64_t *ret)
{
    uint64_t n = 0;
    uint32_t i;

    for (i = 0; i < v->len; i++) {
        if (v->text[i] < '0' || v->text[i] > '9' || __builtin_mul_overflow(n, 10U, &n) ||
            __builtin_add_overflow(n, (uint64_t)(v->text[i] - '0'), &n)) {
            return -1;
        }
    }
    *ret = n;
    return v->kind == TREE_NUMBER ? 0 : -1;
}

/* ---- members ---- */

static int take_language(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    static const struct {
        const char *name;
        uint32_t language;
    } rows[] = {{"javascript", VIAL_LANGUAGE_JAVASCRIPT}, {"typescript", VIAL_LANGUAGE_TYPESCRIPT},
        {"python", VIAL_LANGUAGE_PYTHON}, {"js", VIAL_LANGUAGE_JAVASCRIPT},
        {"ts", VIAL_LANGUAGE_TYPESCRIPT}, {"py", VIAL_LANGUAGE_PYTHON}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tree_is_text(&spec->tree.values[at], rows[i].name)) {
            spec->request.language = rows[i].language;
            return VIAL_OK;
        }
    }
    return vial__fail(err, VIAL_E_INVALID, "/language: must be javascript, typescript or python");
}

static int take_code(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->request.source = spec->tree.values[at].text;
    spec->request.source_len = spec->tree.values[at].len;
    return VIAL_OK;
}

static int take_name(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    char *name = NULL;
    int r = copy_text(spec, at, &name, err);

    spec->request.name = name;
    return r;
}

static int take_input(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return raw_json(spec, at, &spec->request.input, &spec->request.input_len, err);
}

static int take_limits(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);

    for (i = 0; i < count; i++) {
        uint32_t member = tree_member(t, at, rows[i].field);
        uint64_t v = 0;

        if (member == 0) {
            continue;
        }
        if (read_u64(&t->values[member], &v) < 0 || v < rows[i].min || v > rows[i].max) {
            return vial__fail(err, VIAL_E_INVALID,
                "/limits/%s: must be a whole number from %llu to %llu", rows[i].field,
                (unsigned long long)rows[i].min, (unsigned long long)rows[i].max);
        }
        limits_put(&spec->limits, &rows[i], v);
    }
    spec->request.limits = &spec->limits;
    return VIAL_OK;
}

/* The texts of an array. */
static int take_words(struct run_spec *spec, uint32_t at, const char *const **ret,
    size_t *ret_count, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    char **words = run_spec_alloc(spec, (t->values[at].count + 1) * sizeof(*words));
    size_t count = 0;
    uint32_t i;

    if (words == NULL) {
        return no_memory(err);
    }
    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, i)) {
        int r = copy_text(spec, i, &words[count++], err);

        if (r < 0) {
            return r;
        }
    }
    *ret = (const char *const *)words;
    *ret_count = count;
    return VIAL_OK;
}

static int take_args(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return take_words(spec, at, &spec->request.args, &spec->request.args_count, err);
}

static int take_outs(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return take_words(spec, at, &spec->request.outs, &spec->request.outs_count, err);
}

static int take_env(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    char **words = run_spec_alloc(spec, (t->values[at].count + 1) * sizeof(*words));
    size_t count = 0;
    uint32_t i, value;

    if (words == NULL) {
        return no_memory(err);
    }
    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, value)) {
        const struct tree_value *name = &t->values[i], *text;
        char *word;

        value = tree_next(t, i);
        text = &t->values[value];
        word = run_spec_alloc(spec, (size_t)name->len + text->len + 2);
        if (word == NULL) {
            return no_memory(err);
        }
        if (memchr(name->text, '=', name->len) != NULL ||
            memchr(name->text, '\0', name->len) != NULL ||
            memchr(text->text, '\0', text->len) != NULL) {
            return vial__fail(
                err, VIAL_E_INVALID, "/env: a name has a = in it, or something has a NUL");
        }
        memcpy(word, name->text, name->len);
        word[name->len] = '=';
        memcpy(word + name->len + 1, text->text, text->len);
        words[count++] = word;
    }
    spec->request.env = (const char *const *)words;
    spec->request.env_count = count;
    return VIAL_OK;
}

static int take_cwd(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    char *cwd = NULL;
    int r = copy_text(spec, at, &cwd, err);

    spec->request.cwd = cwd;
    return r;
}

static int take_stdin(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->request.stdin_bytes = spec->tree.values[at].text;
    spec->request.stdin_len = spec->tree.values[at].len;
    return VIAL_OK;
}

static int take_modules(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    struct vial_module *modules =
        run_spec_alloc(spec, (t->values[at].count + 1) * sizeof(*modules));
    size_t count = 0;
    uint32_t i, value;

    if (modules == NULL) {
        return no_memory(err);
    }
    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, value)) {
        char *name = NULL;
        int r = copy_text(spec, i, &name, err);

        if (r < 0) {
            return r;
        }
        value = tree_next(t, i);
        modules[count++] = (struct vial_module){
            .name = name, .source = t->values[value].text, .source_len = t->values[value].len};
    }
    spec->request.modules = modules;
    spec->request.module_count = count;
    return VIAL_OK;
}

/* Text, or {"base64": ...}. */
static int take_file(struct run_spec *spec, uint32_t name, uint32_t value, struct vial_file *file,
    struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    uint32_t encoded = tree_member(t, value, "base64");
    const struct tree_value *v = &t->values[encoded != 0 ? encoded : value];
    const char *fault;
    char *text = NULL, *bytes;
    int r = copy_text(spec, name, &text, err);

    if (r < 0) {
        return r;
    }
    *file = (struct vial_file){.name = text, .bytes = v->text, .len = v->len};
    if (encoded == 0) {
        return VIAL_OK;
    }
    bytes = run_spec_alloc(spec, BASE64_DECODED_MAX((size_t)v->len) + 1);
    if (bytes == NULL) {
        return no_memory(err);
    }
    fault = base64_decode(v->text, v->len, bytes, &file->len);
    if (fault != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "/files/%.200s/base64: %s", text, fault);
    }
    file->bytes = bytes;
    return VIAL_OK;
}

static int take_files(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    struct vial_file *files = run_spec_alloc(spec, (t->values[at].count + 1) * sizeof(*files));
    size_t count = 0;
    uint32_t i, value;

    if (files == NULL) {
        return no_memory(err);
    }
    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, value)) {
        int r;

        value = tree_next(t, i);
        r = take_file(spec, i, value, &files[count++], err);
        if (r < 0) {
            return r;
        }
    }
    spec->request.files = files;
    spec->request.files_count = count;
    return VIAL_OK;
}

int run_spec_add_file(struct run_spec *spec, const char *name, size_t name_len, char *bytes,
    size_t len, struct vial_error *err)
{
    size_t count = spec->request.files_count;
    struct vial_file *files = run_spec_alloc(spec, (count + 1) * sizeof(*files));
    char *text = NULL, *copy = run_spec_alloc(spec, len + 1);
    int r = copy_bytes(spec, name, name_len, &text, err);

    if (r < 0) {
        return r;
    }
    if (files == NULL || copy == NULL) {
        return no_memory(err);
    }
    if (count > 0) {
        memcpy(files, spec->request.files, count * sizeof(*files));
    }
    memcpy(copy, bytes, len);
    files[count] = (struct vial_file){.name = text, .bytes = copy, .len = len};
    spec->request.files = files;
    spec->request.files_count = count + 1;
    return VIAL_OK;
}

static int take_kind(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree_value *v = &spec->tree.values[at];

    (void)err;
    spec->request.kind = tree_is_text(v, "script")   ? VIAL_KIND_SCRIPT
                         : tree_is_text(v, "module") ? VIAL_KIND_MODULE
                                                     : VIAL_KIND_AUTO;
    return VIAL_OK;
}

static int take_entry(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->request.entry_is_main = tree_is_text(&spec->tree.values[at], "main") ? 1 : 0;
    return VIAL_OK;
}

static int take_environment(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return copy_text(spec, at, &spec->environment, err);
}

static int take_globals(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return raw_json(spec, at, &spec->request.globals, &spec->request.globals_len, err);
}

static int take_permissions(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return raw_json(spec, at, &spec->request.permissions, &spec->request.permissions_len, err);
}

static int take_net(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return raw_json(spec, at, &spec->request.net, &spec->request.net_len, err);
}

static int take_scan(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree_value *v = &spec->tree.values[at];

    (void)err;
    spec->request.scan = tree_is_text(v, "warn")    ? VIAL_SCAN_WARN
                         : tree_is_text(v, "block") ? VIAL_SCAN_BLOCK
                         : tree_is_text(v, "only")  ? VIAL_SCAN_ONLY
                                                    : VIAL_SCAN_AUTO;
    return VIAL_OK;
}

static int take_record_calls(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->request.record_calls = is_true(spec, at) ? 1 : 0;
    return VIAL_OK;
}

static int take_record(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->record = is_true(spec, at);
    return VIAL_OK;
}

static int take_detach(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->detach = is_true(spec, at);
    return VIAL_OK;
}

static int take_stream(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    (void)err;
    spec->stream = is_true(spec, at);
    return VIAL_OK;
}

static int take_agent(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return copy_text(spec, at, &spec->agent, err);
}

static int take_callback_url(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return copy_text(spec, at, &spec->callback_url, err);
}

static int take_callback_secret(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    return copy_text(spec, at, &spec->callback_secret, err);
}

/* ---- tools that the client answers ---- */

static uint64_t number_of(const struct run_spec *spec, uint32_t tool, const char *name)
{
    uint32_t at = tree_member(&spec->tree, tool, name);
    uint64_t v = 0;

    return at != 0 && read_u64(&spec->tree.values[at], &v) == 0 ? v : 0;
}

static int take_tool(
    struct run_spec *spec, uint32_t at, struct vial_tool *tool, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    static const struct {
        const char *name;
        size_t offset;
    } texts[] = {{"name", offsetof(struct vial_tool, name)},
        {"description", offsetof(struct vial_tool, description)},
        {"input", offsetof(struct vial_tool, input_schema)},
        {"output", offsetof(struct vial_tool, output_schema)}};
    uint32_t mode;
    size_t i;

    *tool = (struct vial_tool)VIAL_TOOL_INIT;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        uint32_t member = tree_member(t, at, texts[i].name);
        char *text = NULL;
        int r = member != 0 ? copy_text(spec, member, &text, err) : 0;

        if (r < 0) {
            return r;
        }
        memcpy((char *)tool + texts[i].offset, &text, sizeof(text));
    }
    mode = tree_member(t, at, "mode");
    tool->mode =
        mode != 0 && tree_is_text(&t->values[mode], "sync") ? VIAL_TOOL_SYNC : VIAL_TOOL_ASYNC;
    tool->flags = VIAL_TOOL_INLINE;
    if (is_true(spec, tree_member(t, at, "approve"))) {
        tool->flags |= VIAL_TOOL_APPROVE;
    }
    tool->timeout_ms_max = (uint32_t)number_of(spec, at, "timeout_ms");
    tool->calls_max = (uint32_t)number_of(spec, at, "calls_max");
    tool->concurrency_max = (uint32_t)number_of(spec, at, "concurrency_max");
    tool->input_bytes_max = number_of(spec, at, "input_bytes_max");
    tool->output_bytes_max = number_of(spec, at, "output_bytes_max");
    return VIAL_OK;
}

static int take_tools(struct run_spec *spec, uint32_t at, struct vial_error *err)
{
    const struct tree *t = &spec->tree;
    uint32_t i;

    spec->tools = run_spec_alloc(spec, (t->values[at].count + 1) * sizeof(*spec->tools));
    if (spec->tools == NULL) {
        return no_memory(err);
    }
    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, i)) {
        int r = take_tool(spec, i, &spec->tools[spec->tools_count], err);

        if (r < 0) {
            return r;
        }
        spec->tools_count++;
    }
    return VIAL_OK;
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    int (*take)(struct run_spec *spec, uint32_t at, struct vial_error *err);
} MEMBERS[] = {
    {"code", take_code},
    {"language", take_language},
    {"name", take_name},
    {"input", take_input},
    {"limits", take_limits},
    {"args", take_args},
    {"outs", take_outs},
    {"env", take_env},
    {"cwd", take_cwd},
    {"stdin", take_stdin},
    {"modules", take_modules},
    {"files", take_files},
    {"kind", take_kind},
    {"entry", take_entry},
    {"environment", take_environment},
    {"globals", take_globals},
    {"permissions", take_permissions},
    {"net", take_net},
    {"scan", take_scan},
    {"tools", take_tools},
    {"record_calls", take_record_calls},
    {"record", take_record},
    {"detach", take_detach},
    {"stream", take_stream},
    {"agent", take_agent},
    {"callback_url", take_callback_url},
    {"callback_secret", take_callback_secret},
};

static int take_member(struct run_spec *spec, uint32_t name, struct vial_error *err)
{
    uint32_t value = tree_next(&spec->tree, name);
    size_t i;

    for (i = 0; i < sizeof(MEMBERS) / sizeof(MEMBERS[0]); i++) {
        if (tree_is_text(&spec->tree.values[name], MEMBERS[i].name)) {
            return MEMBERS[i].take(spec, value, err);
        }
    }
    return VIAL_OK; /* what the schema allows and others read */
}

int run_spec_read(struct run_spec *spec, char *body, size_t len, struct vial_error *err)
{
    uint32_t i;
    int r;

    *spec = (struct run_spec){.request = VIAL_REQUEST_INIT, .limits = VIAL_LIMITS_INIT};
    spec->body = body;
    spec->body_len = len;
    r = tree_read(&spec->tree, body, len, err);
    if (r < 0) {
        spec->tree.values = NULL;
        return r;
    }
    if (spec->tree.values[0].kind != TREE_OBJECT) {
        return vial__fail(err, VIAL_E_INVALID, "the body must be an object");
    }
    for (i = tree_first(0); i != tree_end(&spec->tree, 0);
         i = tree_next(&spec->tree, tree_next(&spec->tree, i))) {
        r = take_member(spec, i, err);
        if (r < 0) {
            return r;
        }
    }
    return VIAL_OK;
}

void run_spec_release(struct run_spec *spec)
{
    struct spec_block *next;

    if (spec->tree.values != NULL) {
        tree_release(&spec->tree);
    }
    while (spec->blocks != NULL) {
        next = spec->blocks->next;
        free(spec->blocks);
        spec->blocks = next;
    }
    free(spec->body);
    *spec = (struct run_spec){.body = NULL};
}
