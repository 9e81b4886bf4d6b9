/* test_seal.c - what is sealed opens with the same key and label only, and when nothing of it was
 * changed. */
#include "store/seal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const unsigned char KEY[SEAL_KEY_BYTES] = "0123456789abcdef0123456789abcde";
static const char TEXT[] = "a value that nobody should see";

enum { TEXT_BYTES = sizeof(TEXT) - 1, SEALED_BYTES = TEXT_BYTES + SEAL_EXTRA_BYTES };

static unsigned char sealed[SEALED_BYTES];
static char opened[TEXT_BYTES];

static int seal(void **state)
{
    struct vial_error err;

    (void)state;
    if (seal_start(&err) < 0) {
        return -1;
    }
    seal_close(KEY, "label", 5, TEXT, TEXT_BYTES, sealed);
    return 0;
}

static void what_is_sealed_opens_again(void **state)
{
    (void)state;
    assert_int_equal(seal_open(KEY, "label", 5, sealed, SEALED_BYTES, opened), 0);
    assert_memory_equal(opened, TEXT, TEXT_BYTES);
}

static void another_key_or_label_opens_nothing(void **state)
{
    unsigned char other[SEAL_KEY_BYTES];
    char zeros[TEXT_BYTES] = {0};

    (void)state;
    memcpy(other, KEY, sizeof(other));
    other[31] ^= 1;
    memset(opened, 'x', sizeof(opened));
    assert_int_equal(seal_open(other, "label", 5, sealed, SEALED_BYTES, opened), -1);
    assert_memory_equal(opened, zeros, TEXT_BYTES);
    assert_int_equal(seal_open(KEY, "labeL", 5, sealed, SEALED_BYTES, opened), -1);
    assert_int_equal(seal_open(KEY, "label", 4, sealed, SEALED_BYTES, opened), -1);
}

static void every_bit_matters(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < 8 * (size_t)SEALED_BYTES; i++) {
        sealed[i / 8] ^= (unsigned char)(1u << i % 8);
        assert_int_equal(seal_open(KEY, "label", 5, sealed, SEALED_BYTES, opened), -1);
        sealed[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    for (i = 0; i < SEALED_BYTES; i++) {
        assert_int_equal(seal_open(KEY, "label", 5, sealed, i, opened), -1);
    }
}

static void nothing_looks_the_same_twice(void **state)
{
    unsigned char again[SEALED_BYTES];

    (void)state;
    seal_close(KEY, "label", 5, TEXT, TEXT_BYTES, again);
    assert_memory_not_equal(sealed, again, SEALED_BYTES);
    assert_memory_not_equal(sealed, again, 24); /* the nonce */
    assert_null(memmem(sealed, SEALED_BYTES, TEXT, 8));
}

static void the_number_of_a_key_is_its_own(void **state)
{
    unsigned char other[SEAL_KEY_BYTES], first[SEAL_ID_BYTES], second[SEAL_ID_BYTES];

    (void)state;
    seal_random(other, sizeof(other));
    assert_memory_not_equal(other, KEY, sizeof(other));
    seal_key_id(KEY, first);
    seal_key_id(other, second);
    assert_memory_not_equal(first, second, SEAL_ID_BYTES);
    seal_key_id(KEY, second);
    assert_memory_equal(first, second, SEAL_ID_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_sealed_opens_again, seal),
        cmocka_unit_test_setup(another_key_or_label_opens_nothing, seal),
        cmocka_unit_test_setup(every_bit_matters, seal),
        cmocka_unit_test_setup(nothing_looks_the_same_twice, seal),
        cmocka_unit_test_setup(the_number_of_a_key_is_its_own, seal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
