/* artifacts.h - what a program shows beside its value, on its way to the host. */
#ifndef VIAL_CELL_ARTIFACTS_H
#define VIAL_CELL_ARTIFACTS_H

#include <stddef.h>

/* One representation of a thing. */
struct artifact_part {
    const char *mime;
    const char *bytes;
    size_t mime_len, len;
};

/* Sends an artifact at once. name_len is 0 when it has no name. 0, also when it is beyond what a
 * program may show and is only counted; or -1 with what is wrong, a sentence for the program. The
 * sentence lives until the next call. */
int cell_artifact(const char *name, size_t name_len, const struct artifact_part *parts,
    unsigned count, const char **ret_why);

/* A new program may show as much as the last one. */
void artifacts_begin(void);

#endif
