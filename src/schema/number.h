/* number.h - JSON numbers as they are written, compared without rounding.
 *
 * An identifier of a database has more digits than a double keeps, and 0.3 is a multiple of 0.1 for
 * everybody but a processor. So numbers stay decimal: a sign, digits and a power of ten. */
#ifndef VIAL_SCHEMA_NUMBER_H
#define VIAL_SCHEMA_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* 0.d1d2d3... times ten to the exponent; d1 and the last digit are not 0 unless the number is. */
struct number {
    const char *digits; /* d1; a decimal point may be among them, which is no digit. Borrowed */
    const char *end;    /* behind the last digit */
    uint32_t count;     /* of digits; 0 for zero */
    int negative;       /* never for zero */
    int64_t exponent;   /* kept within a limit that nobody reaches in earnest */
};

/* The text is a number as JSON has it. */
void number_read(struct number *n, const char *text, size_t len);

/* Below 0, 0, above 0, as memcmp has it. */
int number_compare(const struct number *a, const struct number *b);

/* Also 1.0 and 1e3 are whole. */
int number_is_whole(const struct number *n);

/* Can number_is_multiple divide by it? It must be above 0 and have at most 18 digits. */
int number_can_divide(const struct number *divisor);
int number_is_multiple(const struct number *n, const struct number *divisor);

#endif
