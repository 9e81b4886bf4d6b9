/* scanner.c - see scanner.h. */
#include "code/scanner.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/utf8.h"
#include "code/scanner_inside.h"

enum {
    /* Matches that a query may be in the middle of at once. Ours need less than twenty; when there
     * would be more, tree-sitter forgets the oldest, and the scan is incomplete. */
    STATES_MAX = 4096,
    /* Whole matches whose conditions are looked at, in one source. */
    MATCHES_MAX = 200 * 1000,
    /* Steps of a query, of a hundred nodes each: a source within the limits of syntax.h has some
     * twenty thousand of them. */
    QUERY_STEPS_MAX = 100 * 1000,
    /* And time for all of them: a step is slow when many matches are under way at once, as in
     * thousands of calls of what a call returned. */
    QUERY_MS_MAX = 1000,
    /* Levels of a tree. Tree-sitter counts those of matches in 16 bits and loses what is below. */
    LEVELS_MAX = 30 * 1000,
    LEVELS_PER_BYTE = 4, /* no source has more, see code_levels_max */
};

static const char INCOMPLETE_ID[] = "scan-incomplete";
static const char INCOMPLETE_ADVICE[] =
    "make the program shorter and less nested; data belongs into input or files";

/* Kinds of nodes with a return of their own, in all languages. */
static const char *const FUNCTIONS[] = {"function_declaration", "function_expression",
    "arrow_function", "generator_function", "generator_function_declaration", "method_definition",
    "class_static_block", "function_definition", "lambda"};

/* ---- rules ---- */

struct scanner *scanner_new(const TSLanguage *language, uint32_t languages)
{
    struct scanner *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }
    s->language = language;
    s->languages = languages;
    s->symbols_count = ts_language_symbol_count(language);
    s->is_function = calloc(s->symbols_count, 1);
    if (s->is_function == NULL) {
        free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->symbols_count; i++) {
        const char *name = ts_language_symbol_name(language, (TSSymbol)i);

        for (size_t k = 0; k < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); k++) {
            /* A keyword `lambda` is none. */
            if (strcmp(name, FUNCTIONS[k]) == 0 &&
                ts_language_symbol_type(language, (TSSymbol)i) == TSSymbolTypeRegular) {
                s->is_function[i] = 1;
            }
        }
    }
    return s;
}

static void file_free(struct rule_file *file)
{
    for (uint32_t i = 0; file->patterns != NULL && i < file->patterns_count; i++) {
        conditions_release(&file->patterns[i]);
    }
    if (file->query != NULL) {
        ts_query_delete(file->query);
    }
    free(file->patterns);
    free(file->rules);
    free(file);
}

void scanner_free(struct scanner *s)
{
    if (s == NULL) {
        return;
    }
    for (size_t i = 0; i < s->files_count; i++) {
        file_free(s->files[i]);
    }
    words_free(s->words);
    free(s->is_function);
    free(s);
}

static int refuse_query(const struct rule_file *file, const struct buf *text, uint32_t at,
    TSQueryError kind, struct vial_error *err)
{
    const char *why = kind == TSQueryErrorNodeType    ? "the grammar has no kind of node"
                      : kind == TSQueryErrorField     ? "the grammar has no field"
                      : kind == TSQueryErrorCapture   ? "the pattern has no capture"
                      : kind == TSQueryErrorStructure ? "this can never be found in a program: the "
                                                        "grammar has no such node at"
                                                      : "the query cannot be read at";
    size_t len = 0;

    while (at + len < text->len && len < 40 && text->data[at + len] != '\n') {
        len++;
    }
    return vial__fail(err, VIAL_E_INVALID, "%s, line %u: %s \"%.*s\"", file->name,
        rules_line(text->data, text->len, at), why, (int)len, text->data + at);
}

/* The capture that says what is reported. */
static int find_capture(struct rule_file *file)
{
    uint32_t count = ts_query_capture_count(file->query);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t len;
        const char *name = ts_query_capture_name_for_id(file->query, i, &len);

        if (len == 7 && memcmp(name, "finding", 7) == 0) {
            file->finding_capture = i;
            return 0;
        }
    }
    return -1;
}

static int asks_for_imports(const struct pattern *p)
{
    for (uint32_t i = 0; i < p->conditions_count; i++) {
        if (p->conditions[i].kind == CONDITION_MAY_IMPORT && !p->conditions[i].wanted) {
            return 1;
        }
    }
    return 0;
}

/* Each pattern with its rule and its conditions. */
static int read_patterns(
    const struct scanner *s, struct rule_file *file, const struct buf *text, struct vial_error *err)
{
    uint32_t count = ts_query_pattern_count(file->query);

    file->patterns = calloc((size_t)count + 1, sizeof(*file->patterns));
    if (file->patterns == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for rules");
    }
    file->patterns_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = ts_query_start_byte_for_pattern(file->query, i);
        struct rule *rule = rules_at(file, at);
        int r;

        assert(rule != NULL); /* what is before the first one is refused */
        rule->patterns_count++;
        file->patterns[i].rule = (uint32_t)(rule - file->rules);
        r = conditions_read(s, file->query, i, &file->patterns[i], err);
        if (r < 0) {
            return vial__wrap(
                err, r, "%s, line %u", file->name, rules_line(text->data, text->len, at));
        }
        rule->needs_imports = (rule->patterns_count == 1 || rule->needs_imports) &&
                              asks_for_imports(&file->patterns[i]);
        if (find_capture(file) < 0 || ts_query_capture_quantifier_for_id(file->query, i,
                                          file->finding_capture) != TSQuantifierOne) {
            return vial__fail(err, VIAL_E_INVALID,
                "%s, line %u: the pattern does not say by @finding, once, what is reported",
                file->name, rules_line(text->data, text->len, at));
        }
    }
    for (size_t i = 0; i < file->rules_count; i++) {
        const struct rule *rule = &file->rules[i];

        if (rule->patterns_count == 0 && rule->severity != SEVERITY_OFF &&
            (rule->languages & s->languages) != 0) {
            return vial__fail(err, VIAL_E_INVALID, "%s, line %u: the rule %s has no pattern",
                file->name, rule->line, rule->id);
        }
    }
    return VIAL_OK;
}

static int compile(struct scanner *s, struct rule_file *file, const char *text, size_t len,
    struct buf *query, struct vial_error *err)
{
    TSQueryError kind = TSQueryErrorNone;
    uint32_t at = 0;
    int r = rules_read(file, text, len, s->languages, query, err);

    if (r < 0) {
        return r;
    }
    if (s->rules_count + file->rules_count > SCANNER_RULES_MAX ||
        s->files_count == SCANNER_FILES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "%s, line 1: there may be up to %d rules in %d files", file->name, SCANNER_RULES_MAX,
            SCANNER_FILES_MAX);
    }
    r = rules_check_conditions(file, query->data, query->len, err);
    if (r < 0) {
        return r;
    }
    file->query = ts_query_new(
        s->language, query->len > 0 ? query->data : "", (uint32_t)query->len, &at, &kind);
    if (file->query == NULL) {
        return refuse_query(file, query, at, kind, err);
    }
    return read_patterns(s, file, query, err);
}

/* Rules of earlier files give way to those of the same id. */
static void replace_rules(struct scanner *s, const struct rule_file *file)
{
    for (size_t i = 0; i < s->files_count; i++) {
        for (size_t k = 0; k < s->files[i]->rules_count; k++) {
            for (size_t n = 0; n < file->rules_count; n++) {
                if (strcmp(s->files[i]->rules[k].id, file->rules[n].id) == 0) {
                    s->files[i]->rules[k].severity = SEVERITY_OFF;
                }
            }
        }
    }
}

int scanner_add(
    struct scanner *s, const char *name, const char *text, size_t len, struct vial_error *err)
{
    struct rule_file *file = calloc(1, sizeof(*file));
    struct buf query;
    int r;

    if (file == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for rules");
    }
    (void)snprintf(file->name, sizeof(file->name), "%s", name);
    buf_init(&query, SCANNER_RULES_BYTES_MAX);
    r = compile(s, file, text, len, &query, err);
    buf_release(&query);
    if (r < 0) {
        file_free(file);
        return r;
    }
    replace_rules(s, file);
    s->files[s->files_count++] = file;
    s->rules_count += file->rules_count;
    return words_make(s, err);
}

int scanner_places(const struct scanner *s, const char *text, size_t len, int has_imports,
    uint32_t *places, int max)
{
    return words_places(s->words, text, len, has_imports, places, max);
}

/* ---- findings ---- */

/* A place for a finding: a new one, or that of a lesser one; NULL when all are as grave. */
static struct finding *make_room(struct findings *f, uint32_t severity)
{
    struct finding *least = NULL;

    if (f->count < SCANNER_FINDINGS_MAX) {
        return &f->items[f->count++];
    }
    f->more_count += f->more_count < UINT32_MAX;
    for (size_t i = 0; i < f->count; i++) {
        if (f->items[i].severity < severity &&
            (least == NULL || f->items[i].severity < least->severity)) {
            least = &f->items[i];
        }
    }
    return least;
}

void findings_incomplete(struct findings *f, const char *name, size_t name_len, const char *why)
{
    struct finding *finding = make_room(f, SEVERITY_BLOCK + 1); /* this one is always there */

    f->incomplete_why = why;
    *finding = (struct finding){.id = INCOMPLETE_ID,
        .message = why,
        .advice = INCOMPLETE_ADVICE,
        .severity = SEVERITY_BLOCK,
        .line = 1,
        .column = 1,
        .source_name = name,
        .source_name_len = name_len};
}

static int is_known(
    const struct findings *f, const struct rule *rule, uint32_t at, const char *name)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->items[i].id == rule->id && f->items[i].at == at && f->items[i].source_name == name) {
            return 1;
        }
    }
    return 0;
}

/* The first line of a node's text, cut where a character ends; what is no text is a question mark.
 */
static void show(const struct scanner_source *source, uint32_t from, uint32_t to, int is_masked,
    char out[SCANNER_TEXT_BYTES_MAX + 1])
{
    static const char mask[] = "...";
    size_t max = is_masked ? 4 : SCANNER_TEXT_BYTES_MAX - sizeof(mask) + 1;
    size_t len = 0, at = from;

    while (at < to && source->text[at] != '\n' && source->text[at] != '\r') {
        int n = utf8_sequence(source->text + at, to - at);
        int is_plain = n > 0 && (unsigned char)source->text[at] >= 0x20 && source->text[at] != 0x7f;
        size_t wide = is_plain ? (size_t)n : 1;

        if (len + wide > max) {
            break;
        }
        memcpy(out + len, is_plain ? source->text + at : "?", wide);
        len += wide;
        at += n > 0 ? (size_t)n : (size_t)-n;
    }
    memcpy(out + len, at < to ? mask : "", at < to ? sizeof(mask) : 1);
}

/* Line and column of a byte; tree-sitter knows where its line begins. */
static void place_of(
    const struct scanner_source *source, TSNode node, uint32_t *ret_line, uint32_t *ret_column)
{
    TSPoint point = ts_node_start_point(node);
    uint32_t end = ts_node_start_byte(node);
    uint32_t column = 1;

    for (uint32_t i = end - point.column; i < end; i++) {
        unsigned char c = (unsigned char)source->text[i];

        column += (c & 0xc0) != 0x80 ? (c >= 0xf0 ? 2U : 1U) : 0U;
    }
    *ret_line = point.row + 1;
    *ret_column = column;
}

static void add_finding(
    struct findings *f, const struct rule *rule, TSNode node, const struct scanner_source *source)
{
    struct finding *finding;
    uint32_t at = ts_node_start_byte(node);
    uint32_t end = ts_node_end_byte(node);

    if (is_known(f, rule, at, source->name) || end > source->len) {
        return;
    }
    finding = make_room(f, rule->severity);
    if (finding == NULL) {
        return;
    }
    *finding = (struct finding){.id = rule->id,
        .message = rule->message,
        .advice = rule->advice,
        .severity = rule->severity,
        .at = at,
        .source_name = source->name,
        .source_name_len = source->name_len};
    place_of(source, node, &finding->line, &finding->column);
    show(source, at, end, rule->is_masked, finding->text);
}

static int compare(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;

    if (x->source_name != y->source_name) {
        return (x->source_name > y->source_name) - (x->source_name < y->source_name);
    }
    return x->at != y->at ? (x->at > y->at) - (x->at < y->at) : strcmp(x->id, y->id);
}

void findings_sort(struct findings *f)
{
    qsort(f->items, f->count, sizeof(f->items[0]), compare);
}

/* ---- scanning ---- */

struct progress {
    uint64_t steps; /* left */
    uint64_t until_us;
};

static bool is_enough(TSQueryCursorState *state)
{
    struct progress *p = state->payload;

    p->steps = p->steps > 0 && clock_now_us() < p->until_us ? p->steps - 1 : 0;
    return p->steps == 0;
}

/* Has the tree more levels than a query can count? */
static int is_too_deep(TSNode root, size_t len)
{
    TSTreeCursor cursor;
    uint32_t level = 0;
    int more = 1;

    if (len < LEVELS_MAX / LEVELS_PER_BYTE) {
        return 0;
    }
    cursor = ts_tree_cursor_new(root);
    while (more && level < LEVELS_MAX) {
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            level++;
            continue;
        }
        while (more && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            more = ts_tree_cursor_goto_parent(&cursor);
            level--;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return level >= LEVELS_MAX && more;
}

/* Holds one file of rules against a source, or a piece of it. NULL, or why that was not done to the
 * end. */
static const char *scan_piece(const struct rule_file *file, TSQueryCursor *cursor,
    struct looking *l, uint32_t *matches, struct findings *findings)
{
    struct progress progress = {
        .steps = QUERY_STEPS_MAX, .until_us = clock_now_us() + (uint64_t)QUERY_MS_MAX * 1000};
    TSQueryCursorOptions options = {.payload = &progress, .progress_callback = is_enough};
    TSQueryMatch match;

    ts_query_cursor_exec_with_options(cursor, file->query, l->root, &options);
    while (ts_query_cursor_next_match(cursor, &match)) {
        const struct pattern *pattern = &file->patterns[match.pattern_index];
        const struct rule *rule = &file->rules[pattern->rule];

        if ((*matches)++ == MATCHES_MAX) {
            return "the program has more places that rules are about than are looked at";
        }
        if (rule->severity == SEVERITY_OFF || (rule->languages & l->source->language) == 0 ||
            !conditions_hold(pattern, &match, l)) {
            continue;
        }
        for (uint16_t i = 0; i < match.capture_count; i++) {
            if (match.captures[i].index == file->finding_capture) {
                add_finding(findings, rule, match.captures[i].node, l->source);
            }
        }
    }
    if (progress.steps == 0 || l->steps == 0) {
        return "the program takes more steps to scan than are made for one";
    }
    return ts_query_cursor_did_exceed_match_limit(cursor)
               ? "the program has more that is like what rules are about than can be followed at "
                 "once"
               : NULL;
}

static const char *scan_file(const struct rule_file *file, TSQueryCursor *cursor, struct looking *l,
    uint32_t *matches, struct findings *findings)
{
    const struct scanner_source *source = l->source;
    const char *why = NULL;

    if (source->pieces_count == 0) {
        return scan_piece(file, cursor, l, matches, findings);
    }
    for (uint32_t i = 0; i < source->pieces_count && why == NULL; i++) {
        (void)ts_query_cursor_set_byte_range(
            cursor, source->pieces[i].start_byte, source->pieces[i].end_byte);
        why = scan_piece(file, cursor, l, matches, findings);
    }
    return why;
}

void scanner_scan(
    struct scanner *s, TSNode root, const struct scanner_source *source, struct findings *findings)
{
    struct looking l = {.scanner = s, .source = source, .root = root, .steps = SCANNER_STEPS_MAX};
    TSQueryCursor *cursor = ts_query_cursor_new();
    const char *why = is_too_deep(root, source->len)
                          ? "the program is nested more deeply than can be followed"
                          : NULL;
    uint32_t matches = 0;

    ts_query_cursor_set_match_limit(cursor, STATES_MAX);
    for (size_t i = 0; i < s->files_count && why == NULL; i++) {
        why = scan_file(s->files[i], cursor, &l, &matches, findings);
    }
    ts_query_cursor_delete(cursor);
    if (why != NULL) {
        findings_incomplete(findings, source->name, source->name_len, why);
    }
}
