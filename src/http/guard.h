/* guard.h - requests that two readers could read differently, or that no honest client sends.
 *
 * libmicrohttpd refuses much of it when it is told to be strict, but not all; and a server that
 * stands behind a proxy must not see other requests than the proxy did. So the headers of every
 * request are looked at here before anything else is done with it. */
#ifndef VIAL_HTTP_GUARD_H
#define VIAL_HTTP_GUARD_H

#include <stddef.h>

enum {
    GUARD_HEADERS_MAX = 100, /* what servers take */
    GUARD_URI_BYTES_MAX = 8192,
    GUARD_VALUE_BYTES_MAX = 8192, /* of one header; a signed token has up to four thousand */
};

struct guard {
    size_t count, hosts, lengths, encodings;
    size_t bytes;      /* that the lines of all headers have in their shortest usual form */
    const char *fault; /* the first one */
};

/* Looks at one header. */
void guard_header(
    struct guard *g, const char *name, size_t name_len, const char *value, size_t value_len);

/* What is wrong with the whole, as a sentence; NULL when nothing is. head_bytes is what the request
 * line and the headers had on the wire; 0 when that is not known. */
const char *guard_finish(
    struct guard *g, const char *method, const char *uri, const char *version, size_t head_bytes);

/* Is the method one that HTTP has and we know? */
int guard_knows_method(const char *method);

/* Decodes %XX in place. 0, or -1 when it is malformed, or has a NUL, a control character or
 * something that is not UTF-8 in it. */
int guard_decode(char *text);

#endif
