/* check_array.c - see check.h: elements, their number, and whether they differ. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schema/check.h"

enum {
    PAIRWISE_MAX = 8, /* so few elements are not worth sorting */
    UNIQUE_STEP = 4,  /* so many values are brought into order in a step */
};

static int check_elements(struct check *c, const struct rule_array *array, uint32_t at)
{
    uint32_t i, index = 0, end = tree_end(c->t, at);
    const struct rule *rule;
    int bad = 0, r;

    if (array->prefix.count == 0 && array->items == NULL) {
        return 0;
    }
    for (i = tree_first(at); i != end; i = tree_next(c->t, i)) {
        rule = index < array->prefix.count ? array->prefix.rules[index] : array->items;
        index++;
        if (rule == NULL) {
            break;
        }
        r = check_rule(c, rule, i);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    return bad;
}

static int check_contains(struct check *c, const struct rule_array *array, uint32_t at)
{
    uint32_t i, count = 0, end = tree_end(c->t, at);
    int r;

    for (i = tree_first(at); i != end; i = tree_next(c->t, i)) {
        r = check_verdict(c, array->contains, i);
        if (r < 0) {
            return r;
        }
        count += r == 0;
        if (count >= array->contains_min && array->contains_max == RULE_COUNT_MAX) {
            return 0;
        }
    }
    if (count < array->contains_min) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at least %" PRIu32 " element%s as \"contains\" describes, has %" PRIu32,
            array->contains_min, array->contains_min == 1 ? "" : "s", count);
    }
    if (count > array->contains_max) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at most %" PRIu32 " element%s as \"contains\" describes, has %" PRIu32,
            array->contains_max, array->contains_max == 1 ? "" : "s", count);
    }
    return 0;
}

/* One element: the bytes that stand for it. */
struct element {
    const char *bytes;
    size_t offset; /* in the buffer of all, which moves while it grows */
    size_t len;
    uint32_t index;
};

static int compare_elements(const void *a, const void *b)
{
    const struct element *x = a, *y = b;
    int d = memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len);

    if (d == 0) {
        d = (x->len > y->len) - (x->len < y->len);
    }
    return d;
}

static int same_bytes(const struct element *a, const struct element *b)
{
    assert(a->bytes != NULL && b->bytes != NULL);
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Finds two equal elements; 1 with their indices, or 0. Sorting keeps a hundred thousand elements
 * from being compared each with each. */
static int find_equal(struct element *elements, uint32_t count, uint32_t ret[2])
{
    uint32_t i, k;

    if (count <= PAIRWISE_MAX) {
        for (i = 1; i < count; i++) {
            for (k = 0; k < i; k++) {
                if (same_bytes(&elements[i], &elements[k])) {
                    ret[0] = k;
                    ret[1] = i;
                    return 1;
                }
            }
        }
        return 0;
    }
    qsort(elements, count, sizeof(*elements), compare_elements);
    for (i = 1; i < count; i++) {
        if (same_bytes(&elements[i - 1], &elements[i])) {
            ret[0] = elements[i - 1].index;
            ret[1] = elements[i].index;
            if (ret[0] > ret[1]) {
                ret[0] = elements[i].index;
                ret[1] = elements[i - 1].index;
            }
            return 1;
        }
    }
    return 0;
}

static int fill_elements(
    struct check *c, uint32_t at, struct element *elements, struct buf *canonical)
{
    uint32_t i, k = 0, end = tree_end(c->t, at), count;
    int r;

    for (i = tree_first(at); i != end; i = tree_next(c->t, i)) {
        elements[k].index = k;
        elements[k].offset = canonical->len;
        r = tree_canonical(c->t, i, canonical, c->err);
        if (r < 0) {
            return r;
        }
        elements[k].len = canonical->len - elements[k].offset;
        k++;
    }
    count = k;
    for (k = 0; k < count; k++) {
        elements[k].bytes = canonical->data + elements[k].offset;
    }
    return VIAL_OK;
}

static int check_unique(struct check *c, uint32_t at)
{
    struct element some[PAIRWISE_MAX] = {{.len = 0}};
    struct element *elements = some;
    uint32_t count = c->t->values[at].count, equal[2];
    struct buf canonical;
    int r;

    if (count < 2) {
        return 0;
    }
    r = check_charge(c, (c->t->values[at].next - at) / UNIQUE_STEP);
    if (r < 0) {
        return r;
    }
    if (count > PAIRWISE_MAX) {
        elements = calloc(count, sizeof(*elements));
        if (elements == NULL) {
            return vial__fail(c->err, VIAL_E_NOMEM, "no memory to compare %u elements", count);
        }
    }
    /* Numbers are a little longer than they were, so that more than the text may be needed. */
    buf_init(&canonical, (size_t)TREE_BYTES_MAX * 4);
    r = fill_elements(c, at, elements, &canonical);
    if (r == VIAL_OK && find_equal(elements, count, equal)) {
        r = check_problem(c, at, PROBLEM_OTHER,
            "must have elements that all differ; those at %" PRIu32 " and %" PRIu32 " are equal",
            equal[0], equal[1]);
    }
    buf_release(&canonical);
    if (elements != some) {
        free(elements);
    }
    return r;
}

static int check_count(struct check *c, const struct rule_array *array, uint32_t at)
{
    uint32_t count = c->t->values[at].count;

    if (count < array->count_min) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at least %" PRIu32 " element%s, has %" PRIu32, array->count_min,
            array->count_min == 1 ? "" : "s", count);
    }
    if (count > array->count_max) {
        return check_problem(c, at, PROBLEM_OTHER,
            "must have at most %" PRIu32 " element%s, has %" PRIu32, array->count_max,
            array->count_max == 1 ? "" : "s", count);
    }
    return 0;
}

int check_array(struct check *c, const struct rule_array *array, uint32_t at)
{
    int bad, r;

    bad = check_count(c, array, at);
    if (check_done(c, bad)) {
        return bad;
    }
    r = check_elements(c, array, at);
    if (check_done(c, r)) {
        return r;
    }
    bad |= r;
    if (array->contains != NULL) {
        r = check_contains(c, array, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (array->unique) {
        r = check_unique(c, at);
        return r < 0 ? r : bad | r;
    }
    return bad;
}
