/* http_server.c - see http_server.h. */
#include "http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void must(int holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "the test's server: %s: %s\n", what, strerror(errno));
        abort();
    }
}

static void *server_main(void *user)
{
    struct http_server *s = user;
    int fd;

    for (;;) {
        fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
        if (__atomic_load_n(&s->stopping, __ATOMIC_SEQ_CST)) {
            break;
        }
        must(fd >= 0, "accept");
        (void)__atomic_add_fetch(&s->connections_count, 1, __ATOMIC_SEQ_CST);
        s->serve(s, fd);
        (void)close(fd);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return NULL;
}

struct http_server *http_server_new(
    void (*serve)(struct http_server *server, int fd), const char *text)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    struct http_server *s = calloc(1, sizeof(*s));

    must(s != NULL, "calloc");
    s->serve = serve;
    s->text = text;
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(s->fd >= 0, "socket");
    must(bind(s->fd, (struct sockaddr *)&address, len) == 0, "bind");
    must(listen(s->fd, 200) == 0, "listen");
    must(getsockname(s->fd, (struct sockaddr *)&address, &len) == 0, "getsockname");
    s->port = ntohs(address.sin_port);
    must(pthread_create(&s->thread, NULL, server_main, s) == 0, "pthread_create");
    return s;
}

void http_server_free(struct http_server *s)
{
    __atomic_store_n(&s->stopping, 1, __ATOMIC_SEQ_CST);
    (void)shutdown(s->fd, SHUT_RDWR); /* which ends accept */
    (void)pthread_join(s->thread, NULL);
    (void)close(s->fd);
    free(s);
}

/* The number behind Content-Length, or 0. */
static size_t body_len(const char *head)
{
    const char *found = strcasestr(head, "\r\nContent-Length:");

    return found != NULL ? strtoul(found + 17, NULL, 10) : 0;
}

int http_server_read(struct http_server *s, int fd)
{
    size_t len = 0, got = 0, wanted = 0;
    char sink[65536];
    char *end = NULL;
    ssize_t n;

    for (;;) {
        if (len < sizeof(s->request) - 1) {
            n = recv(fd, s->request + len, sizeof(s->request) - 1 - len, 0);
            len += n > 0 ? (size_t)n : 0;
        } else {
            n = recv(fd, sink, sizeof(sink), 0);
        }
        if (n <= 0) {
            (void)__atomic_add_fetch(&s->fragments_count, got > 0, __ATOMIC_SEQ_CST);
            return -1;
        }
        got += (size_t)n;
        s->request[len] = '\0';
        if (end == NULL) {
            end = strstr(s->request, "\r\n\r\n");
            if (end != NULL) {
                s->body_at = (size_t)(end + 4 - s->request);
                wanted = s->body_at + body_len(s->request);
            }
        }
        if (end != NULL && got >= wanted) {
            (void)__atomic_add_fetch(&s->requests_count, 1, __ATOMIC_SEQ_CST);
            return 0;
        }
    }
}

int http_server_send(int fd, const char *bytes, size_t len)
{
    ssize_t n;

    while (len > 0) {
        n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) {
            return -1;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

int http_server_send_text(int fd, const char *text)
{
    return http_server_send(fd, text, strlen(text));
}

void http_server_wait(struct http_server *s, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};

    while (!__atomic_load_n(&s->stopping, __ATOMIC_SEQ_CST) && poll(&p, 1, 10) == 0) {
    }
}

void http_serve_text(struct http_server *s, int fd)
{
    if (http_server_read(s, fd) == 0) {
        (void)http_server_send_text(fd, s->text);
    }
}
