/* field.c - see field.h. */
#include "wire/field.h"

#include <string.h>

void field_head(char head[FIELD_HEAD_BYTES], uint8_t tag, uint32_t len)
{
    head[0] = (char)tag;
    memcpy(head + 1, &len, sizeof(len));
}

int field_add(struct buf *b, uint8_t tag, const void *bytes, size_t len, struct vial_error *err)
{
    char head[FIELD_HEAD_BYTES];
    int r = buf_reserve(b, len + sizeof(head), err);

    if (r < 0) {
        return r;
    }
    field_head(head, tag, (uint32_t)len); /* fits: every buffer's maximum is far below 4 GiB */
    r = buf_add(b, head, sizeof(head), err);
    return r < 0 ? r : buf_add(b, bytes, len, err);
}

int field_add_u32(struct buf *b, uint8_t tag, uint32_t v, struct vial_error *err)
{
    return field_add(b, tag, &v, sizeof(v), err);
}

int field_add_u64(struct buf *b, uint8_t tag, uint64_t v, struct vial_error *err)
{
    return field_add(b, tag, &v, sizeof(v), err);
}

int field_next(const char *bytes, size_t len, size_t *at, struct field *ret)
{
    uint32_t n;

    if (*at == len) {
        return 0;
    }
    if (len - *at < FIELD_HEAD_BYTES) {
        return -1;
    }
    memcpy(&n, bytes + *at + 1, sizeof(n));
    if (n > len - *at - FIELD_HEAD_BYTES) {
        return -1;
    }
    *ret = (struct field){
        .tag = (uint8_t)bytes[*at], .bytes = bytes + *at + FIELD_HEAD_BYTES, .len = n};
    *at += FIELD_HEAD_BYTES + n;
    return 1;
}

int field_u32(const struct field *f, uint32_t *ret)
{
    if (f->len != sizeof(*ret)) {
        return -1;
    }
    memcpy(ret, f->bytes, sizeof(*ret));
    return 0;
}

int field_u64(const struct field *f, uint64_t *ret)
{
    if (f->len != sizeof(*ret)) {
        return -1;
    }
    memcpy(ret, f->bytes, sizeof(*ret));
    return 0;
}
