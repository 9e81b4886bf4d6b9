/* net_url.c - see net_url.h. */
#include "policy/net_url.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

static const char NO_MEMORY[] = "cannot be read: there is no memory for it";

uint16_t net_scheme_port(int scheme)
{
    return scheme == NET_HTTPS ? 443 : 80;
}

const char *net_scheme_name(int scheme)
{
    return scheme == NET_HTTPS ? "https" : "http";
}

void net_url_release(struct net_url *url)
{
    buf_release(&url->path);
    buf_release(&url->query);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static int is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

/* Bytes that no part of a URL has as they are. */
static const char *bad_byte(const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < 0x20 || c == 0x7f) {
            return "has a control character in it";
        }
        if (c >= 0x80) {
            return "has a character in it that is not ASCII; write names in punycode (xn--) and "
                   "the rest percent-encoded";
        }
        if (c == '\\') {
            return "has a backslash in it";
        }
        if (c == ' ' || c == '"' || c == '<' || c == '>') {
            return "has a character in it that must be percent-encoded";
        }
    }
    return NULL;
}

/* Puts escapes into one spelling: what needs none has none, the others are in capitals. */
static int unescape(const char *path, size_t len, struct buf *out, const char **why)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t i;

    for (i = 0; i < len; i++) {
        char bytes[3] = {path[i]};
        size_t n = 1;

        if (path[i] == '%') {
            int high = i + 2 < len ? hex_value(path[i + 1]) : -1;
            int low = i + 2 < len ? hex_value(path[i + 2]) : -1;

            if (high < 0 || low < 0) {
                *why = "has a % in its path that is not followed by two hexadecimal digits";
                return -1;
            }
            bytes[0] = (char)(high << 4 | low);
            if (!is_unreserved((unsigned char)bytes[0])) {
                if (bytes[0] == '\0') {
                    *why = "has %00 in its path";
                    return -1;
                }
                bytes[0] = '%';
                bytes[1] = digits[high];
                bytes[2] = digits[low];
                n = 3;
            }
            i += 2;
        }
        if (buf_add(out, bytes, n, NULL) < 0) {
            *why = NO_MEMORY;
            return -1;
        }
    }
    return 0;
}

/* How long the separator at this place is: a slash, or one that a server may decode; 0: none. */
static size_t separator(const char *path, size_t len, size_t at, int is_wide)
{
    if (path[at] == '/') {
        return 1;
    }
    return is_wide && len - at >= 3 &&
                   (memcmp(path + at, "%2F", 3) == 0 || memcmp(path + at, "%5C", 3) == 0)
               ? 3
               : 0;
}

/* Is there a segment . or .. that a server would see after it decodes more than it should? A
 * segment may have parameters behind a semicolon, which some cut off before. */
static int hides_dots(const char *path, size_t len)
{
    size_t begin = 0, at = 0, end, step;

    while (at <= len) {
        step = at < len ? separator(path, len, at, 1) : 1;
        if (step == 0) {
            at++;
            continue;
        }
        for (end = begin;
             end < at && path[end] != ';' && !(at - end >= 3 && memcmp(path + end, "%3B", 3) == 0);
             end++) {
        }
        if ((end - begin == 1 && path[begin] == '.') ||
            (end - begin == 2 && path[begin] == '.' && path[begin + 1] == '.')) {
            return 1;
        }
        at += step;
        begin = at;
    }
    return 0;
}

/* Takes . and .. out of a path, in place. */
static void remove_dots(struct buf *path)
{
    char *p = path->data;
    size_t in = 0, out = 0, end;

    while (in < path->len) { /* at a slash */
        for (end = in + 1; end < path->len && p[end] != '/'; end++) {
        }
        if (end - in == 2 && p[in + 1] == '.') {
            if (end == path->len) {
                p[out++] = '/';
            }
        } else if (end - in == 3 && p[in + 1] == '.' && p[in + 2] == '.') {
            while (out > 0 && p[--out] != '/') {
            }
            if (end == path->len) {
                p[out++] = '/';
            }
        } else {
            memmove(p + out, p + in, end - in);
            out += end - in;
        }
        in = end;
    }
    if (out == 0) {
        p[out++] = '/';
    }
    path->len = out;
    p[out] = '\0';
}

int net_path_normalise(const char *path, size_t len, struct buf *out, const char **why)
{
    struct buf plain;
    int r = -1;

    *why = bad_byte(path, len);
    if (*why != NULL) {
        return -1;
    }
    if (len == 0 || path[0] != '/') {
        *why = "has a path that does not begin with a slash";
        return -1;
    }
    buf_init(&plain, NET_PATH_BYTES_MAX);
    if (unescape(path, len, &plain, why) == 0) {
        remove_dots(&plain);
        if (hides_dots(plain.data, plain.len)) {
            *why = "has a .. hidden in its path";
        } else if (buf_add(out, plain.data, plain.len, NULL) < 0) {
            *why = NO_MEMORY;
        } else {
            r = 0;
        }
    }
    buf_release(&plain);
    return r;
}

/* The port behind the host, or the scheme's; 0 when it is none. */
static uint16_t read_port(const char *text, size_t len, int scheme)
{
    uint32_t port = 0;
    size_t i;

    if (len == 0) { /* "host:" means what "host" does */
        return net_scheme_port(scheme);
    }
    for (i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || port > UINT16_MAX) {
            return 0;
        }
        port = port * 10 + (uint32_t)(text[i] - '0');
    }
    return len <= 5 && port <= UINT16_MAX && text[0] != '0' ? (uint16_t)port : 0;
}

/* Host and port: what lies between // and the path. */
static const char *read_authority(const char *text, size_t len, struct net_url *url)
{
    const char *colon;
    size_t host_len, i;

    if (memchr(text, '@', len) != NULL) {
        return "has a user name or password in it; send these as a header";
    }
    if (memchr(text, '%', len) != NULL) {
        return "has a % in its host: names have no escapes, and addresses no zones";
    }
    colon = len > 0 && text[0] == '[' ? memchr(text, ']', len) : text;
    if (colon == NULL) {
        return "has a bracket in its host that is not closed";
    }
    colon = memchr(colon, ':', len - (size_t)(colon - text));
    host_len = colon != NULL ? (size_t)(colon - text) : len;
    if (host_len == 0 || host_len >= sizeof(url->host)) {
        return host_len == 0 ? "has no host" : "has a host that is too long";
    }
    for (i = 0; i < host_len; i++) {
        url->host[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]);
    }
    url->host[host_len] = '\0';
    url->port = colon != NULL ? read_port(colon + 1, len - host_len - 1, url->scheme)
                              : net_scheme_port(url->scheme);
    if (url->port == 0) {
        return "has a port that is no number from 1 to 65535";
    }
    if (url->host[host_len - 1] == '.') { /* one name would have two spellings */
        url->host_kind = (int)net_host_kind(url->host, host_len, &url->address);
        return url->host_kind == NET_HOST_DISGUISED ? NULL : "has a dot at the end of its host";
    }
    url->host_kind = (int)net_host_kind(url->host, host_len, &url->address);
    return url->host_kind == NET_HOST_BAD ? "has a host that is neither a name nor an address"
                                          : NULL;
}

/* Addresses have one spelling in what is asked for. */
static void spell_address(struct net_url *url)
{
    char text[NET_ADDRESS_TEXT_BYTES];
    size_t len;

    if (url->host_kind != NET_HOST_ADDRESS || url->host[0] != '[') {
        return;
    }
    net_address_text(&url->address, text);
    len = strlen(text);
    if (net_address_is_v4(&url->address)) {
        memcpy(url->host, text, len + 1);
        return;
    }
    memcpy(url->host + 1, text, len);
    url->host[len + 1] = ']';
    url->host[len + 2] = '\0';
}

static const char *read_rest(const char *text, size_t len, struct net_url *url)
{
    const char *hash = memchr(text, '#', len);
    const char *mark;
    const char *why = NULL;
    size_t path_len;

    len = hash != NULL ? (size_t)(hash - text) : len;
    mark = memchr(text, '?', len);
    path_len = mark != NULL ? (size_t)(mark - text) : len;
    if (net_path_normalise(
            path_len > 0 ? text : "/", path_len > 0 ? path_len : 1, &url->path, &why) < 0) {
        return why;
    }
    url->has_query = mark != NULL;
    if (mark != NULL && len - path_len > 1 &&
        buf_add(&url->query, mark + 1, len - path_len - 1, NULL) < 0) {
        return NO_MEMORY;
    }
    return NULL;
}

int net_url_parse(const char *text, size_t len, struct net_url *ret, const char **why)
{
    struct net_url url = {.port = 0};
    size_t begin, end;

    *why = len > NET_URL_BYTES_MAX ? "is longer than 8192 bytes" : bad_byte(text, len);
    if (*why != NULL) {
        return -1;
    }
    if (len >= 8 && strncasecmp(text, "https://", 8) == 0) {
        begin = 8;
    } else if (len >= 7 && strncasecmp(text, "http://", 7) == 0) {
        url.scheme = NET_HTTP;
        begin = 7;
    } else {
        *why = "does not begin with https:// or http://";
        return -1;
    }
    for (end = begin; end < len && strchr("/?#", text[end]) == NULL; end++) {
    }
    buf_init(&url.path, NET_PATH_BYTES_MAX);
    buf_init(&url.query, NET_URL_BYTES_MAX);
    *why = read_authority(text + begin, end - begin, &url);
    if (*why == NULL) {
        *why = read_rest(text + end, len - end, &url);
    }
    if (*why != NULL) {
        net_url_release(&url);
        return -1;
    }
    spell_address(&url);
    *ret = url;
    return 0;
}

/* ---- writing ---- */

int net_url_origin(const struct net_url *url, struct buf *out)
{
    char digits[6];
    uint16_t port = url->port;
    size_t at = sizeof(digits);

    if (buf_add_text(out, net_scheme_name(url->scheme), NULL) < 0 ||
        buf_add_text(out, "://", NULL) < 0 || buf_add_text(out, url->host, NULL) < 0) {
        return VIAL_E_NOMEM;
    }
    if (port == net_scheme_port(url->scheme)) {
        return VIAL_OK;
    }
    for (; port > 0; port = (uint16_t)(port / 10)) {
        digits[--at] = (char)('0' + port % 10);
    }
    digits[--at] = ':';
    return buf_add(out, digits + at, sizeof(digits) - at, NULL);
}

int net_url_write(const struct net_url *url, struct buf *out)
{
    if (net_url_origin(url, out) < 0 || buf_add(out, url->path.data, url->path.len, NULL) < 0 ||
        (url->has_query && buf_add_text(out, "?", NULL) < 0) ||
        (url->query.len > 0 && buf_add(out, url->query.data, url->query.len, NULL) < 0)) {
        return VIAL_E_NOMEM;
    }
    return VIAL_OK;
}

/* "a=1&b=2&c" is told as "a=*&b=*&*": a part without a name may be a value. */
static int tell_query(const struct buf *query, struct buf *out)
{
    size_t at = 0, end, name;
    int r = 0;

    while (at <= query->len && r == 0) {
        for (end = at; end < query->len && query->data[end] != '&'; end++) {
        }
        for (name = at; name < end && query->data[name] != '='; name++) {
        }
        r = at > 0 ? buf_add_text(out, "&", NULL) : 0;
        if (r == 0 && name < end) {
            r = buf_add(out, query->data + at, name + 1 - at, NULL);
        }
        r = r == 0 && end > at ? buf_add_text(out, "*", NULL) : r;
        at = end + 1;
    }
    return r;
}

int net_url_tell(const struct net_url *url, struct buf *out)
{
    if (net_url_origin(url, out) < 0 || buf_add(out, url->path.data, url->path.len, NULL) < 0 ||
        (url->has_query && buf_add_text(out, "?", NULL) < 0) ||
        (url->query.len > 0 && tell_query(&url->query, out) < 0)) {
        return VIAL_E_NOMEM;
    }
    return VIAL_OK;
}

int net_url_same_origin(const struct net_url *a, const struct net_url *b)
{
    return a->scheme == b->scheme && a->port == b->port && strcmp(a->host, b->host) == 0;
}
