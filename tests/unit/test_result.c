/* test_result.c - what a cell says about its run, read with suspicion, and what the host adds. */
#include "host/result.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/limits.h"
#include "wire/field.h"

enum { PAYLOAD_MAX = 1 << 20 };

static struct vial_result *new_result(void)
{
    struct vial_result *result = NULL;
    struct vial_limits limits;

    assert_int_equal(limits_resolve(NULL, &limits, NULL), 0);
    limits.stdout_bytes_max = 10;
    limits.stderr_bytes_max = 4;
    assert_int_equal(result_new(&limits, "{\"level\":\"full\"}", &result, NULL), 0);
    return result;
}

/* Gives the bytes to the result as its own, with room for the last NUL, as a run does. */
static int read_bytes(struct vial_result *result, const char *bytes, size_t len)
{
    char *payload = malloc(len + 1);
    int r;

    assert_non_null(payload);
    if (len > 0) {
        memcpy(payload, bytes, len);
    }
    payload[len] = '\0';
    r = result_read(result, payload, len);
    if (r < 0) {
        free(payload);
    }
    return r;
}

static void add(struct buf *b, uint8_t tag, const char *text)
{
    assert_int_equal(field_add(b, tag, text, strlen(text), NULL), 0);
}

static void add_u32(struct buf *b, uint8_t tag, uint32_t v)
{
    assert_int_equal(field_add_u32(b, tag, v, NULL), 0);
}

/* Reads the payload into a fresh result and expects a refusal that leaves nothing behind. */
static void assert_refused(struct buf *b)
{
    struct vial_result *result = new_result();
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;

    assert_int_equal(read_bytes(result, b->data, b->len), -1);
    assert_null(vial_result_value(result, NULL));
    assert_null(vial_result_text(result, NULL));
    vial_result_error(result, &error);
    assert_null(error.name);
    assert_null(error.message);
    assert_int_equal(error.line, 0);
    assert_int_equal(result->frames_count, 0);
    assert_null(result->payload);
    assert_non_null(vial_result_json(result, NULL));
    vial_result_free(result);
    buf_release(b);
}

static void a_value_and_its_text_are_read(void **state)
{
    struct vial_result *result = new_result();
    struct buf b;
    size_t len = 0;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add(&b, FIELD_VALUE, "{\"a\":[1,2]}");
    add(&b, FIELD_TEXT, "{ a: [ 1, 2 ] }");
    assert_int_equal(read_bytes(result, b.data, b.len), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_string_equal(vial_result_value(result, &len), "{\"a\":[1,2]}");
    assert_int_equal(len, 11);
    assert_string_equal(vial_result_text(result, &len), "{ a: [ 1, 2 ] }");
    assert_int_equal(len, 15);
    vial_result_free(result);
    buf_release(&b);
}

static void an_exception_is_read_with_its_frames(void **state)
{
    struct vial_result *result = new_result();
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct buf b;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add(&b, FIELD_ERROR_NAME, "TypeError");
    add(&b, FIELD_ERROR_MESSAGE, "no");
    add(&b, FIELD_ERROR_STACK, "TypeError: no\n    at f (main.js:2:3)");
    add(&b, FIELD_ERROR_HINT, "");
    add_u32(&b, FIELD_ERROR_LINE, 2);
    add_u32(&b, FIELD_ERROR_COLUMN, 3);
    add(&b, FIELD_FRAME_FUNCTION, "f");
    add_u32(&b, FIELD_FRAME_LINE, 2);
    add_u32(&b, FIELD_FRAME_COLUMN, 3);
    add(&b, FIELD_FRAME_FILE, "./a.js");
    add(&b, FIELD_FRAME_FUNCTION, "");
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    assert_int_equal(read_bytes(result, b.data, b.len), 0);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    result_name_files(result, "main.js");
    vial_result_error(result, &error);
    assert_string_equal(error.file, "main.js");
    assert_string_equal(result->frames[0].file, "./a.js");
    assert_string_equal(result->frames[1].file, "main.js");
    assert_string_equal(error.name, "TypeError");
    assert_string_equal(error.message, "no");
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 3);
    assert_null(error.hint); /* an empty one is none */
    assert_int_equal(result->frames_count, 2);
    assert_string_equal(result->frames[0].function, "f");
    assert_int_equal(result->frames[0].column, 3);
    assert_string_equal(result->frames[1].function, "");
    vial_result_free(result);
    buf_release(&b);
}

static void a_payload_without_an_outcome_is_refused(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add(&b, FIELD_VALUE, "1");
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, 3);
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add(&b, FIELD_OUTCOME, "abc"); /* not four bytes */
    assert_refused(&b);
}

static void an_exception_needs_a_name_and_a_message(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    add(&b, FIELD_ERROR_NAME, "Error");
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    add(&b, FIELD_ERROR_MESSAGE, "text");
    assert_refused(&b);
}

static void a_value_that_is_no_json_is_refused(void **state)
{
    static const char *const values[] = {"", "{", "1 2", "undefined", "[1,]", "\"\xff\"", "NaN"};
    struct buf b;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        buf_init(&b, PAYLOAD_MAX);
        add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
        add(&b, FIELD_VALUE, values[i]);
        assert_refused(&b);
    }
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add(&b, FIELD_TEXT, "\xc3\x28");
    assert_refused(&b);
}

static void a_value_that_is_too_deep_is_refused(void **state)
{
    char deep[1024];
    struct buf b;

    (void)state;
    memset(deep, '[', 500);
    memset(deep + 500, ']', 500);
    deep[1000] = '\0';
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add(&b, FIELD_VALUE, deep);
    assert_refused(&b);
}

static void tags_that_do_not_belong_here_are_refused(void **state)
{
    struct buf b;
    int tag;

    (void)state;
    for (tag = 0; tag < 256; tag++) {
        if ((tag >= FIELD_OUTCOME && tag <= FIELD_FRAME_COLUMN) || tag == FIELD_ERROR_FILE ||
            tag == FIELD_FRAME_FILE || tag == FIELD_EXIT_CODE || tag == FIELD_ENDED ||
            tag == FIELD_DENIALS) {
            continue;
        }
        buf_init(&b, PAYLOAD_MAX);
        add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
        add_u32(&b, (uint8_t)tag, 0);
        assert_refused(&b);
    }
}

static void a_place_without_a_frame_is_refused(void **state)
{
    struct buf b;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add_u32(&b, FIELD_FRAME_LINE, 1);
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add_u32(&b, FIELD_FRAME_COLUMN, 1);
    assert_refused(&b);
    buf_init(&b, PAYLOAD_MAX);
    add(&b, FIELD_FRAME_FILE, "x");
    assert_refused(&b);
}

static void one_frame_too_many_is_refused(void **state)
{
    struct vial_result *result = new_result();
    struct buf b;
    int i;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    add(&b, FIELD_ERROR_NAME, "Error");
    add(&b, FIELD_ERROR_MESSAGE, "m");
    for (i = 0; i < RESULT_FRAMES_MAX; i++) {
        add(&b, FIELD_FRAME_FUNCTION, "f");
    }
    assert_int_equal(read_bytes(result, b.data, b.len), 0);
    assert_int_equal(result->frames_count, RESULT_FRAMES_MAX);
    vial_result_free(result);
    add(&b, FIELD_FRAME_FUNCTION, "f");
    assert_refused(&b);
}

/* Cut after any byte it is either refused or, between two fields, read without what is missing. */
static void a_payload_cut_anywhere_does_no_harm(void **state)
{
    struct vial_result *result;
    struct buf b;
    size_t n;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add(&b, FIELD_VALUE, "[1,2,3]");
    add(&b, FIELD_TEXT, "text");
    add(&b, FIELD_ERROR_NAME, "name");
    add(&b, FIELD_ERROR_STACK, "stack");
    for (n = 0; n <= b.len; n++) {
        result = new_result();
        if (read_bytes(result, b.data, n) == 0 && vial_result_value(result, NULL) != NULL) {
            assert_string_equal(vial_result_value(result, NULL), "[1,2,3]");
        }
        assert_non_null(vial_result_json(result, NULL));
        vial_result_free(result);
    }
    buf_release(&b);
}

/* Every byte of a good payload set to every extreme: nothing may be read outside of it. */
static void a_payload_with_one_wrong_byte_does_no_harm(void **state)
{
    static const unsigned char wrong[] = {0, 1, 0x7f, 0x80, 0xff};
    struct vial_result *result;
    struct buf b;
    size_t n, i;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_EXCEPTION);
    add(&b, FIELD_ERROR_NAME, "Error");
    add(&b, FIELD_ERROR_MESSAGE, "message");
    add(&b, FIELD_FRAME_FUNCTION, "f");
    add_u32(&b, FIELD_FRAME_LINE, 1);
    for (n = 0; n < b.len; n++) {
        for (i = 0; i < sizeof(wrong); i++) {
            char kept = b.data[n];

            b.data[n] = (char)wrong[i];
            result = new_result();
            (void)read_bytes(result, b.data, b.len);
            assert_non_null(vial_result_json(result, NULL));
            vial_result_free(result);
            b.data[n] = kept;
        }
    }
    buf_release(&b);
}

static void output_is_kept_up_to_its_limit_and_then_counted(void **state)
{
    struct vial_result *result = new_result();
    uint64_t dropped = 99;
    size_t len = 99;

    (void)state;
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, &len, &dropped), "");
    assert_int_equal(len, 0);
    assert_int_equal(dropped, 0);
    assert_int_equal(result_output(result, VIAL_STDOUT, "1234567", 7), 7);
    assert_int_equal(result_output(result, VIAL_STDOUT, "89abc", 5), 3);
    assert_int_equal(result_output(result, VIAL_STDOUT, "xyz", 3), 0);
    assert_string_equal(vial_result_output(result, VIAL_STDOUT, &len, &dropped), "123456789a");
    assert_int_equal(len, 10);
    assert_int_equal(dropped, 5);
    assert_int_equal(result_output(result, VIAL_STDERR, "errors", 6), 4);
    assert_string_equal(vial_result_output(result, VIAL_STDERR, NULL, &dropped), "erro");
    assert_int_equal(dropped, 2);
    vial_result_free(result);
}

static void a_stated_error_replaces_what_the_cell_said(void **state)
{
    struct vial_result *result = new_result();
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct buf b;

    (void)state;
    buf_init(&b, PAYLOAD_MAX);
    add_u32(&b, FIELD_OUTCOME, OUTCOME_OK);
    add(&b, FIELD_VALUE, "1");
    assert_int_equal(read_bytes(result, b.data, b.len), 0);
    result_state(result, VIAL_STATUS_WALL_LIMIT, "WallLimit", "a hint", "more than %d ms", 5);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_WALL_LIMIT);
    assert_null(vial_result_value(result, NULL));
    vial_result_error(result, &error);
    assert_string_equal(error.name, "WallLimit");
    assert_string_equal(error.message, "more than 5 ms");
    assert_string_equal(error.hint, "a hint");
    assert_null(error.stack);
    vial_result_free(result);
    buf_release(&b);
}

static const char *line_of(const char *source, uint32_t line)
{
    static char kept[300];
    struct vial_result *result = new_result();
    const char *found;

    result->error.line = line;
    result_find_line(result, source, strlen(source));
    found = result->error.source_line;
    if (found != NULL) {
        (void)memcpy(kept, found, strlen(found) + 1);
    }
    vial_result_free(result);
    return found != NULL ? kept : NULL;
}

static uint32_t column_of(const char *name, const char *message, const char *source)
{
    struct vial_result *result = new_result();
    uint32_t column;

    result->error.line = 1;
    result->error.name = name;
    result->error.message = message;
    result_find_line(result, source, strlen(source));
    column = result->error.column;
    vial_result_free(result);
    return column;
}

static void the_column_of_what_was_unexpected_is_found(void **state)
{
    (void)state;
    assert_int_equal(column_of("SyntaxError", "Unexpected token ';'", "let x = ;"), 9);
    assert_int_equal(column_of("SyntaxError", "Unexpected token ';'. More 'x'", "let x = ;"), 9);
    assert_int_equal(
        column_of("SyntaxError", "Unexpected identifier 'bar'", "'\xf0\x9f\x98\x80\xc3\xa4' bar"),
        7);
    assert_int_equal(column_of("SyntaxError", "Unexpected number '2'", "let y = 2 2"), 0);
    assert_int_equal(column_of("SyntaxError", "Unexpected token ';'", "let x ="), 0);
    assert_int_equal(column_of("SyntaxError", "Unexpected token '", "let ' ="), 0);
    assert_int_equal(column_of("SyntaxError", "Unexpected token ''", "let ' ="), 0);
    assert_int_equal(column_of("SyntaxError", "Unexpected end of script", "let"), 0);
    assert_int_equal(column_of("TypeError", "Unexpected token ';'", "let x = ;"), 0);
}

static void the_line_of_an_error_is_found(void **state)
{
    char long_line[1000];

    (void)state;
    assert_null(line_of("a\nb", 0));
    assert_string_equal(line_of("a\nb\nc", 1), "a");
    assert_string_equal(line_of("a\nb\nc", 3), "c");
    assert_string_equal(line_of("a\r\nb\r\n", 2), "b");
    assert_string_equal(line_of("a\n", 2), "");
    assert_null(line_of("a\nb", 3));
    assert_null(line_of("a", UINT32_MAX));
    memset(long_line, 'x', sizeof(long_line));
    long_line[sizeof(long_line) - 1] = '\0';
    assert_in_range(strlen(line_of(long_line, 1)), 200, 256);
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(vial_status_name(VIAL_STATUS_OK), "ok");
    assert_string_equal(vial_status_name(VIAL_STATUS_EXCEPTION), "exception");
    assert_string_equal(vial_status_name(VIAL_STATUS_CANCELLED), "cancelled");
    assert_string_equal(vial_status_name(VIAL_STATUS_CRASHED), "crashed");
    assert_string_equal(vial_status_name(-1), "unknown");
    assert_string_equal(vial_status_name(VIAL_STATUS_CRASHED + 1), "unknown");
}

static void a_caller_with_an_older_struct_gets_what_it_has_room_for(void **state)
{
    struct vial_result *result = new_result();
    struct vial_usage usage;
    struct vial_result_error error;

    (void)state;
    result->usage.wall_us = 5;
    result->usage.cpu_us = 6;
    memset(&usage, 0xee, sizeof(usage));
    usage.size = offsetof(struct vial_usage, cpu_us);
    vial_result_usage(result, &usage);
    assert_int_equal(usage.size, offsetof(struct vial_usage, cpu_us));
    assert_int_equal(usage.wall_us, 5);
    assert_int_equal(usage.cpu_us, 0xeeeeeeeeeeeeeeee);
    memset(&error, 0xee, sizeof(error));
    error.size = offsetof(struct vial_result_error, column);
    vial_result_error(result, &error);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0xeeeeeeee);
    vial_result_free(result);
    vial_result_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_and_its_text_are_read),
        cmocka_unit_test(an_exception_is_read_with_its_frames),
        cmocka_unit_test(a_payload_without_an_outcome_is_refused),
        cmocka_unit_test(an_exception_needs_a_name_and_a_message),
        cmocka_unit_test(a_value_that_is_no_json_is_refused),
        cmocka_unit_test(a_value_that_is_too_deep_is_refused),
        cmocka_unit_test(tags_that_do_not_belong_here_are_refused),
        cmocka_unit_test(a_place_without_a_frame_is_refused),
        cmocka_unit_test(one_frame_too_many_is_refused),
        cmocka_unit_test(a_payload_cut_anywhere_does_no_harm),
        cmocka_unit_test(a_payload_with_one_wrong_byte_does_no_harm),
        cmocka_unit_test(output_is_kept_up_to_its_limit_and_then_counted),
        cmocka_unit_test(a_stated_error_replaces_what_the_cell_said),
        cmocka_unit_test(the_line_of_an_error_is_found),
        cmocka_unit_test(the_column_of_what_was_unexpected_is_found),
        cmocka_unit_test(every_status_has_a_name),
        cmocka_unit_test(a_caller_with_an_older_struct_gets_what_it_has_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
