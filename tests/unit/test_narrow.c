/* test_narrow.c - text that the engine keeps in bytes: it is found in this library, and nothing
 * else is ever taken for it. */
#include "cell/js/narrow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 100000 };

/* What a program makes, as the engine itself would hand it over. */
static JSStringRef text_of(JSGlobalContextRef ctx, const char *program)
{
    JSStringRef source = JSStringCreateWithUTF8CString(program);
    JSValueRef value = JSEvaluateScript(ctx, source, NULL, NULL, 1, NULL);
    JSStringRef text;

    JSStringRelease(source);
    assert_non_null(value);
    text = JSValueToStringCopy(ctx, value, NULL);
    assert_non_null(text);
    return text;
}

/* All characters of text, in bytes or not, are what the interface says. */
static void assert_same(JSStringRef text, int is_narrow)
{
    const unsigned char *bytes = narrow_bytes(text);
    size_t i, n = JSStringGetLength(text);
    const JSChar *units = JSStringGetCharactersPtr(text);

    assert_int_equal(bytes != NULL, is_narrow);
    for (i = 0; bytes != NULL && i < n; i++) {
        assert_int_equal(bytes[i], units[i]);
    }
}

static void nothing_is_known_before_it_was_looked_for(void **state)
{
    JSStringRef text = JSStringCreateWithUTF8CString("text");

    (void)state;
    assert_null(narrow_bytes(text));
    assert_null(narrow_string("text", 4));
    JSStringRelease(text);
}

static void text_in_bytes_is_found_and_other_text_is_not_taken_for_it(void **state)
{
    static const struct {
        const char *program;
        int is_narrow;
    } rows[] = {
        {"'a'.repeat(100000)", 1},
        {"JSON.stringify(Array.from({length: 20000}, (_, i) => ({i, s: 'x' + i})))", 1},
        {"'caf\\u00e9 \\u00ff'.repeat(1000)", 1},
        {"('x' + 'y'.repeat(5000)).slice(17, 4000)", 1},             /* a part of another text */
        {"let t = ''; for (let i = 0; i < 9999; i++) t += i; t", 1}, /* put together when asked */
        {"'\\u4e00' + 'a'.repeat(5000)", 0},
        {"'a'.repeat(5000) + '\\ud83d\\ude00'", 0},
        {"JSON.stringify(['\\ud83d\\ude00'.repeat(3000)])", 0},
    };
    JSGlobalContextRef ctx = JSGlobalContextCreate(NULL);
    size_t i;

    (void)state;
    assert_int_equal(narrow_find(), 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        JSStringRef text = text_of(ctx, rows[i].program);

        assert_same(text, rows[i].is_narrow);
        JSStringRelease(text);
    }
    JSGlobalContextRelease(ctx);
}

static void text_that_was_made_here_is_read_as_well(void **state)
{
    static const char bytes[] = "plain text that is long enough to be kept anywhere at all";
    JSChar *units = calloc(MANY, sizeof(*units));
    JSStringRef empty = JSStringCreateWithUTF8CString("");
    JSStringRef text = JSStringCreateWithUTF8CString(bytes);
    JSStringRef wide = JSStringCreateWithCharacters(units, MANY);

    (void)state;
    assert_int_equal(narrow_find(), 0);
    assert_same(text, 1);
    assert_memory_equal(narrow_bytes(text), bytes, sizeof(bytes) - 1);
    if (narrow_bytes(wide) != NULL) { /* the engine may have found that they fit into bytes */
        assert_same(wide, 1);
    }
    (void)narrow_bytes(empty); /* no crash: it may have no record at all */
    JSStringRelease(empty);
    JSStringRelease(text);
    JSStringRelease(wide);
    free(units);
}

static void ascii_becomes_a_string_that_the_engine_takes(void **state)
{
    static const char json[] = "{\"a\": [1, 2, \"three\"], \"b\": null}";
    JSGlobalContextRef ctx = JSGlobalContextCreate(NULL);
    char *many = malloc(MANY);
    JSStringRef text;
    JSValueRef value;

    (void)state;
    assert_non_null(many);
    memset(many, 'x', MANY);
    many[MANY / 2] = '\0';
    assert_int_equal(narrow_find(), 0);
    text = narrow_string(many, MANY);
    assert_non_null(text);
    assert_int_equal(JSStringGetLength(text), MANY);
    assert_memory_equal(narrow_bytes(text), many, MANY);
    memset(many, 'y', MANY); /* it has a copy */
    assert_int_equal(narrow_bytes(text)[0], 'x');
    JSStringRelease(text);
    text = narrow_string(json, sizeof(json) - 1);
    value = JSValueMakeFromJSONString(ctx, text);
    assert_non_null(value);
    assert_true(JSValueIsObject(ctx, value));
    JSStringRelease(text);
    JSGlobalContextRelease(ctx);
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_before_it_was_looked_for),
        cmocka_unit_test(text_in_bytes_is_found_and_other_text_is_not_taken_for_it),
        cmocka_unit_test(text_that_was_made_here_is_read_as_well),
        cmocka_unit_test(ascii_becomes_a_string_that_the_engine_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
