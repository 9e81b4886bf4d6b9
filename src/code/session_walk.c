/* session_walk.c - see session_walk.h. */
#include "code/session_walk.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"

enum {
    LEVEL_IN_FUNCTION = 1, /* the node is inside of a function */
    LEVEL_TARGET = 2,      /* in what an assignment writes to */
    LEVEL_BINDS = 4,       /* in what a declaration declares */
    LEVEL_IS_LIST = 8,     /* the node is a list of statements */
    LEVEL_DECLARES = 16,   /* a for-in or for-of that declares its variable */
};

/* A node above the cursor. */
struct level {
    uint8_t kind;
    uint8_t flags;
};

struct walk {
    TSTreeCursor cursor;
    const char *source;
    const struct session_walk_ops *ops;
    void *user;
    struct buf path; /* struct level */
};

static struct level level_above(const struct walk *w)
{
    size_t count = w->path.len / sizeof(struct level);

    return count > 0 ? ((const struct level *)(const void *)w->path.data)[count - 1]
                     : (struct level){.kind = KIND_OTHER, .flags = LEVEL_IS_LIST};
}

static int is_function(uint8_t kind)
{
    return kind == KIND_FUNCTION || kind == KIND_HOISTED;
}

static int is_class(uint8_t kind)
{
    return kind == KIND_CLASS || kind == KIND_CLASS_DECLARATION;
}

/* Whether a child is what its parent declares, or a pattern that has it. */
static int begins_binding(struct level above, enum node_kind kind, enum node_field field)
{
    if (kind == KIND_PARAMETERS) {
        return 1;
    }
    if (field == FIELD_OF_NAME) {
        return above.kind == KIND_DECLARATOR || is_function(above.kind) || is_class(above.kind);
    }
    if (field == FIELD_OF_PARAMETER) {
        return above.kind == KIND_CATCH || above.kind == KIND_FUNCTION;
    }
    return above.kind == KIND_FOR_IN && field == FIELD_OF_LEFT && above.flags & LEVEL_DECLARES;
}

static int begins_target(struct level above, enum node_field field)
{
    return (above.kind == KIND_ASSIGNMENT && field == FIELD_OF_LEFT) ||
           (above.kind == KIND_UPDATE && field == FIELD_OF_ARGUMENT) ||
           (above.kind == KIND_FOR_IN && field == FIELD_OF_LEFT && !(above.flags & LEVEL_DECLARES));
}

/* The flags of the node that the cursor is at, below the given level. */
static uint8_t flags_below(struct level above, enum node_kind kind, enum node_field field)
{
    uint8_t flags = above.flags & LEVEL_IN_FUNCTION;

    if (is_function(above.kind) || (above.kind == KIND_MEMBER && kind != KIND_MEMBER_KEY)) {
        flags |= LEVEL_IN_FUNCTION;
    }
    if (begins_binding(above, kind, field)) {
        return flags | LEVEL_BINDS;
    }
    if (begins_target(above, field)) {
        return flags | LEVEL_TARGET;
    }
    /* `a.b = c` does not assign to a, and what a pattern has as a default is no part of it. */
    if (above.kind != KIND_ACCESS && field != FIELD_OF_RIGHT && kind != KIND_MEMBER_KEY &&
        kind != KIND_FUNCTION && kind != KIND_CLASS) {
        flags |= above.flags & (LEVEL_TARGET | LEVEL_BINDS);
    }
    return flags;
}

static void see_name(struct walk *w, TSNode node, struct level above, uint8_t flags)
{
    uint32_t at = ts_node_start_byte(node);

    if (flags & LEVEL_BINDS) {
        w->ops->see_binding(node, w->user);
    } else if (flags & LEVEL_TARGET) {
        w->ops->see_target(node, w->user);
    } else if (above.kind == KIND_CALL && node_field(&w->cursor) == FIELD_OF_FUNCTION &&
               ts_node_end_byte(node) - at == 4 && memcmp(w->source + at, "eval", 4) == 0) {
        w->ops->see_unknown(w->user);
    }
}

static void see_var(struct walk *w, TSNode node, struct level above, enum node_field field)
{
    enum var_place place = VAR_ALONE;

    if (above.kind == KIND_FOR && field == FIELD_OF_INITIALIZER) {
        place = VAR_IN_FOR;
    } else if (above.flags & LEVEL_IS_LIST) {
        place = VAR_IN_LIST;
    }
    w->ops->see_var(node, place, w->user);
}

/* The word that a for-in or for-of declares its variable with: its first letter, or 0. */
static char loop_word(const struct walk *w, TSNode node)
{
    TSNode word = node_child(node, "kind");

    return ts_node_is_null(word) ? '\0' : w->source[ts_node_start_byte(word)];
}

/* Looks at the node that the cursor is at, and tells what its children need to know of it. */
static struct level see_node(struct walk *w)
{
    TSNode node = ts_tree_cursor_current_node(&w->cursor);
    enum node_kind kind = node_kind(node);
    enum node_field field = node_field(&w->cursor);
    struct level above = level_above(w);
    uint8_t flags = flags_below(above, kind, field);
    char word;

    switch ((int)kind) {
    case KIND_IDENTIFIER:
    case KIND_SHORTHAND:
        see_name(w, node, above, flags);
        break;
    case KIND_VARIABLES:
        if (!(flags & LEVEL_IN_FUNCTION)) {
            see_var(w, node, above, field);
        }
        break;
    case KIND_FOR_IN:
        word = loop_word(w, node);
        flags |= word != '\0' ? LEVEL_DECLARES : 0;
        if (word == 'v' && !(flags & LEVEL_IN_FUNCTION)) {
            w->ops->see_var(node, VAR_IN_FOR_IN, w->user);
        }
        break;
    case KIND_LIST: /* the grammar has one for what is behind `else`, which is one statement */
        flags |= strcmp(ts_node_type(node), "else_clause") != 0 ? LEVEL_IS_LIST : 0;
        break;
    case KIND_CASE:
    case KIND_EXPORT:
        flags |= LEVEL_IS_LIST;
        break;
    case KIND_WITH:
        w->ops->see_unknown(w->user);
        break;
    default:
        break;
    }
    return (struct level){.kind = (uint8_t)kind, .flags = flags};
}

int session_walk(TSNode root, const char *source, size_t len, const struct session_walk_ops *ops,
    void *user, struct vial_error *err)
{
    struct walk w = {.source = source, .ops = ops, .user = user};
    int more = 1;
    int r = VIAL_OK;

    buf_init(&w.path, code_levels_max(len) * sizeof(struct level));
    w.cursor = ts_tree_cursor_new(root);
    while (more && r == VIAL_OK) {
        struct level level = see_node(&w);

        if (level.kind != KIND_IMPORT && ts_tree_cursor_goto_first_child(&w.cursor)) {
            r = buf_add(&w.path, &level, sizeof(level), err);
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&w.cursor)) {
            more = w.path.len > 0 && ts_tree_cursor_goto_parent(&w.cursor);
            w.path.len -= w.path.len > 0 ? sizeof(struct level) : 0;
        }
    }
    ts_tree_cursor_delete(&w.cursor);
    buf_release(&w.path);
    return r < 0 ? vial__wrap(err, r, "reading a source of a session") : VIAL_OK;
}
