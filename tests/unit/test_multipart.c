/* test_multipart.c - forms as they should be, and as they should not. */
#include "http/multipart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct multipart form;

static const char *read_text(const char *text)
{
    static char copy[8192];
    size_t len = strlen(text);

    memcpy(copy, text, len + 1);
    return multipart_read(&form, copy, len, "B");
}

#define HEAD "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n"

static void a_form_has_its_parts(void **state)
{
    const struct multipart_part *part;

    (void)state;
    assert_null(read_text(HEAD "one\r\n--B\r\ncontent-disposition: form-data; name=\"b\"; "
                               "filename=\"d/\\\"x\\\".txt\"\r\nContent-Type: text/plain\r\n\r\n"
                               "\r\n--b\r\n--B--\r\n"));
    assert_int_equal(form.count, 2);
    part = multipart_find(&form, "a");
    assert_non_null(part);
    assert_memory_equal(part->bytes, "one", part->len);
    assert_int_equal(part->filename_len, 0);
    part = multipart_find(&form, "b");
    assert_int_equal(part->filename_len, strlen("d/\"x\".txt"));
    assert_memory_equal(part->filename, "d/\"x\".txt", part->filename_len);
    assert_int_equal(part->len, strlen("\r\n--b"));
    assert_null(multipart_find(&form, "c"));
}

static void an_empty_part_is_one(void **state)
{
    (void)state;
    assert_null(read_text(HEAD "\r\n--B--"));
    assert_int_equal(form.count, 1);
    assert_int_equal(form.parts[0].len, 0);
}

static void malformed_ones_are_refused(void **state)
{
    static const char encoded[] = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n"
                                  "Content-Transfer-Encoding: base64\r\n\r\none\r\n--B--";
    static const char *const ends[] = {
        HEAD "one", HEAD "one\r\n--B", HEAD "one\r\n--B-", HEAD "one\r\n--B--\r\nmore"};
    static const char *const texts[] = {"", "--", "--B", "--B\r\n", "--B--x", "--Bx\r\n", "x--B--",
        "--B\r\n\r\none\r\n--B--", "--B\r\nContent-Disposition: form-data\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=\"a\"; filename*=\"b\"\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=\"a\x01\"\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=\"a\r\n\r\none\r\n--B--",
        "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n b\r\n\r\none\r\n--B--", encoded};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (read_text(ends[i]) == NULL) {
            fail_msg("\"%s\" was taken", ends[i]);
        }
    }
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (read_text(texts[i]) == NULL) {
            fail_msg("\"%s\" was taken", texts[i]);
        }
    }
}

static void parts_are_counted(void **state)
{
    size_t one = strlen(HEAD "\r\n"), i;
    char *text = calloc(1, one * 300 + 16), *at = text;

    (void)state;
    assert_non_null(text);
    for (i = 0; i < 300; i++) {
        memcpy(at, HEAD "\r\n", one);
        at += one;
    }
    memcpy(at, "--B--", 5);
    assert_non_null(multipart_read(&form, text, strlen(text), "B"));
    free(text);
}

static void boundaries(void **state)
{
    char out[MULTIPART_BOUNDARY_BYTES_MAX + 1], type[200];

    (void)state;
    assert_int_equal(multipart_boundary("multipart/form-data; boundary=a-b", out), 0);
    assert_string_equal(out, "a-b");
    assert_int_equal(multipart_boundary("Multipart/Form-Data;boundary=\"x y\"", out), -1);
    assert_int_equal(multipart_boundary("multipart/form-data; Boundary=\"x:y\"", out), 0);
    assert_string_equal(out, "x:y");
    assert_int_equal(multipart_boundary("multipart/form-data", out), -1);
    assert_int_equal(multipart_boundary("multipart/mixed; boundary=a", out), -1);
    assert_int_equal(multipart_boundary("multipart/form-data; boundary=", out), -1);
    assert_int_equal(multipart_boundary("multipart/form-data; boundary=a; x=y", out), -1);
    memset(type, 'a', sizeof(type) - 1);
    type[sizeof(type) - 1] = '\0';
    memcpy(type, "multipart/form-data; boundary=", 30);
    assert_int_equal(multipart_boundary(type, out), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_has_its_parts),
        cmocka_unit_test(an_empty_part_is_one),
        cmocka_unit_test(malformed_ones_are_refused),
        cmocka_unit_test(parts_are_counted),
        cmocka_unit_test(boundaries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
