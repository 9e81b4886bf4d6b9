/* fuzz.h - what the fuzz targets share.
 *
 * A target is one file: it takes bytes of any kind, hands them to a part of vial, and stops the
 * program when something that must be true is not. The sanitizers stop it at everything else. */
#ifndef VIAL_FUZZ_FUZZ_H
#define VIAL_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libFuzzer calls; 0 always. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says what must be true and is not, and stops. libFuzzer then keeps the input. */
#define FUZZ_CHECK(condition, ...)                                                                 \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                  \
            (void)fprintf(stderr, __VA_ARGS__);                                                    \
            (void)fputc('\n', stderr);                                                             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input as it is taken apart: numbers from its front, and the bytes that are left. Where it
 * ends the numbers are 0, so that every input means something. */
struct fuzz_input {
    const char *at;
    size_t left;
};

static inline struct fuzz_input fuzz_input(const uint8_t *data, size_t size)
{
    return (struct fuzz_input){.at = (const char *)data, .left = size};
}

static inline unsigned fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return (unsigned char)*in->at++;
}

/* At most max bytes in memory of their own, so that AddressSanitizer sees every step beyond. The
 * caller frees them. */
static inline char *fuzz_copy(const char *bytes, size_t len)
{
    char *copy = malloc(len > 0 ? len : 1);

    FUZZ_CHECK(copy != NULL, "there is no memory");
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    return copy;
}

/* The bytes up to a separator, or all of them; moves behind it. */
static inline const char *fuzz_until(struct fuzz_input *in, char separator, size_t *ret_len)
{
    const char *start = in->at;
    const char *found = in->left > 0 ? memchr(in->at, separator, in->left) : NULL;

    *ret_len = found != NULL ? (size_t)(found - start) : in->left;
    in->left -= *ret_len + (found != NULL);
    in->at += *ret_len + (found != NULL);
    return start;
}

#endif
