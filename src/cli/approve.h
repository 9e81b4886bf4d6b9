/* approve.h - calls of tools that need somebody's approval, for somebody at a terminal. */
#ifndef VIAL_CLI_APPROVE_H
#define VIAL_CLI_APPROVE_H

#include "vial.h"

enum approve_mode { APPROVE_ASK, APPROVE_YES, APPROVE_NO };

/* The mode of that name, or -1. */
int approve_mode_of(const char *name);

/* What the function below does from now on. */
void approve_set_mode(enum approve_mode mode);

/* A vial_approve_fn: asks at the terminal, also when stdin and stdout are something else. Without a
 * terminal the answer is no. */
int approve_call(struct vial_engine *engine, const struct vial_call *call, void *user);

#endif
