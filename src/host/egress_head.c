/* egress_head.c - see egress_head.h. */
#include "host/egress_head.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"

static int is_named(const char *line, size_t name_len, const char *name)
{
    return strlen(name) == name_len && strncasecmp(line, name, name_len) == 0;
}

/* The first line of an answer: there may be interim ones before the last. */
static void begin(struct egress_exchange *x, const char *line, size_t len)
{
    const char *at = memchr(line, ' ', len);
    size_t n;

    at = at != NULL ? memchr(at + 1, ' ', len - (size_t)(at + 1 - line)) : NULL;
    n = at != NULL ? len - (size_t)(at + 1 - line) : 0;
    buf_clear(&x->head);
    x->is_decoded = 0;
    x->coding = EGRESS_PLAIN;
    x->is_redirect = 0;
    (void)snprintf(x->reason, sizeof(x->reason), "%.*s",
        (int)(n < sizeof(x->reason) ? n : sizeof(x->reason) - 1), at != NULL ? at + 1 : "");
}

/* Those about the connection, which is the host's. */
static int is_of_connection(const char *line, size_t n)
{
    return is_named(line, n, "Connection") || is_named(line, n, "Keep-Alive") ||
           is_named(line, n, "Transfer-Encoding") || is_named(line, n, "Upgrade") ||
           is_named(line, n, "Trailer") || is_named(line, n, "Alt-Svc") ||
           (n >= 6 && strncasecmp(line, "Proxy-", 6) == 0);
}

int egress_head_line(struct egress_exchange *x, const char *line, size_t len)
{
    const char *colon;
    size_t n, value;

    while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r' || line[len - 1] == ' ' ||
                          line[len - 1] == '\t')) {
        len--;
    }
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        begin(x, line, len);
        return 0;
    }
    if (len == 0) { /* the end, unless of an interim answer */
        x->head_is_whole = x->status >= 200;
        return 0;
    }
    colon = memchr(line, ':', len);
    if (colon == NULL) {
        return 0;
    }
    n = (size_t)(colon - line);
    for (value = n + 1; value < len && (line[value] == ' ' || line[value] == '\t'); value++) {
    }
    if (is_named(line, n, "Transfer-Encoding") &&
        !(len - value == 7 && strncasecmp(line + value, "chunked", 7) == 0)) {
        x->stop = EGRESS_STOP_ENCODING; /* libcurl decodes it though nobody asked for it */
        return -1;
    }
    if (is_named(line, n, "Content-Encoding")) {
        x->coding = egress_coding_add(x->coding, line + value, len - value);
        x->is_decoded = x->coding != EGRESS_PLAIN && x->method != NET_HEAD;
    }
    if (is_named(line, n, "Location") && x->follows && len > value &&
        (x->status == 301 || x->status == 302 || x->status == 303 || x->status == 307 ||
            x->status == 308)) {
        x->is_redirect = 1;
    }
    if (!is_of_connection(line, n) &&
        (buf_add(&x->head, line, n, NULL) < 0 || buf_add(&x->head, "", 1, NULL) < 0 ||
            buf_add(&x->head, line + value, len - value, NULL) < 0 ||
            buf_add(&x->head, "", 1, NULL) < 0)) {
        x->stop = EGRESS_STOP_HEAD;
        return -1;
    }
    return 0;
}

/* Bytes of a header as the characters up to U+00FF that programs see them as, without secrets. */
static int put_text(struct egress_exchange *x, struct json_writer *w, const char *text)
{
    struct buf clean, wide;
    size_t i;
    int r;

    for (i = 0; text[i] != '\0' && (unsigned char)text[i] < 0x80; i++) {
    }
    if (x->redact == NULL && text[i] == '\0') { /* as it nearly always is */
        json_write_string(w, text, i);
        return 0;
    }
    buf_init(&clean, FETCH_HEAD_BYTES_MAX);
    buf_init(&wide, (size_t)2 * FETCH_HEAD_BYTES_MAX);
    r = x->redact != NULL ? redact_text(x->redact, text, strlen(text), &clean, NULL)
                          : buf_add_text(&clean, text, NULL);
    for (i = 0; i < clean.len && r == 0; i++) {
        unsigned char c = (unsigned char)clean.data[i];
        char bytes[2] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};

        r = c < 0x80 ? buf_add(&wide, &clean.data[i], 1, NULL) : buf_add(&wide, bytes, 2, NULL);
    }
    if (r == 0) {
        json_write_string(w, wide.len > 0 ? wide.data : "", wide.len);
    }
    buf_release(&clean);
    buf_release(&wide);
    return r;
}

/* What says how the body was encoded does not hold for a body that is not any more. */
static int is_told(const struct egress_exchange *x, const char *name)
{
    return !x->is_decoded ||
           (strcasecmp(name, "Content-Encoding") != 0 && strcasecmp(name, "Content-Length") != 0);
}

int egress_head_write(struct egress_exchange *x, struct buf *json)
{
    const char *at = x->head.data, *end = at != NULL ? at + x->head.len : at;
    const char *name, *value;
    struct json_writer w;
    struct buf url;
    int r;

    buf_init(&url, (size_t)2 * NET_URL_BYTES_MAX);
    r = net_url_write(x->url, &url);
    json_init(&w, json, NULL);
    json_begin_object(&w);
    json_key(&w, "status");
    json_i64(&w, x->status);
    json_key(&w, "reason");
    r = r < 0 ? r : put_text(x, &w, x->reason);
    json_key(&w, "url");
    json_text(&w, url.data);
    json_key(&w, "redirected");
    json_bool(&w, x->redirects > 0);
    json_key(&w, "headers");
    json_begin_array(&w);
    while (at < end && r == 0) {
        name = at;
        value = name + strlen(name) + 1;
        at = value + strlen(value) + 1;
        if (is_told(x, name)) {
            json_begin_array(&w);
            r = put_text(x, &w, name);
            r = r < 0 ? r : put_text(x, &w, value);
            json_end_array(&w);
        }
    }
    json_end_array(&w);
    json_end_object(&w);
    buf_release(&url);
    return json_finish(&w) < 0 || r < 0 ? -1 : 0;
}
