/* stub.h - what the files that write stubs share: one writer, the names of types, and text that
 * cannot break out of where it is put.
 *
 * The writer remembers its first failure, so that a type is written without looking at every step.
 * Types that have names are written when all that is in line is: stub_drain. */
#ifndef VIAL_SCHEMA_STUB_H
#define VIAL_SCHEMA_STUB_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "schema/stubs.h"
#include "schema/tree.h"
#include "vial.h"

enum {
    STUB_PARTS_MAX = 8,  /* of a name; what is behind is one part, dots included */
    STUB_DEPTH_MAX = 16, /* types inside each other; what is deeper is anything */
    STUB_TYPE_NAME_BYTES_MAX = 96,
    STUB_TYPES_MAX = 10000, /* names of types, which are compared each with each */
    STUB_TYPES_BYTES_MAX = 16 * 1024 * 1024,
    STUB_STEPS_MAX = 1000 * 1000,
    STUB_LITERALS_MAX = 60, /* values of an enum in a type; beyond, only their type is said */
    STUB_SHORT_BYTES = 160, /* of a description in a prompt */
    STUB_LONG_BYTES = 4000, /* of one where everything is told */
    STUB_FOLLOW_MAX = 8,    /* references that lead to references */
};

/* A name that is taken, and the definition it stands for. */
struct stub_name {
    char text[STUB_TYPE_NAME_BYTES_MAX];
    uint64_t hash; /* of the definition and all that it may refer to; 0: of nothing */
};

/* A definition that has got a name and is still to be written. */
struct stub_pending {
    const struct tree *t;
    uint32_t at;
    char name[STUB_TYPE_NAME_BYTES_MAX];
};

struct stub {
    enum stub_language language;
    int verbose;
    int r; /* the first failure, or 0 */
    struct vial_error *err;
    size_t steps;     /* properties looked at, which allOf and references can multiply */
    struct buf types; /* definitions of types that have names */
    struct stub_name *names;
    size_t names_count;
    struct stub_pending *pending;
    size_t pending_count;
    const struct tree *t;                 /* the schema being written */
    char scope[STUB_TYPE_NAME_BYTES_MAX]; /* what names of types without one are made of */
};

void stub_release(struct stub *s);

void stub_put(struct stub *s, struct buf *out, const char *text);
void stub_put_bytes(struct stub *s, struct buf *out, const char *bytes, size_t len);
void stub_put_indent(struct stub *s, struct buf *out, unsigned indent);

/* A string as a literal of both languages. */
void stub_put_literal(struct stub *s, struct buf *out, const char *bytes, size_t len);

/* Text in a comment or a docstring: one line, at most max bytes, nothing that ends it. */
void stub_put_comment(struct stub *s, struct buf *out, const char *bytes, size_t len, size_t max);

/* Is it an identifier of ASCII, and no word of the language? */
int stub_is_identifier(enum stub_language language, const char *name, size_t len);

/* Appends the letters and digits of a name to a type's name, as WordsLikeThis. */
void stub_append_pascal(char *out, size_t size, const char *name, size_t len);

/* Makes a name unique and takes it: a number is appended when it is taken. */
void stub_take_name(struct stub *s, char *name, uint64_t hash);

/* Takes a name that something else than a type has. */
void stub_reserve(struct stub *s, const char *name, size_t len);

/* The value that a $ref at a value leads to, or UINT32_MAX. */
uint32_t stub_resolve(const struct tree *t, uint32_t ref);

/* The schema itself, or what it leads to when it is nothing but a reference. */
uint32_t stub_follow(const struct tree *t, uint32_t at);

/* The name of the type that a $ref at a value means, to be written later; NULL when it leads
 * nowhere. It lives until the next call. */
const char *stub_ref_name(struct stub *s, uint32_t ref);

/* Writes the definitions that are still to be written, with a function of the language. */
void stub_drain(struct stub *s, void (*define)(struct stub *s, const char *name, uint32_t at));

/* Which type a schema names when it names none: by its other keywords; "" when nothing tells. */
const char *stub_guess_type(const struct tree *t, uint32_t at);

/* A keyword that counts; fallback when it is not there or no small number. */
uint32_t stub_count(const struct tree *t, uint32_t at, const char *keyword, uint32_t fallback);

/* Is the name in the schema's required? */
int stub_is_required(const struct tree *t, uint32_t at, const struct tree_value *name);

/* Description and limits of a schema as a comment's text, "" when there is nothing to say. */
void stub_put_about(struct stub *s, struct buf *out, uint32_t at);

/* One tool: where it belongs and what is written for it. */
struct stub_item {
    const struct stub_tool *tool;
    const char *parts[STUB_PARTS_MAX]; /* each ends in NUL; in Python they are identifiers */
    size_t parts_count;
    char *names;      /* owned: what parts point into */
    struct buf text;  /* the signature behind the name */
    struct buf about; /* the comment's text, or the docstring's */
};

/* The signature; types that it needs are added to those of s. input and output are NULL when
 * nothing is known. */
void stub_typescript_signature(
    struct stub *s, struct stub_item *item, const struct tree *input, const struct tree *output);
void stub_python_signature(
    struct stub *s, struct stub_item *item, const struct tree *input, const struct tree *output);

/* All of it, in groups. */
void stub_typescript_layout(
    struct stub *s, const struct stub_item *items, size_t count, struct buf *out);
void stub_python_layout(
    struct stub *s, const struct stub_item *items, size_t count, struct buf *out);

#endif
