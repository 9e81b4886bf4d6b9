/* modules.h - the modules that come with a run: checked, put into the start message, found again.
 */
#ifndef VIAL_HOST_MODULES_H
#define VIAL_HOST_MODULES_H

#include "base/buf.h"
#include "vial.h"

/* Are they few enough, with names that are names and all different, of text that is text? Adds
 * their sizes to *bytes. */
VIAL_NODISCARD int modules_check(
    const struct vial_request *request, size_t *bytes, struct vial_error *err);

/* Adds the fields of all modules to the start message. They have been checked. */
VIAL_NODISCARD int modules_add(
    const struct vial_request *request, struct buf *fields, struct vial_error *err);

/* The module that a cell calls by that name, NULL when there is none. */
const struct vial_module *modules_find(const struct vial_request *request, const char *name);

#endif
