/* test_cbor.c - values as CBOR: what is shown for each, and what is refused wherever it is cut or
 * bent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "value/cbor.h"

static size_t from_hex(const char *hex, char *bytes)
{
    size_t n = 0;
    unsigned v;

    for (; hex[0] != '\0' && sscanf(hex, "%2x", &v) == 1; hex += 2) {
        bytes[n++] = (char)v;
    }
    return n;
}

static const struct {
    const char *hex;
    const char *json;
} SHOWN[] = {
    {"00", "0"},
    {"17", "23"},
    {"1818", "24"},
    {"190100", "256"},
    {"1a00010000", "65536"},
    {"1b001fffffffffffff", "9007199254740991"},
    {"20", "-1"},
    {"3b001ffffffffffffe", "-9007199254740991"},
    {"f4", "false"},
    {"f5", "true"},
    {"f6", "null"},
    {"f7", "{\"$undefined\":true}"},
    {"fb3ff8000000000000", "1.5"},
    {"fb3fb999999999999a", "0.1"}, /* the shortest that gives the same number back */
    {"fb0000000000000001", "5e-324"},
    {"fb7ff8000000000000", "{\"$number\":\"NaN\"}"},
    {"fb7ff0000000000000", "{\"$number\":\"Infinity\"}"},
    {"fbfff0000000000000", "{\"$number\":\"-Infinity\"}"},
    {"fb8000000000000000", "{\"$number\":\"-0\"}"},
    {"fa3fc00000", "1.5"},
    {"f93e00", "1.5"},
    {"f90001", "5.9604644775390625e-08"},
    {"f97e00", "{\"$number\":\"NaN\"}"},
    {"f9fc00", "{\"$number\":\"-Infinity\"}"},
    {"60", "\"\""},
    {"63c3a478", "\"\xc3\xa4x\""},
    {"6122", "\"\\\"\""},
    {"40", "{\"$bytes\":\"\"}"},
    {"4101", "{\"$bytes\":\"AQ==\"}"},
    {"43010203", "{\"$bytes\":\"AQID\"}"},
    {"80", "[]"},
    {"820102", "[1,2]"},
    {"a0", "{}"},
    {"a161610a", "{\"a\":10}"},
    {"a16124f6", "{\"$object\":{\"$\":null}}"},
    {"a16224610a", "{\"$object\":{\"$a\":10}}"},
    {"a2622461016162f6", "{\"$a\":1,\"b\":null}"},
    {"c240", "{\"$bigint\":\"0\"}"},
    {"c24101", "{\"$bigint\":\"1\"}"},
    {"c34100", "{\"$bigint\":\"-1\"}"},
    {"c341ff", "{\"$bigint\":\"-256\"}"},
    {"c249010000000000000000", "{\"$bigint\":\"18446744073709551616\"}"},
    {"c100", "{\"$date\":\"1970-01-01T00:00:00.000Z\"}"},
    {"c120", "{\"$date\":\"1969-12-31T23:59:59.000Z\"}"},
    {"c1fb3fe0000000000000", "{\"$date\":\"1970-01-01T00:00:00.500Z\"}"},
    {"c1fb7ff8000000000000", "{\"$date\":null}"},
    {"c11b001fffffffffffff", "{\"$date\":null}"},
    {"c06178", "{\"$date\":\"x\"}"},
    {"d8206178", "{\"$url\":\"x\"}"},
    {"d9010280", "{\"$set\":[]}"},
    {"d901028101", "{\"$set\":[1]}"},
    {"d90103a1016178", "{\"$map\":[[1,\"x\"]]}"},
    {"d9524a8261616167", "{\"$regexp\":[\"a\",\"g\"]}"},
    {"d84542ffff", "{\"$Uint16Array\":\"//8=\"}"},
    {"d856480000000000000000", "{\"$Float64Array\":\"AAAAAAAAAAA=\"}"},
    {"d81b826b41727261794275666665724101", "{\"$ArrayBuffer\":\"AQ==\"}"},
    {"d81b8365417272617903a10105", "{\"$array\":[3,[[1,5]]]}"},
    {"d81b84654572726f726145616d6173",
        "{\"$error\":{\"name\":\"E\",\"message\":\"m\",\"stack\":\"s\"}}"},
    {"d81b85654572726f726145616d6173f6",
        "{\"$error\":{\"name\":\"E\",\"message\":\"m\",\"stack\":\"s\",\"cause\":null}}"},
};

static void each_value_is_shown(void **state)
{
    char bytes[256];
    struct buf out;
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        n = from_hex(SHOWN[i].hex, bytes);
        buf_init(&out, 4096);
        assert_int_equal(value_cbor_check(bytes, n, NULL), VIAL_OK);
        assert_int_equal(value_cbor_to_json(bytes, n, &out, NULL), VIAL_OK);
        assert_string_equal(out.data, SHOWN[i].json);
        assert_int_equal(json_check(out.data, out.len, 64, NULL), VIAL_OK);
        buf_release(&out);
    }
}

static void large_numbers_are_hexadecimal(void **state)
{
    char bytes[3 + 129] = {(char)0xc2, 0x58, (char)129, 1};
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(value_cbor_to_json(bytes, sizeof(bytes), &out, NULL), VIAL_OK);
    assert_memory_equal(out.data, "{\"$bigint\":\"0x0100", 18);
    buf_clear(&out);
    memset(bytes, 0xff, sizeof(bytes)); /* the largest with decimals */
    memcpy(bytes, "\xc2\x58\x80", 3);
    assert_int_equal(value_cbor_to_json(bytes, 3 + 128, &out, NULL), VIAL_OK);
    assert_memory_equal(out.data, "{\"$bigint\":\"17976931348623159", 29); /* 2^1024 - 1 */
    assert_int_equal(out.len, strlen("{\"$bigint\":\"\"}") + 309);
    buf_release(&out);
}

static void what_is_not_of_the_vocabulary_is_refused(void **state)
{
    static const char *const refused[] = {"", "18", "19ff", "1c", "1f", "5f", "7f", "9f", "bf",
        "ff", "0000", "61ff", "62c0af", "41", "81", "a1", "a16161", "a10102", "c0", "c001",
        "c101616100", "c16161", "c201", "c26161", "d820f6", "d90102f6", "d90103f6", "d901038101",
        "d9524a816161", "d84541ff", "d84501", "d85701", "d81bf6", "d81b80", "d81b8101",
        "d81b816178", "d81b826b417272617942756666657201", "d81b83654172726179f6a0",
        "d81b8365417272617901a10105", "d81b8365417272617900a10000",
        "d81b836541727261791b0000000100000000a0", "d81b83654572726f726145616d", "d9ffff00", "f8ff",
        "e0", "1bffffffffffffffff", "3bffffffffffffffff", "9bffffffffffffffff",
        "bbffffffffffffffff", "9affffffff00", "5bffffffffffffffff", "7b7fffffffffffffff"};
    struct vial_error err;
    char bytes[64];
    struct buf out;
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        n = from_hex(refused[i], bytes);
        assert_int_equal(value_cbor_check(bytes, n, &err), VIAL_E_INVALID);
        assert_non_null(strstr(err.text, "CBOR: "));
        buf_init(&out, 4096);
        assert_int_equal(buf_add_text(&out, "kept", NULL), 0);
        assert_int_equal(value_cbor_to_json(bytes, n, &out, NULL), VIAL_E_INVALID);
        assert_string_equal(out.data, "kept");
        buf_release(&out);
    }
}

static void depth_is_bounded(void **state)
{
    char bytes[VALUE_CBOR_DEPTH_MAX + 8];

    (void)state;
    memset(bytes, 0x81, sizeof(bytes));
    bytes[VALUE_CBOR_DEPTH_MAX] = 0;
    assert_int_equal(value_cbor_check(bytes, VALUE_CBOR_DEPTH_MAX + 1, NULL), VIAL_OK);
    bytes[VALUE_CBOR_DEPTH_MAX] = (char)0x81;
    bytes[VALUE_CBOR_DEPTH_MAX + 1] = 0;
    assert_int_equal(value_cbor_check(bytes, VALUE_CBOR_DEPTH_MAX + 2, NULL), VIAL_E_INVALID);
}

static void a_full_buffer_is_said_and_leaves_nothing(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 8);
    assert_int_equal(value_cbor_to_json("\xf7", 1, &out, NULL), VIAL_E_NOMEM);
    assert_int_equal(out.len, 0);
    buf_release(&out);
}

/* Every sample cut at every byte, and with every bit turned: never a crash, and what is accepted is
 * shown as valid JSON. */
static void nothing_crashes_it(void **state)
{
    char bytes[256], bent[256];
    struct buf out;
    size_t i, n, cut;

    (void)state;
    for (i = 0; i < sizeof(SHOWN) / sizeof(SHOWN[0]); i++) {
        n = from_hex(SHOWN[i].hex, bytes);
        for (cut = 0; cut < n; cut++) {
            assert_int_equal(value_cbor_check(bytes, cut, NULL), VIAL_E_INVALID);
        }
        for (cut = 0; cut < 8 * n; cut++) {
            memcpy(bent, bytes, n);
            bent[cut / 8] = (char)(bent[cut / 8] ^ (1 << cut % 8));
            buf_init(&out, 65536);
            if (value_cbor_to_json(bent, n, &out, NULL) == VIAL_OK) {
                assert_int_equal(json_check(out.data, out.len, 64, NULL), VIAL_OK);
            }
            buf_release(&out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_value_is_shown),
        cmocka_unit_test(large_numbers_are_hexadecimal),
        cmocka_unit_test(what_is_not_of_the_vocabulary_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_full_buffer_is_said_and_leaves_nothing),
        cmocka_unit_test(nothing_crashes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
