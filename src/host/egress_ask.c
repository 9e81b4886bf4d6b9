/* egress_ask.c - see egress_ask.h. */
#include "host/egress_ask.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "jail/mutate.h"
#include "policy/net_rules.h"

enum { NAME_SHOWN = 64 }; /* of a header in a message */

void egress_ask_release(struct egress_ask *ask)
{
    size_t i;

    for (i = 0; i < ask->headers_count; i++) {
        free(ask->headers[i].name);
        if (ask->headers[i].value != NULL) { /* may be a password of the program's own */
            explicit_bzero(ask->headers[i].value, strlen(ask->headers[i].value));
        }
        free(ask->headers[i].value);
    }
    free(ask->headers);
    free(ask->url);
    *ask = (struct egress_ask){.url = NULL};
}

const char *egress_ask_header(const struct egress_ask *ask, const char *name)
{
    size_t i;

    for (i = 0; i < ask->headers_count; i++) {
        if (strcasecmp(ask->headers[i].name, name) == 0) {
            return ask->headers[i].value;
        }
    }
    return NULL;
}

static int fail(char *why, size_t size, const char *text)
{
    (void)snprintf(why, size, "%s", text);
    return -1;
}

/* Headers are bytes, which programs write as the characters up to U+00FF. NULL when there are
 * others, or without memory. */
static char *narrow(const char *text, size_t len)
{
    char *out = malloc(len + 1);
    size_t i, n = 0;

    for (i = 0; out != NULL && i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c >= 0x80) {
            if ((c & 0xfc) != 0xc0 || i + 1 >= len) {
                free(out);
                return NULL;
            }
            c = (unsigned char)(c << 6 | (text[++i] & 0x3f));
        }
        out[n++] = (char)c;
    }
    if (out != NULL) {
        out[n] = '\0';
    }
    return out;
}

static int take_header(const json_t *pair, struct egress_ask *ask, char *why, size_t size)
{
    const json_t *name = json_array_get(pair, 0), *value = json_array_get(pair, 1);
    struct egress_header *header = &ask->headers[ask->headers_count];
    const char *fault;

    if (!json_is_string(name) || !json_is_string(value) ||
        json_string_length(name) + json_string_length(value) > EGRESS_HEADER_BYTES_MAX) {
        (void)snprintf(why, size, "a header is a name and a value of up to %d bytes together",
            EGRESS_HEADER_BYTES_MAX);
        return -1;
    }
    fault = net_header_fault(json_string_value(name), json_string_length(name),
        json_string_value(value), json_string_length(value));
    if (fault != NULL && !mutate_without_part("net-headers")) {
        (void)snprintf(why, size, "the header %.*s %s", NAME_SHOWN, json_string_value(name), fault);
        return -1;
    }
    header->name = strdup(json_string_value(name));
    header->value = narrow(json_string_value(value), json_string_length(value));
    if (header->name == NULL || header->value == NULL) {
        free(header->name);
        free(header->value);
        (void)snprintf(why, size, "the value of the header %.*s has characters beyond U+00FF",
            NAME_SHOWN, json_string_value(name));
        return -1;
    }
    ask->headers_count++;
    return 0;
}

static int take_headers(const json_t *list, struct egress_ask *ask, char *why, size_t size)
{
    size_t i, count = json_array_size(list);

    if (count > EGRESS_HEADERS_MAX) {
        (void)snprintf(why, size, "a request may have up to %d headers", EGRESS_HEADERS_MAX);
        return -1;
    }
    ask->headers = calloc(count + 1, sizeof(*ask->headers));
    if (ask->headers == NULL) {
        return fail(why, size, "there is no memory for the headers");
    }
    for (i = 0; i < count; i++) {
        if (take_header(json_array_get(list, i), ask, why, size) < 0) {
            return -1;
        }
    }
    return 0;
}

static int take_method(const json_t *value, struct egress_ask *ask, char *why, size_t size)
{
    ask->method = json_is_string(value)
                      ? net_method(json_string_value(value), json_string_length(value))
                      : NET_METHOD_NONE;
    return ask->method != NET_METHOD_NONE
               ? 0
               : fail(why, size,
                     "the method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
}

static int take_rest(const json_t *root, struct egress_ask *ask, char *why, size_t size)
{
    static const char *const words[] = {"follow", "manual", "error"};
    const char *redirect = json_string_value(json_object_get(root, "redirect"));
    const json_t *timeout = json_object_get(root, "timeout_ms");
    int i;

    for (i = 0; redirect != NULL && i < 3; i++) {
        if (strcmp(redirect, words[i]) == 0) {
            break;
        }
    }
    if (i == 3) {
        return fail(why, size, "redirect must be \"follow\", \"manual\" or \"error\"");
    }
    ask->redirect = redirect != NULL ? i : EGRESS_FOLLOW;
    if (timeout != NULL && !json_is_null(timeout)) {
        double ms = json_number_value(timeout);

        if (!json_is_number(timeout) || !(ms >= 1 && ms <= UINT32_MAX)) {
            return fail(why, size, "a timeout must be 1 ms or more");
        }
        ask->timeout_ms = (uint32_t)ms;
    }
    return 0;
}

int egress_ask_parse(
    const char *json, size_t len, struct egress_ask *ret, char *why, size_t why_size)
{
    json_error_t error;
    json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    const json_t *url = json_object_get(root, "url");
    int r;

    *ret = (struct egress_ask){.method = NET_METHOD_NONE};
    if (!json_is_string(url)) {
        json_decref(root);
        return fail(why, why_size, "the head of a request must be JSON with a URL");
    }
    /* A NUL in it is found by whoever reads the URL, which needs all of it. */
    r = strlen(json_string_value(url)) == json_string_length(url)
            ? 0
            : fail(why, why_size, "the URL has a control character in it");
    ret->url = strdup(json_string_value(url));
    if (ret->url == NULL) {
        r = fail(why, why_size, "there is no memory for the request");
    }
    r = r < 0 ? r : take_method(json_object_get(root, "method"), ret, why, why_size);
    r = r < 0 ? r : take_headers(json_object_get(root, "headers"), ret, why, why_size);
    r = r < 0 ? r : take_rest(root, ret, why, why_size);
    json_decref(root);
    return r;
}
