/* test_excerpt.c - an excerpt has the statements that places are in, and a rule finds in it what it
 * finds in the whole. Places are where sources have a `@`, which is no part of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/excerpt.h"
#include "code/parse.h"
#include "code/scanner.h"

enum { TEXT_MAX = 4096, PLACES_MAX = 16 };

typedef int make_fn(const char *, size_t, const uint32_t *, size_t, struct excerpt *);

/* The excerpt as a text, or "whole". */
static const char *excerpt_of(make_fn *make, const char *marked)
{
    static char out[TEXT_MAX];
    char text[TEXT_MAX];
    uint32_t places[PLACES_MAX];
    struct excerpt e;
    size_t len = 0, count = 0, out_len = 0;

    for (; *marked != '\0'; marked++) {
        if (*marked == '@') {
            places[count++] = (uint32_t)len;
        } else {
            text[len++] = *marked;
        }
    }
    if (make(text, len, places, count, &e) < 0) {
        return "whole";
    }
    for (uint32_t i = 0; i < e.count; i++) {
        const TSRange *r = &e.ranges[i];

        assert_true(r->start_byte < r->end_byte && r->end_byte <= len);
        assert_true(i == 0 || e.ranges[i - 1].end_byte < r->start_byte);
        memcpy(out + out_len, text + r->start_byte, r->end_byte - r->start_byte);
        out_len += r->end_byte - r->start_byte;
    }
    assert_int_equal(out_len, e.bytes);
    out[out_len] = '\0';
    return out;
}

static void check_js(const char *marked, const char *expected)
{
    assert_string_equal(excerpt_of(excerpt_make_js, marked), expected);
}

static void check_python(const char *marked, const char *expected)
{
    assert_string_equal(excerpt_of(excerpt_make_python, marked), expected);
}

static void statements_of_javascript(void **state)
{
    (void)state;
    check_js("a();\n@b();\nc();\n", "b();\n");
    check_js("a()\nb();\n@c();\n", "c();\n");
    check_js("f(1,\n@x);\ng();\n", "f(1,\nx);\n");
    check_js("a();\n// @x\nb();\n", "a();\n// x\n");
    check_js("const s = `;\n@a ${b(`}`)}\nc`;\nd();\n", "const s = `;\na ${b(`}`)}\nc`;\n");
    check_js("const r = /[\"/]/;\n@b();\n", "b();\n");
    check_js("const r = a / b / c;\n@b('//');\n", "b('//');\n");
    check_js("/* a;\nb */ @b();\nc();\n", "/* a;\nb */ b();\n");
    check_js("if (a) {\n  b();\n}\nelse {\n  @c();\n}\nd();\n",
        "if (a) {\n  b();\n}\nelse {\n  c();\n}\n");
    check_js("const f = {\n  a: 1,\n  @b: 2,\n};\n", "const f = {\n  a: 1,\n  b: 2,\n};\n");
}

static void statements_in_functions_of_javascript(void **state)
{
    (void)state;
    check_js("function f() {\n  a();\n  @b();\n  c();\n}\nf();\n", "function f() {\n  b();\n}\n");
    check_js("async function f() {\n  @a();\n  b();\n}\n", "async function f() {\n  a();\n}\n");
    check_js("const f = (x) => {\n  a();\n  if (x) {\n    @b();\n  }\n  c();\n};\nd();\n",
        "const f = (x) => {\n  if (x) {\n    b();\n  }\n};\n");
    check_js("class A {\n  m() {\n    a();\n  }\n  n() {\n    @b();\n  }\n}\n",
        "class A {\n  n() {\n    b();\n  }\n}\n");
    check_js("(async () => {\n  a();\n  @b();\n})();\n", "(async () => {\n  b();\n})();\n");
    /* In a loop nothing is left out: whether it ends may be what a rule asks. */
    check_js("while (true) {\n  @a();\n  break;\n}\n", "while (true) {\n  a();\n  break;\n}\n");
}

static void what_is_not_understood_is_read_as_a_whole(void **state)
{
    char many[TEXT_MAX];

    (void)state;
    check_js("a());\n@b();\n", "whole");
    check_js("f(\n@b();\n", "whole");
    check_js("@", "whole");
    memset(many, '(', 300);
    memset(many + 300, ')', 300);
    (void)snprintf(many + 600, sizeof(many) - 600, ";\n@b();\n");
    check_js(many, "whole");
    check_python("@", "whole");
    check_python("# a\n\n@# b\n", "whole");
}

static void statements_of_python(void **state)
{
    (void)state;
    check_python("a()\n@b()\nc()\n", "b()\n");
    check_python("x = [\n1,\n@2]\ny\n", "x = [\n1,\n2]\n");
    check_python("s = '''\na()\n@b()\n'''\nc\n", "s = '''\na()\nb()\n'''\n");
    check_python("s = 'it\\'s'; @t = \"#\"\nc\n", "s = 'it\\'s'; t = \"#\"\n");
    check_python("a = 1 + \\\n@2\nb\n", "a = 1 + \\\n2\n");
    check_python("try:\n  a()\nexcept E:\n  @b()\nc\n", "try:\n  a()\nexcept E:\n  b()\n");
    check_python("a\n# @x\nb\n", "a\n# x\n");
    check_python("elsewhere\n@exception\n", "exception\n");
}

static void statements_in_functions_of_python(void **state)
{
    (void)state;
    check_python("def f():\n  a()\n  @b()\n  c()\nd()\n", "def f():\n  b()\n");
    check_python("def f():\n  a()\n  if x:\n    @b()\n  else:\n    c()\n  d()\n",
        "def f():\n  if x:\n    b()\n  else:\n    c()\n");
    check_python("class A:\n  x = 1\n\n  def m(self):\n    a()\n\n  def n(self):\n    @b()\n",
        "class A:\n  def n(self):\n    b()\n");
    check_python("def f(@x):\n\ta\n\tb\nc\n", "def f(x):\n\ta\n");
    check_python("while 1:\n  @a()\n  break\n", "while 1:\n  a()\n  break\n");
}

static void a_finding_in_an_excerpt_is_where_it_is(void **state)
{
    static const char rules[] =
        "; id: a\n; severity: warn\n; languages: javascript\n; message: m\n; advice: a\n"
        "(call_expression function: (identifier) @f (#eq? @f \"eval\")) @finding\n";
    static const char text[] = "a();\nfunction f() {\n  b();\n  return eval(c);\n}\nf();\n";
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct scanner_source source = {.name = "m",
        .name_len = 1,
        .text = text,
        .len = sizeof(text) - 1,
        .language = SCANNER_JAVASCRIPT};
    static struct findings found;
    struct excerpt e;
    uint32_t places[1];
    TSTree *tree = NULL;

    (void)state;
    assert_int_equal(scanner_add(s, "t", rules, sizeof(rules) - 1, NULL), 0);
    assert_int_equal(scanner_places(s, text, sizeof(text) - 1, 0, places, 1), 1);
    assert_int_equal(excerpt_make_js(text, sizeof(text) - 1, places, 1, &e), 0);
    assert_true(e.bytes < sizeof(text) - 1);
    assert_true(syntax_parse_excerpt(
        tree_sitter_javascript(), text, sizeof(text) - 1, e.ranges, e.count, &tree));
    source.pieces = e.ranges;
    source.pieces_count = e.count;
    scanner_scan(s, ts_tree_root_node(tree), &source, &found);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.items[0].line, 4);
    assert_int_equal(found.items[0].column, 10);
    assert_string_equal(found.items[0].text, "eval(c)");
    ts_tree_delete(tree);
    scanner_free(s);
}

static void an_excerpt_with_errors_is_no_tree(void **state)
{
    static const char text[] = "a(\nb;\n";
    TSRange range = {.start_byte = 0, .end_byte = 3, .end_point = {.row = 1}};
    TSTree *tree = NULL;

    (void)state;
    assert_false(
        syntax_parse_excerpt(tree_sitter_javascript(), text, sizeof(text) - 1, &range, 1, &tree));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_of_javascript),
        cmocka_unit_test(statements_in_functions_of_javascript),
        cmocka_unit_test(what_is_not_understood_is_read_as_a_whole),
        cmocka_unit_test(statements_of_python),
        cmocka_unit_test(statements_in_functions_of_python),
        cmocka_unit_test(a_finding_in_an_excerpt_is_where_it_is),
        cmocka_unit_test(an_excerpt_with_errors_is_no_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
