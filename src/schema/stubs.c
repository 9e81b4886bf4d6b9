/* stubs.c - see stubs.h: reads the tools, gives each its place, and lets the language write. */
#include "schema/stubs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schema/show.h"
#include "schema/stub.h"

enum {
    /* A part has an underscore before and behind it in Python, and "tools" may stand before all. */
    NAMES_BYTES_MAX = STUBS_NAME_BYTES_MAX * 3 + 64,
    NUMBER_BYTES = 24, /* that make the last part unique */
};

/* Is every part there? "a..b" and ".a" have empty ones. */
static int has_parts(const char *name)
{
    return name[0] != '.' && name[strlen(name) - 1] != '.' && strstr(name, "..") == NULL;
}

/* Adds a part at *at, which is moved behind it. In Python it becomes an identifier. */
static void add_part(
    enum stub_language language, struct stub_item *item, char **at, const char *part, size_t len)
{
    char *out = *at;
    size_t i;

    item->parts[item->parts_count++] = out;
    if (language == STUB_TYPESCRIPT) {
        memcpy(out, part, len);
        out[len] = '\0';
        *at = out + len + 1;
        return;
    }
    if (len == 0 || (part[0] >= '0' && part[0] <= '9')) {
        *out++ = '_';
    }
    for (i = 0; i < len; i++) {
        *out++ = (char)((part[i] >= '0' && part[i] <= '9') || (part[i] >= 'a' && part[i] <= 'z') ||
                                (part[i] >= 'A' && part[i] <= 'Z')
                            ? part[i]
                            : '_');
    }
    *out = '\0';
    if (!stub_is_identifier(STUB_PYTHON, *at, strlen(*at))) {
        *out++ = '_'; /* a word of the language */
        *out = '\0';
    }
    *at = out + 1;
}

/* Cuts the name at its dots. In TypeScript, what cannot be declared at the top is a member of
 * "tools", where any name may stand. */
static void place_item(enum stub_language language, struct stub_item *item)
{
    const char *name = item->tool->name, *dot;
    char *at = item->names;
    size_t len = strcspn(name, ".");

    if (language == STUB_TYPESCRIPT &&
        (!has_parts(name) || !stub_is_identifier(language, name, len))) {
        add_part(language, item, &at, "tools", 5);
    }
    while (has_parts(name) && item->parts_count < STUB_PARTS_MAX - 1) {
        dot = strchr(name, '.');
        if (dot == NULL) {
            break;
        }
        add_part(language, item, &at, name, (size_t)(dot - name));
        name = dot + 1;
    }
    add_part(language, item, &at, name, strlen(name));
}

static int is_same_place(const struct stub_item *a, const struct stub_item *b)
{
    size_t i;

    if (a->parts_count != b->parts_count) {
        return 0;
    }
    for (i = 0; i < a->parts_count; i++) {
        if (strcmp(a->parts[i], b->parts[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Names that differ may have become the same place: a-b and a_b in Python. */
static void make_unique(struct stub_item *items, size_t index)
{
    struct stub_item *item = &items[index];
    char *last = item->names + (item->parts[item->parts_count - 1] - item->names);
    size_t len = strlen(last), number = index, i;

    for (i = 0; i < index; i++) {
        if (is_same_place(&items[i], item)) {
            (void)snprintf(last + len, NUMBER_BYTES, "_%zu", ++number);
            i = (size_t)-1; /* the new name may be taken, too: from the beginning */
        }
    }
}

static int check_name(const struct stub_tool *tools, size_t index, struct vial_error *err)
{
    const char *name = tools[index].name;
    struct show shown;
    size_t i;

    if (name == NULL || name[0] == '\0' || strlen(name) > STUBS_NAME_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "the name of tool %zu has %zu bytes; 1 to %d are taken", index + 1,
            name == NULL ? 0 : strlen(name), STUBS_NAME_BYTES_MAX);
    }
    for (i = 0; i < index; i++) {
        if (strcmp(tools[i].name, name) == 0) {
            return vial__fail(err, VIAL_E_INVALID, "two tools are called %s",
                show_text(&shown, name, strlen(name)));
        }
    }
    return VIAL_OK;
}

/* Adds a sentence of ours to what others have written, which may lack its full stop. */
static void put_sentence(struct stub *s, struct buf *about, const char *text)
{
    char last = about->len > 0 ? about->data[about->len - 1] : '\0';

    stub_put(s, about, last == '\0' ? "" : strchr(".!?", last) != NULL ? " " : ". ");
    stub_put(s, about, text);
}

/* The comment of a tool. */
static void write_about(struct stub *s, struct stub_item *item)
{
    const struct stub_tool *tool = item->tool;
    const char *text = tool->description == NULL ? "" : tool->description;
    const char *last = item->parts[item->parts_count - 1];
    const char *dot = strrchr(tool->name, '.');

    stub_put_comment(
        s, &item->about, text, strlen(text), s->verbose ? STUB_LONG_BYTES : STUB_SHORT_BYTES);
    if (tool->approve) {
        put_sentence(s, &item->about, "Asks a person for approval first.");
    }
    if (s->language == STUB_PYTHON && strcmp(dot == NULL ? tool->name : dot + 1, last) != 0) {
        put_sentence(s, &item->about, "The name of the tool is ");
        stub_put_comment(s, &item->about, tool->name, strlen(tool->name), STUBS_NAME_BYTES_MAX);
        stub_put(s, &item->about, ".");
    }
}

/* Reads a schema; *ret stays NULL when there is none. */
static int read_schema(const struct stub_tool *tool, const char *text, const char *which,
    struct tree *t, const struct tree **ret, struct vial_error *err)
{
    struct show shown;
    int r;

    if (text == NULL) {
        return VIAL_OK;
    }
    r = tree_read(t, text, strlen(text), err);
    if (r < 0) {
        return vial__wrap(err, r, "the %s schema of tool %s", which,
            show_text(&shown, tool->name, strlen(tool->name)));
    }
    *ret = t;
    return VIAL_OK;
}

static void write_signature(struct stub *s, struct stub_item *item)
{
    const struct tree *input = NULL, *output = NULL;
    struct tree input_tree, output_tree;
    size_t i;

    s->scope[0] = '\0';
    for (i = 0; i < item->parts_count; i++) {
        stub_append_pascal(s->scope, sizeof(s->scope) - 16, item->parts[i], strlen(item->parts[i]));
    }
    if (s->r == VIAL_OK) {
        s->r = read_schema(item->tool, item->tool->input, "input", &input_tree, &input, s->err);
    }
    if (s->r == VIAL_OK) {
        s->r = read_schema(item->tool, item->tool->output, "output", &output_tree, &output, s->err);
    }
    if (s->r == VIAL_OK) {
        if (s->language == STUB_PYTHON) {
            stub_python_signature(s, item, input, output);
        } else {
            stub_typescript_signature(s, item, input, output);
        }
    }
    s->pending_count = 0; /* what is left of a failure points into trees that go now */
    if (input != NULL) {
        tree_release(&input_tree);
    }
    if (output != NULL) {
        tree_release(&output_tree);
    }
}

static void fill_item(
    struct stub *s, const struct stub_tool *tools, struct stub_item *items, size_t index)
{
    struct stub_item *item = &items[index];

    buf_init(&item->text, STUB_TYPES_BYTES_MAX);
    buf_init(&item->about, STUB_TYPES_BYTES_MAX);
    item->tool = &tools[index];
    s->r = check_name(tools, index, s->err);
    if (s->r < 0) {
        return;
    }
    item->names = malloc(NAMES_BYTES_MAX);
    if (item->names == NULL) {
        s->r = vial__fail(s->err, VIAL_E_NOMEM, "no memory for the stubs of %zu tools", index);
        return;
    }
    place_item(s->language, item);
    if (s->language == STUB_PYTHON) {
        make_unique(items, index);
    }
    stub_reserve(s, item->parts[0], strlen(item->parts[0]));
    write_about(s, item);
}

static int write_all(const struct stub_tool *tools, size_t count, enum stub_language language,
    int verbose, struct buf *out, struct vial_error *err)
{
    struct stub s = {.language = language, .verbose = verbose, .err = err};
    size_t before = out->len, i;
    struct stub_item *items;

    if (count > STUBS_TOOLS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "there are %zu tools; at most %d are taken", count,
            STUBS_TOOLS_MAX);
    }
    items = calloc(count + 1, sizeof(*items));
    if (items == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the stubs of %zu tools", count);
    }
    buf_init(&s.types, STUB_TYPES_BYTES_MAX);
    /* All names first: no type may be called as a tool that comes later. */
    for (i = 0; i < count && s.r == VIAL_OK; i++) {
        fill_item(&s, tools, items, i);
    }
    for (i = 0; i < count && s.r == VIAL_OK; i++) {
        write_signature(&s, &items[i]);
    }
    if (s.r == VIAL_OK && language == STUB_PYTHON) {
        stub_python_layout(&s, items, count, out);
    } else if (s.r == VIAL_OK) {
        stub_typescript_layout(&s, items, count, out);
    }
    if (s.r < 0 && out->len > before) {
        out->len = before;
        out->data[before] = '\0';
    }
    for (i = 0; i < count; i++) {
        buf_release(&items[i].text);
        buf_release(&items[i].about);
        free(items[i].names);
    }
    free(items);
    stub_release(&s);
    return s.r;
}

int stubs_write(const struct stub_tool *tools, size_t count, enum stub_language language,
    struct buf *out, struct vial_error *err)
{
    return write_all(tools, count, language, 0, out, err);
}

int stubs_describe(const struct stub_tool *tool, enum stub_language language, struct buf *out,
    struct vial_error *err)
{
    return write_all(tool, 1, language, 1, out, err);
}
