/* id.c - see id.h. */
#include "base/id.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/error.h"

enum {
    TIME_CHARS = 10, /* 50 bits, of which the milliseconds take 48: until the year 10889 */
    RANDOM_BYTES = 10,
    BITS = 5, /* of one character */
};

#define TIME_MS_MAX ((UINT64_C(1) << 48) - 1)

static const char UPPER[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
static const char LOWER[] = "0123456789abcdefghjkmnpqrstvwxyz";

static void put_bytes(const char *alphabet, const unsigned char *bytes, size_t len, char *ret)
{
    uint64_t group;
    size_t i, j;

    assert(len % 5 == 0);
    for (i = 0; i < len; i += 5) {
        for (group = 0, j = 0; j < 5; j++) {
            group = group << 8 | bytes[i + j];
        }
        for (j = 8; j-- > 0; group >>= BITS) {
            ret[i / 5 * 8 + j] = alphabet[group & 31];
        }
    }
}

static void put_time(uint64_t time_us, char *ret)
{
    uint64_t ms = time_us / 1000 < TIME_MS_MAX ? time_us / 1000 : TIME_MS_MAX;
    size_t i;

    for (i = TIME_CHARS; i-- > 0; ms >>= BITS) {
        ret[i] = UPPER[ms & 31];
    }
}

static size_t put_prefix(const char *prefix, char *ret)
{
    size_t len = strlen(prefix);

    assert(len > 0 && len <= ID_PREFIX_BYTES_MAX && prefix[len - 1] == '_');
    memcpy(ret, prefix, len);
    ret[len + ID_BODY_BYTES] = '\0';
    return len;
}

int id_make(const char *prefix, uint64_t now_us, char ret[ID_BYTES_MAX + 1], struct vial_error *err)
{
    unsigned char bytes[RANDOM_BYTES];
    size_t len;
    ssize_t n;

    do {
        n = getrandom(bytes, sizeof(bytes), 0);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(bytes)) { /* up to 256 bytes are never cut */
        return vial__fail_sys(err, n < 0 ? errno : EIO, "the kernel gives no random numbers");
    }
    len = put_prefix(prefix, ret);
    put_time(now_us, ret + len);
    put_bytes(UPPER, bytes, sizeof(bytes), ret + len + TIME_CHARS);
    return VIAL_OK;
}

void id_first(const char *prefix, uint64_t time_us, char ret[ID_BYTES_MAX + 1])
{
    size_t len = put_prefix(prefix, ret);

    put_time(time_us, ret + len);
    memset(ret + len + TIME_CHARS, '0', ID_BODY_BYTES - TIME_CHARS);
}

int id_is_valid(const char *prefix, const char *text, size_t len)
{
    size_t prefix_len = strlen(prefix), i;

    if (len != prefix_len + ID_BODY_BYTES || memcmp(text, prefix, prefix_len) != 0 ||
        text[prefix_len] < '0' || text[prefix_len] > '7') { /* more than 48 bits of time */
        return 0;
    }
    for (i = prefix_len; i < len; i++) {
        if (text[i] == '\0' || strchr(UPPER, text[i]) == NULL) {
            return 0;
        }
    }
    return 1;
}

uint64_t id_time_ms(const char *prefix, const char *text)
{
    const char *p = text + strlen(prefix);
    uint64_t ms = 0;
    size_t i;

    for (i = 0; i < TIME_CHARS; i++) {
        const char *at = strchr(UPPER, p[i]);

        assert(at != NULL && p[i] != '\0');
        ms = ms << BITS | (uint64_t)(at - UPPER);
    }
    return ms;
}

void id_text_lower(const unsigned char *bytes, size_t len, char *ret)
{
    put_bytes(LOWER, bytes, len, ret);
}

uint64_t id_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}
