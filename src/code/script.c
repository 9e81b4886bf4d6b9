/* script.c - see script.h.
 *
 * Tree-sitter reads the source, because whether a word is a keyword outside of functions cannot be
 * told from bytes. Two walks follow: one over the tree until the first top-level await or return,
 * and one down the last statement to the expressions that give the value. The guest decides how
 * deep the tree is, so neither recurses, and neither asks a node for its parent or its sibling:
 * tree-sitter 0.20 answers that by searching from the root, which is quadratic on deep trees. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/script.h"

#include <assert.h>
#include <string.h>
#include <tree_sitter/api.h>

#include "base/error.h"

/* The grammar, compiled from C source; it comes without a header. */
const TSLanguage *tree_sitter_javascript(void);

/* The name is what stack traces show for code outside of functions. */
static const char SCRIPT_HEAD[] = "(async function vial_main(){";
static const char SCRIPT_RETURN[] = "return ";
/* The line break ends a comment on the last line of the source. */
static const char SCRIPT_TAIL[] = "\n})()";

enum {
    /* The grammar has 263 symbols; the table of kinds has room for newer versions of it. */
    SCRIPT_SYMBOLS_MAX = 1024,
    /* Branches still to visit: one for each `else` or `catch` around the current one. */
    SCRIPT_BRANCHES_MAX = 256,
    /* No token opens more visible levels of the tree than this, and no token is shorter than a
       byte. */
    SCRIPT_LEVELS_PER_BYTE = 4,
    SCRIPT_LEVELS_MIN = 64,
};

/* What the two walks need to know of a node. */
enum kind {
    KIND_OTHER = 0,
    KIND_TRIGGER,    /* the keyword that makes wrapping necessary */
    KIND_FUNCTION,   /* has its own await and return; this includes static blocks of classes */
    KIND_HOISTED,    /* a function too, and moving a return in front of it changes nothing */
    KIND_MEMBER,     /* a method or field: its key belongs to the code around the class */
    KIND_MEMBER_KEY, /* that key, when computed, or a decorator */
    KIND_NOTHING,    /* a comment or an empty statement */
    KIND_LIST,       /* its last statement gives its value */
    KIND_IF,
    KIND_TRY,
    KIND_LABELED,
    KIND_EXPRESSION,
};

static const struct {
    const char *name;
    enum kind kind;
} kind_names[] = {
    {"await", KIND_TRIGGER},
    {"return", KIND_TRIGGER},
    {"function_expression", KIND_FUNCTION},
    {"generator_function", KIND_FUNCTION},
    {"arrow_function", KIND_FUNCTION},
    {"class_static_block", KIND_FUNCTION},
    {"function_declaration", KIND_HOISTED},
    {"generator_function_declaration", KIND_HOISTED},
    {"method_definition", KIND_MEMBER},
    {"field_definition", KIND_MEMBER},
    {"computed_property_name", KIND_MEMBER_KEY},
    {"decorator", KIND_MEMBER_KEY},
    {"comment", KIND_NOTHING},
    {"html_comment", KIND_NOTHING},
    {"empty_statement", KIND_NOTHING},
    {"program", KIND_LIST},
    {"statement_block", KIND_LIST},
    {"else_clause", KIND_LIST},
    {"if_statement", KIND_IF},
    {"try_statement", KIND_TRY},
    {"labeled_statement", KIND_LABELED},
    {"expression_statement", KIND_EXPRESSION},
};

struct grammar {
    uint8_t kinds[SCRIPT_SYMBOLS_MAX]; /* enum kind of each symbol */
};

/* Branches of the last statement that are still to visit, the next one last. */
struct branches {
    size_t count;
    TSNode items[SCRIPT_BRANCHES_MAX];
};

/* Where the values are, as offsets into the parsed text, ascending. */
struct values {
    size_t count;
    uint32_t offsets[SCRIPT_EDITS_MAX - 1];
};

/* The rewritten text and the position of its end. */
struct writer {
    struct buf *out;
    struct script_edits *edits;
    uint32_t line;
    uint32_t column;
};

static void grammar_init(struct grammar *g, const TSLanguage *language)
{
    uint32_t count = ts_language_symbol_count(language);

    *g = (struct grammar){{0}};
    assert(count <= SCRIPT_SYMBOLS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)i);

        for (size_t k = 0; k < sizeof(kind_names) / sizeof(kind_names[0]); k++) {
            if (strcmp(name, kind_names[k].name) == 0) {
                g->kinds[i] = (uint8_t)kind_names[k].kind;
            }
        }
    }
}

static enum kind grammar_kind(const struct grammar *g, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);

    /* Nodes for syntax errors have the largest symbol there is. */
    return symbol < SCRIPT_SYMBOLS_MAX ? (enum kind)g->kinds[symbol] : KIND_OTHER;
}

/* The bytes of a `#!` line up to its end, or 0. */
static size_t hashbang_len(const char *source, size_t len)
{
    size_t i = 0;

    if (len < 2 || memcmp(source, "#!", 2) != 0) {
        return 0;
    }
    while (i < len && source[i] != '\n' && source[i] != '\r') {
        i++;
    }
    return i;
}

/* The bytes of the character that can only be part of a word, or 0. Of the others it is not known
 * whether they separate words (there are such spaces behind 0xc2, 0xe1 to 0xe3 and 0xef) or are not
 * UTF-8. */
static size_t wide_letter_len(const unsigned char *bytes, size_t n)
{
    unsigned char c = bytes[0];
    int has_second = n > 1 && (bytes[1] & 0xc0) == 0x80;
    int has_third = has_second && n > 2 && (bytes[2] & 0xc0) == 0x80;

    if (c >= 0xc3 && c <= 0xdf) {
        return has_second ? 2 : 0;
    }
    return has_third && ((c >= 0xe4 && c <= 0xec) || c == 0xee) ? 3 : 0;
}

/* At least as many as the script has tokens, whatever a `"` or a `/` means in it. */
static int has_too_many_tokens(const char *source, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)source;
    enum { SPACE, DIGIT, LETTER, SIGN } before = SPACE, now;
    size_t count = 0;
    size_t step;

    for (size_t i = 0; i < len && count <= SCRIPT_TOKENS_MAX; i += step) {
        unsigned char c = bytes[i];

        step = 1;
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            now = SPACE;
        } else if (c >= '0' && c <= '9') {
            now = DIGIT; /* apart from letters, since `1n1n` is two numbers */
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$') {
            now = LETTER;
        } else {
            size_t wide = wide_letter_len(bytes + i, len - i);

            now = wide > 0 ? LETTER : SIGN;
            step = wide > 0 ? wide : 1;
        }
        count += now == SIGN || (now != SPACE && now != before);
        before = now;
    }
    return count > SCRIPT_TOKENS_MAX;
}

static int script_parse(const char *source, size_t len, TSTree **ret, struct vial_error *err)
{
    TSParser *parser = ts_parser_new();
    TSTree *tree;

    if (!ts_parser_set_language(parser, tree_sitter_javascript())) {
        ts_parser_delete(parser);
        return vial__fail(
            err, VIAL_E_CELL, "the JavaScript grammar does not fit the tree-sitter library");
    }
    ts_parser_set_timeout_micros(parser, (uint64_t)SCRIPT_PARSE_MS_MAX * 1000);
    tree = ts_parser_parse_string(parser, NULL, source, (uint32_t)len);
    ts_parser_delete(parser);
    if (tree == NULL) {
        return vial__fail(
            err, VIAL_E_INVALID, "the script takes longer than %d ms to read", SCRIPT_PARSE_MS_MAX);
    }
    *ret = tree;
    return VIAL_OK;
}

/* Whether what is inside of a node still runs as part of the script itself. */
static int is_outside_functions(enum kind parent, enum kind kind)
{
    if (parent == KIND_MEMBER) {
        return kind == KIND_MEMBER_KEY;
    }
    return kind != KIND_FUNCTION && kind != KIND_HOISTED;
}

/* Looks for the first await or return outside of functions. */
static int find_trigger(
    const struct grammar *g, TSNode root, size_t levels_max, int *ret_found, struct vial_error *err)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    struct buf path; /* the kind of each node above the cursor, one byte each */
    enum kind parent = KIND_OTHER;
    int found = 0;
    int more = 1;
    int r = VIAL_OK;

    buf_init(&path, levels_max);
    while (more) {
        enum kind kind = grammar_kind(g, ts_tree_cursor_current_node(&cursor));

        if (kind == KIND_TRIGGER && parent != KIND_MEMBER) {
            found = 1;
            break;
        }
        if (is_outside_functions(parent, kind) && ts_tree_cursor_goto_first_child(&cursor)) {
            uint8_t level = (uint8_t)kind;

            r = buf_add(&path, &level, 1, err);
            if (r < 0) {
                break;
            }
            parent = kind;
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            more = path.len > 0 && ts_tree_cursor_goto_parent(&cursor);
            path.len -= path.len > 0 ? 1 : 0;
            parent = path.len > 0 ? (enum kind)path.data[path.len - 1] : KIND_OTHER;
        }
    }
    ts_tree_cursor_delete(&cursor);
    buf_release(&path);
    if (r < 0) {
        return vial__wrap(err, r, "looking for a top-level await");
    }
    *ret_found = found;
    return VIAL_OK;
}

static void branches_add(struct branches *b, TSNode node)
{
    if (!ts_node_is_null(node) && b->count < SCRIPT_BRANCHES_MAX) {
        b->items[b->count++] = node;
    }
}

static TSNode child_by_field(TSNode node, const char *field)
{
    return ts_node_child_by_field_name(node, field, (uint32_t)strlen(field));
}

/* The last statement of a list that does something when it is reached. A class is not skipped like
 * a function is: it comes into being only there, so nothing in front of it may return. */
static void branches_add_last(struct branches *b, const struct grammar *g, TSNode list)
{
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    TSNode last = {0};
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum kind kind = grammar_kind(g, node);

        if (ts_node_is_named(node) && kind != KIND_NOTHING && kind != KIND_HOISTED) {
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

/* Finds the expressions whose value is that of the run. */
static void find_values(
    const struct grammar *g, TSNode root, const char *text, struct values *values)
{
    struct branches branches = {.count = 0};
    size_t values_max = sizeof(values->offsets) / sizeof(values->offsets[0]);

    values->count = 0;
    branches_add(&branches, root);
    while (branches.count > 0 && values->count < values_max) {
        TSNode node = branches.items[--branches.count];
        TSNode handler;

        switch ((int)grammar_kind(g, node)) {
        case KIND_LIST:
            branches_add_last(&branches, g, node);
            break;
        case KIND_IF:
            branches_add(&branches, child_by_field(node, "alternative"));
            branches_add(&branches, child_by_field(node, "consequence"));
            break;
        case KIND_TRY:
            handler = child_by_field(node, "handler");
            if (!ts_node_is_null(handler)) {
                branches_add(&branches, child_by_field(handler, "body"));
            }
            branches_add(&branches, child_by_field(node, "body"));
            break;
        case KIND_LABELED:
            branches_add(&branches, child_by_field(node, "body"));
            break;
        case KIND_EXPRESSION:
            if (is_value(node, text)) {
                values->offsets[values->count++] = ts_node_start_byte(node);
            }
            break;
        default:
            break;
        }
    }
}

/* The caller has reserved the room. */
static void writer_add(struct writer *w, const char *bytes, size_t n)
{
    int r = buf_add(w->out, bytes, n, NULL);

    assert(r == VIAL_OK);
    (void)r;
}

/* Adds text of the source and counts lines as the engine does, which also ends them at a lone CR
 * and at U+2028 and U+2029. */
static void writer_add_source(struct writer *w, const char *text, size_t n)
{
    const unsigned char *bytes = (const unsigned char *)text;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = bytes[i];

        if (c == '\n' || (c == '\r' && (i + 1 == n || bytes[i + 1] != '\n'))) {
            w->line++;
            w->column = 1;
        } else if (c == 0xe2 && n - i > 2 && bytes[i + 1] == 0x80 &&
                   (bytes[i + 2] & 0xfe) == 0xa8) {
            w->line++;
            w->column = 1;
            i += 2;
        } else if (c >= 0xf0) {
            w->column += 2; /* a surrogate pair */
        } else if (c < 0x80 || c >= 0xc0) {
            w->column++; /* continuation bytes count for nothing */
        }
    }
    writer_add(w, text, n);
}

static void writer_insert(struct writer *w, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);

    assert(w->edits->count < SCRIPT_EDITS_MAX);
    w->edits->items[w->edits->count++] =
        (struct edit){.line = w->line, .column = w->column, .len = n};
    w->column += n;
    writer_add(w, text, n);
}

/* skip is the length of the `#!` line, in front of which the offsets of values do not count. */
static int script_write(const char *source, size_t len, size_t skip, const struct values *values,
    struct buf *out, struct script_edits *edits, struct vial_error *err)
{
    struct writer w = {.out = out, .edits = edits, .line = 1, .column = 1};
    size_t done = 0;
    int r;

    r = buf_reserve(out,
        len + strlen(SCRIPT_HEAD) + strlen(SCRIPT_TAIL) + values->count * strlen(SCRIPT_RETURN),
        err);
    if (r < 0) {
        return vial__wrap(err, r, "rewriting a script");
    }
    edits->count = 0;
    writer_insert(&w, SCRIPT_HEAD);
    if (skip > 0) {
        writer_add_source(&w, "//", 2);
        done = 2;
    }
    for (size_t i = 0; i < values->count; i++) {
        size_t next = skip + values->offsets[i];

        assert(next >= done && next <= len);
        writer_add_source(&w, source + done, next - done);
        writer_insert(&w, SCRIPT_RETURN);
        done = next;
    }
    writer_add_source(&w, source + done, len - done);
    edits->line_count = w.line;
    edits->last_column_max = w.column;
    writer_add(&w, SCRIPT_TAIL, strlen(SCRIPT_TAIL));
    return VIAL_OK;
}

int script_may_need_wrap(const char *source, size_t len)
{
    return len > 0 &&
           (memmem(source, len, "await", 5) != NULL || memmem(source, len, "return", 6) != NULL);
}

int script_wrap(const char *source, size_t len, struct buf *out, struct script_edits *edits,
    int *ret_wrapped, struct vial_error *err)
{
    struct grammar grammar;
    struct values values;
    size_t skip = hashbang_len(source, len);
    TSTree *tree = NULL;
    TSNode root;
    int found = 0;
    int r;

    if (len > SCRIPT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a script of %zu bytes is too long", len);
    }
    if (has_too_many_tokens(source, len)) {
        return vial__fail(err, VIAL_E_INVALID,
            "a script of more than %d words and signs cannot use await or return outside of "
            "functions",
            SCRIPT_TOKENS_MAX);
    }
    r = script_parse(source + skip, len - skip, &tree, err);
    if (r < 0) {
        return r;
    }
    root = ts_tree_root_node(tree);
    grammar_init(&grammar, ts_tree_language(tree));
    r = find_trigger(&grammar, root, len * SCRIPT_LEVELS_PER_BYTE + SCRIPT_LEVELS_MIN, &found, err);
    if (r == VIAL_OK && found) {
        find_values(&grammar, root, source + skip, &values);
        r = script_write(source, len, skip, &values, out, edits, err);
    }
    ts_tree_delete(tree);
    if (r < 0) {
        return r;
    }
    if (!found) {
        *edits = (struct script_edits){.count = 0};
    }
    *ret_wrapped = found;
    return VIAL_OK;
}

void script_map_back(const struct script_edits *edits, uint32_t *line, uint32_t *column)
{
    uint32_t removed = 0;

    if (edits->count == 0) {
        return;
    }
    if (*line > edits->line_count) {
        *line = edits->line_count;
        *column = edits->last_column_max;
    }
    for (uint32_t i = 0; i < edits->count; i++) {
        const struct edit *edit = &edits->items[i];

        if (edit->line == *line && edit->column < *column) {
            uint32_t into = *column - edit->column;

            removed += into < edit->len ? into : edit->len;
        }
    }
    *column -= removed;
}
