/* record.h - the file that `vial run --record FILE` writes, for `vial replay FILE`. */
#ifndef VIAL_CLI_RECORD_H
#define VIAL_CLI_RECORD_H

#include "cli/run_env.h"
#include "vial.h"

/* Writes it. 0, or an exit code after a message. */
int record_write(const char *path, const struct vial_request *request, const struct run_env *env,
    int no_jit, struct vial_result *result);

#endif
