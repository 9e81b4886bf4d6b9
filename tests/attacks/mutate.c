/* mutate.c - which layers of the wall are switched off; see jail/mutate.h.
 *
 * The list comes from the environment, is read before main, and is then kept here: a cell program
 * clears its environment, and the harness changes the list between engines. */
#include "jail/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "jail/layer.h"

enum { LIST_BYTES = 240 }; /* all layer names together, with commas, are 150 bytes */

static char without[LIST_BYTES];

void (*mutate_step)(const char *step);

void mutate_set(const char *list)
{
    (void)snprintf(without, sizeof(without), "%s", list != NULL ? list : "");
}

__attribute__((constructor)) static void mutate_read(void)
{
    mutate_set(getenv("VIAL_WITHOUT"));
}

int mutate_without(unsigned layer)
{
    return mutate_without_part(layer_name(layer));
}

int mutate_without_part(const char *name)
{
    size_t len = strlen(name);
    const char *p = without;

    while (*p != '\0') {
        size_t word = strcspn(p, ",");

        if (word == len && memcmp(p, name, len) == 0) {
            return 1;
        }
        p += word;
        p += *p == ',' ? 1 : 0;
    }
    return 0;
}

void mutate_after_step(const char *step)
{
    if (mutate_step != NULL) {
        mutate_step(step);
    }
}

int mutate_environment(char *ret, size_t size)
{
    if (without[0] == '\0') {
        return 0;
    }
    return snprintf(ret, size, "VIAL_WITHOUT=%s", without) < (int)size;
}
