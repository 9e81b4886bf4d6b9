/* problem.c - see problem.h, and schema_report_text of schema.h. */
#include "schema/problem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "schema/show.h"

enum {
    FIRST_CAPACITY = 8,
    LIST_BYTES_MAX = 220, /* of values in a message; there is more to say */
    PATH_DOTS = 3,
    REPORT_PARTS_MAX = 256, /* of one path; no tree is so deep */
};

void problems_release(struct problems *p)
{
    free(p->list);
    *p = (struct problems){.list = NULL};
}

int problems_full(const struct problems *p)
{
    return p->count - p->scope >= SCHEMA_PROBLEMS_MAX || p->count >= PROBLEM_STACK_MAX;
}

int problems_add(struct problems *p, uint32_t at, enum problem_kind kind, struct vial_error *err,
    const char *format, ...)
{
    struct problem *grown;
    size_t capacity;
    va_list args;

    if (problems_full(p)) {
        return 1;
    }
    if (p->count == p->capacity) {
        capacity = p->capacity == 0 ? FIRST_CAPACITY : p->capacity * 2;
        grown = realloc(p->list, capacity * sizeof(*grown));
        if (grown == NULL) {
            return vial__fail(err, VIAL_E_NOMEM, "no memory for the problems of a value");
        }
        p->list = grown;
        p->capacity = capacity;
    }
    p->list[p->count] = (struct problem){.at = at, .kind = (unsigned char)kind};
    va_start(args, format);
    (void)vsnprintf(p->list[p->count].message, SCHEMA_MESSAGE_BYTES_MAX, format, args);
    va_end(args);
    p->count++;
    return 1;
}

struct problem *problems_last(struct problems *p)
{
    return p->count == p->scope ? NULL : &p->list[p->count - 1];
}

/* Appends to a text that has room for size bytes; what does not fit is left out. */
static void append(char *out, size_t size, const char *text)
{
    size_t len = strlen(out);

    (void)snprintf(out + len, size - len, "%s", text);
}

void problem_say_types(unsigned types, const struct tree_value *v, char *out, size_t size)
{
    static const struct {
        unsigned bit;
        const char *name;
    } rows[] = {{RULE_OBJECT, "an object"}, {RULE_ARRAY, "an array"}, {RULE_STRING, "a string"},
        {RULE_INTEGER, "an integer"}, {RULE_NUMBER, "a number"}, {RULE_BOOLEAN, "a boolean"},
        {RULE_NULL, "null"}};
    struct show shown;
    unsigned left = types;
    size_t i;

    if ((types & RULE_NUMBER) != 0) {
        left &= ~(unsigned)RULE_INTEGER; /* a number may be one */
    }
    (void)snprintf(out, size, "must be ");
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((left & rows[i].bit) == 0) {
            continue;
        }
        left &= ~rows[i].bit;
        append(out, size, rows[i].name);
        if (left != 0) {
            append(out, size, (left & (left - 1)) == 0 ? " or " : ", ");
        }
    }
    append(out, size, ", is ");
    append(out, size, v->kind == TREE_NUMBER ? show_value(&shown, v) : show_kind(v));
}

void problem_list_values(const struct rule_values *values, char *out, size_t size)
{
    struct show shown;
    uint32_t i;

    size = size < LIST_BYTES_MAX ? size : LIST_BYTES_MAX;
    for (i = 0; i < values->count; i++) {
        if (strlen(out) + sizeof(shown.text) + 8 > size) {
            if (strlen(out) < 3 || strcmp(out + strlen(out) - 3, "...") != 0) {
                append(out, size, ", ...");
            }
            return;
        }
        append(out, size, out[0] == '\0' ? "" : ", ");
        append(out, size, show_value(&shown, values->values[i].value));
    }
}

/* The path of a problem, not longer than SCHEMA_PATH_BYTES_MAX. */
static int make_path(
    const struct problem *p, const struct tree *t, struct buf *path, struct vial_error *err)
{
    int r = tree_path(t, p->at, path, err);

    if (r == VIAL_OK && p->missing != NULL) {
        r = tree_path_part(p->missing->name, p->missing->len, path, err);
    }
    return r;
}

int problems_report(
    const struct problems *p, const struct tree *t, struct buf *report, struct vial_error *err)
{
    struct json_writer w;
    struct buf path;
    size_t i;
    int r;

    json_init(&w, report, err);
    json_begin_array(&w);
    for (i = 0; i < p->count && i < SCHEMA_PROBLEMS_MAX; i++) {
        buf_init(&path, SCHEMA_PATH_BYTES_MAX);
        r = make_path(&p->list[i], t, &path, NULL);
        if (r < 0 && path.len > PATH_DOTS) {
            memcpy(path.data + path.len - PATH_DOTS, "...", PATH_DOTS); /* the rest is cut */
        }
        json_begin_object(&w);
        json_key(&w, "path");
        json_write_string(&w, path.data, path.len);
        json_key(&w, "message");
        json_text(&w, p->list[i].message);
        json_end_object(&w);
        buf_release(&path);
    }
    json_end_array(&w);
    return json_finish(&w);
}

static int is_word(const char *p, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= 'A' && p[i] <= 'Z') || p[i] == '_' ||
                p[i] == '$' || (i > 0 && p[i] >= '0' && p[i] <= '9'))) {
            return 0;
        }
    }
    return len > 0;
}

static int is_index(const char *p, size_t len)
{
    return len > 0 && strspn(p, "0123456789") >= len;
}

/* One part of a path as a program would write it: .name, [0] or ["a name"]. */
static int write_part(
    const char *part, size_t len, int first, struct buf *out, struct vial_error *err)
{
    struct show shown;
    int r;

    if (is_word(part, len)) {
        r = first ? VIAL_OK : buf_add(out, ".", 1, err);
        return r < 0 ? r : buf_add(out, part, len, err);
    }
    r = buf_add(out, "[", 1, err);
    if (r == VIAL_OK && is_index(part, len)) {
        r = buf_add(out, part, len, err);
    } else if (r == VIAL_OK) {
        r = buf_add_text(out, show_text(&shown, part, len), err);
    }
    return r < 0 ? r : buf_add(out, "]", 1, err);
}

static int write_path(const struct tree_value *path, struct buf *out, struct vial_error *err)
{
    const char *p = path->text, *end = path->text + path->len;
    char part[SCHEMA_PATH_BYTES_MAX + 1];
    int first = 1, r = VIAL_OK;
    size_t len;

    while (r == VIAL_OK && p < end) {
        len = 0;
        for (p++; p < end && *p != '/' && len < SCHEMA_PATH_BYTES_MAX; p++) {
            part[len] = *p;
            if (*p == '~' && p + 1 < end) {
                p++;
                part[len] = *p == '1' ? '/' : '~';
            }
            len++;
        }
        part[len] = '\0';
        r = write_part(part, len, first, out, err);
        first = 0;
    }
    return r < 0 || first ? r : buf_add_text(out, ": ", err);
}

int schema_report_text(const char *report, size_t len, struct buf *out, struct vial_error *err)
{
    struct tree t;
    uint32_t i, path, message;
    int r;

    r = tree_read(&t, report, len, err);
    if (r < 0) {
        return vial__wrap(err, r, "reading a report");
    }
    if (t.values[0].kind != TREE_ARRAY) {
        tree_release(&t);
        return vial__fail(err, VIAL_E_INVALID, "a report is an array");
    }
    for (i = tree_first(0); r == VIAL_OK && i != tree_end(&t, 0); i = tree_next(&t, i)) {
        path = tree_member(&t, i, "path");
        message = tree_member(&t, i, "message");
        if (path == 0 || message == 0 || t.values[path].kind != TREE_STRING ||
            t.values[message].kind != TREE_STRING) {
            r = vial__fail(err, VIAL_E_INVALID, "a problem of a report has a path and a message");
            break;
        }
        r = i == tree_first(0) ? VIAL_OK : buf_add_text(out, "; ", err);
        r = r < 0 ? r : write_path(&t.values[path], out, err);
        r = r < 0 ? r : buf_add(out, t.values[message].text, t.values[message].len, err);
    }
    tree_release(&t);
    return r;
}
