/* tree.h - JSON text as a flat row of values that can be walked without recursion.
 *
 * The values lie in the order of the text: behind an array come its elements, behind an object its
 * members, each a name (a string) and then its value. A value says where the next one beside it is,
 * so that a walk goes like this:
 *
 *     for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, i))
 *
 * where in an object every second value is a name. Strings without escapes and all numbers point
 * into the text, which has to live as long as the tree. A number keeps its text: nothing is
 * rounded. A small document needs no memory beyond struct tree itself. */
#ifndef VIAL_SCHEMA_TREE_H
#define VIAL_SCHEMA_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vial.h"

enum {
    /* Deeper data is no data of a tool; what recurses over a tree needs some 100 kB of stack. */
    TREE_DEPTH_MAX = 128,
    TREE_BYTES_MAX = 64 * 1024 * 1024, /* as large as a value of a run may be made */
    /* What 64 MB of ordinary text hold; a text of nothing but commas would need gigabytes. */
    TREE_VALUES_MAX = 4 * 1024 * 1024,
    TREE_INLINE = 64, /* an argument object of a tool call has ten to forty */
};

enum tree_kind {
    TREE_NULL,
    TREE_FALSE,
    TREE_TRUE,
    TREE_NUMBER,
    TREE_STRING,
    TREE_ARRAY,
    TREE_OBJECT
};

struct tree_value {
    const char *text; /* of a string, decoded and without quotes; else the bytes it was made of */
    uint32_t len;     /* of text */
    uint32_t count;   /* elements of an array, members of an object */
    uint32_t next;    /* index behind this value and all that is in it */
    unsigned char kind;
};

struct tree {
    struct tree_value *values; /* count of them; the first is the whole document */
    uint32_t count;
    uint32_t capacity;
    char *strings; /* decoded strings, or NULL while there was no escape */
    size_t strings_len;
    struct tree_value first[TREE_INLINE]; /* values points here until they are too many */
};

/* VIAL_E_INVALID with the place when text is not JSON, too large or too deep, or when an object has
 * a name twice: which of them counts would depend on who reads it. t needs no tree_release then. */
VIAL_NODISCARD int tree_read(struct tree *t, const char *text, size_t len, struct vial_error *err);
void tree_release(struct tree *t);

static inline uint32_t tree_first(uint32_t at)
{
    return at + 1;
}

static inline uint32_t tree_next(const struct tree *t, uint32_t at)
{
    return t->values[at].next;
}

static inline uint32_t tree_end(const struct tree *t, uint32_t at)
{
    return t->values[at].next;
}

/* The value of a member, or 0, which no member can have, when at is no object or has none of that
 * name. */
uint32_t tree_member(const struct tree *t, uint32_t at, const char *name);

/* Is this the string? */
int tree_is_text(const struct tree_value *v, const char *text);

/* Adds bytes that are the same for equal values and differ for others: members in the order of
 * their names, numbers by what they are worth. */
VIAL_NODISCARD int tree_canonical(
    const struct tree *t, uint32_t at, struct buf *out, struct vial_error *err);

/* The value that a JSON pointer ("", "/a/0") leads to, or UINT32_MAX. */
uint32_t tree_pointer(const struct tree *t, const char *pointer, size_t len);

/* The same for a pointer in a URI's fragment, where characters may be written as %XX. */
uint32_t tree_fragment(const struct tree *t, const char *fragment, size_t len);

/* The other way: adds the JSON pointer of a value, which may be the name of a member, to out. */
VIAL_NODISCARD int tree_path(
    const struct tree *t, uint32_t at, struct buf *out, struct vial_error *err);

/* One part of such a pointer, with its slash. */
VIAL_NODISCARD int tree_path_part(
    const char *name, size_t len, struct buf *out, struct vial_error *err);

#endif
