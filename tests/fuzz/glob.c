/* glob.c - patterns for names of files, compared with a matcher that tries every way there is. */
#include "base/glob.h"

#include "base/name.h"
#include "base/utf8.h"
#include "fuzz.h"

/* The naive matcher takes time by the power of its stars. */
enum { PATTERN_MAX = 24, NAME_MAX_BYTES = 24, STEPS_MAX = 200000 };

static unsigned steps;

static uint32_t take(const char **p, const char *end)
{
    int n = utf8_sequence(*p, (size_t)(end - *p));
    uint32_t c = (unsigned char)**p;
    int i;

    for (i = 1; i < n; i++) { /* any number that tells characters apart in their order will do */
        c = c << 8 | (unsigned char)(*p)[i];
    }
    *p += n;
    return c;
}

static int set_has(const char **p, const char *end, uint32_t c)
{
    int inverted = **p == '!' || **p == '^', found = 0, first = 1;
    uint32_t low, high;

    *p += inverted;
    while (first || **p != ']') {
        first = 0;
        *p += **p == '\\';
        low = high = take(p, end);
        if (end - *p > 1 && **p == '-' && (*p)[1] != ']') {
            (*p)++;
            *p += **p == '\\' && end - *p > 1;
            high = take(p, end);
        }
        found |= low <= c && c <= high;
    }
    (*p)++;
    return found != inverted;
}

/* Both from where a part may begin or go on. */
static int naive_chars(const char *p, const char *end, const char *name, const char *name_end)
{
    uint32_t c;

    if (++steps > STEPS_MAX) {
        return 0;
    }
    if (p == end) {
        return name == name_end;
    }
    if (*p == '*') {
        const char *next = name;

        if (naive_chars(p + 1, end, name, name_end)) {
            return 1;
        }
        if (name == name_end) {
            return 0;
        }
        (void)take(&next, name_end);
        return naive_chars(p, end, next, name_end);
    }
    if (name == name_end) {
        return 0;
    }
    c = take(&name, name_end);
    if (*p == '?') {
        return naive_chars(p + 1, end, name, name_end);
    }
    if (*p == '[') {
        p++;
        return set_has(&p, end, c) && naive_chars(p, end, name, name_end);
    }
    p += *p == '\\';
    return take(&p, end) == c && naive_chars(p, end, name, name_end);
}

static const char *part_end(const char *p, const char *end)
{
    while (p < end && *p != '/') {
        p++;
    }
    return p;
}

static int naive_part(const char *p, const char *end, const char *name, const char *name_end)
{
    int has_dot = *p == '.' || (*p == '\\' && p[1] == '.');

    return (*name != '.' || has_dot) && naive_chars(p, end, name, name_end);
}

/* p and name are behind their ends when there is no further part. */
static int naive_parts(const char *p, const char *end, const char *name, const char *name_end)
{
    const char *p_part, *name_part;

    if (++steps > STEPS_MAX) {
        return 0;
    }
    if (p > end) {
        return name > name_end;
    }
    p_part = part_end(p, end);
    name_part = name > name_end ? NULL : part_end(name, name_end);
    if (p_part - p == 2 && p[0] == '*' && p[1] == '*') {
        if (naive_parts(p_part + 1, end, name, name_end)) {
            return 1;
        }
        return name_part != NULL && *name != '.' && naive_parts(p, end, name_part + 1, name_end);
    }
    return name_part != NULL && naive_part(p, p_part, name, name_part) &&
           naive_parts(p_part + 1, end, name_part + 1, name_end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    size_t pattern_len, name_len;
    const char *pattern = fuzz_until(&in, '\n', &pattern_len);
    char *name, *p;
    int naive, got;

    name_len = in.left;
    p = fuzz_copy(pattern, pattern_len);
    name = fuzz_copy(in.at, name_len);
    if (glob_fault(p, pattern_len) == NULL && name_fault(name, name_len) == NULL) {
        got = glob_match(p, pattern_len, name, name_len);
        steps = 0;
        naive = pattern_len <= PATTERN_MAX && name_len <= NAME_MAX_BYTES
                    ? naive_parts(p, p + pattern_len, name, name + name_len)
                    : got;
        FUZZ_CHECK(steps > STEPS_MAX || got == naive, "%.*s and %.*s: %d", (int)pattern_len, p,
            (int)name_len, name, got);
    }
    free(p);
    free(name);
    return 0;
}
