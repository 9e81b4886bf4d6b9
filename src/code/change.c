/* change.c - see change.h. */
#include "code/change.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct change {
    uint32_t at, end; /* what is replaced; nothing for an insertion */
    uint32_t number;  /* of changes at one place the one that was noted first comes first */
    char first;       /* of a text that is blanked; 0 for others */
    const char *text;
};

/* The rewritten text and the position of its end. */
struct writer {
    struct rewrite *out;
    uint32_t line, column;
};

void changes_init(struct changes *c, size_t max)
{
    buf_init(&c->items, max * sizeof(struct change));
    c->failed = 0;
}

void changes_release(struct changes *c)
{
    buf_release(&c->items);
}

static void changes_add(struct changes *c, struct change change)
{
    change.number = (uint32_t)(c->items.len / sizeof(change));
    if (buf_add(&c->items, &change, sizeof(change), NULL) < 0) {
        c->failed = 1;
    }
}

void changes_insert(struct changes *c, uint32_t at, const char *text)
{
    changes_add(c, (struct change){.at = at, .end = at, .text = text});
}

void changes_replace(struct changes *c, uint32_t at, const char *text)
{
    changes_add(c, (struct change){.at = at, .end = at + (uint32_t)strlen(text), .text = text});
}

void changes_blank(struct changes *c, uint32_t at, uint32_t end, char first)
{
    if (at < end) {
        changes_add(c, (struct change){.at = at, .end = end, .first = first});
    }
}

void rewrite_init(struct rewrite *r, size_t text_max)
{
    buf_init(&r->text, text_max);
    buf_init(&r->edits, text_max);
    r->line_count = 0;
    r->last_column_max = 0;
}

void rewrite_release(struct rewrite *r)
{
    buf_release(&r->text);
    buf_release(&r->edits);
}

size_t rewrite_edit_count(const struct rewrite *r)
{
    return r->edits.len / sizeof(struct edit);
}

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;

    if (a->at != b->at) {
        return a->at < b->at ? -1 : 1;
    }
    return a->number < b->number ? -1 : 1;
}

/* The length of the line break that bytes begin with, or 0. Lines end as the engine ends them:
 * also at a lone CR and at U+2028 and U+2029. */
static size_t break_len(const unsigned char *bytes, size_t n)
{
    if (bytes[0] == '\n') {
        return 1;
    }
    if (bytes[0] == '\r') {
        return n > 1 && bytes[1] == '\n' ? 2 : 1;
    }
    return bytes[0] == 0xe2 && n > 2 && bytes[1] == 0x80 && (bytes[2] & 0xfe) == 0xa8 ? 3 : 0;
}

/* Moves the position over the byte that bytes begin with, or over a whole line break; how many
 * bytes that were. */
static size_t step_over(const unsigned char *bytes, size_t n, uint32_t *line, uint32_t *column)
{
    size_t broken = break_len(bytes, n);

    if (broken > 0) {
        *line += 1;
        *column = 1;
        return broken;
    }
    if (bytes[0] >= 0xf0) {
        *column += 2; /* a surrogate pair */
    } else if (bytes[0] < 0x80 || bytes[0] >= 0xc0) {
        *column += 1; /* continuation bytes count for nothing */
    }
    return 1;
}

void place_move(struct place *place, const char *source, size_t len, size_t at)
{
    if (at < place->at) {
        *place = (struct place)PLACE_START;
    }
    while (place->at < at && place->at < len) {
        place->at += step_over((const unsigned char *)source + place->at, len - place->at,
            &place->line, &place->column);
    }
}

void source_position(
    const char *source, size_t len, size_t at, uint32_t *ret_line, uint32_t *ret_column)
{
    struct place place = PLACE_START;

    place_move(&place, source, len, at);
    *ret_line = place.line;
    *ret_column = place.column;
}

/* The caller has reserved the room. */
static void writer_add(struct writer *w, const char *bytes, size_t n)
{
    int r = buf_add(&w->out->text, bytes, n, NULL);

    assert(r == VIAL_OK);
    (void)r;
}

static void writer_source(struct writer *w, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        i += step_over((const unsigned char *)text + i, n - i, &w->line, &w->column);
    }
    writer_add(w, text, n);
}

/* Each character becomes as many spaces as it has UTF-16 code units. */
static void writer_blank(struct writer *w, const char *text, size_t n, char first)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t step;

    for (size_t i = 0; i < n; i += step) {
        uint32_t column = w->column;

        step = step_over(bytes + i, n - i, &w->line, &w->column);
        if (break_len(bytes + i, n - i) > 0) {
            writer_add(w, text + i, step);
        } else {
            writer_add(w, i == 0 ? &first : " ", w->column - column > 0 ? 1 : 0);
            writer_add(w, " ", w->column - column > 1 ? 1 : 0);
        }
    }
}

static int writer_insert(struct writer *w, const char *text, struct vial_error *err)
{
    struct edit edit = {.line = w->line, .column = w->column};
    size_t n = strlen(text);

    writer_source(w, text, n); /* names in it need not be ASCII */
    edit.len = w->column - edit.column;
    return n > 0 ? buf_add(&w->out->edits, &edit, sizeof(edit), err) : VIAL_OK;
}

static size_t inserted_bytes(const struct change *items, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        n += items[i].at == items[i].end ? strlen(items[i].text) : 0;
    }
    return n;
}

int changes_apply(struct changes *c, const char *source, size_t len, const char *head,
    const char *tail, struct rewrite *r, struct vial_error *err)
{
    struct change *items = (struct change *)(void *)c->items.data;
    size_t count = c->items.len / sizeof(*items);
    struct writer w = {.out = r, .line = 1, .column = 1};
    size_t done = 0;
    int ret;

    if (c->failed) {
        return vial__fail(err, VIAL_E_NOMEM, "a source needs too many changes");
    }
    ret = buf_reserve(
        &r->text, len + strlen(head) + strlen(tail) + inserted_bytes(items, count), err);
    if (ret == VIAL_OK && count > 0) {
        qsort(items, count, sizeof(*items), compare_changes);
    }
    ret = ret < 0 ? ret : writer_insert(&w, head, err);
    for (size_t i = 0; i < count && ret == VIAL_OK; i++) {
        const struct change *change = &items[i];

        if (change->at < done || change->end > len) {
            return vial__fail(err, VIAL_E_CELL, "two changes of a source overlap");
        }
        writer_source(&w, source + done, change->at - done);
        done = change->end;
        if (change->first != 0) {
            writer_blank(&w, source + change->at, change->end - change->at, change->first);
        } else if (change->at == change->end) {
            ret = writer_insert(&w, change->text, err);
        } else {
            writer_source(&w, change->text, strlen(change->text));
        }
    }
    if (ret < 0) {
        return vial__wrap(err, ret, "rewriting a source");
    }
    writer_source(&w, source + done, len - done);
    r->line_count = w.line;
    r->last_column_max = w.column;
    writer_add(&w, tail, strlen(tail));
    return VIAL_OK;
}
