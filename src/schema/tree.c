/* tree.c - see tree.h.
 *
 * The text is checked first, by json_check, and read after that, by a loop that can trust it: no
 * quote is missing and every escape is whole. Both go through it once; that is quicker than one
 * pass that builds and doubts at the same time, and the grammar stays in one place. */
#include "schema/tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "schema/number.h"
#include "schema/show.h"

enum {
    PAIRWISE_MAX = 16, /* up to so many names are compared each with each, then they are sorted */
    POINTER_BYTES_MAX = 2048, /* of a reference; 128 levels of ordinary names */
};

struct reading {
    struct tree *t;
    const char *p;
    const char *end;
    size_t text_len;
    uint32_t open[TREE_DEPTH_MAX]; /* the containers around p */
    unsigned depth;
    struct vial_error *err;
};

static int add_value(
    struct reading *r, enum tree_kind kind, const char *text, struct tree_value **ret)
{
    struct tree *t = r->t;
    struct tree_value *grown;
    uint32_t capacity;

    if (t->count == t->capacity) {
        if (t->count == TREE_VALUES_MAX) {
            return vial__fail(
                r->err, VIAL_E_INVALID, "the JSON has more than %d values", TREE_VALUES_MAX);
        }
        capacity = t->capacity * 4 < TREE_VALUES_MAX ? t->capacity * 4 : TREE_VALUES_MAX;
        grown = realloc(t->values == t->first ? NULL : t->values, capacity * sizeof(*grown));
        if (grown == NULL) {
            return vial__fail(r->err, VIAL_E_NOMEM, "no memory for %u values of JSON", capacity);
        }
        if (t->values == t->first) {
            memcpy(grown, t->first, sizeof(t->first));
        }
        t->values = grown;
        t->capacity = capacity;
    }
    *ret = &t->values[t->count++];
    **ret = (struct tree_value){.text = text, .kind = (unsigned char)kind, .next = t->count};
    return VIAL_OK;
}

static uint32_t hex4(const char *p)
{
    uint32_t v = 0;
    int i;

    for (i = 0; i < 4; i++) {
        v = v << 4 | (uint32_t)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    }
    return v;
}

/* Decodes the escape at *p, moves *p behind it, and returns how many bytes it became. Halves of
 * surrogate pairs become three bytes that are no UTF-8: different halves stay different, and they
 * count as one character. */
static size_t decode_escape(const char **p, const char *end, char *out)
{
    static const char letters[] = "b\bf\fn\nr\rt\t";
    const char *at = *p + 1;
    uint32_t c, low;
    size_t i;

    if (*at != 'u') {
        *out = *at;
        for (i = 0; i + 1 < sizeof(letters); i += 2) {
            *out = letters[i] == *at ? letters[i + 1] : *out;
        }
        *p = at + 1;
        return 1;
    }
    c = hex4(at + 1);
    *p = at + 5;
    if (c >= 0xd800 && c < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        low = hex4(*p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            *p += 6;
        }
    }
    return utf8_put(out, c);
}

/* from is behind the opening quote, at is the first backslash. */
static int read_escaped(struct reading *r, const char *from, const char *at, struct tree_value *v)
{
    struct tree *t = r->t;
    char *out;

    if (t->strings == NULL) {
        t->strings = malloc(r->text_len + 1); /* no string is longer decoded than written */
        if (t->strings == NULL) {
            return vial__fail(
                r->err, VIAL_E_NOMEM, "no memory for %zu bytes of JSON strings", r->text_len);
        }
    }
    v->text = t->strings + t->strings_len;
    out = t->strings + t->strings_len;
    while (*at != '"') {
        if (*at == '\\') {
            memcpy(out, from, (size_t)(at - from));
            out += at - from;
            out += decode_escape(&at, r->end, out);
            from = at;
        } else {
            at++;
        }
    }
    memcpy(out, from, (size_t)(at - from));
    out += at - from;
    v->len = (uint32_t)(out - v->text);
    t->strings_len += v->len;
    assert(t->strings_len <= r->text_len);
    r->p = at + 1;
    return VIAL_OK;
}

/* r->p is at the opening quote. */
static int read_string(struct reading *r)
{
    const char *from = r->p + 1, *at = from;
    struct tree_value *v;
    int code;

    code = add_value(r, TREE_STRING, from, &v);
    if (code < 0) {
        return code;
    }
    for (;;) {
        at += utf8_plain_run(at, r->end);
        if (*at == '"' || *at == '\\') {
            break;
        }
        at++;
    }
    if (*at == '\\') {
        return read_escaped(r, from, at, v);
    }
    v->len = (uint32_t)(at - from);
    r->p = at + 1;
    return VIAL_OK;
}

static int compare_names(const void *a, const void *b)
{
    const struct tree_value *x = *(const struct tree_value *const *)a;
    const struct tree_value *y = *(const struct tree_value *const *)b;
    int d = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

    return d != 0 ? d : (x->len > y->len) - (x->len < y->len);
}

/* The names of an object in order, in memory the caller frees; NULL without memory. */
static const struct tree_value **sort_names(const struct tree *t, uint32_t object)
{
    uint32_t count = t->values[object].count, i, k = 0;
    const struct tree_value **names = malloc(((size_t)count + 1) * sizeof(struct tree_value *));

    if (names == NULL) {
        return NULL;
    }
    for (i = tree_first(object); k < count; i = tree_next(t, i + 1)) {
        names[k++] = &t->values[i];
    }
    qsort(names, count, sizeof(struct tree_value *), compare_names);
    return names;
}

static int same_text(const struct tree_value *a, const struct tree_value *b)
{
    return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static const struct tree_value *find_pair(const struct tree *t, uint32_t object, uint32_t end)
{
    uint32_t i, k;

    for (i = tree_first(object); i != end; i = tree_next(t, i + 1)) {
        for (k = tree_first(object); k != i; k = tree_next(t, k + 1)) {
            if (same_text(&t->values[i], &t->values[k])) {
                return &t->values[i];
            }
        }
    }
    return NULL;
}

/* Called when an object is complete. */
static int check_names(struct reading *r, uint32_t object)
{
    const struct tree_value **names VIAL_CLEANUP(vial__freep) = NULL;
    const struct tree_value *twice = NULL;
    uint32_t count = r->t->values[object].count, i;
    struct show name;

    if (count <= PAIRWISE_MAX) {
        twice = find_pair(r->t, object, r->t->count);
    } else {
        names = sort_names(r->t, object);
        if (names == NULL) {
            return vial__fail(r->err, VIAL_E_NOMEM, "no memory to compare %u names", count);
        }
        for (i = 1; i < count && twice == NULL; i++) {
            twice = same_text(names[i - 1], names[i]) ? names[i] : NULL;
        }
    }
    if (twice != NULL) {
        return vial__fail(r->err, VIAL_E_INVALID, "the JSON has the name %s twice in one object",
            show_text(&name, twice->text, twice->len));
    }
    return VIAL_OK;
}

/* What may stand between two values, names included. */
static int is_between(char c)
{
    return c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static int in_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-';
}

static int read_scalar(struct reading *r)
{
    const char *from = r->p;
    enum tree_kind kind = TREE_NUMBER;
    struct tree_value *v;
    int code;

    if (*r->p == '"') {
        return read_string(r);
    }
    if (*r->p == 't' || *r->p == 'f' || *r->p == 'n') {
        kind = *r->p == 't' ? TREE_TRUE : *r->p == 'f' ? TREE_FALSE : TREE_NULL;
        r->p += *r->p == 'f' ? 5 : 4;
    } else {
        do {
            r->p++;
        } while (r->p < r->end && in_number(*r->p));
    }
    code = add_value(r, kind, from, &v);
    if (code == VIAL_OK) {
        v->len = (uint32_t)(r->p - from);
    }
    return code;
}

static int open_container(struct reading *r, enum tree_kind kind)
{
    struct tree_value *v;
    int code = add_value(r, kind, r->p, &v);

    if (code == VIAL_OK) {
        assert(r->depth < TREE_DEPTH_MAX);
        r->open[r->depth++] = r->t->count - 1;
        r->p++;
    }
    return code;
}

static int close_container(struct reading *r)
{
    uint32_t at = r->open[--r->depth];
    struct tree_value *v = &r->t->values[at];

    r->p++;
    v->next = r->t->count;
    v->len = (uint32_t)(r->p - v->text);
    if (v->kind == TREE_ARRAY) {
        return VIAL_OK;
    }
    assert(v->count % 2 == 0);
    v->count /= 2; /* names and values were counted */
    return v->count > 1 ? check_names(r, at) : VIAL_OK;
}

/* Goes from sign to sign; commas and colons tell nothing that the places of values do not. */
static int read_all(struct reading *r)
{
    int code = VIAL_OK;

    while (code == VIAL_OK) {
        while (r->p < r->end && is_between(*r->p)) {
            r->p++;
        }
        if (r->p == r->end) {
            return VIAL_OK;
        }
        if (*r->p == ']' || *r->p == '}') {
            code = close_container(r);
            continue;
        }
        if (r->depth > 0) {
            r->t->values[r->open[r->depth - 1]].count++;
        }
        if (*r->p == '[' || *r->p == '{') {
            code = open_container(r, *r->p == '[' ? TREE_ARRAY : TREE_OBJECT);
        } else {
            code = read_scalar(r);
        }
    }
    return code;
}

int tree_read(struct tree *t, const char *text, size_t len, struct vial_error *err)
{
    struct reading reading = {.t = t, .p = text, .text_len = len, .err = err};
    struct json_fault fault;
    int r;

    t->values = t->first;
    t->count = 0;
    t->capacity = TREE_INLINE;
    t->strings = NULL;
    t->strings_len = 0;
    if (len > TREE_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the JSON has %zu bytes; at most %d are taken", len,
            TREE_BYTES_MAX);
    }
    if (json_check(text, len, TREE_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "this is not JSON: line %u, column %u: %s",
            fault.line, fault.column, fault.why);
    }
    reading.end = text + len;
    r = read_all(&reading);
    if (r < 0) {
        tree_release(t);
    }
    return r;
}

void tree_release(struct tree *t)
{
    if (t->values != t->first) {
        free(t->values);
    }
    free(t->strings);
    t->values = NULL;
    t->strings = NULL;
    t->count = 0;
}

int tree_is_text(const struct tree_value *v, const char *text)
{
    size_t len = strlen(text);

    return v->kind == TREE_STRING && v->len == len && memcmp(v->text, text, len) == 0;
}

static uint32_t find_member(const struct tree *t, uint32_t at, const char *name, size_t len)
{
    uint32_t i, end = tree_end(t, at);

    if (t->values[at].kind != TREE_OBJECT) {
        return 0;
    }
    for (i = tree_first(at); i != end; i = tree_next(t, i + 1)) {
        if (t->values[i].len == len && memcmp(t->values[i].text, name, len) == 0) {
            return i + 1;
        }
    }
    return 0;
}

uint32_t tree_member(const struct tree *t, uint32_t at, const char *name)
{
    return find_member(t, at, name, strlen(name));
}

static int canonical_number(const struct tree_value *v, struct buf *out, struct vial_error *err)
{
    char head[32];
    struct number n;
    const char *p;
    int r;

    number_read(&n, v->text, v->len);
    (void)snprintf(head, sizeof(head), "#%c%lld:", n.negative ? '-' : '+', (long long)n.exponent);
    r = buf_add_text(out, head, err);
    for (p = n.digits; r == VIAL_OK && p < n.end; p++) {
        if (*p != '.') {
            r = buf_add(out, p, 1, err);
        }
    }
    return r == VIAL_OK ? buf_add(out, ";", 1, err) : r;
}

static int canonical_object(
    const struct tree *t, uint32_t at, struct buf *out, struct vial_error *err)
{
    const struct tree_value **names VIAL_CLEANUP(vial__freep) = sort_names(t, at);
    uint32_t i;
    int r;

    if (names == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for %u names", t->values[at].count);
    }
    r = buf_add(out, "{", 1, err);
    for (i = 0; r == VIAL_OK && i < t->values[at].count; i++) {
        r = tree_canonical(t, (uint32_t)(names[i] - t->values), out, err);
        if (r == VIAL_OK) {
            r = tree_canonical(t, (uint32_t)(names[i] - t->values) + 1, out, err);
        }
    }
    return r == VIAL_OK ? buf_add(out, "}", 1, err) : r;
}

/* Recurses at most TREE_DEPTH_MAX deep: no tree is deeper. */
int tree_canonical(const struct tree *t, uint32_t at, struct buf *out, struct vial_error *err)
{
    static const char signs[] = {[TREE_NULL] = 'n', [TREE_FALSE] = 'f', [TREE_TRUE] = 't'};
    const struct tree_value *v = &t->values[at];
    uint32_t i;
    int r;

    switch ((enum tree_kind)v->kind) {
    case TREE_NULL:
    case TREE_FALSE:
    case TREE_TRUE:
        return buf_add(out, &signs[v->kind], 1, err);
    case TREE_NUMBER:
        return canonical_number(v, out, err);
    case TREE_STRING:
        r = buf_add(out, "\"", 1, err);
        r = r == VIAL_OK ? buf_add_u32(out, v->len, err) : r;
        return r == VIAL_OK ? buf_add(out, v->text, v->len, err) : r;
    case TREE_ARRAY:
        r = buf_add(out, "[", 1, err);
        for (i = tree_first(at); r == VIAL_OK && i != tree_end(t, at); i = tree_next(t, i)) {
            r = tree_canonical(t, i, out, err);
        }
        return r == VIAL_OK ? buf_add(out, "]", 1, err) : r;
    case TREE_OBJECT:
    default:
        return canonical_object(t, at, out, err);
    }
}

/* One part of a pointer, from p to end, with ~0 and ~1 decoded into out, which has room for it. */
static size_t decode_part(const char *p, const char *end, char *out)
{
    size_t len = 0;

    for (; p < end; p++) {
        out[len++] = *p;
        if (*p == '~' && p + 1 < end && (p[1] == '0' || p[1] == '1')) {
            out[len - 1] = p[1] == '0' ? '~' : '/';
            p++;
        }
    }
    return len;
}

static uint32_t element_at(const struct tree *t, uint32_t at, const char *part, size_t len)
{
    uint32_t index = 0, i;
    size_t k;

    if (t->values[at].kind != TREE_ARRAY || len == 0 || len > 9 || (part[0] == '0' && len > 1)) {
        return 0;
    }
    for (k = 0; k < len; k++) {
        if (part[k] < '0' || part[k] > '9') {
            return 0;
        }
        index = index * 10 + (uint32_t)(part[k] - '0');
    }
    if (index >= t->values[at].count) {
        return 0;
    }
    for (i = tree_first(at); index > 0; index--) {
        i = tree_next(t, i);
    }
    return i;
}

uint32_t tree_pointer(const struct tree *t, const char *pointer, size_t len)
{
    const char *p = pointer, *end = pointer + len, *stop;
    char part[1024]; /* a name longer than that is not pointed to */
    uint32_t at = 0;
    size_t n;

    while (p < end) {
        if (*p != '/') {
            return UINT32_MAX;
        }
        p++;
        stop = memchr(p, '/', (size_t)(end - p));
        stop = stop == NULL ? end : stop;
        if ((size_t)(stop - p) > sizeof(part)) {
            return UINT32_MAX;
        }
        n = decode_part(p, stop, part);
        at = t->values[at].kind == TREE_OBJECT ? find_member(t, at, part, n)
                                               : element_at(t, at, part, n);
        if (at == 0) {
            return UINT32_MAX;
        }
        p = stop;
    }
    return at;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes %XX; the length, or SIZE_MAX when it is malformed. out has room for all of it. */
static size_t decode_percent(const char *text, size_t len, char *out)
{
    size_t i, n = 0;

    for (i = 0; i < len; i++) {
        if (text[i] != '%') {
            out[n++] = text[i];
            continue;
        }
        if (len - i < 3 || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) {
            return SIZE_MAX;
        }
        out[n++] = (char)(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
        i += 2;
    }
    return n;
}

uint32_t tree_fragment(const struct tree *t, const char *fragment, size_t len)
{
    char pointer[POINTER_BYTES_MAX] = "";
    size_t n;

    if (len > sizeof(pointer)) {
        return UINT32_MAX;
    }
    n = decode_percent(fragment, len, pointer);
    return n == SIZE_MAX ? UINT32_MAX : tree_pointer(t, pointer, n);
}

int tree_path_part(const char *name, size_t len, struct buf *out, struct vial_error *err)
{
    int r = buf_add(out, "/", 1, err);
    size_t i;

    for (i = 0; r == VIAL_OK && i < len; i++) {
        if (name[i] == '~' || name[i] == '/') {
            r = buf_add(out, name[i] == '~' ? "~0" : "~1", 2, err);
        } else {
            r = buf_add(out, name + i, 1, err);
        }
    }
    return r;
}

int tree_path(const struct tree *t, uint32_t at, struct buf *out, struct vial_error *err)
{
    uint32_t here = 0, i, index;
    char digits[16];
    int is_object, r = VIAL_OK;

    while (r == VIAL_OK && here != at) {
        is_object = t->values[here].kind == TREE_OBJECT;
        index = 0;
        /* The child that holds the wanted value; of an object, the value behind its name. */
        for (i = tree_first(here); tree_next(t, i + (is_object ? 1 : 0)) <= at; index++) {
            i = tree_next(t, i + (is_object ? 1 : 0));
        }
        if (is_object) {
            r = tree_path_part(t->values[i].text, t->values[i].len, out, err);
            here = at == i ? i : i + 1;
        } else {
            (void)snprintf(digits, sizeof(digits), "%u", index);
            r = tree_path_part(digits, strlen(digits), out, err);
            here = i;
        }
    }
    return r;
}
