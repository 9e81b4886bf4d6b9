/* prepare.c - see prepare.h. Nothing is done to JavaScript. */
#include "code/prepare.h"

#include "code/typescript.h"

enum {
    /* What is inserted is at most some hundred bytes for a name in the source; a text that grows
     * by more than this is refused like one that cannot be read. */
    TEXT_FACTOR = 16,
    TEXT_BYTES_MIN = 65536,
};

int code_prepare(const char *source, size_t len, int is_typescript, struct prepared *ret,
    uint32_t *ret_line, struct vial_error *err)
{
    int r = VIAL_OK;

    *ret = (struct prepared){.text = source, .len = len};
    buf_init(&ret->own, TEXT_FACTOR * len + TEXT_BYTES_MIN);
    buf_init(&ret->edits, TEXT_FACTOR * len + TEXT_BYTES_MIN);
    if (is_typescript) {
        r = typescript_erase(source, len, &ret->own, &ret->edits, &ret->had_types, ret_line, err);
    }
    if (r == VIAL_OK && ret->had_types) {
        ret->text = ret->own.data;
        ret->len = ret->own.len;
    }
    return r;
}

void prepared_release(struct prepared *p)
{
    buf_release(&p->own);
    buf_release(&p->edits);
}
