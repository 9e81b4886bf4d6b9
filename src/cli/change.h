/* change.h - changes that commands make, of environments, keys and secrets, in the audit of the
 * data directory. */
#ifndef VIAL_CLI_CHANGE_H
#define VIAL_CLI_CHANGE_H

#include "store/audit.h"

/* What was changed. */
struct change {
    const char *agent;       /* the command: "vial env" */
    const char *what;        /* "environment.create" */
    const char *key;         /* its id, or NULL */
    const char *environment; /* name@version, or NULL */
    const char *detail;      /* or NULL */
};

/* Opens the audit, before the change: one that cannot be recorded is not made. 0, or an exit code
 * after a message. *ret is given back with audit_free. */
int change_open(const char *directory, struct audit **ret);

/* Writes down what was changed, and waits for it. */
VIAL_NODISCARD int change_note(
    struct audit *audit, const struct change *change, struct vial_error *err);

/* The same; 0, or an exit code after a message that the change was made and is not recorded. */
int change_note_or_say(struct audit *audit, const struct change *change);

#endif
