/* stubs.h - tools as a model wants to read them: typed declarations in the language that it writes.
 *
 * stubs_write makes the short form for a prompt, about a line for each tool. stubs_describe tells
 * everything that is known about one tool, stubs_search finds the tools that a task may need. The
 * text is valid TypeScript or Python 3.11 whatever names and descriptions say: both may come from
 * servers that nobody here trusts. */
#ifndef VIAL_SCHEMA_STUBS_H
#define VIAL_SCHEMA_STUBS_H

#include <stddef.h>

#include "base/buf.h"
#include "vial.h"

enum {
    STUBS_TOOLS_MAX = 5000, /* no prompt holds more, and names are compared each with each */
    STUBS_NAME_BYTES_MAX = 256,
    STUBS_QUERY_BYTES_MAX = 1024,
    STUBS_FOUND_MAX = 100, /* tools that a search gives at most; nobody reads more */
};

struct stub_tool {
    const char *name;        /* "find", or with parts: "crm.find" */
    const char *description; /* or NULL */
    const char *input;       /* its schema as JSON; NULL: anything */
    const char *output;      /* likewise */
    int sync;                /* not 0: returns a value and not a promise of one */
    int approve;             /* not 0: a person is asked before it is done */
};

enum stub_language { STUB_TYPESCRIPT, STUB_PYTHON };

/* Adds the declarations of all tools to out. VIAL_E_INVALID when a schema is no JSON, a name is
 * empty or too long, or two tools have the same name. */
VIAL_NODISCARD int stubs_write(const struct stub_tool *tools, size_t count,
    enum stub_language language, struct buf *out, struct vial_error *err);

/* One tool with everything that its schemas say: descriptions of fields, limits, defaults. */
VIAL_NODISCARD int stubs_describe(const struct stub_tool *tool, enum stub_language language,
    struct buf *out, struct vial_error *err);

/* Stores the indices of at most max tools that have to do with the words of a query, best first:
 * by their names, descriptions and names of fields; beginnings of words and small typing errors
 * count too, but less. A schema that is no JSON has no fields. Fails only without memory. */
VIAL_NODISCARD int stubs_search(const struct stub_tool *tools, size_t count, const char *query,
    size_t max, size_t *ret_indices, size_t *ret_count);

#endif
