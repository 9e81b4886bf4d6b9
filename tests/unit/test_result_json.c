/* test_result_json.c - the result object as text: every key, null where there is nothing, and valid
 * JSON whatever a guest put into it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "host/result.h"
#include "policy/limits.h"

static struct vial_result *new_result(void)
{
    struct vial_result *result = NULL;
    struct vial_limits limits;

    assert_int_equal(limits_resolve(NULL, &limits, NULL), 0);
    assert_int_equal(result_new(&limits, "{\"level\":\"full\",\"layers\":[]}", &result, NULL), 0);
    return result;
}

static const char *json_of(struct vial_result *result)
{
    size_t len = 0;
    const char *json = vial_result_json(result, &len);

    assert_non_null(json);
    assert_int_equal(strlen(json), len);
    assert_int_equal(json_check(json, len, 10, NULL), 0);
    return json;
}

static void every_key_is_there(void **state)
{
    static const char *const keys[] = {"\"status\":\"ok\"", "\"error\":null", "\"stdout\":\"\"",
        "\"stderr\":\"\"", "\"dropped\":{\"stdout\":0,\"stderr\":0}", "\"calls\":[]",
        "\"files\":[]", "\"artifacts\":[],\"artifacts_dropped\":0",
        "\"usage\":{\"wall_us\":0,\"cpu_us\":0,", "\"memory_bytes_peak\":0,",
        "\"queue_us\":0,\"host_us\":0,\"approval_us\":0}", "\"limits\":{\"wall_ms_max\":10000,",
        "\"open_files_max\":32,", "\"approval_ms_max\":600000,",
        "\"isolation\":{\"level\":\"full\",\"layers\":[]}"};
    struct vial_result *result = new_result();
    const char *json = json_of(result);
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_non_null(strstr(json, keys[i]));
    }
    assert_null(strstr(json, "\"value\"")); /* undefined has no JSON */
    vial_result_free(result);
}

static void a_value_is_passed_through_as_it_is(void **state)
{
    struct vial_result *result = new_result();

    (void)state;
    result->value = "{ \"a\" : 1e400 }";
    result->value_len = strlen(result->value);
    assert_non_null(strstr(json_of(result), "\"value\":{ \"a\" : 1e400 }"));
    vial_result_free(result);
}

static void an_error_has_all_its_keys(void **state)
{
    struct vial_result *result = new_result();
    const char *json;

    (void)state;
    result_state(result, VIAL_STATUS_CPU_LIMIT, "CpuLimit", NULL, "text");
    json = json_of(result);
    assert_non_null(strstr(json,
        "\"error\":{\"name\":\"CpuLimit\",\"message\":\"text\",\"stack\":null,"
        "\"file\":null,\"line\":null,\"column\":null,\"source_line\":null,\"frames\":[],"
        "\"hint\":null}"));
    vial_result_free(result);
    result = new_result();
    result_state(result, VIAL_STATUS_EXCEPTION, "E", "hint", "m");
    result->error.line = 3;
    result->error.column = 4;
    result->frames[0] =
        (struct result_frame){.function = "f", .file = "./a.js", .line = 3, .column = 4};
    result->frames_count = 1;
    json = json_of(result);
    assert_non_null(strstr(json, "\"line\":3,\"column\":4"));
    assert_non_null(strstr(json, "\"frames\":[{\"function\":\"f\",\"file\":\"./a.js\","
                                 "\"line\":3,\"column\":4}]"));
    assert_non_null(strstr(json, "\"hint\":\"hint\""));
    vial_result_free(result);
}

static void whatever_was_printed_stays_valid(void **state)
{
    struct vial_result *result = new_result();
    char bytes[256];
    int i;

    (void)state;
    for (i = 0; i < 256; i++) {
        bytes[i] = (char)i;
    }
    assert_int_equal(result_output(result, VIAL_STDOUT, bytes, sizeof(bytes)), sizeof(bytes));
    assert_int_equal(result_output(result, VIAL_STDERR, "\xff\xfe", 2), 2);
    (void)json_of(result);
    vial_result_free(result);
}

/* Each byte can become six characters; the room for it is asked for beforehand. */
static void much_output_that_must_be_escaped_fits(void **state)
{
    struct vial_result *result = new_result();
    size_t size = 1 << 20;
    char *bytes = calloc(1, size);

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(result_output(result, VIAL_STDOUT, bytes, size), size);
    assert_int_equal(result_output(result, VIAL_STDERR, bytes, size), size);
    assert_true(strlen(json_of(result)) > 12 * size);
    vial_result_free(result);
    free(bytes);
}

static void the_text_is_made_once(void **state)
{
    struct vial_result *result = new_result();

    (void)state;
    assert_ptr_equal(json_of(result), json_of(result));
    vial_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_there),
        cmocka_unit_test(a_value_is_passed_through_as_it_is),
        cmocka_unit_test(an_error_has_all_its_keys),
        cmocka_unit_test(whatever_was_printed_stays_valid),
        cmocka_unit_test(much_output_that_must_be_escaped_fits),
        cmocka_unit_test(the_text_is_made_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
