/* scan.h - one walk over the tree of a source: what of it matters outside of functions, where it
 * asks for modules, and which of the names that somebody cares about it declares or assigns. */
#ifndef VIAL_CODE_SCAN_H
#define VIAL_CODE_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "code/parse.h"

enum { NO_OFFSET = -1 };

/* What is known of a name. Names are judged as names: whether two that are alike mean the same
 * variable is not looked into, so each of these can be true without need. */
enum name_flag {
    NAME_IMPORTED = 1, /* by an import statement */
    NAME_DECLARED = 2, /* outside of functions, by anything but an import statement */
    NAME_ASSIGNED = 4, /* anywhere, after its declaration */
};

struct name {
    const char *text; /* in the source */
    uint32_t len;
    uint32_t flags;
    uint32_t value; /* the owner's */
};

/* A table of names, found by their text. */
struct names {
    struct buf slots; /* struct name; those without text are free */
    uint32_t count;
};

void names_init(struct names *n);
void names_release(struct names *n);

/* The entry of a name, made when it is new; NULL without memory. Valid until the next call. */
struct name *names_add(struct names *n, const char *text, size_t len);

/* The entry of a name, NULL when there is none. */
struct name *names_find(const struct names *n, const char *text, size_t len);

/* A piece of the source. */
struct span {
    uint32_t at, end;
};

struct scan {
    /* Where the first of each is outside of functions, or NO_OFFSET. */
    int64_t await_at, return_at, yield_at;
    int64_t await_name_at;   /* await used as a name, anywhere */
    int64_t bad_import_at;   /* an import() without a name, or with too much */
    int assigns_anything;    /* it has a direct eval, or writes names in a way we do not read */
    struct buf import_calls; /* struct span: the word `import` of each import() */
    struct buf metas;        /* struct span: each import.meta */
    struct buf named_calls;  /* struct span: each name that is imported and called */
};

/* The buffers of *ret are the caller's to release with scan_release, also after a failure. names
 * may be NULL; its entries get their flags. */
VIAL_NODISCARD int scan_tree(TSNode root, const char *source, size_t len, struct names *names,
    struct scan *ret, struct vial_error *err);
void scan_release(struct scan *s);

/* What there is in a source that has nothing of this. */
void scan_none(struct scan *ret);

#endif
