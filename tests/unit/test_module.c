/* test_module.c - the text that becomes of a module, and what kind of source a source is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/module.h"

#define PLAIN "(function vial_main(vial$x,vial$v,vial$i,vial$m){\"use strict\";"
#define PLAIN_ASYNC "(async function vial_main(vial$x,vial$v,vial$i,vial$m){\"use strict\";"
#define PLAIN_END "\n})"
#define EXACT                                                                                      \
    "(function(vial$x,vial$v,vial$i,vial$m,vial$c,vial$w){with(vial$v){return "                    \
    "function*vial_main(){\"use strict\";"
#define EXACT_END "\n}}})"

static struct module module;

static void read_as(const char *source, enum module_kind kind, unsigned flags)
{
    assert_int_equal(module_read(source, strlen(source), kind, flags, &module, NULL), 0);
}

static void assert_text(const char *source, unsigned flags, const char *expected)
{
    read_as(source, MODULE_AUTO, flags);
    assert_string_equal(module.fault, "");
    assert_string_equal(module.rewrite.text.data, expected);
    module_release(&module);
}

static void assert_kind(const char *source, unsigned flags, int kind)
{
    read_as(source, MODULE_AUTO, flags);
    if (module.kind != kind) {
        fail_msg("%s is %d", source, module.kind);
    }
    module_release(&module);
}

static void words_decide_whether_to_read(void **state)
{
    (void)state;
    assert_true(module_may_be("import 'a'", 10));
    assert_true(module_may_be("(import('a'))", 13));
    assert_true(module_may_be("x;export{}", 10));
    assert_false(module_may_be("important(exports, $import, import_, reimport)", 46));
    assert_false(module_may_be("", 0));
    assert_true(module_may_be("import", 6));
}

static void the_kind_is_found(void **state)
{
    (void)state;
    assert_kind("import 'a'", 0, MODULE_ES);
    assert_kind("export {}", 0, MODULE_ES);
    assert_kind("import.meta", 0, MODULE_ES);
    assert_kind("() => import.meta", 0, MODULE_ES);
    assert_kind("import('a')", 0, MODULE_SCRIPT);
    assert_kind("await 1", 0, MODULE_SCRIPT);
    assert_kind("'export {}'", 0, MODULE_SCRIPT);
    assert_kind("exports.a = 1", MODULE_REQUIRED, MODULE_COMMONJS);
    assert_kind("import('a')", MODULE_REQUIRED, MODULE_COMMONJS);
    assert_kind("await 1", MODULE_REQUIRED, MODULE_ES);
    assert_kind("async () => await 1", MODULE_REQUIRED, MODULE_COMMONJS);
    assert_kind("", MODULE_REQUIRED, MODULE_COMMONJS);
    assert_kind("{ import 'a' }", 0, MODULE_SCRIPT);
}

static void imports_become_constants(void **state)
{
    (void)state;
    assert_text("import a, {b as c} from 'x'; a", 0,
        PLAIN "const a=vial$v[0],c=vial$v[1];;                            a" PLAIN_END);
    assert_text("import * as n from 'x'\nn", 0,
        PLAIN "const n=vial$v[0];;                     \nn" PLAIN_END);
    assert_text("import 'x';", 0, PLAIN ";          " PLAIN_END);
}

static void exports_become_functions(void **state)
{
    (void)state;
    assert_text("export const a = 1, {b} = c;", 0,
        PLAIN "vial$x([()=>a,()=>b]);       const a = 1, {b} = c;" PLAIN_END);
    assert_text("let a; export {a as x, a as y}", 0,
        PLAIN "vial$x([()=>a,()=>a]);let a; ;                      " PLAIN_END);
    assert_text(
        "export function f() {}", 0, PLAIN "vial$x([()=>f]);       function f() {}" PLAIN_END);
    assert_text("export * from 'x'; export {a} from 'y'", 0,
        PLAIN ";                  ;                  " PLAIN_END);
    assert_text("import {a} from 'x'; export {a}", 0,
        PLAIN "const a=vial$v[0];;                    ;         " PLAIN_END);
}

static void default_exports_become_a_variable(void **state)
{
    (void)state;
    assert_text("export default 1", 0, PLAIN "vial$x([()=>vial$d]);const  vial$d= 1" PLAIN_END);
    assert_text("export default function () {}", 0,
        PLAIN "vial$x([()=>vial$d],vial$d);               function  vial$d() {}" PLAIN_END);
    assert_text("export default function f() {}", 0,
        PLAIN "vial$x([()=>f]);               function f() {}" PLAIN_END);
    assert_text("export default class {}\n[1]", 0,
        PLAIN "vial$x([()=>vial$d]);const  vial$d= {default:class {}}.default;\n[1]" PLAIN_END);
    assert_text("export default () => 1;", 0,
        PLAIN "vial$x([()=>vial$d]);const  vial$d= {default:() => 1}.default;" PLAIN_END);
    assert_text(
        "export default (a, b)", 0, PLAIN "vial$x([()=>vial$d]);const  vial$d= (a, b)" PLAIN_END);
}

static void asking_for_modules_keeps_its_length(void **state)
{
    (void)state;
    assert_text("import.meta.url; import('a'); import\n.meta", 0,
        PLAIN "vial$m     .url; vial$i('a'); vial$m\n     " PLAIN_END);
    assert_text("import('a')", 0, "vial$i('a')");
    assert_text(
        "await import('a')", 0, "(async function vial_main(){return await vial$i('a')\n})()");
    assert_text("await import('a')", MODULE_NOT_WRAPPED, "await vial$i('a')");
    assert_text("import('a')", MODULE_REQUIRED,
        "(function vial_main(exports,require,module,__filename,__dirname,vial$i){vial$i('a')\n})");
}

static void the_main_module_returns_its_last_value(void **state)
{
    (void)state;
    assert_text("export {}; a; b", MODULE_MAIN, PLAIN ";          a; return b" PLAIN_END);
    assert_text("a; export {}", MODULE_MAIN, PLAIN "return a; ;        " PLAIN_END);
    assert_text(
        "import 'x'; await a", MODULE_MAIN, PLAIN_ASYNC ";           return await a" PLAIN_END);
}

static void the_exact_form_has_live_names(void **state)
{
    (void)state;
    assert_text("import {f} from 'x'; export let a = f(1)", MODULE_EXACT,
        EXACT "vial$x([()=>a]);yield;;                           let a = vial$c(f)(1)" EXACT_END);
    assert_text("import {f} from 'x'; f", MODULE_EXACT | MODULE_MAIN,
        EXACT "yield;;                    return f" EXACT_END);
    assert_text("import {f} from 'x'; f()", MODULE_EXACT | MODULE_MAIN,
        EXACT "yield;;                    return vial$c(f)()" EXACT_END);
    assert_text("export {}; await 1", MODULE_EXACT,
        "(function(vial$x,vial$v,vial$i,vial$m,vial$c,vial$w){with(vial$v){return async function "
        "vial_main(){\"use strict\";await vial$w;;          await 1" EXACT_END);
}

static void a_line_in_brackets_behind_an_import_is_its_own(void **state)
{
    (void)state;
    assert_text("import 'x'\n(a)", 0, PLAIN ";         \n(a)" PLAIN_END);
    assert_text("import {\n  a\n} from 'x'\n\n[a]", 0,
        PLAIN "const a=vial$v[0];;       \n   \n          \n\n[a]" PLAIN_END);
    assert_text(
        "let a\nexport {a}\n`b`", 0, PLAIN "vial$x([()=>a]);let a\n;         \n`b`" PLAIN_END);
}

static void a_hashbang_becomes_a_comment(void **state)
{
    (void)state;
    assert_text("#!x\nexport {}", 0, PLAIN "//x\n;        " PLAIN_END);
    assert_text("#!x\nexports", MODULE_REQUIRED,
        "(function vial_main(exports,require,module,__filename,__dirname,vial$i){//x\nexports\n})");
}

static void changing_exports_are_told_from_others(void **state)
{
    const struct module_export *exports;

    (void)state;
    read_as("export let a = 1, b = 2; export function f() { b++ } export {f as g}; f.x = 1",
        MODULE_AUTO, 0);
    exports = (const struct module_export *)(const void *)module.exports.data;
    assert_int_equal(module.exports.len, 4 * sizeof(*exports));
    assert_int_equal(exports[0].may_change, 0);
    assert_int_equal(exports[1].may_change, 1);
    assert_int_equal(exports[2].may_change, 0);
    assert_int_equal(exports[3].may_change, 0);
    module_release(&module);
    read_as("export let a = 1; eval('a = 2')", MODULE_AUTO, 0);
    exports = (const struct module_export *)(const void *)module.exports.data;
    assert_int_equal(exports[0].may_change, 1);
    module_release(&module);
}

static void what_functions_allow_and_modules_do_not_is_a_fault(void **state)
{
    static const struct {
        const char *source;
        const char *fault;
        uint32_t line, column;
    } cases[] = {{"export {};\n return 1", "Return", 2, 2}, {"export {}; yield 1", "yield", 1, 12},
        {"export {}; var await", "await", 1, 16}, {"export {a}", "'a'", 1, 9},
        {"import {a} from 'x'; export let a", "'a'", 1, 33}, {"import()", "import()", 1, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        read_as(cases[i].source, MODULE_AUTO, 0);
        assert_non_null(strstr(module.fault, cases[i].fault));
        assert_int_equal(module.fault_line, cases[i].line);
        assert_int_equal(module.fault_column, cases[i].column);
        module_release(&module);
    }
}

/* Whatever the bytes, something comes of it, or a refusal. */
static void no_source_is_too_strange(void **state)
{
    static const char *const pieces[] = {"import ", "export ", "default ", "{", "}", "* as x ",
        "from ", "'a'", ",", ";", "\n", "function ", "class ", "x", "(", ")", "=>", "await ",
        "import.meta", "import(", "const ", "=", "with ", "\"", "`", "\\u0061", "\xc3\xbc", "/*",
        "*/", "//", "async ", "[", "]", "...", "a:", "#!"};
    unsigned random = 12345;
    char source[400];

    (void)state;
    for (int round = 0; round < 20000; round++) {
        size_t len = 0;

        for (int i = 0; i < 12; i++) {
            const char *piece;

            random = random * 1103515245 + 12345;
            piece = pieces[(random >> 16) % (sizeof(pieces) / sizeof(pieces[0]))];
            memcpy(source + len, piece, strlen(piece));
            len += strlen(piece);
        }
        assert_int_equal(module_read(source, len, (enum module_kind)(round % 4),
                             (unsigned)(random >> 8) % 16, &module, NULL),
            0);
        module_release(&module);
    }
}

static void a_source_over_a_maximum_is_refused(void **state)
{
    char *source = malloc(200000);
    struct vial_error err = {0};

    (void)state;
    assert_non_null(source);
    memset(source, '[', 200000);
    memcpy(source, "export {};", 10);
    assert_int_equal(module_read(source, 200000, MODULE_AUTO, 0, &module, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "too large"));
    module_release(&module);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_decide_whether_to_read),
        cmocka_unit_test(the_kind_is_found),
        cmocka_unit_test(imports_become_constants),
        cmocka_unit_test(exports_become_functions),
        cmocka_unit_test(default_exports_become_a_variable),
        cmocka_unit_test(asking_for_modules_keeps_its_length),
        cmocka_unit_test(the_main_module_returns_its_last_value),
        cmocka_unit_test(the_exact_form_has_live_names),
        cmocka_unit_test(a_line_in_brackets_behind_an_import_is_its_own),
        cmocka_unit_test(a_hashbang_becomes_a_comment),
        cmocka_unit_test(changing_exports_are_told_from_others),
        cmocka_unit_test(what_functions_allow_and_modules_do_not_is_a_fault),
        cmocka_unit_test(no_source_is_too_strange),
        cmocka_unit_test(a_source_over_a_maximum_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
