/* test_keyword.c - which words are taken for misspelt keywords. */
#include "schema/keyword.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void misspelt_keywords_are_recognised(void **state)
{
    static const char *const rows[][2] = {{"requird", "required"}, {"Required", "required"},
        {"require", "required"}, {"propertys", "properties"},
        {"additional_properties", "additionalProperties"},
        {"additionalproperties", "additionalProperties"},
        {"additionalProperty", "additionalProperties"}, {"minlength", "minLength"},
        {"min_length", "minLength"}, {"maxLenght", "maxLength"}, {"tpye", "type"},
        {"types", "type"}, {"enums", "enum"}, {"item", "items"}, {"anyof", "anyOf"},
        {"pattren", "pattern"}, {"uniqueItem", "uniqueItems"}, {"$Ref", "$ref"},
        {"one_of", "oneOf"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_false(keyword_is_known(rows[i][0], strlen(rows[i][0])));
        assert_non_null(keyword_meant(rows[i][0], strlen(rows[i][0])));
        assert_string_equal(keyword_meant(rows[i][0], strlen(rows[i][0])), rows[i][1]);
    }
}

static void annotations_of_others_are_left_alone(void **state)
{
    static const char *const rows[] = {"x-order", "x-type", "cost", "when", "unit", "label", "tags",
        "hint", "name", "group", "placeholder", "order", "", "a", "strict", "version", "markdown",
        "widget", "tsType", "javaType"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (keyword_meant(rows[i], strlen(rows[i])) != NULL) {
            fail_msg("%s is taken for %s", rows[i], keyword_meant(rows[i], strlen(rows[i])));
        }
    }
}

static void known_words_are_known(void **state)
{
    static const char *const rows[] = {
        "type", "if", "then", "$defs", "title", "example", "nullable", "$comment"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(keyword_is_known(rows[i], strlen(rows[i])));
        assert_null(keyword_refused(rows[i], strlen(rows[i])));
    }
    assert_non_null(keyword_refused("unevaluatedProperties", strlen("unevaluatedProperties")));
    assert_non_null(keyword_refused("$dynamicRef", strlen("$dynamicRef")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misspelt_keywords_are_recognised),
        cmocka_unit_test(annotations_of_others_are_left_alone),
        cmocka_unit_test(known_words_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
