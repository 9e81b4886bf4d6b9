/* tool_name.h - which names tools may have. */
#ifndef VIAL_POLICY_TOOL_NAME_H
#define VIAL_POLICY_TOOL_NAME_H

#include <stddef.h>

#include "vial.h"

enum {
    TOOL_NAME_BYTES_MAX = 128, /* fits into every hint and every log line */
    TOOL_NAME_PARTS_MAX = 8,   /* crm.contacts.find has three */
};

/* VIAL_E_INVALID says why a tool cannot have this name: parts that are no identifiers, words of the
 * language, names that objects have a special meaning for, or a global that programs count on. */
VIAL_NODISCARD int tool_name_check(const char *name, struct vial_error *err);

/* Do two names exclude each other: the same, or one is the object that the other is a member of? */
int tool_names_clash(const char *a, const char *b);

#endif
