/* prepare.c - see prepare.h. Nothing is done to JavaScript. */
#include "code/prepare.h"

#include "code/edit.h"

int code_prepare(const char *source, size_t len, struct prepared *ret, struct vial_error *err)
{
    (void)err;
    *ret = (struct prepared){.text = source, .len = len};
    buf_init(&ret->own, SIZE_MAX / 4);
    buf_init(&ret->edits, SIZE_MAX / 4);
    return VIAL_OK;
}

void prepared_release(struct prepared *p)
{
    buf_release(&p->own);
    buf_release(&p->edits);
}
