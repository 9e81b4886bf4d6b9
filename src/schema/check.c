/* check.c - see schema.h and check.h: one value against one rule, and schema_check.
 *
 * A value is checked twice at most: once for the verdict, which nearly always is "valid" and has to
 * be quick, and, when it is not, once more to find out what to say. */
#include "schema/check.h"

#include "base/error.h"
#include "schema/schema.h"

int check_charge(struct check *c, uint64_t steps)
{
    c->steps_left -= (int64_t)steps;
    if (c->steps_left < 0) {
        return vial__fail(
            c->err, VIAL_E_INVALID, "to check this value against its schema takes too much work");
    }
    return VIAL_OK;
}

static int has_type(unsigned types, const struct tree_value *v)
{
    struct number n;

    if ((types & rule_type_of(v)) != 0) {
        return 1;
    }
    if (v->kind != TREE_NUMBER || (types & RULE_INTEGER) == 0) {
        return 0;
    }
    number_read(&n, v->text, v->len);
    return number_is_whole(&n);
}

static int type_problem(struct check *c, const struct rule *rule, uint32_t at)
{
    char message[SCHEMA_MESSAGE_BYTES_MAX];
    struct problem *p;
    int r;

    if (c->problems == NULL || problems_full(c->problems)) {
        return 1;
    }
    problem_say_types(rule->types, &c->t->values[at], message, sizeof(message));
    r = check_problem(c, at, PROBLEM_TYPE, "%s", message);
    p = r < 0 ? NULL : problems_last(c->problems);
    if (p != NULL) {
        p->types = rule->types;
    }
    return r;
}

/* What a rule says about the kind of value that this is. */
static int check_kind(struct check *c, const struct rule *rule, uint32_t at)
{
    switch ((enum tree_kind)c->t->values[at].kind) {
    case TREE_OBJECT:
        return rule->object == NULL ? 0 : check_object(c, rule->object, at);
    case TREE_ARRAY:
        return rule->array == NULL ? 0 : check_array(c, rule->array, at);
    case TREE_STRING:
        return rule->string == NULL ? 0 : check_string(c, rule->string, at);
    case TREE_NUMBER:
        return rule->number == NULL ? 0 : check_number(c, rule->number, at);
    case TREE_NULL:
    case TREE_FALSE:
    case TREE_TRUE:
    default:
        return 0;
    }
}

static int check_parts(struct check *c, const struct rule *rule, uint32_t at)
{
    int bad = 0, r;

    if (rule->values != NULL) {
        r = check_values(c, rule->values, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (rule->constant != NULL) {
        r = check_values(c, rule->constant, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    r = check_kind(c, rule, at);
    if (check_done(c, r)) {
        return r;
    }
    bad |= r;
    if (rule->logic != NULL) {
        r = check_logic(c, rule->logic, at);
        if (check_done(c, r)) {
            return r;
        }
        bad |= r;
    }
    if (rule->ref != NULL) {
        r = check_rule(c, rule->ref, at);
        return r < 0 ? r : bad | r;
    }
    return bad;
}

/* Recurses: as deep as values nest, times the rules that apply to one value inside each other. Both
 * are bounded, and so is the product. */
int check_rule(struct check *c, const struct rule *rule, uint32_t at)
{
    int r = check_charge(c, 1);

    if (r < 0) {
        return r;
    }
    if (c->depth == CHECK_DEPTH_MAX) {
        return vial__fail(
            c->err, VIAL_E_INVALID, "this value nests too deeply to be checked against its schema");
    }
    if (rule->is_false) {
        return check_problem(c, at, PROBLEM_TYPE, "is not allowed here");
    }
    if (!has_type(rule->types, &c->t->values[at])) {
        return type_problem(c, rule, at); /* what else it says is about other values */
    }
    c->depth++;
    r = check_parts(c, rule, at);
    c->depth--;
    return r;
}

int check_verdict(struct check *c, const struct rule *rule, uint32_t at)
{
    struct problems *problems = c->problems;
    int r;

    c->problems = NULL;
    r = check_rule(c, rule, at);
    c->problems = problems;
    return r;
}

/* Finds out what to say about a value that is not valid. */
static int explain(
    struct check *c, const struct schema *schema, struct buf *report, struct vial_error *err)
{
    struct problems problems = {.list = NULL};
    int r;

    c->problems = &problems;
    r = check_rule(c, schema->root, 0);
    if (r >= 0) {
        r = problems_report(&problems, c->t, report, err);
        r = r < 0 ? r : 1;
    }
    c->problems = NULL;
    problems_release(&problems);
    return r;
}

int schema_check(const struct schema *schema, const char *json, size_t len, struct buf *report,
    struct vial_error *err)
{
    struct tree t;
    struct check c = {.t = &t, .err = err};
    int64_t steps;
    int r;

    r = tree_read(&t, json, len, err);
    if (r < 0) {
        return r;
    }
    steps = CHECK_STEPS + (int64_t)t.count * CHECK_STEPS_PER_VALUE;
    c.steps_left = steps;
    r = check_rule(&c, schema->root, 0);
    if (r == 1 && report != NULL) {
        c.steps_left = steps;
        r = explain(&c, schema, report, err);
    }
    pattern_work_release(&c.work);
    tree_release(&t);
    return r;
}
