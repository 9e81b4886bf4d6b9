/* base64.h - bytes that travel as text, in the alphabet of RFC 4648, section 4. */
#ifndef VIAL_BASE_BASE64_H
#define VIAL_BASE_BASE64_H

#include <stddef.h>

/* The bytes that a text of so many characters can stand for at most. */
#define BASE64_DECODED_MAX(len) ((len) / 4 * 3)

/* The characters that so many bytes take, padding included. */
#define BASE64_ENCODED_BYTES(len) (((len) + 2) / 3 * 4)

/* Writes the text that stands for the bytes to out, BASE64_ENCODED_BYTES(len) characters without a
 * NUL behind them. */
void base64_encode(const char *bytes, size_t len, char *out);

/* Writes the bytes that text stands for to out, which has room for BASE64_DECODED_MAX(len) of them.
 * NULL with *ret_len when that went well, else what is wrong, as the rest of a sentence: "has a
 * character that ...". Padding is needed, white space is refused, and so is a text with bits behind
 * its end: every run of bytes has one form. */
const char *base64_decode(const char *text, size_t len, char *out, size_t *ret_len);

#endif
