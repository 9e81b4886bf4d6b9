/* format.h - the formats of strings that are checked: what a model most often gets wrong.
 *
 * JSON Schema leaves it open whether "format" is checked; here these are, and all other names are
 * annotations. */
#ifndef VIAL_SCHEMA_FORMAT_H
#define VIAL_SCHEMA_FORMAT_H

#include <stddef.h>

struct format {
    const char *name;
    const char *what; /* reads on from "must be": "a date such as 2024-12-31" */
    int (*matches)(const char *text, size_t len);
};

/* NULL when the name is none of those that are checked. */
const struct format *format_find(const char *name, size_t len);

#endif
