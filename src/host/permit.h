/* permit.h - what a run may do, as the host keeps it: the policies that hold for it, what they take
 * away before it starts, what its cell is told of them, and what was refused.
 *
 * Tools and directories that the host serves are judged here; files in the cell's memory by the
 * cell, which tells what it refused. A run without rules costs nothing of this. */
#ifndef VIAL_HOST_PERMIT_H
#define VIAL_HOST_PERMIT_H

#include "base/buf.h"
#include "host/result.h"
#include "policy/permission.h"
#include "vial.h"

struct vial_run;
struct vial_session;

struct run_permit {
    struct permission *own; /* of the request; owned; NULL: it has none */
    struct permission_chain chain;
    struct permission settled; /* clock and seed */
    const char **kept, **gone; /* variables with and without permission; owned, not the texts */
    size_t kept_count, gone_count;
    int args_gone, stdin_gone;
    int is_restricted;      /* there are rules at all */
    unsigned denials_count; /* that the cell has told of */
};

/* With the request: the run's own policy is read, and those above it are put before it. session is
 * NULL for a run. Variables, arguments and standard input that the run may not have are taken out
 * of its request. */
VIAL_NODISCARD int permit_open(struct vial_run *run, const struct permission *environment,
    struct vial_session *session, struct vial_error *err);
void permit_close(struct vial_run *run);

/* Adds what the cell must know to its start message. */
VIAL_NODISCARD int permit_add_fields(const struct vial_run *run, struct buf *fields);

/* With a result: notes there what was left out. */
void permit_note(const struct vial_run *run, struct vial_result *result);

/* May the run call that tool? by says why not. */
int permit_tool(const struct vial_run *run, const char *name, char by[RULE_TEXT_BYTES]);

/* May the run look there? path is relative to the directory called name beneath /home/vial. 0 or an
 * errno. */
int permit_look(const struct vial_run *run, const char *name, const char *path);

/* Takes a DENIED frame; -1 when it is malformed or says what cannot be. */
int permit_take_denial(
    struct vial_run *run, struct vial_result *result, const char *payload, size_t len);

#endif
