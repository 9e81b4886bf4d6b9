/* compat_inside.h - what the files about JSCodeSandbox's API share. */
#ifndef VIAL_HTTP_COMPAT_INSIDE_H
#define VIAL_HTTP_COMPAT_INSIDE_H

#include <stddef.h>

#include "http/exchange.h"
#include "schema/tree.h"

/* Names of environments leave room for what the implementation's has behind it. */
enum { COMPAT_ENV_BYTES = 58 };
#define COMPAT_INSIDE "--impl"
#define COMPAT_BACKENDS "vial_backends" /* the global of the implementation */

/* Refuses in the form that JSCodeSandbox has. */
void compat_refuse(struct exchange *x, const char *type, const char *text);

/* The name as ours has it. 0, or -1 with an answer. */
int compat_name(struct exchange *x, const char *given, size_t len, char name[COMPAT_ENV_BYTES + 1]);

/* The body, checked: 0 with *t to be released, or -1 with an answer. */
int compat_body(struct exchange *x, const char *schema, struct tree *t);

#endif
