/* test_statement.c - the tables that are made of import and export statements, and their faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "code/module.h"
#include "code/statement.h"

static struct module module;

static const char *text(struct module_text t)
{
    static char kept[8][100];
    static unsigned next;
    char *to = kept[next++ % 8];

    (void)snprintf(to, sizeof(kept[0]), "%.*s", (int)t.len,
        module.strings.data != NULL ? module.strings.data + t.at : "");
    return to;
}

/* The tables as one line: "from specifier[:type]", "binding name<-imported@request", ... */
static const char *summary(const char *source)
{
    static char line[1000];
    size_t n = 0;

    assert_int_equal(module_read(source, strlen(source), MODULE_ES, 0, &module, NULL), 0);
    if (module.fault[0] != '\0') {
        (void)snprintf(
            line, sizeof(line), "%u:%u %s", module.fault_line, module.fault_column, module.fault);
        module_release(&module);
        return line;
    }
    line[0] = '\0';
    for (size_t i = 0; i < module.requests.len / sizeof(struct module_request); i++) {
        const struct module_request *r =
            (const struct module_request *)(const void *)module.requests.data + i;

        n += (size_t)snprintf(line + n, sizeof(line) - n, "from %s%s%s@%u:%u ", text(r->specifier),
            r->has_type ? ":" : "", r->has_type ? text(r->type) : "", r->line, r->column);
    }
    for (size_t i = 0; i < module.imports.len / sizeof(struct module_import); i++) {
        const struct module_import *m =
            (const struct module_import *)(const void *)module.imports.data + i;

        n += (size_t)snprintf(line + n, sizeof(line) - n, "in%u %s<-%s@%u ", m->binding,
            text(m->local), text(m->imported), m->request);
    }
    for (size_t i = 0; i < module.exports.len / sizeof(struct module_export); i++) {
        const struct module_export *e =
            (const struct module_export *)(const void *)module.exports.data + i;

        n += (size_t)snprintf(line + n, sizeof(line) - n, "out%u %s<-%s ", e->binding,
            text(e->name), text(e->binding == BINDING_LOCAL ? e->local : e->imported));
    }
    module_release(&module);
    return line;
}

static void imports_are_listed(void **state)
{
    (void)state;
    assert_string_equal(summary("import 'a'"), "from a@1:8 ");
    assert_string_equal(summary("import x from 'a'"), "from a@1:15 in1 x<-default@0 ");
    assert_string_equal(summary("import x, {y, z as w, 'q r' as s} from 'a'"),
        "from a@1:40 in1 x<-default@0 in1 y<-y@0 in1 w<-z@0 in1 s<-q r@0 ");
    assert_string_equal(
        summary("import x, * as n from 'a'"), "from a@1:23 in1 x<-default@0 in2 n<-@0 ");
    assert_string_equal(summary("import a from 'a'\nimport b from '\\x62'"),
        "from a@1:15 from b@2:15 in1 a<-default@0 in1 b<-default@1 ");
    assert_string_equal(
        summary("import j from 'j' with {type: 'json'}"), "from j:json@1:15 in1 j<-default@0 ");
    assert_string_equal(summary("import 'j' with {'type': \"json\",}"), "from j:json@1:8 ");
    assert_string_equal(summary("import 'j' with {}"), "from j@1:8 ");
}

static void exports_are_listed(void **state)
{
    (void)state;
    assert_string_equal(summary("export let a, {b, c: [d = e], ...f} = 1, [g] = h"),
        "out0 a<-a out0 b<-b out0 d<-d out0 f<-f out0 g<-g ");
    assert_string_equal(summary("export const {[k]: v = w} = 1"), "out0 v<-v ");
    assert_string_equal(summary("let a; export {a, a as b, a as default, a as 'c d'}"),
        "out0 a<-a out0 b<-a out0 default<-a out0 c d<-a ");
    assert_string_equal(summary("export {a, b as c, default, default as d} from 'x'"),
        "from x@1:48 out1 a<-a out1 c<-b out1 default<-default out1 d<-default ");
    assert_string_equal(
        summary("export * from 'x'; export * as y from 'z'; export * as 'q' from 'r'"),
        "from x@1:15 from z@1:39 from r@1:65 out3 <- out2 y<- out2 q<- ");
    assert_string_equal(
        summary("export function f() {} export class C {} export async function* g() {}"),
        "out0 f<-f out0 C<-C out0 g<-g ");
    assert_string_equal(summary("export default class A {}"), "out0 default<-A ");
    assert_string_equal(summary("export default a"), "out0 default<-vial$d ");
    assert_string_equal(
        summary("import {a, b as c} from 'x'; import * as n from 'y'; export {a, c as d, n}"),
        "from x@1:25 from y@1:49 in1 a<-a@0 in1 c<-b@0 in2 n<-@1 out1 a<-a out1 d<-b out2 n<- ");
}

static void faults_are_told_with_their_place(void **state)
{
    static const char *const cases[][2] = {
        {"import {a,,b} from 'x'", "1:10 Unexpected ',' in an import statement"},
        {"\nimport {a} from\n", "2:1 Cannot read this import statement"},
        {"import x from 'y' assert {type: 'json'}",
            "1:1 Cannot read this import statement: attributes are written `with`, not `assert`"},
        {"import {'a'} from 'x'", "1:9 Unexpected ''a'' in an import statement"},
        {"import {default} from 'x'", "1:9 Cannot use 'default' as the name of an import"},
        {"import eval from 'x'", "1:8 Cannot use 'eval' as the name of an import"},
        {"import a from 'x'; import {a} from 'y'",
            "1:28 Cannot declare an imported binding name twice: 'a'"},
        {"export {'a' as b}", "1:16 A string can be exported only from another module"},
        {"import 'a\\ud800'", "1:9 Invalid escape in a name of a module or of what it exports"},
        {"import 'x' with {a: 'b'}", "1:18 The only import attribute is type"},
        {"import 'x' with {type: 'a', type: 'b'}", "1:29 The import attribute type is there twice"},
        {"import 'x' with {type: 5}", "1:18 An import attribute must be a string"},
        {"import 'x' with {...y}", "1:18 An import attribute must be a string"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(summary(cases[i][0]), cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_are_listed),
        cmocka_unit_test(exports_are_listed),
        cmocka_unit_test(faults_are_told_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
