/* net_address.c - hosts that are addresses, in whatever spelling: what the C library takes for an
 * address is judged as that very address, or refused; and what is not public never passes. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "fuzz.h"
#include "policy/net_address.h"

enum { HOST_BYTES_MAX = 300 };

/* Ranges of IPv4 that nobody may reach, by the registry of special addresses. */
static const struct {
    uint32_t base;
    unsigned bits;
} REFUSED[] = {{0x00000000, 8}, {0x0a000000, 8}, {0x64400000, 10}, {0x7f000000, 8},
    {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24}, {0xc0a80000, 16},
    {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24}, {0xe0000000, 4}, {0xf0000000, 4}};

static int is_refused_v4(const uint8_t *b)
{
    uint32_t a = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    size_t i;

    for (i = 0; i < sizeof(REFUSED) / sizeof(REFUSED[0]); i++) {
        if ((a ^ REFUSED[i].base) >> (32 - REFUSED[i].bits) == 0) {
            return 1;
        }
    }
    return 0;
}

static int begins(const uint8_t *b, const char *prefix, size_t len)
{
    return memcmp(b, prefix, len) == 0;
}

static int is_refused_v6(const uint8_t *b)
{
    static const char zeros[16];

    return (b[0] & 0xfe) == 0xfc || b[0] == 0xff || (b[0] == 0xfe && (b[1] & 0xc0) == 0x80) ||
           begins(b, "\x20\x01\x0d\xb8", 4) || (begins(b, zeros, 15) && b[15] <= 1) ||
           (begins(b, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) && is_refused_v4(b + 12)) ||
           (begins(b, "\0\x64\xff\x9b\0\0\0\0\0\0\0\0", 12) && is_refused_v4(b + 12)) ||
           (begins(b, "\x20\x02", 2) && is_refused_v4(b + 2)) ||
           (begins(b, zeros, 12) && is_refused_v4(b + 12));
}

/* An address that was read, or made of bytes: it is written in one way, which is read as the same.
 */
static void check_address(const struct net_address *a)
{
    char text[NET_ADDRESS_TEXT_BYTES], bracketed[NET_ADDRESS_TEXT_BYTES + 2];
    struct net_address again;
    const char *host = text;

    net_address_text(a, text);
    FUZZ_CHECK(net_address_parse(text, strlen(text), &again) == 0 && net_address_equal(a, &again),
        "%s is not read as it was written", text);
    if (!net_address_is_v4(a)) {
        (void)snprintf(bracketed, sizeof(bracketed), "[%s]", text);
        host = bracketed;
    }
    FUZZ_CHECK(net_host_kind(host, strlen(host), &again) == NET_HOST_ADDRESS &&
                   net_address_equal(a, &again),
        "%s is no host", host);
    FUZZ_CHECK(net_address_fault(a) != NULL || !is_refused_v6(a->bytes), "%s passes", text);
}

/* What the resolver of the C library would make of the host without asking anybody; 0: nothing. */
static int read_by_libc(const char *host, struct net_address *ret)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    struct in_addr in;

    if (inet_aton(host, &in) != 0) {
        *ret = net_address_v4((const uint8_t *)&in);
        return 1;
    }
    if (getaddrinfo(host, NULL, &hints, &list) != 0) {
        return 0;
    }
    if (list->ai_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, list->ai_addr, sizeof(in6));
        *ret = net_address_v6(in6.sin6_addr.s6_addr);
    } else {
        struct sockaddr_in in4;

        memcpy(&in4, list->ai_addr, sizeof(in4));
        *ret = net_address_v4((const uint8_t *)&in4.sin_addr);
    }
    freeaddrinfo(list);
    return 1;
}

static void check_host(const char *host, size_t len)
{
    char text[HOST_BYTES_MAX + 1];
    struct net_address ours, theirs;
    enum net_host_kind kind = net_host_kind(host, len, &ours);
    int is_bracketed = len >= 2 && host[0] == '[' && host[len - 1] == ']';

    if (kind == NET_HOST_ADDRESS) {
        check_address(&ours);
    }
    if (memchr(host, '\0', len) != NULL) {
        FUZZ_CHECK(kind != NET_HOST_NAME && kind != NET_HOST_ADDRESS,
            "a host with a NUL in it is of kind %d", (int)kind);
        return;
    }
    memcpy(text, host + is_bracketed, len - 2U * (unsigned)is_bracketed);
    text[len - 2U * (unsigned)is_bracketed] = '\0';
    if (!read_by_libc(text, &theirs)) {
        FUZZ_CHECK(kind != NET_HOST_ADDRESS, "%s is an address for us alone", text);
        return;
    }
    FUZZ_CHECK(kind != NET_HOST_NAME, "%s is an address, and taken for a name", text);
    FUZZ_CHECK(kind != NET_HOST_ADDRESS || net_address_equal(&ours, &theirs),
        "%s is read as another address", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct net_address a;
    char *host;

    if (size >= 4) {
        a = net_address_v4(data);
        FUZZ_CHECK(net_address_is_v4(&a), "four bytes are not IPv4");
        FUZZ_CHECK(net_address_fault(&a) != NULL || !is_refused_v4(data), "four bytes pass");
        check_address(&a);
    }
    if (size >= 16) {
        a = net_address_v6(data);
        check_address(&a);
    }
    if (size <= HOST_BYTES_MAX) {
        host = fuzz_copy((const char *)data, size);
        check_host(host, size);
        free(host);
    }
    return 0;
}
