/* test_egress_decode.c - bodies without their compression, however they are cut into pieces. */
#include "host/egress_decode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum { PLAIN_BYTES = 300000, PACKED_BYTES = 400000 };

static unsigned char plain[PLAIN_BYTES], packed[PACKED_BYTES];
static char out[2 * PLAIN_BYTES + 4096];

static int start(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < PLAIN_BYTES; i++) {
        plain[i] = (unsigned char)((unsigned char)"some text "[i % 10] + (unsigned)(i / 5000) % 7);
    }
    return 0;
}

/* Packs it: 15 + 16 is gzip, 15 is deflate as it should be, -15 as some servers have it. */
static size_t pack(int window, unsigned char *to)
{
    z_stream z = {.next_in = plain, .avail_in = PLAIN_BYTES, .next_out = to};

    z.avail_out = (uInt)(packed + PACKED_BYTES - to);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(deflateEnd(&z), Z_OK);
    return z.total_out;
}

/* Decodes it in pieces of in_max bytes, into a buffer of out_max; how much came, or -1. */
static long unpack(enum egress_coding coding, size_t len, size_t in_max, size_t out_max, int *whole)
{
    struct egress_decoder *d = egress_decoder_new(coding);
    size_t at = 0, got = 0;
    long n = 0;

    assert_non_null(d);
    while (n >= 0 && at < len) {
        size_t left = len - at < in_max ? len - at : in_max;
        const char *in = (const char *)packed + at;

        at += left;
        while (n >= 0 && (left > 0 || egress_decoder_has_more(d))) {
            assert_true(got + out_max <= sizeof(out));
            n = egress_decode(d, &in, &left, out + got, out_max);
            got += n > 0 ? (size_t)n : 0;
        }
    }
    *whole = egress_decoder_is_whole(d);
    egress_decoder_free(d);
    return n < 0 ? -1 : (long)got;
}

static void every_kind_is_decoded_in_pieces_of_any_size(void **state)
{
    static const size_t sizes[] = {1, 7, 1000, PACKED_BYTES};
    static const struct {
        int window;
        enum egress_coding coding;
    } kinds[] = {{31, EGRESS_GZIP}, {15, EGRESS_DEFLATE}, {-15, EGRESS_DEFLATE}};
    size_t i, k, len;
    int whole;

    (void)state;
    for (k = 0; k < 3; k++) {
        len = pack(kinds[k].window, packed);
        for (i = 0; i < 4; i++) {
            assert_int_equal(unpack(kinds[k].coding, len, sizes[i], 4096, &whole), PLAIN_BYTES);
            assert_memory_equal(out, plain, PLAIN_BYTES);
            assert_true(whole);
        }
        assert_int_equal(unpack(kinds[k].coding, len, 100, 1, &whole), PLAIN_BYTES);
    }
}

static void members_follow_each_other_and_the_rest_is_nobodys(void **state)
{
    size_t len;
    int whole;

    (void)state;
    len = pack(31, packed);
    len += pack(31, packed + len);
    assert_int_equal(unpack(EGRESS_GZIP, len, 1000, 4096, &whole), 2 * PLAIN_BYTES);
    assert_true(whole);
    len = pack(31, packed);
    memcpy(packed + len, "rest", 4);
    assert_int_equal(unpack(EGRESS_GZIP, len + 4, 1000, 4096, &whole), PLAIN_BYTES);
}

static void what_is_cut_off_or_wrong_is_noticed(void **state)
{
    size_t len = pack(31, packed);
    int whole;

    (void)state;
    assert_true(unpack(EGRESS_GZIP, len - 20, 1000, 4096, &whole) > 0);
    assert_false(whole);
    memcpy(packed, "no gzip at all", 14);
    assert_int_equal(unpack(EGRESS_GZIP, 14, 14, 4096, &whole), -1);
    assert_int_equal(unpack(EGRESS_GZIP, 0, 14, 4096, &whole), 0);
    assert_true(whole); /* a body that is empty is not encoded */
}

static void headers_name_one_coding_that_was_asked_for(void **state)
{
    (void)state;
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "gzip", 4), EGRESS_GZIP);
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "X-GZIP", 6), EGRESS_GZIP);
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "deflate", 7), EGRESS_DEFLATE);
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "identity", 8), EGRESS_PLAIN);
    assert_int_equal(egress_coding_add(EGRESS_GZIP, "", 0), EGRESS_GZIP);
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "br", 2), EGRESS_CODING_OTHER);
    assert_int_equal(egress_coding_add(EGRESS_PLAIN, "gzip, gzip", 10), EGRESS_CODING_OTHER);
    assert_int_equal(egress_coding_add(EGRESS_GZIP, "gzip", 4), EGRESS_CODING_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_decoded_in_pieces_of_any_size),
        cmocka_unit_test(members_follow_each_other_and_the_rest_is_nobodys),
        cmocka_unit_test(what_is_cut_off_or_wrong_is_noticed),
        cmocka_unit_test(headers_name_one_coding_that_was_asked_for),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
