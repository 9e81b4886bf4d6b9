/* stub_python.c - see stub.h: schemas as types of Python 3.11, tools as functions.
 *
 * Objects become TypedDicts with names of their own, because Python has no types in line. A tool
 * takes its properties as keywords when all of them are identifiers, and one dictionary otherwise.
 * Dotted names become classes with static methods. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "schema/stub.h"

enum {
    MERGE_DEPTH_MAX = 8, /* allOf in allOf */
    PARAMETERS_MAX = 40, /* beyond that, a dictionary is easier to read */
};

static void write_type(struct stub *s, struct buf *out, uint32_t at, unsigned depth);
static void define(struct stub *s, const char *name, uint32_t at);

/* Can the name be a field of a class? Two underscores at the beginning would be changed by Python.
 */
static int is_field(const struct tree_value *name)
{
    return stub_is_identifier(STUB_PYTHON, name->text, name->len) &&
           !(name->len > 1 && memcmp(name->text, "__", 2) == 0);
}

/* Goes over the properties of a schema and of all in its allOf. */
struct fields {
    void (*each)(struct stub *s, struct buf *out, uint32_t object, uint32_t name, unsigned depth);
    size_t count;
    size_t odd; /* names that are no identifiers */
    int late;   /* one that is required comes behind one that is not */
    int optional;
};

static void go_through(
    struct stub *s, struct buf *out, uint32_t at, unsigned depth, unsigned merged, struct fields *f)
{
    uint32_t properties, all, i;

    s->steps++;
    if (s->steps > STUB_STEPS_MAX && s->r == VIAL_OK) {
        s->r = vial__fail(s->err, VIAL_E_INVALID,
            "the schemas of the tools take too much work to write as types");
    }
    if (s->r < 0) {
        return;
    }
    at = stub_follow(s->t, at);
    properties = tree_member(s->t, at, "properties");
    all = tree_member(s->t, at, "allOf");
    if (properties != 0 && s->t->values[properties].kind == TREE_OBJECT) {
        for (i = tree_first(properties); i != tree_end(s->t, properties);
             i = tree_next(s->t, i + 1)) {
            f->count++;
            s->steps++;
            f->odd += !is_field(&s->t->values[i]);
            f->late |= f->optional && stub_is_required(s->t, at, &s->t->values[i]);
            f->optional |= !stub_is_required(s->t, at, &s->t->values[i]);
            if (f->each != NULL) {
                f->each(s, out, at, i, depth);
            }
        }
    }
    if (all != 0 && s->t->values[all].kind == TREE_ARRAY && merged < MERGE_DEPTH_MAX) {
        for (i = tree_first(all); i != tree_end(s->t, all); i = tree_next(s->t, i)) {
            go_through(s, out, i, depth, merged + 1, f);
        }
    }
}

static struct fields count_fields(struct stub *s, uint32_t at)
{
    struct fields f = {.each = NULL};

    go_through(s, NULL, at, 0, 0, &f);
    return f;
}

/* The type of a field, with a name for it when it needs one: Find, Find + Rows. */
static void write_field_type(
    struct stub *s, struct buf *out, const struct tree_value *name, uint32_t at, unsigned depth)
{
    char scope[STUB_TYPE_NAME_BYTES_MAX];

    memcpy(scope, s->scope, sizeof(scope));
    stub_append_pascal(s->scope, sizeof(s->scope) - 16, name->text, name->len);
    write_type(s, out, at, depth);
    memcpy(s->scope, scope, sizeof(scope));
}

/* A comment on a line of its own. */
static void write_about(struct stub *s, struct buf *out, uint32_t at, unsigned indent)
{
    struct buf about;

    if (!s->verbose) {
        return;
    }
    buf_init(&about, STUB_TYPES_BYTES_MAX);
    stub_put_about(s, &about, at);
    if (about.len > 0) {
        stub_put_indent(s, out, indent);
        stub_put(s, out, "# ");
        stub_put_bytes(s, out, about.data, about.len);
        stub_put(s, out, "\n");
    }
    buf_release(&about);
}

static void write_wrapped(
    struct stub *s, struct buf *out, uint32_t object, uint32_t name, unsigned depth)
{
    int required = stub_is_required(s->t, object, &s->t->values[name]);

    stub_put(s, out, required ? "" : "NotRequired[");
    write_field_type(s, out, &s->t->values[name], name + 1, depth);
    stub_put(s, out, required ? "" : "]");
}

static void write_field(
    struct stub *s, struct buf *out, uint32_t object, uint32_t name, unsigned depth)
{
    write_about(s, out, name + 1, 1);
    stub_put_indent(s, out, 1);
    stub_put_bytes(s, out, s->t->values[name].text, s->t->values[name].len);
    stub_put(s, out, ": ");
    write_wrapped(s, out, object, name, depth);
    stub_put(s, out, "\n");
}

/* "name": "type" for the form that allows any name. Types are strings there, because they may be
 * defined later. */
static void write_entry(
    struct stub *s, struct buf *out, uint32_t object, uint32_t name, unsigned depth)
{
    struct buf type;

    buf_init(&type, STUB_TYPES_BYTES_MAX);
    write_wrapped(s, &type, object, name, depth);
    stub_put_literal(s, out, s->t->values[name].text, s->t->values[name].len);
    stub_put(s, out, ": ");
    stub_put_literal(s, out, type.len > 0 ? type.data : "", type.len);
    stub_put(s, out, ", ");
    buf_release(&type);
}

/* A TypedDict with a name; its text is added to the types when it is complete, so that those it
 * needs stand before it. */
static void define_object(struct stub *s, const char *name, uint32_t at, unsigned depth)
{
    struct fields f = count_fields(s, at);
    char scope[STUB_TYPE_NAME_BYTES_MAX];
    struct buf text;

    memcpy(scope, s->scope, sizeof(scope));
    (void)snprintf(s->scope, sizeof(s->scope), "%s", name);
    buf_init(&text, STUB_TYPES_BYTES_MAX);
    write_about(s, &text, at, 0);
    f.each = f.odd > 0 ? write_entry : write_field;
    stub_put(s, &text, f.odd > 0 ? "" : "class ");
    stub_put(s, &text, name);
    if (f.odd > 0) {
        stub_put(s, &text, " = TypedDict(\"");
        stub_put(s, &text, name);
        stub_put(s, &text, "\", {");
        go_through(s, &text, at, depth, 0, &f);
        stub_put(s, &text, "})\n");
    } else {
        stub_put(s, &text, "(TypedDict):\n");
        go_through(s, &text, at, depth, 0, &f);
    }
    stub_put_bytes(s, &s->types, text.len > 0 ? text.data : "", text.len);
    buf_release(&text);
    memcpy(s->scope, scope, sizeof(scope));
}

static void write_object(struct stub *s, struct buf *out, uint32_t at, unsigned depth)
{
    uint32_t additional = tree_member(s->t, at, "additionalProperties");
    char name[STUB_TYPE_NAME_BYTES_MAX];

    if (count_fields(s, at).count > 0) {
        (void)snprintf(name, sizeof(name), "%s", s->scope);
        stub_take_name(s, name, 0);
        define_object(s, name, at, depth);
        stub_put(s, out, name);
        return;
    }
    stub_put(s, out, "dict[str, ");
    if (additional != 0 && s->t->values[additional].kind == TREE_OBJECT) {
        write_type(s, out, additional, depth);
    } else {
        stub_put(s, out, "Any");
    }
    stub_put(s, out, "]");
}

static void write_array(struct stub *s, struct buf *out, uint32_t at, unsigned depth)
{
    static const struct tree_value item = {.text = "Item", .len = 4};
    uint32_t prefix = tree_member(s->t, at, "prefixItems"), items = tree_member(s->t, at, "items");
    uint32_t rest = items, i;

    if (items != 0 && s->t->values[items].kind == TREE_ARRAY) {
        prefix = items;
        rest = tree_member(s->t, at, "additionalItems");
    }
    /* Only a tuple of a fixed length has a type. */
    if (prefix != 0 && rest != 0 && s->t->values[rest].kind == TREE_FALSE &&
        s->t->values[prefix].kind == TREE_ARRAY && s->t->values[prefix].count > 0) {
        stub_put(s, out, "tuple[");
        for (i = tree_first(prefix); i != tree_end(s->t, prefix); i = tree_next(s->t, i)) {
            stub_put(s, out, i == tree_first(prefix) ? "" : ", ");
            write_field_type(s, out, &item, i, depth);
        }
        stub_put(s, out, "]");
        return;
    }
    stub_put(s, out, "list[");
    if (prefix != 0 || items == 0) {
        stub_put(s, out, "Any");
    } else {
        write_field_type(s, out, &item, items, depth);
    }
    stub_put(s, out, "]");
}

static void write_named(
    struct stub *s, struct buf *out, uint32_t at, const struct tree_value *name, unsigned depth)
{
    static const char *const rows[][2] = {{"string", "str"}, {"number", "float"},
        {"integer", "int"}, {"boolean", "bool"}, {"null", "None"}};
    size_t i;

    if (tree_is_text(name, "object")) {
        write_object(s, out, at, depth);
        return;
    }
    if (tree_is_text(name, "array")) {
        write_array(s, out, at, depth);
        return;
    }
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tree_is_text(name, rows[i][0])) {
            stub_put(s, out, rows[i][1]);
            return;
        }
    }
    stub_put(s, out, "Any");
}

/* Python's Literal has strings, integers, booleans and None. */
static int is_literal(const struct tree_value *v)
{
    return v->kind <= TREE_TRUE || v->kind == TREE_STRING ||
           (v->kind == TREE_NUMBER && v->len <= 20 && memchr(v->text, '.', v->len) == NULL &&
               memchr(v->text, 'e', v->len) == NULL && memchr(v->text, 'E', v->len) == NULL);
}

static void write_literal(struct stub *s, struct buf *out, const struct tree_value *v)
{
    static const char *const words[] = {
        [TREE_NULL] = "None", [TREE_FALSE] = "False", [TREE_TRUE] = "True"};

    if (v->kind <= TREE_TRUE) {
        stub_put(s, out, words[v->kind]);
    } else if (v->kind == TREE_STRING) {
        stub_put_literal(s, out, v->text, v->len);
    } else {
        stub_put_bytes(s, out, v->text, v->len);
    }
}

/* The values of an enum, or false when one of them cannot be a literal. */
static int write_values(struct stub *s, struct buf *out, uint32_t list)
{
    uint32_t i;

    if (s->t->values[list].kind != TREE_ARRAY || s->t->values[list].count == 0 ||
        s->t->values[list].count > STUB_LITERALS_MAX) {
        return 0;
    }
    for (i = tree_first(list); i != tree_end(s->t, list); i = tree_next(s->t, i)) {
        if (!is_literal(&s->t->values[i])) {
            return 0;
        }
    }
    stub_put(s, out, "Literal[");
    for (i = tree_first(list); i != tree_end(s->t, list); i = tree_next(s->t, i)) {
        stub_put(s, out, i == tree_first(list) ? "" : ", ");
        write_literal(s, out, &s->t->values[i]);
    }
    stub_put(s, out, "]");
    return 1;
}

static int is_null(const struct stub *s, uint32_t at)
{
    uint32_t type = tree_member(s->t, at, "type");

    return tree_is_text(&s->t->values[at], "null") ||
           (type != 0 && tree_is_text(&s->t->values[type], "null"));
}

/* Alternatives: the names of types, or schemas. Null among others makes them optional. */
static void write_union(
    struct stub *s, struct buf *out, uint32_t at, uint32_t list, int of_types, unsigned depth)
{
    uint32_t i, nulls = 0, written = 0, others;

    for (i = tree_first(list); i != tree_end(s->t, list); i = tree_next(s->t, i)) {
        nulls += (uint32_t)is_null(s, i);
    }
    others = s->t->values[list].count - nulls;
    if (others == 0) {
        stub_put(s, out, "None");
        return;
    }
    stub_put(s, out, nulls > 0 ? "Optional[" : "");
    stub_put(s, out, others > 1 ? "Union[" : "");
    for (i = tree_first(list); i != tree_end(s->t, list); i = tree_next(s->t, i)) {
        if (is_null(s, i)) {
            continue;
        }
        stub_put(s, out, written++ == 0 ? "" : ", ");
        if (of_types) {
            write_named(s, out, at, &s->t->values[i], depth);
        } else {
            write_type(s, out, i, depth);
        }
    }
    stub_put(s, out, others > 1 ? "]" : "");
    stub_put(s, out, nulls > 0 ? "]" : "");
}

/* The array of alternatives under anyOf or oneOf, or 0. */
static uint32_t alternatives(const struct stub *s, uint32_t at)
{
    static const char *const keywords[] = {"anyOf", "oneOf"};
    uint32_t list;
    size_t i;

    for (i = 0; i < 2; i++) {
        list = tree_member(s->t, at, keywords[i]);
        if (list != 0 && s->t->values[list].kind == TREE_ARRAY && s->t->values[list].count > 0) {
            return list;
        }
    }
    return 0;
}

static void write_by_type(struct stub *s, struct buf *out, uint32_t at, unsigned depth)
{
    uint32_t type = tree_member(s->t, at, "type"), list = alternatives(s, at);
    struct tree_value guessed = {.kind = TREE_STRING};

    if (list != 0 && tree_member(s->t, at, "properties") == 0) {
        write_union(s, out, at, list, 0, depth);
    } else if (type != 0 && s->t->values[type].kind == TREE_ARRAY && s->t->values[type].count > 0) {
        write_union(s, out, at, type, 1, depth);
    } else if (type != 0) {
        write_named(s, out, at, &s->t->values[type], depth);
    } else if (count_fields(s, at).count > 0) {
        write_object(s, out, at, depth); /* by its allOf */
    } else {
        guessed.text = stub_guess_type(s->t, at);
        guessed.len = (uint32_t)strlen(guessed.text);
        write_named(s, out, at, &guessed, depth);
    }
}

static void write_type(struct stub *s, struct buf *out, uint32_t at, unsigned depth)
{
    const struct tree_value *v = &s->t->values[at];
    uint32_t ref = tree_member(s->t, at, "$ref"), constant = tree_member(s->t, at, "const");
    uint32_t values = tree_member(s->t, at, "enum");
    const char *name;

    if (s->r < 0) {
        return;
    }
    if (v->kind != TREE_OBJECT || depth >= STUB_DEPTH_MAX) {
        stub_put(s, out, "Any");
    } else if (ref != 0) {
        name = stub_ref_name(s, ref);
        stub_put(s, out, name == NULL ? "Any" : name);
    } else if (constant != 0 && is_literal(&s->t->values[constant])) {
        stub_put(s, out, "Literal[");
        write_literal(s, out, &s->t->values[constant]);
        stub_put(s, out, "]");
    } else if (values == 0 || !write_values(s, out, values)) {
        write_by_type(s, out, at, depth + 1);
    }
}

/* A definition that others refer to: a TypedDict, or another name for a type. The latter is
 * evaluated where it stands, so that it is written as a string. */
static void define(struct stub *s, const char *name, uint32_t at)
{
    uint32_t type = tree_member(s->t, at, "type");
    struct buf text;

    if (count_fields(s, at).count > 0 && alternatives(s, at) == 0 &&
        tree_member(s->t, at, "$ref") == 0 &&
        (type == 0 || tree_is_text(&s->t->values[type], "object"))) {
        define_object(s, name, at, 1);
        return;
    }
    buf_init(&text, STUB_TYPES_BYTES_MAX);
    (void)snprintf(s->scope + strlen(s->scope), sizeof(s->scope) - strlen(s->scope), "Value");
    write_type(s, &text, at, 1);
    write_about(s, &s->types, at, 0);
    stub_put(s, &s->types, name);
    stub_put(s, &s->types, " = ");
    stub_put_literal(s, &s->types, text.len > 0 ? text.data : "", text.len);
    stub_put(s, &s->types, "\n");
    buf_release(&text);
}

static void write_parameter(
    struct stub *s, struct buf *out, uint32_t object, uint32_t name, unsigned depth)
{
    const struct tree_value *v = &s->t->values[name];

    if (s->verbose) {
        stub_put(s, out, out->data[out->len - 1] == '(' ? "\n" : ",\n");
        write_about(s, out, name + 1, depth);
        stub_put_indent(s, out, depth);
    } else {
        stub_put(s, out, out->data[out->len - 1] == '(' ? "" : ", ");
    }
    stub_put_bytes(s, out, v->text, v->len);
    stub_put(s, out, ": ");
    write_field_type(s, out, v, name + 1, 1);
    stub_put(s, out, stub_is_required(s->t, object, v) ? "" : " = ...");
}

/* The parameters; indent is where a line of them begins when each has one. */
static void write_parameters(
    struct stub *s, struct buf *out, const struct tree *input, unsigned indent)
{
    uint32_t at, type;
    struct fields f;

    s->t = input;
    at = stub_follow(input, 0);
    type = tree_member(input, at, "type");
    f = count_fields(s, at);
    if (alternatives(s, at) == 0 && f.odd == 0 && f.count <= PARAMETERS_MAX && type != 0 &&
        tree_is_text(&input->values[type], "object") &&
        (f.count > 0 || tree_member(input, at, "additionalProperties") == 0 ||
            input->values[tree_member(input, at, "additionalProperties")].kind == TREE_FALSE)) {
        stub_put(s, out, f.late ? "*" : "");
        f = (struct fields){.each = write_parameter};
        go_through(s, out, at, indent, 0, &f);
        return;
    }
    stub_put(s, out, "input: ");
    (void)snprintf(s->scope + strlen(s->scope), sizeof(s->scope) - strlen(s->scope), "Input");
    write_type(s, out, 0, 0);
}

void stub_python_signature(
    struct stub *s, struct stub_item *item, const struct tree *input, const struct tree *output)
{
    struct buf *out = &item->text;
    char scope[STUB_TYPE_NAME_BYTES_MAX];

    memcpy(scope, s->scope, sizeof(scope));
    stub_put(s, out, "(");
    if (input == NULL) {
        stub_put(s, out, "input: Any = ...");
    } else {
        write_parameters(s, out, input, (unsigned)item->parts_count + 1);
    }
    stub_put(s, out, ") -> ");
    stub_drain(s, define);
    if (output == NULL) {
        stub_put(s, out, "Any");
    } else {
        s->t = output;
        (void)snprintf(s->scope, sizeof(s->scope), "%.80sResult", scope);
        write_type(s, out, 0, 0);
    }
    stub_put(s, out, ":");
    stub_drain(s, define);
}

/* The tools from which the group of first is made, as in stub_typescript.c. */
struct group {
    const struct stub_item *items;
    size_t count;
    size_t first;
    size_t depth;
};

static int is_same(const struct stub_item *a, const struct stub_item *b, size_t depth)
{
    size_t i;

    for (i = 0; i < depth; i++) {
        if (a->parts_count <= i || b->parts_count <= i || strcmp(a->parts[i], b->parts[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

static void write_function(struct stub *s, struct buf *out, const struct stub_item *item,
    unsigned indent, const char *name)
{
    if (indent > 0) {
        stub_put_indent(s, out, indent);
        stub_put(s, out, "@staticmethod\n");
    }
    stub_put_indent(s, out, indent);
    stub_put(s, out, item->tool->sync ? "def " : "async def ");
    stub_put(s, out, name);
    stub_put_bytes(s, out, item->text.data, item->text.len);
    if (item->about.len == 0) {
        stub_put(s, out, " ...\n");
        return;
    }
    stub_put(s, out, "\n");
    stub_put_indent(s, out, indent + 1);
    stub_put(s, out, "\"\"\"");
    stub_put_bytes(s, out, item->about.data, item->about.len);
    stub_put(s, out, "\"\"\"\n");
}

static void write_group(struct stub *s, struct buf *out, struct group g);

/* What item i adds to its group. A class can be called when its name is a tool's, too. */
static void write_member(struct stub *s, struct buf *out, const struct group *g, size_t i)
{
    const struct stub_item *item = &g->items[i];
    size_t k, more = 0, before = 0;

    for (k = 0; k < g->count; k++) {
        if (is_same(&g->items[k], item, g->depth + 1)) {
            more += g->items[k].parts_count > g->depth + 1;
            before += k < i;
        }
    }
    if (item->parts_count == g->depth + 1 && more == 0) {
        write_function(s, out, item, (unsigned)g->depth, item->parts[g->depth]);
    } else if (more > 0 && before == 0) {
        write_group(s, out, (struct group){g->items, g->count, i, g->depth + 1});
    }
}

static void write_group(struct stub *s, struct buf *out, struct group g)
{
    const struct stub_item *first = &g.items[g.first];
    size_t i;

    stub_put_indent(s, out, (unsigned)g.depth - 1);
    stub_put(s, out, "class ");
    stub_put(s, out, first->parts[g.depth - 1]);
    stub_put(s, out, ":\n");
    for (i = 0; i < g.count; i++) {
        if (!is_same(&g.items[i], first, g.depth)) {
            continue;
        }
        if (g.items[i].parts_count == g.depth) {
            write_function(s, out, &g.items[i], (unsigned)g.depth, "__call__");
        } else {
            write_member(s, out, &g, i);
        }
    }
}

void stub_python_layout(
    struct stub *s, const struct stub_item *items, size_t count, struct buf *out)
{
    struct group g = {items, count, 0, 0};

    stub_put(s, out, "from __future__ import annotations\n");
    stub_put(
        s, out, "from typing import Any, Literal, NotRequired, Optional, TypedDict, Union\n\n");
    stub_put_bytes(s, out, s->types.len > 0 ? s->types.data : "", s->types.len);
    stub_put(s, out, s->types.len > 0 ? "\n" : "");
    for (g.first = 0; g.first < count && s->r == VIAL_OK; g.first++) {
        write_member(s, out, &g, g.first);
    }
}
