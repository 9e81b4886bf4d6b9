/* record.h - what `vial run --record FILE` keeps of a run, so that `vial replay FILE` can repeat
 * it. */
#ifndef VIAL_CLI_RECORD_H
#define VIAL_CLI_RECORD_H

#include <jansson.h>

#include "cli/run_env.h"
#include "vial.h"

enum { RECORD_BYTES_MAX = 512 << 20, RECORD_VERSION = 1 };

/* Writes it. 0, or an exit code after a message. */
int record_write(const char *path, const struct vial_request *request, const struct run_env *env,
    int no_jit, struct vial_result *result);

/* What a repetition has to have in common with the run: status, value, output, calls, files. NULL
 * without memory. */
json_t *record_outcome(struct vial_result *result);

#endif
