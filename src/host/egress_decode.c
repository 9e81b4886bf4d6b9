/* egress_decode.c - see egress_decode.h. */
#include "host/egress_decode.h"

#define ZLIB_CONST /* its input is not changed */
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>

enum {
    WINDOW_BITS = 15,
    FIND_HEADER = 32, /* zlib's way to say: gzip or zlib, as it comes */
};

struct egress_decoder {
    z_stream z;
    enum egress_coding coding;
    int has_begun;
    int has_ended;
    int is_full; /* the last output filled its buffer: there may be more */
    int is_raw;  /* deflate without the header that it should have */
};

enum egress_coding egress_coding_add(enum egress_coding before, const char *value, size_t len)
{
    enum egress_coding coding = EGRESS_CODING_OTHER;

    if (len == 0 || (len == 8 && strncasecmp(value, "identity", len) == 0)) {
        return before;
    }
    if ((len == 4 && strncasecmp(value, "gzip", len) == 0) ||
        (len == 6 && strncasecmp(value, "x-gzip", len) == 0)) {
        coding = EGRESS_GZIP;
    } else if (len == 7 && strncasecmp(value, "deflate", len) == 0) {
        coding = EGRESS_DEFLATE;
    }
    return before == EGRESS_PLAIN ? coding : EGRESS_CODING_OTHER;
}

struct egress_decoder *egress_decoder_new(enum egress_coding coding)
{
    struct egress_decoder *d = calloc(1, sizeof(*d));

    if (d == NULL) {
        return NULL;
    }
    d->coding = coding;
    if (inflateInit2(&d->z, WINDOW_BITS + (coding == EGRESS_GZIP ? FIND_HEADER : 0)) != Z_OK) {
        free(d);
        return NULL;
    }
    return d;
}

void egress_decoder_free(struct egress_decoder *d)
{
    if (d != NULL) {
        (void)inflateEnd(&d->z);
        free(d);
    }
}

/* Some servers say deflate and leave the two bytes of its header out: what cannot be that header is
 * read without one. */
static int set_kind(struct egress_decoder *d, const unsigned char *in)
{
    d->has_begun = 1;
    if (d->coding == EGRESS_DEFLATE && (in[0] & 0x0f) != Z_DEFLATED) {
        d->is_raw = 1;
        return inflateReset2(&d->z, -WINDOW_BITS) == Z_OK ? 0 : -1;
    }
    return 0;
}

long egress_decode(struct egress_decoder *d, const char **in, size_t *len, char *out, size_t max)
{
    int r;

    if (d->has_ended && *len > 0) {
        if (d->coding != EGRESS_GZIP || (unsigned char)**in != 0x1f) {
            *in += *len; /* what is behind the end is not for anybody */
            *len = 0;
            return 0;
        }
        d->has_ended = 0; /* another member */
        if (inflateReset(&d->z) != Z_OK) {
            return -1;
        }
    }
    if (d->has_ended || (*len == 0 && !d->is_full)) {
        d->is_full = 0;
        return 0;
    }
    if (!d->has_begun && set_kind(d, (const unsigned char *)*in) < 0) {
        return -1;
    }
    d->z.next_in = (const Bytef *)*in;
    d->z.avail_in = (uInt)*len;
    d->z.next_out = (Bytef *)out;
    d->z.avail_out = (uInt)max;
    r = inflate(&d->z, Z_NO_FLUSH);
    *in += *len - d->z.avail_in;
    *len = d->z.avail_in;
    d->has_ended = r == Z_STREAM_END;
    d->is_full = d->z.avail_out == 0 && !d->has_ended;
    /* Z_BUF_ERROR only says that it could not go on without more. */
    return r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? (long)(max - d->z.avail_out) : -1;
}

int egress_decoder_has_more(const struct egress_decoder *d)
{
    return d->is_full;
}

int egress_decoder_is_whole(const struct egress_decoder *d)
{
    return !d->has_begun || d->has_ended;
}
