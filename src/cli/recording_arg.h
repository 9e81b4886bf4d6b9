/* recording_arg.h - the argument of `vial replay`: a file, or the id of a run that is stored. */
#ifndef VIAL_CLI_RECORDING_ARG_H
#define VIAL_CLI_RECORDING_ARG_H

#include <stddef.h>

enum { RECORDING_ARG_BYTES = 400 };

/* Loads it; data_dir may be NULL. 0 with the text, which the caller frees, and in what how errors
 * call it; or an exit code after a message. */
int recording_arg_load(const char *data_dir, const char *source, char what[RECORDING_ARG_BYTES],
    char **ret, size_t *ret_len);

#endif
