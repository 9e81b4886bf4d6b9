/* test_recording.c - a run as one JSON object: all of it, nothing that is secret, and no more than
 * may be kept. */
#include "host/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/result.h"
#include "policy/limits.h"

static struct vial_error err;

static const char ERROR[] = "{\"name\":\"E\",\"message\":\"m\",\"fields\":{\"pin\":3}}";

static struct vial_result *new_result(void)
{
    struct vial_result *result = NULL;
    struct vial_limits limits;
    uint32_t call;

    assert_int_equal(limits_resolve(NULL, &limits, NULL), 0);
    assert_int_equal(result_new(&limits, "{\"level\":\"full\",\"layers\":[]}", &result, NULL), 0);
    result->value = "{\"pin\":1234,\"a\":0.5}";
    result->value_len = strlen(result->value);
    (void)result_output(result, VIAL_STDOUT, "said", 4);
    call = result_calls_add(&result->calls, "f", 10, 3);
    result_calls_record(&result->calls, call, CALL_PART_INPUT, "{\"pin\":1}", 9);
    result_calls_record(&result->calls, call, CALL_PART_OUTPUT, "[{\"pin\":2}]", 11);
    result_calls_end(&result->calls, call, VIAL_CALL_OK, NULL, 30, 3);
    call = result_calls_add(&result->calls, "g", 40, 3);
    result_calls_record(&result->calls, call, CALL_PART_ERROR, ERROR, sizeof(ERROR) - 1);
    result_calls_end(&result->calls, call, VIAL_CALL_FAILED, "m", 50, 0);
    return result;
}

static struct vial_request new_request(void)
{
    struct vial_request q = VIAL_REQUEST_INIT;

    q.source = "1\0002";
    q.source_len = 3;
    q.input = "{\"pin\":77}";
    q.input_len = 10;
    return q;
}

static json_t *record(const struct recording_parts *parts)
{
    struct vial_result *result = new_result();
    char *text = NULL;
    size_t len = 0;
    json_t *root;

    if (recording_write(parts, result, &text, &len, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(strlen(text), len);
    root = json_loads(text, JSON_ALLOW_NUL, NULL);
    assert_non_null(root);
    free(text);
    vial_result_free(result);
    return root;
}

static const char *text_at(const json_t *root, const char *key)
{
    return json_string_value(json_object_get(root, key));
}

static void all_of_a_run_is_there(void **state)
{
    static const struct vial_file files[] = {
        {.name = "a", .bytes = "\0\xff", .len = 2}, {.name = "empty", .bytes = NULL, .len = 0}};
    static const struct vial_module modules[] = {{"m", "export {}", 9}};
    static const char *const args[] = {"x"};
    static const struct vial_scan_rules rules[] = {{"r", "text", 4}};
    const struct vial_tool tool = {.size = sizeof(tool),
        .name = "f",
        .input_schema = "{}",
        .url = "http://key@host/",
        .calls_max = 3};
    struct vial_request q = new_request();
    const struct recording_parts parts = {.request = &q, .bytes_max = 1 << 20};
    const json_t *item, *result;
    json_t *root;

    (void)state;
    q.files = files;
    q.files_count = 2;
    q.modules = modules;
    q.module_count = 1;
    q.args = args;
    q.args_count = 1;
    q.scan = VIAL_SCAN_WARN;
    q.scan_rules = rules;
    q.scan_rules_count = 1;
    q.tools = &tool;
    q.tools_count = 1;
    root = record(&parts);
    assert_int_equal(json_integer_value(json_object_get(root, "vial_record")), RECORDING_VERSION);
    assert_int_equal(json_string_length(json_object_get(root, "source")), 3);
    assert_true(json_is_null(json_object_get(root, "name"))); /* the library has its own */
    assert_true(json_is_null(json_object_get(root, "environment")));
    assert_string_equal(text_at(root, "input"), "{\"pin\":77}");
    item = json_array_get(json_object_get(root, "files"), 0);
    assert_string_equal(text_at(item, "base64"), "AP8=");
    item = json_array_get(json_object_get(root, "files"), 1);
    assert_string_equal(text_at(item, "base64"), "");
    item = json_array_get(json_object_get(root, "modules"), 0);
    assert_string_equal(text_at(item, "source"), "export {}");
    item = json_array_get(json_object_get(root, "scan_rules"), 0);
    assert_string_equal(text_at(item, "text"), "text");
    item = json_array_get(json_object_get(root, "tools"), 0);
    assert_string_equal(text_at(item, "input"), "{}");
    assert_int_equal(json_integer_value(json_object_get(item, "calls_max")), 3);
    assert_null(json_object_get(item, "url"));
    result = json_object_get(root, "result");
    assert_string_equal(text_at(result, "stdout"), "said");
    assert_null(json_object_get(result, "usage")); /* differs each time */
    item = json_array_get(json_object_get(result, "calls"), 0);
    assert_int_equal(json_integer_value(json_object_get(item, "duration_us")), 20);
    json_decref(root);
}

static void tools_are_kept_without_their_way_to_the_host(void **state)
{
    static const char document[] =
        "{\"name\":\"e\",\"tools\":[{\"name\":\"h\",\"http\":{\"url\":\"http://x/\",\"headers\":"
        "{\"Authorization\":\"Bearer hush\"}}},{\"name\":\"x\",\"exec\":{\"command\":[\"/bin/a\"],"
        "\"env\":{\"KEY\":\"hush\"}}}]}";
    struct vial_request q = new_request();
    const struct recording_parts parts = {.request = &q,
        .document = document,
        .document_len = sizeof(document) - 1,
        .bytes_max = 1 << 20};
    json_t *root = record(&parts);

    (void)state;
    assert_string_equal(text_at(root, "environment"),
        "{\"name\":\"e\",\"tools\":[{\"name\":\"h\"},{\"name\":\"x\"}]}");
    assert_null(json_object_get(root, "tools")); /* the document has them */
    json_decref(root);
}

static void what_the_environment_redacts_is_nowhere(void **state)
{
    static const char document[] = "{\"env\":{\"PIN\":\"77\"},\"globals\":{\"pin\":77,\"b\":1},"
                                   "\"tools\":[{\"name\":\"f\",\"input\":{\"properties\":"
                                   "{\"pin\":{\"type\":\"number\"}}}}]}";
    char pin[] = "pin", *patterns[] = {pin};
    const struct audit_rules rules = {.redact = patterns, .redact_count = 1};
    struct vial_request q = new_request();
    struct recording_parts parts = {.request = &q,
        .document = document,
        .document_len = sizeof(document) - 1,
        .rules = &rules,
        .bytes_max = 1 << 20};
    struct vial_result *result = new_result();
    json_t *root, *now;
    char *text;

    (void)state;
    q.globals = "{\"pin\":5}";
    q.globals_len = 9;
    root = record(&parts);
    assert_string_equal(text_at(root, "input"), "{\"pin\":\"[redacted]\"}");
    assert_string_equal(text_at(root, "globals"), "{\"pin\":\"[redacted]\"}");
    assert_string_equal(text_at(root, "environment"),
        "{\"env\":{\"PIN\":\"[redacted]\"},\"globals\":{\"pin\":\"[redacted]\",\"b\":1},\"tools\":"
        "[{\"name\":\"f\",\"input\":{\"properties\":{\"pin\":{\"type\":\"number\"}}}}]}");
    text = json_dumps(json_object_get(root, "result"), JSON_COMPACT);
    assert_non_null(strstr(text, "\"value\":{\"pin\":\"[redacted]\",\"a\":0.5}"));
    assert_non_null(strstr(text, "\"input\":{\"pin\":\"[redacted]\"}"));
    assert_non_null(strstr(text, "\"output\":[{\"pin\":\"[redacted]\"}]"));
    assert_non_null(strstr(text, "\"fields\":{\"pin\":\"[redacted]\"}"));
    free(text);
    now = recording_outcome(result, &rules, &err); /* what a repetition is compared by */
    assert_true(json_equal(
        json_object_get(now, "value"), json_object_get(json_object_get(root, "result"), "value")));
    json_decref(now);
    json_decref(root);
    q.want_text = 1; /* names cannot be found in text */
    assert_int_equal(recording_write(&parts, result, &text, NULL, &err), VIAL_E_INVALID);
    vial_result_free(result);
}

static void what_is_too_large_is_refused_with_numbers(void **state)
{
    struct vial_request q = new_request();
    struct recording_parts parts = {.request = &q, .bytes_max = 12};
    struct vial_result *result = new_result();
    char *text = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(recording_write(&parts, result, &text, &len, &err), VIAL_E_INVALID);
    assert_string_equal(err.text, "its recording would have at least 13 bytes; one may have 12");
    parts.bytes_max = 100; /* what was given fits, the rest does not */
    assert_int_equal(recording_write(&parts, result, &text, &len, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "one may have 100"));
    assert_null(text);
    vial_result_free(result);
}

static void what_json_cannot_say_is_refused(void **state)
{
    struct vial_request q = new_request();
    const struct recording_parts parts = {.request = &q, .bytes_max = 1 << 20};
    struct vial_result *result = new_result();
    char *text = NULL;
    size_t len = 0;

    (void)state;
    q.source = "\xff";
    q.source_len = 1;
    assert_int_equal(recording_write(&parts, result, &text, &len, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "UTF-8"));
    q = new_request();
    result->value = "18446744073709551616";
    result->value_len = strlen(result->value);
    assert_int_equal(recording_write(&parts, result, &text, &len, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too big integer"));
    vial_result_free(result);
}

static void clock_and_chance_are_set_unless_they_are(void **state)
{
    const struct permission both = {.clock_is_set = 1, .random_is_set = 1},
                            none = {.clock_is_set = 0};
    char *text = NULL;
    json_t *root;

    (void)state;
    assert_int_equal(recording_settle(NULL, 0, NULL, &text, &err), 0);
    root = json_loads(text, 0, NULL);
    assert_int_equal(json_string_length(json_object_get(json_object_get(root, "clock"), "at")), 20);
    assert_true(json_is_integer(json_object_get(json_object_get(root, "random"), "seed")));
    json_decref(root);
    free(text);
    assert_int_equal(recording_settle("{\"fs\":\"deny\"}", 13, &both, &text, &err), 0);
    assert_string_equal(text, "{\"fs\":\"deny\"}");
    free(text);
    assert_int_equal(
        recording_settle("{\"clock\":\"deny\",\"random\":\"deny\"}", 32, &none, &text, &err), 0);
    assert_string_equal(text, "{\"clock\":\"deny\",\"random\":\"deny\"}");
    free(text);
    assert_int_equal(recording_settle("[]", 2, NULL, &text, &err), VIAL_E_INVALID);
    assert_int_equal(recording_settle("{", 1, NULL, &text, &err), VIAL_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_a_run_is_there),
        cmocka_unit_test(tools_are_kept_without_their_way_to_the_host),
        cmocka_unit_test(what_the_environment_redacts_is_nowhere),
        cmocka_unit_test(what_is_too_large_is_refused_with_numbers),
        cmocka_unit_test(what_json_cannot_say_is_refused),
        cmocka_unit_test(clock_and_chance_are_set_unless_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
