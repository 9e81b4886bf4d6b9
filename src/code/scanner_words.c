/* scanner_words.c - is there anything in a source that any rule could be about?
 *
 * Reading a source takes most of a scan, and in most sources there is nothing to find. What a rule
 * finds has words in it: those that its header names, or those that its conditions compare with. A
 * source that has none of the words of any rule is not read at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/scanner_inside.h"

enum { WORD_BYTES_MIN = 2, PAIRS = 65536, NO_WORD = UINT16_MAX };

struct word {
    const char *text; /* in a rule's header or in a query */
    uint32_t len;
    uint16_t next;         /* that begins with the same two bytes, or NO_WORD */
    uint8_t needs_imports; /* it counts only where imports are restricted */
};

struct word_table {
    struct word items[SCANNER_ALL_WORDS_MAX];
    uint32_t count;
    int is_anything;          /* a rule could be about any source */
    uint8_t pairs[PAIRS / 8]; /* bit set: a word begins with these two bytes */
    uint16_t first[PAIRS];
};

static uint32_t pair_of(const char *text)
{
    return (uint32_t)(unsigned char)text[0] << 8 | (unsigned char)text[1];
}

static void add_word(struct word_table *t, const char *text, size_t len, int needs_imports)
{
    uint32_t pair;

    if (len < WORD_BYTES_MIN || t->count == SCANNER_ALL_WORDS_MAX) {
        t->is_anything = 1;
        return;
    }
    pair = pair_of(text);
    t->items[t->count] = (struct word){.text = text,
        .len = (uint32_t)len,
        .next = (t->pairs[pair / 8] >> (pair % 8)) & 1 ? t->first[pair] : (uint16_t)NO_WORD,
        .needs_imports = (uint8_t)needs_imports};
    t->first[pair] = (uint16_t)t->count++;
    t->pairs[pair / 8] = (uint8_t)(t->pairs[pair / 8] | 1U << (pair % 8));
}

/* Makes spaces of the `\s` of a word, in its place; its new length. */
static size_t unescape(char *word, size_t len)
{
    size_t to = 0;

    for (size_t from = 0; from < len; from++) {
        int is_space = word[from] == '\\' && from + 1 < len && word[from + 1] == 's';

        word[to++] = (char)(is_space ? ' ' : word[from]);
        from += is_space ? 1 : 0;
    }
    return to;
}

/* The words of a header, with spaces between them. */
static void add_named(struct word_table *t, struct rule *rule)
{
    char *at = rule->words;

    (void)snprintf(rule->words, sizeof(rule->words), "%s", rule->needs);
    while (*at != '\0') {
        size_t len = strcspn(at, " ");

        if (len > 0) {
            /* What is behind a word is read before the word is made shorter. */
            char *next = at + len;

            add_word(t, at, unescape(at, len), rule->needs_imports);
            at = next;
        }
        at += strspn(at, " ");
    }
}

/* The condition of a pattern that has the longest words, one of which must be there; or NULL. */
static const struct condition *telling(const struct rule_file *file, uint32_t index)
{
    const struct pattern *p = &file->patterns[index];
    const struct condition *best = NULL;
    uint32_t best_len = 0;

    for (uint32_t i = 0; i < p->conditions_count; i++) {
        const struct condition *c = &p->conditions[i];
        TSQuantifier q = ts_query_capture_quantifier_for_id(file->query, index, c->capture);
        uint32_t len = UINT32_MAX;

        if (!c->wanted || (c->kind != CONDITION_EQ && c->kind != CONDITION_ANY_OF) ||
            c->other_capture >= 0 || (q != TSQuantifierOne && q != TSQuantifierOneOrMore)) {
            continue;
        }
        for (uint32_t k = 0; k < c->words_count; k++) {
            len = c->lengths[k] < len ? c->lengths[k] : len;
        }
        if (len > best_len) {
            best = c;
            best_len = len;
        }
    }
    return best;
}

static void add_file(struct word_table *t, struct rule_file *file)
{
    for (uint32_t i = 0; i < file->patterns_count; i++) {
        const struct rule *rule = &file->rules[file->patterns[i].rule];
        const struct condition *c;

        if (rule->severity == SEVERITY_OFF || rule->needs[0] != '\0') {
            continue;
        }
        c = telling(file, i);
        if (c == NULL) {
            t->is_anything = 1;
            return;
        }
        for (uint32_t k = 0; k < c->words_count; k++) {
            add_word(t, c->words[k], c->lengths[k], 0);
        }
    }
    for (size_t i = 0; i < file->rules_count; i++) {
        if (file->rules[i].severity != SEVERITY_OFF && file->rules[i].patterns_count > 0) {
            add_named(t, &file->rules[i]);
        }
    }
}

int words_make(struct scanner *s, struct vial_error *err)
{
    struct word_table *t = calloc(1, sizeof(*t));

    if (t == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for rules");
    }
    for (size_t i = 0; i < s->files_count; i++) {
        add_file(t, s->files[i]);
    }
    words_free(s->words);
    s->words = t;
    return VIAL_OK;
}

void words_free(struct word_table *t)
{
    free(t);
}

/* Does one of the words that begin with these two bytes begin here? */
static int is_word(
    const struct word_table *t, uint32_t pair, const char *text, size_t len, int has_imports)
{
    for (uint16_t k = t->first[pair]; k != NO_WORD; k = t->items[k].next) {
        const struct word *w = &t->items[k];

        if (w->len <= len && memcmp(w->text, text, w->len) == 0 &&
            (!w->needs_imports || has_imports)) {
            return 1;
        }
    }
    return 0;
}

int words_places(const struct word_table *t, const char *text, size_t len, int has_imports,
    uint32_t *places, int max)
{
    int count = 0;

    if (t->is_anything) {
        return -1;
    }
    for (size_t i = 0; i + 1 < len; i++) {
        uint32_t pair = pair_of(text + i);

        if (((t->pairs[pair / 8] >> (pair % 8)) & 1) == 0) {
            continue;
        }
        if (!is_word(t, pair, text + i, len - i, has_imports)) {
            continue;
        }
        if (count == max) {
            return -1;
        }
        places[count++] = (uint32_t)i;
    }
    return count;
}
