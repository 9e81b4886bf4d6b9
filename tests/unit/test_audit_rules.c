/* test_audit_rules.c - what is left of a value when it is written down. */
#include "policy/audit_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static struct vial_error err;
static char *patterns[4];

static void expect(size_t count, const char *json, const char *expected)
{
    const struct audit_rules rules = {.redact = patterns, .redact_count = count};
    struct buf out;

    buf_init(&out, 1 << 20);
    if (audit_redact(&rules, json, strlen(json), &out, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(out.data, expected);
    assert_int_equal(json_check(out.data, out.len, 4096, NULL), 0);
    buf_release(&out);
}

static void without_patterns_only_space_goes(void **state)
{
    (void)state;
    expect(0, " {\"a\" : [ 1 , -2.50e+3,true , null, \"x  \\\" y\" ] }\n",
        "{\"a\":[1,-2.50e+3,true,null,\"x  \\\" y\"]}");
    expect(0, "\"a\"", "\"a\"");
    expect(0, " 5 ", "5");
    expect(0, "[]", "[]");
}

static void values_of_these_names_are_redacted(void **state)
{
    char password[] = "password", token[] = "*token*", two[] = "k?y";

    (void)state;
    patterns[0] = password;
    patterns[1] = token;
    patterns[2] = two;
    expect(3, "{\"password\":\"hunter2\",\"a\":1}", "{\"password\":\"[redacted]\",\"a\":1}");
    expect(3, "{\"PassWord\" : 5}", "{\"PassWord\":\"[redacted]\"}");
    expect(3, "{\"passwords\":1,\"password \":2}", "{\"passwords\":1,\"password \":2}");
    expect(3, "[{\"x\":{\"my_token_2\":{\"a\":[1,{\"}\":\"]\"}]},\"b\":[2]}}]",
        "[{\"x\":{\"my_token_2\":\"[redacted]\",\"b\":[2]}}]");
    expect(3, "{\"token\":[],\"key\":true,\"kay\":-1.5e3 ,\"ky\":null}",
        "{\"token\":\"[redacted]\",\"key\":\"[redacted]\",\"kay\":\"[redacted]\",\"ky\":null}");
    expect(3, "[\"password\",\"token\"]", "[\"password\",\"token\"]"); /* no names */
    expect(3, "{\"a\":\"\\\\\",\"token\":\"\\\"}\",\"b\":\"\\\\\\\"\"}",
        "{\"a\":\"\\\\\",\"token\":\"[redacted]\",\"b\":\"\\\\\\\"\"}");
}

/* Who writes a name in another way must not get around it. */
static void escapes_hide_no_name(void **state)
{
    char password[] = "password", star[] = "*";

    (void)state;
    patterns[0] = password;
    expect(1, "{\"\\u0070assword\":1}", "{\"\\u0070assword\":\"[redacted]\"}");
    expect(1, "{\"pass\\u0057ord\":1}", "{\"pass\\u0057ord\":\"[redacted]\"}");
    expect(1, "{\"pass\\/word\":1,\"\\ud800\":2,\"\\u0000\":3}",
        "{\"pass\\/word\":1,\"\\ud800\":2,\"\\u0000\":3}");
    patterns[0] = star;
    expect(1, "{\"\":1,\"\\n\":{\"b\":2}}", "{\"\":\"[redacted]\",\"\\n\":\"[redacted]\"}");
}

/* A name that is too long to be compared may be one of those meant. */
static void long_names_are_redacted(void **state)
{
    char none[] = "none", json[700], expected[700], name[600];
    size_t i;

    (void)state;
    patterns[0] = none;
    for (i = 250; i < 300; i++) {
        memset(name, 'x', sizeof(name));
        name[i] = '\0';
        (void)snprintf(json, sizeof(json), "{\"%s\":1}", name);
        (void)snprintf(
            expected, sizeof(expected), i > 257 ? "{\"%s\":\"[redacted]\"}" : "{\"%s\":1}", name);
        expect(1, json, expected);
    }
}

static void what_is_too_long_is_cut(void **state)
{
    const struct audit_rules rules = {.redact_count = 0};
    char *json = malloc(AUDIT_VALUE_BYTES_MAX + 100), secret[] = "s";
    struct buf out;

    (void)state;
    assert_non_null(json);
    memset(json, 'x', AUDIT_VALUE_BYTES_MAX + 100);
    json[0] = json[AUDIT_VALUE_BYTES_MAX - 1] = '"';
    buf_init(&out, 1 << 20);
    assert_int_equal(audit_redact(&rules, json, AUDIT_VALUE_BYTES_MAX, &out, &err), 0);
    assert_int_equal(out.len, AUDIT_VALUE_BYTES_MAX);
    json[AUDIT_VALUE_BYTES_MAX - 1] = 'x';
    json[AUDIT_VALUE_BYTES_MAX] = '"';
    buf_clear(&out);
    assert_int_equal(audit_redact(&rules, json, AUDIT_VALUE_BYTES_MAX + 1, &out, &err), 0);
    assert_string_equal(out.data, "{\"cut\":true,\"bytes\":65537}");
    buf_release(&out);
    patterns[0] = secret; /* it fits when the long part is redacted */
    memcpy(json, "{\"s\":\"", 6);
    memcpy(json + AUDIT_VALUE_BYTES_MAX, "\"}", 3);
    expect(1, json, "{\"s\":\"[redacted]\"}");
    free(json);
}

static void what_is_no_json_is_cut(void **state)
{
    (void)state;
    expect(0, "", "{\"cut\":true,\"bytes\":0}");
    expect(0, "{\"a\":", "{\"cut\":true,\"bytes\":5}");
    expect(0, "undefined", "{\"cut\":true,\"bytes\":9}");
    expect(0, "1 2", "{\"cut\":true,\"bytes\":3}");
}

/* Who keeps all of a value has no use for one that is cut. */
static void a_whole_value_is_redacted_however_long_it_is(void **state)
{
    char secret[] = "s", *json = malloc(AUDIT_VALUE_BYTES_MAX + 100);
    const struct audit_rules rules = {.redact = patterns, .redact_count = 1};
    size_t len = AUDIT_VALUE_BYTES_MAX + 50;
    struct buf out;

    (void)state;
    assert_non_null(json);
    patterns[0] = secret;
    memset(json, 'x', len);
    memcpy(json, "{\"s\":1,\"a\":\"", 12);
    memcpy(json + len - 2, "\"}", 2);
    buf_init(&out, AUDIT_REDACT_GROWTH * len);
    assert_int_equal(audit_redact_whole(&rules, json, len, &out, &err), 0);
    assert_int_equal(out.len, len + strlen("\"[redacted]\"") - 1);
    assert_memory_equal(out.data, "{\"s\":\"[redacted]\",\"a\":\"xx", 25);
    buf_release(&out);
    buf_init(&out, len - 1); /* what does not fit is a failure, not a part of it */
    assert_int_equal(audit_redact_whole(&rules, json, len, &out, &err), VIAL_E_NOMEM);
    buf_release(&out);
    buf_init(&out, 100);
    assert_int_equal(audit_redact_whole(&rules, "{", 1, &out, &err), VIAL_E_INVALID);
    assert_int_equal(audit_redact_whole(&rules, "{\"\":1}", 6, &out, &err), 0);
    buf_release(&out);
    free(json);
}

static void patterns_are_bounded(void **state)
{
    char longer[66];

    (void)state;
    memset(longer, '*', sizeof(longer));
    assert_null(audit_redact_fault("a*", 2));
    assert_null(audit_redact_fault(longer, 64));
    assert_non_null(audit_redact_fault(longer, 65));
    assert_non_null(audit_redact_fault("", 0));
    assert_non_null(audit_redact_fault("\xff", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_patterns_only_space_goes),
        cmocka_unit_test(values_of_these_names_are_redacted),
        cmocka_unit_test(escapes_hide_no_name),
        cmocka_unit_test(long_names_are_redacted),
        cmocka_unit_test(what_is_too_long_is_cut),
        cmocka_unit_test(what_is_no_json_is_cut),
        cmocka_unit_test(a_whole_value_is_redacted_however_long_it_is),
        cmocka_unit_test(patterns_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
