/* test_document_text.c - the sizes a document may have as text, and reports. */
#include "policy/document_text.h"

#include "documents.h"

static void reports_are_arrays_whatever_the_words_are(void **state)
{
    struct buf report;

    (void)state;
    buf_init(&report, 1000);
    assert_int_equal(report_begin(&report), 0);
    assert_int_equal(report_add(&report, "/a\"b", "says \x1b[31m"), 0);
    assert_int_equal(report_add(&report, "", "x"), 0);
    assert_int_equal(report_end(&report), 0);
    assert_string_equal(report.data, "[{\"path\":\"/a\\\"b\",\"message\":\"says \\u001b[31m\"},"
                                     "{\"path\":\"\",\"message\":\"x\"}]");
    buf_release(&report);
}

static void depth_is_bounded(void **state)
{
    char text[2 * DOCUMENT_DEPTH_MAX + 64], why[256];
    char nest[DOCUMENT_DEPTH_MAX + 2];
    int depth;

    (void)state;
    for (depth = DOCUMENT_DEPTH_MAX; depth <= DOCUMENT_DEPTH_MAX + 1; depth++) {
        memset(nest, '[', (size_t)depth);
        memcpy(text, nest, (size_t)depth);
        memset(nest, ']', (size_t)depth);
        memcpy(text + depth, nest, (size_t)depth);
        assert_int_equal(document_text_check(text, 2 * (size_t)depth, why, sizeof(why)),
            depth == DOCUMENT_DEPTH_MAX ? 0 : -1);
    }
}

static void the_number_of_values_is_bounded(void **state)
{
    size_t len = (size_t)2 * DOCUMENT_VALUES_MAX + 1, i;
    char *text = malloc(len), why[256] = "";

    (void)state;
    assert_non_null(text);
    text[0] = '[';
    for (i = 1; i < len; i += 2) {
        text[i] = '0';
        text[i + 1] = (char)(i + 2 < len ? ',' : ']');
    }
    assert_int_equal(document_text_check(text, len, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "more than 1000000 values"));
    /* Commas in a string are none of them. */
    memset(text, ',', len);
    text[0] = text[len - 1] = '"';
    assert_int_equal(document_text_check(text, len, why, sizeof(why)), 0);
    free(text);
}

static void the_size_is_bounded(void **state)
{
    char *text = malloc((size_t)DOCUMENT_BYTES_MAX + 1), why[256] = "";

    (void)state;
    assert_non_null(text);
    memset(text, ' ', (size_t)DOCUMENT_BYTES_MAX + 1);
    text[0] = '1';
    assert_int_equal(document_text_check(text, DOCUMENT_BYTES_MAX, why, sizeof(why)), 0);
    assert_int_equal(
        document_text_check(text, (size_t)DOCUMENT_BYTES_MAX + 1, why, sizeof(why)), -1);
    assert_non_null(strstr(why, "it may have up to 16777216"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_are_arrays_whatever_the_words_are),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(the_number_of_values_is_bounded),
        cmocka_unit_test(the_size_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
