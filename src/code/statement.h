/* statement.h - reads the import and export statements of a module: part of module.c. */
#ifndef VIAL_CODE_STATEMENT_H
#define VIAL_CODE_STATEMENT_H

#include "code/module.h"
#include "code/outline.h"
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

/* The same from the outline of a source. 0 when it has something that is for the tree to tell; then
 * the reader has to begin again. */
int statements_read_outline(struct module_reader *r, const struct outline *outline);

/* For the two: what a piece of the source says, among the module's strings; an identifier, or what
 * is between the quotes of a string. */
struct module_text module_text_at(struct module_reader *r, uint32_t at, uint32_t len);
struct module_text module_text_constant(struct module_reader *r, const char *text);
/* A module that is asked for by the string at `at`; its index. */
uint32_t module_add_request(struct module_reader *r, struct module_request *request, uint32_t at);
void module_add_import(struct module_reader *r, uint32_t binding, uint32_t request,
    struct module_text imported, uint32_t local_at, uint32_t local_len);
/* An export of a variable of the module, and the default one that has no name. */
void module_add_local(struct module_reader *r, struct module_text name, uint32_t name_at,
    uint32_t local_at, uint32_t local_len, uint32_t is_declaration);
void module_add_default(struct module_reader *r, uint32_t export_at, uint32_t default_at);

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
