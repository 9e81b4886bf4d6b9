/* show.h - values in messages: short, quoted, and harmless on a terminal. */
#ifndef VIAL_SCHEMA_SHOW_H
#define VIAL_SCHEMA_SHOW_H

#include <stddef.h>

#include "schema/tree.h"

enum {
    SHOW_BYTES = 96, /* enough to recognise a value by, and a message has room for two */
};

struct show {
    char text[SHOW_BYTES];
};

/* The text in double quotes with what JSON escapes escaped, cut with "..." when it is long; returns
 * s->text. */
const char *show_text(struct show *s, const char *bytes, size_t len);

/* A scalar as JSON has it, cut likewise; of a container only what it is. */
const char *show_value(struct show *s, const struct tree_value *v);

/* "a string", "an object", ... */
const char *show_kind(const struct tree_value *v);

#endif
