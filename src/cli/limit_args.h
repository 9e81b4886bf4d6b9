/* limit_args.h - the options that set limits, which several commands have. */
#ifndef VIAL_CLI_LIMIT_ARGS_H
#define VIAL_CLI_LIMIT_ARGS_H

#include "cli/cli.h"
#include "vial.h"

/* An option that sets a limit: 1 when it was one, 0 when not, or minus an exit code. */
int limit_args_take(struct vial_limits *limits, struct cli_args *a, const char *command);

/* Every limit with its default and its range, for help. */
void limit_args_help(void);

#endif
