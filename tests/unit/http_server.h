/* http_server.h - a server for the tests of what calls servers: as obedient or as hostile as a test
 * wants it.
 *
 * It listens on loopback in a thread of its own and takes one connection after another, each of
 * which is given to the test's function, in that thread. */
#ifndef VIAL_TESTS_HTTP_SERVER_H
#define VIAL_TESTS_HTTP_SERVER_H

#include <pthread.h>
#include <stddef.h>

struct http_server {
    int fd;
    int stopping; /* atomic */
    unsigned port;
    pthread_t thread;
    void (*serve)(struct http_server *server, int fd);
    const char *text;           /* for serve, as the test wants it */
    unsigned connections_count; /* atomic */
    unsigned requests_count;    /* atomic */
    unsigned fragments_count;   /* atomic; requests that began and did not end */
    char request[65536];        /* the last one, head and body, NUL at the end */
    size_t body_at;             /* where its body begins */
};

/* Aborts when it cannot listen. */
struct http_server *http_server_new(
    void (*serve)(struct http_server *server, int fd), const char *text);
void http_server_free(struct http_server *server);

/* Reads one request; 0, or -1 when there is none. Of a body that does not fit only the head and
 * the beginning are kept. */
int http_server_read(struct http_server *server, int fd);

/* Sends, and does not mind when nobody takes it; 0 or -1. */
int http_server_send(int fd, const char *bytes, size_t len);
int http_server_send_text(int fd, const char *text);

/* Waits until the caller goes away or the server is freed. */
void http_server_wait(struct http_server *server, int fd);

/* Serves: reads a request, sends text as it is and closes. */
void http_serve_text(struct http_server *server, int fd);

#endif
