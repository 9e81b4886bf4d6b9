/* module.c - the rewriter of modules, scripts and evaluations in a session.
 *
 * The first byte says what the source is taken for. What the grammar can read it can read when it
 * is rewritten, too, and every line is where it was. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/module.h"

#include <string.h>

#include "base/utf8.h"
#include "code.h"
#include "code/outline.h"
#include "code/script.h"
#include "code/session.h"

/* Positions that an engine could report, mapped back, lie in the source. */
static void check_positions(const struct rewrite *r)
{
    uint32_t line, column, l, c;

    if (rewrite_edit_count(r) == 0) {
        return; /* nothing to map */
    }
    for (line = 1; line <= r->line_count + 1 && line < 50; line++) {
        for (column = 1; column < 200; column += 7) {
            l = line;
            c = column;
            script_map_back(r, &l, &c);
            FUZZ_CHECK(l >= 1 && l <= r->line_count && c >= 1, "%u:%u is %u:%u of %u", line, column,
                l, c, r->line_count);
        }
    }
}

static void check_same_text(const struct buf *a, const struct buf *b)
{
    FUZZ_CHECK(a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0),
        "by its outline: %.*s\nby its tree: %.*s", (int)a->len, a->data, (int)b->len, b->data);
}

/* What is known of a module by its outline is what its tree tells. Whether an export may change is
 * only known by the tree. */
static void check_outline(const char *source, size_t len, int kind, unsigned flags)
{
    struct module by_outline, by_tree;
    struct outline outline;
    int known = outline_read(source, len, &outline);

    outline_release(&outline);
    if (known && module_read(source, len, (enum module_kind)kind, flags, &by_outline, NULL) == 0) {
        if (module_read(
                source, len, (enum module_kind)kind, flags | MODULE_BY_TREE, &by_tree, NULL) == 0 &&
            !by_tree.has_errors) {
            FUZZ_CHECK(by_outline.kind == by_tree.kind && by_outline.is_async == by_tree.is_async &&
                           by_outline.is_wrapped == by_tree.is_wrapped &&
                           strcmp(by_outline.fault, by_tree.fault) == 0 &&
                           by_outline.requests.len == by_tree.requests.len &&
                           by_outline.imports.len == by_tree.imports.len &&
                           by_outline.exports.len == by_tree.exports.len,
                "kind %d %d, async %d %d, wrapped %d %d, fault '%s' '%s'", by_outline.kind,
                by_tree.kind, by_outline.is_async, by_tree.is_async, by_outline.is_wrapped,
                by_tree.is_wrapped, by_outline.fault, by_tree.fault);
            check_same_text(&by_outline.rewrite.text, &by_tree.rewrite.text);
            check_same_text(&by_outline.strings, &by_tree.strings);
        }
        module_release(&by_tree);
    }
    if (known) {
        module_release(&by_outline);
    }
}

/* The same for a script. */
static void check_script_outline(const char *source, size_t len)
{
    struct changes by_outline, by_tree;
    struct rewrite a, b;
    struct outline outline;
    int wraps = 0;

    changes_init(&by_outline, 1 << 20);
    changes_init(&by_tree, 1 << 20);
    rewrite_init(&a, 1 << 24);
    rewrite_init(&b, 1 << 24);
    if (outline_read(source, len, &outline) && code_is_clean(source, len) &&
        script_note_tree(source, len, &by_tree, &wraps, NULL) == 0) {
        FUZZ_CHECK(wraps == (outline.await_at >= 0 || outline.return_at >= 0),
            "it %s wrapped by its tree, await %d, return %d", wraps ? "is" : "is not",
            (int)outline.await_at, (int)outline.return_at);
        outline_change_values(&outline, &by_outline);
        if (changes_apply(&by_outline, source, len, "", "", &a, NULL) == 0 &&
            changes_apply(&by_tree, source, len, "", "", &b, NULL) == 0) {
            check_same_text(&a.text, &b.text);
        }
    }
    outline_release(&outline);
    changes_release(&by_outline);
    changes_release(&by_tree);
    rewrite_release(&a);
    rewrite_release(&b);
}

static void check_module(const char *source, size_t len, int kind, unsigned flags)
{
    struct vial_error err = {.code = 0};
    struct module m;

    if (module_read(source, len, (enum module_kind)kind, flags, &m, &err) < 0) {
        FUZZ_CHECK(err.text[0] != '\0', "there is no reason");
        module_release(&m);
        return;
    }
    FUZZ_CHECK(m.kind != MODULE_AUTO, "nobody said what it is");
    if (m.rewrite.text.len > 0) {
        code_check_lines(source, len, m.rewrite.text.data, m.rewrite.text.len, &m.rewrite.edits, 1);
        check_positions(&m.rewrite);
        /* A class that is the default export is a declaration, which no operator can follow; the
         * grammar takes it for the beginning of an expression. */
        FUZZ_CHECK(m.has_errors || m.fault[0] != '\0' || !code_is_clean(source, len) ||
                       memmem(m.rewrite.text.data, m.rewrite.text.len, "{default:", 9) != NULL ||
                       code_is_clean(m.rewrite.text.data, m.rewrite.text.len),
            "it could be read before it was rewritten: %s", m.rewrite.text.data);
    }
    module_release(&m);
    check_outline(source, len, kind, flags);
}

static void check_session(const char *source, size_t len, unsigned flags)
{
    struct session_source s;
    size_t i, name_len;

    if (session_read(source, len, flags, &s, NULL) < 0) {
        session_release(&s);
        return;
    }
    for (i = 0; i < session_name_count(&s); i++) {
        FUZZ_CHECK(session_name(&s, i, &name_len) != NULL && name_len > 0, "a name of nothing");
    }
    if (s.shape != SESSION_AS_IS) {
        FUZZ_CHECK(s.module.has_errors || s.module.fault[0] != '\0' ||
                       !code_is_clean(source, len) ||
                       code_is_clean(s.rewrite.text.data, s.rewrite.text.len),
            "it could be read before it was rewritten: %s", s.rewrite.text.data);
        code_check_lines(source, len, s.rewrite.text.data, s.rewrite.text.len, &s.rewrite.edits, 1);
    }
    session_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    unsigned how = fuzz_byte(&in);
    struct rewrite wrapped;
    int was = 0;

    if (!utf8_valid(in.at, in.left, NULL)) {
        return 0;
    }
    switch (how % 4) {
    case 0:
        check_session(in.at, in.left, how / 4 % 2);
        break;
    case 1:
        rewrite_init(&wrapped, 1 << 20);
        if (script_wrap(in.at, in.left, &wrapped, &was, NULL) == 0 && was) {
            check_positions(&wrapped);
            code_check_lines(
                in.at, in.left, wrapped.text.data, wrapped.text.len, &wrapped.edits, 1);
        }
        rewrite_release(&wrapped);
        check_script_outline(in.at, in.left);
        break;
    default:
        check_module(in.at, in.left, (int)(how / 4 % 4), how / 16);
    }
    return 0;
}
