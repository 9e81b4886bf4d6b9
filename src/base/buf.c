/* buf.c - see buf.h. */
#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"

enum {
    BUF_FIRST_ALLOC = 512,
    BUF_LARGE = 4 << 20, /* from here on a few huge pages are cheaper than a thousand small ones */
    BUF_PAGE = 4096,
};

void buf_will_fill(void *bytes, size_t len)
{
    uintptr_t start = ((uintptr_t)bytes + BUF_PAGE - 1) & ~(uintptr_t)(BUF_PAGE - 1);
    uintptr_t end = ((uintptr_t)bytes + len) & ~(uintptr_t)(BUF_PAGE - 1);

    if (len >= BUF_LARGE) {
        (void)madvise(
            (void *)start, end - start, MADV_HUGEPAGE); /* a wish: without, it is slower */
    }
}

void buf_init(struct buf *b, size_t max)
{
    assert(max <= SIZE_MAX / 4);
    *b = (struct buf){.max = max};
}

void buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.max = b->max};
}

void buf_wipe(struct buf *b)
{
    if (b->data != NULL) {
        explicit_bzero(b->data, b->capacity);
    }
    buf_release(b);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->data != NULL) {
        b->data[0] = '\0';
    }
}

int buf_reserve(struct buf *b, size_t n, struct vial_error *err)
{
    size_t capacity = b->capacity != 0 ? b->capacity : BUF_FIRST_ALLOC;
    char *grown;

    if (n > b->max - b->len) {
        return vial__fail(err, VIAL_E_NOMEM, "a buffer of at most %zu bytes is full: %zu + %zu",
            b->max, b->len, n);
    }
    if (b->data != NULL && n <= b->capacity - b->len) {
        return VIAL_OK;
    }
    while (capacity < b->len + n) {
        capacity *= 2; /* cannot wrap: len + n <= max <= SIZE_MAX / 4 */
    }
    capacity = capacity < b->max ? capacity : b->max;
    grown = realloc(b->data, capacity + 1);
    if (grown == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a buffer of %zu bytes", capacity);
    }
    buf_will_fill(grown, capacity);
    b->data = grown;
    b->capacity = capacity;
    b->data[b->len] = '\0';
    return VIAL_OK;
}

int buf_add(struct buf *b, const void *bytes, size_t n, struct vial_error *err)
{
    int r = buf_reserve(b, n, err);

    if (r < 0) {
        return r;
    }
    if (n > 0) {
        memcpy(b->data + b->len, bytes, n);
    }
    b->len += n;
    b->data[b->len] = '\0';
    return VIAL_OK;
}

int buf_add_text(struct buf *b, const char *text, struct vial_error *err)
{
    return buf_add(b, text, strlen(text), err);
}

int buf_add_u32(struct buf *b, uint32_t v, struct vial_error *err)
{
    return buf_add(b, &v, sizeof(v), err);
}

void buf_consume(struct buf *b, size_t n)
{
    assert(n <= b->len);
    if (n == 0) {
        return;
    }
    memmove(b->data, b->data + n, b->len - n + 1); /* with the NUL */
    b->len -= n;
}

int buf_take(struct buf *b, char **ret, size_t *ret_len, struct vial_error *err)
{
    int r = buf_add(b, "", 0, err);

    if (r < 0) {
        return r;
    }
    *ret = b->data;
    *ret_len = b->len;
    *b = (struct buf){.max = b->max};
    return VIAL_OK;
}
