/* test_scanner_rules.c - rule files are read strictly: what is wrong is said with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/parse.h"
#include "code/scanner.h"

#define HEAD "; id: a\n; severity: warn\n; languages: javascript\n; message: m\n; advice: a\n"

static void refuse(const char *text, size_t len, const char *why)
{
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct vial_error err = {0};

    if (scanner_add(s, "own.scm", text, len, &err) != VIAL_E_INVALID) {
        fail_msg("accepted: %s", text);
    }
    if (strstr(err.text, why) == NULL || strncmp(err.text, "own.scm, line ", 14) != 0) {
        fail_msg("%s is said about %s", err.text, text);
    }
    scanner_free(s);
}

static void accept(const char *text)
{
    struct scanner *s = scanner_new(tree_sitter_javascript(), SCANNER_JAVASCRIPT);
    struct vial_error err = {0};

    if (scanner_add(s, "own.scm", text, strlen(text), &err) < 0) {
        fail_msg("%s: %s", err.text, text);
    }
    scanner_free(s);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
    static const char *const rows[][2] = {
        {"(identifier) @finding", "line 1: a rule begins with `; id: ...`"},
        {"; severity: warn", "line 1: a rule begins with its id"},
        {"; id: A", "line 1: an id is small letters"},
        {"; id: a\n(identifier) @finding", "line 1: the rule a has no severity"},
        {"; id: a\n; severity: bad", "line 2: a severity is info, warn, block or off"},
        {"; id: a\n; serverity: warn", "line 2: headers are id"},
        {"; id: a\n; hello", "line 2: a header is"},
        {"; id: a\n; severity: warn\n; languages: cobol", "line 3: languages are"},
        {"; id: a\n; severity: warn\n; languages: javascript\n(identifier) @finding",
            "line 1: the rule a has no message"},
        {HEAD, "line 1: the rule a has no pattern"},
        {HEAD "(identifier) @other", "line 6: the pattern does not say by @finding"},
        {HEAD "(_ (identifier)* @finding)", "line 6: the pattern does not say by @finding, once"},
        {HEAD "\n(no_such_node) @finding",
            "line 7: the grammar has no kind of node \"no_such_node"},
        {HEAD "(call_expression color: (_)) @finding", "line 6: the grammar has no field"},
        {HEAD "(identifier @finding", "line 6: the query cannot be read"},
        {HEAD "(if_statement (import_specifier)) @finding", "line 6: this can never be found"},
        {HEAD "((identifier) @finding (#eq? @nobody \"x\"))", "line 6: the pattern has no capture"},
        {HEAD "((identifier) @finding (#like? @finding \"x\"))",
            "line 6: there is no condition #like?"},
        {HEAD "((identifier) @finding (#match? @finding \"(\"))",
            "line 6: the expression ( cannot"},
        {HEAD "((identifier) @finding (#match? @finding \"(a)\\\\1\"))",
            "line 6: an expression may not"},
        {HEAD "((identifier) @finding (#lacks? @finding \"goto\"))",
            "line 6: there is no kind of node"},
        {HEAD "((identifier) @finding (#min-length? @finding \"many\"))",
            "line 6: #min-length? takes"},
        {HEAD "((identifier) @finding (#eq? @finding))", "line 6: #eq? does not take"},
        {HEAD "(identifier) @finding\n((#eq? @finding \"x\")) @finding",
            "line 7: a condition stands behind"},
        {HEAD "(identifier) @finding\n[(#eq? @finding \"x\")] @finding",
            "line 7: a condition stands behind"},
        {HEAD "(identifier) @finding\n(_ function: ; \"\n ( #eq? @finding \"x\")) @finding",
            "line 8: a condition stands behind"},
        {HEAD "(identifier) @finding\n" HEAD, "line 7: there is a rule before with the id"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        refuse(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    }
}

static void bytes_that_are_no_text_are_refused(void **state)
{
    char *large = malloc(SCANNER_RULES_BYTES_MAX + 1);

    (void)state;
    memset(large, ' ', SCANNER_RULES_BYTES_MAX + 1);
    refuse(large, SCANNER_RULES_BYTES_MAX + 1, "it may have up to");
    free(large);
    refuse("; id: a\n\0", 9, "line 2: there is a NUL");
    refuse("; id: a\n; message: \xff", 20, "line 2: the text is not UTF-8");
}

static void long_texts_are_refused(void **state)
{
    char text[1024] = "; id: a\n; message: ";
    size_t at = strlen(text);

    (void)state;
    memset(text + at, 'm', SCANNER_MESSAGE_BYTES_MAX + 1);
    refuse(text, at + SCANNER_MESSAGE_BYTES_MAX + 1, "line 2: the text is too long");
}

static void remarks_and_longer_texts_are_taken(void **state)
{
    (void)state;
    accept("");
    accept(";; nothing\n\n");
    accept(";; first\n" HEAD ";    that goes on\n;; and\n(identifier) @finding ;; here\r\n");
    accept("; id: a\n; severity: off\n");
}

static void rules_for_other_languages_are_left_out(void **state)
{
    (void)state;
    /* There is no such node in JavaScript, and nobody asks for one. */
    accept("; id: p\n; severity: warn\n; languages: python\n; message: m\n; advice: a\n"
           "(exec_statement) @finding\n" HEAD "(identifier) @finding");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(bytes_that_are_no_text_are_refused),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(remarks_and_longer_texts_are_taken),
        cmocka_unit_test(rules_for_other_languages_are_left_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
