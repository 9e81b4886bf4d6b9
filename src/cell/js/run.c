/* run.c - see run.h.
 *
 * The life of a run is decided by the prelude (main.js): C evaluates the script, hands over its
 * completion value, and then lets one task after the other run until the prelude says that there is
 * a value, a failure, or nothing left. The engine runs microtasks by itself whenever a call from C
 * returns. */
#include "cell/js/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cell/js/types.h"
#include "code/edit.h"
#include "code/script.h"
#include "wire/field.h"

/* What hooks.state() says. */
enum { STATE_VALUE = -1, STATE_FAILED = -2, STATE_STUCK = -3 };

/* Where in the array of hooks.describe() what is. */
enum { AT_NAME, AT_MESSAGE, AT_STACK, AT_LINE, AT_COLUMN, AT_HINT, AT_FRAMES, AT_FIRST_FRAME };
enum { FRAMES_MAX = 50 }; /* the prelude cuts at the same number */

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

static void add_string(struct js_context *c, uint8_t tag, JSValueRef value, struct buf *result)
{
    struct buf text;
    JSStringRef string = JSValueToStringCopy(c->ctx, value, NULL);

    buf_init(&text, result->max);
    if (string != NULL && js_string_to_utf8(string, &text) == 0) {
        put(result, tag, text.len > 0 ? text.data : "", text.len);
    }
    if (string != NULL) {
        JSStringRelease(string);
    }
    buf_release(&text);
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
        {AT_HINT, FIELD_ERROR_HINT}};

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
        at = AT_FIRST_FRAME + 3 * i;
        add_string(
            c, FIELD_FRAME_FUNCTION, JSObjectGetPropertyAtIndex(c->ctx, array, at, NULL), result);
        put_u32(result, FIELD_FRAME_LINE, number_at(c, array, at + 1));
        put_u32(result, FIELD_FRAME_COLUMN, number_at(c, array, at + 2));
    }
}

/* The array of insertions that hooks.start takes; edits has rows of struct edit. */
static JSValueRef edits_array(struct js_context *c, const struct buf *edits)
{
    size_t count = edits->len / sizeof(struct edit);
    JSValueRef *numbers = calloc(3 * count + 1, sizeof(void *));
    JSValueRef array;
    struct edit edit;

    if (numbers == NULL) {
        _exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        memcpy(&edit, edits->data + i * sizeof(edit), sizeof(edit));
        numbers[3 * i] = JSValueMakeNumber(c->ctx, edit.line);
        numbers[3 * i + 1] = JSValueMakeNumber(c->ctx, edit.column);
        numbers[3 * i + 2] = JSValueMakeNumber(c->ctx, edit.len);
    }
    array = JSObjectMakeArray(c->ctx, 3 * count, numbers, NULL);
    free(numbers);
    return array;
}

static void begin(struct js_context *c, const struct guest_start *start, JSStringRef name,
    const struct buf *edits)
{
    JSValueRef exception;
    JSValueRef argv[4] = {
        JSValueMakeNumber(c->ctx, start->timers_max),
        JSValueMakeNumber(c->ctx, start->value_bytes_max),
        JSValueMakeString(c->ctx, name),
        edits != NULL && edits->len > 0 ? edits_array(c, edits) : JSValueMakeUndefined(c->ctx),
    };

    (void)js_context_call(c, HOOK_START, 4, argv, &exception);
}

/* The host's JSON becomes the global `input`. */
static int set_input(struct js_context *c, const struct guest_start *start)
{
    JSStringRef text, name;
    JSValueRef value;

    if (start->input == NULL) {
        value = JSValueMakeUndefined(c->ctx);
    } else {
        text = js_string_from_utf8(start->input, start->input_len);
        value = text != NULL ? JSValueMakeFromJSONString(c->ctx, text) : NULL;
        if (text != NULL) {
            JSStringRelease(text);
        }
        if (value == NULL) {
            return -1;
        }
    }
    name = JSStringCreateWithUTF8CString("input");
    JSObjectSetProperty(
        c->ctx, JSContextGetGlobalObject(c->ctx), name, value, kJSPropertyAttributeDontEnum, NULL);
    JSStringRelease(name);
    return 0;
}

/* A source on its way to the engine. */
struct program {
    const struct guest_start *start;
    JSStringRef name;
    const struct buf *edits; /* what was inserted into the source so far */
    int is_second;           /* another one was tried before it, or it has insertions */
    int has_run;             /* the engine took it */
};

/* Wraps a script with a top-level await or return into an async function and evaluates that. NULL
 * without an exception when there is nothing to wrap, or when the wrapped text is no valid script
 * either and plain is. */
static JSValueRef evaluate_wrapped(
    struct js_context *c, struct program *p, JSStringRef plain, JSValueRef *ret_exception)
{
    const struct guest_start *start = p->start;
    struct script_edits edits;
    JSStringRef source;
    JSValueRef value = NULL;
    struct buf wrapped, both;
    int did = 0;

    buf_init(&wrapped, 2 * start->source_len + 65536);
    buf_init(&both, 2 * p->edits->len + sizeof(edits.items) * 2);
    if (script_wrap(start->source, start->source_len, &wrapped, &edits, &did, NULL) == 0 && did &&
        edits_compose(p->edits, edits.items, edits.count, &both, NULL) == 0) {
        source = js_string_from_utf8(wrapped.data, wrapped.len);
        p->has_run = JSCheckScriptSyntax(c->ctx, source, p->name, 1, NULL);
        if (p->has_run || !JSCheckScriptSyntax(c->ctx, plain, p->name, 1, NULL)) {
            begin(c, start, p->name, &both);
            value = JSEvaluateScript(c->ctx, source, NULL, p->name, 1, ret_exception);
        }
        JSStringRelease(source);
    }
    buf_release(&both);
    buf_release(&wrapped);
    return value;
}

/* Evaluates the source. A source with the word await is parsed first, because the engine takes
 * `await (x)` in a script for a call of a function of that name. A top-level return makes the
 * engine refuse the source before anything of it has run, so that is looked for only then. */
static JSValueRef evaluate(struct js_context *c, struct program *p, JSValueRef *ret_exception)
{
    const struct guest_start *start = p->start;
    JSStringRef source = js_string_from_utf8(start->source, start->source_len);
    int await = memmem(start->source, start->source_len, "await", 5) != NULL;
    JSValueRef value = NULL;

    *ret_exception = NULL;
    if (await) {
        value = evaluate_wrapped(c, p, source, ret_exception);
    }
    if (value == NULL && *ret_exception == NULL) {
        if (p->is_second) {
            begin(c, start, p->name, p->edits);
        }
        value = JSEvaluateScript(c->ctx, source, NULL, p->name, 1, ret_exception);
        p->has_run = value != NULL || JSCheckScriptSyntax(c->ctx, source, p->name, 1, NULL);
        if (!p->has_run && !await && script_may_need_wrap(start->source, start->source_len)) {
            JSValueRef refusal = *ret_exception;

            *ret_exception = NULL;
            value = evaluate_wrapped(c, p, source, ret_exception);
            if (value == NULL && *ret_exception == NULL) {
                *ret_exception = refusal;
            }
        }
    }
    JSStringRelease(source);
    return value;
}

/* Something of TypeScript that cannot become JavaScript. */
static void fail_types(
    const struct guest_start *start, const struct js_types *t, struct buf *result)
{
    char place[32];
    struct buf stack;

    buf_clear(result);
    put_u32(result, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    put(result, FIELD_ERROR_NAME, "SyntaxError", 11);
    put(result, FIELD_ERROR_MESSAGE, t->err.text, strlen(t->err.text));
    put_u32(result, FIELD_ERROR_LINE, t->line);
    buf_init(&stack, sizeof(t->err.text) + start->name_len + 128);
    (void)snprintf(place, sizeof(place), ":%u", t->line);
    if (buf_add_text(&stack, "SyntaxError: ", NULL) == 0 &&
        buf_add_text(&stack, t->err.text, NULL) == 0 &&
        buf_add_text(&stack, "\n    at ", NULL) == 0 &&
        buf_add(&stack, start->name, start->name_len, NULL) == 0 &&
        buf_add_text(&stack, place, NULL) == 0) {
        put(result, FIELD_ERROR_STACK, stack.data, stack.len);
    }
    buf_release(&stack);
}

/* Evaluates the source as what it is. 0, or -1 when result has the failure already. */
static int evaluate_as(struct js_context *c, const struct guest_start *start, JSStringRef name,
    struct js_types *t, struct buf *result, JSValueRef *ret, JSValueRef *ret_exception)
{
    struct guest_start script = *start;
    struct program p = {.start = &script, .name = name, .edits = &t->edits};
    int erased = 0;

    if (js_types_are_asked_for(start)) {
        erased = js_types_erase(t, &script);
        p.is_second = t->edits.len > 0;
    }
    if (erased >= 0) {
        *ret = evaluate(c, &p, ret_exception);
        if (*ret == NULL && !p.has_run && js_types_are_likely(start)) {
            erased = js_types_erase(t, &script);
            if (erased > 0) {
                p.is_second = 1;
                *ret = evaluate(c, &p, ret_exception);
            }
        }
    }
    if (erased < 0) {
        fail_types(start, t, result);
        return -1;
    }
    return 0;
}

/* Runs tasks until there is a value (NULL) or something thrown. */
static JSValueRef turn_loop(struct js_context *c, JSValueRef completion)
{
    JSValueRef exception;
    JSValueRef state = js_context_call(c, HOOK_COMPLETED, 1, &completion, &exception);
    double n;

    for (;;) {
        if (exception != NULL) {
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
        if (n > 0) {
            cell_sleep_until(clock_now_us() + (uint64_t)(n * 1000) + 1);
        }
        (void)js_context_call(c, HOOK_TURN, 0, NULL, &exception);
        if (exception == NULL) {
            state = js_context_call(c, HOOK_STATE, 0, NULL, &exception);
        }
    }
}

/* Adds what a hook returns, unless it is undefined; the exception when it threw. */
static JSValueRef add_value(
    struct js_context *c, enum js_hook hook, uint8_t tag, struct buf *result)
{
    JSValueRef exception;
    JSValueRef value = js_context_call(c, hook, 0, NULL, &exception);

    if (exception == NULL && !JSValueIsUndefined(c->ctx, value)) {
        add_string(c, tag, value, result);
    }
    return exception;
}

void js_run_nothing(struct js_context *c)
{
    static const struct guest_start start = {.timers_max = 1, .value_bytes_max = 4096};
    JSStringRef name = JSStringCreateWithUTF8CString("");
    JSValueRef two = JSValueMakeNumber(c->ctx, 2);
    JSValueRef exception;

    begin(c, &start, name, NULL);
    (void)js_context_call(c, HOOK_COMPLETED, 1, &two, &exception);
    (void)js_context_call(c, HOOK_JSON, 0, NULL, &exception);
    JSStringRelease(name);
}

void js_run(struct js_context *c, const struct guest_start *start, struct buf *result)
{
    JSStringRef name = js_string_from_utf8(start->name, start->name_len);
    JSValueRef thrown = NULL;
    JSValueRef value = NULL;
    struct js_types types;

    begin(c, start, name, NULL);
    put_u32(result, FIELD_OUTCOME, OUTCOME_OK);
    if (set_input(c, start) < 0) {
        JSStringRef text =
            JSStringCreateWithUTF8CString("the input is not JSON that the engine takes");

        fail(c, JSValueMakeString(c->ctx, text), result);
        JSStringRelease(text);
        JSStringRelease(name);
        return;
    }
    js_types_init(&types, start);
    if (evaluate_as(c, start, name, &types, result, &value, &thrown) < 0) {
        js_types_release(&types);
        JSStringRelease(name);
        return;
    }
    if (value != NULL) {
        thrown = turn_loop(c, value);
    }
    /* As text any value can be shown; as JSON it may be refused, and then there is no text either.
     */
    if (thrown == NULL && start->want_text) {
        thrown = add_value(c, HOOK_TEXT, FIELD_TEXT, result);
    } else if (thrown == NULL) {
        thrown = add_value(c, HOOK_JSON, FIELD_VALUE, result);
    }
    if (thrown != NULL) {
        fail(c, thrown, result);
    }
    js_types_release(&types);
    JSStringRelease(name);
}
