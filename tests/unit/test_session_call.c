/* test_session_call.c - calls of functions of a session with CBOR arguments, and a tool that gives
 * modules while a program runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

static struct vial_engine *engine;
static int asked; /* for modules */

static int start_engine(void **state)
{
    (void)state;
    engine = helper_engine();
    return 0;
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static struct vial_result *eval(struct vial_session *session, const char *source)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    request.source = source;
    request.source_len = strlen(source);
    if (vial_session_eval(session, &request, &result, &err) < 0) {
        fail_msg("%s: %s", source, err.text);
    }
    return result;
}

/* Frees the result. */
static void check_value(struct vial_result *result, const char *value)
{
    const char *is = vial_result_value(result, NULL);

    if (is == NULL || strcmp(is, value) != 0) {
        fail_msg("expected %s: %s", value, vial_result_json(result, NULL));
    }
    vial_result_free(result);
}

static void check_error(struct vial_result *result, const char *name, const char *words)
{
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &error);
    if (error.name == NULL || strcmp(error.name, name) != 0 ||
        strstr(error.message, words) == NULL) {
        fail_msg("expected %s with %s: %s", name, words, vial_result_json(result, NULL));
    }
    vial_result_free(result);
}

/* ---- arguments ---- */

/* [h, -1n - 2n**64n, h'0102'] with h a function of the session. */
static size_t cbor_args(unsigned handle, unsigned char out[64])
{
    static const unsigned char head[] = {
        0x83, 0xd8, 27, 0x82, 0x68, 'F', 'u', 'n', 'c', 't', 'i', 'o', 'n'};
    static const unsigned char tail[] = {0xc3, 0x49, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x42, 1, 2};

    assert_true(handle < 24);
    memcpy(out, head, sizeof(head));
    out[sizeof(head)] = (unsigned char)handle;
    memcpy(out + sizeof(head) + 1, tail, sizeof(tail));
    return sizeof(head) + 1 + sizeof(tail);
}

static int call(struct vial_session *s, const unsigned char *args, size_t len,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_request request = VIAL_REQUEST_INIT;

    request.input_is_cbor = 1;
    return vial_session_call(s, 1, (const char *)args, len, &request, ret, err);
}

static void arguments_may_be_cbor_with_functions_in_it(void **state)
{
    static const char source[] =
        "[(f, big, bytes) => f(typeof big, big === -(2n ** 64n) - 1n, bytes.length), (...a) => a]";
    unsigned char args[64];
    struct vial_session *s = NULL;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    size_t len = cbor_args(2, args);

    (void)state;
    assert_int_equal(vial_session_new(engine, NULL, &s, &err), 0);
    check_value(eval(s, source), "[{\"$function\":1},{\"$function\":2}]");
    assert_int_equal(call(s, args, len, &result, &err), 0);
    check_value(result, "[\"bigint\",true,2]");
    assert_int_equal(call(s, args, len - 1, &result, &err), VIAL_E_INVALID);
    assert_int_equal(call(s, (const unsigned char *)"\xa0", 1, &result, &err), VIAL_E_INVALID);
    assert_int_equal(call(s, (const unsigned char *)"", 0, &result, &err), VIAL_E_INVALID);
    assert_int_equal(vial_session_release(s, 2, &err), 0); /* then it cannot be passed */
    assert_int_equal(call(s, args, len, &result, &err), 0);
    check_error(result, "ReferenceError", "released");
    check_value(eval(s, "1"), "1");
    vial_session_free(s);
}

static void arguments_in_python_may_be_cbor(void **state)
{
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    unsigned char args[64];
    struct vial_session *s = NULL;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    o.language = VIAL_LANGUAGE_PYTHON;
    assert_int_equal(vial_session_new(engine, &o, &s, &err), 0);
    vial_result_free(eval(s, "[lambda f, big, data: f(big, data), "
                             "lambda big, data: [big == -1 - 2**64, len(data)]]"));
    assert_int_equal(call(s, args, cbor_args(2, args), &result, &err), 0);
    check_value(result, "[true,2]");
    vial_session_free(s);
}

/* ---- modules ---- */

static void give_module(struct vial_engine *e, const struct vial_call *c, void *user)
{
    static const struct {
        const char *specifier, *answer;
    } modules[] = {
        {"\"specifier\":\"app:main\"",
            "{\"name\":\"app:main\",\"source\":\"import { x } from './x'; export "
            "const y = x + 1;\"}"},
        {"\"specifier\":\"./x\"", "{\"name\":\"app:x\",\"source\":\"export const x = 1;\"}"},
        {"\"specifier\":\"again\"", "{\"name\":\"app:x\"}"},
        {"\"specifier\":\"bare\"", "{\"name\":\"app:unknown\"}"},
        {"\"specifier\":\"odd\"", "{\"source\":\"1\"}"},
        {"\"specifier\":\"broken\"", "{\"name\":\"broken\",\"source\":\"export const = 1\"}"},
    };

    (void)user;
    asked++;
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (strstr(c->args, modules[i].specifier) != NULL) {
            (void)!vial_call_answer(e, c->id, modules[i].answer, strlen(modules[i].answer), NULL);
            return;
        }
    }
    if (strstr(c->args, "fails") != NULL) {
        (void)!vial_call_fail(e, c->id, "LoadError", "no such thing", NULL, NULL);
        return;
    }
    (void)!vial_call_answer(e, c->id, "null", 4, NULL);
}

static struct vial_tool module_tool(void)
{
    struct vial_tool tool = VIAL_TOOL_INIT;

    tool.name = "modules";
    tool.mode = VIAL_TOOL_SYNC;
    tool.flags = VIAL_TOOL_MODULES;
    tool.call = give_module;
    return tool;
}

static void a_tool_gives_modules(void **state)
{
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    struct vial_module own = {.name = "own", .source = "export default 5", .source_len = 16};
    struct vial_tool tool = module_tool();
    struct vial_session *s = NULL, *branch = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    o.tools = &tool;
    o.tools_count = 1;
    o.modules = &own;
    o.module_count = 1;
    assert_int_equal(vial_session_new(engine, &o, &s, &err), 0);
    check_value(eval(s, "typeof modules"), "\"undefined\""); /* programs do not see it */
    check_value(eval(s, "import { y } from 'app:main'; y"), "2");
    check_value(eval(s, "(await import('again')).x"), "1");
    check_value(eval(s, "import own from 'own'; own"), "5"); /* not the tool's */
    check_value(eval(s, "import { sep } from 'node:path'; sep"), "\"/\"");
    check_error(eval(s, "await import('nowhere')"), "Error", "Cannot find module");
    check_error(eval(s, "await import('bare')"), "Error", "no source");
    check_error(eval(s, "await import('odd')"), "Error", "no name");
    check_error(eval(s, "await import('fails')"), "LoadError", "no such thing");
    vial_result_free(eval(s, "await import('broken')"));
    assert_int_equal(vial_session_branch(s, 1, &branch, &err), 0);
    check_value(eval(branch, "(await import('again')).x"), "1");
    vial_session_free(branch);
    vial_session_free(s);
}

static void a_run_has_them_too(void **state)
{
    static const char source[] =
        "import { y } from 'app:main'; import own from './own.js'; y + own";
    struct vial_module own = {.name = "./own.js", .source = "export default 5", .source_len = 16};
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_tool tool = module_tool();
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    (void)state;
    request.source = source;
    request.source_len = strlen(source);
    request.tools = &tool;
    request.tools_count = 1;
    request.modules = &own;
    request.module_count = 1;
    asked = 0;
    assert_int_equal(vial_run(engine, &request, &result, &err), 0);
    check_value(result, "7");
    assert_int_equal(asked, 3);
    tool.mode = VIAL_TOOL_ASYNC;
    assert_int_equal(vial_run(engine, &request, &result, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "synchronous"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_may_be_cbor_with_functions_in_it),
        cmocka_unit_test(arguments_in_python_may_be_cbor),
        cmocka_unit_test(a_tool_gives_modules),
        cmocka_unit_test(a_run_has_them_too),
    };

    return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
