/* check_value.c - see check.h: numbers, strings, enum and const. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "schema/check.h"
#include "schema/show.h"

enum {
    ENUM_STEP = 8,          /* so many comparisons of short values are a step */
    SUGGEST_VALUES_MAX = 64 /* among so many values of an enum the nearest is looked for */
};

static int holds(enum rule_bound_kind kind, const struct number *n, const struct number *bound)
{
    int d = kind == BOUND_MULTIPLE ? 0 : number_compare(n, bound);

    switch (kind) {
    case BOUND_MIN:
        return d >= 0;
    case BOUND_MAX:
        return d <= 0;
    case BOUND_ABOVE:
        return d > 0;
    case BOUND_BELOW:
        return d < 0;
    case BOUND_MULTIPLE:
    case BOUND_COUNT:
    default:
        return number_is_multiple(n, bound);
    }
}

int check_number(struct check *c, const struct rule_number *number, uint32_t at)
{
    static const char *const words[] = {[BOUND_MIN] = "at least",
        [BOUND_MAX] = "at most",
        [BOUND_ABOVE] = "more than",
        [BOUND_BELOW] = "less than",
        [BOUND_MULTIPLE] = "a multiple of"};
    const struct tree_value *v = &c->t->values[at];
    const struct rule_bound *bound;
    struct show shown, limit;
    struct number n;
    int bad = 0, r;
    size_t i;

    number_read(&n, v->text, v->len);
    for (i = 0; i < BOUND_COUNT; i++) {
        bound = &number->bounds[i];
        if (bound->value == NULL || holds((enum rule_bound_kind)i, &n, &bound->number)) {
            continue;
        }
        r = check_problem(c, at, PROBLEM_OTHER, "must be %s %s, is %s", words[i],
            show_value(&limit, bound->value), show_value(&shown, v));
        if (check_done(c, r)) {
            return r;
        }
        bad = 1;
    }
    return bad;
}

/* Characters of UTF-8, not bytes. */
static uint32_t count_characters(const struct tree_value *v)
{
    uint32_t count = 0, i;

    for (i = 0; i < v->len; i++) {
        count += ((unsigned char)v->text[i] & 0xc0) != 0x80;
    }
    return count;
}

static int check_length(struct check *c, const struct rule_string *string, uint32_t at)
{
    const struct tree_value *v = &c->t->values[at];
    uint32_t count;

    if (string->count_min == 0 && v->len <= string->count_max) {
        return 0; /* there are not more characters than bytes */
    }
    count = count_characters(v);
    if (count < string->count_min) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at least %" PRIu32 " character%s, has %" PRIu32, string->count_min,
            string->count_min == 1 ? "" : "s", count);
    }
    if (count > string->count_max) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at most %" PRIu32 " character%s, has %" PRIu32, string->count_max,
            string->count_max == 1 ? "" : "s", count);
    }
    return 0;
}

int check_string(struct check *c, const struct rule_string *string, uint32_t at)
{
    const struct tree_value *v = &c->t->values[at];
    struct show shown, wanted;
    int bad, r;

    bad = check_length(c, string, at);
    if (check_done(c, bad)) {
        return bad;
    }
    if (string->format != NULL && !string->format->matches(v->text, v->len)) {
        r = check_problem(
            c, at, PROBLEM_OTHER, "must be %s, is %s", string->format->what, show_value(&shown, v));
        if (check_done(c, r)) {
            return r;
        }
        bad = 1;
    }
    if (string->pattern != NULL) {
        r = pattern_match(string->pattern, v->text, v->len, &c->work, c->err);
        if (r < 0) {
            return r;
        }
        if (r == 0) {
            r = check_problem(c, at, PROBLEM_OTHER, "must match the pattern %s, is %s",
                show_text(&wanted, string->pattern_text->text, string->pattern_text->len),
                show_value(&shown, v));
            return r;
        }
    }
    return bad;
}

/* A container is compared by the bytes that stand for it, which are made when the first candidate
 * asks for them. */
static int same_container(struct check *c, uint32_t at, const struct rule_value *candidate,
    struct buf *canonical, int *ret_r)
{
    if (c->t->values[at].count != candidate->value->count) {
        return 0;
    }
    if (canonical->len == 0) {
        *ret_r = check_charge(c, (c->t->values[at].next - at) / 4);
        if (*ret_r == VIAL_OK) {
            *ret_r = tree_canonical(c->t, at, canonical, c->err);
        }
        if (*ret_r < 0) {
            return 0;
        }
    }
    return canonical->len == candidate->canonical_len &&
           memcmp(canonical->data, candidate->canonical, canonical->len) == 0;
}

static int same_value(struct check *c, uint32_t at, const struct rule_value *candidate,
    struct buf *canonical, int *ret_r)
{
    const struct tree_value *v = &c->t->values[at], *w = candidate->value;
    struct number n;

    if (v->kind != w->kind) {
        return 0;
    }
    switch ((enum tree_kind)v->kind) {
    case TREE_STRING:
        return v->len == w->len && memcmp(v->text, w->text, v->len) == 0;
    case TREE_NUMBER:
        number_read(&n, v->text, v->len);
        return number_compare(&n, &candidate->number) == 0;
    case TREE_ARRAY:
    case TREE_OBJECT:
        return same_container(c, at, candidate, canonical, ret_r);
    case TREE_NULL:
    case TREE_FALSE:
    case TREE_TRUE:
    default:
        return 1;
    }
}

/* The value of an enum that a string is likely meant to be, as a message's end. */
static void suggest(
    const struct rule_values *values, const struct tree_value *v, char *out, size_t size)
{
    char texts[SUGGEST_VALUES_MAX][NEAR_BYTES_MAX + 1];
    const char *names[SUGGEST_VALUES_MAX];
    char word[NEAR_BYTES_MAX + 1];
    const struct tree_value *w;
    struct show shown;
    size_t count = 0, nearest;
    uint32_t i;

    out[0] = '\0';
    if (v->kind != TREE_STRING || v->len > NEAR_BYTES_MAX) {
        return;
    }
    memcpy(word, v->text, v->len);
    word[v->len] = '\0';
    for (i = 0; i < values->count && count < SUGGEST_VALUES_MAX; i++) {
        w = values->values[i].value;
        if (w->kind == TREE_STRING && w->len <= NEAR_BYTES_MAX) {
            memcpy(texts[count], w->text, w->len);
            texts[count][w->len] = '\0';
            names[count] = texts[count];
            count++;
        }
    }
    if (values->count > 1 && near_names(word, names, count, &nearest, 1) == 1) {
        (void)snprintf(out, size, "; did you mean %s?",
            show_text(&shown, names[nearest], strlen(names[nearest])));
    }
}

static int values_problem(struct check *c, const struct rule_values *values, uint32_t at)
{
    const struct tree_value *v = &c->t->values[at];
    char list[SCHEMA_MESSAGE_BYTES_MAX] = "", meant[128];
    struct problem *p;
    struct show shown;
    int r;

    if (c->problems == NULL || problems_full(c->problems)) {
        return 1;
    }
    problem_list_values(values, list, sizeof(list));
    suggest(values, v, meant, sizeof(meant));
    r = check_problem(c, at, PROBLEM_VALUE, "must be %s%s, is %s%s",
        values->count > 1 ? "one of " : "", list, show_value(&shown, v), meant);
    p = r < 0 ? NULL : problems_last(c->problems);
    if (p != NULL) {
        p->values = values;
    }
    return r;
}

int check_values(struct check *c, const struct rule_values *values, uint32_t at)
{
    int r = check_charge(c, values->count / ENUM_STEP);
    struct buf canonical;
    int found = 0;
    uint32_t i;

    buf_init(&canonical, TREE_BYTES_MAX);
    for (i = 0; r == VIAL_OK && !found && i < values->count; i++) {
        found = same_value(c, at, &values->values[i], &canonical, &r);
    }
    buf_release(&canonical);
    if (r < 0) {
        return r;
    }
    return found ? 0 : values_problem(c, values, at);
}
