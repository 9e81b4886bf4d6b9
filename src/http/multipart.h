/* multipart.h - forms (multipart/form-data) as RFC 7578 has them, read strictly and in place. */
#ifndef VIAL_HTTP_MULTIPART_H
#define VIAL_HTTP_MULTIPART_H

#include <stddef.h>

enum {
    MULTIPART_BOUNDARY_BYTES_MAX = 70, /* RFC 2046 */
    MULTIPART_PARTS_MAX = 256,
    MULTIPART_HEAD_BYTES_MAX = 4096, /* of the headers of one part */
};

/* Everything points into the text that was read. */
struct multipart_part {
    char *name;
    size_t name_len;
    char *filename;
    size_t filename_len; /* 0: it is no file */
    char *bytes;
    size_t len;
};

struct multipart {
    struct multipart_part parts[MULTIPART_PARTS_MAX];
    size_t count;
};

/* The boundary that a Content-Type has. 0, or -1 when it is no form or the boundary is malformed.
 */
int multipart_boundary(const char *type, char ret[MULTIPART_BOUNDARY_BYTES_MAX + 1]);

/* Reads the text, which is changed where names have escapes. NULL, or what is wrong as the rest of
 * a sentence. */
const char *multipart_read(struct multipart *form, char *text, size_t len, const char *boundary);

/* The first part of that name, or NULL. */
const struct multipart_part *multipart_find(const struct multipart *form, const char *name);

#endif
