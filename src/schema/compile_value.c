/* compile_value.c - see compile.h: type, enum, const, the keywords of numbers and strings, and
 * those that combine schemas. */
#include <string.h>

#include "schema/compile.h"
#include "schema/show.h"

/* The bit of the name of a type, or 0 with the failure noted in *r. */
static unsigned type_bit(struct compile *c, uint32_t value, int *r)
{
    static const struct {
        const char *name;
        unsigned bit;
    } rows[] = {{"null", RULE_NULL}, {"boolean", RULE_BOOLEAN}, {"number", RULE_NUMBER},
        {"string", RULE_STRING}, {"array", RULE_ARRAY}, {"object", RULE_OBJECT},
        {"integer", RULE_INTEGER}};
    const struct tree_value *v = &c->schema->tree.values[value];
    struct show shown;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tree_is_text(v, rows[i].name)) {
            return rows[i].bit;
        }
    }
    *r = compile_fail(c, value,
        "%s is no type; there are null, boolean, integer, number, string, array and object",
        show_value(&shown, v));
    return 0;
}

int compile_type(struct compile *c, struct rule *rule)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, rule->at, "type"), i;
    unsigned types = 0;
    int r = VIAL_OK;

    if (value == 0) {
        return VIAL_OK;
    }
    if (t->values[value].kind != TREE_ARRAY) {
        types = type_bit(c, value, &r);
    } else if (t->values[value].count == 0) {
        return compile_fail(c, value, "must name at least one type");
    } else {
        for (i = tree_first(value); r == VIAL_OK && i != tree_end(t, value); i = tree_next(t, i)) {
            types |= type_bit(c, i, &r);
        }
    }
    rule->types = (unsigned char)types;
    return r;
}

static int compile_value(struct compile *c, uint32_t value, struct rule_value *ret)
{
    const struct tree_value *v = &c->schema->tree.values[value];
    struct buf bytes;
    char *kept;
    int r;

    ret->value = v;
    if (v->kind == TREE_NUMBER) {
        number_read(&ret->number, v->text, v->len);
    }
    if (v->kind != TREE_ARRAY && v->kind != TREE_OBJECT) {
        return VIAL_OK;
    }
    buf_init(&bytes, TREE_BYTES_MAX);
    r = tree_canonical(&c->schema->tree, value, &bytes, c->err);
    if (r == VIAL_OK) {
        kept = rule_take(c->schema, bytes.len);
        if (kept == NULL) {
            r = compile_no_memory(c);
        } else {
            memcpy(kept, bytes.data, bytes.len);
            ret->canonical = kept;
            ret->canonical_len = bytes.len;
        }
    }
    buf_release(&bytes);
    return r;
}

static struct rule_values *take_values(struct compile *c, uint32_t count)
{
    struct rule_values *result = rule_take(c->schema, sizeof(*result));

    if (result != NULL) {
        result->values = rule_take(c->schema, count * sizeof(*result->values));
        result->count = count;
    }
    return result == NULL || result->values == NULL ? NULL : result;
}

int compile_values(struct compile *c, struct rule *rule)
{
    const struct tree *t = &c->schema->tree;
    uint32_t value = compile_keyword(c, rule->at, "enum"), i, k = 0;
    struct rule_values *values;
    int r;

    r = compile_expect(c, value, TREE_ARRAY, "an array of the values that are allowed");
    if (r == VIAL_OK && value != 0) {
        if (t->values[value].count == 0) {
            return compile_fail(c, value, "must have at least one value");
        }
        values = take_values(c, t->values[value].count);
        if (values == NULL) {
            return compile_no_memory(c);
        }
        for (i = tree_first(value); r == VIAL_OK && i != tree_end(t, value); i = tree_next(t, i)) {
            r = compile_value(c, i, &values->values[k++]);
        }
        rule->values = values;
    }
    value = compile_keyword(c, rule->at, "const");
    if (r == VIAL_OK && value != 0) {
        values = take_values(c, 1);
        if (values == NULL) {
            return compile_no_memory(c);
        }
        r = compile_value(c, value, &values->values[0]);
        rule->constant = values;
    }
    return r;
}

int compile_number(struct compile *c, struct rule *rule)
{
    static const char *const names[] = {[BOUND_MIN] = "minimum",
        [BOUND_MAX] = "maximum",
        [BOUND_ABOVE] = "exclusiveMinimum",
        [BOUND_BELOW] = "exclusiveMaximum",
        [BOUND_MULTIPLE] = "multipleOf"};
    const struct tree *t = &c->schema->tree;
    struct rule_number *numbers = NULL;
    struct rule_bound *bound;
    uint32_t value;
    size_t i;
    int r;

    for (i = 0; i < BOUND_COUNT; i++) {
        value = compile_keyword(c, rule->at, names[i]);
        if (value == 0) {
            continue;
        }
        if ((t->values[value].kind == TREE_TRUE || t->values[value].kind == TREE_FALSE) &&
            (i == BOUND_ABOVE || i == BOUND_BELOW)) {
            return compile_fail(c, value, "must be a number; true and false are of draft 04");
        }
        r = compile_expect(c, value, TREE_NUMBER, "a number");
        if (r < 0) {
            return r;
        }
        numbers = numbers == NULL ? rule_take(c->schema, sizeof(*numbers)) : numbers;
        if (numbers == NULL) {
            return compile_no_memory(c);
        }
        bound = &numbers->bounds[i];
        bound->value = &t->values[value];
        number_read(&bound->number, bound->value->text, bound->value->len);
        if (i == BOUND_MULTIPLE && !number_can_divide(&bound->number)) {
            return compile_fail(c, value, "must be above 0 and have at most 18 digits");
        }
    }
    rule->number = numbers;
    return VIAL_OK;
}

int compile_string(struct compile *c, struct rule *rule)
{
    const struct tree *t = &c->schema->tree;
    uint32_t pattern = compile_keyword(c, rule->at, "pattern");
    uint32_t format = compile_keyword(c, rule->at, "format");
    struct rule_string part = {.count_max = RULE_COUNT_MAX};
    struct rule_string *kept;
    int r;

    r = compile_count(c, rule->at, "minLength", &part.count_min);
    r = r < 0 ? r : compile_count(c, rule->at, "maxLength", &part.count_max);
    r = r < 0 ? r : compile_expect(c, pattern, TREE_STRING, "a regular expression in a string");
    r = r < 0 ? r : compile_expect(c, format, TREE_STRING, "a string");
    if (r == VIAL_OK && pattern != 0) {
        part.pattern_text = &t->values[pattern];
        r = compile_pattern(c, pattern, &part.pattern);
    }
    if (r < 0) {
        return r;
    }
    if (format != 0) {
        part.format = format_find(t->values[format].text, t->values[format].len);
    }
    if (part.count_min == 0 && part.count_max == RULE_COUNT_MAX && part.pattern == NULL &&
        part.format == NULL) {
        return VIAL_OK;
    }
    kept = rule_take(c->schema, sizeof(*kept));
    if (kept == NULL) {
        return compile_no_memory(c);
    }
    *kept = part;
    rule->string = kept;
    return VIAL_OK;
}

static int compile_branches(
    struct compile *c, struct rule *rule, const char *keyword, struct rule_list *ret)
{
    uint32_t value = compile_keyword(c, rule->at, keyword);
    int r;

    if (value == 0) {
        return VIAL_OK;
    }
    r = compile_list(c, value, ret);
    if (r == VIAL_OK && ret->count == 0) {
        return compile_fail(c, value, "must have at least one schema");
    }
    return r;
}

int compile_logic(struct compile *c, struct rule *rule)
{
    struct rule_logic part = {.negated = NULL};
    struct rule_logic *kept;
    int r;

    r = compile_branches(c, rule, "allOf", &part.all);
    r = r < 0 ? r : compile_branches(c, rule, "anyOf", &part.any);
    r = r < 0 ? r : compile_branches(c, rule, "oneOf", &part.one);
    r = r < 0 ? r : compile_one(c, rule->at, "not", &part.negated);
    r = r < 0 ? r : compile_one(c, rule->at, "if", &part.condition);
    r = r < 0 ? r : compile_one(c, rule->at, "then", &part.then_rule);
    r = r < 0 ? r : compile_one(c, rule->at, "else", &part.else_rule);
    if (r < 0 || (part.all.count == 0 && part.any.count == 0 && part.one.count == 0 &&
                     part.negated == NULL && part.condition == NULL)) {
        return r;
    }
    kept = rule_take(c->schema, sizeof(*kept));
    if (kept == NULL) {
        return compile_no_memory(c);
    }
    *kept = part;
    rule->logic = kept;
    return VIAL_OK;
}
