/* random.c - see random.h. */
#include "cell/js/random.h"

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    SCAN_BYTES = 64 * 1024, /* the global object is some 10 KiB; what follows it is heap */
    CHECKS = 4,             /* predictions that must come true: 4 times 53 bits are no accident */
};

/* What Math.random answers for a state, and the state after it. */
static double predict(uint64_t words[2])
{
    uint64_t x = words[0];
    uint64_t y = words[1];

    words[0] = y;
    x ^= x << 23;
    x ^= x >> 17;
    x ^= y ^ (y >> 26);
    words[1] = x;
    return (double)((x + y) & ((1ULL << 53) - 1)) * (1.0 / (double)(1ULL << 53));
}

static double draw(JSGlobalContextRef ctx)
{
    JSStringRef source = JSStringCreateWithUTF8CString("Math.random()");
    JSValueRef v = JSEvaluateScript(ctx, source, NULL, NULL, 1, NULL);

    JSStringRelease(source);
    return v != NULL ? JSValueToNumber(ctx, v, NULL) : -1;
}

/* Reads our own memory through the kernel, which answers with an error where there is none. */
static size_t copy_own_memory(const void *from, void *to, size_t len)
{
    struct iovec local = {.iov_base = to, .iov_len = len};
    struct iovec remote = {.iov_len = len};
    ssize_t n;

    memcpy(&remote.iov_base, &from, sizeof(from));
    n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

/* Do the words at this place of the copy foretell the numbers? */
static int foretells(const char *copy, size_t at, const double *numbers)
{
    uint64_t words[2];
    int i;

    memcpy(words, copy + at, sizeof(words));
    for (i = 0; i < CHECKS; i++) {
        if (predict(words) != numbers[i]) {
            return 0;
        }
    }
    return 1;
}

uint64_t *random_find(JSGlobalContextRef ctx)
{
    static char copy[SCAN_BYTES];
    double numbers[CHECKS];
    uintptr_t global = (uintptr_t)ctx; /* in this interface the context is the global object */
    size_t len, at;
    int i;

    (void)draw(ctx); /* the first use may set things up */
    len = copy_own_memory((const void *)global, copy, sizeof(copy));
    for (i = 0; i < CHECKS; i++) {
        numbers[i] = draw(ctx);
    }
    for (at = 0; at + 2 * sizeof(uint64_t) <= len; at += sizeof(uint64_t)) {
        if (foretells(copy, at, numbers)) {
            return (uint64_t *)(global + at);
        }
    }
    return NULL;
}
