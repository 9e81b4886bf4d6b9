/* test_document_check.c - what all checks of a document share: no memory, too many faults, long
 * keys, and numbers that keep their value as text.
 *
 * The linker sends our calls of malloc and its kin through the functions here. */
#include "policy/document_check.h"

#include "documents.h"

enum { SWEEP_MAX = 2000 }; /* far more allocations than the document takes */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t len);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t len);

static int left = -1; /* how many allocations still succeed; negative: all */

static int refuse(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return refuse() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t len)
{
    return refuse() ? NULL : __real_strndup(text, len);
}

static int name_is_fine(const char *name, size_t len, struct buf *full, char *why, size_t why_size)
{
    if (buf_add(full, name, len, NULL) < 0) {
        (void)snprintf(why, why_size, "has no room");
        return -1;
    }
    return 0;
}

/* A document with something of everything; the second one breaks rules as well. */
static const char *const TEXTS[] = {
    "{'name': 'a', 'description': 'd', 'prefix': 'p', 'modules': {'m': 's', './n': 't'},"
    " 'globals': {'g': [1.5, {'x': 'y'}]}, 'permissions': {'tools':"
    " [{'effect': 'allow', 'match': 't.*', 'name': 'n', 'ops': ['call']}], 'net': [{'effect': "
    "'allow', 'match': {'host': 'a.example.com'}}],"
    " 'clock': {'at': '2026-01-01T00:00:00Z'}, 'random': [{'effect': 'deny'}]},"
    " 'tools': [{'name': 't.x', 'description': 'd', 'input': {'a': 1}, 'output': true,"
    " 'http': {'url': 'http://a/', 'headers': {'x': 'y'}}}, {'name': 'u', 'exec':"
    " {'command': ['a', 'b'], 'env': {'A': 'b'}, 'cwd': '/x'}}],"
    " 'limits': {'default': {'wall_ms_max': 5}, 'max': {'wall_ms_max': 6}},"
    " 'env': {'A': 'b'}, 'cwd': 'w', 'files': {'f': 'x', 'h': {'base64': 'AAEC'}},"
    " 'mounts': {'q': {'from': '/srv'}}, 'entry': 'main'}",
    "{'name': 'A', 'description': 3, 'prefx': 'p', 'modules': {'m': 1, './n': 't'},"
    " 'globals': {'class': 1, 'h': 2}, 'permissions': {'tools':"
    " [{'effect': 'allow', 'match': 'uu', 'name': '', 'ops': ['c']}], 'clock': {'at': ''},"
    " 'random': {'sed': 1}},"
    " 'tools': [{'name': 'u.x', 'input': 1, 'http': {'url': 'ftp://a/', 'headers': {'': 'y'}}},"
    " {'name': 'u', 'exec': {'command': [], 'env': {'=': 'b'}, 'cwd': 'x'}}],"
    " 'limits': {'default': {'wall_ms_max': 7}, 'max': {'wall_ms_max': 6}},"
    " 'env': {'A': 3}, 'cwd': '/', 'files': {'f': 1, 'h/a': {'base64': 'AAE'}, 'h': ''},"
    " 'mounts': {'h': {'from': '/dev'}}, 'entry': 'maim'}",
};

static void every_allocation_may_fail(void **state)
{
    static const struct document_checks checks = {.module_name = name_is_fine};
    size_t which;
    int n, r = VIAL_E_NOMEM;

    (void)state;
    for (which = 0; which < 2; which++) {
        char *json = documents_quote(TEXTS[which]);

        for (n = 0; n < SWEEP_MAX; n++) {
            struct document *doc = NULL;
            struct vial_error err = {.code = 0};
            struct buf report;

            buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
            left = n;
            r = document_parse(json, strlen(json), &checks, &doc, &report, &err);
            if (left >= 0) { /* nothing was refused */
                left = -1;
                document_free(doc);
                buf_release(&report);
                break;
            }
            left = -1;
            if (r != VIAL_E_NOMEM && r != VIAL_E_INVALID) {
                fail_msg("allocation %d failed and the result was %d", n, r);
            }
            assert_int_equal(err.code, r);
            assert_null(doc);
            buf_release(&report);
        }
        assert_true(n > 20 && n < SWEEP_MAX);
        assert_int_equal(r, which == 0 ? VIAL_OK : VIAL_E_INVALID);
        free(json);
    }
}

static void faults_beyond_the_maximum_are_not_listed(void **state)
{
    char *text = malloc((size_t)64 * 5000), *report;
    size_t used = (size_t)sprintf(text, "{'name': 'a'"), count = 0, i;

    (void)state;
    for (i = 0; i < 5000; i++) {
        used += (size_t)sprintf(text + used, ", 'unknown%zu': 1", i);
    }
    (void)sprintf(text + used, "}");
    report = documents_report(text);
    for (const char *at = report; (at = strstr(at, "{\"path\":")) != NULL; at++) {
        count++;
    }
    assert_int_equal(count, DOCUMENT_FAULTS_MAX);
    assert_non_null(strstr(report, "{\"path\":\"\",\"message\":\"there are more faults than the"));
    free(report);
    free(text);
}

/* A thousand faults with the longest paths there can be, all of them escaped, fit. */
static void the_longest_report_has_room(void **state)
{
    const size_t key_len = 400;
    char *text = malloc(4 << 20), *report;
    size_t used = (size_t)sprintf(text, "{'name': 'a', 'files': {"), i, k;

    (void)state;
    for (i = 0; i < 1500; i++) {
        used += (size_t)sprintf(text + used, "%s'%04zu", i > 0 ? "," : "", i);
        for (k = 0; k < key_len; k++) {
            used += (size_t)sprintf(text + used, "\\u0001");
        }
        used += (size_t)sprintf(text + used, "': 1");
    }
    (void)sprintf(text + used, "}}");
    report = documents_report(text);
    assert_non_null(strstr(report, "...\",\"message\":"));
    free(report);
    free(text);
}

static void a_long_key_is_cut_between_characters(void **state)
{
    char text[1024], *report;
    size_t used = (size_t)sprintf(text, "{'name': 'a', 'x"), i;

    (void)state;
    for (i = 0; i < 100; i++) { /* 1 + 2 * 63 bytes are 127, and one more would be half a letter */
        used += (size_t)sprintf(text + used, "\xc3\xa9");
    }
    (void)sprintf(text + used, "': 1}");
    report = documents_report(text);
    assert_non_null(strstr(report, "\xc3\xa9...\""));
    assert_null(strstr(report, "\xef\xbf\xbd"));
    free(report);
}

static void numbers_keep_their_value(void **state)
{
    static const char *const numbers[] = {"0.1", "1e+22", "1.7976931348623157e+308", "5e-324",
        "9007199254740993", "-0.0", "9223372036854775807", "123456789.123"};
    char text[256];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct document *doc;

        (void)snprintf(text, sizeof(text), "{'name': 'a', 'globals': {'x': %s}}", numbers[i]);
        doc = documents_pass(text);
        assert_true(strtod(doc->globals[0].json, NULL) == strtod(numbers[i], NULL));
        assert_true(strlen(doc->globals[0].json) <= strlen(numbers[i]));
        document_free(doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(faults_beyond_the_maximum_are_not_listed),
        cmocka_unit_test(the_longest_report_has_room),
        cmocka_unit_test(a_long_key_is_cut_between_characters),
        cmocka_unit_test(numbers_keep_their_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
