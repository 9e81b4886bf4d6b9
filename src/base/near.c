/* near.c - see near.h.
 *
 * Each name gets a score, the lower the nearer, in steps: the same letters, few typing errors, the
 * same last part, few typing errors in the last part, the one begins with the other, any part in
 * common. The best are kept by insertion, because callers want three of them and not an order of
 * all. */
#include "base/near.h"

#include <assert.h>
#include <string.h>

enum {
    SCORE_SAME = 0,         /* but for case and separators */
    SCORE_ERROR = 4,        /* for each typing error */
    SCORE_PART = 3,         /* only the last part is near */
    SCORE_BEGINNING = 14,   /* one begins with the other */
    SCORE_COMMON_PART = 16, /* some part in common */
    SCORE_FAR = 100,
    PREFIX_BYTES_MIN = 3, /* shorter beginnings and parts are in everything */
    RESULTS_MAX = 16,     /* more suggestions help nobody */
};

/* A name in lower case, without separators, and where its parts are. */
struct plain {
    char text[NEAR_BYTES_MAX];
    size_t len;
    size_t last; /* where the part behind the last dot begins */
};

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned near_distance(const char *a, size_t a_len, const char *b, size_t b_len, unsigned max)
{
    /* Three rows of the usual table: a swap looks back two. */
    unsigned char rows[3][NEAR_BYTES_MAX + 1];
    unsigned char *before = rows[0], *above = rows[1], *row = rows[2], *spare;
    unsigned best, v;
    size_t i, k;

    if (a_len > NEAR_BYTES_MAX || b_len > NEAR_BYTES_MAX ||
        (a_len > b_len ? a_len - b_len : b_len - a_len) > max) {
        return max + 1;
    }
    for (k = 0; k <= b_len; k++) {
        above[k] = (unsigned char)k;
    }
    for (i = 1; i <= a_len; i++) {
        row[0] = (unsigned char)i;
        best = row[0];
        for (k = 1; k <= b_len; k++) {
            v = above[k - 1] + (lower(a[i - 1]) == lower(b[k - 1]) ? 0u : 1u);
            v = smaller(v, smaller(above[k], row[k - 1]) + 1u);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
                lower(a[i - 2]) == lower(b[k - 1])) {
                v = smaller(v, before[k - 2] + 1u);
            }
            row[k] = (unsigned char)v;
            best = smaller(best, v);
        }
        if (best > max) {
            return max + 1;
        }
        spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return smaller(above[b_len], max + 1);
}

unsigned near_tolerance(size_t len)
{
    if (len <= 2) {
        return 0;
    }
    return len <= 4 ? 1 : len <= 8 ? 2 : 3;
}

/* 0 when the name is too long to be compared or has no letters. */
static int make_plain(struct plain *p, const char *name)
{
    size_t len = strlen(name);
    size_t i;

    p->len = 0;
    p->last = 0;
    if (len > NEAR_BYTES_MAX) {
        return 0;
    }
    for (i = 0; i < len; i++) {
        if (name[i] == '.') {
            p->last = p->len;
        }
        if (strchr("._-/ ", name[i]) == NULL) {
            p->text[p->len++] = lower(name[i]);
        }
    }
    return p->len > 0;
}

static int begins_with(const struct plain *a, const struct plain *b)
{
    return b->len >= PREFIX_BYTES_MIN && a->len > b->len && memcmp(a->text, b->text, b->len) == 0;
}

/* Is one of the dotted parts of a also one of b? */
static int has_common_part(const char *a, const char *b)
{
    size_t a_len, b_len;
    const char *at;

    for (; *a != '\0'; a += a_len + (a[a_len] == '.')) {
        a_len = strcspn(a, ".");
        if (a_len < PREFIX_BYTES_MIN) {
            continue;
        }
        for (at = b; *at != '\0'; at += b_len + (at[b_len] == '.')) {
            b_len = strcspn(at, ".");
            if (a_len == b_len && near_distance(a, a_len, at, b_len, 0) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

static unsigned score(
    const struct plain *word, const char *word_text, const struct plain *name, const char *text)
{
    size_t word_last_len = word->len - word->last, name_last_len = name->len - name->last;
    unsigned max = near_tolerance(word->len);
    unsigned d = near_distance(word->text, word->len, name->text, name->len, max);
    unsigned result = SCORE_FAR;

    if (d <= max) {
        result = d == 0 ? SCORE_SAME : d * SCORE_ERROR;
    }
    if (word->last != 0 || name->last != 0) {
        max = near_tolerance(word_last_len);
        d = near_distance(
            word->text + word->last, word_last_len, name->text + name->last, name_last_len, max);
        if (d <= max && word_last_len > 0) {
            result = smaller(result, d * SCORE_ERROR + SCORE_PART);
        }
        if (has_common_part(word_text, text)) {
            result = smaller(result, SCORE_COMMON_PART);
        }
    }
    if (begins_with(word, name) || begins_with(name, word)) {
        result = smaller(result, SCORE_BEGINNING);
    }
    return result;
}

size_t near_names(
    const char *word, const char *const *names, size_t count, size_t *ret_indices, size_t max)
{
    unsigned scores[RESULTS_MAX];
    struct plain wanted, name;
    size_t found = 0;
    size_t i, k;
    unsigned s;

    max = max < RESULTS_MAX ? max : RESULTS_MAX;
    if (max == 0 || !make_plain(&wanted, word)) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        s = make_plain(&name, names[i]) ? score(&wanted, word, &name, names[i]) : SCORE_FAR;
        if (s >= SCORE_FAR || (found == max && s >= scores[found - 1])) {
            continue;
        }
        for (k = found < max ? found++ : found - 1; k > 0 && scores[k - 1] > s; k--) {
            scores[k] = scores[k - 1];
            ret_indices[k] = ret_indices[k - 1];
        }
        scores[k] = s;
        ret_indices[k] = i;
    }
    assert(found <= max);
    return found;
}

const char *near_word(const char *word, const char *const known[])
{
    size_t count = 0;
    size_t found;

    while (known[count] != NULL) {
        count++;
    }
    return near_names(word, known, count, &found, 1) == 1 ? known[found] : NULL;
}
