/* test_surface.c - the surface in templates that are warmed up, where it is loaded before the fork;
 * the command line starts quick ones, which tests/integration/test_web.py and test_node.py go
 * through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper.h"
#include "vial.h"

static struct vial_engine *engine;

static int start_engine(void **state)
{
    struct vial_engine_options options = helper_options();

    (void)state;
    options.quick = 0;
    return vial_engine_new(&options, &engine, NULL);
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

static void common_names_are_loaded_before_the_run(void **state)
{
    (void)state;
    helper_expect(engine,
        "['URL', 'Buffer', 'TextDecoder', 'AbortController', 'structuredClone', 'crypto']"
        ".filter(n => !('value' in Object.getOwnPropertyDescriptor(globalThis, n)))",
        "[]");
    helper_expect(engine, "new URL('../x?a=b', 'http://h/p/q').href", "\"http://h/x?a=b\"");
    helper_expect(engine, "Buffer.from('68c3a9', 'hex').toString()", "\"h\xc3\xa9\"");
    helper_expect(engine, "require('path').relative('/a/b', '/a/c')", "\"../c\"");
}

static void rare_names_are_loaded_in_the_run(void **state)
{
    (void)state;
    helper_expect(
        engine, "'get' in Object.getOwnPropertyDescriptor(globalThis, 'Response')", "true");
    helper_expect(engine, "await new Response('{\"a\":1}').json()", "{\"a\":1}");
    helper_expect(engine, "require('crypto').createHash('md5').update('').digest('hex')",
        "\"d41d8cd98f00b204e9800998ecf8427e\"");
    helper_expect(
        engine, "require('zlib').gunzipSync(require('zlib').gzipSync('x')).toString()", "\"x\"");
}

static void warming_up_leaves_no_trace(void **state)
{
    (void)state;
    helper_expect(engine, "performance.getEntries().length", "0");
    helper_expect(engine, "Object.keys(globalThis)", "[]");
    helper_expect(engine, "new (require('events'))().eventNames()", "[]");
    helper_expect(engine,
        "Promise.prototype.hasOwnProperty('constructor') && "
        "'value' in Object.getOwnPropertyDescriptor(Promise.prototype, 'constructor')",
        "true");
}

static void cells_draw_different_random_bytes(void **state)
{
    struct vial_result *first = helper_run(engine, "crypto.randomUUID()", NULL);
    struct vial_result *second = helper_run(engine, "crypto.randomUUID()", NULL);

    (void)state;
    assert_string_not_equal(vial_result_value(first, NULL), vial_result_value(second, NULL));
    vial_result_free(first);
    vial_result_free(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_names_are_loaded_before_the_run),
        cmocka_unit_test(rare_names_are_loaded_in_the_run),
        cmocka_unit_test(warming_up_leaves_no_trace),
        cmocka_unit_test(cells_draw_different_random_bytes),
    };

    return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
