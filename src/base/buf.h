/* buf.h - a growable run of bytes that is created with its maximum.
 *
 * Every buffer that a guest or a client can make longer is one of these, so "how large can it get"
 * is always answered where the buffer is made. Adding past the maximum fails and changes nothing.
 */
#ifndef VIAL_BASE_BUF_H
#define VIAL_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

struct buf {
    char *data; /* owned; NULL until the first byte; always followed by a NUL that len does not
                   count */
    size_t len;
    size_t capacity; /* without that NUL */
    size_t max;
};

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);

/* The same for what must not stay in memory: overwrites it first. A buffer that has grown since the
 * first byte of it was added may have left copies behind: reserve before. */
void buf_wipe(struct buf *b);

/* Forgets the content, keeps the memory. */
void buf_clear(struct buf *b);

/* Makes room for n more bytes after len. */
VIAL_NODISCARD int buf_reserve(struct buf *b, size_t n, struct vial_error *err);
VIAL_NODISCARD int buf_add(struct buf *b, const void *bytes, size_t n, struct vial_error *err);
VIAL_NODISCARD int buf_add_text(struct buf *b, const char *text, struct vial_error *err);
VIAL_NODISCARD int buf_add_u32(struct buf *b, uint32_t v, struct vial_error *err);

/* Memory that is about to be written from one end to the other, in a buffer or elsewhere. When it
 * is large, the price of pages that are touched for the first time shows: 2,500 of them take longer
 * than filling 10 MB. This asks for huge ones; it changes nothing else, and cannot fail. */
void buf_will_fill(void *bytes, size_t len);

/* Drops the first n bytes. */
void buf_consume(struct buf *b, size_t n);

/* Gives the bytes to the caller, who frees them; never NULL on success, b is empty afterwards. */
VIAL_NODISCARD int buf_take(struct buf *b, char **ret, size_t *ret_len, struct vial_error *err);

#endif
