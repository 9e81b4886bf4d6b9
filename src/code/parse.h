/* parse.h - JavaScript as a syntax tree (syntax.h), and what the readers of it ask of a node.
 *
 * Tree-sitter reads the source, because whether a word is a keyword outside of functions cannot be
 * told from bytes. The guest decides how deep the tree is, so nobody who walks it may recurse, or
 * ask a node for its parent or its sibling: that is answered by searching from the root, which is
 * quadratic on deep trees. */
#ifndef VIAL_CODE_PARSE_H
#define VIAL_CODE_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "code/syntax.h"

/* Reads source, UTF-8. A `#!` line is taken for spaces. VIAL_E_INVALID: it is over a maximum of
 * syntax.h. The caller deletes the tree. */
VIAL_NODISCARD int code_parse(const TSLanguage *language, const char *source, size_t len,
    TSTree **ret, struct vial_error *err);

/* The next code_parse of the same text takes this tree instead of reading it again; it is ours from
 * now on. source must be there until then, or until code_parse_forget. */
void code_parse_keep(const char *source, size_t len, TSTree *tree);
void code_parse_forget(void);

/* The grammar, compiled from C source; it comes without a header. */
const TSLanguage *tree_sitter_javascript(void);

/* The bytes of a `#!` line up to its end, or 0. */
size_t code_hashbang_len(const char *source, size_t len);

/* No walk down a tree of a source of len bytes takes more steps than this: no token opens more
 * visible levels, and no token is shorter than a byte. */
size_t code_levels_max(size_t len);

/* What walks over trees of JavaScript need to know of a node. */
enum node_kind {
    KIND_OTHER = 0,
    KIND_ERROR,    /* what the grammar cannot read */
    KIND_AWAIT,    /* the keyword */
    KIND_RETURN,   /* the keyword */
    KIND_YIELD,    /* an expression */
    KIND_FUNCTION, /* has its own await and return; this includes static blocks of classes */
    KIND_HOISTED,  /* a function too, and moving a return in front of it changes nothing */
    KIND_CLASS,    /* a class that is an expression */
    KIND_CLASS_DECLARATION,
    KIND_MEMBER,     /* a method or field: its key belongs to the code around the class */
    KIND_MEMBER_KEY, /* that key, when computed, or a decorator */
    KIND_NOTHING,    /* a comment or an empty statement */
    KIND_LIST,       /* its last statement gives its value */
    KIND_IF,
    KIND_TRY,
    KIND_LABELED,
    KIND_EXPRESSION,  /* an expression that is a statement */
    KIND_PARENTHESES, /* around an expression */
    KIND_IMPORT,      /* a statement */
    KIND_EXPORT,      /* a statement */
    KIND_IMPORT_WORD, /* the keyword */
    KIND_EXPORT_WORD, /* the keyword */
    KIND_META,        /* import.meta or new.target */
    KIND_CALL,
    KIND_IDENTIFIER,
    KIND_SHORTHAND,  /* a name in braces that is property and variable in one */
    KIND_ASSIGNMENT, /* also with an operator */
    KIND_UPDATE,
    KIND_FOR_IN,
    KIND_ACCESS, /* a member of an object */
    KIND_DECLARATOR,
    KIND_STRING,
    KIND_IMPORT_CLAUSE,
    KIND_IMPORT_LIST,      /* in braces */
    KIND_IMPORT_SPECIFIER, /* a member of that */
    KIND_IMPORT_NAMESPACE, /* `* as x` */
    KIND_IMPORT_ATTRIBUTE,
    KIND_EXPORT_LIST,
    KIND_EXPORT_SPECIFIER,
    KIND_EXPORT_NAMESPACE,
    KIND_OBJECT,
    KIND_PAIR,
    KIND_VARIABLES,  /* a declaration with var */
    KIND_LEXICAL,    /* a declaration with let or const */
    KIND_PARAMETERS, /* of a function, in parentheses */
    KIND_CATCH,
    KIND_FOR,  /* with two semicolons */
    KIND_CASE, /* of a switch, with its statements */
    KIND_WITH,
    KIND_COUNT
};

enum node_kind node_kind(TSNode node);

/* Fields by which a child is known to its parent. */
enum node_field {
    FIELD_OF_NONE,
    FIELD_OF_NAME,
    FIELD_OF_LEFT,
    FIELD_OF_RIGHT,
    FIELD_OF_ARGUMENT,
    FIELD_OF_FUNCTION,
    FIELD_OF_PARAMETER,   /* the only one of an arrow function, or that of a catch */
    FIELD_OF_INITIALIZER, /* of a for with two semicolons */
    FIELD_OF_COUNT
};

/* The field of the node that the cursor is at. */
enum node_field node_field(const TSTreeCursor *cursor);

TSNode node_child(TSNode node, const char *field);

#endif
