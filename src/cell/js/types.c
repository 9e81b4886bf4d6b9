/* types.c - see types.h. */
#include "cell/js/types.h"

#include <string.h>

#include "code/typescript.h"

enum {
    /* What is inserted is at most some hundred bytes for a name in the source; a text that grows
     * by more than this is refused like one that cannot be read. */
    TEXT_FACTOR = 16,
    TEXT_BYTES_MIN = 65536,
};

void js_types_init(struct js_types *t, const struct guest_start *start)
{
    *t = (struct js_types){.line = 0};
    buf_init(&t->text, TEXT_FACTOR * start->source_len + TEXT_BYTES_MIN);
    buf_init(&t->edits, TEXT_FACTOR * start->source_len + TEXT_BYTES_MIN);
}

void js_types_release(struct js_types *t)
{
    buf_release(&t->text);
    buf_release(&t->edits);
}

static int ends_in(const struct guest_start *start, const char *end)
{
    size_t n = strlen(end);

    return start->name_len >= n && memcmp(start->name + start->name_len - n, end, n) == 0;
}

int js_types_are_asked_for(const struct guest_start *start)
{
    return start->language == VIAL_LANGUAGE_TYPESCRIPT ||
           (start->language == VIAL_LANGUAGE_AUTO &&
               (ends_in(start, ".ts") || ends_in(start, ".mts") || ends_in(start, ".cts")));
}

int js_types_are_likely(const struct guest_start *start)
{
    return start->language == VIAL_LANGUAGE_AUTO && !js_types_are_asked_for(start) &&
           typescript_is_likely(start->source, start->source_len);
}

int js_types_erase(struct js_types *t, struct guest_start *start)
{
    int has_types = 0;

    if (typescript_erase(start->source, start->source_len, &t->text, &t->edits, &has_types,
            &t->line, &t->err) < 0) {
        return -1;
    }
    if (has_types) {
        start->source = t->text.data;
        start->source_len = t->text.len;
    }
    return has_types;
}
