/* excerpt.c - see excerpt.h: what becomes of the statements that a language finds. */
#include "code/excerpt.h"

struct picking {
    const char *text;
    const uint32_t *places;
    size_t places_count;
    size_t place;                /* the first one that is not behind us */
    uint32_t row, line, counted; /* of the byte up to which lines have been counted */
    struct excerpt *excerpt;
};

int excerpt_mark(struct excerpt_marks *m, size_t at, int is_inner)
{
    if (m->count == EXCERPT_MARKS_MAX) {
        return -1;
    }
    m->at[m->count] = (uint32_t)at;
    m->is_inner[m->count++] = (uint8_t)is_inner;
    return 0;
}

static TSPoint point_of(struct picking *p, uint32_t at)
{
    for (; p->counted < at; p->counted++) {
        if (p->text[p->counted] == '\n') {
            p->row++;
            p->line = p->counted + 1;
        }
    }
    return (TSPoint){.row = p->row, .column = at - p->line};
}

/* Ranges come in order; one that goes on where the last one ended makes that one longer. */
static int add_range(struct picking *p, uint32_t from, uint32_t to)
{
    struct excerpt *e = p->excerpt;
    TSRange *range = e->count > 0 ? &e->ranges[e->count - 1] : NULL;

    if (from == to) {
        return 0;
    }
    if (range == NULL || range->end_byte != from) {
        if (e->count == EXCERPT_RANGES_MAX) {
            return -1;
        }
        range = &e->ranges[e->count++];
        *range = (TSRange){.start_byte = from, .start_point = point_of(p, from)};
    }
    range->end_byte = to;
    range->end_point = point_of(p, to);
    e->bytes += to - from;
    return 0;
}

/* Is there a place in front of this, and behind what was asked about before? */
static int has_place(struct picking *p, uint32_t to)
{
    int found = 0;

    for (; p->place < p->places_count && p->places[p->place] < to; p->place++) {
        found = 1;
    }
    return found;
}

/* One outermost statement: marks from first up to end. */
static int pick_one(
    struct picking *p, const struct excerpt_marks *m, uint32_t first, uint32_t end, uint32_t to)
{
    uint32_t body = first + 1 < end ? m->at[first + 1] : to;
    int keeps_first;

    if (p->place == p->places_count || p->places[p->place] >= to) {
        return 0;
    }
    (void)has_place(p, body);
    keeps_first = m->keeps_first && (p->place == p->places_count || p->places[p->place] >= to);
    if (add_range(p, m->at[first], body) < 0) {
        return -1;
    }
    for (uint32_t i = first + 1; i < end; i++) {
        uint32_t next = i + 1 < end ? m->at[i + 1] : to;

        if ((has_place(p, next) || (keeps_first && i == first + 1) ||
                (m->keeps_last && i + 1 == end)) &&
            add_range(p, m->at[i], next) < 0) {
            return -1;
        }
    }
    return 0;
}

int excerpt_pick(const struct excerpt_marks *m, const char *text, size_t len,
    const uint32_t *places, size_t places_count, struct excerpt *ret)
{
    struct picking p = {
        .text = text, .places = places, .places_count = places_count, .excerpt = ret};
    uint32_t first = 0, end;

    ret->count = 0;
    ret->bytes = 0;
    while (first < m->count) {
        for (end = first + 1; end < m->count && m->is_inner[end]; end++) {
        }
        if (pick_one(&p, m, first, end, end < m->count ? m->at[end] : (uint32_t)len) < 0) {
            return -1;
        }
        first = end;
    }
    return ret->count > 0 ? 0 : -1;
}
