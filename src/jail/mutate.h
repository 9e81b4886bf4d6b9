/* mutate.h - switching one layer of the wall off, to prove that the hostile suite notices.
 *
 * Only a build configured with -Dmutation=true has the switch; everywhere else the answer is a constant no
 * and the compiler removes the question. */
#ifndef VIAL_JAIL_MUTATE_H
#define VIAL_JAIL_MUTATE_H

#include <stddef.h>

#ifdef VIAL_MUTATION
/* Is the layer (enum layer) named in the environment variable VIAL_WITHOUT? */
int mutate_without(unsigned layer);

/* The variable as "NAME=value", to be handed to the cell program; 0 when it is not set. */
int mutate_environment(char *ret, size_t size);
#else
static inline int mutate_without(unsigned layer)
{
    (void)layer;
    return 0;
}

static inline int mutate_environment(char *ret, size_t size)
{
    (void)ret;
    (void)size;
    return 0;
}
#endif

#endif
