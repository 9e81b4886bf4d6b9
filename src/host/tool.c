/* tool.c - see tool.h. */
#include "host/tool.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "host/tool_exec.h"
#include "host/tool_http.h"
#include "policy/document_name.h"
#include "wire/field.h"

enum {
    TIMEOUT_MS_DEFAULT = 30000,
    TIMEOUT_MS_LIMIT = 24 * 3600 * 1000, /* as long as the longest run */
    DESCRIPTION_BYTES_MAX = 16384,
    TOOL_SIZE_MAX = 4096, /* a larger one is a struct that nobody initialised */
};

static int check_kind(const struct vial_tool *t, struct vial_error *err)
{
    int ways = (t->call != NULL) + (t->url != NULL) + (t->command != NULL);
    int r = VIAL_OK;

    if (ways != 1) {
        return vial__fail(err, VIAL_E_INVALID,
            "the tool %s needs exactly one of a function, a url and a command; it has %d", t->name,
            ways);
    }
    if (t->url != NULL) {
        r = tool_http_check(
            &(struct tool_http){
                .url = t->url, .headers = t->headers, .header_count = t->headers_count},
            err);
    } else if (t->command != NULL) {
        r = tool_exec_check(&(struct tool_exec){.command = t->command,
                                .command_count = t->command_count,
                                .env = t->command_env,
                                .env_count = t->command_env_count,
                                .cwd = t->command_cwd},
            err);
    }
    return r < 0 ? vial__wrap(err, r, "the tool %s", t->name) : VIAL_OK;
}

static int check_numbers(struct vial_tool *t, struct vial_error *err)
{
    if (t->mode > VIAL_TOOL_SYNC) {
        return vial__fail(err, VIAL_E_INVALID, "the tool %s: %u is no mode", t->name, t->mode);
    }
    if ((t->flags & ~(uint32_t)(VIAL_TOOL_INLINE | VIAL_TOOL_APPROVE | VIAL_TOOL_VALUES |
                                VIAL_TOOL_MODULES)) != 0) {
        return vial__fail(
            err, VIAL_E_INVALID, "the tool %s has flags that mean nothing: %u", t->name, t->flags);
    }
    if ((t->flags & VIAL_TOOL_MODULES) != 0 && t->mode != VIAL_TOOL_SYNC) {
        return vial__fail(
            err, VIAL_E_INVALID, "the tool %s gives modules, so it must be synchronous", t->name);
    }
    if (t->timeout_ms_max > TIMEOUT_MS_LIMIT) {
        return vial__fail(err, VIAL_E_INVALID,
            "the tool %s: timeout_ms_max is %u; it may be up to %d", t->name, t->timeout_ms_max,
            TIMEOUT_MS_LIMIT);
    }
    t->timeout_ms_max = t->timeout_ms_max != 0 ? t->timeout_ms_max : TIMEOUT_MS_DEFAULT;
    if (t->description != NULL && (strlen(t->description) > DESCRIPTION_BYTES_MAX ||
                                      !utf8_valid(t->description, strlen(t->description), NULL))) {
        return vial__fail(err, VIAL_E_INVALID,
            "the description of the tool %s must be UTF-8 of up to %d bytes", t->name,
            DESCRIPTION_BYTES_MAX);
    }
    return VIAL_OK;
}

static int compile(const char *json, const char *name, const char *which, struct schema **ret,
    struct vial_error *err)
{
    int r;

    if (json == NULL) {
        return VIAL_OK;
    }
    r = schema_compile(json, strlen(json), ret, err);
    return r < 0 ? vial__wrap(err, r, "the %s schema of the tool %s", which, name) : VIAL_OK;
}

static int check_name(const char *name, struct vial_error *err)
{
    const char *fault = name != NULL ? tool_name_fault(name, strlen(name)) : "is missing";

    return fault == NULL ? VIAL_OK
                         : vial__fail(err, VIAL_E_INVALID, "the name of the tool \"%.128s\" %s",
                               name != NULL ? name : "", fault);
}

/* The same, or one is the object that the other is a member of. */
static int exclude_each_other(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || tool_name_is_above(a, b) || tool_name_is_above(b, a);
}

/* Takes one tool; what came before it is in the set already. */
static int add_tool(struct tool_set *set, const struct vial_tool *given, struct vial_error *err)
{
    struct tool *t = &set->tools[set->count];
    size_t i;
    int r;

    memset(t, 0, sizeof(*t));
    memcpy(&t->spec, given, given->size < sizeof(t->spec) ? given->size : sizeof(t->spec));
    r = check_name(t->spec.name, err);
    for (i = 0; r == VIAL_OK && i < set->count; i++) {
        if (exclude_each_other(set->tools[i].spec.name, t->spec.name)) {
            r = vial__fail(err, VIAL_E_INVALID, "the tools %s and %s exclude each other",
                set->tools[i].spec.name, t->spec.name);
        }
    }
    r = r < 0 ? r : check_kind(&t->spec, err);
    r = r < 0 ? r : check_numbers(&t->spec, err);
    set->count++; /* from here on what it owns goes with the set */
    r = r < 0 ? r : compile(t->spec.input_schema, t->spec.name, "input", &t->input, err);
    return r < 0 ? r : compile(t->spec.output_schema, t->spec.name, "output", &t->output, err);
}

int tool_given(
    const struct vial_tool *tools, size_t index, struct vial_tool *ret, struct vial_error *err)
{
    const struct vial_tool *t;

    if (tools->size < offsetof(struct vial_tool, call) || tools->size > TOOL_SIZE_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a tool must begin as VIAL_TOOL_INIT");
    }
    t = (const struct vial_tool *)(const void *)((const char *)tools + index * tools->size);
    memset(ret, 0, sizeof(*ret));
    memcpy(ret, t, tools->size < sizeof(*ret) ? tools->size : sizeof(*ret));
    return VIAL_OK;
}

int tool_set_new(
    const struct vial_tool *tools, size_t count, struct tool_set **ret, struct vial_error *err)
{
    struct tool_set *set;
    struct vial_tool given;
    size_t i;
    int r = VIAL_OK;

    if (count > VIAL_TOOLS_MAX || (count > 0 && tools == NULL)) {
        return vial__fail(err, VIAL_E_INVALID, "there are %zu tools; there may be up to %d", count,
            VIAL_TOOLS_MAX);
    }
    set = calloc(1, sizeof(*set));
    if (set != NULL) {
        set->references = 1;
        set->tools = calloc(count > 0 ? count : 1, sizeof(*set->tools));
    }
    if (set == NULL || set->tools == NULL) {
        free(set);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for tools");
    }
    for (i = 0; r == VIAL_OK && i < count; i++) {
        r = tool_given(tools, i, &given, err);
        r = r < 0 ? r : add_tool(set, &given, err);
    }
    if (r < 0) {
        tool_set_unref(set);
        return r;
    }
    *ret = set;
    return VIAL_OK;
}

static struct tool *find(struct tool_set *set, const char *name)
{
    size_t i;

    for (i = 0; name != NULL && i < set->count; i++) {
        if (strcmp(set->tools[i].spec.name, name) == 0) {
            return &set->tools[i];
        }
    }
    return NULL;
}

/* Takes over who does it. */
static int rebind(struct tool *t, const struct vial_tool *given, struct vial_error *err)
{
    t->spec.call = given->call;
    t->spec.user = given->user;
    t->spec.url = given->url;
    t->spec.headers = given->headers;
    t->spec.headers_count = given->headers_count;
    t->spec.command = given->command;
    t->spec.command_count = given->command_count;
    t->spec.command_env = given->command_env;
    t->spec.command_env_count = given->command_env_count;
    t->spec.command_cwd = given->command_cwd;
    t->spec.flags =
        (t->spec.flags & ~(uint32_t)VIAL_TOOL_INLINE) | (given->flags & VIAL_TOOL_INLINE);
    return check_kind(&t->spec, err);
}

int tool_set_rebind(struct tool_set *base, const struct vial_tool *tools, size_t count,
    struct tool_set **ret, struct vial_error *err)
{
    struct tool_set *set = calloc(1, sizeof(*set));
    struct vial_tool given;
    struct tool *t;
    size_t i;
    int r = VIAL_OK;

    if (set != NULL) {
        set->references = 1;
        set->tools = calloc(base->count, sizeof(*set->tools));
    }
    if (set == NULL || set->tools == NULL) {
        free(set);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for tools");
    }
    memcpy(set->tools, base->tools, base->count * sizeof(*set->tools));
    set->count = base->count;
    set->base = tool_set_ref(base);
    for (i = 0; r == VIAL_OK && i < count; i++) {
        r = tool_given(tools, i, &given, err);
        t = r < 0 ? NULL : find(set, given.name);
        r = r < 0       ? r
            : t == NULL ? vial__fail(err, VIAL_E_INVALID, "the environment declares no tool %s",
                              given.name != NULL ? given.name : "without a name")
                        : rebind(t, &given, err);
    }
    if (r < 0) {
        tool_set_unref(set);
        return r;
    }
    *ret = set;
    return VIAL_OK;
}

struct tool_set *tool_set_ref(struct tool_set *set)
{
    (void)__atomic_add_fetch(&set->references, 1, __ATOMIC_RELAXED);
    return set;
}

void tool_set_unref(struct tool_set *set)
{
    size_t i;

    if (set == NULL || __atomic_sub_fetch(&set->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (i = 0; set->base == NULL && i < set->count; i++) {
        schema_free(set->tools[i].input);
        schema_free(set->tools[i].output);
    }
    tool_set_unref(set->base);
    free(set->tools);
    free(set);
}

static int add_fields(const struct tool *t, struct buf *fields, struct vial_error *err)
{
    uint32_t bits = (t->spec.mode == VIAL_TOOL_SYNC ? TOOL_BIT_SYNC : 0U) |
                    ((t->spec.flags & VIAL_TOOL_VALUES) != 0 ? TOOL_BIT_VALUES : 0U) |
                    ((t->spec.flags & VIAL_TOOL_MODULES) != 0 ? TOOL_BIT_MODULES : 0U) |
                    (t->input != NULL && schema_is_object(t->input) ? TOOL_BIT_OBJECT : 0U);
    size_t count = t->input != NULL ? schema_property_count(t->input) : 0;
    size_t start = fields->len;
    size_t i;
    int r;

    r = field_add(fields, FIELD_TOOL, &bits, sizeof(bits), err);
    r = r < 0 ? r : buf_add(fields, t->spec.name, strlen(t->spec.name) + 1, err);
    for (i = 0; r == VIAL_OK && i < count; i++) {
        const char *name = schema_property_name(t->input, i);

        r = buf_add(fields, name, strlen(name) + 1, err);
    }
    if (r == VIAL_OK) { /* the whole length is known now */
        field_head(
            fields->data + start, FIELD_TOOL, (uint32_t)(fields->len - start - FIELD_HEAD_BYTES));
    }
    return r;
}

int tool_set_add_fields(const struct tool_set *set, struct buf *fields, struct vial_error *err)
{
    size_t i;
    int r = VIAL_OK;

    for (i = 0; r == VIAL_OK && i < set->count; i++) {
        r = add_fields(&set->tools[i], fields, err);
    }
    return r;
}
