/* stub.c - see stub.h. */
#include "schema/stub.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

enum {
    INDENT = 2,
    INDENT_PYTHON = 4,
    TRIES = 9, /* to find a small number for a name that is taken */
};

void stub_release(struct stub *s)
{
    buf_release(&s->types);
    free(s->names);
    free(s->pending);
    s->names = NULL;
    s->pending = NULL;
}

void stub_put_bytes(struct stub *s, struct buf *out, const char *bytes, size_t len)
{
    if (s->r == VIAL_OK) {
        s->r = buf_add(out, bytes, len, s->err);
    }
}

void stub_put(struct stub *s, struct buf *out, const char *text)
{
    stub_put_bytes(s, out, text, strlen(text));
}

void stub_put_indent(struct stub *s, struct buf *out, unsigned indent)
{
    unsigned i;

    for (i = 0; i < indent * (s->language == STUB_PYTHON ? INDENT_PYTHON : INDENT); i++) {
        stub_put_bytes(s, out, " ", 1);
    }
}

void stub_put_literal(struct stub *s, struct buf *out, const char *bytes, size_t len)
{
    struct json_writer w;

    if (s->r < 0) {
        return;
    }
    json_init(&w, out, s->err);
    json_write_string(&w, bytes, len);
    s->r = json_finish(&w);
}

/* Is it white space or a control character, U+2028 and the like included? n is its length. */
static int is_blank(const char *p, int n)
{
    const unsigned char *b = (const unsigned char *)p;

    return b[0] <= 0x20 || b[0] == 0x7f || (n == 2 && b[0] == 0xc2 && b[1] <= 0xa0) ||
           (n == 3 && b[0] == 0xe2 && b[1] == 0x80 && (b[2] == 0xa8 || b[2] == 0xa9));
}

/* One character of a comment; before is the one that was written before. */
static void put_comment_char(struct stub *s, struct buf *out, const char *p, int n, char before)
{
    if (s->language == STUB_PYTHON && *p == '\\') {
        stub_put(s, out, "\\\\");
    } else if (s->language == STUB_PYTHON && *p == '"') {
        stub_put(s, out, "'"); /* three of them would end a docstring */
    } else if (s->language == STUB_TYPESCRIPT && *p == '/' && before == '*') {
        stub_put(s, out, "\\/");
    } else {
        stub_put_bytes(s, out, p, (size_t)n);
    }
}

void stub_put_comment(struct stub *s, struct buf *out, const char *bytes, size_t len, size_t max)
{
    size_t at = 0, start = out->len;
    char before = out->len > 0 ? out->data[out->len - 1] : ' ';
    int blank = 0, n;

    while (at < len && s->r == VIAL_OK) {
        n = utf8_sequence(bytes + at, len - at);
        if (n < 0) {
            at += (size_t)-n;
            continue; /* what is no text is left out */
        }
        if (is_blank(bytes + at, n)) {
            blank = out->len > start;
            at += (size_t)n;
            continue;
        }
        if (out->len - start + (size_t)n + 1 > max) {
            stub_put(s, out, "...");
            return;
        }
        if (blank) {
            stub_put(s, out, " ");
            before = ' ';
            blank = 0;
        }
        put_comment_char(s, out, bytes + at, n, before);
        before = bytes[at];
        at += (size_t)n;
    }
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_in(const char *const *words, const char *name, size_t len)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == len && memcmp(*words, name, len) == 0) {
            return 1;
        }
    }
    return 0;
}

int stub_is_identifier(enum stub_language language, const char *name, size_t len)
{
    static const char *const typescript[] = {"arguments", "as", "await", "break", "case", "catch",
        "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "eval",
        "export", "extends", "false", "finally", "for", "function", "if", "implements", "import",
        "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected",
        "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
        "undefined", "var", "void", "while", "with", "yield", NULL};
    static const char *const python[] = {"False", "None", "True", "and", "as", "assert", "async",
        "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally",
        "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
        "pass", "raise", "return", "try", "while", "with", "yield", NULL};
    size_t i;

    for (i = 0; i < len; i++) {
        if (!(is_letter(name[i]) || (i > 0 && is_digit(name[i])) ||
                (name[i] == '$' && language == STUB_TYPESCRIPT))) {
            return 0;
        }
    }
    return len > 0 && !is_in(language == STUB_PYTHON ? python : typescript, name, len);
}

void stub_append_pascal(char *out, size_t size, const char *name, size_t len)
{
    size_t n = strlen(out), i;
    int up = 1;
    char c;

    for (i = 0; i < len && n + 1 < size; i++) {
        c = name[i];
        if (c == '_' || !(is_letter(c) || is_digit(c))) {
            up = 1;
            continue;
        }
        if (n == 0 && is_digit(c)) {
            out[n++] = 'T';
        }
        if (n + 1 < size) {
            out[n++] = (char)(up && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        }
        up = 0;
    }
    out[n] = '\0';
}

static const struct stub_name *find_name(const struct stub *s, const char *name)
{
    size_t i;

    for (i = 0; i < s->names_count; i++) {
        if (strcmp(s->names[i].text, name) == 0) {
            return &s->names[i];
        }
    }
    return NULL;
}

static void add_name(struct stub *s, const char *name, uint64_t hash)
{
    struct stub_name *grown;

    if (s->r < 0) {
        return;
    }
    if (s->names_count == STUB_TYPES_MAX) {
        s->r =
            vial__fail(s->err, VIAL_E_INVALID, "the tools have more than %d types", STUB_TYPES_MAX);
        return;
    }
    /* Grows by doubling: at 0 and at powers of two there is no room left. */
    if ((s->names_count & (s->names_count - 1)) == 0) {
        grown =
            realloc(s->names, (s->names_count == 0 ? 1 : s->names_count * 2) * sizeof(*s->names));
        if (grown == NULL) {
            s->r = vial__fail(s->err, VIAL_E_NOMEM, "no memory for names of types");
            return;
        }
        s->names = grown;
    }
    s->names[s->names_count] = (struct stub_name){.hash = hash};
    (void)snprintf(s->names[s->names_count].text, STUB_TYPE_NAME_BYTES_MAX, "%s", name);
    s->names_count++;
}

/* Names that mean something already, where a type of ours would hide it. */
static int is_builtin(const struct stub *s, const char *name)
{
    static const char *const typescript[] = {"Array", "Boolean", "Date", "Error", "Function", "Map",
        "Number", "Object", "Partial", "Promise", "Record", "RegExp", "Set", "String", "Symbol",
        NULL};
    static const char *const python[] = {"Any", "Ellipsis", "Exception", "Literal",
        "NotImplemented", "NotRequired", "Optional", "TypedDict", "Union", NULL};

    return is_in(s->language == STUB_PYTHON ? python : typescript, name, strlen(name)) ||
           !stub_is_identifier(s->language, name, strlen(name));
}

void stub_take_name(struct stub *s, char *name, uint64_t hash)
{
    char base[STUB_TYPE_NAME_BYTES_MAX - 8];
    size_t i = 2;

    if (name[0] == '\0') {
        (void)snprintf(name, STUB_TYPE_NAME_BYTES_MAX, "Type");
    }
    if (is_builtin(s, name)) {
        (void)snprintf(base, sizeof(base), "%.*s", (int)sizeof(base) - 1, name);
        (void)snprintf(name, STUB_TYPE_NAME_BYTES_MAX, "%sType", base);
    }
    (void)snprintf(base, sizeof(base), "%.*s", (int)sizeof(base) - 1, name);
    /* A schema may have thousands of types that would be called the same: after a few attempts the
     * number is one that is hardly taken. */
    while (find_name(s, name) != NULL) {
        (void)snprintf(name, STUB_TYPE_NAME_BYTES_MAX, "%s%zu", base, i);
        i = i == TRIES ? i + s->names_count : i + 1;
    }
    add_name(s, name, hash);
}

void stub_reserve(struct stub *s, const char *name, size_t len)
{
    char text[STUB_TYPE_NAME_BYTES_MAX];

    if (len < sizeof(text)) {
        memcpy(text, name, len);
        text[len] = '\0';
        if (find_name(s, text) == NULL) {
            add_name(s, text, 0);
        }
    }
}

uint32_t stub_resolve(const struct tree *t, uint32_t ref)
{
    const struct tree_value *v = &t->values[ref];

    if (v->kind != TREE_STRING || v->len == 0 || v->text[0] != '#') {
        return UINT32_MAX;
    }
    return tree_fragment(t, v->text + 1, v->len - 1);
}

uint32_t stub_follow(const struct tree *t, uint32_t at)
{
    uint32_t ref, target;
    int i;

    for (i = 0; i < STUB_FOLLOW_MAX; i++) {
        ref = tree_member(t, at, "$ref");
        if (ref == 0 || tree_member(t, at, "properties") != 0) {
            break;
        }
        target = stub_resolve(t, ref);
        if (target == UINT32_MAX) {
            break;
        }
        at = target;
    }
    return at;
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    }
    return hash;
}

/* Two tools share a type when it is called the same and all definitions that it may refer to are
 * the same text. */
static uint64_t hash_definition(const struct tree *t, uint32_t ref)
{
    static const char *const containers[] = {"$defs", "definitions"};
    const struct tree_value *v = &t->values[ref];
    uint64_t hash = hash_bytes(UINT64_C(14695981039346656037), v->text, v->len);
    uint32_t at;
    size_t i, len;

    for (i = 0; i < 2; i++) {
        len = strlen(containers[i]);
        at = tree_member(t, 0, containers[i]);
        if (at != 0 && v->len > len + 2 && memcmp(v->text + 2, containers[i], len) == 0) {
            return hash_bytes(hash, t->values[at].text, t->values[at].len) | 1;
        }
    }
    return hash_bytes(hash, t->values[0].text, t->values[0].len) | 1;
}

static void add_pending(struct stub *s, uint32_t at, const char *name)
{
    struct stub_pending *grown;

    if (s->r < 0) {
        return;
    }
    if ((s->pending_count & (s->pending_count - 1)) == 0) {
        grown = realloc(
            s->pending, (s->pending_count == 0 ? 1 : s->pending_count * 2) * sizeof(*s->pending));
        if (grown == NULL) {
            s->r = vial__fail(s->err, VIAL_E_NOMEM, "no memory for types");
            return;
        }
        s->pending = grown;
    }
    s->pending[s->pending_count] = (struct stub_pending){.t = s->t, .at = at};
    (void)snprintf(s->pending[s->pending_count].name, STUB_TYPE_NAME_BYTES_MAX, "%s", name);
    s->pending_count++;
}

const char *stub_ref_name(struct stub *s, uint32_t ref)
{
    const struct tree_value *v = &s->t->values[ref];
    uint32_t target = stub_resolve(s->t, ref);
    char name[STUB_TYPE_NAME_BYTES_MAX] = "";
    const char *part;
    uint64_t hash;
    size_t i;

    if (target == UINT32_MAX) {
        return NULL;
    }
    hash = hash_definition(s->t, ref);
    for (i = 0; i < s->names_count; i++) {
        if (s->names[i].hash == hash) {
            return s->names[i].text;
        }
    }
    part = memrchr(v->text, '/', v->len);
    if (part != NULL) {
        stub_append_pascal(name, sizeof(name) - 8, part + 1, (size_t)(v->text + v->len - part) - 1);
    } else {
        (void)snprintf(name, sizeof(name), "%.80s", s->scope);
    }
    stub_take_name(s, name, hash);
    add_pending(s, target, name);
    return s->r < 0 ? NULL : s->names[s->names_count - 1].text;
}

void stub_drain(struct stub *s, void (*define)(struct stub *s, const char *name, uint32_t at))
{
    struct stub_pending next;

    while (s->r == VIAL_OK && s->pending_count > 0) {
        next = s->pending[--s->pending_count];
        s->t = next.t;
        (void)snprintf(s->scope, sizeof(s->scope), "%s", next.name);
        define(s, next.name, next.at);
    }
}

const char *stub_guess_type(const struct tree *t, uint32_t at)
{
    static const char *const rows[][2] = {{"properties", "object"},
        {"additionalProperties", "object"}, {"patternProperties", "object"}, {"required", "object"},
        {"propertyNames", "object"}, {"items", "array"}, {"prefixItems", "array"},
        {"minLength", "string"}, {"maxLength", "string"}, {"pattern", "string"},
        {"minimum", "number"}, {"maximum", "number"}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (tree_member(t, at, rows[i][0]) != 0) {
            return rows[i][1];
        }
    }
    return "";
}

uint32_t stub_count(const struct tree *t, uint32_t at, const char *keyword, uint32_t fallback)
{
    uint32_t value = tree_member(t, at, keyword), result = 0, i;
    const struct tree_value *v = &t->values[value];

    if (value == 0 || v->kind != TREE_NUMBER || v->len > 6) {
        return fallback;
    }
    for (i = 0; i < v->len && is_digit(v->text[i]); i++) {
        result = result * 10 + (uint32_t)(v->text[i] - '0');
    }
    return i == v->len ? result : fallback;
}

int stub_is_required(const struct tree *t, uint32_t at, const struct tree_value *name)
{
    uint32_t list = tree_member(t, at, "required"), i;

    if (list == 0 || t->values[list].kind != TREE_ARRAY) {
        return 0;
    }
    for (i = tree_first(list); i != tree_end(t, list); i = tree_next(t, i)) {
        if (t->values[i].kind == TREE_STRING && t->values[i].len == name->len &&
            memcmp(t->values[i].text, name->text, name->len) == 0) {
            return 1;
        }
    }
    return 0;
}

/* One limit, when the schema has it: "at least 1". */
static void put_limit(struct stub *s, struct buf *out, uint32_t at, const char *keyword,
    const char *before, const char *after)
{
    uint32_t value = tree_member(s->t, at, keyword);
    const struct tree_value *v = &s->t->values[value];

    if (value == 0 || (v->kind == TREE_FALSE && strcmp(keyword, "uniqueItems") == 0)) {
        return;
    }
    stub_put(s, out, out->len == 0 ? "" : out->data[out->len - 1] == '.' ? " " : "; ");
    stub_put(s, out, before);
    if (v->kind != TREE_TRUE || strcmp(keyword, "default") == 0) {
        stub_put_comment(s, out, v->text, v->len, STUB_SHORT_BYTES);
    }
    stub_put(s, out, after);
}

void stub_put_about(struct stub *s, struct buf *out, uint32_t at)
{
    static const char *const limits[][3] = {{"format", "format ", ""}, {"minimum", "at least ", ""},
        {"maximum", "at most ", ""}, {"exclusiveMinimum", "more than ", ""},
        {"exclusiveMaximum", "less than ", ""}, {"multipleOf", "a multiple of ", ""},
        {"minLength", "at least ", " characters"}, {"maxLength", "at most ", " characters"},
        {"pattern", "matches ", ""}, {"minItems", "at least ", " elements"},
        {"maxItems", "at most ", " elements"}, {"uniqueItems", "all elements differ", ""},
        {"minProperties", "at least ", " properties"}, {"maxProperties", "at most ", " properties"},
        {"default", "default ", ""}, {"examples", "such as ", ""},
        {"deprecated", "deprecated", ""}};
    uint32_t description = tree_member(s->t, at, "description");
    const struct tree_value *v = &s->t->values[description];
    struct buf text;
    size_t i;

    buf_init(&text, (size_t)STUB_LONG_BYTES * 8);
    if (description != 0 && v->kind == TREE_STRING) {
        stub_put_comment(
            s, &text, v->text, v->len, s->verbose ? STUB_LONG_BYTES : STUB_SHORT_BYTES);
    }
    for (i = 0; s->verbose && i < sizeof(limits) / sizeof(limits[0]); i++) {
        put_limit(s, &text, at, limits[i][0], limits[i][1], limits[i][2]);
    }
    stub_put_bytes(s, out, text.len > 0 ? text.data : "", text.len);
    buf_release(&text);
}
