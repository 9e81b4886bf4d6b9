/* test_document.c - documents as a whole: what is read from them, and all that can be wrong. */
#include "policy/document.h"

#include "documents.h"

static void the_smallest_document_has_all_defaults(void **state)
{
    struct document *doc = documents_pass("{'name': 'a'}");

    (void)state;
    assert_string_equal(doc->name, "a");
    assert_null(doc->description);
    assert_int_equal(doc->language, VIAL_LANGUAGE_JAVASCRIPT);
    assert_string_equal(doc->prefix, "");
    assert_int_equal(doc->entry_is_main, 0);
    assert_int_equal(doc->files_allowed, 1);
    assert_non_null(doc->permissions);
    assert_int_equal(doc->limits.wall_ms_max, 10000);
    assert_int_equal(doc->limits_max.wall_ms_max, 86400000);
    assert_int_equal(
        doc->modules_count + doc->tools_count + doc->globals_count + doc->files_count, 0);
    assert_int_equal(doc->mounts_count + doc->env.count, 0);
    assert_null(doc->cwd);
    document_free(doc);
    document_free(NULL);
}

static void every_plain_member_is_read(void **state)
{
    struct document *doc = documents_pass(
        "{'name': 'crm-2_x', 'description': 'Customers.', 'language': 'typescript',"
        " 'prefix': 'const a = 1;\\n', 'entry': 'main',"
        " 'modules': {'./lib.js': 'export default 1', 'left-pad': 'module.exports = 2'},"
        " 'globals': {'rate': 1.10, 'big': 12345678901, 'deep': {'b': [true, null, '\\u0000']}}}");

    (void)state;
    assert_string_equal(doc->name, "crm-2_x");
    assert_string_equal(doc->description, "Customers.");
    assert_int_equal(doc->language, VIAL_LANGUAGE_TYPESCRIPT);
    assert_string_equal(doc->prefix, "const a = 1;\n");
    assert_int_equal(doc->prefix_len, 13);
    assert_int_equal(doc->entry_is_main, 1);
    assert_int_equal(doc->modules_count, 2);
    assert_string_equal(doc->modules[0].name, "./lib.js");
    assert_string_equal(doc->modules[0].source, "export default 1");
    assert_int_equal(doc->modules[0].source_len, 16);
    assert_int_equal(doc->globals_count, 3);
    assert_string_equal(doc->globals[0].name, "rate");
    assert_string_equal(doc->globals[0].json, "1.1");
    assert_string_equal(doc->globals[1].json, "12345678901");
    assert_string_equal(doc->globals[2].json, "{\"b\":[true,null,\"\\u0000\"]}");
    document_free(doc);
}

static void what_is_no_document_is_refused(void **state)
{
    (void)state;
    documents_refuse("", "", "not JSON: line 1, column 1");
    documents_refuse("{'name': 'a',\n 'prefix' 1}", "", "not JSON: line 2, column 11");
    documents_refuse("[]", "", "must be an object, is an array");
    documents_refuse("null", "", "must be an object, is null");
    documents_refuse("{'name': 'a', 'name': 'b'}", "", "duplicate object key");
    documents_refuse("{'name': 'a', 'globals': {'x': 1e999}}", "", "cannot be read");
    documents_refuse("{'name': 'a', 'globals': {'x': '\\ud800'}}", "", "cannot be read");
}

static void names_have_a_shape(void **state)
{
    (void)state;
    documents_refuse("{}", "", "\\\"name\\\" is missing");
    documents_refuse("{'name': 3}", "/name", "must be a string, is a number");
    documents_refuse("{'name': ''}", "/name", "is empty");
    documents_refuse("{'name': 'Crm'}", "/name", "only a-z");
    documents_refuse("{'name': '-crm'}", "/name", "begin with a letter");
    documents_refuse("{'name': 'a@1'}", "/name", "only a-z");
    documents_refuse("{'name': 'a\\u0000'}", "/name", "U+0000");
}

static void an_unknown_key_is_answered_with_the_nearest(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'prefx': ''}", "/prefx", "did you mean \\\"prefix\\\"?");
    documents_refuse("{'name': 'a', 'colour': 1}", "/colour", "there is no such key here");
    documents_refuse("{'name': 'a', 'a/b~c': 1}", "/a~1b~0c", "no such key");
}

static void members_have_their_types(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'description': null}", "/description", "must be a string");
    documents_refuse("{'name': 'a', 'language': 'perl'}", "/language",
        "must be \\\"javascript\\\" or \\\"typescript\\\"");
    documents_refuse("{'name': 'a', 'entry': 1}", "/entry", "must be \\\"script\\\" or");
    documents_refuse("{'name': 'a', 'prefix': []}", "/prefix", "must be a string");
    documents_refuse("{'name': 'a', 'prefix': 'a\\u0000b'}", "/prefix", "U+0000");
    documents_refuse("{'name': 'a', 'modules': []}", "/modules", "must be an object");
    documents_refuse("{'name': 'a', 'modules': {'x': 1}}", "/modules/x", "must be a string");
    documents_refuse("{'name': 'a', 'globals': 1}", "/globals", "must be an object");
    documents_refuse("{'name': 'a', 'tools': {}}", "/tools", "must be an array");
    documents_refuse("{'name': 'a', 'permissions': 1}", "/permissions", "must be an object");
}

static void globals_have_names_of_variables(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'globals': {'a b': 1}}", "/globals/a b", "identifiers");
    documents_refuse("{'name': 'a', 'globals': {'a.b': 1}}", "/globals/a.b", "without dots");
    documents_refuse("{'name': 'a', 'globals': {'Array': 1}}", "/globals/Array", "already");
    documents_refuse("{'name': 'a', 'globals': {'class': 1}}", "/globals/class", "word of");
    documents_refuse("{'name': 'a', 'globals': {'__proto__': 1}}", "/globals/__proto__", "word");
    documents_refuse("{'name': 'a', 'tools': [{'name': 'crm.find'}], 'globals': {'crm': 1}}",
        "/globals/crm", "name of a tool");
}

#define ALLOW(name) "{'effect': 'allow', 'match': '" name "'}"

static const char *allowing(const char *patterns)
{
    static char text[512];

    (void)snprintf(text, sizeof(text),
        "{'name': 'a', 'tools': [{'name': 'crm.find'}, {'name': 'crm.add'}, {'name': 'mail'}],"
        " 'permissions': {'tools': %s}}",
        patterns);
    return text;
}

static void permissions_name_tools_that_are_there(void **state)
{
    struct document *doc;

    (void)state;
    doc = documents_pass(allowing("[" ALLOW("crm.*") "]"));
    assert_true(document_allows_tool(doc, "crm.find") && document_allows_tool(doc, "crm.add"));
    assert_false(document_allows_tool(doc, "mail") || document_allows_tool(doc, "crmx.find"));
    document_free(doc);
    doc = documents_pass(allowing("[" ALLOW("mail") "," ALLOW("crm.add") "]"));
    assert_true(document_allows_tool(doc, "mail") && document_allows_tool(doc, "crm.add"));
    assert_false(document_allows_tool(doc, "crm.find"));
    document_free(doc);
    doc = documents_pass(allowing("[]"));
    assert_false(document_allows_tool(doc, "mail"));
    document_free(doc);
    doc = documents_pass(allowing("'allow'"));
    assert_true(document_allows_tool(doc, "mail"));
    document_free(doc);
    doc = documents_pass("{'name': 'a', 'tools': [{'name': 'mail'}]}");
    assert_true(document_allows_tool(doc, "mail"));
    document_free(doc);
    documents_refuse(
        allowing("[" ALLOW("crm.finds") "]"), "/permissions/tools/0/match", "there is no tool");
    documents_refuse(allowing("[" ALLOW("mail") "," ALLOW("c*") "]"), "/permissions/tools/1/match",
        "only as its last part");
    documents_refuse(allowing("[3]"), "/permissions/tools/0", "must be an object");
    documents_refuse(
        "{'name': 'a', 'permissions': {'fs': 1}}", "/permissions/fs", "array of rules");
    documents_refuse(
        "{'name': 'a', 'permissions': {'fz': 'deny'}}", "/permissions/fz", "no such key");
}

static void all_faults_are_found_at_once(void **state)
{
    char *report = documents_report("{'name': 'A', 'language': 'perl', 'toolz': 1,"
                                    " 'tools': [{'name': 'x', 'mode': 1}, {'nam': 2}],"
                                    " 'limits': {'max': {'wall_ms_max': 0}}, 'env': {'A=': 'b'}}");
    const char *const paths[] = {"/toolz", "/name", "/language", "/tools/0/mode", "/tools/1/nam",
        "/tools/1", "/limits/max/wall_ms_max", "/env/A="};
    char wanted[64];
    size_t count = 0, i;

    (void)state;
    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        (void)snprintf(wanted, sizeof(wanted), "{\"path\":\"%s\",", paths[i]);
        if (strstr(report, wanted) == NULL) {
            fail_msg("%s is not in %s", paths[i], report);
        }
    }
    for (const char *at = report; (at = strstr(at, "{\"path\":")) != NULL; at++) {
        count++;
    }
    assert_int_equal(count, sizeof(paths) / sizeof(paths[0]));
    free(report);
}

static int refuse_dots(const char *name, size_t len, struct buf *full, char *why, size_t why_size)
{
    (void)len;
    if (name[0] == '!') {
        (void)snprintf(why, why_size, "begins with !");
        return -1;
    }
    return buf_add_text(full, name[0] == '.' ? name + 2 : name, NULL);
}

static int refuse_minimum(const char *json, size_t len, char *why, size_t why_size)
{
    if (memmem(json, len, "minimum", 7) != NULL) {
        (void)snprintf(why, why_size, "has a minimum");
        return -1;
    }
    return 0;
}

static void the_callers_checks_are_made(void **state)
{
    static const struct document_checks checks = {refuse_dots, refuse_minimum};
    static const char json[] = "{\"name\":\"a\",\"modules\":{\"!x\":\"\",\"./b\":\"\",\"b\":\"\"},"
                               "\"tools\":[{\"name\":\"t\",\"output\":{\"minimum\":1}}]}";
    struct document *doc = NULL;
    struct buf report;

    (void)state;
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    assert_int_equal(
        document_parse(json, strlen(json), &checks, &doc, &report, NULL), VIAL_E_INVALID);
    assert_string_equal(report.data,
        "[{\"path\":\"/modules/!x\",\"message\":\"the name of the module begins with !\"},"
        "{\"path\":\"/modules\",\"message\":\"two modules have the name b\"},"
        "{\"path\":\"/tools/0/output\",\"message\":\"the schema has a minimum\"}]");
    buf_release(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_document_has_all_defaults),
        cmocka_unit_test(every_plain_member_is_read),
        cmocka_unit_test(what_is_no_document_is_refused),
        cmocka_unit_test(names_have_a_shape),
        cmocka_unit_test(an_unknown_key_is_answered_with_the_nearest),
        cmocka_unit_test(members_have_their_types),
        cmocka_unit_test(globals_have_names_of_variables),
        cmocka_unit_test(permissions_name_tools_that_are_there),
        cmocka_unit_test(all_faults_are_found_at_once),
        cmocka_unit_test(the_callers_checks_are_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
