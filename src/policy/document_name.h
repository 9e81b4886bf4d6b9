/* document_name.h - the names in documents: of environments, of tools, of variables.
 *
 * Each check returns what is wrong with a name, as the rest of a sentence, or NULL. */
#ifndef VIAL_POLICY_DOCUMENT_NAME_H
#define VIAL_POLICY_DOCUMENT_NAME_H

#include <stddef.h>
#include <stdint.h>

#include "policy/document.h"
#include "vial.h"

/* Of an environment: it becomes part of commands, addresses and tables. */
const char *environment_name_fault(const char *name, size_t len);

/* Of a tool: dotted identifiers, which become objects and functions in the guest. None of the parts
 * may be a word of the language or change what objects and promises are, and the first one may not
 * hide something of the language. */
const char *tool_name_fault(const char *name, size_t len);

/* Of a global variable of the guest: one identifier, by the same rules. */
const char *global_name_fault(const char *name, size_t len);

/* Of tools that may be called: a name, a name and ".*" for all that is beneath, or "*". */
const char *tool_pattern_fault(const char *pattern, size_t len);
int tool_pattern_matches(const char *pattern, const char *tool);

/* Is the tool's name the beginning of the other's: "crm" of "crm.find"? */
int tool_name_is_above(const char *above, const char *name);

/* Of an environment variable. */
const char *variable_name_fault(const char *name, size_t len);

/* "name" or "name@3" as people write it: the name, and the version or 0 for the newest. */
VIAL_NODISCARD int environment_ref_parse(const char *text, char name[DOCUMENT_NAME_BYTES_MAX + 1],
    uint32_t *ret_version, struct vial_error *err);

#endif
