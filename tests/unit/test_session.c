/* test_session.c - the text that becomes of a source in a session. What it does when it is
 * evaluated is in test_session_run.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/script.h"
#include "code/session.h"

#define ASYNC "(async function vial_main(){"
#define STRICT "\"use strict\";"
#define MODULE "\"use strict\";void 0;"
#define TAIL "\n})()"

static struct session_source session;

static void read_source(const char *source)
{
    struct vial_error err = {0};

    assert_int_equal(session_read(source, strlen(source), 0, &session, &err), 0);
}

static void assert_shape(const char *source, int shape, const char *expected)
{
    read_source(source);
    assert_string_equal(session.module.fault, "");
    if (session.shape != shape ||
        strcmp(session.rewrite.text.len > 0 ? session.rewrite.text.data : "", expected) != 0) {
        fail_msg("%s\n    became %d %s\n    and not %d %s", source, session.shape,
            session.rewrite.text.len > 0 ? session.rewrite.text.data : "", shape, expected);
    }
    session_release(&session);
}

static void assert_script(const char *source, const char *expected)
{
    assert_shape(source, SESSION_SCRIPT, expected);
}

static void assert_async(const char *source, const char *expected)
{
    assert_shape(source, SESSION_ASYNC, expected);
}

static void assert_as_is(const char *source)
{
    assert_shape(source, SESSION_AS_IS, "");
}

/* All names, with a space between. */
static void assert_names(const char *source, const char *expected)
{
    char names[1024] = "";

    read_source(source);
    for (size_t i = 0; i < session_name_count(&session); i++) {
        size_t used = strlen(names);
        size_t len = 0;
        const char *name = session_name(&session, i, &len);

        (void)snprintf(
            names + used, sizeof(names) - used, "%s%.*s", i > 0 ? " " : "", (int)len, name);
    }
    assert_string_equal(names, expected);
    session_release(&session);
}

static void what_declares_nothing_stays_as_it_is(void **state)
{
    (void)state;
    assert_as_is("");
    assert_as_is("1 + 1");
    assert_as_is("var a = 1; function f() { let b; const c = 1; class D {} }");
    assert_as_is("for (let i = 0; i < 1; i++) { const j = i } { class E {} }");
    assert_as_is("async function f() { await 1; return 2 }");
    assert_as_is("#!/usr/bin/env node\nf()");
    assert_as_is("a = 1; b++");
}

static void declarations_become_variables(void **state)
{
    (void)state;
    assert_script("const a = 1;", "var   a = 1;;");
    assert_script("let a = 1, b = 2", "var a = 1, b = 2;");
    assert_script("const {a, b: [c] = [], ...d} = e", "var   {a, b: [c] = [], ...d} = e;");
    assert_script("class A extends B {}", "var A=class A extends B {};");
    assert_script("#!x\nlet a = 1", "#!x\nvar a = 1;");
}

static void a_variable_without_a_value_gets_none(void **state)
{
    (void)state;
    assert_script("let a", "var a=void 0;");
    assert_script("let a, b = 1, c;", "var a=void 0, b = 1, c=void 0;;");
    assert_script("let a\n(b)", "var a=void 0;\n(b)");
}

static void with_await_declarations_become_assignments(void **state)
{
    (void)state;
    assert_async("const a = await b", "var a;" ASYNC ";(    a = await b);" TAIL);
    assert_async("let {a, b: [c] = []} = await d, e;",
        "var a,c,e;" ASYNC ";(  {a, b: [c] = []} = await d, e=void 0);;" TAIL);
    assert_async("class A {}\nawait A", "var A;" ASYNC ";(A=class A {});\nreturn await A" TAIL);
    assert_async("await 1; for (const a of b) {}", ASYNC "await 1; for (const a of b) {}" TAIL);
    assert_async("#!x\nlet a = await 1", "var a;" ASYNC "//x\n;(  a = await 1);" TAIL);
}

/* The text of its own that the functions of a source are. */
static void assert_functions(const char *source, const char *expected)
{
    read_source(source);
    assert_string_equal(
        session.functions.text.len > 0 ? session.functions.text.data : "", expected);
    session_release(&session);
}

static void with_await_functions_are_a_text_of_their_own(void **state)
{
    (void)state;
    assert_async("await f()\nfunction f(a) {}\n(b)",
        "var f;" ASYNC "await f()\n;               \nreturn (b)" TAIL);
    assert_functions("await f()\nfunction f(a) {}\n(b)", "         \nfunction f(a) {}\n   ");
    assert_functions("'use strict'; async function f() {} return; function* g() {}",
        STRICT "              async function f() {}         function* g() {}");
    assert_functions(
        "import a from 'a'; export default function f() { return import('b') }\nawait 1",
        STRICT "                                  function f() { return vial$i('b') }\n       ");
    assert_functions("const a = await 1; function f() { a = 2; import.meta }\na = 3",
        STRICT "                   function f() { vial$k.a = 2; vial$m      }\n     ");
    assert_async("const a = await 1; function f() { a = 2 }\na = 3",
        "var a,f;" ASYNC ";(    a = await 1);; ;                     \nreturn vial$k.a = 3" TAIL);
    assert_functions("await 1; const f = function () {}; { function g() {} }", "");
    assert_functions("function f() {}", "");
}

static void with_await_every_var_is_global(void **state)
{
    (void)state;
    assert_async("await 0\nvar a = 1, b", "var a,b;" ASYNC "await 0\n;(  a = 1, b);" TAIL);
    assert_async("if (await a) var b = 1; else { c\nvar d }",
        "var b,d;" ASYNC "if (await a) (   b = 1); else { c\n;(  d); }" TAIL);
    assert_async("for (var i = 0, j; await i;) {} for (var [k] of l) {} for (var m in n) {}",
        "var i,j,k,m;" ASYNC
        "for (    i = 0, j; await i;) {} for (    [k] of l) {} for (    m in n) {}" TAIL);
    assert_async("await 0; function f() { var a }",
        "var f;" ASYNC "return await 0; ;                     " TAIL);
}

static void the_directive_stays_in_force(void **state)
{
    (void)state;
    assert_async(
        "// c\n'use strict'; await 1", ASYNC STRICT "// c\n'use strict'; return await 1" TAIL);
    assert_async(
        "'a'\n\"use strict\"\nawait 1", ASYNC STRICT "'a'\n\"use strict\"\nreturn await 1" TAIL);
    assert_async("f\n'use strict'\nawait 1", ASYNC "f\n'use strict'\nreturn await 1" TAIL);
    assert_script("'use strict'; let a = 1", "'use strict'; var a = 1;");
}

static void imports_come_from_the_values_that_were_found(void **state)
{
    (void)state;
    assert_script("import 'a'", MODULE ";         ");
    assert_script("import a, {b as c} from 'd'\nimport * as e from 'f'\nc",
        MODULE "var a=vial$v[0],c=vial$v[1],e=vial$v[2];;                          "
               "\n;                     \nc");
    assert_async("import a from 'b'; const c = await a",
        "var a=vial$v[0],c;" ASYNC STRICT ";                  ;(    c = await a);" TAIL);
    assert_script("import('a')", "vial$i('a')");
    assert_script("import.meta.url", MODULE "vial$m     .url");
}

static void exports_are_what_they_declare(void **state)
{
    (void)state;
    assert_script("export const a = 1", MODULE ";      var   a = 1;");
    assert_script("export function f() {}", MODULE ";      function f() {}");
    assert_script("export class A {}", MODULE ";      var A=class A {};");
    assert_script("let a; export {a}; export * from 'b'",
        MODULE "var a=void 0;; ;           ;                ");
}

static void the_default_export_is_handed_over(void **state)
{
    (void)state;
    assert_script("export default a", MODULE ";      vial$d= a");
    assert_script("export default () => 1", MODULE ";      vial$d= {default:() => 1}.default");
    assert_script(
        "export default function () {}", MODULE ";      vial$d= {default:function () {}}.default;");
    assert_script(
        "export default function f() {}", MODULE ";              function f() {};vial$d=f;");
    assert_script("export default class {}", MODULE ";      vial$d= {default:class {}}.default;");
    assert_script("export default class A {}", MODULE ";              var A=vial$d=class A {};");
    assert_async("await 0; export default class A {}",
        "var A;" ASYNC STRICT "await 0; ;              ;(A=vial$d=class A {});" TAIL);
}

static void assignments_to_constants_fail(void **state)
{
    (void)state;
    assert_script("const a = 1; a = 2; a++", "var   a = 1;; vial$k.a = 2; vial$k.a++");
    assert_script("const a = 1; ({a, b: a} = c)", "var   a = 1;; ({a:vial$k.a, b: vial$k.a} = c)");
    assert_script(
        "const a = 1; function f() { a += 1 }", "var   a = 1;; function f() { vial$k.a += 1 }");
    assert_async(
        "const a = await 1; a = 2", "var a;" ASYNC ";(    a = await 1);; return vial$k.a = 2" TAIL);
    assert_script(
        "import a from 'a'; a = 1", MODULE "var a=vial$v[0];;                  vial$k.a = 1");
}

static void assignments_that_may_mean_another_name_are_left_alone(void **state)
{
    (void)state;
    assert_script("const a = 1; function f(a) { a = 2 }", "var   a = 1;; function f(a) { a = 2 }");
    assert_script("const a = 1; { let a; a = 2 }", "var   a = 1;; { let a; a = 2 }");
    assert_script(
        "const a = 1; try {} catch (a) { a = 2 }", "var   a = 1;; try {} catch (a) { a = 2 }");
    assert_script("const a = 1; eval(b); a = 2", "var   a = 1;; eval(b); a = 2");
    assert_script("const a = 1; with (b) a = 2", "var   a = 1;; with (b) a = 2");
    assert_script("let a = 1; a = 2", "var a = 1;; a = 2");
}

static void names_are_listed_once_each(void **state)
{
    (void)state;
    assert_names(
        "const {a, b: [c]} = d; let e; var f, f; function g() { var h } class I {}", "a c e g I f");
    assert_names("import a, {b as c} from 'd'; export default function e() {}", "a c e");
    assert_names("for (var a of b) { let c; var d }", "a d");
    assert_names("for (let a of b) {} function f() {} function f() {}", "f");
    assert_names("await 1; const \xc3\xa4 = 1", "\xc3\xa4");
    assert_names("1 + 1", "");
}

static void insertions_are_recorded(void **state)
{
    uint32_t line = 1, column;

    (void)state;
    read_source("class A {} x");
    column = 1 + (uint32_t)strlen("var A=class A {}; ");
    script_map_back(&session.rewrite, &line, &column);
    assert_int_equal(column, 12);
    session_release(&session);
    read_source("let a\nawait x");
    line = 2;
    column = 1 + (uint32_t)strlen("return await ");
    script_map_back(&session.rewrite, &line, &column);
    assert_int_equal(line, 2);
    assert_int_equal(column, 7);
    session_release(&session);
}

static void await_can_be_left_a_name(void **state)
{
    static const char source[] = "const a = await (b)";

    (void)state;
    assert_int_equal(
        session_read(source, sizeof(source) - 1, SESSION_NOT_WRAPPED, &session, NULL), 0);
    assert_string_equal(session.rewrite.text.data, "var   a = await (b);");
    assert_string_equal(session.module.rewrite.text.data, source);
    session_release(&session);
}

static void what_a_run_would_evaluate_comes_along(void **state)
{
    (void)state;
    read_source("const a = 1; const a = 2");
    assert_string_equal(session.module.rewrite.text.data, "const a = 1; const a = 2");
    session_release(&session);
    read_source("import a from 'a'; import a from 'b'");
    assert_non_null(strstr(session.module.fault, "twice"));
    assert_int_equal(session.shape, SESSION_AS_IS);
    session_release(&session);
    read_source("let a = (;");
    assert_int_equal(session.module.has_errors, 1);
    session_release(&session);
}

static void damaged_sources_do_no_harm(void **state)
{
    static const char source[] =
        "import a, {b as c} from 'd'; export default class A {}\nconst {x, y: [z] = [1]} = await "
        "f;\n"
        "for (var i of j) x++; export {x}; function* g(q) { x = 1 } `${a}` /r/ import.meta";
    char *copy = malloc(sizeof(source));

    (void)state;
    assert_non_null(copy);
    for (size_t i = 0; i < sizeof(source); i++) {
        assert_int_equal(session_read(source, i, 0, &session, NULL), 0);
        session_release(&session);
        for (const char *c = "({;`'"; *c != '\0'; c++) {
            memcpy(copy, source, sizeof(source));
            copy[i] = *c;
            assert_int_equal(session_read(copy, sizeof(source) - 1, 0, &session, NULL), 0);
            session_release(&session);
        }
    }
    free(copy);
    assert_int_equal(session_read("const , c = 1", 13, 0, &session, NULL), 0);
    assert_int_equal(session_name_count(&session), 1); /* what is missing is no name */
    session_release(&session);
}

static void too_large_a_source_is_refused(void **state)
{
    enum { LEN = 2 * CODE_TOKENS_MAX + 2 };
    char *text = malloc(LEN);
    struct vial_error err = {0};

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < LEN; i++) {
        text[i] = i % 2 == 0 ? ';' : ' ';
    }
    assert_int_equal(session_read(text, LEN, 0, &session, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too large"));
    session_release(&session);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_declares_nothing_stays_as_it_is),
        cmocka_unit_test(declarations_become_variables),
        cmocka_unit_test(a_variable_without_a_value_gets_none),
        cmocka_unit_test(with_await_declarations_become_assignments),
        cmocka_unit_test(with_await_functions_are_a_text_of_their_own),
        cmocka_unit_test(with_await_every_var_is_global),
        cmocka_unit_test(the_directive_stays_in_force),
        cmocka_unit_test(imports_come_from_the_values_that_were_found),
        cmocka_unit_test(exports_are_what_they_declare),
        cmocka_unit_test(the_default_export_is_handed_over),
        cmocka_unit_test(assignments_to_constants_fail),
        cmocka_unit_test(assignments_that_may_mean_another_name_are_left_alone),
        cmocka_unit_test(names_are_listed_once_each),
        cmocka_unit_test(insertions_are_recorded),
        cmocka_unit_test(await_can_be_left_a_name),
        cmocka_unit_test(what_a_run_would_evaluate_comes_along),
        cmocka_unit_test(damaged_sources_do_no_harm),
        cmocka_unit_test(too_large_a_source_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
