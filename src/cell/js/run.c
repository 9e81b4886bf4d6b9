/* run.c - see run.h.
 *
 * The life of a run is decided by the prelude (main.js): C evaluates the script, hands over its
 * completion value, and then lets one task after the other run until the prelude says that there is
 * a value, a failure, or nothing left. The engine runs microtasks by itself whenever a call from C
 * returns. */
#include "cell/js/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cell/js/files.h"
#include "cell/js/interrupt.h"
#include "cell/js/modules.h"
#include "cell/js/process.h"
#include "cell/js/tools.h"
#include "code/script.h"
#include "code/session.h"
#include "wire/field.h"

enum { START_AGAIN = 3 }; /* what hooks.start() is told beside the kinds of sessions */

/* What hooks.state() says. */
enum { STATE_VALUE = -1, STATE_FAILED = -2, STATE_STUCK = -3, STATE_CALLS = -4 };

/* Where in the array of hooks.describe() what is. */
enum {
    AT_NAME,
    AT_MESSAGE,
    AT_STACK,
    AT_LINE,
    AT_COLUMN,
    AT_HINT,
    AT_FILE,
    AT_FRAMES,
    AT_FIRST_FRAME
};
enum { FRAMES_MAX = 50 }; /* the prelude cuts at the same number */

/* Tasks that are run between two evaluations in one go: timers that are always due must not keep
 * the next evaluation waiting. */

/* The run in progress, for functions that end it from inside. */
static struct {
    struct js_context *context;
    const struct guest_start *start;
    JSStringRef name;
    JSValueRef url; /* what the engine is to know the program by; valid until the next hook */
    struct buf *result;
} running;

/* A cell that has no memory for its result ends, and the host says so. */
static void put(struct buf *result, uint8_t tag, const char *bytes, size_t len)
{
    if (field_add(result, tag, bytes, len, NULL) < 0) {
        _exit(1);
    }
}

static void put_u32(struct buf *result, uint8_t tag, uint32_t v)
{
    if (field_add_u32(result, tag, v, NULL) < 0) {
        _exit(1);
    }
}

/* The text is written where it will be sent from, and its length is put in front afterwards: a
 * value may be many megabytes. */
static void add_string(struct js_context *c, uint8_t tag, JSValueRef value, struct buf *result)
{
    JSStringRef string = JSValueToStringCopy(c->ctx, value, NULL);
    size_t start = result->len;

    put(result, tag, "", 0);
    if (string == NULL || js_string_to_utf8(string, result) < 0) {
        result->len = start;
    } else {
        field_head(result->data + start, tag, (uint32_t)(result->len - start - FIELD_HEAD_BYTES));
    }
    if (string != NULL) {
        JSStringRelease(string);
    }
}

static uint32_t number_at(struct js_context *c, JSObjectRef array, unsigned index)
{
    JSValueRef v = JSObjectGetPropertyAtIndex(c->ctx, array, index, NULL);
    double d = v != NULL ? JSValueToNumber(c->ctx, v, NULL) : 0;

    return d > 0 && d < UINT32_MAX ? (uint32_t)d : 0;
}

/* Turns whatever was thrown into fields. */
static void fail(struct js_context *c, JSValueRef thrown, struct buf *result)
{
    JSValueRef exception;
    JSValueRef described = js_context_call(c, HOOK_DESCRIBE, 1, &thrown, &exception);
    JSObjectRef array;
    unsigned i, frames, at;
    static const uint8_t texts[][2] = {{AT_NAME, FIELD_ERROR_NAME},
        {AT_MESSAGE, FIELD_ERROR_MESSAGE}, {AT_STACK, FIELD_ERROR_STACK},
        {AT_HINT, FIELD_ERROR_HINT}, {AT_FILE, FIELD_ERROR_FILE}};

    buf_clear(result);
    put_u32(result, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    if (described == NULL || !JSValueIsObject(c->ctx, described)) {
        static const char text[] = "the error could not be described";

        put(result, FIELD_ERROR_NAME, "Error", 5);
        put(result, FIELD_ERROR_MESSAGE, text, sizeof(text) - 1);
        return;
    }
    array = JSValueToObject(c->ctx, described, NULL);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        add_string(
            c, texts[i][1], JSObjectGetPropertyAtIndex(c->ctx, array, texts[i][0], NULL), result);
    }
    put_u32(result, FIELD_ERROR_LINE, number_at(c, array, AT_LINE));
    put_u32(result, FIELD_ERROR_COLUMN, number_at(c, array, AT_COLUMN));
    frames = number_at(c, array, AT_FRAMES);
    for (i = 0; i < frames && i < FRAMES_MAX; i++) {
        at = AT_FIRST_FRAME + 4 * i;
        add_string(
            c, FIELD_FRAME_FUNCTION, JSObjectGetPropertyAtIndex(c->ctx, array, at, NULL), result);
        put_u32(result, FIELD_FRAME_LINE, number_at(c, array, at + 1));
        put_u32(result, FIELD_FRAME_COLUMN, number_at(c, array, at + 2));
        add_string(
            c, FIELD_FRAME_FILE, JSObjectGetPropertyAtIndex(c->ctx, array, at + 3, NULL), result);
    }
}

/* The array of insertions that hooks.start takes. */
static JSValueRef edits_array(struct js_context *c, const struct rewrite *rewrite)
{
    const struct edit *edits = (const struct edit *)(const void *)rewrite->edits.data;
    size_t count = rewrite_edit_count(rewrite);
    JSValueRef numbers[3 * SCRIPT_EDITS_MAX];
    size_t i;

    for (i = 0; i < count && i < SCRIPT_EDITS_MAX; i++) {
        numbers[3 * i] = JSValueMakeNumber(c->ctx, edits[i].line);
        numbers[3 * i + 1] = JSValueMakeNumber(c->ctx, edits[i].column);
        numbers[3 * i + 2] = JSValueMakeNumber(c->ctx, edits[i].len);
    }
    return JSObjectMakeArray(c->ctx, 3 * i, numbers, NULL);
}

/* NULL, or what is wrong with the start. */
static const char *begin(struct js_context *c, const struct guest_start *start, JSStringRef name)
{
    JSValueRef exception;
    JSValueRef argv[5] = {
        JSValueMakeNumber(c->ctx, start->timers_max),
        JSValueMakeNumber(c->ctx, start->value_bytes_max),
        JSValueMakeString(c->ctx, name),
        JSValueMakeUndefined(c->ctx),
        JSValueMakeNumber(c->ctx, start->session),
    };

    running.url = js_context_call(c, HOOK_START, 5, argv, &exception);
    return js_modules_begin(c, start) < 0 ? "the session has more modules than it may have" : NULL;
}

/* The run that has begun is of a source with these edits; NULL: it is as it was, after all. */
static void begin_again(struct js_context *c, const struct rewrite *edits)
{
    JSValueRef undefined = JSValueMakeUndefined(c->ctx), exception;
    JSValueRef argv[5] = {undefined, undefined, undefined,
        edits != NULL ? edits_array(c, edits) : undefined, JSValueMakeNumber(c->ctx, START_AGAIN)};

    (void)js_context_call(c, HOOK_START, 5, argv, &exception);
}

static JSValueRef input_from_json(struct js_context *c, const struct guest_start *start)
{
    JSStringRef text = js_string_from_utf8(start->input, start->input_len);
    JSValueRef value = text != NULL ? JSValueMakeFromJSONString(c->ctx, text) : NULL;

    if (text != NULL) {
        JSStringRelease(text);
    }
    return value;
}

static void keep_bytes(void *bytes, void *context)
{
    (void)bytes; /* the start message lives as long as the cell */
    (void)context;
}

/* What the host gave for names that the environment declares. */
static int set_globals(struct js_context *c, const struct guest_start *start)
{
    JSStringRef text = js_string_from_utf8(start->globals, start->globals_len);
    JSValueRef values = text != NULL ? JSValueMakeFromJSONString(c->ctx, text) : NULL;
    JSValueRef exception = NULL;

    if (text != NULL) {
        JSStringRelease(text);
    }
    if (values == NULL || !JSValueIsObject(c->ctx, values)) {
        return -1;
    }
    (void)js_context_call(c, HOOK_GLOBALS, 1, &values, &exception);
    return exception == NULL ? 0 : -1;
}

static JSValueRef input_from_cbor(
    struct js_context *c, const struct guest_start *start, JSValueRef *ret_exception)
{
    JSValueRef bytes;
    uintptr_t at = (uintptr_t)start->input;
    void *memory;

    memcpy(&memory, &at, sizeof(memory)); /* the decoder only reads */
    bytes = JSObjectMakeTypedArrayWithBytesNoCopy(
        c->ctx, kJSTypedArrayTypeUint8Array, memory, start->input_len, keep_bytes, NULL, NULL);
    return bytes != NULL ? js_context_call(c, HOOK_DECODE, 1, &bytes, ret_exception) : NULL;
}

/* What the host gave becomes the global `input`. */
static int set_input(struct js_context *c, const struct guest_start *start)
{
    JSStringRef name;
    JSValueRef value, exception;

    if (start->input == NULL && c->evaluation_count > 1) {
        return 0; /* what an earlier evaluation was given */
    }
    if (start->input == NULL) {
        value = JSValueMakeUndefined(c->ctx);
    } else {
        value = start->input_is_cbor ? input_from_cbor(c, start, &exception)
                                     : input_from_json(c, start);
    }
    if (value == NULL) {
        return -1;
    }
    name = JSStringCreateWithUTF8CString("input");
    JSObjectSetProperty(
        c->ctx, JSContextGetGlobalObject(c->ctx), name, value, kJSPropertyAttributeDontEnum, NULL);
    JSStringRelease(name);
    return 0;
}

/* Wraps a script with a top-level await or return into an async function and evaluates that. NULL
 * without an exception when there is nothing to wrap, or when the wrapped text is no valid script
 * either and plain is. */
static JSValueRef evaluate_wrapped(struct js_context *c, const struct guest_start *start,
    JSStringRef name, JSStringRef plain, JSValueRef *ret_exception)
{
    JSStringRef source;
    JSValueRef value = NULL;
    struct rewrite wrapped;
    int did = 0;

    rewrite_init(&wrapped, 2 * start->source_len + 65536);
    if (script_wrap(start->source, start->source_len, &wrapped, &did, NULL) == 0 && did) {
        source = js_string_from_utf8(wrapped.text.data, wrapped.text.len);
        begin_again(c, &wrapped);
        value = JSEvaluateScript(c->ctx, source, NULL, name, 1, ret_exception);
        if (value == NULL && !JSCheckScriptSyntax(c->ctx, source, name, 1, NULL) &&
            JSCheckScriptSyntax(c->ctx, plain, name, 1, NULL)) {
            *ret_exception = NULL; /* nothing of it has run */
            begin_again(c, NULL);
        }
        JSStringRelease(source);
    }
    rewrite_release(&wrapped);
    return value;
}

/* Tries what else a script may be that the engine does not take as it is: one with a top-level
 * return, or TypeScript. Nothing of it has run yet. */
static JSValueRef evaluate_refused(struct js_context *c, const struct guest_start *start,
    JSStringRef name, JSStringRef source, JSValueRef *ret_exception)
{
    JSValueRef refusal = *ret_exception;
    JSValueRef value = NULL;

    if (script_may_need_wrap(start->source, start->source_len)) {
        *ret_exception = NULL;
        value = evaluate_wrapped(c, start, name, source, ret_exception);
    }
    if (value == NULL && js_modules_may_help(start)) {
        *ret_exception = NULL;
        return js_modules_run(c, start, ret_exception);
    }
    if (value == NULL && *ret_exception == NULL) {
        *ret_exception = refusal;
    }
    return value;
}

/* What the host asks of a session beside programs: to call a function that it was given, to let go
 * of one, or how a name could go on. */
static JSValueRef evaluate_special(
    struct js_context *c, const struct guest_start *start, JSValueRef *ret_exception)
{
    JSValueRef argv[2] = {
        JSValueMakeNumber(c->ctx, start->function != 0 ? start->function : start->release)};
    enum js_hook hook = start->function != 0  ? HOOK_CALL
                        : start->release != 0 ? HOOK_RELEASE
                                              : HOOK_COMPLETE;
    JSStringRef text;

    if (hook == HOOK_CALL && start->input != NULL && start->input_is_cbor) {
        argv[1] = input_from_cbor(c, start, ret_exception);
        if (argv[1] == NULL) {
            return NULL; /* a function among them that was released, for instance */
        }
    } else if (hook == HOOK_CALL) {
        argv[1] = start->input != NULL ? input_from_json(c, start) : NULL;
        if (argv[1] == NULL) {
            argv[1] = JSObjectMakeArray(c->ctx, 0, NULL, NULL);
        }
    } else if (hook == HOOK_COMPLETE) {
        text = js_string_from_utf8(start->source, start->source_len);
        argv[0] = JSValueMakeString(c->ctx, text);
        JSStringRelease(text);
    }
    return js_context_call(c, hook, hook == HOOK_CALL ? 2 : 1, argv, ret_exception);
}

/* Can the engine evaluate the source of an evaluation as it is? Not when it declares names in ways
 * that later ones could not declare again; a run in an environment has no later ones. */
static int is_plain(const struct guest_start *start)
{
    static const char *const words[] = {
        "import", "export", "await", "using", "const", "let", "class"};
    size_t count = start->session == SESSION_ENV ? 4 : sizeof(words) / sizeof(words[0]);
    size_t i;

    if (start->language == VIAL_LANGUAGE_TYPESCRIPT || start->kind == VIAL_KIND_MODULE) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        if (memmem(start->source, start->source_len, words[i], strlen(words[i])) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* Is this the refusal of a name that the prefix has declared already? */
static int is_duplicate(struct js_context *c, JSValueRef thrown)
{
    static const char begin[] = "SyntaxError: Can't create duplicate variable";
    JSStringRef text = JSValueToStringCopy(c->ctx, thrown, NULL);
    char bytes[sizeof(begin)] = "";

    if (text != NULL) {
        (void)JSStringGetUTF8CString(text, bytes, sizeof(bytes));
        JSStringRelease(text);
    }
    return strcmp(bytes, begin) == 0;
}

/* The source of an evaluation without a look at what it declares, which takes longer than most of
 * them. NULL without an exception when it has to be looked at; nothing of it has run then. */
static JSValueRef evaluate_plainly(
    struct js_context *c, const struct guest_start *start, JSValueRef *ret_exception)
{
    JSStringRef source, url;
    JSValueRef value;

    if (!is_plain(start) || running.url == NULL) {
        return NULL;
    }
    url = JSValueToStringCopy(c->ctx, running.url, NULL);
    source = js_string_from_utf8(start->source, start->source_len);
    value = JSEvaluateScript(c->ctx, source, NULL, url, 1, ret_exception);
    if (value == NULL && *ret_exception != NULL &&
        (!JSCheckScriptSyntax(c->ctx, source, url, 1, NULL) || is_duplicate(c, *ret_exception))) {
        *ret_exception = NULL;
    }
    JSStringRelease(source);
    JSStringRelease(url);
    return value;
}

/* Evaluates the source. A source with the word await is parsed first, because the engine takes
 * `await (x)` in a script for a call of a function of that name. All else is looked at only when
 * the engine refuses the source. */
static JSValueRef evaluate(struct js_context *c, const struct guest_start *start, JSStringRef name,
    JSValueRef *ret_exception)
{
    JSStringRef source;
    JSValueRef value = NULL;
    int refused;

    *ret_exception = NULL;
    if (start->function != 0 || start->release != 0 || start->complete != 0) {
        return evaluate_special(c, start, ret_exception);
    }
    if (start->session != SESSION_NONE) {
        value = evaluate_plainly(c, start, ret_exception);
        return value != NULL || *ret_exception != NULL ? value
                                                       : js_modules_evaluate(c, ret_exception);
    }
    if (js_modules_needed(start)) {
        return js_modules_run(c, start, ret_exception);
    }
    source = js_string_from_utf8(start->source, start->source_len);
    if (memmem(start->source, start->source_len, "await", 5) != NULL) {
        value = evaluate_wrapped(c, start, name, source, ret_exception);
    }
    refused = *ret_exception != NULL; /* what it throws later is in its promise */
    if (value == NULL && !refused) {
        value = JSEvaluateScript(c->ctx, source, NULL, name, 1, ret_exception);
        refused = value == NULL && !JSCheckScriptSyntax(c->ctx, source, name, 1, NULL);
    }
    if (refused) {
        value = evaluate_refused(c, start, name, source, ret_exception);
    }
    JSStringRelease(source);
    return value;
}

/* The program, evaluated from inside of a call of the engine: what process.nextTick was given runs
 * when the program has been evaluated and before promises go on, which they do when C returns. */
static JSValueRef native_evaluate(JSContextRef ctx, JSObjectRef function, JSObjectRef self,
    size_t argc, const JSValueRef argv[], JSValueRef *exception)
{
    JSValueRef value;

    (void)function;
    (void)self;
    (void)argc;
    (void)argv;
    value = evaluate(running.context, running.start, running.name, exception);
    interrupt_pass_on(exception);
    return value != NULL ? value : JSValueMakeUndefined(ctx);
}

/* A program that names none of these has no process.nextTick at hand; an evaluation may have it
 * from an earlier one. */
static int may_have_ticks(const struct guest_start *start)
{
    return start->session != 0 || memmem(start->source, start->source_len, "process", 7) != NULL ||
           memmem(start->source, start->source_len, "require", 7) != NULL ||
           memmem(start->source, start->source_len, "import", 6) != NULL;
}

static JSValueRef enter(struct js_context *c, JSValueRef *ret_exception)
{
    JSValueRef function = JSObjectMakeFunctionWithCallback(c->ctx, NULL, native_evaluate);
    JSValueRef value = js_context_call(c, HOOK_ENTER, 1, &function, ret_exception);

    return *ret_exception == NULL ? value : NULL;
}

/* Runs tasks until there is a value (NULL) or something thrown. */
static JSValueRef turn_loop(struct js_context *c, JSValueRef completion)
{
    JSValueRef exception;
    JSValueRef state = js_context_call(c, HOOK_COMPLETED, 1, &completion, &exception);
    double n;

    for (;;) {
        if (exception != NULL || interrupt_happened()) {
            return exception;
        }
        n = JSValueToNumber(c->ctx, state, NULL);
        if (n == STATE_VALUE) {
            return NULL;
        }
        if (n == STATE_FAILED || n == STATE_STUCK) {
            return js_context_call(
                c, n == STATE_FAILED ? HOOK_FAILURE : HOOK_PENDING, 0, NULL, &exception);
        }
        if (n == STATE_CALLS) {
            exception = js_tools_take(c, UINT64_MAX);
        } else if (n > 0 || js_tools_exist()) {
            exception = js_tools_take(c, n > 0 ? clock_now_us() + (uint64_t)(n * 1000) + 1 : 0);
        }
        if (exception == NULL && n != STATE_CALLS) {
            (void)js_context_call(c, HOOK_TURN, 0, NULL, &exception);
        }
        if (exception == NULL) {
            state = js_context_call(c, HOOK_STATE, 0, NULL, &exception);
        }
    }
}

/* Adds what a hook returns, unless it is undefined: text, or CBOR in bytes. The exception when it
 * threw. */
static JSValueRef add_value(
    struct js_context *c, enum js_hook hook, uint8_t tag, struct buf *result)
{
    JSValueRef exception;
    JSValueRef value = js_context_call(c, hook, 0, NULL, &exception);
    char *bytes = NULL;
    size_t len = 0;

    if (exception != NULL || JSValueIsUndefined(c->ctx, value)) {
        return exception;
    }
    if (JSValueIsObject(c->ctx, value) && js_bytes(c->ctx, value, &bytes, &len) == 0) {
        put(result, FIELD_VALUE_CBOR, bytes, len);
    } else {
        add_string(c, tag, value, result);
    }
    return NULL;
}

/* Lets the guest's handlers of the end run. What is thrown, by them or before. */
static JSValueRef say_exit(struct js_context *c, JSValueRef thrown, struct buf *result)
{
    JSValueRef failed = JSValueMakeBoolean(c->ctx, thrown != NULL);
    JSValueRef exception;
    JSValueRef code;

    code = js_context_call(c, HOOK_EXIT, 1, &failed, &exception);
    if (thrown != NULL || exception != NULL) {
        return thrown != NULL ? thrown : exception;
    }
    put_u32(result, FIELD_EXIT_CODE, (uint32_t)JSValueToNumber(c->ctx, code, NULL) & 255);
    return NULL;
}

_Noreturn void js_run_exit(JSContextRef ctx, uint32_t code, JSValueRef thrown)
{
    struct buf *result = running.result;

    (void)ctx;
    buf_clear(result);
    if (thrown != NULL) {
        fail(running.context, thrown, result);
    } else {
        put_u32(result, FIELD_OUTCOME, OUTCOME_OK);
        put_u32(result, FIELD_EXIT_CODE, code);
    }
    cell_finish(result);
}

/* Uses the language and none of its library, which a prefix may have changed: nothing of it can be
 * seen afterwards. */
static const char HARMLESS[] =
    "(() => { const f = (x, n) => ({x, n: n + 1, s: `${x}`, l: [x, n]}); const o = f(1, 2);"
    " let t = 0; for (let i = 0; i < 3; i++) { t += f(i, t).n; } return t > 1 ? o.l.length : o; "
    "})()";

void js_run_nothing(struct js_context *c)
{
    /* What programs left in it stays. */
    struct guest_start start = {.timers_max = 1,
        .value_bytes_max = 4096,
        .session = c->evaluation_count > 0 ? SESSION_ENV : SESSION_NONE};
    JSStringRef name = JSStringCreateWithUTF8CString("");
    JSValueRef two = JSValueMakeNumber(c->ctx, 2);
    JSValueRef exception;

    (void)begin(c, &start, name);
    if (c->evaluation_count > 0) {
        JSStringRef source = JSStringCreateWithUTF8CString(HARMLESS);

        (void)JSEvaluateScript(c->ctx, source, NULL, name, 1, &exception);
        JSStringRelease(source);
    }
    (void)js_context_call(c, HOOK_COMPLETED, 1, &two, &exception);
    (void)js_context_call(c, HOOK_VALUE, 0, NULL, &exception);
    (void)js_context_call(c, HOOK_EXIT, 1, &two, &exception);
    if (c->evaluation_count == 0) {
        (void)js_context_call(c, HOOK_FRESH, 0, NULL, &exception);
    }
    JSStringRelease(name);
}

/* Gets a run or an evaluation ready. NULL, or why it cannot be. */
static const char *prepare(struct js_context *c, const struct guest_start *start, JSStringRef name)
{
    const char *why;

    c->evaluation_count = start->session != 0 ? c->evaluation_count + 1 : 0;
    if (c->evaluation_count <= 1) {
        js_process_start(start);
    }
    if (start->session == SESSION_ENV) { /* arguments and standard input are the run's own */
        js_process_start(start);
    }
    js_process_begin(start);
    js_files_start(start);
    why = begin(c, start, name);
    js_tools_begin(c, start);
    if (why == NULL && start->function == 0 && set_input(c, start) < 0) {
        why = "the input is nothing that the engine takes";
    }
    if (why == NULL && start->globals != NULL && set_globals(c, start) < 0) {
        why = "the globals are nothing that the engine takes";
    }
    return why;
}

/* A program whose value is what its function main returns. NULL, or why it is none; text is the
 * program with a call of it, and lives as long as the run. */
static const char *add_main(const struct guest_start *start, struct guest_start *ret)
{
    static const char call[] = "\n;__return(main())";
    static struct buf text = {.max = SIZE_MAX / 4};
    struct session_source read;
    int found = 0, known;
    size_t i, len;

    known = session_read(start->source, start->source_len, 0, &read, NULL) == 0 &&
            !read.module.has_errors;
    for (i = 0; known && !found && i < session_name_count(&read); i++) {
        const char *name = session_name(&read, i, &len);

        found = len == 4 && memcmp(name, "main", 4) == 0;
    }
    session_release(&read);
    if (known && !found) {
        return "the program has no function main: write `async function main() { ... }` and return "
               "the value from it";
    }
    buf_clear(&text);
    if (buf_add(&text, start->source, start->source_len, NULL) < 0 ||
        buf_add(&text, call, sizeof(call), NULL) < 0) {
        _exit(1);
    }
    *ret = *start;
    ret->source = text.data;
    ret->source_len = text.len - 1;
    return NULL;
}

void js_run(struct js_context *c, const struct guest_start *start, struct buf *result)
{
    JSStringRef name = js_string_from_utf8(start->name, start->name_len);
    JSValueRef thrown = NULL;
    struct guest_start with_main;
    const char *why = NULL;
    JSValueRef value;

    if (start->entry_is_main) {
        why = add_main(start, &with_main);
        start = why == NULL ? &with_main : start;
    }
    running.context = c;
    running.start = start;
    running.name = name;
    running.result = result;
    if (why == NULL) {
        why = prepare(c, start, name);
    }
    put_u32(result, FIELD_OUTCOME, OUTCOME_OK);
    if (why != NULL) {
        JSStringRef text = JSStringCreateWithUTF8CString(why);
        JSValueRef message = JSValueMakeString(c->ctx, text);

        fail(c, JSObjectMakeError(c->ctx, 1, &message, NULL), result);
        JSStringRelease(text);
        JSStringRelease(name);
        return;
    }
    value = may_have_ticks(start) ? enter(c, &thrown) : evaluate(c, start, name, &thrown);
    if (value != NULL && !interrupt_happened()) {
        thrown = turn_loop(c, value);
    }
    if (interrupt_happened()) { /* nothing more may be asked of the engine */
        JSStringRelease(name);
        return;
    }
    if (start->session != SESSION_EVAL) { /* a session ends with its cell */
        thrown = say_exit(c, thrown, result);
    }
    /* As text any value can be shown; for a program it may be refused. */
    if (thrown == NULL && start->want_text == WANT_TEXT) {
        thrown = add_value(c, HOOK_TEXT, FIELD_TEXT, result);
    } else if (thrown == NULL && start->want_text == WANT_VALUE) {
        thrown = add_value(c, HOOK_VALUE, FIELD_VALUE, result);
    }
    if (thrown != NULL) {
        fail(c, thrown, result);
    }
    JSStringRelease(name);
}
