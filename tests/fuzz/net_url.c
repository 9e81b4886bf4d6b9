/* net_url.c - URLs: what is read is written in one way, which is read as the same, by us and by
 * libcurl, who gets it; so what was judged is what is asked for. */
#include "policy/net_url.h"

#include <arpa/inet.h>
#include <stdint.h>

#include "fuzz.h"
#include "host/libcurl.h"

static void write_url(const struct net_url *url, struct buf *out)
{
    buf_init(out, (size_t)4 * NET_URL_BYTES_MAX);
    FUZZ_CHECK(net_url_write(url, out) == 0, "a URL that was read cannot be written");
}

/* Nothing that ends a line, an argument or a host, and no way up. */
static void check_parts(const struct net_url *url, const struct buf *text)
{
    struct in_addr in;
    size_t i;

    for (i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->data[i];

        FUZZ_CHECK(c > 0x20 && c < 0x7f && c != '\\', "the byte %u in %s", c, text->data);
    }
    for (i = 0; url->host[i] != '\0'; i++) {
        FUZZ_CHECK(
            strchr("@/?#%", url->host[i]) == NULL && !(url->host[i] >= 'A' && url->host[i] <= 'Z'),
            "the host %s", url->host);
    }
    FUZZ_CHECK(url->port != 0, "the port 0");
    FUZZ_CHECK(url->path.len > 0 && url->path.data[0] == '/', "the path %s", url->path.data);
    FUZZ_CHECK(strstr(url->path.data, "/../") == NULL && strstr(url->path.data, "/./") == NULL &&
                   strstr(url->path.data, "%2e%2e") == NULL &&
                   strstr(url->path.data, "%2E") == NULL,
        "the path %s", url->path.data);
    FUZZ_CHECK(url->host_kind != NET_HOST_NAME || inet_aton(url->host, &in) == 0,
        "%s is an address, and taken for a name", url->host);
}

static void check_again(const struct net_url *url, const struct buf *text)
{
    struct net_url again;
    struct buf second;
    const char *why = NULL;

    FUZZ_CHECK(net_url_parse(text->data, text->len, &again, &why) == 0, "%s %s", text->data, why);
    FUZZ_CHECK(net_url_same_origin(url, &again) && again.host_kind == url->host_kind &&
                   url->path.len == again.path.len &&
                   memcmp(url->path.data, again.path.data, url->path.len) == 0,
        "%s is read differently the second time", text->data);
    write_url(&again, &second);
    FUZZ_CHECK(second.len == text->len && memcmp(second.data, text->data, text->len) == 0,
        "%s is written as %s the second time", text->data, second.data);
    buf_release(&second);
    net_url_release(&again);
}

static char *part(const struct libcurl *lib, CURLU *u, CURLUPart which)
{
    char *text = NULL;

    FUZZ_CHECK(lib->url_get(u, which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK && text != NULL,
        "libcurl finds no part %d", (int)which);
    return text;
}

/* libcurl must go to the same host and port, and ask for the same path. */
static void check_by_libcurl(const struct net_url *url, const struct buf *text)
{
    const struct libcurl *lib = NULL;
    char port[8], *host, *their_port, *path;
    struct vial_error err;
    CURLU *u;

    FUZZ_CHECK(libcurl_get(&lib, &err) == 0, "there is no libcurl");
    u = lib->url();
    FUZZ_CHECK(u != NULL, "there is no memory");
    FUZZ_CHECK(lib->url_set(u, CURLUPART_URL, text->data, CURLU_PATH_AS_IS | CURLU_DISALLOW_USER) ==
                   CURLUE_OK,
        "libcurl does not read %s", text->data);
    host = part(lib, u, CURLUPART_HOST);
    their_port = part(lib, u, CURLUPART_PORT);
    path = part(lib, u, CURLUPART_PATH);
    (void)snprintf(port, sizeof(port), "%u", url->port);
    FUZZ_CHECK(strcmp(host, url->host) == 0, "the host is %s, and %s for libcurl", url->host, host);
    FUZZ_CHECK(
        strcmp(their_port, port) == 0, "the port is %s, and %s for libcurl", port, their_port);
    FUZZ_CHECK(strcmp(path, url->path.data) == 0, "the path is %s, and %s for libcurl",
        url->path.data, path);
    lib->free(host);
    lib->free(their_port);
    lib->free(path);
    lib->url_cleanup(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = fuzz_copy((const char *)data, size);
    const char *why = NULL;
    struct net_url url;
    struct buf text;

    if (net_url_parse(copy, size, &url, &why) < 0) {
        FUZZ_CHECK(why != NULL, "a URL is refused without a reason");
        free(copy);
        return 0;
    }
    write_url(&url, &text);
    check_parts(&url, &text);
    check_again(&url, &text);
    if (url.host_kind != NET_HOST_DISGUISED) { /* which no rule lets pass: nobody asks for it */
        check_by_libcurl(&url, &text);
    }
    buf_release(&text);
    net_url_release(&url);
    free(copy);
    return 0;
}
