/* utf8.c - is it UTF-8: compared with a reader that decodes and encodes again. */
#include "base/utf8.h"

#include "fuzz.h"

/* The length of a well-formed sequence at the beginning by the definition, or 0. */
static size_t naive_sequence(const unsigned char *p, size_t len)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 : p[0] >> 3 == 30 ? 4 : 0;
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7fU >> n);
    size_t i;

    if (n == 0 || n > len) {
        return 0;
    }
    for (i = 1; i < n; i++) {
        if (p[i] >> 6 != 2) {
            return 0;
        }
        c = c << 6 | (p[i] & 0x3fU);
    }
    return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t bad = size + 1, at = 0, naive_bad = size, n;
    int valid = utf8_valid(text, size, &bad);
    int all_ascii = 1, step;

    while (at < size) {
        all_ascii &= data[at] < 0x80;
        n = naive_sequence(data + at, size - at);
        step = utf8_sequence(text + at, size - at);
        FUZZ_CHECK((step > 0) == (n > 0), "at %zu the sequence is judged otherwise", at);
        FUZZ_CHECK(step != 0 && step >= -3 && step <= 4, "a step of %d", step);
        FUZZ_CHECK(step < 0 || (size_t)step == n, "at %zu it is %d bytes long", at, step);
        FUZZ_CHECK((size_t)(step < 0 ? -step : step) <= size - at, "a step beyond the end");
        if (n == 0 && naive_bad == size) {
            naive_bad = at;
        }
        at += (size_t)(step < 0 ? -step : step);
    }
    FUZZ_CHECK(valid == (naive_bad == size), "valid says %d", valid);
    FUZZ_CHECK(valid || bad == naive_bad, "the first fault is at %zu, not at %zu", naive_bad, bad);
    FUZZ_CHECK(utf8_is_ascii(text, size) == all_ascii, "is it ASCII?");
    for (n = 0; n < size && data[n] >= 0x20 && data[n] < 0x7f && data[n] != '"' && data[n] != '\\';
         n++) {
    }
    FUZZ_CHECK(utf8_plain_run(text, text + size) <= n, "too long a run of plain bytes");
    return 0;
}
