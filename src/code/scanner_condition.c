/* scanner_condition.c - conditions of rules on the nodes that a query has found; see
 * scanner_inside.h. Tree-sitter only reads them; holding them against a source is ours.
 *
 * Regular expressions are those of POSIX, matched by the C library's automaton. Its one way into
 * exponential time, references back to a group, is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/scanner_inside.h"

enum {
    /* What a regular expression and a count of bytes look at: no name and no key is longer. */
    LOOK_BYTES_MAX = 4096,
    NUMBER_MAX = 100000,
    REASON_BYTES_MAX = 120,
};

struct kind_row {
    const char *name;
    int kind, wanted;
};

static const struct kind_row KINDS[] = {
    {"eq?", CONDITION_EQ, 1},
    {"not-eq?", CONDITION_EQ, 0},
    {"any-of?", CONDITION_ANY_OF, 1},
    {"not-any-of?", CONDITION_ANY_OF, 0},
    {"match?", CONDITION_MATCH, 1},
    {"not-match?", CONDITION_MATCH, 0},
    {"has?", CONDITION_HAS, 1},
    {"lacks?", CONDITION_HAS, 0},
    {"inside?", CONDITION_INSIDE, 1},
    {"not-inside?", CONDITION_INSIDE, 0},
    {"min-length?", CONDITION_MIN_LENGTH, 1},
    {"min-entropy?", CONDITION_MIN_ENTROPY, 1},
    {"not-allowed-import?", CONDITION_MAY_IMPORT, 0},
};

/* ---- reading ---- */

static const struct kind_row *kind_of(const char *name, uint32_t len)
{
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (strlen(KINDS[i].name) == len && memcmp(KINDS[i].name, name, len) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

/* Digits as a number; -1 when they are none, or too many. */
static int64_t number_of(const char *text, uint32_t len)
{
    int64_t v = 0;

    for (uint32_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || v > NUMBER_MAX) {
            return -1;
        }
        v = 10 * v + (text[i] - '0');
    }
    return len > 0 && v <= NUMBER_MAX ? v : -1;
}

static int compile_regex(struct condition *c, struct vial_error *err)
{
    const char *text = c->words[0];
    char reason[REASON_BYTES_MAX];
    int r;

    for (size_t i = 0; text[i] != '\0'; i++) {
        if (text[i] == '\\' && text[i + 1] >= '1' && text[i + 1] <= '9') {
            return vial__fail(
                err, VIAL_E_INVALID, "an expression may not refer back to a group: %.100s", text);
        }
        i += text[i] == '\\' && text[i + 1] != '\0';
    }
    if (strlen(text) != c->lengths[0]) {
        return vial__fail(err, VIAL_E_INVALID, "an expression may not have a NUL");
    }
    r = regcomp(&c->regex, text, REG_EXTENDED | REG_NOSUB);
    if (r != 0) {
        (void)regerror(r, &c->regex, reason, sizeof(reason));
        return vial__fail(
            err, VIAL_E_INVALID, "the expression %.100s cannot be read: %s", text, reason);
    }
    c->has_regex = 1;
    return VIAL_OK;
}

/* The kinds of nodes that words name. */
static int find_symbols(const struct scanner *s, struct condition *c, struct vial_error *err)
{
    c->symbols = calloc(c->words_count, sizeof(*c->symbols));
    if (c->symbols == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a rule");
    }
    for (uint32_t i = 0; i < c->words_count; i++) {
        c->symbols[i] = ts_language_symbol_for_name(s->language, c->words[i], c->lengths[i], true);
        if (c->symbols[i] == 0) {
            return vial__fail(
                err, VIAL_E_INVALID, "there is no kind of node \"%.100s\"", c->words[i]);
        }
    }
    return VIAL_OK;
}

/* With all words there: are they what the condition needs? */
static int settle(
    const struct scanner *s, struct condition *c, const char *name, struct vial_error *err)
{
    int wants_number = c->kind == CONDITION_MIN_LENGTH || c->kind == CONDITION_MIN_ENTROPY;
    int64_t number;
    int fits = c->kind == CONDITION_MAY_IMPORT ? c->words_count == 0
               : c->kind == CONDITION_EQ       ? (c->words_count == 1) != (c->other_capture >= 0)
               : c->kind == CONDITION_MATCH || wants_number ? c->words_count == 1
                                                            : c->words_count > 0;

    if (!fits || (c->kind != CONDITION_EQ && c->other_capture >= 0)) {
        return vial__fail(err, VIAL_E_INVALID, "#%s does not take these words", name);
    }
    if (wants_number) {
        number = number_of(c->words[0], c->lengths[0]);
        if (number < 0) {
            return vial__fail(err, VIAL_E_INVALID, "#%s takes a number", name);
        }
        c->number = (uint32_t)number;
    }
    if (c->kind == CONDITION_MATCH) {
        return compile_regex(c, err);
    }
    return c->kind == CONDITION_HAS || c->kind == CONDITION_INSIDE ? find_symbols(s, c, err)
                                                                   : VIAL_OK;
}

/* One predicate: count steps from its name on. */
static int read_one(const struct scanner *s, const TSQuery *query,
    const TSQueryPredicateStep *steps, uint32_t count, struct condition *c, struct vial_error *err)
{
    const struct kind_row *row = NULL;
    const char *name = "";
    uint32_t len = 0;

    if (steps[0].type == TSQueryPredicateStepTypeString) {
        name = ts_query_string_value_for_id(query, steps[0].value_id, &len);
        row = kind_of(name, len);
    }
    if (row == NULL) {
        return vial__fail(err, VIAL_E_INVALID,
            "there is no condition #%.60s; docs/scanner.md lists those that there are", name);
    }
    if (count < 2 || steps[1].type != TSQueryPredicateStepTypeCapture ||
        count - 2 > SCANNER_WORDS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "#%s needs a capture, and at most %d words", name,
            SCANNER_WORDS_MAX);
    }
    *c = (struct condition){.kind = row->kind,
        .wanted = row->wanted,
        .capture = steps[1].value_id,
        .other_capture = -1};
    c->words = calloc(count, sizeof(*c->words));
    c->lengths = calloc(count, sizeof(*c->lengths));
    if (c->words == NULL || c->lengths == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a rule");
    }
    for (uint32_t i = 2; i < count; i++) {
        if (steps[i].type == TSQueryPredicateStepTypeCapture) {
            c->other_capture = steps[i].value_id;
        } else {
            c->words[c->words_count] =
                ts_query_string_value_for_id(query, steps[i].value_id, &c->lengths[c->words_count]);
            c->words_count++;
        }
    }
    return settle(s, c, name, err);
}

int conditions_read(const struct scanner *s, const TSQuery *query, uint32_t index,
    struct pattern *ret, struct vial_error *err)
{
    uint32_t count = 0;
    const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(query, index, &count);
    uint32_t from = 0;
    int r = VIAL_OK;

    ret->conditions = calloc(SCANNER_CONDITIONS_MAX, sizeof(*ret->conditions));
    if (ret->conditions == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a rule");
    }
    for (uint32_t i = 0; i < count && r == VIAL_OK; i++) {
        if (steps[i].type != TSQueryPredicateStepTypeDone) {
            continue;
        }
        if (ret->conditions_count == SCANNER_CONDITIONS_MAX) {
            return vial__fail(err, VIAL_E_INVALID, "a pattern may have up to %d conditions",
                SCANNER_CONDITIONS_MAX);
        }
        r = read_one(
            s, query, steps + from, i - from, &ret->conditions[ret->conditions_count++], err);
        from = i + 1;
    }
    return r;
}

void conditions_release(struct pattern *pattern)
{
    for (uint32_t i = 0; i < pattern->conditions_count; i++) {
        struct condition *c = &pattern->conditions[i];

        free(c->words);
        free(c->lengths);
        free(c->symbols);
        if (c->has_regex) {
            regfree(&c->regex);
        }
    }
    free(pattern->conditions);
}

/* ---- holding them against nodes ---- */

/* The text of a node, as far as it is looked at. */
static const char *text_of(const struct looking *l, TSNode node, size_t *ret_len)
{
    uint32_t start = ts_node_start_byte(node);
    uint32_t end = ts_node_end_byte(node);

    if (end > l->source->len || start > end) {
        *ret_len = 0;
        return "";
    }
    *ret_len = end - start;
    return l->source->text + start;
}

static int is_one_of(TSNode node, const struct condition *c)
{
    TSSymbol symbol = ts_node_symbol(node);

    for (uint32_t i = 0; i < c->words_count; i++) {
        if (c->symbols[i] == symbol) {
            return 1;
        }
    }
    return 0;
}

static int is_function(const struct looking *l, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);

    return symbol < l->scanner->symbols_count && l->scanner->is_function[symbol];
}

/* Is there one inside? What is in a function in it does not count. */
static int has(struct looking *l, TSNode node, const struct condition *c)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    int found = 0;
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more && !found && l->steps > 0) {
        TSNode here = ts_tree_cursor_current_node(&cursor);

        l->steps--;
        found = is_one_of(here, c);
        if (!is_function(l, here) && ts_tree_cursor_goto_first_child(&cursor)) {
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (!ts_tree_cursor_goto_parent(&cursor) ||
                ts_node_eq(ts_tree_cursor_current_node(&cursor), node)) {
                more = 0;
                break;
            }
        }
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* Is it inside of one, with no function between? Goes down from the root: asking a node for its
 * parent does the same for every level. */
static int inside(struct looking *l, TSNode node, const struct condition *c)
{
    TSTreeCursor cursor = ts_tree_cursor_new(l->root);
    uint32_t start = ts_node_start_byte(node);
    uint32_t end = ts_node_end_byte(node);
    int found = 0;

    for (;;) {
        TSNode here = ts_tree_cursor_current_node(&cursor);

        if (ts_node_eq(here, node) || l->steps == 0) {
            break;
        }
        l->steps--;
        found = is_one_of(here, c) || (found && !is_function(l, here));
        if (!ts_tree_cursor_goto_first_child(&cursor)) {
            break;
        }
        /* The child that reaches as far as the node does. */
        while (ts_node_end_byte(ts_tree_cursor_current_node(&cursor)) < end && l->steps > 0) {
            l->steps--;
            if (!ts_tree_cursor_goto_next_sibling(&cursor)) {
                break;
            }
        }
        if (ts_node_start_byte(ts_tree_cursor_current_node(&cursor)) > start) {
            break;
        }
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* How much each byte says, in tenths of a bit, judged by how often each comes. */
static uint32_t entropy_of(const char *text, size_t len)
{
    uint32_t counts[256] = {0};
    double bits = 0;

    if (len == 0) {
        return 0;
    }
    for (size_t i = 0; i < len; i++) {
        counts[(unsigned char)text[i]]++;
    }
    for (size_t i = 0; i < 256; i++) {
        if (counts[i] > 0) {
            double share = (double)counts[i] / (double)len;

            bits -= share * log2(share);
        }
    }
    return (uint32_t)(10 * bits);
}

static int matches(const struct condition *c, const char *text, size_t len)
{
    regmatch_t range = {
        .rm_so = 0, .rm_eo = (regoff_t)(len < LOOK_BYTES_MAX ? len : LOOK_BYTES_MAX)};

    return regexec(&c->regex, text, 1, &range, REG_STARTEND) == 0;
}

static int is_among(const struct condition *c, const char *text, size_t len)
{
    for (uint32_t i = 0; i < c->words_count; i++) {
        if (c->lengths[i] == len && memcmp(c->words[i], text, len) == 0) {
            return 1;
        }
    }
    return 0;
}

static int equals_capture(struct looking *l, const struct condition *c, const TSQueryMatch *match,
    const char *text, size_t len)
{
    for (uint16_t i = 0; i < match->capture_count; i++) {
        size_t other_len = 0;
        const char *other;

        if (match->captures[i].index == c->other_capture) {
            other = text_of(l, match->captures[i].node, &other_len);
            return other_len == len && memcmp(other, text, len) == 0;
        }
    }
    return 0;
}

static int holds_for(
    const struct condition *c, const TSQueryMatch *match, TSNode node, struct looking *l)
{
    size_t len;
    const char *text = text_of(l, node, &len);

    switch (c->kind) {
    case CONDITION_EQ:
        return c->other_capture >= 0 ? equals_capture(l, c, match, text, len)
                                     : is_among(c, text, len);
    case CONDITION_ANY_OF:
        return is_among(c, text, len);
    case CONDITION_MATCH:
        return matches(c, text, len);
    case CONDITION_HAS:
        return has(l, node, c);
    case CONDITION_INSIDE:
        return inside(l, node, c);
    case CONDITION_MIN_LENGTH:
        return len >= c->number;
    case CONDITION_MIN_ENTROPY:
        return entropy_of(text, len < LOOK_BYTES_MAX ? len : LOOK_BYTES_MAX) >= c->number;
    default: /* CONDITION_MAY_IMPORT */
        return l->source->may_import == NULL || l->source->may_import(text, len, l->source->user);
    }
}

int conditions_hold(const struct pattern *pattern, const TSQueryMatch *match, struct looking *l)
{
    for (uint32_t i = 0; i < pattern->conditions_count; i++) {
        const struct condition *c = &pattern->conditions[i];

        for (uint16_t k = 0; k < match->capture_count; k++) {
            if (match->captures[k].index == c->capture &&
                holds_for(c, match, match->captures[k].node, l) != c->wanted) {
                return 0;
            }
        }
    }
    return 1;
}
