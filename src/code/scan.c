/* scan.c - see scan.h. */
#include "code/scan.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

enum {
    NAMES_FIRST = 64,            /* slots; a power of two, as all sizes after it */
    NAMES_BYTES_MAX = 512 << 20, /* a source of CODE_TOKENS_MAX has fewer names */
    PLACES_BYTES_MAX = 64 << 20, /* likewise for the places that are noted */
    LEVEL_IN_FUNCTION = 1,       /* the node is inside of a function */
    LEVEL_TARGET = 2,            /* in what an assignment writes to */
    LEVEL_DECLARES = 4,          /* in what a declaration declares */
    LEVEL_FOR_DECLARES = 8,      /* a for-in or for-of that declares its variable */
};

/* A node above the cursor. */
struct level {
    uint8_t kind;
    uint8_t flags;
};

struct walk {
    TSTreeCursor cursor;
    const char *source;
    struct names *names;
    struct scan *found;
    struct buf path; /* struct level */
    int failed;
};

void names_init(struct names *n)
{
    buf_init(&n->slots, NAMES_BYTES_MAX);
    n->count = 0;
}

void names_release(struct names *n)
{
    buf_release(&n->slots);
    n->count = 0;
}

static size_t names_hash(const char *text, size_t len)
{
    uint64_t h = 14695981039346656037ULL;

    for (size_t i = 0; i < len; i++) {
        h = (h ^ (unsigned char)text[i]) * 1099511628211ULL;
    }
    return (size_t)(h ^ h >> 32);
}

/* The slot that has the name, or where it belongs; NULL when the table has no slots at all. A guest
 * who makes its names collide slows down its own run. */
static struct name *names_slot(const struct names *n, const char *text, size_t len)
{
    struct name *slots = (struct name *)(void *)n->slots.data;
    size_t count = n->slots.len / sizeof(*slots);

    if (count == 0) {
        return NULL;
    }
    for (size_t i = names_hash(text, len);; i++) {
        struct name *slot = &slots[i & (count - 1)];

        if (slot->text == NULL || (slot->len == len && memcmp(slot->text, text, len) == 0)) {
            return slot;
        }
    }
}

static int names_grow(struct names *n)
{
    struct names grown;
    const struct name *slots = (const struct name *)(const void *)n->slots.data;
    size_t count = n->slots.len / sizeof(*slots);
    size_t bytes = count > 0 ? 2 * n->slots.len : NAMES_FIRST * sizeof(*slots);

    names_init(&grown);
    if (buf_reserve(&grown.slots, bytes, NULL) < 0) {
        return -1;
    }
    memset(grown.slots.data, 0, bytes);
    grown.slots.len = bytes;
    grown.count = n->count;
    for (size_t i = 0; i < count; i++) {
        if (slots[i].text != NULL) {
            *names_slot(&grown, slots[i].text, slots[i].len) = slots[i];
        }
    }
    names_release(n);
    *n = grown;
    return 0;
}

struct name *names_add(struct names *n, const char *text, size_t len)
{
    struct name *slot;

    if ((size_t)n->count * 2 * sizeof(*slot) >= n->slots.len && names_grow(n) < 0) {
        return NULL;
    }
    slot = names_slot(n, text, len);
    if (slot->text == NULL) {
        *slot = (struct name){.text = text, .len = (uint32_t)len};
        n->count++;
    }
    return slot;
}

struct name *names_find(const struct names *n, const char *text, size_t len)
{
    struct name *slot = names_slot(n, text, len);

    return slot != NULL && slot->text != NULL ? slot : NULL;
}

static void note_place(struct walk *w, struct buf *places, uint32_t at, uint32_t end)
{
    struct span span = {.at = at, .end = end};

    if (buf_add(places, &span, sizeof(span), NULL) < 0) {
        w->failed = 1;
    }
}

static void note_first(int64_t *at, TSNode node)
{
    if (*at == NO_OFFSET) {
        *at = ts_node_start_byte(node);
    }
}

static const struct level *level_above(const struct walk *w)
{
    static const struct level none = {.kind = KIND_OTHER};
    size_t count = w->path.len / sizeof(struct level);

    return count > 0 ? (const struct level *)(const void *)w->path.data + count - 1 : &none;
}

/* The flags of the node that the cursor is at, below the given level. */
static uint8_t flags_below(const struct level *above, enum node_kind kind, enum node_field field)
{
    uint8_t flags = above->flags & LEVEL_IN_FUNCTION;

    if (above->kind == KIND_FUNCTION || above->kind == KIND_HOISTED ||
        (above->kind == KIND_MEMBER && kind != KIND_MEMBER_KEY)) {
        flags |= LEVEL_IN_FUNCTION;
    }
    /* `a.b = c` does not assign to a. */
    if (above->kind != KIND_ACCESS) {
        flags |= above->flags & (LEVEL_TARGET | LEVEL_DECLARES);
    }
    if ((above->kind == KIND_ASSIGNMENT && field == FIELD_OF_LEFT) ||
        (above->kind == KIND_UPDATE && field == FIELD_OF_ARGUMENT)) {
        flags |= LEVEL_TARGET;
    }
    if (above->kind == KIND_FOR_IN && field == FIELD_OF_LEFT) {
        flags |= above->flags & LEVEL_FOR_DECLARES ? LEVEL_DECLARES : LEVEL_TARGET;
    }
    if (above->kind == KIND_DECLARATOR && field == FIELD_OF_NAME) {
        flags |= LEVEL_DECLARES;
    }
    return flags;
}

static void see_name(
    struct walk *w, TSNode node, const struct level *above, uint8_t flags, enum node_field field)
{
    uint32_t at = ts_node_start_byte(node);
    uint32_t len = ts_node_end_byte(node) - at;
    const char *text = w->source + at;
    int declares = flags & LEVEL_DECLARES && !(flags & LEVEL_IN_FUNCTION);
    struct name *name;

    if (len == 5 && memcmp(text, "await", 5) == 0) {
        note_first(&w->found->await_name_at, node);
    }
    if (field == FIELD_OF_FUNCTION && above->kind == KIND_CALL && len == 4 &&
        memcmp(text, "eval", 4) == 0) {
        w->found->assigns_anything = 1;
    }
    if (flags & LEVEL_TARGET && memchr(text, '\\', len) != NULL) {
        w->found->assigns_anything = 1;
    }
    if (field == FIELD_OF_NAME &&
        (above->kind == KIND_HOISTED || above->kind == KIND_CLASS_DECLARATION)) {
        declares = !(above->flags & LEVEL_IN_FUNCTION);
    }
    name = w->names != NULL ? names_find(w->names, text, len) : NULL;
    if (name == NULL) {
        return;
    }
    name->flags |= flags & LEVEL_TARGET ? NAME_ASSIGNED : 0;
    name->flags |= declares ? NAME_DECLARED : 0;
    if (name->flags & NAME_IMPORTED && field == FIELD_OF_FUNCTION && above->kind == KIND_CALL) {
        note_place(w, &w->found->named_calls, at, at + len);
    }
}

static void see_call(struct walk *w, TSNode node)
{
    TSNode function = node_child(node, "function");
    TSNode arguments;
    uint32_t count;

    if (ts_node_is_null(function) || node_kind(function) != KIND_IMPORT_WORD) {
        return;
    }
    note_place(
        w, &w->found->import_calls, ts_node_start_byte(function), ts_node_end_byte(function));
    arguments = node_child(node, "arguments");
    count = ts_node_is_null(arguments) ? 0 : ts_node_named_child_count(arguments);
    if (count == 0 && !ts_node_has_error(node)) {
        note_first(&w->found->bad_import_at, node);
    }
}

/* Looks at the node that the cursor is at, and tells what its children need to know of it. */
static struct level see_node(struct walk *w)
{
    TSNode node = ts_tree_cursor_current_node(&w->cursor);
    enum node_kind kind = node_kind(node);
    enum node_field field = node_field(&w->cursor);
    const struct level *above = level_above(w);
    uint8_t flags = flags_below(above, kind, field);
    int is_outside = !(flags & LEVEL_IN_FUNCTION);

    switch ((int)kind) {
    case KIND_AWAIT:
        if (is_outside && above->kind != KIND_MEMBER) {
            note_first(&w->found->await_at, node);
        }
        break;
    case KIND_RETURN:
        if (is_outside && above->kind != KIND_MEMBER) {
            note_first(&w->found->return_at, node);
        }
        break;
    case KIND_YIELD:
        if (is_outside) {
            note_first(&w->found->yield_at, node);
        }
        break;
    case KIND_IDENTIFIER:
    case KIND_SHORTHAND:
        see_name(w, node, above, flags, field);
        break;
    case KIND_CALL:
        see_call(w, node);
        break;
    case KIND_META:
        if (w->source[ts_node_start_byte(node)] == 'i') {
            note_place(w, &w->found->metas, ts_node_start_byte(node), ts_node_end_byte(node));
        }
        break;
    case KIND_FOR_IN:
        flags |= ts_node_is_null(node_child(node, "kind")) ? 0 : LEVEL_FOR_DECLARES;
        break;
    default:
        break;
    }
    return (struct level){.kind = (uint8_t)kind, .flags = flags};
}

/* Statements of modules are read by module.c; nothing in them is code. */
static int is_code(const struct walk *w, const struct level *level)
{
    TSNode node;

    if (w->path.len != sizeof(struct level)) { /* below the root */
        return 1;
    }
    if (level->kind != KIND_EXPORT) {
        return level->kind != KIND_IMPORT;
    }
    node = ts_tree_cursor_current_node(&w->cursor);
    return !ts_node_is_null(node_child(node, "declaration")) ||
           !ts_node_is_null(node_child(node, "value"));
}

static int walk_all(struct walk *w, struct vial_error *err)
{
    int more = 1;
    int r;

    while (more && !w->failed) {
        struct level level = see_node(w);

        if (is_code(w, &level) && ts_tree_cursor_goto_first_child(&w->cursor)) {
            r = buf_add(&w->path, &level, sizeof(level), err);
            if (r < 0) {
                return r;
            }
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&w->cursor)) {
            more = w->path.len > 0 && ts_tree_cursor_goto_parent(&w->cursor);
            w->path.len -= w->path.len > 0 ? sizeof(struct level) : 0;
        }
    }
    return w->failed ? vial__fail(err, VIAL_E_NOMEM, "no memory for what a source has") : VIAL_OK;
}

void scan_none(struct scan *ret)
{
    *ret = (struct scan){.await_at = NO_OFFSET,
        .return_at = NO_OFFSET,
        .yield_at = NO_OFFSET,
        .await_name_at = NO_OFFSET,
        .bad_import_at = NO_OFFSET};
    buf_init(&ret->import_calls, PLACES_BYTES_MAX);
    buf_init(&ret->metas, PLACES_BYTES_MAX);
    buf_init(&ret->named_calls, PLACES_BYTES_MAX);
}

int scan_tree(TSNode root, const char *source, size_t len, struct names *names, struct scan *ret,
    struct vial_error *err)
{
    struct walk w = {.source = source, .names = names, .found = ret};
    int r;

    scan_none(ret);
    buf_init(&w.path, code_levels_max(len) * sizeof(struct level));
    w.cursor = ts_tree_cursor_new(root);
    r = walk_all(&w, err);
    ts_tree_cursor_delete(&w.cursor);
    buf_release(&w.path);
    return r < 0 ? vial__wrap(err, r, "reading a source") : VIAL_OK;
}

void scan_release(struct scan *s)
{
    buf_release(&s->import_calls);
    buf_release(&s->metas);
    buf_release(&s->named_calls);
}
