/* family.h - families of cells, as the keeper sees them: cells that stay, and their branches.
 *
 * A family is started by a template; its members are made by each other, on our order and with our
 * consent: each clone of a member waits in the kernel until hear_listener lets it through, which
 * happens only for a member that was ordered to. All of it is called with the engine's lock held,
 * and nothing in it waits. */
#ifndef VIAL_HOST_FAMILY_H
#define VIAL_HOST_FAMILY_H

#include "host/engine.h"
#include "wire/control.h"

/* In control messages families have numbers from here on. */
enum { FAMILY_BASE = 1 << 20 };

/* Orders the first member of a new family from the current template, for the waiter that asks. */
VIAL_NODISCARD int family_order_origin(struct vial_engine *engine, const struct cell_spec *spec);

/* Orders a branch of a member that is at rest; env is NULL, or whose pool it is for. */
VIAL_NODISCARD int family_order_branch(
    struct vial_engine *engine, uint32_t origin, enum cell_purpose purpose, struct vial_env *env);

/* What the template says of a family, what its first process says of members, and a clone that asks
 * for consent. */
void family_hear_template(struct vial_engine *engine, const struct control_message *m,
    unsigned template_index, int pidfd);
void family_hear_init(struct vial_engine *engine, unsigned index);
void family_hear_listener(struct vial_engine *engine, unsigned index);

/* A member said its first word, or has something to say while branches of it are on order. */
void family_hear_member(struct vial_engine *engine, uint32_t cell);

/* A member's place is free: the family may be at its end. */
void family_forget_member(struct vial_engine *engine, const struct cell *cell);

/* Looks through families in which a branch failed for processes that nobody knows, and ends those.
 * Not 0: call it again soon. */
int family_sweep(struct vial_engine *engine, uint64_t now_us);

/* Ends all of a family: a member did what none does. */
void family_kill(struct vial_engine *engine, unsigned index);

/* The template is gone, and the kernel has ended all families that it started. */
void family_template_lost(struct vial_engine *engine, unsigned template_index);

/* Closes everything, when the engine ends. */
void family_release_all(struct vial_engine *engine);

#endif
