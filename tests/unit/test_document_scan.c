/* test_document_scan.c - what documents say about the scanner. */
#include "documents.h"

static void modes_and_rules_are_kept(void **state)
{
    struct document *doc =
        documents_pass("{'name':'a','scan':{'mode':'block','rules':{'own':'; id: a','b':''}}}");

    (void)state;
    assert_int_equal(doc->scan_mode, VIAL_SCAN_BLOCK);
    assert_int_equal(doc->scan_rules_count, 2);
    assert_string_equal(doc->scan_rules[0].name, "own");
    assert_string_equal(doc->scan_rules[0].text, "; id: a");
    assert_int_equal(doc->scan_rules[0].len, 7);
    document_free(doc);
    doc = documents_pass("{'name':'a','scan':{'mode':'warn'}}");
    assert_int_equal(doc->scan_mode, VIAL_SCAN_WARN);
    document_free(doc);
}

static void it_is_off_unless_said(void **state)
{
    static const char *const texts[] = {
        "{'name':'a'}", "{'name':'a','scan':{}}", "{'name':'a','scan':{'mode':'off'}}"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct document *doc = documents_pass(texts[i]);

        assert_int_equal(doc->scan_mode, VIAL_SCAN_AUTO);
        assert_int_equal(doc->scan_rules_count, 0);
        document_free(doc);
    }
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    documents_refuse("{'name':'a','scan':'block'}", "/scan", "object");
    documents_refuse("{'name':'a','scan':{'mode':'only'}}", "/scan/mode", "off");
    documents_refuse("{'name':'a','scan':{'level':1}}", "/scan/level", "");
    documents_refuse("{'name':'a','scan':{'rules':[]}}", "/scan/rules", "object");
    documents_refuse("{'name':'a','scan':{'rules':{'x':1}}}", "/scan/rules/x", "string");
    documents_refuse("{'name':'a','scan':{'rules':{'':''}}}", "/scan/rules/", "1 to 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_and_rules_are_kept),
        cmocka_unit_test(it_is_off_unless_said),
        cmocka_unit_test(anything_else_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
