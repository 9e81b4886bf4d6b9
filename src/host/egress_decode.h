/* egress_decode.h - the body of an answer without its compression.
 *
 * libcurl could do that too, but it decodes all that it has read into memory, however much that
 * becomes, when nobody has room for it. Here it is decoded as far as there is room. */
#ifndef VIAL_HOST_EGRESS_DECODE_H
#define VIAL_HOST_EGRESS_DECODE_H

#include <stddef.h>

/* What is asked for, and what an answer says that it is. */
#define EGRESS_ACCEPT_ENCODING "gzip, deflate"
enum egress_coding {
    EGRESS_PLAIN = 0,
    EGRESS_GZIP,
    EGRESS_DEFLATE,
    EGRESS_CODING_OTHER, /* one that nobody asked for, or several */
};

/* The coding that a Content-Encoding header names; it is added to the one of a header before. */
enum egress_coding egress_coding_add(enum egress_coding before, const char *value, size_t len);

struct egress_decoder;

/* For EGRESS_GZIP or EGRESS_DEFLATE; NULL without memory. */
struct egress_decoder *egress_decoder_new(enum egress_coding coding);
void egress_decoder_free(struct egress_decoder *d);

/* Decodes some of the bytes at *in, of which there are *len, and moves both behind what was used.
 * How many bytes are in out now; 0 when there is nothing more to come of these; -1 when it is not
 * encoded as it says. *len may be 0, for what is still within. */
long egress_decode(struct egress_decoder *d, const char **in, size_t *len, char *out, size_t max);

/* 1 when there may be output without further input. */
int egress_decoder_has_more(const struct egress_decoder *d);

/* 1 when what came may end here. */
int egress_decoder_is_whole(const struct egress_decoder *d);

#endif
