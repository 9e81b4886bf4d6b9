/* artifact_args.h - what a program showed beside its value: said to a person, and saved as files.
 */
#ifndef VIAL_CLI_ARTIFACT_ARGS_H
#define VIAL_CLI_ARTIFACT_ARGS_H

#include "vial.h"

/* Writes every representation of every artifact to the directory, as artifact-1.png and so on,
 * never through a link, and says which. 0, or an exit code after messages; what can be written is,
 * whatever happens to the rest. */
int artifact_args_save(const struct vial_result *result, int dir, const char *dir_name, int force);

/* One line that there are some, and how to have them; nothing when there are none. */
void artifact_args_hint(const struct vial_result *result);

/* A line for each. */
void artifact_args_list(const struct vial_result *result);

/* That some were dropped, when some were. */
void artifact_args_dropped(const struct vial_result *result);

#endif
