/* scan_js.c - JavaScript and TypeScript for the scanner; see cell/scan_program.h.
 *
 * TypeScript is scanned without its types, which leaves everything else in its place. What the
 * scanner has read need not be read again for its modules. */
#include <string.h>

#include "cell/scan_program.h"
#include "code/edit.h"
#include "code/parse.h"
#include "code/prepare.h"
#include "code/typescript.h"

static struct prepared prepared; /* of the source that was read last */

static int has_end(const struct guest_module *source, const char *end)
{
    size_t n = strlen(end);

    return source->name_len >= n && memcmp(source->name + source->name_len - n, end, n) == 0;
}

/* Takes types out, if there are any, and reads what is left. */
static int read_typescript(
    const struct guest_module *source, struct scan_tree *ret, struct vial_error *err)
{
    uint32_t line = 0;
    int r;

    prepared_release(&prepared);
    r = code_prepare(source->source, source->source_len, 1, &prepared, &line, err);
    if (r == VIAL_E_INVALID) { /* something that cannot become JavaScript: it will not run either */
        prepared_release(&prepared);
        r = code_prepare(source->source, source->source_len, 0, &prepared, &line, err);
    }
    *ret = (struct scan_tree){
        .text = prepared.text, .len = prepared.len, .language = SCANNER_TYPESCRIPT};
    return r < 0 ? r : code_parse(tree_sitter_javascript(), ret->text, ret->len, &ret->tree, err);
}

/* Will its modules have to be found? Then all of it is read, once for both. */
static int may_have_modules(const char *text, size_t len)
{
    static const char *const words[] = {"import", "export", "require", "await", "module"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (memmem(text, len, words[i], strlen(words[i])) != NULL) {
            return 1;
        }
    }
    return 0;
}

static int js_read(const struct guest_module *source, uint32_t language,
    const struct excerpt *excerpt, struct scan_tree *ret, struct vial_error *err)
{
    struct scan_tree plain = {
        .text = source->source, .len = source->source_len, .language = SCANNER_JAVASCRIPT};
    int r;

    code_parse_forget();
    prepared_release(&prepared);
    buf_init(&prepared.edits, 0);
    if (language == VIAL_LANGUAGE_TYPESCRIPT ||
        (language == VIAL_LANGUAGE_AUTO &&
            (has_end(source, ".ts") || has_end(source, ".mts") || has_end(source, ".cts")))) {
        return read_typescript(source, ret, err);
    }
    if (excerpt != NULL && !may_have_modules(plain.text, plain.len) &&
        syntax_parse_excerpt(tree_sitter_javascript(), plain.text, plain.len, excerpt->ranges,
            excerpt->count, &plain.tree)) {
        plain.is_excerpt = 1;
        *ret = plain;
        return VIAL_OK;
    }
    r = code_parse(tree_sitter_javascript(), plain.text, plain.len, &plain.tree, err);
    /* Models write types without saying so, and then it is run as TypeScript. */
    if (r == VIAL_OK && language == VIAL_LANGUAGE_AUTO &&
        ts_node_has_error(ts_tree_root_node(plain.tree)) &&
        typescript_is_likely(plain.text, plain.len) &&
        read_typescript(source, ret, err) == VIAL_OK) {
        if (prepared.had_types) {
            ts_tree_delete(plain.tree);
            return VIAL_OK;
        }
        ts_tree_delete(ret->tree);
    }
    *ret = plain;
    return r;
}

/* What was put in for enums and the like is on the lines that were there. */
static void js_map_back(uint32_t *line, uint32_t *column)
{
    const struct edit *edits = (const struct edit *)(const void *)prepared.edits.data;
    uint32_t inserted = 0;

    for (size_t i = 0; i < prepared.edits.len / sizeof(*edits); i++) {
        if (edits[i].line == *line && edits[i].column < *column) {
            uint32_t into = *column - edits[i].column;

            inserted += into < edits[i].len ? into : edits[i].len;
        }
    }
    *column -= inserted < *column ? inserted : *column - 1;
}

static void js_keep(const struct scan_tree *t)
{
    code_parse_keep(t->text, t->len, t->tree);
}

static void js_forget(void)
{
    code_parse_forget();
    prepared_release(&prepared);
}

const struct scan_ops SCAN = {
    .grammar = tree_sitter_javascript,
    .languages = SCANNER_JAVASCRIPT | SCANNER_TYPESCRIPT,
    .excerpt = excerpt_make_js,
    .read = js_read,
    .map_back = js_map_back,
    .keep = js_keep,
    .forget = js_forget,
};
