/* compile_array.c - see compile.h: the keywords about arrays. */
#include "schema/compile.h"

/* prefixItems and items, or the array form of items with additionalItems that draft 07 has. */
static int compile_items(struct compile *c, uint32_t at, struct rule_array *part)
{
    const struct tree *t = &c->schema->tree;
    uint32_t prefix = compile_keyword(c, at, "prefixItems");
    uint32_t items = compile_keyword(c, at, "items");
    int r;

    if (prefix != 0) {
        r = compile_list(c, prefix, &part->prefix);
        if (r < 0) {
            return r;
        }
        if (items != 0 && t->values[items].kind == TREE_ARRAY) {
            return compile_fail(c, items, "must be one schema when there is prefixItems");
        }
    }
    if (items != 0 && t->values[items].kind == TREE_ARRAY) {
        r = compile_list(c, items, &part->prefix);
        return r < 0 ? r : compile_one(c, at, "additionalItems", &part->items);
    }
    return compile_one(c, at, "items", &part->items);
}

static int is_empty(const struct rule_array *part)
{
    return part->prefix.count == 0 && part->items == NULL && part->contains == NULL &&
           part->count_min == 0 && part->count_max == RULE_COUNT_MAX && !part->unique;
}

int compile_array(struct compile *c, struct rule *rule)
{
    struct rule_array part = {
        .contains_min = 1, .contains_max = RULE_COUNT_MAX, .count_max = RULE_COUNT_MAX};
    uint32_t unique = compile_keyword(c, rule->at, "uniqueItems");
    const struct tree_value *v = &c->schema->tree.values[unique];
    struct rule_array *kept;
    int r;

    if (unique != 0 && v->kind != TREE_TRUE && v->kind != TREE_FALSE) {
        return compile_fail(c, unique, "must be true or false");
    }
    part.unique = unique != 0 && v->kind == TREE_TRUE;
    r = compile_items(c, rule->at, &part);
    r = r < 0 ? r : compile_one(c, rule->at, "contains", &part.contains);
    r = r < 0 ? r : compile_count(c, rule->at, "minContains", &part.contains_min);
    r = r < 0 ? r : compile_count(c, rule->at, "maxContains", &part.contains_max);
    r = r < 0 ? r : compile_count(c, rule->at, "minItems", &part.count_min);
    r = r < 0 ? r : compile_count(c, rule->at, "maxItems", &part.count_max);
    if (r < 0 || is_empty(&part)) {
        return r;
    }
    kept = rule_take(c->schema, sizeof(*kept));
    if (kept == NULL) {
        return compile_no_memory(c);
    }
    *kept = part;
    rule->array = kept;
    return VIAL_OK;
}
