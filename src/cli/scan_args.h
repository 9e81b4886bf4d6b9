/* scan_args.h - the options about the scanner that several commands have. */
#ifndef VIAL_CLI_SCAN_ARGS_H
#define VIAL_CLI_SCAN_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "vial.h"

struct scan_args {
    uint32_t mode;                                     /* enum vial_scan */
    struct vial_scan_rules rules[VIAL_SCAN_RULES_MAX]; /* names and texts are ours */
    size_t count;
};

/* Takes --scan or --rules: 1 when it was neither, else 0 or an exit code. */
int scan_args_take(struct scan_args *s, struct cli_args *a, const char *command);

/* Reads a file of rules. 0, or an exit code. */
int scan_args_read(struct scan_args *s, const char *path);
void scan_args_release(struct scan_args *s);

#endif
