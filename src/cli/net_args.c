/* net_args.c - see net_args.h.
 *
 * A rule in short is a URL with a star at its end, for what is beneath that path. Only its parts
 * are told apart here; whether they are any good says the reader of rules. */
#include "cli/net_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "policy/net_rules.h"

static void put(struct json_writer *w, const char *key, const char *text, size_t len)
{
    json_key(w, key);
    json_write_string(w, text, len);
}

/* The port behind the last colon that is not within brackets: its text and number; or NULL. */
static const char *find_port(const char *host, size_t len, unsigned long *ret)
{
    const char *bracket = memchr(host, ']', len);
    const char *from = bracket != NULL ? bracket : host;
    const char *colon = memchr(from, ':', len - (size_t)(from - host));
    char digits[8] = "";
    size_t n = colon != NULL ? len - (size_t)(colon + 1 - host) : 0;

    if (colon == NULL) {
        return NULL;
    }
    if (n > 0 && n < sizeof(digits)) {
        memcpy(digits, colon + 1, n);
    }
    *ret = strspn(digits, "0123456789") == n && n > 0 ? strtoul(digits, NULL, 10) : 0;
    return colon;
}

static void write_match(struct json_writer *w, const char *text)
{
    const char *host = strstr(text, "://");
    unsigned long port = 0;
    const char *path, *colon;
    size_t len;

    if (host != NULL) {
        put(w, "scheme", text, (size_t)(host - text));
        host += 3;
    } else {
        host = text;
    }
    len = strcspn(host, "/");
    path = host + len;
    colon = find_port(host, len, &port);
    put(w, "host", host, colon != NULL ? (size_t)(colon - host) : len);
    if (colon != NULL) {
        json_key(w, "port");
        json_u64(w, port);
    }
    len = strlen(path);
    len -= len > 0 && path[len - 1] == '*';
    if (len > 0) {
        put(w, "path", path, len);
    }
}

static void write_rule(struct json_writer *w, const struct net_args *args, const char *text)
{
    size_t i;

    json_begin_object(w);
    json_key(w, "effect");
    json_text(w, "allow");
    json_key(w, "name");
    json_write_string(w, text, strnlen(text, NET_RULE_NAME_BYTES_MAX));
    json_key(w, "match");
    json_begin_object(w);
    write_match(w, text);
    json_end_object(w);
    if (args->addresses_count > 0) {
        json_key(w, "addresses");
        json_begin_array(w);
        for (i = 0; i < args->addresses_count; i++) {
            json_text(w, args->addresses[i]);
        }
        json_end_array(w);
    }
    json_end_object(w);
}

int net_args_write(const struct net_args *args, struct buf *out)
{
    struct net_policy policy = {.rules = NULL};
    struct vial_error err = {.code = 0};
    struct json_writer w;
    size_t i;

    if (args->rules_count == 0) {
        return args->addresses_count == 0
                   ? 0
                   : cli_fail(EXIT_USAGE, "--net-address says nothing without --net");
    }
    json_init(&w, out, &err);
    json_begin_array(&w);
    for (i = 0; i < args->rules_count; i++) {
        write_rule(&w, args, args->rules[i]);
    }
    json_end_array(&w);
    if (json_finish(&w) < 0 || net_policy_parse(out->data, out->len, &policy, &err) < 0) {
        return cli_fail(EXIT_USAGE, "--net takes https://HOST/PATH: %s", err.text);
    }
    net_policy_release(&policy);
    return 0;
}
