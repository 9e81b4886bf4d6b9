/* test_document_python.c - packages and imports in documents. */
#include "documents.h"

static void imports_and_packages_are_kept(void **state)
{
    struct document *doc = documents_pass("{'name':'a','language':'python','allowed_imports':['"
                                          "json','os.path'],'packages':['numpy']}");

    (void)state;
    assert_int_equal(doc->language, VIAL_LANGUAGE_PYTHON);
    assert_int_equal(doc->imports_restricted, 1);
    assert_int_equal(doc->allowed_imports.count, 2);
    assert_string_equal(doc->allowed_imports.items[1], "os.path");
    assert_int_equal(doc->packages.count, 1);
    document_free(doc);
}

static void an_empty_list_allows_nothing(void **state)
{
    struct document *doc = documents_pass("{'name':'a','language':'python','allowed_imports':[]}");

    (void)state;
    assert_int_equal(doc->imports_restricted, 1);
    assert_int_equal(doc->allowed_imports.count, 0);
    document_free(doc);
    doc = documents_pass("{'name':'a','language':'python'}");
    assert_int_equal(doc->imports_restricted, 0);
    document_free(doc);
}

static void names_must_be_names(void **state)
{
    static const char *const bad[] = {"", ".", "a.", ".a", "a b", "1a", "a-b", "a/b", "a..b"};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(text, sizeof(text),
            "{'name':'a','language':'python','allowed_imports':['json','%s']}", bad[i]);
        documents_refuse(text, "/allowed_imports/1", "no name of a module");
    }
    documents_refuse(
        "{'name':'a','language':'python','allowed_imports':'json'}", "/allowed_imports", "array");
    documents_refuse(
        "{'name':'a','language':'python','allowed_imports':[1]}", "/allowed_imports/0", "string");
    documents_refuse("{'name':'a','language':'python','packages':['torch']}", "/packages/0",
        "numpy, pandas, matplotlib");
}

static void other_languages_have_neither(void **state)
{
    (void)state;
    documents_refuse("{'name':'a','allowed_imports':['json']}", "/allowed_imports", "python");
    documents_refuse(
        "{'name':'a','language':'typescript','packages':['numpy']}", "/packages", "python");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_and_packages_are_kept),
        cmocka_unit_test(an_empty_list_allows_nothing),
        cmocka_unit_test(names_must_be_names),
        cmocka_unit_test(other_languages_have_neither),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
