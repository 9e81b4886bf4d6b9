/* tools.c - see tools.h. */
#include "cell/js/tools.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cell/calls.h"
#include "cell/js/native.h"
#include "wire/fetch.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { ARGS_KEEP_BYTES = 65536 }; /* a larger buffer is given back after the call is sent */

static uint32_t call_bytes_max, request_bytes_max;
static int exist;
static struct buf args = {.max = SIZE_MAX / 4};

/* (tool, value): value is JSON text or CBOR bytes. The number of the call; the call of one that is
 * too large is sent without its arguments, and the host says so. */
static uint32_t send_call(JSContextRef ctx, size_t argc, const JSValueRef argv[], int is_waited_for)
{
    uint32_t tool = (uint32_t)native_integer(ctx, argc, argv, 0, 0);
    uint32_t kind = CALL_JSON;
    const char *bytes = NULL;
    char *cbor = NULL;
    uint32_t id;
    uint64_t size;
    size_t len = 0;
    JSStringRef text;

    if (argc > 1 && JSValueIsObject(ctx, argv[1]) && js_bytes(ctx, argv[1], &cbor, &len) == 0) {
        kind = CALL_CBOR;
        bytes = cbor;
    } else if (argc > 1) {
        text = JSValueToStringCopy(ctx, argv[1], NULL);
        if (text == NULL || js_string_to_utf8(text, &args) < 0) {
            _exit(1); /* no memory */
        }
        JSStringRelease(text);
        bytes = args.len > 0 ? args.data : "";
        len = args.len;
    }
    if (len > call_bytes_max) {
        size = len;
        kind = CALL_LARGE;
        bytes = (const char *)&size;
        len = sizeof(size);
    }
    id = is_waited_for ? calls_add_claimed(tool, kind, bytes, len)
                       : calls_add(tool, kind, bytes, len);
    buf_clear(&args);
    if (args.capacity > ARGS_KEEP_BYTES) {
        buf_release(&args);
    }
    return id;
}

static JSValueRef bytes_value(JSContextRef ctx, const char *from, size_t len)
{
    JSObjectRef bytes = JSObjectMakeTypedArray(ctx, kJSTypedArrayTypeUint8Array, len, NULL);

    if (bytes != NULL && len > 0) {
        memcpy(JSObjectGetTypedArrayBytesPtr(ctx, bytes, NULL), from, len);
    }
    return bytes != NULL ? (JSValueRef)bytes : JSValueMakeUndefined(ctx);
}

/* Values of JSON are made by the engine itself. */
static JSValueRef json_value(JSContextRef ctx, const char *from, size_t len)
{
    JSStringRef text = js_string_from_utf8(from, len);
    JSValueRef value = text != NULL ? JSValueMakeFromJSONString(ctx, text) : NULL;

    if (text != NULL) {
        JSStringRelease(text);
    }
    return value != NULL ? value : JSValueMakeUndefined(ctx);
}

/* What the network answered, as an array of flags, head and body: wire/fetch.h. */
static JSValueRef reply_value(JSContextRef ctx, const struct answer *answer)
{
    struct fetch_reply reply;
    JSValueRef parts[3];
    const char *rest = answer->bytes + sizeof(reply);

    if (answer->len < sizeof(reply)) {
        return JSValueMakeUndefined(ctx);
    }
    memcpy(&reply, answer->bytes, sizeof(reply));
    if (reply.head_len > answer->len - sizeof(reply)) {
        return JSValueMakeUndefined(ctx);
    }
    parts[0] = JSValueMakeNumber(ctx, reply.flags);
    parts[1] =
        reply.head_len > 0 ? json_value(ctx, rest, reply.head_len) : JSValueMakeUndefined(ctx);
    parts[2] =
        bytes_value(ctx, rest + reply.head_len, answer->len - sizeof(reply) - reply.head_len);
    return JSObjectMakeArray(ctx, 3, parts, NULL);
}

/* What came with an answer: text, bytes, parts or undefined. Errors are made by the prelude. */
static JSValueRef answer_value(JSContextRef ctx, const struct answer *answer)
{
    switch (answer->kind) {
    case ANSWER_UNDEFINED:
        return JSValueMakeUndefined(ctx);
    case ANSWER_CBOR:
        return bytes_value(ctx, answer->bytes, answer->len);
    case ANSWER_BYTES:
        return reply_value(ctx, answer);
    default:
        return json_value(ctx, answer->bytes, answer->len);
    }
}

NATIVE(tools_call)
{
    NATIVE_UNUSED;
    return JSValueMakeNumber(ctx, send_call(ctx, argc, argv, 0));
}

/* The same for a tool that blocks: an array of the kind of the answer and what came with it. */
NATIVE(tools_call_and_wait)
{
    struct answer answer;
    JSValueRef pair[2];

    NATIVE_UNUSED;
    if (!calls_wait_for(send_call(ctx, argc, argv, 1), &answer)) {
        return JSValueMakeUndefined(ctx); /* nothing of the guest's runs after this */
    }
    pair[0] = JSValueMakeNumber(ctx, answer.kind);
    pair[1] = answer_value(ctx, &answer);
    return JSObjectMakeArray(ctx, 2, pair, NULL);
}

/* (op, stream, head, body, flags): a call of FETCH_TOOL; the head is JSON text, the body bytes or
 * undefined. The number of the call. */
NATIVE(tools_fetch)
{
    struct fetch_ask ask = {.op = (uint32_t)native_integer(ctx, argc, argv, 0, 0),
        .stream = (uint32_t)native_integer(ctx, argc, argv, 1, 0),
        .flags = (uint32_t)native_integer(ctx, argc, argv, 4, 0)};
    JSStringRef text = argc > 2 ? JSValueToStringCopy(ctx, argv[2], NULL) : NULL;
    char *body = NULL;
    size_t body_len = 0;
    uint64_t size;
    uint32_t id;

    NATIVE_UNUSED;
    if (argc > 3 && JSValueIsObject(ctx, argv[3]) && js_bytes(ctx, argv[3], &body, &body_len) < 0) {
        body_len = 0;
    }
    buf_clear(&args);
    if (text == NULL || buf_add(&args, &ask, sizeof(ask), NULL) < 0 ||
        js_string_to_utf8(text, &args) < 0) {
        _exit(1); /* no memory */
    }
    JSStringRelease(text);
    ask.head_len = (uint32_t)(args.len - sizeof(ask));
    if (body_len > request_bytes_max || ask.head_len > FETCH_HEAD_BYTES_MAX) {
        size = args.len + body_len;
        id = calls_add(FETCH_TOOL, CALL_LARGE, (const char *)&size, sizeof(size));
    } else {
        memcpy(args.data, &ask, sizeof(ask));
        if (body_len > 0 && buf_add(&args, body, body_len, NULL) < 0) {
            _exit(1);
        }
        id = calls_add(FETCH_TOOL, CALL_BYTES, args.data, args.len);
    }
    buf_clear(&args);
    if (args.capacity > ARGS_KEEP_BYTES) {
        buf_release(&args);
    }
    return JSValueMakeNumber(ctx, id);
}

static const struct native_row ROWS[] = {
    {"call", tools_call},
    {"fetch", tools_fetch},
    {"callAndWait", tools_call_and_wait},
};

void js_tools_add(JSContextRef ctx, JSObjectRef native)
{
    native_add_object(ctx, native, "tools", ROWS, sizeof(ROWS) / sizeof(ROWS[0]));
}

/* One FIELD_TOOL: its bits, its name, the names of its parameters. */
static void provide(struct js_context *c, uint32_t index, const struct field *f)
{
    JSValueRef exception;
    JSValueRef argv[4];
    uint32_t bits = 0;
    const char *at = f->bytes + sizeof(bits);
    const char *end = f->bytes + f->len;
    JSObjectRef names = JSObjectMakeArray(c->ctx, 0, NULL, NULL);
    unsigned count = 0;
    size_t len;

    if (f->len <= sizeof(bits) || end[-1] != '\0') {
        _exit(1);
    }
    memcpy(&bits, f->bytes, sizeof(bits));
    argv[0] = JSValueMakeNumber(c->ctx, index);
    argv[1] = JSValueMakeNumber(c->ctx, bits);
    argv[2] = native_text(c->ctx, at, strlen(at));
    for (at += strlen(at) + 1; at < end; at += len + 1) {
        len = strlen(at);
        JSObjectSetPropertyAtIndex(c->ctx, names, count++, native_text(c->ctx, at, len), NULL);
    }
    argv[3] = names;
    (void)js_context_call(c, HOOK_TOOL, 4, argv, &exception);
}

void js_tools_begin(struct js_context *c, const struct guest_start *start)
{
    JSValueRef exception;
    struct field f;
    uint32_t index = 0;
    size_t at = 0;

    call_bytes_max = start->call_bytes_max;
    request_bytes_max = start->request_bytes_max;
    if (call_bytes_max > 0 || request_bytes_max > 0) {
        calls_begin(request_bytes_max > 0 && call_bytes_max < FETCH_PIECE_BYTES ? FETCH_PIECE_BYTES
                                                                                : call_bytes_max);
    }
    if (request_bytes_max > 0) {
        exist = 1;
        (void)js_context_call(c, HOOK_NET, 0, NULL, &exception);
    }
    if (start->tools_count == 0) {
        return;
    }
    exist = 1;
    while (field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag == FIELD_TOOL) {
            provide(c, index++, &f);
        }
    }
}

int js_tools_exist(void)
{
    return exist;
}

JSValueRef js_tools_take(struct js_context *c, uint64_t until_us)
{
    struct answer answer;
    JSValueRef exception = NULL;
    JSValueRef argv[3];

    if (!calls_next(until_us, &answer)) {
        return NULL;
    }
    do { /* what has come meanwhile as well: each may let the guest go on */
        argv[0] = JSValueMakeNumber(c->ctx, answer.id);
        argv[1] = JSValueMakeNumber(c->ctx, answer.kind);
        argv[2] = answer_value(c->ctx, &answer);
        (void)js_context_call(c, HOOK_ANSWER, 3, argv, &exception);
    } while (exception == NULL && calls_has_more() && calls_next(0, &answer));
    return exception;
}
