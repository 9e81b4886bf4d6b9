/* request.c - a request of the library from an object that js/request.js has made.
 *
 * What people give is checked there, with names and places; here a wrong type is a bug of ours and
 * only has to be harmless. */
#include "binding.h"

#include <stddef.h>
#include <string.h>

enum { LIST_COUNT_MAX = 100000 }; /* of files, variables, arguments: more is a mistake */

napi_value named(napi_env env, napi_value object, const char *name)
{
    napi_value value = NULL;

    return napi_get_named_property(env, object, name, &value) == napi_ok ? value : NULL;
}

int is_missing(napi_env env, napi_value value)
{
    napi_valuetype type = napi_undefined;

    return value == NULL || napi_typeof(env, value, &type) != napi_ok || type == napi_undefined ||
           type == napi_null;
}

static int copy_string(
    napi_env env, struct arena *a, napi_value value, const char **ret, size_t *ret_len)
{
    size_t len = 0;
    char *bytes;

    if (napi_get_value_string_utf8(env, value, NULL, 0, &len) != napi_ok) {
        return -1;
    }
    bytes = arena_alloc(a, len + 1);
    if (bytes == NULL || napi_get_value_string_utf8(env, value, bytes, len + 1, &len) != napi_ok) {
        return -1;
    }
    *ret = bytes;
    if (ret_len != NULL) {
        *ret_len = len;
    }
    return 0;
}

int copy_bytes(napi_env env, struct arena *a, napi_value value, const char **ret, size_t *ret_len)
{
    bool is_buffer = false;
    void *data = NULL;
    size_t len = 0;
    char *bytes;

    *ret = NULL;
    if (is_missing(env, value)) {
        return 0;
    }
    if (napi_is_buffer(env, value, &is_buffer) != napi_ok || !is_buffer) {
        return copy_string(env, a, value, ret, ret_len);
    }
    if (napi_get_buffer_info(env, value, &data, &len) != napi_ok) {
        return -1;
    }
    bytes = arena_alloc(a, len + 1);
    if (bytes == NULL) {
        return -1;
    }
    if (len > 0) {
        memcpy(bytes, data, len);
    }
    *ret = bytes;
    *ret_len = len;
    return 0;
}

/* A member that is a text without NUL. */
static int take_text(
    napi_env env, struct arena *a, napi_value object, const char *name, const char **ret)
{
    napi_value value = named(env, object, name);
    size_t len = 0;

    if (is_missing(env, value)) {
        return 0;
    }
    return copy_string(env, a, value, ret, &len) == 0 && strlen(*ret) == len ? 0 : -1;
}

static int take_u32(napi_env env, napi_value object, const char *name, uint32_t *ret)
{
    napi_value value = named(env, object, name);

    return is_missing(env, value) || napi_get_value_uint32(env, value, ret) == napi_ok ? 0 : -1;
}

static int take_u64(napi_env env, napi_value object, const char *name, uint64_t *ret)
{
    napi_value value = named(env, object, name);
    int64_t n = 0;

    if (is_missing(env, value)) {
        return 0;
    }
    if (napi_get_value_int64(env, value, &n) != napi_ok || n < 0) {
        return -1;
    }
    *ret = (uint64_t)n;
    return 0;
}

/* The members of an array; *ret_count is 0 and *ret NULL when there is none. */
static int open_list(napi_env env, napi_value value, uint32_t *ret_count)
{
    bool is_array = false;

    *ret_count = 0;
    if (is_missing(env, value)) {
        return 0;
    }
    return napi_is_array(env, value, &is_array) == napi_ok && is_array &&
                   napi_get_array_length(env, value, ret_count) == napi_ok &&
                   *ret_count <= LIST_COUNT_MAX
               ? 0
               : -1;
}

static napi_value item(napi_env env, napi_value list, uint32_t i)
{
    napi_value value = NULL;

    return napi_get_element(env, list, i, &value) == napi_ok ? value : NULL;
}

static int take_texts(napi_env env, struct arena *a, napi_value object, const char *name,
    const char *const **ret, size_t *ret_count)
{
    napi_value list = named(env, object, name);
    uint32_t count;
    const char **texts;

    if (open_list(env, list, &count) < 0) {
        return -1;
    }
    if (count == 0) {
        return 0;
    }
    texts = arena_alloc(a, count * sizeof(*texts));
    if (texts == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t len = 0;

        if (copy_string(env, a, item(env, list, i), &texts[i], &len) < 0 ||
            strlen(texts[i]) != len) {
            return -1;
        }
    }
    *ret = texts;
    *ret_count = count;
    return 0;
}

/* [name, bytes, name, bytes, ...] */
static int take_files(napi_env env, struct request *q, napi_value object)
{
    napi_value list = named(env, object, "files");
    uint32_t count;
    struct vial_file *files;

    if (open_list(env, list, &count) < 0 || count % 2 != 0) {
        return -1;
    }
    if (count == 0) {
        return 0;
    }
    files = arena_alloc(q->arena, count / 2 * sizeof(*files));
    if (files == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        if (copy_string(env, q->arena, item(env, list, 2 * i), &files[i].name, NULL) < 0 ||
            copy_bytes(env, q->arena, item(env, list, 2 * i + 1), &files[i].bytes, &files[i].len) <
                0) {
            return -1;
        }
    }
    q->options.files = q->request.files = files;
    q->options.files_count = q->request.files_count = count / 2;
    return 0;
}

static int take_modules(napi_env env, struct request *q, napi_value object)
{
    napi_value list = named(env, object, "modules");
    uint32_t count;
    struct vial_module *modules;

    if (open_list(env, list, &count) < 0 || count % 2 != 0) {
        return -1;
    }
    if (count == 0) {
        return 0;
    }
    modules = arena_alloc(q->arena, count / 2 * sizeof(*modules));
    if (modules == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        if (copy_string(env, q->arena, item(env, list, 2 * i), &modules[i].name, NULL) < 0 ||
            copy_bytes(env, q->arena, item(env, list, 2 * i + 1), &modules[i].source,
                &modules[i].source_len) < 0) {
            return -1;
        }
    }
    q->options.modules = q->request.modules = modules;
    q->options.module_count = q->request.module_count = count / 2;
    return 0;
}

/* [name, number, name, number, ...] */
static int take_limits(napi_env env, struct request *q, napi_value object)
{
#define LIMIT(field) {#field, offsetof(struct vial_limits, field), sizeof(q->limits.field)},
    static const struct {
        const char *name;
        size_t offset, size;
    } fields[] = {
#include "limits.inc"
    };
#undef LIMIT
    napi_value limits = named(env, object, "limits");

    if (is_missing(env, limits)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        char *field = (char *)&q->limits + fields[i].offset;
        uint64_t large = 0;

        if (take_u64(env, limits, fields[i].name, &large) < 0 ||
            (fields[i].size == sizeof(uint32_t) && large > UINT32_MAX)) {
            return -1;
        }
        if (fields[i].size == sizeof(uint32_t)) {
            uint32_t small = (uint32_t)large;

            memcpy(field, &small, sizeof(small));
        } else {
            memcpy(field, &large, sizeof(large));
        }
    }
    q->options.limits = q->request.limits = &q->limits;
    return 0;
}

static int fill_tool(
    napi_env env, struct instance *in, struct arena *a, napi_value object, struct vial_tool *t)
{
    uint32_t number = 0;

    *t = (struct vial_tool)VIAL_TOOL_INIT;
    if (take_text(env, a, object, "name", &t->name) < 0 || t->name == NULL ||
        take_text(env, a, object, "description", &t->description) < 0 ||
        take_text(env, a, object, "input", &t->input_schema) < 0 ||
        take_text(env, a, object, "output", &t->output_schema) < 0 ||
        take_u32(env, object, "mode", &t->mode) < 0 ||
        take_u32(env, object, "flags", &t->flags) < 0 ||
        take_u32(env, object, "timeoutMs", &t->timeout_ms_max) < 0 ||
        take_u32(env, object, "callsMax", &t->calls_max) < 0 ||
        take_u32(env, object, "concurrencyMax", &t->concurrency_max) < 0 ||
        take_u64(env, object, "inputBytesMax", &t->input_bytes_max) < 0 ||
        take_u64(env, object, "outputBytesMax", &t->output_bytes_max) < 0 ||
        take_u32(env, object, "number", &number) < 0) {
        return -1;
    }
    t->flags |= VIAL_TOOL_INLINE; /* all it does in that thread is to tell Node's */
    t->call = tool_called;
    t->user = tool_user(in, number);
    return 0;
}

int tools_fill(napi_env env, struct instance *in, struct arena *a, napi_value list,
    const struct vial_tool **ret, size_t *ret_count)
{
    uint32_t count;
    struct vial_tool *tools;

    if (open_list(env, list, &count) < 0) {
        return -1;
    }
    if (count == 0) {
        return 0;
    }
    tools = arena_alloc(a, count * sizeof(*tools));
    if (tools == NULL) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (fill_tool(env, in, a, item(env, list, i), &tools[i]) < 0) {
            return -1;
        }
    }
    *ret = tools;
    *ret_count = count;
    return 0;
}

/* What a request and the options of a session have in common. */
static int take_shared(napi_env env, struct instance *in, napi_value object, struct request *q)
{
    struct vial_request *r = &q->request;

    if (take_limits(env, q, object) < 0 || take_files(env, q, object) < 0 ||
        take_modules(env, q, object) < 0 ||
        take_texts(env, q->arena, object, "env", &r->env, &r->env_count) < 0 ||
        tools_fill(env, in, q->arena, named(env, object, "tools"), &r->tools, &r->tools_count) <
            0 ||
        copy_bytes(env, q->arena, named(env, object, "globals"), &r->globals, &r->globals_len) <
            0 ||
        copy_bytes(env, q->arena, named(env, object, "permissions"), &r->permissions,
            &r->permissions_len) < 0 ||
        take_text(env, q->arena, object, "name", &r->name) < 0 ||
        take_u32(env, object, "language", &r->language) < 0 ||
        take_u32(env, object, "idleMs", &q->options.idle_ms_max) < 0 ||
        take_u32(env, object, "lifeMs", &q->options.life_ms_max) < 0) {
        return -1;
    }
    q->options.env = r->env;
    q->options.env_count = r->env_count;
    q->options.tools = r->tools;
    q->options.tools_count = r->tools_count;
    q->options.globals = r->globals;
    q->options.globals_len = r->globals_len;
    q->options.permissions = r->permissions;
    q->options.permissions_len = r->permissions_len;
    q->options.name = r->name;
    q->options.language = r->language;
    return 0;
}

static int take_own(napi_env env, napi_value object, struct request *q)
{
    struct vial_request *r = &q->request;
    struct arena *a = q->arena;

    return copy_bytes(env, a, named(env, object, "stdin"), &r->stdin_bytes, &r->stdin_len) < 0 ||
                   copy_bytes(env, a, named(env, object, "net"), &r->net, &r->net_len) < 0 ||
                   take_texts(env, a, object, "outs", &r->outs, &r->outs_count) < 0 ||
                   take_texts(env, a, object, "args", &r->args, &r->args_count) < 0 ||
                   take_text(env, a, object, "cwd", &r->cwd) < 0 ||
                   take_u32(env, object, "kind", &r->kind) < 0 ||
                   take_u32(env, object, "scan", &r->scan) < 0 ||
                   take_u32(env, object, "recordCalls", &r->record_calls) < 0 ||
                   take_u32(env, object, "main", &r->entry_is_main) < 0 ||
                   take_u32(env, object, "text", &r->want_text) < 0
               ? -1
               : 0;
}

/* What every program has. A property that is not there costs as much to look up as one that is. */
static int take_program(napi_env env, napi_value object, struct request *q)
{
    struct vial_request *r = &q->request;

    return copy_bytes(env, q->arena, named(env, object, "source"), &r->source, &r->source_len) <
                       0 ||
                   copy_bytes(
                       env, q->arena, named(env, object, "input"), &r->input, &r->input_len) < 0 ||
                   (r->input != NULL && take_u32(env, object, "inputIsCbor", &r->input_is_cbor) < 0)
               ? -1
               : 0;
}

int request_fill(napi_env env, struct instance *in, napi_value object, struct request *q)
{
    napi_value environment;
    bool is_pending = false;

    memset(q, 0, sizeof(*q));
    q->request = (struct vial_request)VIAL_REQUEST_INIT;
    q->options = (struct vial_session_options)VIAL_SESSION_OPTIONS_INIT;
    q->limits = (struct vial_limits)VIAL_LIMITS_INIT;
    q->arena = arena_new();
    if (q->arena != NULL && take_program(env, object, q) == 0) {
        if (is_missing(env, named(env, object, "more"))) {
            return 0;
        }
        q->has_more = 1;
    }
    if (q->has_more && take_shared(env, in, object, q) == 0 && take_own(env, object, q) == 0) {
        environment = named(env, object, "environment");
        if (is_missing(env, environment)) {
            return 0;
        }
        q->environment = handle_of(env, environment, HANDLE_ENVIRONMENT);
        if (q->environment != NULL) {
            handle_take(q->environment);
            q->options.environment = q->request.environment = q->environment->is.env;
            return 0;
        }
    }
    napi_is_exception_pending(env, &is_pending);
    if (!is_pending) {
        napi_throw_type_error(env, NULL, "an option has the wrong type, or there is no memory");
    }
    request_release(q);
    return -1;
}

void request_release(struct request *q)
{
    handle_drop(q->environment);
    arena_drop(q->arena);
    memset(q, 0, sizeof(*q));
}
