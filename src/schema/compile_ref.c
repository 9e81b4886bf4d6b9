/* compile_ref.c - see compile.h: where references lead, and whether they lead in circles.
 *
 * A reference through "properties" or "items" goes one level down in the value, so that it ends
 * where the value does. One through allOf, anyOf, not and the like stays at the same value: such a
 * circle would never end, and no value could ever be valid or not by it. */
#include <stdlib.h>
#include <string.h>

#include "schema/compile.h"
#include "schema/schema.h"
#include "schema/show.h"

/* Notes the values that call themselves something: one pass, however many references there are. */
static int list_anchors(struct compile *c)
{
    const struct tree *t = &c->schema->tree;
    uint32_t i;

    if (c->anchors != NULL) {
        return VIAL_OK;
    }
    c->anchors = calloc(t->count, sizeof(*c->anchors));
    if (c->anchors == NULL) {
        return compile_no_memory(c);
    }
    for (i = 0; i < t->count; i++) {
        if (tree_member(t, i, "$anchor") != 0 || tree_member(t, i, "$id") != 0) {
            c->anchors[c->anchors_count++] = i;
        }
    }
    return VIAL_OK;
}

/* The schema that calls itself by this name, with $anchor or, as draft 07 has it, $id "#name"; or
 * UINT32_MAX. */
static uint32_t find_anchor(const struct compile *c, const char *name, size_t len)
{
    const struct tree *t = &c->schema->tree;
    const struct tree_value *v;
    uint32_t i, value;

    for (i = 0; i < c->anchors_count; i++) {
        value = tree_member(t, c->anchors[i], "$anchor");
        v = &t->values[value];
        if (value != 0 && v->kind == TREE_STRING && v->len == len &&
            memcmp(v->text, name, len) == 0) {
            return c->anchors[i];
        }
        value = tree_member(t, c->anchors[i], "$id");
        v = &t->values[value];
        if (value != 0 && v->kind == TREE_STRING && v->len == len + 1 && v->text[0] == '#' &&
            memcmp(v->text + 1, name, len) == 0) {
            return c->anchors[i];
        }
    }
    return UINT32_MAX;
}

int compile_target(struct compile *c, uint32_t value, uint32_t *ret)
{
    const struct tree *t = &c->schema->tree;
    const struct tree_value *v = &t->values[value];
    uint32_t id = compile_keyword(c, 0, "$id"), target;
    const char *text = v->text;
    size_t len = v->len, n;
    struct show shown;
    int r;

    /* The schema may call itself by its own name. */
    n = id == 0 ? 0 : t->values[id].len;
    n -= n > 0 && t->values[id].text[n - 1] == '#';
    if (n > 0 && len >= n && memcmp(text, t->values[id].text, n) == 0 &&
        (len == n || text[n] == '#')) {
        text += n;
        len -= n;
    }
    if (len > 0 && text[0] != '#') {
        return compile_fail(c, value, "%s leads outside; a $ref has to begin with #",
            show_text(&shown, v->text, v->len));
    }
    if (len <= 1 || text[1] == '/') {
        target = len <= 1 ? 0 : tree_fragment(t, text + 1, len - 1);
    } else {
        r = list_anchors(c);
        if (r < 0) {
            return r;
        }
        target = find_anchor(c, text + 1, len - 1);
    }
    if (target == UINT32_MAX) {
        return compile_fail(c, value, "%s leads nowhere", show_text(&shown, v->text, v->len));
    }
    *ret = target;
    return VIAL_OK;
}

static int visit(struct compile *c, struct rule *rule, unsigned depth);

/* Looks at a rule that applies to the same value as the one around it. */
static int visit_inner(
    struct compile *c, struct rule *outer, const struct rule *inner, unsigned depth)
{
    struct rule *rule = inner == NULL ? NULL : c->by_value[inner->at];
    int r;

    if (rule == NULL) {
        return VIAL_OK;
    }
    if (rule->state == 1) {
        return compile_fail(c, outer->at,
            "its references go in a circle that no value ends: put properties or items between");
    }
    r = rule->state == 0 ? visit(c, rule, depth + 1) : VIAL_OK;
    if (r == VIAL_OK && rule->height >= outer->height) {
        outer->height = (unsigned char)(rule->height + 1);
    }
    return r;
}

static int visit_list(
    struct compile *c, struct rule *outer, const struct rule_list *list, unsigned depth)
{
    uint32_t i;
    int r = VIAL_OK;

    for (i = 0; r == VIAL_OK && i < list->count; i++) {
        r = visit_inner(c, outer, list->rules[i], depth);
    }
    return r;
}

static int visit_logic(struct compile *c, struct rule *rule, unsigned depth)
{
    const struct rule_logic *logic = rule->logic;
    int r;

    r = visit_list(c, rule, &logic->all, depth);
    r = r < 0 ? r : visit_list(c, rule, &logic->any, depth);
    r = r < 0 ? r : visit_list(c, rule, &logic->one, depth);
    r = r < 0 ? r : visit_inner(c, rule, logic->negated, depth);
    r = r < 0 ? r : visit_inner(c, rule, logic->condition, depth);
    r = r < 0 ? r : visit_inner(c, rule, logic->then_rule, depth);
    return r < 0 ? r : visit_inner(c, rule, logic->else_rule, depth);
}

/* Recurses no deeper than SCHEMA_APPLIED_MAX. */
static int visit(struct compile *c, struct rule *rule, unsigned depth)
{
    uint32_t i;
    int r;

    rule->state = 1;
    rule->height = 1;
    if (depth >= SCHEMA_APPLIED_MAX) {
        return compile_fail(c, rule->at,
            "more than %d schemas apply to one value inside each other", SCHEMA_APPLIED_MAX);
    }
    r = visit_inner(c, rule, rule->ref, depth);
    if (r == VIAL_OK && rule->logic != NULL) {
        r = visit_logic(c, rule, depth);
    }
    for (i = 0; r == VIAL_OK && rule->object != NULL && i < rule->object->count; i++) {
        r = visit_inner(c, rule, rule->object->entries[i].implies, depth);
    }
    if (r == VIAL_OK && rule->height > SCHEMA_APPLIED_MAX) {
        return compile_fail(c, rule->at,
            "more than %d schemas apply to one value inside each other", SCHEMA_APPLIED_MAX);
    }
    rule->state = 2;
    return r;
}

int compile_circles(struct compile *c, uint32_t value_count)
{
    uint32_t i;
    int r = VIAL_OK;

    for (i = 0; r == VIAL_OK && i < value_count; i++) {
        if (c->by_value[i] != NULL && c->by_value[i]->state == 0) {
            r = visit(c, c->by_value[i], 0);
        }
    }
    return r;
}
