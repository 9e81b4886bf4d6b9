/* net_server.c - see net_server.h. */
#include "net_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

enum {
    TICK_MS = 10,
    BOMB_BYTES = 8 << 20, /* of zeros, which become 8 KiB */
    HEADERS_COUNT = 100000,
    PIECE_BYTES = 16384,
};

struct client {
    struct net_server *server;
    int fd;
};

static int is_stopping(const struct net_server *s)
{
    return __atomic_load_n(&s->all->stopping, __ATOMIC_ACQUIRE);
}

/* All of it, or -1 when nobody takes it any more or it is over. */
static int send_all(const struct client *c, const char *bytes, size_t len)
{
    struct pollfd p = {.fd = c->fd, .events = POLLOUT};
    ssize_t n;

    while (len > 0) {
        if (is_stopping(c->server)) {
            return -1;
        }
        n = poll(&p, 1, TICK_MS) > 0 ? send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
        if (n < 0) {
            return -1;
        }
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static int say(const struct client *c, const char *text)
{
    return send_all(c, text, strlen(text));
}

static void send_bomb(const struct client *c)
{
    z_stream z = {.next_in = NULL};
    unsigned char *zeros = calloc(1, BOMB_BYTES), *packed = malloc(BOMB_BYTES);
    char head[128];

    if (zeros != NULL && packed != NULL &&
        deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
        z.next_in = zeros;
        z.avail_in = BOMB_BYTES;
        z.next_out = packed;
        z.avail_out = BOMB_BYTES;
        (void)deflate(&z, Z_FINISH);
        (void)snprintf(head, sizeof(head),
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %lu\r\n\r\n",
            z.total_out);
        if (say(c, head) == 0) {
            (void)send_all(c, (const char *)packed, z.total_out);
        }
        (void)deflateEnd(&z);
    }
    free(zeros);
    free(packed);
}

static void send_forever(const struct client *c, const char *piece, size_t len, int wait_ms)
{
    while (send_all(c, piece, len) == 0) {
        if (wait_ms > 0) {
            struct pollfd gone = {.fd = c->fd, .events = POLLRDHUP};

            if (poll(&gone, 1, wait_ms) > 0) {
                return;
            }
        }
    }
}

static void send_headers(const struct client *c)
{
    int i, r = say(c, "HTTP/1.1 200 OK\r\n");

    for (i = 0; i < HEADERS_COUNT && r == 0; i++) {
        r = say(c, "X: y\r\n");
    }
}

/* Does what the path says. 1: the connection may be kept. */
static int answer(const struct client *c, const char *path)
{
    static char zeros[PIECE_BYTES];
    char text[1024];
    static const struct {
        const char *path, *text;
    } rows[] = {
        {"/lying", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort"},
        {"/chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nnonsense"},
        {"/nonsense", "SSH-2.0-something\r\n\r\n"},
        {"/upgrade", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nother"},
        {"/brotli", "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd"},
        {"/transfer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(path, rows[i].path) == 0) {
            (void)say(c, rows[i].text);
            return 0;
        }
    }
    if (strncmp(path, "/to?", 4) == 0) {
        (void)snprintf(text, sizeof(text),
            "HTTP/1.1 302 Found\r\nLocation: %.900s\r\nContent-Length: 0\r\n\r\n", path + 4);
        return say(c, text) == 0;
    }
    if (strcmp(path, "/bomb") == 0) {
        send_bomb(c);
    } else if (strcmp(path, "/headers") == 0) {
        send_headers(c);
    } else if (strcmp(path, "/storm") == 0) {
        send_forever(c, "HTTP/1.1 102 Wait\r\n\r\n", 21, 0);
    } else if (strcmp(path, "/endless") == 0 || strcmp(path, "/drip") == 0) {
        if (say(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") == 0) {
            send_forever(c, zeros, path[1] == 'd' ? 1 : sizeof(zeros), path[1] == 'd' ? 20 : 0);
        }
    } else {
        (void)snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n%c",
            'A' + (int)(c->server - c->server->all->servers));
        return say(c, text) == 0;
    }
    return 0;
}

static void note(struct net_server *s, const char *head)
{
    (void)pthread_mutex_lock(&s->all->lock);
    s->requests_count++;
    s->seen_len +=
        (size_t)snprintf(s->seen + s->seen_len, sizeof(s->seen) - s->seen_len, "%s", head);
    s->seen_len = s->seen_len < sizeof(s->seen) ? s->seen_len : sizeof(s->seen) - 1;
    (void)pthread_mutex_unlock(&s->all->lock);
}

static void *serve(void *user)
{
    struct client c = *(struct client *)user;
    struct pollfd p = {.fd = c.fd, .events = POLLIN};
    char head[4096], path[1024];
    size_t len = 0;
    ssize_t n;
    int keeps = 1;

    free(user);
    while (keeps && !is_stopping(c.server)) {
        if (poll(&p, 1, TICK_MS) <= 0) {
            continue;
        }
        n = recv(c.fd, head + len, sizeof(head) - 1 - len, MSG_DONTWAIT);
        if (n <= 0) {
            break;
        }
        len += (size_t)n;
        head[len] = '\0';
        if (strstr(head, "\r\n\r\n") == NULL) {
            continue;
        }
        note(c.server, head);
        len = 0;
        keeps = sscanf(head, "%*15s %1023s", path) == 1 && answer(&c, path);
    }
    (void)close(c.fd);
    (void)pthread_mutex_lock(&c.server->all->lock);
    c.server->open_count--;
    (void)pthread_mutex_unlock(&c.server->all->lock);
    return NULL;
}

static void take(struct net_server *s, int fd)
{
    struct client *c = malloc(sizeof(*c));
    pthread_attr_t detached;
    pthread_t thread;
    int r = -1;

    (void)pthread_mutex_lock(&s->all->lock);
    s->connections_count++;
    s->open_count++;
    (void)pthread_mutex_unlock(&s->all->lock);
    (void)pthread_attr_init(&detached);
    (void)pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    if (c != NULL) {
        *c = (struct client){.server = s, .fd = fd};
        r = pthread_create(&thread, &detached, serve, c);
    }
    (void)pthread_attr_destroy(&detached);
    if (r != 0) {
        free(c);
        (void)close(fd);
        (void)pthread_mutex_lock(&s->all->lock);
        s->open_count--;
        (void)pthread_mutex_unlock(&s->all->lock);
    }
}

static void *listen_on(void *user)
{
    struct net_server *s = user;
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    int fd;

    while (!is_stopping(s)) {
        fd = poll(&p, 1, TICK_MS) > 0 ? accept4(s->fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0) {
            take(s, fd);
        }
    }
    return NULL;
}

int net_servers_start(struct net_servers *s)
{
    unsigned i;

    *s = (struct net_servers){.port = 0};
    (void)pthread_mutex_init(&s->lock, NULL);
    for (i = 0; i < NET_SERVERS; i++) {
        struct sockaddr_in at = {.sin_family = AF_INET,
            .sin_port = htons((uint16_t)s->port),
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK + i)};
        socklen_t len = sizeof(at);
        struct net_server *one = &s->servers[i];

        one->all = s;
        one->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (one->fd < 0 || bind(one->fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
            listen(one->fd, 128) < 0 || getsockname(one->fd, (struct sockaddr *)&at, &len) < 0 ||
            pthread_create(&s->threads[i], NULL, listen_on, one) != 0) {
            s->threads[i] = 0;
            net_servers_stop(s);
            return -1;
        }
        s->port = ntohs(at.sin_port);
    }
    return 0;
}

unsigned net_servers_wait(struct net_servers *s, unsigned ms)
{
    unsigned i, open, waited = 0;

    for (;;) {
        (void)pthread_mutex_lock(&s->lock);
        for (open = 0, i = 0; i < NET_SERVERS; i++) {
            open += s->servers[i].open_count;
        }
        (void)pthread_mutex_unlock(&s->lock);
        if (open == 0 || waited >= ms) {
            return open;
        }
        (void)poll(NULL, 0, TICK_MS);
        waited += TICK_MS;
    }
}

void net_servers_stop(struct net_servers *s)
{
    unsigned i;

    __atomic_store_n(&s->stopping, 1, __ATOMIC_RELEASE);
    for (i = 0; i < NET_SERVERS; i++) {
        if (s->threads[i] != 0) {
            (void)pthread_join(s->threads[i], NULL);
        }
        if (s->servers[i].fd > 0) {
            (void)close(s->servers[i].fd);
        }
    }
    (void)net_servers_wait(s, 60000); /* threads look up every few milliseconds */
    (void)pthread_mutex_destroy(&s->lock);
}

int net_server_saw(struct net_server *s, const char *text)
{
    int saw;

    (void)pthread_mutex_lock(&s->all->lock);
    saw = strstr(s->seen, text) != NULL;
    (void)pthread_mutex_unlock(&s->all->lock);
    return saw;
}
