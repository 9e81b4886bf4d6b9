/* secret.h - what the parts of `vial secret` share. */
#ifndef VIAL_CLI_SECRET_H
#define VIAL_CLI_SECRET_H

#include <stddef.h>

#include "store/secret.h"

enum { SECRET_WORDS_MAX = 1 };

/* What was given on the command line. */
struct secret_args {
    const char *data_dir, *key_file, *new_key_file;
    const char *file, *env; /* where a value comes from; both NULL: stdin */
    int json;
    const char *words[SECRET_WORDS_MAX + 1]; /* the command, and the name */
    size_t words_count;
};

/* Reads a value as the arguments say: from a file, a variable, stdin, or twice from the terminal. 0
 * with *ret, which the caller releases, or an exit code after a message. */
int secret_value_read(const struct secret_args *o, struct secret_value *ret);

/* The commands; each returns an exit code. */
int secret_do_set(const struct secret_args *o);
int secret_do_list(const struct secret_args *o);
int secret_do_delete(const struct secret_args *o);
int secret_do_rotate(const struct secret_args *o);
int secret_do_check(const struct secret_args *o);

#endif
