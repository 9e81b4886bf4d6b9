/* statement.h - reads the import and export statements of a module: part of module.c. */
#ifndef VIAL_CODE_STATEMENT_H
#define VIAL_CODE_STATEMENT_H

#include "code/module.h"
#include "code/scan.h"

/* A module while it is read. */
struct module_reader {
    const char *source;
    size_t len;
    struct module *module;
    struct names names; /* what the module imports and exports, by the names it has inside */
    struct changes changes;
    int has_statements; /* import or export */
    int names_default;  /* the default export is a function without a name */
    int failed;         /* no memory */
    uint32_t fault_at;
    struct place request_place, export_place; /* of the last ones: they come in order */
};

/* Reads the statements of a module, notes what becomes of them, and fills in its requests, imports
 * and exports. What cannot be read is the module's fault, as in module_fault. */
void statements_read(struct module_reader *r, TSNode root);

/* Where the words `export` and `default` of a statement are, or NO_OFFSET. */
struct export_words {
    int64_t export_at, default_at;
};

struct export_words statement_words(TSNode statement);

/* The function or class that an expression begins with: to the language it is then a declaration,
 * and what follows is not part of it. Null when it begins with something else. */
TSNode statement_leading_declaration(TSNode value, const char *source);

/* Whether an expression is a function or class without a name, maybe in parentheses. */
int statement_is_anonymous(TSNode value);

/* Calls each with every name that a pattern declares, in their order. */
void pattern_names(TSNode pattern, void (*each)(TSNode name, void *user), void *user);

/* Notes a syntax error, unless there is one before it. */
void module_fault(struct module_reader *r, uint32_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
