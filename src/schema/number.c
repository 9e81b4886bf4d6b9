/* number.c - see number.h. */
#include "schema/number.h"

#include <assert.h>

enum {
    DIVISOR_DIGITS_MAX = 18, /* so that it fits into 63 bits */
};

/* Exponents are cut off here: ten to this power is written by nobody, and sums of a few do not
 * wrap. */
static const int64_t exponent_max = INT64_C(1) << 40;

static int64_t read_exponent(const char *p, const char *end)
{
    int64_t v = 0;
    int negative = 0;

    if (p < end && (*p == '+' || *p == '-')) {
        negative = *p == '-';
        p++;
    }
    for (; p < end; p++) {
        v = v < exponent_max ? v * 10 + (*p - '0') : v;
    }
    v = v < exponent_max ? v : exponent_max;
    return negative ? -v : v;
}

void number_read(struct number *n, const char *text, size_t len)
{
    const char *p = text, *end = text + len, *stop;
    int64_t whole = 0; /* digits before the point, from the first that is not 0 */
    int64_t zeros = 0; /* behind the point, before the first other digit */
    int point = 0;

    *n = (struct number){.digits = NULL};
    n->negative = *p == '-';
    p += n->negative;
    for (stop = p; stop < end && *stop != 'e' && *stop != 'E'; stop++) {
        if (*stop == '.') {
            point = 1;
            continue;
        }
        if (n->digits == NULL && *stop == '0') {
            zeros += point;
            continue;
        }
        n->digits = n->digits == NULL ? stop : n->digits;
        n->count++;
        whole += !point;
    }
    if (n->digits == NULL) {
        *n = (struct number){.digits = text, .end = text};
        return;
    }
    n->exponent = whole - zeros;
    if (stop < end) {
        n->exponent += read_exponent(stop + 1, end);
    }
    for (n->end = stop; n->end[-1] == '0' || n->end[-1] == '.'; n->end--) {
        n->count -= n->end[-1] == '0';
    }
}

/* The digit at *at, which is moved behind it; 0 when there are no more. */
static int next_digit(const struct number *n, const char **at)
{
    if (*at < n->end && **at == '.') {
        (*at)++;
    }
    return *at < n->end ? *(*at)++ - '0' : 0;
}

int number_compare(const struct number *a, const struct number *b)
{
    const char *at_a = a->digits, *at_b = b->digits;
    int sign = a->negative ? -1 : 1;
    uint32_t count = a->count > b->count ? a->count : b->count;
    uint32_t i;
    int d;

    if (a->count == 0 || b->count == 0 || a->negative != b->negative) {
        return (a->count == 0 ? 0 : sign) - (b->count == 0 ? 0 : b->negative ? -1 : 1);
    }
    if (a->exponent != b->exponent) {
        return a->exponent < b->exponent ? -sign : sign;
    }
    for (i = 0; i < count; i++) {
        d = next_digit(a, &at_a) - next_digit(b, &at_b);
        if (d != 0) {
            return d < 0 ? -sign : sign;
        }
    }
    return 0;
}

int number_is_whole(const struct number *n)
{
    return n->count == 0 || n->exponent >= (int64_t)n->count;
}

int number_can_divide(const struct number *divisor)
{
    return divisor->count > 0 && divisor->count <= DIVISOR_DIGITS_MAX && !divisor->negative;
}

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t modulus)
{
    return (uint64_t)((unsigned __int128)a * b % modulus);
}

static uint64_t ten_to_the(int64_t power, uint64_t modulus)
{
    uint64_t result = 1 % modulus, base = 10 % modulus;

    for (; power > 0; power >>= 1) {
        if ((power & 1) != 0) {
            result = multiply(result, base, modulus);
        }
        base = multiply(base, base, modulus);
    }
    return result;
}

/* With the digits as whole numbers, n is m times ten to the e and the divisor k times ten to the f.
 * When e is below f, m would have to be a multiple of ten; it is not, its last digit is not 0. */
int number_is_multiple(const struct number *n, const struct number *divisor)
{
    int64_t power =
        (n->exponent - (int64_t)n->count) - (divisor->exponent - (int64_t)divisor->count);
    const char *at = divisor->digits;
    uint64_t k = 0, rest = 0;
    uint32_t i;

    assert(number_can_divide(divisor));
    if (n->count == 0) {
        return 1;
    }
    if (power < 0) {
        return 0;
    }
    for (i = 0; i < divisor->count; i++) {
        k = k * 10 + (uint64_t)next_digit(divisor, &at);
    }
    assert(k > 0); /* its first digit is not 0 */
    at = n->digits;
    for (i = 0; i < n->count; i++) {
        rest = (multiply(rest, 10, k) + (uint64_t)next_digit(n, &at)) % k;
    }
    return multiply(rest, ten_to_the(power, k), k) == 0;
}
