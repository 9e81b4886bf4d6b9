/* tool_http_check.c - what an operator may write as a tool over HTTP; see tool_http.h.
 *
 * The URL is taken apart by libcurl, so that what is checked is what is called. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "host/libcurl.h"
#include "host/tool_http.h"

/* Headers that say how the message is sent, which is libcurl's business; a second opinion about
 * them is how requests are smuggled. */
static const char *const reserved[] = {"Accept-Encoding", "Connection", "Content-Encoding",
    "Content-Length", "Expect", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE",
    "Trailer", "Transfer-Encoding", "Upgrade"};

static int is_token(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Messages name a header by its place, and never show its value: it may be a secret, and a name
 * that is wrong may be one too. */
static int check_header(const char *header, size_t number, struct vial_error *err)
{
    const char *colon = strchr(header, ':');
    const char *p;
    size_t i;

    if (strnlen(header, TOOL_HTTP_HEADER_BYTES_MAX + 1) > TOOL_HTTP_HEADER_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "header %zu of the tool is longer than %d bytes",
            number, TOOL_HTTP_HEADER_BYTES_MAX);
    }
    for (p = header; p != colon && is_token(*p); p++) {
    }
    if (colon == NULL || p != colon || colon == header) {
        return vial__fail(err, VIAL_E_INVALID,
            "header %zu of the tool is not written as \"Name: value\"", number);
    }
    for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        if (strlen(reserved[i]) == (size_t)(colon - header) &&
            strncasecmp(header, reserved[i], (size_t)(colon - header)) == 0) {
            return vial__fail(err, VIAL_E_INVALID,
                "header %zu of the tool is %s, which is not the tool's to set", number,
                reserved[i]);
        }
    }
    p = colon + 1 + strspn(colon + 1, " \t");
    if (*p == '\0') { /* libcurl would take it as "do not send this one" */
        return vial__fail(err, VIAL_E_INVALID, "header %zu of the tool has no value", number);
    }
    for (; *p != '\0'; p++) {
        if ((*p < 0x20 && *p != '\t') || *p >= 0x7f) { /* whether char is signed or not */
            return vial__fail(err, VIAL_E_INVALID,
                "the value of header %zu of the tool has a character that is not printable ASCII",
                number);
        }
    }
    return VIAL_OK;
}

/* Is there such a part in the URL? */
static int has_part(const struct libcurl *lib, CURLU *url, CURLUPart part)
{
    char *text = NULL;

    if (lib->url_get(url, part, &text, 0) != CURLUE_OK) {
        return 0;
    }
    lib->free(text);
    return 1;
}

static int check_scheme(const struct libcurl *lib, CURLU *url, struct vial_error *err)
{
    char *scheme = NULL;
    int known;

    if (lib->url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK) {
        return vial__fail(err, VIAL_E_INVALID, "the URL of the tool has no scheme");
    }
    known = strcasecmp(scheme, "http") == 0 || strcasecmp(scheme, "https") == 0;
    lib->free(scheme);
    if (!known) {
        return vial__fail(
            err, VIAL_E_INVALID, "the URL of the tool must begin with http:// or https://");
    }
    return VIAL_OK;
}

static int check_url(const struct libcurl *lib, const char *text, struct vial_error *err)
{
    CURLU *url;
    CURLUcode code;
    int r;

    if (text == NULL || text[0] == '\0') {
        return vial__fail(err, VIAL_E_INVALID, "the tool has no URL");
    }
    if (strnlen(text, TOOL_HTTP_URL_BYTES_MAX + 1) > TOOL_HTTP_URL_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the URL of the tool is longer than %d bytes",
            TOOL_HTTP_URL_BYTES_MAX);
    }
    url = lib->url();
    if (url == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to read the URL of a tool");
    }
    code = lib->url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
    if (code == CURLUE_BAD_SCHEME) {
        r = vial__fail(
            err, VIAL_E_INVALID, "the URL of the tool must begin with http:// or https://");
    } else if (code != CURLUE_OK) {
        r = vial__fail(
            err, VIAL_E_INVALID, "the URL of the tool cannot be read: %s", lib->url_strerror(code));
    } else {
        r = check_scheme(lib, url, err);
    }
    /* A password in a URL ends up in logs and error messages; a header does not. */
    if (r == 0 && (has_part(lib, url, CURLUPART_USER) || has_part(lib, url, CURLUPART_PASSWORD))) {
        r = vial__fail(err, VIAL_E_INVALID,
            "the URL of the tool has a user name or password in it; use an Authorization header");
    }
    lib->url_cleanup(url);
    return r;
}

int tool_http_check(const struct tool_http *tool, struct vial_error *err)
{
    const struct libcurl *lib;
    size_t i;
    int r;

    r = libcurl_get(&lib, err);
    if (r == 0) {
        r = check_url(lib, tool->url, err);
    }
    if (r < 0) {
        return r;
    }
    if (tool->header_count > TOOL_HTTP_HEADERS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the tool has %zu headers; it may have %d",
            tool->header_count, TOOL_HTTP_HEADERS_MAX);
    }
    for (i = 0; i < tool->header_count; i++) {
        r = check_header(tool->headers[i], i + 1, err);
        if (r < 0) {
            return r;
        }
    }
    return VIAL_OK;
}
