/* test_document_tools.c - the tools of a document: names, schemas, limits, who answers. */
#include "policy/document.h"

#include "documents.h"

/* A document with one tool that has a name and these members. */
static const char *with(const char *members)
{
    static char text[16384];

    (void)snprintf(text, sizeof(text), "{'name': 'a', 'tools': [{'name': 'crm.find'%s}]}", members);
    return text;
}

static const char *named(const char *name)
{
    static char text[16384];

    (void)snprintf(text, sizeof(text), "{'name': 'a', 'tools': [{'name': '%s'}]}", name);
    return text;
}

static const char *two(const char *first, const char *second)
{
    static char text[1024];

    (void)snprintf(text, sizeof(text), "{'name': 'a', 'tools': [{'name': '%s'}, {'name': '%s'}]}",
        first, second);
    return text;
}

static void a_tool_with_a_name_only_has_defaults(void **state)
{
    struct document *doc = documents_pass(with(""));
    const struct document_tool *tool = &doc->tools[0];

    (void)state;
    assert_int_equal(doc->tools_count, 1);
    assert_string_equal(tool->name, "crm.find");
    assert_null(tool->description);
    assert_null(tool->input);
    assert_null(tool->output);
    assert_int_equal(tool->sync + tool->approve, 0);
    assert_int_equal(tool->timeout_ms, 60000);
    assert_int_equal(tool->calls_max, 1000);
    assert_int_equal(tool->concurrency_max, 16);
    assert_int_equal(tool->input_bytes_max, 1 << 20);
    assert_int_equal(tool->output_bytes_max, 16 << 20);
    assert_int_equal(tool->executor, DOCUMENT_BY_HOST);
    document_free(doc);
}

static void every_member_of_a_tool_is_read(void **state)
{
    struct document *doc = documents_pass(
        with(", 'description': 'Finds.', 'mode': 'sync', 'timeout_ms': 5, 'calls_max': 6,"
             " 'concurrency_max': 7.0, 'input_bytes_max': 64, 'output_bytes_max': 67108864,"
             " 'approve': true, 'input': {'type': 'object', 'multipleOf': 0.1}, 'output': true,"
             " 'http': {'url': 'https://api.test/find?x=1',"
             " 'headers': {'Authorization': 'Bearer abc', 'x-y': ''}}"));
    const struct document_tool *tool = &doc->tools[0];

    (void)state;
    assert_string_equal(tool->description, "Finds.");
    assert_int_equal(tool->sync, 1);
    assert_int_equal(tool->approve, 1);
    assert_int_equal(tool->timeout_ms, 5);
    assert_int_equal(tool->calls_max, 6);
    assert_int_equal(tool->concurrency_max, 7);
    assert_int_equal(tool->input_bytes_max, 64);
    assert_int_equal(tool->output_bytes_max, 64 << 20);
    assert_string_equal(tool->input, "{\"type\":\"object\",\"multipleOf\":0.1}");
    assert_string_equal(tool->output, "true");
    assert_int_equal(tool->executor, DOCUMENT_BY_HTTP);
    assert_string_equal(tool->url, "https://api.test/find?x=1");
    assert_int_equal(tool->headers.count, 2);
    assert_string_equal(tool->headers.items[0], "Authorization: Bearer abc");
    assert_string_equal(tool->headers.items[1], "x-y: ");
    document_free(doc);
}

static void a_command_is_read(void **state)
{
    struct document *doc = documents_pass(with(
        ", 'exec': {'command': ['/bin/cat', '-n', ''], 'env': {'A': '1=2'}, 'cwd': '/srv/x'}"));
    const struct document_tool *tool = &doc->tools[0];

    (void)state;
    assert_int_equal(tool->executor, DOCUMENT_BY_EXEC);
    assert_int_equal(tool->command.count, 3);
    assert_string_equal(tool->command.items[1], "-n");
    assert_string_equal(tool->command.items[2], "");
    assert_int_equal(tool->exec_env.count, 1);
    assert_string_equal(tool->exec_env.items[0], "A=1=2");
    assert_string_equal(tool->exec_cwd, "/srv/x");
    document_free(doc);
}

static void names_are_dotted_identifiers(void **state)
{
    const char *path = "/tools/0/name";

    (void)state;
    documents_accept(named("find"));
    documents_accept(named("$a._b.c9"));
    documents_accept(named("then_"));
    documents_accept(named("crm.Array")); /* hides nothing */
    documents_refuse(named(""), path, "empty part");
    documents_refuse(named("crm."), path, "empty part");
    documents_refuse(named(".crm"), path, "empty part");
    documents_refuse(named("a..b"), path, "empty part");
    documents_refuse(named("crm-find"), path, "identifiers");
    documents_refuse(named("9a"), path, "identifiers");
    documents_refuse(named("caf\xc3\xa9"), path, "identifiers");
    documents_refuse(named("crm.delete"), path, "word of the language");
    documents_refuse(named("crm.then"), path, "word of the language");
    documents_refuse(named("__proto__.x"), path, "word of the language");
    documents_refuse(named("a.constructor"), path, "word of the language");
    documents_refuse(named("prototype"), path, "word of the language");
    documents_refuse(named("console"), path, "have already");
    documents_refuse(named("JSON.parse"), path, "have already");
    documents_refuse(named("fetch"), path, "have already");
    documents_refuse(named("a.b.c.d.e.f.g.h.i"), path, "more than 8 parts");
    documents_refuse(named("a\\u0000"), path, "U+0000");
    documents_refuse("{'name': 'a', 'tools': [{}]}", "/tools/0", "\\\"name\\\" is missing");
    documents_refuse("{'name': 'a', 'tools': [7]}", "/tools/0", "must be an object");
}

static void no_tool_is_another_or_the_beginning_of_it(void **state)
{
    char *report;

    (void)state;
    documents_accept(two("crm.find", "crm.find2"));
    documents_accept(two("crm", "crm2.find"));
    documents_refuse(two("crm.find", "crm.find"), "/tools/1/name", "that of tool 0");
    documents_refuse(two("crm", "crm.find"), "/tools/1/name", "begins with that of tool 0");
    documents_refuse(two("crm.find", "crm"), "/tools/0/name", "begins with that of tool 1");
    /* "$" and digits sort near the dot, and must not get between. */
    report = documents_report("{'name': 'a', 'tools': [{'name': 'crm.x'}, {'name': 'crm$'},"
                              " {'name': 'crm'}, {'name': 'crm$.a'}, {'name': 'crm0'}]}");
    assert_non_null(strstr(report, "/tools/0/name"));
    assert_non_null(strstr(report, "tool 2"));
    assert_non_null(strstr(report, "/tools/3/name"));
    assert_non_null(strstr(report, "tool 1"));
    free(report);
}

static void schemas_are_objects_or_booleans(void **state)
{
    (void)state;
    documents_accept(with(", 'input': {}, 'output': false"));
    documents_refuse(with(", 'input': 'object'"), "/tools/0/input", "must be a JSON Schema");
    documents_refuse(with(", 'output': []"), "/tools/0/output", "must be a JSON Schema");
    documents_refuse(with(", 'output': null"), "/tools/0/output", "must be a JSON Schema");
}

static void numbers_have_ranges(void **state)
{
    (void)state;
    documents_refuse(with(", 'timeout_ms': 0"), "/tools/0/timeout_ms", "from 1 to 86400000");
    documents_refuse(with(", 'timeout_ms': 86400001"), "/tools/0/timeout_ms", "from 1 to");
    documents_refuse(with(", 'timeout_ms': -1"), "/tools/0/timeout_ms", "from 1 to");
    documents_refuse(with(", 'timeout_ms': 1.5"), "/tools/0/timeout_ms", "from 1 to");
    documents_refuse(with(", 'timeout_ms': '5'"), "/tools/0/timeout_ms", "from 1 to");
    documents_refuse(with(", 'calls_max': 1000001"), "/tools/0/calls_max", "to 1000000");
    documents_refuse(with(", 'concurrency_max': 1001"), "/tools/0/concurrency_max", "to 1000");
    documents_refuse(with(", 'input_bytes_max': 63"), "/tools/0/input_bytes_max", "from 64");
    documents_refuse(with(", 'output_bytes_max': 1e300"), "/tools/0/output_bytes_max", "from 64");
    documents_refuse(with(", 'mode': 'async '"), "/tools/0/mode", "\\\"async\\\" or \\\"sync\\\"");
    documents_refuse(with(", 'approve': 'yes'"), "/tools/0/approve", "true or false");
    documents_refuse(with(", 'aprove': true"), "/tools/0/aprove", "\\\"approve\\\"");
}

static void an_address_is_of_the_web_and_has_a_host(void **state)
{
    const struct {
        const char *url, *words;
    } bad[] = {
        {"file:///etc/passwd", "must begin with https://"},
        {"api.test/x", "must begin with https://"},
        {"HTTP://x", "must begin with https://"},
        {"https://", "has no host"},
        {"https:///x", "has no host"},
        {"http://:80/", "has no host"},
        {"https://user:secret@api.test/", "credentials as a header"},
        {"https://api.test/a b", "%XX"},
        {"https://api.test/\\r\\nX: y", "%XX"},
        {"https://api.test/#x", "fragment"},
    };
    char members[512];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        (void)snprintf(members, sizeof(members), ", 'http': {'url': '%s'}", bad[i].url);
        documents_refuse(with(members), "/tools/0/http/url", bad[i].words);
    }
    documents_accept(with(", 'http': {'url': 'http://[::1]:8080'}"));
    documents_refuse(with(", 'http': {}"), "/tools/0/http", "\\\"url\\\" is missing");
    documents_refuse(with(", 'http': 'https://x'"), "/tools/0/http", "must be an object");
}

static const char *with_header(const char *name, const char *value)
{
    char members[512];

    (void)snprintf(members, sizeof(members),
        ", 'http': {'url': 'https://a.test/', 'headers': {'%s': '%s'}}", name, value);
    return with(members);
}

static void a_header_is_one_header(void **state)
{
    (void)state;
    documents_refuse(
        with_header("X", "a\\r\\nEvil: b"), "/tools/0/http/headers/X", "control character");
    documents_refuse(with_header("X Y", "a"), "/tools/0/http/headers/X Y", "header names");
    documents_refuse(with_header("X:", "a"), "/tools/0/http/headers/X:", "header names");
    documents_refuse(with_header("", "a"), "/tools/0/http/headers/", "is empty");
    documents_refuse(
        with_header("Content-LENGTH", "1"), "/tools/0/http/headers/Content-LENGTH", "by itself");
}

static void a_command_has_a_program(void **state)
{
    (void)state;
    documents_refuse(with(", 'exec': {}"), "/tools/0/exec", "\\\"command\\\" is missing");
    documents_refuse(with(", 'exec': {'command': []}"), "/tools/0/exec/command", "the program");
    documents_refuse(with(", 'exec': {'command': ['']}"), "/tools/0/exec/command/0", "is empty");
    documents_refuse(with(", 'exec': {'command': 'ls'}"), "/tools/0/exec/command", "an array");
    documents_refuse(
        with(", 'exec': {'command': ['a', 1]}"), "/tools/0/exec/command/1", "must be a string");
    documents_refuse(
        with(", 'exec': {'command': ['a\\u0000b']}"), "/tools/0/exec/command/0", "U+0000");
    documents_refuse(with(", 'exec': {'command': ['a'], 'env': {'A=B': ''}}"),
        "/tools/0/exec/env/A=B", "has an =");
    documents_refuse(
        with(", 'exec': {'command': ['a'], 'cwd': 'x'}"), "/tools/0/exec/cwd", "absolute");
    documents_refuse(
        with(", 'exec': {'command': ['a'], 'shell': true}"), "/tools/0/exec/shell", "no such key");
    documents_refuse(
        with(", 'exec': {'command': ['a']}, 'http': {'url': 'http://a/'}"), "/tools/0", "both");
}

static void there_may_be_a_thousand_tools(void **state)
{
    char *text = malloc(1 << 20);
    size_t used, i, count;

    (void)state;
    assert_non_null(text);
    for (count = DOCUMENT_TOOLS_MAX; count <= DOCUMENT_TOOLS_MAX + 1; count++) {
        used = (size_t)sprintf(text, "{'name': 'a', 'tools': [");
        for (i = 0; i < count; i++) {
            used += (size_t)sprintf(text + used, "%s{'name': 't%zu.x'}", i > 0 ? "," : "", i);
        }
        (void)sprintf(text + used, "]}");
        if (count == DOCUMENT_TOOLS_MAX) {
            documents_accept(text);
        } else {
            documents_refuse(text, "/tools", "up to 1000");
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_with_a_name_only_has_defaults),
        cmocka_unit_test(every_member_of_a_tool_is_read),
        cmocka_unit_test(a_command_is_read),
        cmocka_unit_test(names_are_dotted_identifiers),
        cmocka_unit_test(no_tool_is_another_or_the_beginning_of_it),
        cmocka_unit_test(schemas_are_objects_or_booleans),
        cmocka_unit_test(numbers_have_ranges),
        cmocka_unit_test(an_address_is_of_the_web_and_has_a_host),
        cmocka_unit_test(a_header_is_one_header),
        cmocka_unit_test(a_command_has_a_program),
        cmocka_unit_test(there_may_be_a_thousand_tools),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
