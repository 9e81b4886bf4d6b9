/* stub_typescript.c - see stub.h: schemas as types of TypeScript, tools as functions.
 *
 * Dotted names become namespaces, in which a function is a line. Where a part of a name is no
 * identifier or a word of the language ("files.delete"), the group becomes a constant with an
 * object type instead: there, any name may stand. */
#include <stdio.h>
#include <string.h>

#include "schema/stub.h"

/* How a type is written: where, how deep, and how far from the margin. */
struct place {
    struct buf *out;
    unsigned depth;
    unsigned indent;
};

static void write_type(struct stub *s, struct place p, uint32_t at);

static int is_simple(const struct buf *text)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if (strchr(" <>{}()", text->data[i]) != NULL) {
            return 0;
        }
    }
    return text->len > 0;
}

/* A comment line of its own, when there is something to say. */
static void write_about(struct stub *s, struct place p, const struct buf *about)
{
    if (about->len == 0) {
        return;
    }
    stub_put_indent(s, p.out, p.indent);
    stub_put(s, p.out, "/** ");
    stub_put_bytes(s, p.out, about->data, about->len);
    stub_put(s, p.out, " */\n");
}

static void write_name(struct stub *s, struct buf *out, const char *name, size_t len)
{
    size_t i;

    /* Words of the language may be names of properties. */
    for (i = 0;
         i < len &&
         (name[i] == '_' || name[i] == '$' || (name[i] >= 'a' && name[i] <= 'z') ||
             (name[i] >= 'A' && name[i] <= 'Z') || (i > 0 && name[i] >= '0' && name[i] <= '9'));
         i++) {
    }
    if (i == len && len > 0) {
        stub_put_bytes(s, out, name, len);
    } else {
        stub_put_literal(s, out, name, len);
    }
}

static void write_property(struct stub *s, struct place p, uint32_t object, uint32_t name)
{
    const struct tree_value *v = &s->t->values[name];
    struct buf about;

    if (s->verbose) {
        buf_init(&about, STUB_TYPES_BYTES_MAX);
        stub_put_about(s, &about, name + 1);
        write_about(s, p, &about);
        buf_release(&about);
        stub_put_indent(s, p.out, p.indent);
    }
    write_name(s, p.out, v->text, v->len);
    stub_put(s, p.out, stub_is_required(s->t, object, v) ? ": " : "?: ");
    write_type(s, p, name + 1);
    if (s->verbose) {
        stub_put(s, p.out, ";\n");
    }
}

/* "{ a: string; b?: number }", on one line or, when everything is told, on one for each property.
 */
static void write_properties(struct stub *s, struct place p, uint32_t at, uint32_t properties)
{
    uint32_t i;

    stub_put(s, p.out, s->verbose ? "{\n" : "{ ");
    p.indent++;
    for (i = tree_first(properties); i != tree_end(s->t, properties); i = tree_next(s->t, i + 1)) {
        if (!s->verbose && i != tree_first(properties)) {
            stub_put(s, p.out, "; ");
        }
        write_property(s, p, at, i);
    }
    p.indent--;
    if (s->verbose) {
        stub_put_indent(s, p.out, p.indent);
    }
    stub_put(s, p.out, s->verbose ? "}" : " }");
}

/* Record<string, T> for what is not called by name; T is anything when nothing is said. */
static void write_record(struct stub *s, struct place p, uint32_t at)
{
    uint32_t additional = tree_member(s->t, at, "additionalProperties");
    uint32_t patterns = tree_member(s->t, at, "patternProperties"), i;

    stub_put(s, p.out, "Record<string, ");
    if (patterns != 0 && s->t->values[patterns].kind == TREE_OBJECT &&
        s->t->values[patterns].count > 0) {
        for (i = tree_first(patterns); i != tree_end(s->t, patterns); i = tree_next(s->t, i + 1)) {
            stub_put(s, p.out, i == tree_first(patterns) ? "" : " | ");
            write_type(s, p, i + 1);
        }
    } else if (additional != 0 && s->t->values[additional].kind == TREE_OBJECT) {
        write_type(s, p, additional);
    } else {
        stub_put(s, p.out, "unknown");
    }
    stub_put(s, p.out, ">");
}

static void write_object(struct stub *s, struct place p, uint32_t at)
{
    uint32_t properties = tree_member(s->t, at, "properties");
    uint32_t additional = tree_member(s->t, at, "additionalProperties");
    uint32_t patterns = tree_member(s->t, at, "patternProperties");
    int has_record = (additional != 0 && s->t->values[additional].kind == TREE_OBJECT) ||
                     (patterns != 0 && s->t->values[patterns].kind == TREE_OBJECT);

    if (properties != 0 && s->t->values[properties].kind == TREE_OBJECT &&
        s->t->values[properties].count > 0) {
        write_properties(s, p, at, properties);
        if (has_record) {
            stub_put(s, p.out, " & ");
            write_record(s, p, at);
        }
    } else if (additional != 0 && s->t->values[additional].kind == TREE_FALSE && !has_record) {
        stub_put(s, p.out, "{}");
    } else {
        write_record(s, p, at);
    }
}

/* An element of a tuple; one that may be missing has a question mark. */
static void write_element(struct stub *s, struct place p, uint32_t at, int is_optional)
{
    stub_put(s, p.out, is_optional ? "(" : "");
    write_type(s, p, at);
    stub_put(s, p.out, is_optional ? ")?" : "");
}

static void write_tuple(struct stub *s, struct place p, uint32_t at, uint32_t prefix, uint32_t rest)
{
    uint32_t count = stub_count(s->t, at, "minItems", UINT32_MAX), i, index = 0;

    stub_put(s, p.out, "[");
    for (i = tree_first(prefix); i != tree_end(s->t, prefix); i = tree_next(s->t, i)) {
        stub_put(s, p.out, index == 0 ? "" : ", ");
        write_element(s, p, i, index >= count);
        index++;
    }
    if (rest == 0 || s->t->values[rest].kind != TREE_FALSE) {
        stub_put(s, p.out, index == 0 ? "...Array<" : ", ...Array<");
        if (rest == 0) {
            stub_put(s, p.out, "unknown");
        } else {
            write_type(s, p, rest);
        }
        stub_put(s, p.out, ">");
    }
    stub_put(s, p.out, "]");
}

static void write_array(struct stub *s, struct place p, uint32_t at)
{
    uint32_t prefix = tree_member(s->t, at, "prefixItems"), items = tree_member(s->t, at, "items");
    struct buf item;

    if (prefix != 0 && s->t->values[prefix].kind == TREE_ARRAY) {
        write_tuple(s, p, at, prefix, items);
        return;
    }
    if (items != 0 && s->t->values[items].kind == TREE_ARRAY) {
        write_tuple(s, p, at, items, tree_member(s->t, at, "additionalItems"));
        return;
    }
    if (items == 0) {
        stub_put(s, p.out, "unknown[]");
        return;
    }
    buf_init(&item, STUB_TYPES_BYTES_MAX);
    write_type(s, (struct place){&item, p.depth, p.indent}, items);
    stub_put(s, p.out, is_simple(&item) ? "" : "Array<");
    stub_put_bytes(s, p.out, item.len > 0 ? item.data : "", item.len);
    stub_put(s, p.out, is_simple(&item) ? "[]" : ">");
    buf_release(&item);
}

static void write_named(struct stub *s, struct place p, uint32_t at, const struct tree_value *name)
{
    static const char *const rows[][2] = {{"string", "string"}, {"number", "number"},
        {"integer", "number"}, {"boolean", "boolean"}, {"null", "null"}};
    size_t i;

    if (tree_is_text(name, "object")) {
        write_object(s, p, at);
        return;
    }
    if (tree_is_text(name, "array")) {
        write_array(s, p, at);
        return;
    }
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tree_is_text(name, rows[i][0])) {
            stub_put(s, p.out, rows[i][1]);
            return;
        }
    }
    stub_put(s, p.out, "unknown");
}

/* A literal type, or the type of a value that has none. */
static void write_literal(struct stub *s, struct place p, uint32_t at)
{
    const struct tree_value *v = &s->t->values[at];

    if (v->kind == TREE_STRING) {
        stub_put_literal(s, p.out, v->text, v->len);
    } else if (v->kind == TREE_ARRAY || v->kind == TREE_OBJECT) {
        stub_put(s, p.out, v->kind == TREE_ARRAY ? "unknown[]" : "Record<string, unknown>");
    } else {
        stub_put_bytes(s, p.out, v->text, v->len);
    }
}

static void write_values(struct stub *s, struct place p, uint32_t list)
{
    uint32_t i;

    for (i = tree_first(list); i != tree_end(s->t, list); i = tree_next(s->t, i)) {
        stub_put(s, p.out, i == tree_first(list) ? "" : " | ");
        write_literal(s, p, i);
    }
}

/* The alternatives of anyOf or oneOf, or the parts of allOf. */
static void write_list(struct stub *s, struct place p, uint32_t list, const char *between)
{
    struct buf part;
    int wrap;
    uint32_t i;

    for (i = tree_first(list); i != tree_end(s->t, list) && s->r == VIAL_OK;
         i = tree_next(s->t, i)) {
        buf_init(&part, STUB_TYPES_BYTES_MAX);
        write_type(s, (struct place){&part, p.depth, p.indent}, i);
        wrap = between[1] == '&' && !is_simple(&part);
        stub_put(s, p.out, i == tree_first(list) ? "" : between);
        stub_put(s, p.out, wrap ? "(" : "");
        stub_put_bytes(s, p.out, part.len > 0 ? part.data : "", part.len);
        stub_put(s, p.out, wrap ? ")" : "");
        buf_release(&part);
    }
}

/* An array that is not empty, under a keyword; or 0. */
static uint32_t list_of(const struct stub *s, uint32_t at, const char *keyword)
{
    uint32_t list = tree_member(s->t, at, keyword);

    return list != 0 && s->t->values[list].kind == TREE_ARRAY && s->t->values[list].count > 0 ? list
                                                                                              : 0;
}

/* What "type" says, which may be several, or what the other keywords let guess. */
static void write_by_type(struct stub *s, struct place p, uint32_t at)
{
    uint32_t type = tree_member(s->t, at, "type"), i;
    struct tree_value guessed = {.kind = TREE_STRING};

    if (type == 0) {
        guessed.text = stub_guess_type(s->t, at);
        guessed.len = (uint32_t)strlen(guessed.text);
        write_named(s, p, at, &guessed);
        return;
    }
    if (s->t->values[type].kind != TREE_ARRAY || s->t->values[type].count == 0) {
        write_named(s, p, at, &s->t->values[type]);
        return;
    }
    for (i = tree_first(type); i != tree_end(s->t, type); i = tree_next(s->t, i)) {
        stub_put(s, p.out, i == tree_first(type) ? "" : " | ");
        write_named(s, p, at, &s->t->values[i]);
    }
}

static void write_combined(struct stub *s, struct place p, uint32_t at)
{
    uint32_t all = list_of(s, at, "allOf"), any = list_of(s, at, "anyOf");
    int own = tree_member(s->t, at, "properties") != 0;

    any = any != 0 ? any : list_of(s, at, "oneOf");
    if (own) {
        stub_put(s, p.out, "(");
        write_by_type(s, p, at);
        stub_put(s, p.out, ") & ");
    }
    if (all != 0) {
        write_list(s, p, all, " & ");
        stub_put(s, p.out, any != 0 ? " & " : "");
    }
    if (any != 0) {
        stub_put(s, p.out, own || all != 0 ? "(" : "");
        write_list(s, p, any, " | ");
        stub_put(s, p.out, own || all != 0 ? ")" : "");
    }
}

static void write_type(struct stub *s, struct place p, uint32_t at)
{
    const struct tree_value *v = &s->t->values[at];
    uint32_t ref = tree_member(s->t, at, "$ref"), constant = tree_member(s->t, at, "const");
    uint32_t list = list_of(s, at, "enum");
    const char *name;

    if (s->r < 0) {
        return;
    }
    p.depth++;
    if (v->kind != TREE_OBJECT || p.depth > STUB_DEPTH_MAX) {
        stub_put(s, p.out, v->kind == TREE_FALSE ? "never" : "unknown");
    } else if (ref != 0) {
        name = stub_ref_name(s, ref);
        stub_put(s, p.out, name == NULL ? "unknown" : name);
    } else if (constant != 0) {
        write_literal(s, p, constant);
    } else if (list != 0 && s->t->values[list].count <= STUB_LITERALS_MAX) {
        write_values(s, p, list);
    } else if (list_of(s, at, "allOf") != 0 || list_of(s, at, "anyOf") != 0 ||
               list_of(s, at, "oneOf") != 0) {
        write_combined(s, p, at);
    } else {
        write_by_type(s, p, at);
    }
}

static void define(struct stub *s, const char *name, uint32_t at)
{
    struct place p = {&s->types, 0, 0};
    struct buf about;

    buf_init(&about, STUB_TYPES_BYTES_MAX);
    stub_put_about(s, &about, at);
    if (s->verbose) {
        write_about(s, p, &about);
    }
    buf_release(&about);
    stub_put(s, &s->types, "type ");
    stub_put(s, &s->types, name);
    stub_put(s, &s->types, " = ");
    write_type(s, p, at);
    stub_put(s, &s->types, ";\n");
}

/* Can the argument be left out, or is there none at all? */
static int needs_nothing(const struct tree *t)
{
    uint32_t at = stub_follow(t, 0), required = tree_member(t, at, "required");
    uint32_t type = tree_member(t, at, "type");

    return t->values[at].kind == TREE_OBJECT && type != 0 &&
           tree_is_text(&t->values[type], "object") && tree_member(t, at, "allOf") == 0 &&
           tree_member(t, at, "anyOf") == 0 && tree_member(t, at, "oneOf") == 0 &&
           (required == 0 || t->values[required].count == 0);
}

static int takes_nothing(const struct tree *t)
{
    uint32_t at = stub_follow(t, 0), properties = tree_member(t, at, "properties");
    uint32_t additional = tree_member(t, at, "additionalProperties");

    return needs_nothing(t) && (properties == 0 || t->values[properties].count == 0) &&
           tree_member(t, at, "patternProperties") == 0 &&
           (additional == 0 || t->values[additional].kind == TREE_FALSE);
}

void stub_typescript_signature(
    struct stub *s, struct stub_item *item, const struct tree *input, const struct tree *output)
{
    struct place p = {&item->text, 0, (unsigned)item->parts_count - 1};

    if (input == NULL) {
        stub_put(s, p.out, "(input?: unknown): ");
    } else if (takes_nothing(input)) {
        stub_put(s, p.out, "(): ");
    } else {
        s->t = input;
        stub_put(s, p.out, needs_nothing(input) ? "(input?: " : "(input: ");
        write_type(s, p, 0);
        stub_put(s, p.out, "): ");
    }
    stub_put(s, p.out, item->tool->sync ? "" : "Promise<");
    if (output == NULL) {
        stub_put(s, p.out, "unknown");
    } else {
        s->t = output;
        (void)snprintf(s->scope + strlen(s->scope), sizeof(s->scope) - strlen(s->scope), "Result");
        write_type(s, p, 0);
    }
    stub_put(s, p.out, item->tool->sync ? ";" : ">;");
    stub_drain(s, define);
}

/* A part of the list of tools that are in one group: those whose parts before depth are those of
 * first. */
struct group {
    const struct stub_item *items;
    size_t count;
    size_t first;
    size_t depth;
    int as_object;
};

static int is_same(const struct stub_item *a, const struct stub_item *b, size_t depth)
{
    size_t i;

    if (a->parts_count < depth || b->parts_count < depth) {
        return 0;
    }
    for (i = 0; i < depth; i++) {
        if (strcmp(a->parts[i], b->parts[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Is item i the first of those that begin with the same parts? */
static int is_first(const struct group *g, size_t i, size_t depth)
{
    size_t k;

    for (k = 0; k < i; k++) {
        if (is_same(&g->items[k], &g->items[i], depth)) {
            return 0;
        }
    }
    return 1;
}

/* Are there tools below the first parts of item i? */
static int has_more(const struct group *g, size_t i, size_t depth)
{
    size_t k;

    for (k = 0; k < g->count; k++) {
        if (g->items[k].parts_count > depth && is_same(&g->items[k], &g->items[i], depth)) {
            return 1;
        }
    }
    return 0;
}

/* Has a name in the group parts that a namespace cannot have? */
static int has_odd_names(const struct group *g)
{
    const struct stub_item *item;
    size_t i, k;

    for (i = 0; i < g->count; i++) {
        item = &g->items[i];
        for (k = 0; is_same(item, &g->items[g->first], 1) && k < item->parts_count; k++) {
            if (!stub_is_identifier(STUB_TYPESCRIPT, item->parts[k], strlen(item->parts[k]))) {
                return 1;
            }
        }
    }
    return 0;
}

static void write_function(
    struct stub *s, struct place p, const struct stub_item *item, int as_object, int is_call)
{
    const char *name = item->parts[item->parts_count - 1];

    write_about(s, p, &item->about);
    stub_put_indent(s, p.out, p.indent);
    if (!as_object) {
        stub_put(s, p.out, p.indent == 0 ? "declare function " : "function ");
    }
    if (!is_call) {
        write_name(s, p.out, name, strlen(name));
    }
    stub_put_bytes(s, p.out, item->text.data, item->text.len);
    stub_put(s, p.out, "\n");
}

static void write_group(struct stub *s, struct place p, struct group g);

/* What item i adds to a group of this depth. A tool that has tools below it is a function beside a
 * namespace, but an object has only one member of a name, which can be called. */
static void write_member(struct stub *s, struct place p, const struct group *g, size_t i)
{
    const struct stub_item *item = &g->items[i];
    int more = has_more(g, i, g->depth + 1);

    if (item->parts_count == g->depth + 1 && !(more && g->as_object)) {
        write_function(s, p, item, g->as_object, 0);
    }
    if (more && is_first(g, i, g->depth + 1)) {
        write_group(s, p, (struct group){g->items, g->count, i, g->depth + 1, g->as_object});
    }
}

/* Recurses as deep as names have parts. */
static void write_group(struct stub *s, struct place p, struct group g)
{
    const struct stub_item *first = &g.items[g.first];
    const char *name = first->parts[g.depth - 1];
    size_t i;

    stub_put_indent(s, p.out, p.indent);
    stub_put(s, p.out, p.indent == 0 ? "declare " : "");
    stub_put(s, p.out, !g.as_object ? "namespace " : p.indent == 0 ? "const " : "");
    write_name(s, p.out, name, strlen(name));
    stub_put(s, p.out, g.as_object ? ": {\n" : " {\n");
    p.indent++;
    for (i = 0; i < g.count; i++) {
        if (!is_same(&g.items[i], first, g.depth)) {
            continue;
        }
        if (g.items[i].parts_count > g.depth) {
            write_member(s, p, &g, i);
        } else if (g.as_object) {
            write_function(s, p, &g.items[i], 1, 1);
        }
    }
    p.indent--;
    stub_put_indent(s, p.out, p.indent);
    stub_put(s, p.out, g.as_object ? "};\n" : "}\n");
}

void stub_typescript_layout(
    struct stub *s, const struct stub_item *items, size_t count, struct buf *out)
{
    struct place p = {out, 0, 0};
    struct group g = {items, count, 0, 0, 0};

    stub_put_bytes(s, out, s->types.len > 0 ? s->types.data : "", s->types.len);
    for (g.first = 0; g.first < count && s->r == VIAL_OK; g.first++) {
        g.as_object = has_odd_names(&g);
        write_member(s, p, &g, g.first);
    }
}
