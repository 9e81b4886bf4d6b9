/* script.c - see script.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/script.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "code/outline.h"
#include "code/scan.h"

/* The name is what stack traces show for code outside of functions. */
const char SCRIPT_HEAD[] = "(async function vial_main(){";
/* The line break ends a comment on the last line of the source. */
const char SCRIPT_TAIL[] = "\n})()";

enum {
    /* Branches still to visit: one for each `else` or `catch` around the current one. */
    BRANCHES_MAX = 256,
};

/* Branches of the last statement that are still to visit, the next one last. */
struct branches {
    size_t count;
    TSNode items[BRANCHES_MAX];
};

static void branches_add(struct branches *b, TSNode node)
{
    if (!ts_node_is_null(node) && b->count < BRANCHES_MAX) {
        b->items[b->count++] = node;
    }
}

/* A statement of a module that only names things. */
static int only_names(TSNode node, enum node_kind kind)
{
    return kind == KIND_IMPORT ||
           (kind == KIND_EXPORT && ts_node_is_null(node_child(node, "declaration")) &&
               ts_node_is_null(node_child(node, "value")));
}

/* The last statement of a list that does something when it is reached. A class is not skipped like
 * a function is: it comes into being only there, so nothing in front of it may return. */
static void branches_add_last(struct branches *b, TSNode list)
{
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    TSNode last = {0};
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum node_kind kind = node_kind(node);

        if (ts_node_is_named(node) && kind != KIND_NOTHING && kind != KIND_HOISTED &&
            !only_names(node, kind)) {
            last = node;
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    branches_add(b, last);
}

/* The grammar reads `{a: 1}` as an object where the language has a block, and a statement with an
 * error in it may be one that only the engine knows: neither may get a return. */
static int is_value(TSNode node, const char *text)
{
    return !ts_node_has_error(node) && text[ts_node_start_byte(node)] != '{';
}

void script_change_values(TSNode root, const char *source, struct changes *changes)
{
    struct branches branches = {.count = 0};
    size_t left = SCRIPT_EDITS_MAX - 1;

    branches_add(&branches, root);
    while (branches.count > 0 && left > 0) {
        TSNode node = branches.items[--branches.count];
        TSNode handler;

        switch ((int)node_kind(node)) {
        case KIND_LIST:
            branches_add_last(&branches, node);
            break;
        case KIND_IF:
            branches_add(&branches, node_child(node, "alternative"));
            branches_add(&branches, node_child(node, "consequence"));
            break;
        case KIND_TRY:
            handler = node_child(node, "handler");
            if (!ts_node_is_null(handler)) {
                branches_add(&branches, node_child(handler, "body"));
            }
            branches_add(&branches, node_child(node, "body"));
            break;
        case KIND_LABELED:
            branches_add(&branches, node_child(node, "body"));
            break;
        case KIND_EXPRESSION:
            if (is_value(node, source)) {
                changes_insert(changes, ts_node_start_byte(node), "return ");
                left--;
            }
            break;
        default:
            break;
        }
    }
}

void script_change_hashbang(const char *source, size_t len, struct changes *changes)
{
    if (code_hashbang_len(source, len) > 0) {
        changes_replace(changes, 0, "//");
    }
}

int script_may_need_wrap(const char *source, size_t len)
{
    return len > 0 &&
           (memmem(source, len, "await", 5) != NULL || memmem(source, len, "return", 6) != NULL);
}

int script_note_tree(
    const char *source, size_t len, struct changes *changes, int *ret_wraps, struct vial_error *err)
{
    struct scan scan;
    TSTree *tree = NULL;
    int r = code_parse(tree_sitter_javascript(), source, len, &tree, err);

    if (r < 0) {
        return r;
    }
    r = scan_tree(ts_tree_root_node(tree), source, len, NULL, &scan, err);
    if (r == VIAL_OK) {
        *ret_wraps = scan.await_at != NO_OFFSET || scan.return_at != NO_OFFSET;
        script_change_values(ts_tree_root_node(tree), source, changes);
    }
    scan_release(&scan);
    ts_tree_delete(tree);
    return r;
}

int script_wrap(
    const char *source, size_t len, struct rewrite *out, int *ret_wrapped, struct vial_error *err)
{
    struct changes changes;
    struct outline outline;
    int wraps = 0;
    int r = VIAL_OK;

    changes_init(&changes, SCRIPT_EDITS_MAX + 1);
    if (outline_read(source, len, &outline)) {
        wraps = outline.await_at != NO_OFFSET || outline.return_at != NO_OFFSET;
        outline_change_values(&outline, &changes);
    } else {
        r = script_note_tree(source, len, &changes, &wraps, err);
    }
    outline_release(&outline);
    if (r == VIAL_OK && wraps) {
        script_change_hashbang(source, len, &changes);
        r = changes_apply(&changes, source, len, SCRIPT_HEAD, SCRIPT_TAIL, out, err);
    }
    changes_release(&changes);
    if (r == VIAL_OK) {
        *ret_wrapped = wraps;
    }
    return r;
}

void script_map_back(const struct rewrite *rewrite, uint32_t *line, uint32_t *column)
{
    const struct edit *edits = (const struct edit *)(const void *)rewrite->edits.data;
    size_t count = rewrite_edit_count(rewrite);
    uint32_t removed = 0;

    if (count == 0) {
        return;
    }
    if (*line > rewrite->line_count) {
        *line = rewrite->line_count;
        *column = rewrite->last_column_max;
    }
    for (size_t i = 0; i < count; i++) {
        if (edits[i].line == *line && edits[i].column < *column) {
            uint32_t into = *column - edits[i].column;

            removed += into < edits[i].len ? into : edits[i].len;
        }
    }
    *column -= removed;
}
