/* error.h - how the library reports its own failures: a negative code and one sentence.
 *
 * vial__fail and its variants are the only ways to start an error; vial__wrap puts the place in
 * front of one that came from below. All of them return the code, so a caller writes `return
 * vial__fail(...)`. */
#ifndef VIAL_BASE_ERROR_H
#define VIAL_BASE_ERROR_H

#include "vial.h"

__attribute__((format(printf, 3, 4))) int vial__fail(
    struct vial_error *err, int code, const char *format, ...);

/* VIAL_E_SYS with the name of the errno appended. */
__attribute__((format(printf, 3, 4))) int vial__fail_sys(
    struct vial_error *err, int sys, const char *format, ...);

/* "context: what was there before"; returns r. */
__attribute__((format(printf, 3, 4))) int vial__wrap(
    struct vial_error *err, int r, const char *format, ...);

/* A free that can be used with the cleanup attribute. */
void vial__freep(void *pointer_to_pointer);
#define VIAL_CLEANUP(fn) __attribute__((cleanup(fn)))

#endif
