/* process.c - see process.h. */
#include "cell/js/process.h"

#include <string.h>

#include "cell/js/native.h"
#include "cell/js/run.h"
#include "wire/field.h"

enum { EXIT_CODE_BITS = 255 };

static const char SESSION_NAME[] = "session.js"; /* as in prelude/modules.js */

static const struct guest_start *current;
static struct guest_start first; /* current, in a session: a copy, which outlives its evaluation */
static const struct guest_start *latest; /* the program that runs, also in a session */
static size_t stdin_at;                  /* so much of the standard input has been read */

void js_process_start(const struct guest_start *start)
{
    first = *start;
    if (start->session != 0) { /* all of a session is one program, as import.meta has it too */
        first.name = SESSION_NAME;
        first.name_len = sizeof(SESSION_NAME) - 1;
    }
    current = start->session != 0 ? &first : start;
    stdin_at = 0;
}

void js_process_begin(const struct guest_start *start)
{
    latest = start;
}

/* All strings of a kind in a start message, as an array. */
static JSValueRef strings_of(JSContextRef ctx, const struct guest_start *start, uint8_t tag)
{
    JSObjectRef array = JSObjectMakeArray(ctx, 0, NULL, NULL);
    struct field f;
    size_t at = 0;
    unsigned count = 0;

    while (start != NULL && start->fields != NULL &&
           field_next(start->fields, start->fields_len, &at, &f) == 1) {
        if (f.tag == tag) {
            JSObjectSetPropertyAtIndex(ctx, array, count++, native_text(ctx, f.bytes, f.len), NULL);
        }
    }
    return array;
}

NATIVE(process_args)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return strings_of(ctx, current, FIELD_ARG);
}

NATIVE(process_env)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return strings_of(ctx, current, FIELD_ENV);
}

/* Names of variables that the program may not have, though an earlier one had them. */
NATIVE(process_env_gone)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return strings_of(ctx, latest, FIELD_ENV_GONE);
}

/* The name of the program, as stack traces have it. */
NATIVE(process_name)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return current != NULL && current->name != NULL
               ? native_text(ctx, current->name, current->name_len)
               : JSValueMakeUndefined(ctx);
}

static size_t stdin_left(void)
{
    return current != NULL ? current->stdin_len - stdin_at : 0;
}

/* (bytes, offset, length): takes from the standard input; how many there were. */
NATIVE(process_stdin)
{
    size_t len = 0;
    char *bytes = native_bytes(ctx, argc, argv, 0, &len);

    NATIVE_UNUSED;
    len = bytes == NULL ? 0 : len < stdin_left() ? len : stdin_left();
    if (len > 0) {
        memcpy(bytes, current->stdin_bytes + stdin_at, len);
        stdin_at += len;
    }
    return JSValueMakeNumber(ctx, (double)len);
}

NATIVE(process_stdin_left)
{
    (void)argc;
    (void)argv;
    NATIVE_UNUSED;
    return JSValueMakeNumber(ctx, (double)stdin_left());
}

/* (stream, bytes, offset, length): output that need not be text. */
NATIVE(process_write)
{
    int64_t stream = native_integer(ctx, argc, argv, 0, 0);
    size_t len = 0;
    const char *bytes = native_bytes(ctx, argc, argv, 1, &len);

    NATIVE_UNUSED;
    if (bytes != NULL && (stream == VIAL_STDOUT || stream == VIAL_STDERR)) {
        cell_output((int)stream, bytes, len);
    }
    return JSValueMakeUndefined(ctx);
}

/* (code), or (code, thrown): ends the run here and now. */
NATIVE(process_exit)
{
    NATIVE_UNUSED;
    js_run_exit(ctx, (uint32_t)native_integer(ctx, argc, argv, 0, 0) & EXIT_CODE_BITS,
        argc > 1 ? argv[1] : NULL);
}

static const struct native_row ROWS[] = {
    {"args", process_args},
    {"env", process_env},
    {"envGone", process_env_gone},
    {"name", process_name},
    {"stdin", process_stdin},
    {"stdinLeft", process_stdin_left},
    {"write", process_write},
    {"exit", process_exit},
};

void js_process_add(JSContextRef ctx, JSObjectRef native)
{
    native_add_object(ctx, native, "process", ROWS, sizeof(ROWS) / sizeof(ROWS[0]));
}
