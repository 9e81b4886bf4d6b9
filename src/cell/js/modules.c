/* modules.c - see modules.h.
 *
 * The loader (prelude/modules.js) knows sources by their index among those that came with the run,
 * MAIN_INDEX being the program itself; so a source is a JavaScript string only once, rewritten. */
#include "cell/js/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cell/js/interrupt.h"
#include "code/module.h"
#include "code/prepare.h"
#include "code/session.h"
#include "code/specifier.h"
#include "code/typescript.h"

enum { MAIN_INDEX = -1 };

enum { GIVEN_BYTES_MAX = 64 << 20 }; /* of a module that a tool gave: as many as an answer has */

/* What readModule gives instead of a kind when there is no text to run. */
enum { READ_FAULT = -1, READ_REFUSED = -2 };

/* Where in the array of readModule what is. */
enum {
    READ_KIND,
    READ_ASYNC,
    READ_TEXT,
    READ_EDITS,
    READ_REQUESTS,
    READ_IMPORTS,
    READ_EXPORTS,
    READ_IMPORT_CALLS,
    READ_LINES,
    READ_EARLIER,   /* insertions that were made before ours, in the text that we have read */
    READ_FUNCTIONS, /* of an evaluation only: a text that comes first, and its insertions */
    READ_FUNCTION_EDITS,
    READ_COUNT
};

static const struct guest_start *current; /* the run in progress */
static const struct guest_module *modules;
static size_t module_count;
static struct guest_module gathered[VIAL_MODULES_MAX]; /* modules, in a session */

static JSValueRef string_value(JSContextRef ctx, const char *bytes, size_t len)
{
    JSStringRef string = js_string_from_utf8(len > 0 ? bytes : "", len);
    JSValueRef value = string != NULL ? JSValueMakeString(ctx, string) : JSValueMakeUndefined(ctx);

    if (string != NULL) {
        JSStringRelease(string);
    }
    return value;
}

static JSValueRef text_value(JSContextRef ctx, const char *text)
{
    return string_value(ctx, text, strlen(text));
}

/* A row of values on its way to becoming a JavaScript array. The collector does not see them there,
 * so each is protected until then. */
struct row {
    JSValueRef *values;
    size_t count, capacity;
};

enum { ROW_FIRST_COUNT = 16 };

static void row_add(JSContextRef ctx, struct row *row, JSValueRef value)
{
    if (row->count == row->capacity) {
        size_t capacity = row->capacity > 0 ? 2 * row->capacity : ROW_FIRST_COUNT;
        JSValueRef *grown = reallocarray(row->values, capacity, sizeof(void *));

        if (grown == NULL) {
            _Exit(1); /* a cell without memory ends, and the host says so */
        }
        row->values = grown;
        row->capacity = capacity;
    }
    JSValueProtect(ctx, value);
    row->values[row->count++] = value;
}

static void row_add_number(JSContextRef ctx, struct row *row, double number)
{
    row_add(ctx, row, JSValueMakeNumber(ctx, number));
}

static JSValueRef row_take(JSContextRef ctx, struct row *row)
{
    JSValueRef array = JSObjectMakeArray(ctx, row->count, row->values, NULL);

    for (size_t i = 0; i < row->count; i++) {
        JSValueUnprotect(ctx, row->values[i]);
    }
    free(row->values);
    *row = (struct row){.count = 0};
    return array;
}

static JSValueRef edits_value(JSContextRef ctx, const struct buf *edits)
{
    const struct edit *items = (const struct edit *)(const void *)edits->data;
    struct row row = {.count = 0};

    for (size_t i = 0; i < edits->len / sizeof(*items); i++) {
        row_add_number(ctx, &row, items[i].line);
        row_add_number(ctx, &row, items[i].column);
        row_add_number(ctx, &row, items[i].len);
    }
    return row_take(ctx, &row);
}

static JSValueRef piece_value(JSContextRef ctx, const struct module *m, struct module_text text)
{
    return string_value(ctx, m->strings.data != NULL ? m->strings.data + text.at : "", text.len);
}

/* Specifier, type or undefined, line and column of each. */
static JSValueRef requests_value(JSContextRef ctx, const struct module *m)
{
    const struct module_request *items =
        (const struct module_request *)(const void *)m->requests.data;
    struct row row = {.count = 0};

    for (size_t i = 0; i < m->requests.len / sizeof(*items); i++) {
        row_add(ctx, &row, piece_value(ctx, m, items[i].specifier));
        row_add(ctx, &row,
            items[i].has_type ? piece_value(ctx, m, items[i].type) : JSValueMakeUndefined(ctx));
        row_add_number(ctx, &row, items[i].line);
        row_add_number(ctx, &row, items[i].column);
    }
    return row_take(ctx, &row);
}

/* Binding, request, imported name and local name of each. */
static JSValueRef imports_value(JSContextRef ctx, const struct module *m)
{
    const struct module_import *items = (const struct module_import *)(const void *)m->imports.data;
    struct row row = {.count = 0};

    for (size_t i = 0; i < m->imports.len / sizeof(*items); i++) {
        row_add_number(ctx, &row, items[i].binding);
        row_add_number(ctx, &row, items[i].request);
        row_add(ctx, &row, piece_value(ctx, m, items[i].imported));
        row_add(ctx, &row, piece_value(ctx, m, items[i].local));
    }
    return row_take(ctx, &row);
}

/* Binding, request, name, imported name, whether it may change, line and column of each. */
static JSValueRef exports_value(JSContextRef ctx, const struct module *m)
{
    const struct module_export *items = (const struct module_export *)(const void *)m->exports.data;
    struct row row = {.count = 0};

    for (size_t i = 0; i < m->exports.len / sizeof(*items); i++) {
        row_add_number(ctx, &row, items[i].binding);
        row_add_number(ctx, &row, items[i].request);
        row_add(ctx, &row, piece_value(ctx, m, items[i].name));
        row_add(ctx, &row, piece_value(ctx, m, items[i].imported));
        row_add_number(ctx, &row, items[i].may_change);
        row_add_number(ctx, &row, items[i].line);
        row_add_number(ctx, &row, items[i].column);
    }
    return row_take(ctx, &row);
}

static JSValueRef failure_value(
    JSContextRef ctx, int what, const char *text, uint32_t line, uint32_t column)
{
    struct row row = {.count = 0};

    row_add_number(ctx, &row, what);
    row_add(ctx, &row, text_value(ctx, text));
    row_add_number(ctx, &row, line);
    row_add_number(ctx, &row, column);
    return row_take(ctx, &row);
}

/* rewrite is the text that the module is to be run as; functions what comes before it, or NULL. */
static JSValueRef module_value(JSContextRef ctx, const struct module *m,
    const struct rewrite *rewrite, const struct rewrite *functions, const struct prepared *prepared)
{
    struct row row = {.count = 0};

    if (m->fault[0] != '\0') {
        return failure_value(ctx, READ_FAULT, m->fault, m->fault_line, m->fault_column);
    }
    row_add_number(ctx, &row, m->kind);
    row_add(ctx, &row, JSValueMakeBoolean(ctx, m->is_async));
    row_add(ctx, &row, string_value(ctx, rewrite->text.data, rewrite->text.len));
    row_add(ctx, &row, edits_value(ctx, &rewrite->edits));
    row_add(ctx, &row, requests_value(ctx, m));
    row_add(ctx, &row, imports_value(ctx, m));
    row_add(ctx, &row, exports_value(ctx, m));
    row_add(ctx, &row, JSValueMakeBoolean(ctx, m->has_import_calls));
    row_add_number(ctx, &row, rewrite->line_count);
    row_add(ctx, &row,
        prepared->edits.len > 0 ? edits_value(ctx, &prepared->edits) : JSValueMakeUndefined(ctx));
    if (functions != NULL && functions->text.len > 0) {
        row_add(ctx, &row, string_value(ctx, functions->text.data, functions->text.len));
        row_add(ctx, &row, edits_value(ctx, &functions->edits));
    }
    return row_take(ctx, &row);
}

static int is_accepted(JSContextRef ctx, const struct buf *text)
{
    JSStringRef string = js_string_from_utf8(text->len > 0 ? text->data : "", text->len);
    int accepted = JSCheckScriptSyntax(ctx, string, NULL, 1, NULL);

    JSStringRelease(string);
    return accepted;
}

/* A script that uses await as a name can be one only as it is: see script.h. */
static int is_better_plain(JSContextRef ctx, const struct module *m, const struct prepared *source)
{
    JSStringRef plain;
    int better;

    if (!m->is_wrapped || is_accepted(ctx, &m->rewrite.text)) {
        return 0;
    }
    plain = js_string_from_utf8(source->text, source->len);
    better = JSCheckScriptSyntax(ctx, plain, NULL, 1, NULL);
    JSStringRelease(plain);
    return better;
}

/* One of the sources of a run. */
struct source {
    const char *name, *text;
    size_t name_len, len;
    uint32_t language; /* enum vial_language */
};

/* The source with that index; 0, or -1 when there is none. */
static int source_at(double index, struct source *ret)
{
    const struct guest_module *module;

    if (current == NULL || !(index >= MAIN_INDEX) || !(index < (double)module_count)) {
        return -1;
    }
    if (index < 0) {
        *ret = (struct source){.name = current->name,
            .name_len = current->name_len,
            .text = current->source,
            .len = current->source_len,
            .language = current->language};
        return 0;
    }
    module = &modules[(size_t)index];
    *ret = (struct source){.name = module->name,
        .name_len = module->name_len,
        .text = module->source,
        .len = module->source_len,
        .language = VIAL_LANGUAGE_AUTO};
    return 0;
}

/* By what the host says, or by its name. */
static int is_typescript(const struct source *source)
{
    static const char *const ends[] = {".ts", ".mts", ".cts"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        size_t n = strlen(ends[i]);

        if (source->language == VIAL_LANGUAGE_AUTO && source->name_len >= n &&
            memcmp(source->name + source->name_len - n, ends[i], n) == 0) {
            return 1;
        }
    }
    return source->language == VIAL_LANGUAGE_TYPESCRIPT;
}

/* The grammar knows decorators and JSX, which the engine does not. */
static int is_refused(JSContextRef ctx, const struct module *m)
{
    if (m->fault[0] != '\0') {
        return 1;
    }
    if (!m->has_errors && memchr(m->rewrite.text.data, '@', m->rewrite.text.len) == NULL &&
        memmem(m->rewrite.text.data, m->rewrite.text.len, "/>", 2) == NULL &&
        memmem(m->rewrite.text.data, m->rewrite.text.len, "</", 2) == NULL) {
        return 0;
    }
    return !is_accepted(ctx, &m->rewrite.text);
}

/* What readModule gives for a source read in a language; *ret_refused: the engine will not take it,
 * or there were no types where some were looked for. */
static JSValueRef read_as(JSContextRef ctx, const struct source *source, int typescript, int kind,
    unsigned flags, int *ret_refused)
{
    struct vial_error err = {0};
    struct prepared prepared;
    struct module module;
    uint32_t line = 0;
    JSValueRef value;
    int r;

    *ret_refused = 0;
    if (code_prepare(source->text, source->len, typescript, &prepared, &line, &err) < 0) {
        prepared_release(&prepared);
        return failure_value(ctx, READ_FAULT, err.text, line, 0);
    }
    r = module_read(prepared.text, prepared.len, (enum module_kind)kind, flags, &module, &err);
    if (r == 0 && is_better_plain(ctx, &module, &prepared)) {
        module_release(&module);
        r = module_read(prepared.text, prepared.len, (enum module_kind)kind,
            flags | MODULE_NOT_WRAPPED, &module, &err);
    }
    *ret_refused = typescript ? !prepared.had_types : r == 0 && is_refused(ctx, &module);
    value = r < 0 ? failure_value(ctx, READ_REFUSED, err.text, 0, 0)
                  : module_value(ctx, &module, &module.rewrite, NULL, &prepared);
    module_release(&module);
    prepared_release(&prepared);
    return value;
}

/* readModule(index, kind, flags). A source that the engine refuses and that nobody said to be
 * JavaScript is looked at as TypeScript: models write types without saying so. */
static JSValueRef native_read(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,
    const JSValueRef argv[], JSValueRef *exception)
{
    struct source source;
    JSValueRef value, second;
    unsigned flags;
    int kind, refused;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 3 || source_at(JSValueToNumber(ctx, argv[0], NULL), &source) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    kind = (int)JSValueToNumber(ctx, argv[1], NULL);
    flags = (unsigned)JSValueToNumber(ctx, argv[2], NULL);
    if (is_typescript(&source)) {
        return read_as(ctx, &source, 1, kind, flags, &refused);
    }
    value = read_as(ctx, &source, 0, kind, flags, &refused);
    if (refused && source.language == VIAL_LANGUAGE_AUTO &&
        typescript_is_likely(source.text, source.len)) {
        JSValueProtect(ctx, value);
        second = read_as(ctx, &source, 1, kind, flags, &refused);
        JSValueUnprotect(ctx, value);
        return refused ? value : second;
    }
    return value;
}

/* The text to evaluate: what a run would have when the engine refuses that, so that its error is
 * the one to see. */
static const struct rewrite *session_text(
    JSContextRef ctx, const struct session_source *s, int accepted)
{
    if (!accepted || s->shape == SESSION_AS_IS ||
        (s->module.has_errors && s->module.kind != MODULE_ES &&
            !(is_accepted(ctx, &s->rewrite.text) && is_accepted(ctx, &s->functions.text)))) {
        return &s->module.rewrite;
    }
    return &s->rewrite;
}

/* read_as, for the source of an evaluation. */
static JSValueRef read_session_as(
    JSContextRef ctx, const struct source *source, int typescript, int *ret_refused)
{
    struct vial_error err = {0};
    struct prepared prepared;
    struct session_source session;
    const struct rewrite *text;
    uint32_t line = 0;
    JSValueRef value;
    int accepted, r;

    *ret_refused = 0;
    if (code_prepare(source->text, source->len, typescript, &prepared, &line, &err) < 0) {
        prepared_release(&prepared);
        return failure_value(ctx, READ_FAULT, err.text, line, 0);
    }
    r = session_read(prepared.text, prepared.len, 0, &session, &err);
    if (r == 0 && is_better_plain(ctx, &session.module, &prepared)) {
        session_release(&session);
        r = session_read(prepared.text, prepared.len, SESSION_NOT_WRAPPED, &session, &err);
    }
    accepted =
        r == 0 && session.module.fault[0] == '\0' && is_accepted(ctx, &session.module.rewrite.text);
    *ret_refused = typescript ? !prepared.had_types : r == 0 && !accepted;
    if (r < 0) {
        value = failure_value(ctx, READ_REFUSED, err.text, 0, 0);
    } else {
        text = session_text(ctx, &session, accepted);
        value = module_value(ctx, &session.module, text,
            text == &session.rewrite ? &session.functions : NULL, &prepared);
    }
    session_release(&session);
    prepared_release(&prepared);
    return value;
}

/* readSession() */
static JSValueRef native_read_session(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct source source;
    JSValueRef value, second;
    int refused;

    (void)function;
    (void)self;
    (void)argc;
    (void)argv;
    (void)exception;
    if (source_at(MAIN_INDEX, &source) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    if (is_typescript(&source)) {
        return read_session_as(ctx, &source, 1, &refused);
    }
    value = read_session_as(ctx, &source, 0, &refused);
    if (refused && source.language == VIAL_LANGUAGE_AUTO &&
        typescript_is_likely(source.text, source.len)) {
        JSValueProtect(ctx, value);
        second = read_session_as(ctx, &source, 1, &refused);
        JSValueUnprotect(ctx, value);
        return refused ? value : second;
    }
    return value;
}

/* moduleSource(index) */
static JSValueRef native_source(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct source source;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 1 || source_at(JSValueToNumber(ctx, argv[0], NULL), &source) < 0) {
        return JSValueMakeUndefined(ctx);
    }
    return string_value(ctx, source.text, source.len);
}

static int add_utf8(JSContextRef ctx, JSValueRef value, struct buf *out)
{
    JSStringRef string = JSValueToStringCopy(ctx, value, NULL);
    int r = string != NULL ? js_string_to_utf8(string, out) : -1;

    if (string != NULL) {
        JSStringRelease(string);
    }
    return r;
}

/* resolveName(specifier, referrer or undefined): a full name, or an array with the reason why there
 * is none. */
static JSValueRef native_resolve(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    struct buf specifier, referrer, name;
    const char *why;
    JSValueRef value;

    (void)function;
    (void)self;
    (void)exception;
    if (argc < 2) {
        return JSValueMakeUndefined(ctx);
    }
    /* A string has at most three bytes for each of its units, and what is longer is refused. */
    buf_init(&specifier, SIZE_MAX / 4);
    buf_init(&referrer, (size_t)4 * SPECIFIER_BYTES_MAX);
    buf_init(&name, (size_t)4 * SPECIFIER_BYTES_MAX);
    if (add_utf8(ctx, argv[0], &specifier) < 0 ||
        (JSValueIsString(ctx, argv[1]) && add_utf8(ctx, argv[1], &referrer) < 0)) {
        why = "is too long";
    } else {
        why = specifier_resolve(specifier.len > 0 ? specifier.data : "", specifier.len,
            referrer.len > 0 ? referrer.data : NULL, referrer.len, &name);
    }
    if (why == NULL) {
        value = string_value(ctx, name.data, name.len);
    } else {
        struct row row = {.count = 0};

        row_add(ctx, &row, text_value(ctx, why));
        value = row_take(ctx, &row);
    }
    buf_release(&specifier);
    buf_release(&referrer);
    buf_release(&name);
    return value;
}

/* Keeps a module that the host gave while a program runs. Its index, or -1 with the reason. */
static double add_given(struct buf *name, struct buf *source, const char **ret_why)
{
    if (name->len == 0 || name->len > SPECIFIER_BYTES_MAX || source->len > GIVEN_BYTES_MAX) {
        *ret_why = "is too long";
        return -1;
    }
    if (module_count == VIAL_MODULES_MAX) {
        *ret_why = "is one more than a program may have";
        return -1;
    }
    if (modules != gathered) {
        memcpy(gathered, modules, module_count * sizeof(*modules));
        modules = gathered;
    }
    gathered[module_count] = (struct guest_module){.name = name->data,
        .name_len = name->len,
        .source = source->data != NULL ? source->data : "",
        .source_len = source->len};
    *name = (struct buf){.data = NULL}; /* they live as long as the process */
    *source = (struct buf){.data = NULL};
    return (double)module_count++;
}

/* addModule(name, source): its index, or an array with the reason why it cannot be. */
static JSValueRef native_add(JSContextRef ctx, JSObjectRef function, JSObjectRef self, size_t argc,
    const JSValueRef argv[], JSValueRef *exception)
{
    struct row row = {.count = 0};
    struct buf name, source;
    const char *why = "is not text";
    double index = -1;

    (void)function;
    (void)self;
    (void)exception;
    buf_init(&name, SIZE_MAX / 4);
    buf_init(&source, SIZE_MAX / 4);
    if (argc >= 2 && add_utf8(ctx, argv[0], &name) == 0 && add_utf8(ctx, argv[1], &source) == 0) {
        index = add_given(&name, &source, &why);
    }
    buf_release(&name);
    buf_release(&source);
    if (index >= 0) {
        return JSValueMakeNumber(ctx, index);
    }
    row_add(ctx, &row, text_value(ctx, why));
    return row_take(ctx, &row);
}

/* evaluate(text, url) */
static JSValueRef native_evaluate(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    JSStringRef text, url;
    JSValueRef value = NULL;

    (void)function;
    (void)self;
    if (argc < 2) {
        return JSValueMakeUndefined(ctx);
    }
    text = JSValueToStringCopy(ctx, argv[0], exception);
    url = text != NULL ? JSValueToStringCopy(ctx, argv[1], exception) : NULL;
    if (url != NULL) {
        value = JSEvaluateScript(ctx, text, NULL, url, 1, exception);
        JSStringRelease(url);
    }
    if (text != NULL) {
        JSStringRelease(text);
    }
    interrupt_pass_on(exception);
    return value != NULL ? value : JSValueMakeUndefined(ctx);
}

void js_modules_add(JSContextRef ctx, JSObjectRef native)
{
    static const struct {
        const char *name;
        JSObjectCallAsFunctionCallback function;
    } natives[] = {{"readModule", native_read}, {"readSession", native_read_session},
        {"moduleSource", native_source}, {"resolveName", native_resolve},
        {"evaluate", native_evaluate}, {"addModule", native_add}};

    for (size_t i = 0; i < sizeof(natives) / sizeof(natives[0]); i++) {
        JSStringRef name = JSStringCreateWithUTF8CString(natives[i].name);

        JSObjectSetProperty(ctx, native, name,
            JSObjectMakeFunctionWithCallback(ctx, name, natives[i].function),
            kJSPropertyAttributeNone, NULL);
        JSStringRelease(name);
    }
}

/* Whether a session has a module of that name. */
static int is_gathered(const struct guest_module *module)
{
    for (size_t i = 0; i < module_count; i++) {
        if (gathered[i].name_len == module->name_len &&
            memcmp(gathered[i].name, module->name, module->name_len) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Adds the modules of an evaluation to those of its session. */
static int gather(const struct guest_start *start)
{
    modules = gathered;
    for (size_t i = 0; i < start->module_count; i++) {
        if (is_gathered(&start->modules[i])) {
            continue;
        }
        if (module_count == VIAL_MODULES_MAX) {
            return -1;
        }
        gathered[module_count++] = start->modules[i];
    }
    return 0;
}

int js_modules_begin(struct js_context *c, const struct guest_start *start)
{
    struct row row = {.count = 0};
    JSValueRef names, exception;

    current = start;
    if (c->evaluation_count <= 1) {
        modules = start->modules;
        module_count = start->session != 0 ? 0 : start->module_count;
    }
    if (start->session != 0 && gather(start) < 0) {
        return -1;
    }
    if (start->module_count == 0) {
        return 0;
    }
    for (size_t i = 0; i < module_count; i++) {
        row_add(c->ctx, &row, string_value(c->ctx, modules[i].name, modules[i].name_len));
    }
    names = row_take(c->ctx, &row);
    (void)js_context_call(c, HOOK_MODULES, 1, &names, &exception);
    return 0;
}

int js_modules_needed(const struct guest_start *start)
{
    struct source source;

    return start->kind == MODULE_ES || module_may_be(start->source, start->source_len) ||
           (source_at(MAIN_INDEX, &source) == 0 && is_typescript(&source));
}

int js_modules_may_help(const struct guest_start *start)
{
    return start->language == VIAL_LANGUAGE_AUTO &&
           typescript_is_likely(start->source, start->source_len);
}

JSValueRef js_modules_evaluate(struct js_context *c, JSValueRef *ret_exception)
{
    return js_context_call(c, HOOK_EVALUATE, 0, NULL, ret_exception);
}

/* Whether a source of the run may ask for what scripts have and ES modules do not: a module that
 * has none of the words anywhere cannot tell, and taking the names from the global object takes 45
 * us. */
static int has_script_names(void)
{
    static const char *const names[] = {"module", "exports", "__filename", "__dirname", "global"};
    struct source source;

    for (int i = MAIN_INDEX; source_at(i, &source) == 0; i++) {
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            if (source.len > 0 &&
                memmem(source.text, source.len, names[k], strlen(names[k])) != NULL) {
                return 1;
            }
        }
    }
    return 0;
}

JSValueRef js_modules_run(
    struct js_context *c, const struct guest_start *start, JSValueRef *ret_exception)
{
    JSValueRef argv[2] = {
        JSValueMakeNumber(c->ctx, start->kind), JSValueMakeBoolean(c->ctx, has_script_names())};

    return js_context_call(c, HOOK_MAIN, 2, argv, ret_exception);
}
