/* secret_name.h - what a secret may be called, and how large it may be: documents refer to secrets
 * by name, the store keeps them, and the host looks them up. */
#ifndef VIAL_BASE_SECRET_NAME_H
#define VIAL_BASE_SECRET_NAME_H

#include <stddef.h>

enum {
    SECRET_NAME_BYTES_MAX = 64, /* fits into a line of a listing */
    /* A chain of certificates with its key fits; what is longer is a file and no secret. */
    SECRET_VALUE_BYTES_MAX = 64 << 10,
};

/* What is wrong with a name, as the end of the sentence "the name of a secret ..."; NULL when
 * nothing is. Never shows the name: what was typed in its place may be a value. */
const char *secret_name_fault(const char *name, size_t len);

#endif
