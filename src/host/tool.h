/* tool.h - the tools of a run or an environment, checked and ready to be called. */
#ifndef VIAL_HOST_TOOL_H
#define VIAL_HOST_TOOL_H

#include "base/buf.h"
#include "schema/schema.h"
#include "vial.h"

struct tool {
    struct vial_tool spec;         /* with its defaults filled in; its strings are the caller's */
    struct schema *input, *output; /* NULL: anything */
};

/* Shared by the runs and calls that use it. */
struct tool_set {
    struct tool *tools;
    size_t count;
    int references;        /* atomic */
    struct tool_set *base; /* whose schemas these are, or NULL */
};

/* The tool of this number in an array of the caller's, whose elements have the caller's size, with
 * zeros where it is shorter than ours. VIAL_E_INVALID when it has no size. */
VIAL_NODISCARD int tool_given(
    const struct vial_tool *tools, size_t index, struct vial_tool *ret, struct vial_error *err);

/* Checks the tools: names, schemas, urls, commands, limits. The specs' strings must outlive the
 * set, and so must what calls in progress need: see tool_set_unref. */
VIAL_NODISCARD int tool_set_new(
    const struct vial_tool *tools, size_t count, struct tool_set **ret, struct vial_error *err);

/* A set like another one in which some tools are done by others of the same names. What guests see
 * of them, and their limits, stay. */
VIAL_NODISCARD int tool_set_rebind(struct tool_set *set, const struct vial_tool *tools,
    size_t count, struct tool_set **ret, struct vial_error *err);
struct tool_set *tool_set_ref(struct tool_set *set);
void tool_set_unref(struct tool_set *set);

/* Adds what a cell must know about them to its start message. */
VIAL_NODISCARD int tool_set_add_fields(
    const struct tool_set *set, struct buf *fields, struct vial_error *err);

#endif
