/* error.c - see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int vial__fail(struct vial_error *err, int code, const char *format, ...)
{
    va_list ap;

    if (err != NULL) {
        err->code = code;
        err->sys = 0;
        va_start(ap, format);
        (void)vsnprintf(err->text, sizeof(err->text), format, ap);
        va_end(ap);
    }
    return code;
}

int vial__fail_sys(struct vial_error *err, int sys, const char *format, ...)
{
    char what[sizeof(err->text) - 80]; /* leaves room for the longest errno text */
    const char *name = strerrorname_np(sys);
    const char *text = strerrordesc_np(sys);
    va_list ap;

    if (err != NULL) {
        va_start(ap, format);
        (void)vsnprintf(what, sizeof(what), format, ap);
        va_end(ap);
        err->code = VIAL_E_SYS;
        err->sys = sys;
        (void)snprintf(err->text, sizeof(err->text), "%s: %s (%s)", what,
            text != NULL ? text : "unknown error", name != NULL ? name : "?");
    }
    return VIAL_E_SYS;
}

/* What does not fit is cut: the place, which comes first, matters more. */
static void append(struct vial_error *err, const char *more)
{
    size_t len = strlen(err->text);
    size_t n = strnlen(more, sizeof(err->text) - 1 - len);

    memcpy(err->text + len, more, n);
    err->text[len + n] = '\0';
}

int vial__wrap(struct vial_error *err, int r, const char *format, ...)
{
    char below[sizeof(err->text)];
    va_list ap;

    if (err != NULL) {
        memcpy(below, err->text, sizeof(below));
        va_start(ap, format);
        (void)vsnprintf(err->text, sizeof(err->text), format, ap);
        va_end(ap);
        append(err, ": ");
        append(err, below);
    }
    return r;
}

void vial__freep(void *pointer_to_pointer)
{
    void **p = pointer_to_pointer;

    free(*p);
    *p = NULL;
}
