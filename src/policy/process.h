/* process.h - what a run may be given beside its source: files, patterns of outputs, variables,
 * arguments, a directory, standard input. Checks only; nothing here looks at a disk. */
#ifndef VIAL_POLICY_PROCESS_H
#define VIAL_POLICY_PROCESS_H

#include "vial.h"

enum {
    PROCESS_STRINGS_MAX = 1000,          /* variables, and arguments */
    PROCESS_STRINGS_BYTES_MAX = 1 << 20, /* of each of both together; the kernel's habit is 2 MB */
    PROCESS_STDIN_BYTES_MAX = 32 << 20,  /* it travels with the source and the input */
};

/* Is everything of this that the request has well-formed, and is there room for its files? limits
 * are resolved. */
VIAL_NODISCARD int process_check(
    const struct vial_request *q, const struct vial_limits *limits, struct vial_error *err);

#endif
