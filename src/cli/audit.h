/* audit.h - what the parts of `vial audit` share. */
#ifndef VIAL_CLI_AUDIT_H
#define VIAL_CLI_AUDIT_H

#include <stddef.h>

/* What was given on the command line. */
struct audit_args {
    const char *data_dir;
    const char *key, *agent, *run, *environment, *status, *kind; /* what is asked for */
    const char *from, *until;
    const char *limit, *cursor;
    const char *head;         /* one that was kept elsewhere */
    const char *older, *keep; /* what is removed */
    int json, code;
    const char *command;
};

/* The commands; each returns an exit code. */
int audit_do_list(const struct audit_args *o);
int audit_do_export(const struct audit_args *o);
int audit_do_verify(const struct audit_args *o);
int audit_do_head(const struct audit_args *o);
int audit_do_prune(const struct audit_args *o);

#endif
