/* document_limits.c - the limits of a document: see document.h.
 *
 * "default" is what a run has that asks for nothing, "max" is what it may ask for. What the
 * document leaves open is vial's own default and range; a default that vial's own "max" would be
 * beyond is lowered to it, one that the document gives is refused. */
#include <inttypes.h>
#include <string.h>

#include "policy/document_check.h"
#include "policy/limits.h"

enum { LIMITS_COUNT_MAX = 64 }; /* more than the table of limits has; a test says so */

/* The names of all limits, with NULL behind them. */
static void limit_names(const char *names[LIMITS_COUNT_MAX + 1])
{
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);

    for (i = 0; i < count && i < LIMITS_COUNT_MAX; i++) {
        names[i] = rows[i].field;
    }
    names[i] = NULL;
}

/* One of the two objects: is it one, and are its keys limits? */
static json_t *check_side(struct document_check *c, const json_t *value, const char *side)
{
    const char *names[LIMITS_COUNT_MAX + 1];
    json_t *object = json_object_get(value, side);
    size_t before;
    int fine;

    if (object == NULL) {
        return NULL;
    }
    limit_names(names);
    before = check_enter(c, side);
    fine = must_be_object(c, object, SIZE_MAX, "keys");
    if (fine) {
        check_keys(c, object, names);
    }
    check_leave(c, before);
    return fine ? object : NULL;
}

/* One number of one side; by_default when the side does not say. */
static uint64_t side_number(struct document_check *c, const char *side, const json_t *object,
    const struct limit_row *row, uint64_t by_default)
{
    size_t before = check_enter(c, side);
    uint64_t value = must_be_number(c, object, row->field, by_default, row->min, row->max);

    check_leave(c, before);
    return value;
}

static void check_row(struct document_check *c, const struct limit_row *row, const json_t *defaults,
    const json_t *maxima)
{
    uint64_t max = side_number(c, "max", maxima, row, row->max);
    uint64_t lowered = row->by_default < max ? row->by_default : max;
    uint64_t value = side_number(c, "default", defaults, row, lowered);
    size_t before, within;

    if (value > max) {
        before = check_enter(c, "default");
        within = check_enter(c, row->field);
        check_say(c, "is %" PRIu64 ", which is beyond the %" PRIu64 " of \"max\"", value, max);
        check_leave(c, within);
        check_leave(c, before);
        return;
    }
    limits_put(&c->doc->limits, row, value);
    limits_put(&c->doc->limits_max, row, max);
}

void document_check_limits(struct document_check *c, json_t *value)
{
    static const char *const known[] = {"default", "max", NULL};
    size_t count, i;
    const struct limit_row *rows = limits_table(&count);
    const json_t *defaults = NULL, *maxima = NULL;

    c->doc->limits = c->doc->limits_max = (struct vial_limits)VIAL_LIMITS_INIT;
    if (value != NULL && must_be_object(c, value, SIZE_MAX, "keys")) {
        check_keys(c, value, known);
        defaults = check_side(c, value, "default");
        maxima = check_side(c, value, "max");
    }
    for (i = 0; i < count; i++) {
        check_row(c, &rows[i], defaults, maxima);
    }
}
