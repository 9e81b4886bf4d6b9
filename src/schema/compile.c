/* compile.c - see schema.h and compile.h: from the text of a schema to rules.
 *
 * Subschemas lie inside each other, so that compile_rule recurses as deep as the text nests, which
 * the reader of the text has bounded. References do not recurse: they are put off. */
#include "schema/compile.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schema/keyword.h"
#include "schema/schema.h"
#include "schema/show.h"

enum {
    FAIL_PATH_BYTES_MAX = 120, /* an error has 360 bytes, most of them for what is wrong */
    FAIL_BYTES_MAX = 300,
};

int compile_fail(struct compile *c, uint32_t at, const char *format, ...)
{
    char why[FAIL_BYTES_MAX];
    struct show shown;
    struct buf path;
    va_list args;
    int cut;

    va_start(args, format);
    (void)vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    buf_init(&path, FAIL_PATH_BYTES_MAX);
    cut = tree_path(&c->schema->tree, at, &path, NULL) < 0;
    (void)show_text(&shown, path.len > 0 ? path.data : "", path.len);
    shown.text[strlen(shown.text) - 1] = '\0'; /* without the quotes */
    (void)vial__fail(c->err, VIAL_E_INVALID, "the schema is wrong at %s%s: %s",
        path.len > 0 ? shown.text + 1 : "its top", cut ? "..." : "", why);
    buf_release(&path);
    return VIAL_E_INVALID;
}

int compile_no_memory(struct compile *c)
{
    return vial__fail(c->err, VIAL_E_NOMEM, "no memory for a schema");
}

uint32_t compile_keyword(const struct compile *c, uint32_t at, const char *keyword)
{
    return tree_member(&c->schema->tree, at, keyword);
}

int compile_expect(struct compile *c, uint32_t value, enum tree_kind kind, const char *what)
{
    const struct tree_value *v = &c->schema->tree.values[value];

    if (value == 0 || v->kind == kind) {
        return VIAL_OK;
    }
    return compile_fail(c, value, "must be %s, is %s", what, show_kind(v));
}

int compile_count(struct compile *c, uint32_t at, const char *keyword, uint32_t *ret)
{
    uint32_t value = compile_keyword(c, at, keyword), result = 0;
    const struct tree_value *v = &c->schema->tree.values[value];
    struct show shown;
    struct number n;
    uint32_t i;

    if (value == 0) {
        return VIAL_OK;
    }
    if (v->kind == TREE_NUMBER) {
        number_read(&n, v->text, v->len);
    }
    if (v->kind != TREE_NUMBER || !number_is_whole(&n) || n.negative) {
        return compile_fail(
            c, value, "must be a whole number of at least 0, is %s", show_value(&shown, v));
    }
    if (n.exponent > 9) {
        *ret = RULE_COUNT_MAX; /* no value has so many of anything */
        return VIAL_OK;
    }
    for (i = 0; i < (uint32_t)n.exponent; i++) {
        for (; n.digits < n.end && *n.digits == '.'; n.digits++) {
        }
        result = result * 10 + (n.digits < n.end ? (uint32_t)(*n.digits++ - '0') : 0);
    }
    *ret = result;
    return VIAL_OK;
}

int compile_pattern(struct compile *c, uint32_t value, const struct pattern **ret)
{
    const struct tree_value *v = &c->schema->tree.values[value];
    struct schema *schema = c->schema;
    struct pattern **grown, *pattern = NULL;
    struct vial_error why = {.code = 0};
    size_t capacity;
    int r;

    if (schema->patterns_count == schema->patterns_capacity) {
        capacity = schema->patterns_capacity == 0 ? 8 : schema->patterns_capacity * 2;
        grown = realloc(schema->patterns, capacity * sizeof(struct pattern *));
        if (grown == NULL) {
            return compile_no_memory(c);
        }
        schema->patterns = grown;
        schema->patterns_capacity = capacity;
    }
    r = pattern_new(v->text, v->len, &pattern, &why);
    if (r == VIAL_E_INVALID) {
        return compile_fail(c, value, "%s", why.text);
    }
    if (r < 0) {
        return compile_no_memory(c);
    }
    schema->patterns[schema->patterns_count++] = pattern;
    *ret = pattern;
    return VIAL_OK;
}

int compile_one(struct compile *c, uint32_t at, const char *keyword, const struct rule **ret)
{
    uint32_t value = compile_keyword(c, at, keyword);

    return value == 0 ? VIAL_OK : compile_rule(c, value, ret);
}

int compile_list(struct compile *c, uint32_t value, struct rule_list *ret)
{
    const struct tree *t = &c->schema->tree;
    uint32_t i, k = 0;
    int r;

    r = compile_expect(c, value, TREE_ARRAY, "an array of schemas");
    if (r < 0) {
        return r;
    }
    ret->rules = rule_take(c->schema, t->values[value].count * sizeof(struct rule *));
    if (ret->rules == NULL) {
        return compile_no_memory(c);
    }
    for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i)) {
        r = compile_rule(c, i, &ret->rules[k++]);
        if (r < 0) {
            return r;
        }
    }
    ret->count = k;
    return VIAL_OK;
}

/* Every word has to be known, or at least not to look like a known one. */
static int check_keywords(struct compile *c, uint32_t at)
{
    const struct tree *t = &c->schema->tree;
    const struct tree_value *name;
    struct show shown;
    const char *text;
    uint32_t i;

    for (i = tree_first(at); i != tree_end(t, at); i = tree_next(t, i + 1)) {
        name = &t->values[i];
        text = keyword_refused(name->text, name->len);
        if (text != NULL) {
            return compile_fail(c, i + 1, "this keyword is not supported: %s", text);
        }
        if (keyword_is_known(name->text, name->len)) {
            continue;
        }
        text = keyword_meant(name->text, name->len);
        if (text != NULL) {
            return compile_fail(c, i + 1, "%s is no keyword; did you mean \"%s\"?",
                show_text(&shown, name->text, name->len), text);
        }
    }
    return VIAL_OK;
}

/* Annotations have types too, and a wrong one tells of a misunderstanding. */
static int check_annotations(struct compile *c, uint32_t at)
{
    static const char *const texts[] = {
        "title", "description", "$comment", "$schema", "$id", "$anchor"};
    const struct tree *t = &c->schema->tree;
    uint32_t value;
    size_t i;
    int r;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        r = compile_expect(c, compile_keyword(c, at, texts[i]), TREE_STRING, "a string");
        if (r < 0) {
            return r;
        }
    }
    value = compile_keyword(c, at, "$id");
    if (value != 0 && at != 0 && t->values[value].len > 0 && t->values[value].text[0] != '#') {
        return compile_fail(c, value, "a schema inside of a schema cannot have an $id of its own");
    }
    return compile_expect(
        c, compile_keyword(c, at, "examples"), TREE_ARRAY, "an array of example values");
}

/* $defs and definitions are compiled although nothing may refer to them: a mistake there is one. */
static int compile_definitions(struct compile *c, uint32_t at)
{
    static const char *const names[] = {"$defs", "definitions"};
    const struct tree *t = &c->schema->tree;
    const struct rule *unused;
    uint32_t value, i;
    size_t k;
    int r;

    for (k = 0; k < 2; k++) {
        value = compile_keyword(c, at, names[k]);
        r = compile_expect(c, value, TREE_OBJECT, "an object of schemas");
        if (r < 0 || value == 0) {
            if (r < 0) {
                return r;
            }
            continue;
        }
        for (i = tree_first(value); i != tree_end(t, value); i = tree_next(t, i + 1)) {
            r = compile_rule(c, i + 1, &unused);
            if (r < 0) {
                return r;
            }
        }
    }
    return VIAL_OK;
}

static int compile_keywords(struct compile *c, struct rule *rule)
{
    static int (*const parts[])(struct compile *, struct rule *) = {compile_type, compile_values,
        compile_object, compile_array, compile_number, compile_string, compile_logic};
    uint32_t value = compile_keyword(c, rule->at, "$ref");
    size_t i;
    int r;

    r = check_keywords(c, rule->at);
    r = r < 0 ? r : check_annotations(c, rule->at);
    for (i = 0; r == VIAL_OK && i < sizeof(parts) / sizeof(parts[0]); i++) {
        r = parts[i](c, rule);
    }
    r = r < 0 ? r : compile_definitions(c, rule->at);
    if (r == VIAL_OK && value != 0) {
        r = compile_expect(c, value, TREE_STRING, "a string");
        c->pending[c->pending_count++] = rule;
        if (++c->refs_count > COMPILE_REFS_MAX) {
            return compile_fail(c, value, "there are more than %d references", COMPILE_REFS_MAX);
        }
    }
    return r;
}

int compile_rule(struct compile *c, uint32_t at, const struct rule **ret)
{
    const struct tree_value *v = &c->schema->tree.values[at];
    struct rule *rule = c->by_value[at];

    if (rule != NULL) {
        *ret = rule;
        return VIAL_OK;
    }
    if (v->kind != TREE_OBJECT && v->kind != TREE_TRUE && v->kind != TREE_FALSE) {
        return compile_fail(
            c, at, "must be a schema: an object, true or false; is %s", show_kind(v));
    }
    rule = rule_take(c->schema, sizeof(*rule));
    if (rule == NULL) {
        return compile_no_memory(c);
    }
    rule->at = at;
    rule->types = RULE_ANY;
    rule->is_false = v->kind == TREE_FALSE;
    c->by_value[at] = rule;
    *ret = rule;
    return v->kind == TREE_OBJECT ? compile_keywords(c, rule) : VIAL_OK;
}

static int compile_pending(struct compile *c)
{
    struct rule *rule;
    uint32_t target = 0;
    int r;

    while (c->pending_count > 0) {
        rule = c->pending[--c->pending_count];
        r = compile_target(c, compile_keyword(c, rule->at, "$ref"), &target);
        if (r == VIAL_OK) {
            r = compile_rule(c, target, &rule->ref);
        }
        if (r < 0) {
            return r;
        }
    }
    return VIAL_OK;
}

/* What the top says, references followed; they do not go in circles any more. */
static void find_top(struct schema *schema)
{
    const struct rule *rule = schema->root;

    while (rule->object == NULL && rule->types == RULE_ANY && rule->ref != NULL) {
        rule = rule->ref;
    }
    schema->top = rule->object;
    schema->is_object = rule->types == RULE_OBJECT && !rule->is_false;
}

static int compile_all(struct schema *schema, struct vial_error *err)
{
    struct compile c = {.schema = schema, .err = err};
    uint32_t count = schema->tree.count;
    int r;

    c.by_value = calloc(count, sizeof(struct rule *));
    c.pending = calloc(count, sizeof(struct rule *));
    if (c.by_value == NULL || c.pending == NULL) {
        r = compile_no_memory(&c);
    } else {
        r = compile_rule(&c, 0, &schema->root);
        r = r < 0 ? r : compile_pending(&c);
        r = r < 0 ? r : compile_circles(&c, count);
    }
    if (r == VIAL_OK) {
        find_top(schema);
    }
    free(c.by_value);
    free(c.pending);
    free(c.anchors);
    return r;
}

int schema_compile(const char *json, size_t len, struct schema **ret, struct vial_error *err)
{
    struct schema *schema;
    int r;

    if (len > SCHEMA_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the schema has %zu bytes; at most %d are taken",
            len, SCHEMA_BYTES_MAX);
    }
    schema = calloc(1, sizeof(*schema));
    if (schema == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a schema");
    }
    schema->tree.values = schema->tree.first;
    schema->text = malloc(len + 1);
    if (schema->text == NULL) {
        schema_free(schema);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a schema");
    }
    if (len > 0) {
        memcpy(schema->text, json, len);
    }
    schema->text[len] = '\0';
    r = tree_read(&schema->tree, schema->text, len, err);
    if (r < 0) {
        schema->tree.values = schema->tree.first;
        schema_free(schema);
        return vial__wrap(err, r, "the schema cannot be read");
    }
    r = compile_all(schema, err);
    if (r < 0) {
        schema_free(schema);
        return r;
    }
    *ret = schema;
    return VIAL_OK;
}

void schema_free(struct schema *schema)
{
    if (schema == NULL) {
        return;
    }
    rule_release(schema);
    tree_release(&schema->tree);
    free(schema->text);
    free(schema);
}

size_t schema_property_count(const struct schema *schema)
{
    return schema->top == NULL ? 0 : schema->top->declared_count;
}

const char *schema_property_name(const struct schema *schema, size_t index)
{
    assert(index < schema_property_count(schema));
    return schema->top->entries[index].name;
}

int schema_is_object(const struct schema *schema)
{
    return schema->is_object;
}
