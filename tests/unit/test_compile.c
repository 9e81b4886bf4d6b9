/* test_compile.c - what is a schema and what is refused, with the place and the reason. */
#include "schema/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct schema *compile(const char *text)
{
    struct schema *schema = NULL;
    struct vial_error err;

    if (schema_compile(text, strlen(text), &schema, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return schema;
}

/* The text must not be a schema, and the reason must contain a word. */
static void refuse(const char *text, const char *word)
{
    struct schema *schema = NULL;
    struct vial_error err = {.code = 0};

    if (schema_compile(text, strlen(text), &schema, &err) != VIAL_E_INVALID) {
        fail_msg("%s is taken", text);
    }
    assert_null(schema);
    if (strstr(err.text, word) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, word);
    }
}

static void what_tools_use_is_taken(void **state)
{
    static const char *const rows[] = {"true", "false", "{}", "{\"type\":[\"string\",\"null\"]}",
        "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"type\":\"object\"}",
        "{\"$id\":\"x:s\",\"$ref\":\"x:s#/$defs/a\",\"$defs\":{\"a\":{}}}",
        "{\"items\":[{},true],\"additionalItems\":false}",
        "{\"properties\":{\"requird\":{},\"type\":{\"type\":\"string\"}}}",
        "{\"x-any\":{\"type\":7},\"example\":3,\"nullable\":true,\"default\":{\"type\":9}}",
        "{\"enum\":[{\"type\":7}],\"const\":{\"$ref\":\"nowhere\"},\"examples\":[{\"type\":1}]}",
        "{\"$defs\":{\"a b/c~d\":{}},\"$ref\":\"#/$defs/a%20b~1c~0d\"}",
        "{\"$defs\":{\"x\":{\"$anchor\":\"me\"}},\"items\":{\"$ref\":\"#me\"}}",
        "{\"definitions\":{\"x\":{\"$id\":\"#me\"}},\"items\":{\"$ref\":\"#me\"}}",
        "{\"properties\":{\"child\":{\"$ref\":\"#\"}}}",
        "{\"minimum\":18446744073709551615,\"maximum\":1e400}", "{\"minLength\":2.0}",
        "{\"maxLength\":99999999999999}", "{\"then\":{},\"else\":false}",
        "{\"anyOf\":[{\"properties\":{\"a\":{\"$ref\":\"#\"}}},{\"type\":\"null\"}]}",
        "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}",
        "{\"format\":\"anything\"}", "{\"required\":[\"a\",\"a\"]}"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        schema_free(compile(rows[i]));
    }
    schema_free(NULL);
}

static void keywords_of_wrong_types_are_refused(void **state)
{
    static const char *const rows[][2] = {{"", "JSON"}, {"[]", "must be a schema"},
        {"3", "is a number"}, {"{\"type\":\"int\"}", "\"int\" is no type"},
        {"{\"type\":[]}", "at least one type"}, {"{\"type\":[\"string\",3]}", "/type/1"},
        {"{\"type\":null}", "is no type"},
        {"{\"properties\":[]}", "/properties: must be an object"},
        {"{\"properties\":{\"a\":3}}", "/properties/a: must be a schema"},
        {"{\"required\":\"a\"}", "array of names"}, {"{\"required\":[1]}", "/required/0"},
        {"{\"properties\":{\"a\":{\"required\":true}}}", "beside \"properties\""},
        {"{\"enum\":\"a\"}", "/enum: must be an array"}, {"{\"enum\":[]}", "at least one value"},
        {"{\"minimum\":\"3\"}", "/minimum: must be a number, is a string"},
        {"{\"exclusiveMinimum\":true}", "draft 04"}, {"{\"multipleOf\":0}", "above 0"},
        {"{\"multipleOf\":-1}", "above 0"}, {"{\"minLength\":-1}", "at least 0, is -1"},
        {"{\"minItems\":1.5}", "whole number"}, {"{\"maxItems\":\"1\"}", "is \"1\""},
        {"{\"uniqueItems\":1}", "true or false"}, {"{\"pattern\":3}", "/pattern"},
        {"{\"pattern\":\"(\"}", "regular expression"}, {"{\"format\":{}}", "/format"},
        {"{\"patternProperties\":{\"[\":{}}}", "regular expression"},
        {"{\"allOf\":{}}", "array of schemas"}, {"{\"anyOf\":[]}", "at least one schema"},
        {"{\"oneOf\":[1]}", "/oneOf/0"}, {"{\"not\":1}", "/not"}, {"{\"if\":1}", "/if"},
        {"{\"items\":1}", "/items"}, {"{\"prefixItems\":{}}", "array of schemas"},
        {"{\"prefixItems\":[],\"items\":[]}", "one schema"},
        {"{\"dependentRequired\":{\"a\":{}}}", "array of names"},
        {"{\"dependencies\":{\"a\":1}}", "schema"}, {"{\"$defs\":{\"a\":1}}", "/$defs/a"},
        {"{\"$defs\":[]}", "/$defs"}, {"{\"title\":1}", "/title"},
        {"{\"description\":[]}", "/description"}, {"{\"examples\":1}", "/examples"},
        {"{\"additionalProperties\":\"no\"}", "/additionalProperties"}, {"{\"$ref\":1}", "/$ref"},
        {"{\"a\":1,\"a\":2}", "twice"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        refuse(rows[i][0], rows[i][1]);
    }
}

static void misspelt_and_unsupported_keywords_are_refused(void **state)
{
    (void)state;
    refuse("{\"requird\":[\"a\"]}", "did you mean \"required\"");
    refuse("{\"properties\":{\"a\":{\"minlength\":3}}}", "/properties/a/minlength");
    refuse("{\"unevaluatedProperties\":false}", "not supported");
    refuse("{\"allOf\":[{\"unevaluatedItems\":false}]}", "/allOf/0/unevaluatedItems");
    refuse("{\"$dynamicRef\":\"#a\"}", "not supported");
    refuse("{\"properties\":{\"a\":{\"$id\":\"https://y.example/\"}}}", "$id of its own");
}

static void references_must_lead_to_a_schema_here(void **state)
{
    (void)state;
    refuse("{\"$ref\":\"#/$defs/a\"}", "leads nowhere");
    refuse("{\"$ref\":\"#name\"}", "leads nowhere");
    refuse("{\"$ref\":\"other.json\"}", "leads outside");
    refuse("{\"$ref\":\"https://x.example/s#\"}", "leads outside");
    refuse("{\"$ref\":\"#/%zz\"}", "leads nowhere");
    refuse("{\"$ref\":\"#/title\",\"title\":\"x\"}", "must be a schema");
    refuse("{\"$defs\":{\"unused\":{\"$ref\":\"#/nowhere\"}}}", "leads nowhere");
}

static void circles_that_consume_nothing_are_refused(void **state)
{
    (void)state;
    refuse("{\"$ref\":\"#\"}", "circle");
    refuse("{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}}}", "circle");
    refuse("{\"anyOf\":[{\"type\":\"null\"},{\"$ref\":\"#\"}]}", "circle");
    refuse("{\"not\":{\"$ref\":\"#\"}}", "circle");
    refuse("{\"if\":{\"allOf\":[{\"$ref\":\"#\"}]}}", "circle");
    refuse("{\"dependentSchemas\":{\"a\":{\"$ref\":\"#\"}}}", "circle");
}

/* A chain of references, each in the next: count of them. */
static char *chain(int count)
{
    char *text = malloc((size_t)count * 64 + 64);
    size_t len;
    int i;

    len = (size_t)sprintf(text, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (i = 0; i < count; i++) {
        len += (size_t)sprintf(text + len, "\"d%d\":{\"$ref\":\"#/$defs/d%d\"},", i, i + 1);
    }
    (void)sprintf(text + len, "\"d%d\":{\"type\":\"string\"}}}", count);
    return text;
}

static void depth_and_size_are_bounded(void **state)
{
    struct schema *schema = NULL;
    char *text = chain(SCHEMA_APPLIED_MAX - 4);

    (void)state;
    schema_free(compile(text));
    free(text);
    text = chain(3000); /* each found while the one before is looked at: the stack must not care */
    refuse(text, "inside each other");
    free(text);
    text = chain(6000);
    refuse(text, "references");
    free(text);
    text = calloc(1, SCHEMA_BYTES_MAX + 2);
    memset(text, ' ', SCHEMA_BYTES_MAX + 1);
    text[0] = '{';
    text[1] = '}';
    assert_int_equal(schema_compile(text, SCHEMA_BYTES_MAX, &schema, NULL), 0);
    schema_free(schema);
    refuse(text, "bytes");
    free(text);
}

static void deep_schemas_are_refused(void **state)
{
    char *text = malloc(200 * 10 + 200 + 10);
    size_t len = 0;
    int i;

    (void)state;
    for (i = 0; i < 200; i++) {
        memcpy(text + len, "{\"items\":", 9);
        len += 9;
    }
    text[len++] = '1';
    memset(text + len, '}', 200);
    text[len + 200] = '\0';
    refuse(text, "too deeply");
    free(text);
}

static void many_names_are_refused_quickly(void **state)
{
    char *text = malloc(900000);
    size_t len = (size_t)sprintf(text, "{\"required\":[");
    int i;

    (void)state;
    for (i = 0; i < 60000; i++) {
        len += (size_t)sprintf(text + len, "\"n%d\",", i);
    }
    (void)sprintf(text + len - 1, "]}");
    refuse(text, "names of properties");
    free(text);
}

static void names_of_properties_come_in_order(void **state)
{
    struct schema *schema =
        compile("{\"type\":\"object\",\"required\":[\"zz\",\"b\"],\"properties\":{"
                "\"b\":{},\"a\":{},\"\\u00e4\":{}}}");

    (void)state;
    assert_int_equal(schema_property_count(schema), 3);
    assert_string_equal(schema_property_name(schema, 0), "b");
    assert_string_equal(schema_property_name(schema, 1), "a");
    assert_string_equal(schema_property_name(schema, 2), "\xc3\xa4");
    assert_true(schema_is_object(schema));
    schema_free(schema);
    schema = compile("{\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"$ref\":\"#/$defs/y\"},"
                     "\"y\":{\"type\":\"object\",\"properties\":{\"q\":{}}}}}");
    assert_int_equal(schema_property_count(schema), 1);
    assert_true(schema_is_object(schema));
    schema_free(schema);
}

static void only_the_type_object_is_an_object(void **state)
{
    static const char *const rows[] = {"{}", "true", "{\"type\":[\"object\",\"null\"]}",
        "{\"type\":\"array\"}", "{\"properties\":{}}"};
    struct schema *schema;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        schema = compile(rows[i]);
        assert_false(schema_is_object(schema));
        assert_int_equal(schema_property_count(schema), 0);
        schema_free(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_tools_use_is_taken),
        cmocka_unit_test(keywords_of_wrong_types_are_refused),
        cmocka_unit_test(misspelt_and_unsupported_keywords_are_refused),
        cmocka_unit_test(references_must_lead_to_a_schema_here),
        cmocka_unit_test(circles_that_consume_nothing_are_refused),
        cmocka_unit_test(depth_and_size_are_bounded),
        cmocka_unit_test(deep_schemas_are_refused),
        cmocka_unit_test(many_names_are_refused_quickly),
        cmocka_unit_test(names_of_properties_come_in_order),
        cmocka_unit_test(only_the_type_object_is_an_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
