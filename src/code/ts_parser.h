/* ts_parser.h - what the files that read TypeScript share; the interface for others is
 * typescript.h.
 *
 * A parser by recursive descent that builds no tree: it goes once over the text, and where it finds
 * something that JavaScript does not have, it notes a mark (blank this, put a sign there, insert a
 * text). typescript.c makes the output from the marks. Where one cannot know what a text is before
 * its end is seen (`(a): b => c`, `f<T>(x)`), the parser tries one reading and goes back to a point
 * that it has kept, which costs a copy of struct ts_state and drops the marks made since.
 *
 * On the way it notes what a source has outside of functions, which outline.c asks for: the first
 * await and return, where the statements are that can give its value, what it imports and exports.
 *
 * A failure is a state and not a return code: the current token becomes the end of the text, so
 * that everything unwinds by itself, and no marks are taken any more.
 *
 *   ts_lex.c     tokens              ts_class.c      classes and their members
 *   ts_mark.c    marks and names     ts_module.c     import and export
 *   ts_type.c    types               ts_namespace.c  enum and namespace
 *   ts_expr.c    expressions         ts_stmt.c       statements and functions
 */
#ifndef VIAL_CODE_TS_PARSER_H
#define VIAL_CODE_TS_PARSER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vial.h"

enum {
    /* Levels of nesting: blocks, brackets and types. Recursion stops here; a level takes up to 1
     * KiB of stack, and ten times that with sanitizers, of the 8 MiB that a process has. Programs
     * have some twenty levels, JSON-like data a few more. */
    TS_DEPTH_MAX = 400,
};

#define TS_NO_JSX "uses JSX, which is not supported"

enum ts_kind {
    TS_END, /* of the text, or after a failure */
    TS_WORD,
    TS_PRIVATE, /* #name */
    TS_NUMBER,
    TS_STRING,
    TS_TEMPLATE, /* only the first ` of it */
    TS_SIGN,
};

enum ts_word {
    TS_W_OTHER,
#define WORD(name, text, reserved) TS_W_##name,
#include "code/ts_words.inc"
#undef WORD
};

/* A sign of up to three characters as a number, so that it can be a case label. */
#define TS_1(a) ((uint32_t)(unsigned char)(a))
#define TS_2(a, b) (TS_1(a) | TS_1(b) << 8)
#define TS_3(a, b, c) (TS_2(a, b) | TS_1(c) << 16)

struct ts_token {
    uint32_t start, end; /* bytes */
    uint32_t sign;       /* TS_1 to TS_3, or 0 */
    uint8_t kind;        /* enum ts_kind */
    uint8_t word;        /* enum ts_word, or 0 */
    uint8_t newline;     /* a line break comes before it */
};

enum ts_failure {
    TS_FINE,
    TS_SYNTAX,      /* outside of types: the engine will say it better */
    TS_UNSUPPORTED, /* of TypeScript, with a message */
    TS_LIMIT,       /* with a message; trying another reading does not help */
    TS_NO_MEMORY,   /* likewise */
};

/* A piece of the source, mostly a name. */
struct ts_name {
    uint32_t at, len;
};

/* Everything that goes back when another reading is tried. */
struct ts_state {
    struct ts_token tok;
    uint32_t at;         /* where the token after tok is looked for */
    uint32_t prev_end;   /* the end of the token before tok */
    uint32_t asi_at;     /* prev_end when a statement last ended without a semicolon */
    uint32_t expr_start; /* where an expression starts that must not start with { or function */
    uint32_t blanked_at; /* the start of the statement that was blanked last */
    struct ts_name jsx;  /* the last <name> that may have been an element and no cast */
    uint32_t scope;      /* the block, function or namespace: its number */
    uint32_t depth;
    uint32_t functions;           /* around tok */
    uint32_t await_at, return_at; /* plus 1: the first one outside of functions; 0: none */
    uint32_t fail_at;
    const char *fail_text;
    uint8_t failure;        /* enum ts_failure */
    uint8_t in_condition;   /* between ? and : of the same brackets */
    uint8_t no_in;          /* `in` ends the expression: head of a for */
    uint8_t no_conditional; /* `extends` in a type belongs to somebody else */
    uint8_t generator;      /* `yield` is an operator */
    uint8_t ambient;        /* inside of `declare`: nothing of it has a value */
    uint8_t in_block;       /* not directly in a function, namespace or the file */
};

/* Tables, which only grow, but for going back. */
enum ts_table {
    TS_MARKS,    /* struct ts_mark */
    TS_TEXTS,    /* bytes of inserted texts */
    TS_REFS,     /* struct ts_name: names used as values */
    TS_DECLS,    /* struct ts_decl */
    TS_MEMBERS,  /* struct ts_member */
    TS_BINDINGS, /* struct ts_binding */
    TS_IMPORTS,  /* struct ts_import */
    TS_EXPORTS,  /* struct ts_binding: exported by name, perhaps types */
    TS_PROPS,    /* struct ts_name: parameter properties of the constructor being read */
    TS_BOUND,    /* struct ts_name: names bound by the declaration being read */
    TS_VALUES,   /* uint32_t: expressions that can be the value of the source, so far */
    TS_OUTSIDE,  /* struct ts_outside: imports and exports as they are written */
    TS_TABLES
};

enum ts_mark_kind { TS_BLANK, TS_PUT, TS_INSERT };

struct ts_mark {
    uint32_t at;
    uint32_t end;  /* BLANK: behind the last byte. INSERT: the length of the text. */
    uint32_t text; /* PUT: the character. INSERT: where in TS_TEXTS. */
    uint32_t kind; /* enum ts_mark_kind */
};

enum ts_decl_kind {
    TS_DECL_TYPE,    /* only a type */
    TS_DECL_BINDING, /* a variable */
    TS_DECL_OBJECT,  /* something that a namespace or enum can add to */
};

struct ts_decl {
    struct ts_name name;
    uint32_t scope;
    uint32_t kind;
};

/* A member of an enum, or a name that a namespace exports. */
struct ts_member {
    uint64_t path; /* of the enum or namespace */
    struct ts_name name;
    uint32_t is_text; /* a string, as far as can be seen */
    uint32_t is_enum;
};

/* What an import or export statement binds, and what goes when it is only a type. */
struct ts_binding {
    struct ts_name name;
    uint32_t from, to;
    uint32_t used;
    uint32_t is_type;
};

struct ts_import {
    uint32_t from, to;
    uint32_t first, count; /* bindings */
    uint32_t semicolon;    /* what follows must not join what is before */
};

enum ts_outside_kind {
    TS_O_IMPORT,  /* the whole statement */
    TS_O_DEFAULT, /* export default and an expression: where the two words are */
    TS_O_EXPORT,  /* the word export in front of a declaration */
    TS_O_NAME,    /* a name that the declaration behind the last such word declares */
};

struct ts_outside {
    uint32_t kind;
    uint32_t from, to;
};

/* The namespace whose body is being read. */
struct ts_namespace {
    struct ts_name name;
    uint64_t path;
};

struct ts_parser {
    const char *src;
    uint32_t len;
    uint32_t scopes;
    uint64_t steps, steps_max; /* tokens and rows looked at, those of readings given up included */
    struct ts_state s;
    struct ts_token
        last; /* what was read last, at last_at: most tokens are looked at ahead first */
    uint32_t last_at;
    struct ts_namespace *ns; /* NULL outside */
    uint8_t odd;             /* maybe it has something that the outline does not know to tell */
    struct buf tables[TS_TABLES];
};

/* A point to go back to. */
struct ts_point {
    struct ts_state s;
    size_t lens[TS_TABLES];
};

/* What is known about an expression. */
enum {
    TS_E_NAME = 1,    /* a single name */
    TS_E_PATTERN = 2, /* what could be a parameter: {...}, [...], with a value or without */
    TS_E_ARROW = 4,   /* an arrow function: nothing can follow it */
    TS_E_BINARY = 8,  /* has an operator with two sides at its end */
};

/* ---- ts_lex.c ---- */
void ts_next(struct ts_parser *p);
struct ts_token ts_peek(struct ts_parser *p);
int ts_is_reserved(uint8_t word);
void ts_scan_regex(struct ts_parser *p);   /* tok is / or /= */
void ts_join_greater(struct ts_parser *p); /* tok is >: makes it >=, >> and so on */
void ts_split_less(struct ts_parser *p);   /* tok is <<: makes it < */
int ts_template_part(struct ts_parser *p); /* from s.at: 1 at ${, 0 behind the last ` */
void ts_fail(struct ts_parser *p, enum ts_failure failure, uint32_t at, const char *text);
int ts_has_newline(const struct ts_parser *p, uint32_t from, uint32_t to);
size_t ts_newline_len(const char *src, size_t len, size_t at); /* bytes of the line break, or 0 */

static inline int ts_is(const struct ts_parser *p, uint32_t sign)
{
    return p->s.tok.sign == sign;
}

static inline int ts_is_word(const struct ts_parser *p, enum ts_word word)
{
    return p->s.tok.word == word;
}

static inline int ts_at_end(const struct ts_parser *p)
{
    return p->s.tok.kind == TS_END;
}

int ts_take(struct ts_parser *p, uint32_t sign);    /* 1 when tok was it */
void ts_expect(struct ts_parser *p, uint32_t sign); /* fails when tok is not it */
/* One more level, and back. */
int ts_enter(struct ts_parser *p);
void ts_leave(struct ts_parser *p);

/* tok is await in front of what it waits for. */
static inline void ts_note_await(struct ts_parser *p)
{
    if (p->s.functions == 0 && p->s.await_at == 0) {
        p->s.await_at = p->s.tok.start + 1;
    }
}

/* tok is, or may be, used as a name; await and yield are one only at times. */
static inline void ts_note_name(struct ts_parser *p)
{
    p->odd |= ts_is_word(p, TS_W_AWAIT) || ts_is_word(p, TS_W_YIELD);
}

/* ---- ts_mark.c ---- */
void ts_blank(struct ts_parser *p, uint32_t from, uint32_t to);
void ts_put(struct ts_parser *p, uint32_t at, char c);
void ts_put_text(struct ts_parser *p, uint32_t at, const char *text);
/* In text, $ is the first name and @ the second. */
void ts_insert(
    struct ts_parser *p, uint32_t at, const char *text, struct ts_name a, struct ts_name b);
void ts_row(struct ts_parser *p, enum ts_table table, const void *row, size_t len);
void ts_outside(struct ts_parser *p, enum ts_outside_kind kind, uint32_t from, uint32_t to);
size_t ts_rows(const struct ts_parser *p, enum ts_table table, size_t row_len);
void ts_keep(const struct ts_parser *p, struct ts_point *point);
void ts_back(struct ts_parser *p, const struct ts_point *point);
/* Drops what was noted since, but stays where it is. */
void ts_drop(struct ts_parser *p, const struct ts_point *point);
/* Whether the statement that starts at tok follows one without a semicolon. */
int ts_joins(const struct ts_parser *p);
/* The statement from start up to tok is nothing at run time. joins is from its start. */
void ts_blank_statement(struct ts_parser *p, uint32_t start, int joins);
/* Whether tok at the start of a statement would continue one that has no semicolon. */
int ts_is_continuation(const struct ts_parser *p);
struct ts_name ts_tok_name(const struct ts_parser *p);
int ts_same_name(const struct ts_parser *p, struct ts_name a, struct ts_name b);
void ts_ref(struct ts_parser *p, struct ts_name name);
void ts_declare(struct ts_parser *p, struct ts_name name, enum ts_decl_kind kind);
int ts_has_object(struct ts_parser *p, struct ts_name name);
const struct ts_member *ts_member_find(struct ts_parser *p, uint64_t path, struct ts_name name);
void ts_member_add(struct ts_parser *p, uint64_t path, struct ts_name name);
uint64_t ts_path(const struct ts_parser *p, uint64_t parent, struct ts_name name);

/* ---- ts_type.c: all leave no marks ---- */
void ts_type(struct ts_parser *p);
void ts_return_type(struct ts_parser *p); /* with predicates */
void ts_type_params(struct ts_parser *p);
void ts_type_args(struct ts_parser *p);
/* `: type` and what else is there before from; blanks it. */
void ts_annotation(struct ts_parser *p, uint32_t from);

/* ---- ts_expr.c ---- */
unsigned ts_assign(struct ts_parser *p);
void ts_expr(struct ts_parser *p); /* with commas */
unsigned ts_postfix(struct ts_parser *p);
/* A key of an object or class; tok is its first. */
void ts_property_name(struct ts_parser *p);
int ts_is_property_name(const struct ts_token *tok);

/* ---- ts_stmt.c ---- */
enum { TS_F_ASYNC = 1, TS_F_GENERATOR = 2, TS_F_CONSTRUCTOR = 4, TS_F_DERIVED = 8 };
void ts_statement(struct ts_parser *p);
/* One of a list; values is how many bytes of TS_VALUES there were in front of the list. */
void ts_list_statement(struct ts_parser *p, size_t values);
void ts_semicolon(struct ts_parser *p);
/* From the type parameters to the end of the body; 0 when there is no body. */
int ts_function_rest(struct ts_parser *p, unsigned flags);
void ts_function_body(struct ts_parser *p, unsigned flags); /* tok is { */
void ts_params(struct ts_parser *p, unsigned flags);
void ts_binding(struct ts_parser *p);
/* `function` is tok, or `async` before it. 0 when it has no body. */
int ts_function(struct ts_parser *p, struct ts_name *ret_name);
/* tok is var, let, const or using; the names go to TS_BOUND. Without the semicolon. */
void ts_variables(struct ts_parser *p, const struct ts_namespace *exported);
int ts_is_variables(struct ts_parser *p);

/* ---- ts_class.c ---- */
void ts_class(struct ts_parser *p, struct ts_name *ret_name); /* tok is class */
void ts_refuse_decorator(struct ts_parser *p);

/* ---- typescript.c ---- */
void ts_parser_init(struct ts_parser *p, const char *source, size_t len);
void ts_parser_release(struct ts_parser *p);
void ts_statements(struct ts_parser *p); /* all of them */

/* ---- ts_module.c ---- */
void ts_import_statement(struct ts_parser *p);
void ts_export_statement(struct ts_parser *p);
/* import x = a.b.c or import x = require("y"); tok is import. */
void ts_import_alias(struct ts_parser *p, const struct ts_namespace *exported);

/* ---- ts_namespace.c ---- */
/* tok is enum; start is that of the statement. */
void ts_enum(struct ts_parser *p, uint32_t start, const struct ts_namespace *exported);
/* An export inside of a namespace; tok is behind the word. */
void ts_namespace_export(struct ts_parser *p, uint32_t start, int joins);
/* tok starts a declaration that only TypeScript has: 1 and it is read. */
int ts_declaration(
    struct ts_parser *p, uint32_t start, int joins, const struct ts_namespace *exported);

#endif
