/* guard.c - see guard.h. */
#include "http/guard.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"

static int is_token(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static int is_name(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

static int is_number(const char *value, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9') {
            return 0;
        }
    }
    return len > 0 && len <= 18;
}

static const char *look_at(
    struct guard *g, const char *name, size_t name_len, const char *value, size_t value_len)
{
    size_t i;

    for (i = 0; i < name_len; i++) {
        if (!is_token((unsigned char)name[i])) {
            return "the name of a header has a character that names do not have";
        }
    }
    for (i = 0; i < value_len; i++) {
        unsigned char c = (unsigned char)value[i];

        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return "the value of a header has a control character in it";
        }
    }
    if (name_len == 0 || value_len > GUARD_VALUE_BYTES_MAX) {
        return "a header has no name, or a value of more than 8192 bytes";
    }
    if (is_name(name, name_len, "Host") && ++g->hosts > 1) {
        return "there is more than one Host";
    }
    if (is_name(name, name_len, "Content-Length")) {
        if (++g->lengths > 1 || !is_number(value, value_len)) {
            return "Content-Length must be there once, and be a whole number in plain digits";
        }
    }
    if (is_name(name, name_len, "Transfer-Encoding")) {
        if (++g->encodings > 1 || value_len != 7 || strncasecmp(value, "chunked", 7) != 0) {
            return "the only Transfer-Encoding that is taken is chunked, once";
        }
    }
    return NULL;
}

void guard_header(
    struct guard *g, const char *name, size_t name_len, const char *value, size_t value_len)
{
    const char *fault = look_at(g, name, name_len, value, value_len);

    g->count++;
    g->bytes += name_len + strlen(":") + value_len + strlen("\r\n");
    g->fault = g->fault != NULL ? g->fault : fault;
}

const char *guard_finish(
    struct guard *g, const char *method, const char *uri, const char *version, size_t head_bytes)
{
    size_t line = strlen(method) + strlen(uri) + strlen(version) + strlen("  \r\n\r\n");
    size_t i;

    if (g->fault != NULL) {
        return g->fault;
    }
    if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0) {
        return "the version must be HTTP/1.1 or HTTP/1.0";
    }
    if (g->hosts == 0 && strcmp(version, "HTTP/1.1") == 0) {
        return "a request of HTTP/1.1 has exactly one Host";
    }
    if (g->lengths > 0 && g->encodings > 0) {
        return "a request has a Content-Length or a Transfer-Encoding, not both";
    }
    if (g->count > GUARD_HEADERS_MAX) {
        return "there are more than 100 headers";
    }
    if (uri[0] != '/' || strlen(uri) > GUARD_URI_BYTES_MAX) {
        return "the target must be a path of up to 8192 bytes";
    }
    for (i = 0; uri[i] != '\0'; i++) {
        if ((unsigned char)uri[i] <= 0x20 || (unsigned char)uri[i] >= 0x7f || uri[i] == '#') {
            return "the target has a character that must be written as %XX";
        }
    }
    /* The parser cuts a value at a NUL and joins folded lines: then more was sent than it says. At
     * most one space a header is what everybody sends. */
    if (head_bytes > line + g->bytes + g->count) {
        return "the headers have bytes that are not part of any: a NUL, a folded line, or spaces";
    }
    return NULL;
}

int guard_knows_method(const char *method)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(method, known[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

int guard_decode(char *text)
{
    char *from = text, *to = text;

    while (*from != '\0') {
        if (*from != '%') {
            *to++ = *from++;
            continue;
        }
        if (hex(from[1]) < 0 || hex(from[2]) < 0) {
            return -1;
        }
        *to = (char)(hex(from[1]) * 16 + hex(from[2]));
        if ((unsigned char)*to < 0x20 || *to == 0x7f) {
            return -1;
        }
        to++;
        from += 3;
    }
    *to = '\0';
    return utf8_valid(text, (size_t)(to - text), NULL) ? 0 : -1;
}
