/* test_permission.c - policies: reading them, what they decide, how levels go together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy/permission.h"

enum { GLOB_STARS = 120 }; /* in a part of 255 characters */

/* Apostrophes stand for quotes. */
static struct permission *parse(const char *text)
{
    char *json = strdup(text);
    struct permission *p = NULL;
    struct vial_error err;
    size_t i;

    assert_non_null(json);
    for (i = 0; json[i] != '\0'; i++) {
        json[i] = (char)(json[i] == '\'' ? '"' : json[i]);
    }
    if (permission_parse(json, strlen(json), &p, &err) < 0) {
        fail_msg("%s: %s", text, err.text);
    }
    free(json);
    return p;
}

static void refuse(const char *text, const char *words)
{
    char *json = strdup(text);
    struct permission *p = NULL;
    struct vial_error err = {.code = 0};
    size_t i;

    assert_non_null(json);
    for (i = 0; json[i] != '\0'; i++) {
        json[i] = (char)(json[i] == '\'' ? '"' : json[i]);
    }
    assert_int_equal(permission_parse(json, strlen(json), &p, &err), VIAL_E_INVALID);
    assert_null(p);
    if (strstr(err.text, words) == NULL) {
        fail_msg("%s gave %s instead of %s", text, err.text, words);
    }
    free(json);
}

/* What one level decides, and by what. */
static void expect(const char *policy, enum permission_scope scope, uint32_t op,
    const char *subject, int allowed, const char *by)
{
    struct permission *p = parse(policy);
    struct permission_chain chain = {.levels = {[PERMISSION_RUN] = p}};
    struct permission_verdict v;

    assert_int_equal(permission_decide(&chain, scope, op, subject, &v), allowed);
    assert_int_equal(v.allowed, allowed);
    if (strcmp(v.by, by) != 0) {
        fail_msg("%s, %s: by %s instead of %s", policy, subject, v.by, by);
    }
    permission_free(p);
}

static void without_words_the_defaults_hold(void **state)
{
    struct permission_chain none = {.levels = {NULL}};
    struct permission_verdict v;

    (void)state;
    assert_true(permission_decide(&none, SCOPE_FS, RULE_WRITE, "/home/vial/x", &v));
    assert_string_equal(v.by, "the default of fs");
    assert_true(permission_decide(&none, SCOPE_ENV, 1, "A", NULL));
    assert_true(permission_decide(&none, SCOPE_TOOLS, 1, "crm.find", NULL));
    assert_true(permission_decide(&none, SCOPE_PROCESS, 1, "args", NULL));
    assert_false(permission_decide(&none, SCOPE_NET, 1, "https://a/", &v));
    assert_string_equal(v.by, "the default of net");
    expect("{}", SCOPE_NET, 1, "https://a/", 0, "the default of net");
    expect("{'net': 'allow'}", SCOPE_NET, 1, "https://a/", 1, "net: \"allow\" of the run");
}

#define RULE(effect, match) "{'effect': '" effect "', 'match': '" match "'}"

static void the_last_rule_that_matches_wins(void **state)
{
    static const char policy[] = "{'fs': [" RULE("allow", "/home/vial/**") "," RULE(
        "deny", "/home/vial/keys/**") ", {'effect': 'allow', 'match': '/home/vial/keys/pub*',"
                                      " 'ops': ['read'], 'name': 'public ones'}]}";

    (void)state;
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/a", 1, "fs rule 1 of the run");
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/keys/x", 0, "fs rule 2 of the run");
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/keys", 0, "fs rule 2 of the run");
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/keys/pub1", 1,
        "\"public ones\" (fs rule 3 of the run)");
    expect(policy, SCOPE_FS, RULE_WRITE, "/home/vial/keys/pub1", 0, "fs rule 2 of the run");
    expect(
        policy, SCOPE_FS, RULE_READ, "/home", 0, "the fs rules of the run, of which none matches");
}

static void an_empty_list_allows_nothing(void **state)
{
    (void)state;
    expect("{'fs': []}", SCOPE_FS, RULE_READ, "/home/vial/a", 0,
        "the fs rules of the run, of which none matches");
    expect("{'tools': []}", SCOPE_TOOLS, 1, "a", 0,
        "the tools rules of the run, of which none matches");
    expect("{'fs': 'deny'}", SCOPE_FS, RULE_READ, "/home/vial/a", 0, "fs: \"deny\" of the run");
}

static void nothing_hides_behind_a_dot_or_a_byte_that_is_no_character(void **state)
{
    static const char policy[] =
        "{'fs': [" RULE("allow", "/home/vial/**") "," RULE("deny", "/home/vial/a/*") "]}";

    (void)state;
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/a/.b", 0, "fs rule 2 of the run");
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/.x/.y", 1, "fs rule 1 of the run");
    expect(policy, SCOPE_FS, RULE_READ, "/home/vial/a/\xe1\xff", 0, "fs rule 2 of the run");
    /* 0xf3 without its highest bit is an s. */
    expect("{'fs': [" RULE("allow", "/s") "]}", SCOPE_FS, RULE_READ, "/\xf3", 0,
        "the fs rules of the run, of which none matches");
}

static void the_library_can_be_read_unless_a_rule_says_no(void **state)
{
    (void)state;
    expect("{'fs': 'deny'}", SCOPE_FS, RULE_READ, "/usr/lib/python3.11/os.py", 1,
        "the library of the language, which can be read");
    expect("{'fs': []}", SCOPE_FS, RULE_WRITE, "/usr/lib/x", 0,
        "the fs rules of the run, of which none matches");
    expect("{'fs': [" RULE("deny", "/usr/**") "]}", SCOPE_FS, RULE_READ, "/usr/lib/x", 0,
        "fs rule 1 of the run");
}

static void names_match_whole_or_by_their_beginning(void **state)
{
    (void)state;
    expect("{'env': [" RULE("allow", "APP_*") "]}", SCOPE_ENV, 1, "APP_KEY", 1,
        "env rule 1 of the run");
    expect("{'env': [" RULE("allow", "APP") "]}", SCOPE_ENV, 1, "APP_KEY", 0,
        "the env rules of the run, of which none matches");
    expect("{'tools': [" RULE("deny", "crm.*") "]}", SCOPE_TOOLS, 1, "crm.find", 0,
        "tools rule 1 of the run");
    expect("{'tools': [" RULE("allow", "crm.*") "]}", SCOPE_TOOLS, 1, "crmx.find", 0,
        "the tools rules of the run, of which none matches");
    expect("{'process': [" RULE("allow", "args") "]}", SCOPE_PROCESS, 1, "stdin", 0,
        "the process rules of the run, of which none matches");
}

static void a_later_level_can_only_tighten(void **state)
{
    struct permission *env =
        parse("{'fs': [" RULE("allow", "/home/vial/a/**") "], 'tools': 'deny'}");
    struct permission *run = parse("{'fs': 'allow', 'net': 'allow', 'tools': 'allow', 'env': []}");
    struct permission_chain chain = {
        .levels = {[PERMISSION_ENVIRONMENT] = env, [PERMISSION_RUN] = run}};
    struct permission_verdict v;

    (void)state;
    assert_true(permission_decide(&chain, SCOPE_FS, RULE_READ, "/home/vial/a/x", &v));
    assert_false(permission_decide(&chain, SCOPE_FS, RULE_READ, "/home/vial/b", &v));
    assert_int_equal(v.level, PERMISSION_ENVIRONMENT);
    assert_false(permission_decide(&chain, SCOPE_NET, 1, "https://a/", &v));
    assert_string_equal(v.by, "the default of net");
    assert_false(permission_decide(&chain, SCOPE_TOOLS, 1, "a", &v));
    assert_string_equal(v.by, "tools: \"deny\" of the environment");
    assert_false(permission_decide(&chain, SCOPE_ENV, 1, "A", &v));
    assert_string_equal(v.by, "the env rules of the run, of which none matches");
    permission_free(env);
    permission_free(run);
}

static void a_level_that_says_nothing_does_not_answer_for_others(void **state)
{
    struct permission *env = parse("{'fs': [" RULE("allow", "/home/vial/**") "]}");
    struct permission *run = parse("{'env': 'deny'}");
    struct permission_chain chain = {
        .levels = {[PERMISSION_ENVIRONMENT] = env, [PERMISSION_RUN] = run}};
    struct permission_verdict v;

    (void)state;
    assert_true(permission_decide(&chain, SCOPE_FS, RULE_READ, "/home/vial/x", &v));
    assert_string_equal(v.by, "fs rule 1 of the environment");
    permission_free(env);
    permission_free(run);
}

static void what_is_not_known_is_refused_with_its_path(void **state)
{
    (void)state;
    refuse("{'files': false}", "/permissions/files: there is no such key");
    refuse("{'tool': 'deny'}", "did you mean \"tools\"?");
    refuse("{'fs': 'denied'}", "/permissions/fs: must be \"allow\", \"deny\"");
    refuse("{'fs': [{'effect': 'deny', 'match': '/a', 'op': ['read']}]}", "/permissions/fs/0/op");
    refuse("{'fs': [{'effect': 'deny', 'match': '/a', 'ops': ['x']}]}", "/permissions/fs/0/ops/0");
    refuse("{'fs': [{'effect': 'dny', 'match': '/a'}]}", "/permissions/fs/0/effect");
    refuse("{'fs': [" RULE("deny", "a") "]}", "absolute");
    refuse("{'clock': {'at': 'soon'}}", "/permissions/clock/at");
    refuse("{'clock': [{'effect': 'allow', 'match': 'x'}]}", "/permissions/clock/0/match");
    refuse("{'random': {'seed': -1}}", "/permissions/random/seed");
    refuse("{'fs': 'deny', 'fs': 'allow'}", "duplicate");
    refuse("[]", "must be an object");
    refuse("{", "permissions:");
    refuse("", "permissions:");
}

/* Policies with so many rules that each operation would take long. */
static void there_are_not_more_rules_than_anybody_reads(void **state)
{
    static const char rule[] = "{\"effect\":\"deny\",\"match\":\"/a\"},";
    size_t count, i, len, each = sizeof(rule) - 1;
    struct permission *p = NULL;
    struct vial_error err;
    char *json;

    (void)state;
    for (count = RULES_MAX; count <= 10000; count += 9000) {
        json = malloc(count * each + 64);
        assert_non_null(json);
        len = (size_t)sprintf(json, "{\"fs\":[");
        for (i = 0; i < count; i++, len += each) {
            memcpy(json + len, rule, each);
        }
        len += (size_t)sprintf(json + len - 1, "]}") - 1;
        if (count == RULES_MAX) {
            assert_int_equal(permission_parse(json, len, &p, &err), VIAL_OK);
            assert_int_equal(p->scopes[SCOPE_FS].count, RULES_MAX);
            permission_free(p);
            p = NULL;
        } else {
            assert_int_equal(permission_parse(json, len, &p, &err), VIAL_E_INVALID);
            assert_non_null(strstr(err.text, "10000 rules"));
        }
        free(json);
    }
}

/* Stars that try every way to match take no more steps than both lengths multiplied. */
static void no_pattern_takes_long(void **state)
{
    char pattern[GLOB_STARS * 2 + 8] = "/", path[4000], policy[GLOB_STARS * 2 + 128];
    size_t i;

    (void)state;
    for (i = 0; i < GLOB_STARS; i++) {
        (void)strcat(pattern, "a*");
    }
    (void)strcat(pattern, "b");
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[sizeof(path) - 1] = '\0';
    (void)snprintf(policy, sizeof(policy), "{'fs': [{'effect': 'deny', 'match': '%s'}]}", pattern);
    expect(policy, SCOPE_FS, RULE_READ, path, 0, "the fs rules of the run, of which none matches");
}

static void clock_and_seed_are_set_once(void **state)
{
    struct permission *env = parse("{'clock': {'at': '2026-01-01T00:00:00Z'}, 'random': 'deny'}");
    struct permission *same = parse("{'clock': {'at': '2026-01-01T01:00:00+01:00'}}");
    struct permission *other = parse("{'clock': {'at': '2026-01-01T00:00:00Z', 'runs': true}}");
    struct permission *seed = parse("{'random': {'seed': 42}}");
    struct permission_chain chain = {.levels = {env, NULL, same}};
    struct permission settled;
    struct vial_error err;

    (void)state;
    assert_int_equal(permission_settle(&chain, &settled, &err), VIAL_OK);
    assert_true(settled.clock_is_set && !settled.clock_runs && settled.random_is_set);
    assert_int_equal(settled.clock_at_us, 1767225600000000);
    chain.levels[PERMISSION_RUN] = other;
    assert_int_equal(permission_settle(&chain, &settled, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "another clock"));
    chain.levels[PERMISSION_RUN] = seed;
    assert_int_equal(permission_settle(&chain, &settled, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "another seed"));
    chain.levels[PERMISSION_ENVIRONMENT] = NULL;
    assert_int_equal(permission_settle(&chain, &settled, &err), VIAL_OK);
    assert_true(settled.random_is_set && settled.seed == 42 && !settled.clock_is_set);
    permission_free(env);
    permission_free(same);
    permission_free(other);
    permission_free(seed);
}

static void times_are_read_as_they_are_written(void **state)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {{"1970-01-01T00:00:00Z", 0}, {"2026-01-01T00:00:00Z", 1767225600000000},
        {"2024-02-29T12:30:45.123456789Z", 1709209845123456},
        {"2026-01-01T00:00:00+05:30", 1767205800000000},
        {"2025-12-31T19:00:00-05:00", 1767225600000000},
        {"9999-12-31T23:59:59Z", 253402300799000000}};
    static const char *const bad[] = {"", "2026", "2026-01-01", "2026-01-01T00:00:00",
        "2026-13-01T00:00:00Z", "2025-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+00:01",
        "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00.Z", "2026-01-01 00:00:00Z",
        "-026-01-01T00:00:00Z", "2026-01-01T00:00:00+24:00"};
    int64_t us;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(permission_time(rows[i].text, &us), 0);
        assert_int_equal(us, rows[i].us);
    }
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (permission_time(bad[i], &us) == 0) {
            fail_msg("%s is no time", bad[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_words_the_defaults_hold),
        cmocka_unit_test(the_last_rule_that_matches_wins),
        cmocka_unit_test(an_empty_list_allows_nothing),
        cmocka_unit_test(nothing_hides_behind_a_dot_or_a_byte_that_is_no_character),
        cmocka_unit_test(the_library_can_be_read_unless_a_rule_says_no),
        cmocka_unit_test(names_match_whole_or_by_their_beginning),
        cmocka_unit_test(a_later_level_can_only_tighten),
        cmocka_unit_test(a_level_that_says_nothing_does_not_answer_for_others),
        cmocka_unit_test(what_is_not_known_is_refused_with_its_path),
        cmocka_unit_test(there_are_not_more_rules_than_anybody_reads),
        cmocka_unit_test(no_pattern_takes_long),
        cmocka_unit_test(clock_and_seed_are_set_once),
        cmocka_unit_test(times_are_read_as_they_are_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
