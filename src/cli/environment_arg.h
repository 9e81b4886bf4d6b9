/* environment_arg.h - the environment that --in NAME[@VERSION] asks for. */
#ifndef VIAL_CLI_ENVIRONMENT_ARG_H
#define VIAL_CLI_ENVIRONMENT_ARG_H

#include <stddef.h>

#include "store/store.h"

/* Reads the document of a stored environment and marks it as in use until store_use_free. data_dir
 * may be NULL. 0 with *ret_document owned by the caller, or an exit code after a message. */
int environment_arg_load(const char *data_dir, const char *name, char **ret_document,
    size_t *ret_len, struct store_use **ret_use);

#endif
