/* net_address.c - see net_address.h.
 *
 * The tables are IANA's registries of special addresses, and the addresses where clouds keep the
 * credentials of their machines. Of IPv6 only 2000::/3 is given out, so all else is refused without
 * being named. */
#include "policy/net_address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

struct range {
    uint8_t bytes[NET_ADDRESS_BYTES];
    unsigned bits;
    const char *what;
};

static const char METADATA[] = "an address of a cloud's metadata service";
static const char LOCAL[] = "an address of the host's own network";
static const char DOCUMENTATION[] = "an address for documentation";
static const char BENCHMARKS[] = "an address for benchmarks";
static const char PROTOCOLS[] = "an address that is kept for protocols";

/* Exact addresses stand before the ranges that they lie in: the first one that fits is told. */
static const struct range V4[] = {
    {{169, 254, 169, 254}, 32, METADATA},
    {{169, 254, 170, 2}, 32, METADATA},   /* containers */
    {{100, 100, 100, 200}, 32, METADATA}, /* one in the range of carriers */
    {{168, 63, 129, 16}, 32, METADATA},   /* one that looks public */
    {{192, 0, 0, 192}, 32, METADATA},
    {{0}, 8, "an unspecified address"},
    {{10}, 8, "a private address"},
    {{100, 64}, 10, "a shared address of a carrier (CGNAT)"},
    {{127}, 8, "a loopback address"},
    {{169, 254}, 16, "a link-local address"},
    {{172, 16}, 12, "a private address"},
    {{192, 0, 0}, 24, PROTOCOLS},
    {{192, 0, 2}, 24, DOCUMENTATION},
    {{192, 88, 99}, 24, "an address of 6to4 relays"},
    {{192, 168}, 16, "a private address"},
    {{198, 18}, 15, BENCHMARKS},
    {{198, 51, 100}, 24, DOCUMENTATION},
    {{203, 0, 113}, 24, DOCUMENTATION},
    {{224}, 4, "a multicast address"},
    {{255, 255, 255, 255}, 32, "the broadcast address"},
    {{240}, 4, "a reserved address"},
};

static const struct range V6[] = {
    {{0xfd, 0x00, 0x0e, 0xc2}, 112, METADATA}, /* fd00:ec2::254 and its neighbours */
    {{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128, METADATA},
    {{0}, 128, "an unspecified address"},
    {{[15] = 1}, 128, "a loopback address"},
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "an address of a local translator"},
    {{0x01}, 64, "an address where everything is discarded"},
    {{0x20, 0x01, 0x00, 0x02}, 48, BENCHMARKS},
    {{0x20, 0x01, 0x00, 0x10}, 28, "no address but a hash"}, /* ORCHID, two versions */
    {{0x20, 0x01, 0x00, 0x20}, 28, "no address but a hash"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, DOCUMENTATION},
    {{0x20, 0x01}, 23, PROTOCOLS}, /* Teredo, which lies in it, is unwrapped before */
    {{0x3f, 0xff}, 20, DOCUMENTATION},
    {{0xfc}, 7, "a private address"},
    {{0xfe, 0x80}, 10, "a link-local address"},
    {{0xfe, 0xc0}, 10, LOCAL},
    {{0xff}, 8, "a multicast address"},
};

static const struct range PUBLIC_V6 = {{0x20}, 3, NULL};
static const uint8_t MAPPED[12] = {[10] = 0xff, [11] = 0xff};
static const uint8_t NAT64[12] = {0x00, 0x64, 0xff, 0x9b};
static const uint8_t ZEROS[12] = {0};
static const uint8_t TEREDO[4] = {0x20, 0x01, 0x00, 0x00};
static const uint8_t SIX_TO_FOUR[2] = {0x20, 0x02};

static int is_in(const uint8_t *bytes, const struct range *range)
{
    unsigned whole = range->bits / 8, rest = range->bits % 8;

    return memcmp(bytes, range->bytes, whole) == 0 &&
           (rest == 0 || (bytes[whole] ^ range->bytes[whole]) >> (8 - rest) == 0);
}

struct net_address net_address_v4(const uint8_t bytes[4])
{
    struct net_address a;

    memcpy(a.bytes, MAPPED, sizeof(MAPPED));
    memcpy(a.bytes + sizeof(MAPPED), bytes, 4);
    return a;
}

struct net_address net_address_v6(const uint8_t bytes[16])
{
    struct net_address a;

    memcpy(a.bytes, bytes, sizeof(a.bytes));
    return a;
}

int net_address_is_v4(const struct net_address *a)
{
    return memcmp(a->bytes, MAPPED, sizeof(MAPPED)) == 0;
}

int net_address_equal(const struct net_address *a, const struct net_address *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

void net_address_text(const struct net_address *a, char text[NET_ADDRESS_TEXT_BYTES])
{
    int is_v4 = net_address_is_v4(a);

    (void)inet_ntop(
        is_v4 ? AF_INET : AF_INET6, is_v4 ? a->bytes + 12 : a->bytes, text, NET_ADDRESS_TEXT_BYTES);
}

static const char *find_range(const uint8_t *bytes, const struct range *ranges, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (is_in(bytes, &ranges[i])) {
            return ranges[i].what;
        }
    }
    return NULL;
}

static const char *v4_fault(const uint8_t bytes[4])
{
    return find_range(bytes, V4, sizeof(V4) / sizeof(V4[0]));
}

/* The IPv4 addresses that an IPv6 address carries to whoever translates it. Their number, up to
 * two: Teredo has that of its server, and that of the client with its bits turned over. */
static unsigned unwrap(const struct net_address *a, uint8_t ret[2][4])
{
    const uint8_t *b = a->bytes;
    unsigned i;

    if (net_address_is_v4(a) || memcmp(b, NAT64, sizeof(NAT64)) == 0 ||
        (memcmp(b, ZEROS, sizeof(ZEROS)) == 0 && (b[12] | b[13] | b[14]) != 0)) {
        memcpy(ret[0], b + 12, 4);
        return 1;
    }
    if (memcmp(b, SIX_TO_FOUR, sizeof(SIX_TO_FOUR)) == 0) {
        memcpy(ret[0], b + 2, 4);
        return 1;
    }
    if (memcmp(b, TEREDO, sizeof(TEREDO)) == 0) {
        memcpy(ret[0], b + 4, 4);
        for (i = 0; i < 4; i++) {
            ret[1][i] = (uint8_t)~b[12 + i];
        }
        return 2;
    }
    if ((b[8] & 0xfd) == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe) { /* ISATAP */
        memcpy(ret[0], b + 12, 4);
        return 1;
    }
    return 0;
}

const char *net_address_fault(const struct net_address *a)
{
    uint8_t inner[2][4] = {{0}};
    unsigned count = unwrap(a, inner);
    const char *fault = NULL;
    unsigned i;

    for (i = 0; i < count && fault == NULL; i++) {
        fault = v4_fault(inner[i]);
    }
    if (fault != NULL || net_address_is_v4(a)) {
        return fault;
    }
    if (memcmp(a->bytes, NAT64, sizeof(NAT64)) == 0 ||
        memcmp(a->bytes, TEREDO, sizeof(TEREDO)) == 0) {
        return NULL; /* to a public address */
    }
    fault = find_range(a->bytes, V6, sizeof(V6) / sizeof(V6[0]));
    return fault != NULL || is_in(a->bytes, &PUBLIC_V6) ? fault : "a reserved address";
}

/* ---- hosts ---- */

int net_address_parse(const char *text, size_t len, struct net_address *ret)
{
    char copy[NET_ADDRESS_TEXT_BYTES];
    uint8_t bytes[16];

    if (len == 0 || len >= sizeof(copy) || memchr(text, '\0', len) != NULL) {
        return -1;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, bytes) == 1) { /* four numbers, none with a zero before it */
        *ret = net_address_v4(bytes);
        return 0;
    }
    if (inet_pton(AF_INET6, copy, bytes) == 1) {
        *ret = net_address_v6(bytes);
        return 0;
    }
    return -1;
}

/* One part of what inet_aton reads: decimal, octal or hexadecimal; 0, or -1 when it is none. A
 * number that is too large stays too large. */
static int read_number(const char *text, size_t len, uint64_t *ret)
{
    unsigned base = 10;
    uint64_t value = 0;
    size_t i = 0;

    if (len >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        i = 2; /* "0x" alone is a zero to some */
    } else if (len >= 2 && text[0] == '0') {
        base = 8;
        i = 1;
    } else if (len == 0) {
        return -1;
    }
    for (; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        unsigned digit = c >= '0' && c <= '9'   ? c - (unsigned)'0'
                         : c >= 'a' && c <= 'f' ? c - 'a' + 10U
                         : c >= 'A' && c <= 'F' ? c - 'A' + 10U
                                                : 99U;

        /* Some take 08 for eight, and some for no number: nobody needs it. */
        if (digit >= (base == 8 ? 10 : base)) {
            return -1;
        }
        value = value > UINT32_MAX ? value : value * base + digit;
    }
    *ret = value;
    return 0;
}

/* Does a resolver take it for numbers? Its last part is one then. */
static int ends_in_number(const char *host, size_t len)
{
    size_t begin = len;
    uint64_t number;

    while (begin > 0 && host[begin - 1] != '.') {
        begin--;
    }
    return read_number(host + begin, len - begin, &number) == 0;
}

/* The address that inet_aton makes of one to four numbers; 0.0.0.0 when they are out of range. */
static struct net_address disguised(const char *host, size_t len)
{
    uint8_t bytes[4] = {0};
    uint64_t parts[4] = {0}, last_max;
    unsigned count = 0, i;
    size_t at = 0, end;
    int fine = 1;

    while (at <= len && fine) {
        for (end = at; end < len && host[end] != '.'; end++) {
        }
        fine = count < 4 && read_number(host + at, end - at, &parts[count]) == 0;
        count += (unsigned)fine;
        at = end + 1;
    }
    last_max = count > 0 ? UINT32_MAX >> (8 * (count - 1)) : 0;
    for (i = 0; i + 1 < count; i++) {
        fine = fine && parts[i] <= UINT8_MAX;
        bytes[i] = (uint8_t)parts[i];
    }
    if (!fine || count == 0 || parts[count - 1] > last_max) {
        memset(bytes, 0, sizeof(bytes));
        return net_address_v4(bytes);
    }
    for (i = 0; i < 4 - (count - 1); i++) {
        bytes[3 - i] = (uint8_t)(parts[count - 1] >> (8 * i));
    }
    return net_address_v4(bytes);
}

enum net_host_kind net_host_kind(const char *host, size_t len, struct net_address *ret)
{
    size_t i, label = 0;

    if (len >= 2 && host[0] == '[') {
        return host[len - 1] == ']' && memchr(host, ':', len) != NULL &&
                       net_address_parse(host + 1, len - 2, ret) == 0
                   ? NET_HOST_ADDRESS
                   : NET_HOST_BAD;
    }
    if (len == 0 || len > 253) {
        return NET_HOST_BAD;
    }
    if (ends_in_number(host, host[len - 1] == '.' ? len - 1 : len)) {
        if (net_address_parse(host, len, ret) == 0 && net_address_is_v4(ret)) {
            return NET_HOST_ADDRESS;
        }
        *ret = disguised(host, host[len - 1] == '.' ? len - 1 : len);
        return NET_HOST_DISGUISED;
    }
    for (i = 0; i <= len; i++) {
        if (i == len || host[i] == '.') { /* a label of 1 to 63; a dot at the end has none before */
            if (label == 0 || label > 63) {
                return NET_HOST_BAD;
            }
            label = 0;
            continue;
        }
        if (!((host[i] >= 'a' && host[i] <= 'z') || (host[i] >= '0' && host[i] <= '9') ||
                host[i] == '-' || host[i] == '_')) {
            return NET_HOST_BAD;
        }
        label++;
    }
    return NET_HOST_NAME;
}
