/* test_stubs.c - tools as declarations: what is written, exactly, and what is refused. Whether it
 * is TypeScript and Python is asked of their parsers in tests/integration/test_stubs.py. */
#include "schema/stubs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OUT_BYTES_MAX = 1024 * 1024 };

static void expect(
    const struct stub_tool *tools, size_t count, enum stub_language language, const char *text)
{
    struct vial_error err;
    struct buf out;

    buf_init(&out, OUT_BYTES_MAX);
    if (stubs_write(tools, count, language, &out, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(out.data, text);
    buf_release(&out);
}

/* The text has to be in what is written for one tool with this input. */
static void expect_input(enum stub_language language, const char *input, const char *text)
{
    struct stub_tool tool = {.name = "f", .input = input, .sync = 1};
    struct vial_error err;
    struct buf out;

    buf_init(&out, OUT_BYTES_MAX);
    if (stubs_write(&tool, 1, language, &out, &err) < 0) {
        fail_msg("%s: %s", input, err.text);
    }
    if (strstr(out.data, text) == NULL) {
        fail_msg("%s is not in: %s", text, out.data);
    }
    buf_release(&out);
}

static void a_tool_is_a_line_of_typescript(void **state)
{
    static const struct stub_tool tools[] = {
        {.name = "crm.find",
            .description = "Finds a customer.",
            .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{"
                     "\"type\":\"string\"}},"
                     "\"required\":[\"id\"]}",
            .output = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}},"
                      "\"required\":[\"n\"]}"},
        {.name = "now",
            .input = "{\"type\":\"object\"}",
            .output = "{\"type\":\"number\"}",
            .sync = 1},
        {.name = "crm.deep.count", .approve = 1}};

    (void)state;
    expect(tools, 3, STUB_TYPESCRIPT,
        "declare namespace crm {\n"
        "  /** Finds a customer. */\n"
        "  function find(input: { id: number; name?: string }): Promise<{ n: number }>;\n"
        "  namespace deep {\n"
        "    /** Asks a person for approval first. */\n"
        "    function count(input?: unknown): Promise<unknown>;\n"
        "  }\n"
        "}\n"
        "declare function now(): number;\n");
}

static void a_tool_is_a_function_of_python(void **state)
{
    static const struct stub_tool tools[] = {
        {.name = "crm.find",
            .description = "Finds a customer.",
            .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{"
                     "\"type\":\"string\"}},"
                     "\"required\":[\"id\"]}",
            .output = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}},"
                      "\"required\":[\"n\"]}"},
        {.name = "now",
            .input = "{\"type\":\"object\"}",
            .output = "{\"type\":\"number\"}",
            .sync = 1}};

    (void)state;
    expect(tools, 2, STUB_PYTHON,
        "from __future__ import annotations\n"
        "from typing import Any, Literal, NotRequired, Optional, TypedDict, Union\n\n"
        "class CrmFindResult(TypedDict):\n"
        "    n: float\n\n"
        "class crm:\n"
        "    @staticmethod\n"
        "    async def find(id: int, name: str = ...) -> CrmFindResult:\n"
        "        \"\"\"Finds a customer.\"\"\"\n"
        "def now() -> float: ...\n");
}

static void schemas_become_types_of_typescript(void **state)
{
    static const char *const rows[][2] = {{"{}", "(input: unknown)"}, {"true", "(input: unknown)"},
        {"false", "(input: never)"}, {"{\"type\":\"string\"}", "(input: string)"},
        {"{\"type\":[\"string\",\"null\"]}", "(input: string | null)"},
        {"{\"enum\":[\"a\\\"\",1,null,true]}", "(input: \"a\\\"\" | 1 | null | true)"},
        {"{\"const\":\"x\"}", "(input: \"x\")"},
        {"{\"items\":{\"type\":\"integer\"}}", "(input: number[])"},
        {"{\"items\":{\"enum\":[1,2]}}", "(input: Array<1 | 2>)"},
        {"{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"items\":false}",
            "(input: [string, number])"},
        {"{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"minItems\":1}",
            "(input: [string, (number)?, ...Array<unknown>])"},
        {"{\"items\":[{\"type\":\"string\"}],\"additionalItems\":{\"type\":\"null\"}}",
            "(input: [string, ...Array<null>])"},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
            "(input?: Record<string, number>)"},
        {"{\"type\":\"object\",\"properties\":{\"a-b\":{},\"delete\":{}},\"required\":[\"a-b\"]}",
            "(input: { \"a-b\": unknown; delete?: unknown })"},
        {"{\"properties\":{\"a\":{}},\"required\":[\"a\"],\"additionalProperties\":{\"type\":"
         "\"string\"}}",
            "(input: { a: unknown } & Record<string, string>)"},
        {"{\"patternProperties\":{\"^x\":{\"type\":\"string\"}}}",
            "(input: Record<string, string>)"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "(input: string | null)"},
        {"{\"allOf\":[{\"properties\":{\"a\":{}}},{\"enum\":[1,2]}]}",
            "(input: ({ a?: unknown }) & (1 | 2))"},
        {"{\"$ref\":\"#/$defs/my node\",\"$defs\":{\"my node\":{\"items\":{\"$ref\":\"#/$defs/my "
         "node\"}}}}",
            "type MyNode = MyNode[];\n"},
        {"{\"properties\":{\"p\":{\"$ref\":\"#\"}}}", "type F = { p?: F };\n"},
        {"{\"$ref\":\"#/nowhere\"}", "(input: unknown)"},
        {"{\"type\":\"number\",\"$ref\":3}", "(input: unknown)"},
        {"{\"$ref\":\"#/$defs/Record\",\"$defs\":{\"Record\":{\"type\":\"null\"}}}",
            "type RecordType = null;\n"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_input(STUB_TYPESCRIPT, rows[i][0], rows[i][1]);
    }
}

static void schemas_become_types_of_python(void **state)
{
    static const char *const rows[][2] = {{"{}", "(input: Any)"},
        {"{\"type\":\"string\"}", "(input: str)"},
        {"{\"type\":[\"string\",\"null\"]}", "(input: Optional[str])"},
        {"{\"type\":[\"string\",\"integer\",\"null\"]}", "(input: Optional[Union[str, int]])"},
        {"{\"enum\":[\"a\\\"\",1,null,true]}", "(input: Literal[\"a\\\"\", 1, None, True])"},
        {"{\"enum\":[1.5],\"type\":\"number\"}", "(input: float)"},
        {"{\"items\":{\"type\":\"integer\"}}", "(input: list[int])"},
        {"{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"number\"}],\"items\":false}",
            "(input: tuple[str, float])"},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}",
            "(input: dict[str, int])"},
        {"{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"null\"},\"a\":{}},\"required\":["
         "\"a\"]}",
            "(*, b: None = ..., a: Any)"},
        {"{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"}},\"required\":["
         "\"from\"]}",
            "FInput = TypedDict(\"FInput\", {\"from\": \"str\", })\n"},
        {"{\"type\":\"object\",\"properties\":{\"__x\":{}}}",
            "TypedDict(\"FInput\", {\"__x\": \"NotRequired[Any]\", })"},
        {"{\"type\":\"object\",\"properties\":{\"p\":{\"properties\":{\"q\":{\"type\":\"boolean\"}}"
         "}}}",
            "class FP(TypedDict):\n    q: NotRequired[bool]\n"},
        {"{\"allOf\":[{\"properties\":{\"a\":{}}},{\"$ref\":\"#/$defs/"
         "x\"}],\"$defs\":{\"x\":{\"properties\":{\"b\":{}}}}}",
            "class FInput(TypedDict):\n    a: NotRequired[Any]\n    b: NotRequired[Any]\n"},
        {"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"items\":{\"$ref\":\"#/$defs/n\"}}}}",
            "N = \"list[N]\"\n"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expect_input(STUB_PYTHON, rows[i][0], rows[i][1]);
    }
}

static void odd_names_have_a_place(void **state)
{
    static const struct stub_tool tools[] = {{.name = "get-weather", .sync = 1},
        {.name = "files.delete", .sync = 1}, {.name = "files", .sync = 1},
        {.name = "files.delete.all", .sync = 1}, {.name = "a..b", .sync = 1}};

    (void)state;
    expect(tools, 5, STUB_TYPESCRIPT,
        "declare const tools: {\n"
        "  \"get-weather\"(input?: unknown): unknown;\n"
        "  \"a..b\"(input?: unknown): unknown;\n"
        "};\n"
        "declare const files: {\n"
        "  delete: {\n"
        "    (input?: unknown): unknown;\n"
        "    all(input?: unknown): unknown;\n"
        "  };\n"
        "  (input?: unknown): unknown;\n"
        "};\n");
    expect(tools, 2, STUB_PYTHON,
        "from __future__ import annotations\n"
        "from typing import Any, Literal, NotRequired, Optional, TypedDict, Union\n\n"
        "def get_weather(input: Any = ...) -> Any:\n"
        "    \"\"\"The name of the tool is get-weather.\"\"\"\n"
        "class files:\n"
        "    @staticmethod\n"
        "    def delete(input: Any = ...) -> Any: ...\n");
}

static void definitions_are_shared_when_they_are_the_same(void **state)
{
    static const char same[] = "{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"type\":\"string\"}}}";
    static const char other[] = "{\"$ref\":\"#/$defs/T\",\"$defs\":{\"T\":{\"type\":\"null\"}}}";
    static const struct stub_tool tools[] = {{.name = "a", .input = same, .sync = 1},
        {.name = "b", .input = same, .sync = 1}, {.name = "c", .input = other, .sync = 1}};

    (void)state;
    expect(tools, 3, STUB_TYPESCRIPT,
        "type T = string;\ntype T2 = null;\n"
        "declare function a(input: T): unknown;\n"
        "declare function b(input: T): unknown;\n"
        "declare function c(input: T2): unknown;\n");
}

static void descriptions_tell_everything(void **state)
{
    static const struct stub_tool tool = {.name = "crm.find",
        .description = "Finds.",
        .sync = 1,
        .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\","
                 "\"description\":\"The id.\","
                 "\"minimum\":1,\"default\":7}}}",
        .output = "{\"type\":\"string\"}"};
    struct buf out;

    (void)state;
    buf_init(&out, OUT_BYTES_MAX);
    assert_int_equal(stubs_describe(&tool, STUB_TYPESCRIPT, &out, NULL), 0);
    assert_string_equal(out.data, "declare namespace crm {\n"
                                  "  /** Finds. */\n"
                                  "  function find(input?: {\n"
                                  "    /** The id. at least 1; default 7 */\n"
                                  "    id?: number;\n"
                                  "  }): string;\n"
                                  "}\n");
    buf_clear(&out);
    assert_int_equal(stubs_describe(&tool, STUB_PYTHON, &out, NULL), 0);
    assert_non_null(
        strstr(out.data, "# The id. at least 1; default 7\n            id: int = ...) -> str:"));
    buf_release(&out);
}

static void comments_cannot_be_left(void **state)
{
    struct stub_tool tool = {
        .name = "f", .description = "a */ b \"\"\" c\n\r\xe2\x80\xa8 d \\", .sync = 1};

    (void)state;
    expect(&tool, 1, STUB_TYPESCRIPT,
        "/** a *\\/ b \"\"\" c d \\ */\ndeclare function f(input?: unknown): unknown;\n");
    expect(&tool, 1, STUB_PYTHON,
        "from __future__ import annotations\n"
        "from typing import Any, Literal, NotRequired, Optional, TypedDict, Union\n\n"
        "def f(input: Any = ...) -> Any:\n    \"\"\"a */ b ''' c d \\\\\"\"\"\n");
}

static void refuse(const struct stub_tool *tools, size_t count, const char *word)
{
    struct vial_error err;
    struct buf out;

    buf_init(&out, OUT_BYTES_MAX);
    assert_int_equal(buf_add_text(&out, "kept", NULL), 0);
    assert_int_equal(stubs_write(tools, count, STUB_PYTHON, &out, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, word));
    assert_string_equal(out.data, "kept");
    buf_release(&out);
}

static void what_cannot_be_written_is_refused(void **state)
{
    static const struct stub_tool twice[] = {{.name = "a"}, {.name = "a"}};
    static const struct stub_tool empty[] = {{.name = ""}};
    static const struct stub_tool broken[] = {{.name = "x.y", .output = "{"}};
    char name[STUBS_NAME_BYTES_MAX + 2];
    struct stub_tool too_long = {.name = name};

    (void)state;
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    refuse(twice, 2, "two tools");
    refuse(empty, 1, "0 bytes");
    refuse(broken, 1, "the output schema of tool \"x.y\"");
    refuse(&too_long, 1, "257 bytes");
}

/* Each of these would grow without an end or take forever, if nobody counted. */
static void schemas_that_multiply_are_stopped(void **state)
{
    char text[4096];
    size_t len;
    int i;
    struct stub_tool tool = {.name = "f", .input = text};
    struct buf out;

    (void)state;
    len = (size_t)sprintf(text, "{\"type\":\"object\",\"properties\":{\"a\":{}},\"allOf\":[");
    for (i = 0; i < 60; i++) {
        len += (size_t)sprintf(text + len, "%s{\"$ref\":\"#\",\"x\":1}", i == 0 ? "" : ",");
    }
    (void)sprintf(text + len, "]}");
    buf_init(&out, OUT_BYTES_MAX);
    assert_int_equal(stubs_write(&tool, 1, STUB_TYPESCRIPT, &out, NULL), 0);
    refuse(&tool, 1, "too much work");
    len = 0;
    for (i = 0; i < 20; i++) {
        len += (size_t)sprintf(text + len,
            "{\"type\":[\"object\",\"object\",\"object\",\"object\"],\"properties\":{\"a\":");
    }
    len += (size_t)sprintf(text + len, "1");
    for (i = 0; i < 20; i++) {
        len += (size_t)sprintf(text + len, "}}");
    }
    refuse(&tool, 1, "types");
    assert_true(stubs_write(&tool, 1, STUB_TYPESCRIPT, &out, NULL) < 0);
    buf_release(&out);
}

static void names_that_become_the_same_in_python_stay_apart(void **state)
{
    static const struct stub_tool tools[] = {{.name = "a_b", .sync = 1}, {.name = "a-b", .sync = 1},
        {.name = "a_b_3", .sync = 1}, {.name = "a b", .sync = 1}};

    (void)state;
    expect(tools, 4, STUB_PYTHON,
        "from __future__ import annotations\n"
        "from typing import Any, Literal, NotRequired, Optional, TypedDict, Union\n\n"
        "def a_b(input: Any = ...) -> Any: ...\n"
        "def a_b_2(input: Any = ...) -> Any:\n    \"\"\"The name of the tool is a-b.\"\"\"\n"
        "def a_b_3(input: Any = ...) -> Any: ...\n"
        "def a_b_4(input: Any = ...) -> Any:\n    \"\"\"The name of the tool is a b.\"\"\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tool_is_a_line_of_typescript),
        cmocka_unit_test(a_tool_is_a_function_of_python),
        cmocka_unit_test(schemas_become_types_of_typescript),
        cmocka_unit_test(schemas_become_types_of_python),
        cmocka_unit_test(odd_names_have_a_place),
        cmocka_unit_test(definitions_are_shared_when_they_are_the_same),
        cmocka_unit_test(descriptions_tell_everything),
        cmocka_unit_test(comments_cannot_be_left),
        cmocka_unit_test(what_cannot_be_written_is_refused),
        cmocka_unit_test(schemas_that_multiply_are_stopped),
        cmocka_unit_test(names_that_become_the_same_in_python_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
