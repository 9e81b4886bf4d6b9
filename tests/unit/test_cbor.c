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
    {"fb3ff0000000000000", "1.0"},
    {"fbc008000000000000", "-3.0"},
    {"fb4340000000000000", "9007199254740992"},
    {"c48221186e", "{\"$decimal\":\"1.10\"}"},
    {"c4820000", "{\"$decimal\":\"0\"}"},
    {"c4820324", "{\"$decimal\":\"-5E+3\"}"},
    {"c482030c", "{\"$decimal\":\"1.2E+4\"}"},
    {"c4822501", "{\"$decimal\":\"0.000001\"}"},
    {"c4822620", "{\"$decimal\":\"-1E-7\"}"},
    {"c4822105", "{\"$decimal\":\"0.05\"}"},
    {"c48221c249010000000000000000", "{\"$decimal\":\"184467440737095516.16\"}"},
    {"c48221c34100", "{\"$decimal\":\"-0.01\"}"},
    {"c4821b1bc16d674ec8000001", "{\"$decimal\":\"1E+2000000000000000000\"}"},
    {"c4823b1bc16d674ec7ffff01", "{\"$decimal\":\"1E-2000000000000000000\"}"},
    {"d81b8267446563696d616c692d496e66696e697479", "{\"$decimal\":\"-Infinity\"}"},
    {"d81e822003", "{\"$fraction\":[-1,3]}"},
    {"d81e82c24101c24102", "{\"$fraction\":[{\"$bigint\":\"1\"},{\"$bigint\":\"2\"}]}"},
    {"d81b8367636f6d706c6578fb3ff8000000000000fb7ff8000000000000",
        "{\"$complex\":[1.5,{\"$number\":\"NaN\"}]}"},
    {"d82550000102030405060708090a0b0c0d0e0f",
        "{\"$uuid\":\"00010203-0405-0607-0809-0a0b0c0d0e0f\"}"},
    {"d903ec6a323032362d30312d3032", "{\"$day\":\"2026-01-02\"}"},
    {"d81b82686461746574696d6573323032362d30312d30325430333a30343a3035",
        "{\"$datetime\":\"2026-01-02T03:04:05\"}"},
    {"d81b82686461746574696d65781a323032362d30312d30325430333a30343a30352e303030303036",
        "{\"$datetime\":\"2026-01-02T03:04:05.000006\"}"},
    {"d81b826474696d656830313a30323a3033", "{\"$time\":\"01:02:03\"}"},
    {"d81b826474696d657530313a30323a30332e3030303030342b30353a3036",
        "{\"$time\":\"01:02:03.000004+05:06\"}"},
    {"d81b826474696d65781830313a30323a30332d30353a30363a30372e303030303038",
        "{\"$time\":\"01:02:03-05:06:07.000008\"}"},
    {"d81b846974696d6564656c7461010200", "{\"$timedelta\":86402}"},
    {"d81b846974696d6564656c746100011a0007a120", "{\"$timedelta\":1.500000}"},
    {"d81b846974696d6564656c7461201a0001517f1a000f423f", "{\"$timedelta\":-0.000001}"},
    {"d81b846974696d6564656c74613a3b9ac9fe0000", "{\"$timedelta\":-86399999913600}"},
    {"d82882820102420102", "{\"$ndarray\":[[1,2],{\"$bytes\":\"AQI=\"}]}"},
    {"d828828102d8454401020304", "{\"$ndarray\":[[2],{\"$Uint16Array\":\"AQIDBA==\"}]}"},
    {"d8288282000540", "{\"$ndarray\":[[0,5],{\"$bytes\":\"\"}]}"},
    {"d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f777382810181f669726f775f636f756"
     "e7405",
        "{\"$table\":{\"columns\":[\"a\"],\"index\":null,\"rows\":[[1],[null]],\"row_count\":5}}"},
    {"d81b82655461626c65a467636f6c756d6e738065696e646578810164726f7773818069726f775f636f756e7401",
        "{\"$table\":{\"columns\":[],\"index\":[1],\"rows\":[[]],\"row_count\":1}}"},
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

static void a_decimal_has_only_so_many_digits(void **state)
{
    char bytes[6 + 129] = "\xc4\x82\x20\xc2\x58\x80"; /* [-1, 128 bytes] */
    struct buf out;

    (void)state;
    buf_init(&out, 4096);
    memset(bytes + 6, 0xff, 129);
    assert_int_equal(value_cbor_to_json(bytes, 6 + 128, &out, NULL), VIAL_OK);
    assert_memory_equal(out.data, "{\"$decimal\":\"17976931348623159", 30); /* 2^1024 - 1 */
    assert_int_equal(out.len, strlen("{\"$decimal\":\"\"}") + 309 + 1);
    bytes[5] = (char)129;
    assert_int_equal(value_cbor_check(bytes, sizeof(bytes), NULL), VIAL_E_INVALID);
    buf_release(&out);
}

/* NOLINTBEGIN(bugprone-suspicious-missing-comma): long ones go on in the next line */
static const char *const REFUSED[] = {"", "18", "19ff", "1c", "1f", "5f", "7f", "9f", "bf", "ff",
    "0000", "61ff", "62c0af", "41", "81", "a1", "a16161", "a10102", "c0", "c001", "c101616100",
    "c16161", "c201", "c26161", "d820f6", "d90102f6", "d90103f6", "d901038101", "d9524a816161",
    "d84541ff", "d84501", "d85701", "d81bf6", "d81b80", "d81b8101", "d81b816178",
    "d81b826b417272617942756666657201", "d81b83654172726179f6a0", "d81b8365417272617901a10105",
    "d81b8365417272617900a10000", "d81b836541727261791b0000000100000000a0",
    "d81b83654572726f726145616d", "d9ffff00", "f8ff", "e0", "1bffffffffffffffff",
    "3bffffffffffffffff", "9bffffffffffffffff", "bbffffffffffffffff", "9affffffff00",
    "5bffffffffffffffff", "7b7fffffffffffffff",
    /* of Python */
    "c401", "c48101", "c483010101", "c4821b1bc16d674ec8000101", "c482fb3ff000000000000001",
    "c48201fb3ff0000000000000", "c48201c4820000", "c48201c26178", "d81b8267446563696d616c60",
    "d81b8267446563696d616c63312232", "d81b8267446563696d616c01", "d81b8367446563696d616c61316132",
    "d81e820100", "d81e820120", "d81e8201c24100", "d81e8201c240", "d81e8201c34101", "d81e8101",
    "d81e82fb3ff000000000000001", "d81e01", "d81b8367636f6d706c657801fb3ff0000000000000",
    "d81b8267636f6d706c6578fb3ff0000000000000", "d81b8367636f6d706c6578fb3ff0000000000000f6",
    "d8254f000000000000000000000000000000", "d825510000000000000000000000000000000000", "d8256178",
    "d903ec68323032362d312d32", "d903ec6b323032362d30312d303254", "d903ec01",
    "d81b82686461746574696d656a323032362d30312d3032",
    "d81b82686461746574696d6574323032362d30312d30325430333a30343a30355a",
    "d81b82686461746574696d6575323032362d30312d30325430333a30343a30352e31",
    "d81b826474696d6565313a323a33", "d81b826474696d656a30313a30323a30332b35",
    "d81b826474696d656930313a30323a303322",
    "d81b826474696d657330313a30323a30332b30353a30363a30372e31",
    "d81b846974696d6564656c74611a3b9aca000000", "d81b846974696d6564656c74613a3b9ac9ff0000",
    "d81b846974696d6564656c7461001a0001518000", "d81b846974696d6564656c7461002000",
    "d81b846974696d6564656c746100001a000f4240", "d81b836974696d6564656c74610000",
    "d81b846974696d6564656c7461fb00000000000000000000", "d82882820202420102", "d82882804101",
    "d82882810101", "d828828101c24101", "d82882014101", "d828818101",
    "d82882831b4000000000000000040040", "d82882812040",
    "d8288298210101010101010101010101010101010101010101010101010101010101010101014101",
    "d81b82655461626c65a467636f6c756d6e730165696e646578f664726f777381810169726f775f636f756e740"
    "1",
    "d81b82655461626c65a467636f6c756d6e7381616165696e6465780164726f777381810169726f775f636f756e"
    "7401",
    "d81b82655461626c65a467636f6c756d6e7381616165696e64657882010264726f777381810169726f775f636f"
    "756e7401",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f77730169726f775f636f756e740"
    "1",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f7773810169726f775f636f756e74"
    "01",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f77738182010269726f775f636f75"
    "6e7401",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f7773818069726f775f636f756e74"
    "01",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f777381810169726f775f636f756e"
    "7400",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f777381810169726f775f636f756e"
    "74fb3ff0000000000000",
    "d81b82655461626c65a467636f6c756d6e7381616165696e646578f664726f777381810169726f775f636f756e"
    "7420",
    "d81b82655461626c65a0", "d81b82655461626c6501",
    "d81b82655461626c65a467636f6c756d6e738065696e646578f664726f77738068726f77636f756e7400",
    "d81b82655461626c65a367636f6c756d6e738065696e646578f664726f777380",
    "d81b82655461626c65a467636f6c756d6e738065696e646578f664726f77739b000001000000000069726f775f"
    "636f756e7401"};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

static void what_is_not_of_the_vocabulary_is_refused(void **state)
{
    struct vial_error err;
    char bytes[256];
    struct buf out;
    size_t i, n;

    (void)state;
    for (i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        n = from_hex(REFUSED[i], bytes);
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
        cmocka_unit_test(a_decimal_has_only_so_many_digits),
        cmocka_unit_test(what_is_not_of_the_vocabulary_is_refused),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(a_full_buffer_is_said_and_leaves_nothing),
        cmocka_unit_test(nothing_crashes_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
