/* nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    NEAR_DISTANCE_MAX = 3, /* further off it is no slip of the finger */
    WORD_BYTES_MAX = 40,   /* longer ones are not compared: none of our words is */
};

/* How many letters must be changed, added or left out to get from a to b. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[WORD_BYTES_MAX + 1], previous, keep;
    size_t n = strlen(a), m = strlen(b), i, j;

    if (n > WORD_BYTES_MAX || m > WORD_BYTES_MAX) {
        return UINT32_MAX;
    }
    for (j = 0; j <= m; j++) {
        row[j] = (unsigned)j;
    }
    for (i = 1; i <= n; i++) {
        previous = row[0];
        row[0] = (unsigned)i;
        for (j = 1; j <= m; j++) {
            keep = previous + (a[i - 1] == b[j - 1] ? 0 : 1);
            previous = row[j];
            row[j] = row[j] + 1 < keep ? row[j] + 1 : keep;
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
        }
    }
    return row[m];
}

const char *nearest_word(const char *word, const char *const known[])
{
    const char *best = NULL;
    unsigned best_distance = NEAR_DISTANCE_MAX + 1;
    size_t i;

    for (i = 0; known[i] != NULL; i++) {
        unsigned d = distance(word, known[i]);

        /* Three letters of a word of three are another word. */
        if (d < best_distance && d < strlen(known[i])) {
            best_distance = d;
            best = known[i];
        }
    }
    return best;
}
