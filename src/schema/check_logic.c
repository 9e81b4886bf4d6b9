/* check_logic.c - see check.h: allOf, anyOf, oneOf, not, if.
 *
 * When no alternative fits, a list of everything that is wrong with all of them helps nobody. The
 * closest one is reported: the one whose type fits, whose distinguishing constant fits, and that
 * has the least problems. When all of them fail by their types, or by the same constant, the
 * message lists what would do. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "schema/check.h"
#include "schema/show.h"

enum {
    COST_TYPE = 10000,    /* quite another kind of value */
    COST_CONSTANT = 1000, /* another one of its kind: {"kind":"circle"} */
    COST_NAME = 20,       /* a property that is missing or unknown */
    COST_OTHER = 10,
    MEMBERS_MAX = 64, /* among so many members a distinguishing one is looked for */
    UNION_MAX = 32,   /* so many alternatives are put together into one list */
};

/* What is known about all alternatives together. */
struct branches {
    unsigned types; /* allowed by any; all fail by type while all_types */
    int all_types;
    int all_values; /* all whose type fits fail by a constant of the same value */
    uint32_t values_at;
    const struct rule_values *values[UNION_MAX];
    uint32_t values_count;
    unsigned best_cost;
    uint32_t best_index;
    size_t best_count;
};

/* Is the value a member of the object at "of"? */
static int is_member(const struct tree *t, uint32_t of, uint32_t value)
{
    uint32_t i, count = 0;

    if (t->values[of].kind != TREE_OBJECT) {
        return 0;
    }
    for (i = tree_first(of); i != tree_end(t, of) && count < MEMBERS_MAX; count++) {
        if (i + 1 == value) {
            return 1;
        }
        i = tree_next(t, i + 1);
    }
    return 0;
}

static int distinguishes(const struct check *c, uint32_t at, const struct problem *p)
{
    return p->kind == PROBLEM_VALUE && (p->at == at || is_member(c->t, at, p->at));
}

static unsigned cost_of(const struct check *c, uint32_t at, const struct problem *p)
{
    if (p->kind == PROBLEM_TYPE && p->at == at) {
        return COST_TYPE;
    }
    if (distinguishes(c, at, p)) {
        return COST_CONSTANT;
    }
    return p->kind == PROBLEM_MISSING || p->kind == PROBLEM_UNKNOWN ? COST_NAME : COST_OTHER;
}

/* Takes the problems of one alternative, which are the last count on the stack, into account. */
static unsigned note_branch(struct check *c, struct branches *b, uint32_t at, size_t count)
{
    const struct problem *p = c->problems->list + c->problems->count - count;
    const struct problem *constant = NULL;
    unsigned cost = count == 0 ? UINT_MAX - 1 : 0;
    int by_type = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        cost += cost_of(c, at, &p[i]);
        if (p[i].kind == PROBLEM_TYPE && p[i].at == at && p[i].types != 0) {
            by_type = 1;
            b->types |= p[i].types;
        }
        if (constant == NULL && distinguishes(c, at, &p[i])) {
            constant = &p[i];
        }
    }
    b->all_types &= by_type;
    if (by_type) {
        return cost; /* null beside objects that a constant tells apart */
    }
    if (constant == NULL || b->values_count == UNION_MAX ||
        (b->values_count > 0 && constant->at != b->values_at)) {
        b->all_values = 0;
    } else {
        b->values_at = constant->at;
        b->values[b->values_count++] = constant->values;
    }
    return cost;
}

/* Tries one alternative and keeps its problems, which begin at start, when it is the closest. */
static int try_branch(struct check *c, const struct rule *rule, uint32_t index, uint32_t at,
    size_t start, struct branches *b)
{
    struct problems *p = c->problems;
    size_t scope = p->scope, count;
    unsigned cost;
    int r;

    p->scope = p->count;
    r = check_rule(c, rule, at);
    p->scope = scope;
    if (r <= 0) {
        return r;
    }
    count = p->count - (start + b->best_count);
    cost = note_branch(c, b, at, count);
    if (cost < b->best_cost) {
        if (count > 0) {
            memmove(p->list + start, p->list + start + b->best_count, count * sizeof(*p->list));
        }
        b->best_cost = cost;
        b->best_index = index;
        b->best_count = count;
    }
    p->count = start + b->best_count;
    return 1;
}

/* One problem in place of those of the closest alternative. */
static int say_together(struct check *c, const struct branches *b, uint32_t at)
{
    char text[SCHEMA_MESSAGE_BYTES_MAX] = "";
    struct show shown;
    struct problem *p;
    uint32_t i;
    int r;

    if (problems_full(c->problems)) {
        return 1;
    }
    if (b->all_types) {
        problem_say_types(b->types, &c->t->values[at], text, sizeof(text));
        r = check_problem(c, at, PROBLEM_TYPE, "%s", text);
        p = r < 0 ? NULL : problems_last(c->problems);
        if (p != NULL) {
            p->types = (unsigned char)b->types;
        }
        return r;
    }
    for (i = 0; i < b->values_count; i++) {
        problem_list_values(b->values[i], text, sizeof(text));
    }
    return check_problem(c, b->values_at, PROBLEM_OTHER, "must be one of %s, is %s", text,
        show_value(&shown, &c->t->values[b->values_at]));
}

/* None of the alternatives fits. */
static int say_closest(
    struct check *c, const struct branches *b, uint32_t count, uint32_t at, size_t start)
{
    struct problems *p = c->problems;
    size_t i, len;

    if (count > 1 && (b->all_types || (b->all_values && b->values_count > 1))) {
        p->count = start;
        return say_together(c, b, at);
    }
    if (p->count > p->scope + SCHEMA_PROBLEMS_MAX) {
        p->count = p->scope + SCHEMA_PROBLEMS_MAX;
    }
    for (i = start; count > 1 && i < p->count; i++) {
        len = strlen(p->list[i].message);
        (void)snprintf(p->list[i].message + len, sizeof(p->list[i].message) - len,
            " (alternative %" PRIu32 " of %" PRIu32 " is the closest)", b->best_index + 1, count);
    }
    return 1;
}

/* anyOf and oneOf when problems are wanted; max is how many alternatives may fit. */
static int explain_branches(
    struct check *c, const struct rule_list *list, uint32_t at, uint32_t max)
{
    struct branches b = {.all_types = 1, .all_values = 1, .best_cost = UINT_MAX};
    size_t start = c->problems->count;
    uint32_t i, fits = 0, first = 0;
    int r;

    for (i = 0; i < list->count; i++) {
        r = try_branch(c, list->rules[i], i, at, start, &b);
        if (r < 0) {
            return r;
        }
        if (r > 0) {
            continue;
        }
        fits++;
        if (fits > max) {
            c->problems->count = start;
            return check_problem(c, at, PROBLEM_OTHER,
                "must fit exactly one alternative, fits the alternatives %" PRIu32 " and %" PRIu32
                " of %" PRIu32,
                first, i + 1, list->count);
        }
        first = i + 1;
        if (max == UINT32_MAX) {
            break;
        }
    }
    if (fits > 0) {
        c->problems->count = start;
        return 0;
    }
    return say_closest(c, &b, list->count, at, start);
}

/* The same for the verdict alone. */
static int check_branches(struct check *c, const struct rule_list *list, uint32_t at, uint32_t max)
{
    uint32_t i, fits = 0;
    int r;

    if (c->problems != NULL) {
        return explain_branches(c, list, at, max);
    }
    for (i = 0; i < list->count; i++) {
        r = check_rule(c, list->rules[i], at);
        if (r < 0) {
            return r;
        }
        fits += r == 0;
        if (fits > max) {
            return 1;
        }
        if (fits > 0 && max == UINT32_MAX) {
            return 0;
        }
    }
    return fits == 0;
}

static int check_condition(struct check *c, const struct rule_logic *logic, uint32_t at)
{
    const struct rule *rule;
    int r = check_verdict(c, logic->condition, at);

    if (r < 0) {
        return r;
    }
    rule = r == 0 ? logic->then_rule : logic->else_rule;
    return rule == NULL ? 0 : check_rule(c, rule, at);
}

static int check_all(struct check *c, const struct rule_list *list, uint32_t at)
{
    int bad = 0, r;
    uint32_t i;

    for (i = 0; i < list->count; i++) {
        r = check_rule(c, list->rules[i], at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    return bad;
}

static int check_negated(struct check *c, const struct rule *negated, uint32_t at)
{
    char list[SCHEMA_MESSAGE_BYTES_MAX] = "";
    struct show shown;
    int r = check_verdict(c, negated, at);

    if (r != 0) {
        return r < 0 ? r : 0;
    }
    if (negated->values != NULL || negated->constant != NULL) {
        problem_list_values(
            negated->values != NULL ? negated->values : negated->constant, list, sizeof(list));
        return check_problem(c, at, PROBLEM_OTHER, "must not be %s, is %s", list,
            show_value(&shown, &c->t->values[at]));
    }
    if (negated->types != RULE_ANY) {
        return check_problem(c, at, PROBLEM_OTHER, "must not be %s as \"not\" describes",
            show_kind(&c->t->values[at]));
    }
    return check_problem(c, at, PROBLEM_OTHER, "must not be as \"not\" describes");
}

int check_logic(struct check *c, const struct rule_logic *logic, uint32_t at)
{
    int bad, r;

    bad = check_all(c, &logic->all, at);
    if (check_done(c, bad)) {
        return bad;
    }
    if (logic->any.count > 0) {
        r = check_branches(c, &logic->any, at, UINT32_MAX);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (logic->one.count > 0) {
        r = check_branches(c, &logic->one, at, 1);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (logic->negated != NULL) {
        r = check_negated(c, logic->negated, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (logic->condition != NULL) {
        r = check_condition(c, logic, at);
        return r < 0 ? r : bad | r;
    }
    return bad;
}
