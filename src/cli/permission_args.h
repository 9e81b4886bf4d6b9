/* permission_args.h - the options that say what a program may do: --permissions, --clock, --seed.
 */
#ifndef VIAL_CLI_PERMISSION_ARGS_H
#define VIAL_CLI_PERMISSION_ARGS_H

#include "cli/cli.h"
#include "policy/permission.h"

struct permission_args {
    const char *given, *clock, *seed;
    char *json; /* all of it, once prepared; NULL: nothing was given */
};

/* Takes an option: 1 when it was none of these, else 0 or an exit code. */
int permission_args_take(struct permission_args *p, struct cli_args *a);

/* Reads what is to be read, and makes one policy of it. 0, or an exit code after a message. */
int permission_args_prepare(struct permission_args *p);

/* Sets the clock to the present time and a seed, unless something was said of them, here or by the
 * environment, which may be NULL. */
int permission_args_settle(struct permission_args *p, const struct permission *environment);
void permission_args_release(struct permission_args *p);

#endif
