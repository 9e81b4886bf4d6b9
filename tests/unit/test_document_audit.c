/* test_document_audit.c - what documents say about the audit. */
#include "documents.h"

static void what_is_said_is_kept(void **state)
{
    struct document *doc = documents_pass(
        "{'name':'a','audit':{'code':false,'input':true,'output':true,'redact':['a','*b*']}}");

    (void)state;
    assert_int_equal(doc->audit.code, 0);
    assert_int_equal(doc->audit.input, 1);
    assert_int_equal(doc->audit.output, 1);
    assert_int_equal(doc->audit.redact_count, 2);
    assert_string_equal(doc->audit.redact[1], "*b*");
    document_free(doc);
}

static void code_is_kept_and_values_are_not_unless_said(void **state)
{
    static const char *const texts[] = {"{'name':'a'}", "{'name':'a','audit':{}}"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct document *doc = documents_pass(texts[i]);

        assert_int_equal(doc->audit.code, 1);
        assert_int_equal(doc->audit.input, 0);
        assert_int_equal(doc->audit.output, 0);
        assert_int_equal(doc->audit.redact_count, 0);
        document_free(doc);
    }
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    documents_refuse("{'name':'a','audit':true}", "/audit", "object");
    documents_refuse("{'name':'a','audit':{'code':1}}", "/audit/code", "");
    documents_refuse("{'name':'a','audit':{'values':true}}", "/audit/values", "");
    documents_refuse("{'name':'a','audit':{'redact':'a'}}", "/audit/redact", "array");
    documents_refuse("{'name':'a','audit':{'redact':['a','']}}", "/audit/redact/1", "1 to 64");
    documents_refuse("{'name':'a','audit':{'redact':[1]}}", "/audit/redact/0", "string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_said_is_kept),
        cmocka_unit_test(code_is_kept_and_values_are_not_unless_said),
        cmocka_unit_test(anything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
