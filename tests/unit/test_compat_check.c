/* test_compat_check.c - JSCodeSandbox's conventions, found in texts that try to hide them. */
#include "http/compat_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FRAME "async function Initialize(agentId, backends) {}\nasync function Deinitialize() {}\n"

static struct vial_error err;

static size_t endowments(const char *code, struct compat_endowment *first)
{
    struct compat_endowment *list = NULL;
    size_t count = 0;

    if (compat_check_code(code, strlen(code), &list, &count, &err) < 0) {
        return 0;
    }
    *first = list[0];
    free(list);
    return count;
}

static void comments_are_read(void **state)
{
    struct compat_endowment e;

    (void)state;
    assert_int_equal(
        endowments(FRAME "/**\n * @endowment\n * @tool T\n * @description Does it. \n * "
                         "@inputSchema In\n * @outputSchema Out<X>\n */\nasync "
                         "function A_b$(params = {}) { return 1; }",
            &e),
        1);
    assert_string_equal(e.name, "A_b$");
    assert_string_equal(e.description, "Does it.");
    assert_string_equal(e.input, "In");
    assert_string_equal(e.output, "Out<X>");
    assert_int_equal(
        endowments(FRAME "/* @endowment */ async function a( params\n=\t{ } ) {}", &e), 1);
    assert_int_equal(endowments(FRAME "// @endowment\nasync function a(params = {}) {}", &e), 1);
}

/* Neither inside of strings, templates, expressions and functions, nor two things away. */
static void what_only_looks_like_one_is_none(void **state)
{
    static const char *const codes[] = {FRAME
        "const t = '/** @endowment */ async function a(params = {}) {}';",
        FRAME "const t = `/** @endowment */ async function a(params = {}) {}`;",
        FRAME "const r = /\\/** @endowment *\\/ async function a(params = {}) {}/;",
        FRAME "function f() { /** @endowment */ async function a(params = {}) {} }",
        FRAME "/** @endowment */\nconst x = 1;\nasync function a(params = {}) {}",
        FRAME "/** @endowment */\nasync function* 1"};
    struct compat_endowment e;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        assert_int_equal(endowments(codes[i], &e), 0);
        assert_non_null(strstr(err.text, "@endowment"));
    }
}

static void what_follows_odd_text_is_found(void **state)
{
    static const char *const codes[] = {FRAME "const t = `a ${`b ${'}'} {`} c`;\n",
        FRAME "const r = /[/}]{/g;\n", FRAME "const s = 'it\\'s {';\n",
        FRAME "const q = 4 / 2 / 1;\n", FRAME "class A { m() { return `${this.x}}`; } }\n",
        FRAME "/* { */ // {\n"};
    struct compat_endowment e;
    char text[2048];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        (void)strncpy(text, codes[i], sizeof(text) - 1);
        (void)strncat(text, "/** @endowment */ async function a(params = {}) {}",
            sizeof(text) - strlen(text) - 1);
        if (endowments(text, &e) != 1) {
            fail_msg("%s: %s", codes[i], err.text);
        }
    }
}

static void programs_have_main(void **state)
{
    static const char *const bad[] = {"", "function main() {}", "async function main(a) {}",
        "async function other() {}", "'async function main() {}'", "{ async function main() {} }"};
    static const char good[] = "const a = 1;\nexport async function main() { return `}` }";
    size_t i;

    (void)state;
    assert_int_equal(compat_check_program(good, strlen(good), &err), 0);
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(compat_check_program(bad[i], strlen(bad[i]), &err), VIAL_E_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_are_read),
        cmocka_unit_test(what_only_looks_like_one_is_none),
        cmocka_unit_test(what_follows_odd_text_is_found),
        cmocka_unit_test(programs_have_main),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
