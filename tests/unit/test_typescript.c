/* test_typescript.c - what typescript.c makes of TypeScript, and that nothing can upset it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "code/typescript.h"

enum { OUT_MAX = 64 << 20 };

static const struct {
    const char *source;
    const char *expected;
} samples[] = {
#include "typescript_samples.inc"
};

enum { SAMPLES_COUNT = sizeof(samples) / sizeof(samples[0]) };

struct erased {
    struct buf out, edits;
    int has_types;
    uint32_t line;
    struct vial_error err;
};

static int erase(struct erased *e, const char *source, size_t len)
{
    *e = (struct erased){.has_types = -1};
    buf_init(&e->out, OUT_MAX);
    buf_init(&e->edits, OUT_MAX);
    return typescript_erase(source, len, &e->out, &e->edits, &e->has_types, &e->line, &e->err);
}

static void erased_release(struct erased *e)
{
    buf_release(&e->out);
    buf_release(&e->edits);
}

/* One character: its bytes, and its length in UTF-16. */
static size_t char_len(const char *text, size_t left, uint32_t *units)
{
    unsigned char c = (unsigned char)text[0];
    size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    *units = n == 4 ? 2 : 1;
    return n < left ? n : left;
}

static int is_newline(const char *text, size_t n)
{
    return text[0] == '\n' || text[0] == '\r' ||
           (n == 3 &&
               (memcmp(text, "\xe2\x80\xa8", 3) == 0 || memcmp(text, "\xe2\x80\xa9", 3) == 0));
}

/* What may stand where something of the source was: blanks, and the few signs and words that are
 * put into them. */
static int may_replace(char c)
{
    return strchr(" ;()constvarletmodule", c) != NULL;
}

/* Walks over the output without its insertions, and over the source, at once: every character that
 * is still there is in its line and column. Only for UTF-8. */
static void assert_places(const char *source, size_t len, const struct erased *e)
{
    const char *out = e->out.data;
    const struct edit *edits = (const void *)e->edits.data;
    size_t count = e->edits.len / sizeof(*edits);
    size_t i = 0, k = 0, next = 0;
    uint32_t line = 1, column = 1, extra = 0, units, out_units;

    while (i < len || k < e->out.len) {
        size_t n, m;

        while (next < count && edits[next].line == line && edits[next].column == column + extra) {
            assert_true(edits[next].len > 0);
            extra += edits[next].len;
            k += edits[next].len; /* what the callers have inserted is ASCII */
            assert_true(k <= e->out.len);
            next++;
        }
        if (i >= len && k >= e->out.len) {
            break;
        }
        assert_true(i < len && k < e->out.len);
        n = char_len(source + i, len - i, &units);
        m = char_len(out + k, e->out.len - k, &out_units);
        if (n != m || memcmp(source + i, out + k, n) != 0) {
            assert_true(may_replace(out[k]));
            assert_false(is_newline(source + i, n));
            if (units == 2) {
                assert_int_equal(out[k + 1], ' ');
                m = 2;
            }
        }
        column += units;
        if (is_newline(source + i, n) &&
            !(source[i] == '\r' && i + 1 < len && source[i + 1] == '\n')) {
            line++;
            column = 1;
            extra = 0;
        }
        i += n;
        k += m;
    }
    assert_int_equal(next, count);
}

static int is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)text[i] >= 0x80) {
            return 0;
        }
    }
    return 1;
}

static void the_samples_become_what_they_should(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_COUNT; i++) {
        const char *source = samples[i].source;
        struct erased e;

        if (erase(&e, source, strlen(source)) < 0) {
            fail_msg("sample %zu: %s\n%s", i, e.err.text, source);
        }
        if (samples[i].expected == NULL) {
            assert_int_equal(e.has_types, 0);
            assert_int_equal(e.out.len, 0);
        } else {
            assert_int_equal(e.has_types, 1);
            assert_string_equal(e.out.data, samples[i].expected);
            assert_places(source, strlen(source), &e);
        }
        erased_release(&e);
    }
}

static void what_was_erased_has_no_types_left(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_COUNT; i++) {
        const char *text = samples[i].expected;
        struct erased e;

        if (text == NULL) {
            continue;
        }
        if (erase(&e, text, strlen(text)) < 0 || e.has_types) {
            fail_msg("sample %zu has types left: %s\n%s", i, e.err.text, text);
        }
        erased_release(&e);
    }
}

static void line_ends_of_all_kinds_stay(void **state)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    char source[128], expected[128];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct erased e;

        (void)snprintf(source, sizeof(source), "let a: {%sb: 1%s} = x%senum E { A }", ends[i],
            ends[i], ends[i]);
        (void)snprintf(expected, sizeof(expected),
            "let a   %s    %s  = x%svar  E ;(function(E){ E[E[\"A\"]=0]=\"A\" })(E||(E={}));",
            ends[i], ends[i], ends[i]);
        assert_int_equal(erase(&e, source, strlen(source)), 0);
        assert_string_equal(e.out.data, expected);
        assert_places(source, strlen(source), &e);
        assert_int_equal(((const struct edit *)(const void *)e.edits.data)->line, 4);
        erased_release(&e);
    }
}

static void insertions_are_reported_in_utf16_units(void **state)
{
    static const char source[] = "/*\xf0\x9f\x8e\x89*/ enum \xc3\x84 { B }";
    struct erased e;
    const struct edit *edits;

    (void)state;
    assert_int_equal(erase(&e, source, sizeof(source) - 1), 0);
    edits = (const void *)e.edits.data;
    assert_int_equal(e.edits.len / sizeof(*edits), 4);
    assert_int_equal(edits[0].column, 15); /* in front of the { */
    assert_int_equal(edits[0].len, strlen(";(function(A)"));
    assert_int_equal(edits[1].column, 15 + edits[0].len + 2);
    assert_int_equal(edits[1].len, strlen("A[A[\""));
    erased_release(&e);
}

/* The name of a member is written twice; what comes twice must not be the end of a line. */
static void a_line_break_in_the_name_of_a_member_stays_one(void **state)
{
    static const char *const sources[] = {
        "enum E { \"a\xe2\x80\xa8"
        "b\" }\nlet c: D",
        "enum E { 'a\xe2\x80\xa9"
        "b' = 2, 'c\\\xe2\x80\xa8"
        "d' }",
        "enum E { \"a\\\nb\" = 2, C }\nlet c: D",
        "enum E { \"a\\\r\nb\\\\\" = f(), C }\r\nlet c: D",
    };
    struct erased e;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        assert_int_equal(erase(&e, sources[i], strlen(sources[i])), VIAL_OK);
        assert_places(sources[i], strlen(sources[i]), &e);
        assert_null(strstr(e.out.data, ": D"));
        erased_release(&e);
    }
}

static void assert_refused(const char *source, uint32_t line, const char *word)
{
    struct erased e;

    assert_int_equal(erase(&e, source, strlen(source)), VIAL_E_INVALID);
    if (strstr(e.err.text, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", e.err.text, word);
    }
    assert_int_equal(e.line, line);
    assert_int_equal(e.out.len, 0);
    assert_int_equal(e.edits.len, 0);
    erased_release(&e);
}

static void what_is_not_supported_is_named_with_its_line(void **state)
{
    (void)state;
    assert_refused("let a = 1\n@dec class A {}", 2, "decorator");
    assert_refused("class A {\n  @dec() x: number }", 2, "decorator");
    assert_refused("class A {\n\n  f(@inject x) {} }", 3, "decorator");
    assert_refused("export @dec class A {}", 1, "decorator");
    assert_refused("const a =\n <div>text</div>", 2, "JSX");
    assert_refused("const a = <div className=\"x\">text</div>", 1, "JSX");
    assert_refused("const a = <br/>", 1, "JSX");
    assert_refused("const a = <>b</>", 1, "JSX");
    assert_refused(
        "function C(p: P) {\n  return (\n    <ul>{p.a.map(x => <li key={x}>{x}</li>)}</ul>\n  )\n}",
        3, "JSX");
    assert_refused("class A { accessor ['x'] = 1 }", 1, "accessor");
    assert_refused("interface A {\n  a string\n}", 2, "type");
    assert_refused("let a: = 1", 1, "type");
    assert_refused("type A = {", 1, "type");
}

/* A syntax error outside of types is the engine's: what is before it is erased, the rest stays. */
static void syntax_errors_are_left_to_the_engine(void **state)
{
    struct erased e;

    (void)state;
    assert_int_equal(erase(&e, "let a: number = 1\nlet b = ;\nlet c: number", 41), 0);
    assert_int_equal(e.has_types, 1);
    assert_string_equal(e.out.data, "let a         = 1\nlet b = ;\nlet c: number");
    erased_release(&e);
    assert_int_equal(erase(&e, "if (", 4), 0);
    assert_int_equal(e.has_types, 0);
    erased_release(&e);
    assert_int_equal(erase(&e, "}", 1), 0);
    assert_int_equal(e.has_types, 0);
    erased_release(&e);
}

static void nothing_is_fine(void **state)
{
    struct erased e;

    (void)state;
    assert_int_equal(erase(&e, "", 0), 0);
    assert_int_equal(e.has_types, 0);
    erased_release(&e);
    assert_int_equal(erase(&e, NULL, 0), 0);
    assert_int_equal(e.has_types, 0);
    erased_release(&e);
}

static void the_quick_look_finds_types(void **state)
{
    static const char *const typescript[] = {"let x: number = 1", "function f(a?: any) {}",
        "x as any", "enum E { A }", "f<T>(x)", "x!.y", "interface A {}", "class A { private x }",
        "@dec class A {}", "(a): b => c", "const x = <any>y"};
    static const char *const javascript[] = {"", "let x = 1 +", "foo(", "if (a < 1) {",
        "x = a != b", "return 1", "await f()", "!x; a <= b; c = !d"};

    (void)state;
    for (size_t i = 0; i < sizeof(typescript) / sizeof(typescript[0]); i++) {
        assert_int_equal(typescript_is_likely(typescript[i], strlen(typescript[i])), 1);
    }
    for (size_t i = 0; i < sizeof(javascript) / sizeof(javascript[0]); i++) {
        assert_int_equal(typescript_is_likely(javascript[i], strlen(javascript[i])), 0);
    }
}

/* Erases whatever it is. When it works and the source is UTF-8, everything is in its place. */
static void try_anything(const char *source, size_t len)
{
    struct erased e;
    char *copy = malloc(len > 0 ? len : 1); /* so that a sanitizer sees a read behind the end */
    int r;

    assert_non_null(copy);
    memcpy(copy, source, len);
    r = erase(&e, copy, len);
    assert_true(r == VIAL_OK || r == VIAL_E_INVALID);
    if (r == VIAL_OK && e.has_types && is_ascii(copy, len)) {
        assert_places(copy, len, &e);
    }
    (void)typescript_is_likely(copy, len);
    erased_release(&e);
    free(copy);
}

static void samples_may_be_cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES_COUNT; i++) {
        size_t len = strlen(samples[i].source);

        for (size_t n = 0; n < len; n++) {
            try_anything(samples[i].source, n);
            try_anything(samples[i].source + n, len - n);
        }
    }
}

static void samples_may_be_damaged_anywhere(void **state)
{
    static const char bytes[] = "<>(){}[]:;?!,.=|&@#`'\"/*\\$ \n\xf0\x80"
                                "aI1-+";
    char text[4096];
    uint32_t seed = 12345;

    (void)state;
    for (size_t i = 0; i < SAMPLES_COUNT; i++) {
        size_t len = strlen(samples[i].source);

        assert_true(len < sizeof(text));
        for (size_t n = 0; n < len; n++) {
            memcpy(text, samples[i].source, len);
            for (int k = 0; k < 3; k++) {
                seed = seed * 1664525 + 1013904223;
                text[n] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
                try_anything(text, len);
            }
            memmove(text + n, samples[i].source + n + 1, len - n - 1);
            try_anything(text, len - 1); /* and with one byte missing */
        }
    }
}

static void samples_may_be_joined_anywhere(void **state)
{
    char text[8192];
    uint32_t seed = 99;

    (void)state;
    for (int i = 0; i < 4000; i++) {
        size_t len = 0;

        for (int k = 0; k < 3; k++) {
            const char *source;
            size_t from, n;

            seed = seed * 1664525 + 1013904223;
            source = samples[(seed >> 8) % SAMPLES_COUNT].source;
            seed = seed * 1664525 + 1013904223;
            from = (seed >> 8) % (strlen(source) + 1);
            n = strlen(source) - from;
            n = n < 2000 ? n : 2000;
            memcpy(text + len, source + from, n);
            len += n;
        }
        try_anything(text, len);
    }
}

static void nested(const char *before, const char *text, const char *after, size_t times)
{
    size_t n = strlen(text);
    char *all = malloc(strlen(before) + n * times + strlen(after) + 1);
    char *p = all;

    assert_non_null(all);
    memcpy(p, before, strlen(before));
    p += strlen(before);
    for (size_t i = 0; i < times; i++, p += n) {
        memcpy(p, text, n);
    }
    memcpy(p, after, strlen(after) + 1);
    try_anything(all, strlen(all));
    free(all);
}

/* Deep nesting and what can be read in two ways, many times: this ends, and soon. */
static void depth_and_ambiguity_are_bounded(void **state)
{
    static const char *const parts[] = {"(", "[", "{", "{a:", "a?(b):", "a?(b):c=>", "a<", "a<b>(",
        "<T>(", "<T>", "(a:(", "x=>", "async(", "async<T>(", "`${", "!", "-", "new ", "a.b<c,",
        "class A{f(){", "class A extends ", "if(a){", "if(a)", "else if(a)", "if(a)b;else ",
        "for(;;)", "function f(){", "f(a,", "type A=", "type A=(", "let a:(",
        "let a:{a:", "let a:A extends B?", "let a:keyof ", "let a:()=>", "let a:<T>()=>",
        "let a:new()=>", "let a:[", "let a:A<", "namespace A{", "namespace A{export ",
        "enum A{B=", "enum A{B,", "declare namespace A{", "import a from 'b';", "export{a};",
        "interface A{a:", "a as ",
        "a as {b:", "case a:", "a:", "label:", "({a=", "(a=", "a?b:", "a!", "@", "/",
        "switch(a){case (b):c=>", "export default ", "export type A={", "const{a:", "const[",
        "(a)=>(", "(a):b=>", "yield ", "await ", "abstract "};
    static const char *const starts[] = {
        "", "let x = ", "let x: ", "type X = ", "x(", "class C { x: "};

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
            nested(starts[k], parts[i], "", 30);
            nested(starts[k], parts[i], "", 3000);
            nested(starts[k], parts[i], "x", 350);
        }
    }
}

static void long_flat_sources_are_no_nesting(void **state)
{
    static const char *const parts[] = {"let a: number = 1;\n", "if (a) b; else ",
        "a ? b : ", "a + ", "a.b().", "type A = 1;\n", "A | ", "x = {a: [1, (b), <any>c]};\n",
        "f<T>(x);", "enum E { A }\n"};
    struct erased e;

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t n = strlen(parts[i]);
        size_t times = 20000;
        char *all = malloc(n * times + 32);
        size_t len = 0;

        assert_non_null(all);
        if (i == 6) {
            memcpy(all, "let q: ", 7);
            len = 7;
        }
        for (size_t k = 0; k < (i == 9 ? 200 : times); k++, len += n) {
            memcpy(all + len, parts[i], n);
        }
        memcpy(all + len, "x;", 2);
        len += 2;
        if (erase(&e, all, len) < 0) {
            fail_msg("%s: %s", parts[i], e.err.text);
        }
        if (e.has_types) {
            assert_places(all, len, &e);
        }
        erased_release(&e);
        free(all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_break_in_the_name_of_a_member_stays_one),
        cmocka_unit_test(the_samples_become_what_they_should),
        cmocka_unit_test(what_was_erased_has_no_types_left),
        cmocka_unit_test(line_ends_of_all_kinds_stay),
        cmocka_unit_test(insertions_are_reported_in_utf16_units),
        cmocka_unit_test(what_is_not_supported_is_named_with_its_line),
        cmocka_unit_test(syntax_errors_are_left_to_the_engine),
        cmocka_unit_test(nothing_is_fine),
        cmocka_unit_test(the_quick_look_finds_types),
        cmocka_unit_test(samples_may_be_cut_anywhere),
        cmocka_unit_test(samples_may_be_damaged_anywhere),
        cmocka_unit_test(samples_may_be_joined_anywhere),
        cmocka_unit_test(depth_and_ambiguity_are_bounded),
        cmocka_unit_test(long_flat_sources_are_no_nesting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
