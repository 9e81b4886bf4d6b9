/* mutate.h - switching one layer of the wall off, to prove that the hostile suite notices.
 *
 * Only a build configured with -Dmutation=true has the switch; everywhere else the answer is a
 * constant no and the compiler removes the question. */
#ifndef VIAL_JAIL_MUTATE_H
#define VIAL_JAIL_MUTATE_H

#include <stddef.h>

#ifdef VIAL_MUTATION
/* Is the layer (enum layer) named in the environment variable VIAL_WITHOUT? */
int mutate_without(unsigned layer);

/* Likewise for a control that is no layer of the report but a part of one. */
int mutate_without_part(const char *name);

/* Called in a cell after each step of its confinement, with the step's name: a raw attack that is
 * to happen at this stage, before the later layers are there, happens now. */
void mutate_after_step(const char *step);

/* The variable as "NAME=value", to be handed to the cell program; 0 when it is not set. */
int mutate_environment(char *ret, size_t size);
#else
static inline int mutate_without(unsigned layer)
{
    (void)layer;
    return 0;
}

static inline int mutate_without_part(const char *name)
{
    (void)name;
    return 0;
}

static inline void mutate_after_step(const char *step)
{
    (void)step;
}

static inline int mutate_environment(char *ret, size_t size)
{
    (void)ret;
    (void)size;
    return 0;
}
#endif

#endif
