/* compat_check.h - the conventions that JSCodeSandbox has for the code of an environment and for
 * programs, checked on the text: no part of it is run for this. */
#ifndef VIAL_HTTP_COMPAT_CHECK_H
#define VIAL_HTTP_COMPAT_CHECK_H

#include <stddef.h>

#include "vial.h"

enum { COMPAT_ENDOWMENTS_MAX = 256, COMPAT_NAME_BYTES_MAX = 128, COMPAT_TEXT_BYTES_MAX = 2048 };

/* A function that guests can call. */
struct compat_endowment {
    char name[COMPAT_NAME_BYTES_MAX + 1];
    char description[COMPAT_TEXT_BYTES_MAX]; /* of @description; may be "" */
    char input[COMPAT_TEXT_BYTES_MAX];       /* of @inputSchema; may be "" */
    char output[COMPAT_TEXT_BYTES_MAX];      /* of @outputSchema; may be "" */
};

/* Reads the code of an environment. VIAL_E_INVALID with a sentence that names the rule. The array
 * belongs to the caller, who frees it. */
VIAL_NODISCARD int compat_check_code(const char *code, size_t len, struct compat_endowment **ret,
    size_t *ret_count, struct vial_error *err);

/* The same for a program: it has an async function main without parameters. */
VIAL_NODISCARD int compat_check_program(const char *code, size_t len, struct vial_error *err);

#endif
