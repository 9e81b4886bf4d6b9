/* test_base64.c - what a text stands for, and texts that stand for nothing. */
#include "base/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(const char *text, const char *bytes, size_t bytes_len)
{
    char out[64];
    size_t len = 99;

    assert_true(BASE64_DECODED_MAX(strlen(text)) <= sizeof(out));
    assert_null(base64_decode(text, strlen(text), out, &len));
    assert_int_equal(len, bytes_len);
    assert_memory_equal(out, bytes, bytes_len);
    assert_int_equal(BASE64_ENCODED_BYTES(bytes_len), strlen(text)); /* and back */
    base64_encode(bytes, bytes_len, out);
    assert_memory_equal(out, text, strlen(text));
}

static void refuse(const char *text, size_t text_len, const char *why)
{
    char out[64];
    size_t len = 99;
    const char *said = base64_decode(text, text_len, out, &len);

    assert_non_null(said);
    assert_non_null(strstr(said, why));
    assert_int_equal(len, 99); /* written only on success */
}

static void the_examples_of_the_standard_decode(void **state)
{
    (void)state;
    expect("", "", 0);
    expect("Zg==", "f", 1);
    expect("Zm8=", "fo", 2);
    expect("Zm9v", "foo", 3);
    expect("Zm9vYg==", "foob", 4);
    expect("Zm9vYmE=", "fooba", 5);
    expect("Zm9vYmFy", "foobar", 6);
}

static void bytes_of_every_kind_decode(void **state)
{
    (void)state;
    expect("AAEC/f7/", "\x00\x01\x02\xfd\xfe\xff", 6);
    expect("++//", "\xfb\xef\xff", 3);
}

static void what_is_not_the_one_form_is_refused(void **state)
{
    (void)state;
    refuse("Zg", 2, "multiple of four");
    refuse("Zg=", 3, "multiple of four");
    refuse("Zm9v\n", 5, "multiple of four");
    refuse("Zm9\n", 4, "character");
    refuse("Zm-_", 4, "character");
    refuse("Z===", 4, "character");
    refuse("====", 4, "character");
    refuse("Zg==Zg==", 8, "character");
    refuse("Zm\0v", 4, "character");
    refuse("Zh==", 4, "bits behind");
    refuse("Zm9=", 4, "bits behind");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_standard_decode),
        cmocka_unit_test(bytes_of_every_kind_decode),
        cmocka_unit_test(what_is_not_the_one_form_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
