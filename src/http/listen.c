/* listen.c - see listen.h. */
#include "http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "http/auth.h"
#include "http/log.h"

enum { BACKLOG = 1024, HOST_BYTES_MAX = 256 };

/* Every daemon is run after each step of the loop, whichever had something. */
static void on_ready(struct loop_source *source, uint32_t events)
{
    (void)source;
    (void)events;
}

/* A path that a dead server left behind is taken over; one that somebody listens at is not. */
static int open_unix(const char *path, int *ret, struct vial_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, r;

    if (strlen(path) >= sizeof(address.sun_path) || path[0] != '/') {
        return vial__fail(err, VIAL_E_INVALID,
            "listen: unix:%s must be an absolute path of up to %zu bytes", path,
            sizeof(address.sun_path) - 1);
    }
    memcpy(address.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return vial__fail_sys(err, errno, "making a socket");
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN) {
        (void)close(fd);
        return vial__fail(err, VIAL_E_INVALID, "somebody listens at %s already", path);
    }
    if (errno == ECONNREFUSED) {
        (void)unlink(path);
    }
    r = bind(fd, (struct sockaddr *)&address, sizeof(address));
    r = r < 0 ? r : chmod(path, 0600); /* who may connect is the owner's to widen */
    r = r < 0 ? r : listen(fd, BACKLOG);
    if (r < 0) {
        r = vial__fail_sys(err, errno, "listening at %s", path);
        (void)close(fd);
        return r;
    }
    *ret = fd;
    return VIAL_OK;
}

/* "host:port" or "[host]:port" in two parts. */
static int split(const char *text, char host[HOST_BYTES_MAX], const char **ret_port)
{
    const char *colon = strrchr(text, ':');
    size_t len = colon != NULL ? (size_t)(colon - text) : 0;

    if (colon == NULL || colon[1] == '\0' || len == 0 || len >= HOST_BYTES_MAX) {
        return -1;
    }
    if (text[0] == '[') {
        if (text[len - 1] != ']') {
            return -1;
        }
        text++;
        len -= 2;
    }
    memcpy(host, text, len);
    host[len] = '\0';
    *ret_port = colon + 1;
    return 0;
}

static int open_tcp(const char *text, int *ret, struct vial_error *err)
{
    struct addrinfo hints = {
        .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char host[HOST_BYTES_MAX];
    const char *port;
    int fd, r, one = 1;

    if (split(text, host, &port) < 0 || getaddrinfo(host, port, &hints, &found) != 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "listen: \"%s\" is no ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH", text);
    }
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    r = fd;
    r = r < 0 ? r : setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    r = r < 0 ? r : bind(fd, found->ai_addr, found->ai_addrlen);
    r = r < 0 ? r : listen(fd, BACKLOG);
    freeaddrinfo(found);
    if (r < 0) {
        r = vial__fail_sys(err, errno, "listening at %s", text);
        fd_closep(&fd);
        return r;
    }
    *ret = fd;
    return VIAL_OK;
}

/* Fills in what kind of socket it is. */
static int describe(struct listener *l, struct vial_error *err)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof(address);
    char host[HOST_BYTES_MAX] = "", port[16] = "", text[HOST_BYTES_MAX + 32];

    if (getsockname(l->fd, (struct sockaddr *)&address, &len) < 0) {
        return vial__fail_sys(err, errno, "looking at a listening socket");
    }
    l->is_unix = address.ss_family == AF_UNIX;
    l->is_loopback = auth_is_loopback((struct sockaddr *)&address);
    if (l->is_unix) {
        (void)snprintf(text, sizeof(text), "unix:%.107s",
            len > sizeof(sa_family_t) ? ((struct sockaddr_un *)&address)->sun_path : "");
    } else {
        (void)getnameinfo((struct sockaddr *)&address, len, host, sizeof(host), port, sizeof(port),
            NI_NUMERICHOST | NI_NUMERICSERV);
        (void)snprintf(
            text, sizeof(text), strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
    }
    l->address = strdup(text);
    return l->address != NULL ? VIAL_OK : vial__fail(err, VIAL_E_NOMEM, "no memory for an address");
}

__attribute__((format(printf, 2, 0))) static void say(void *user, const char *format, va_list ap)
{
    char text[512];

    (void)user;
    (void)vsnprintf(text, sizeof(text), format, ap);
    text[strcspn(text, "\n")] = '\0';
    log_say(LOG_DEBUG, "libmicrohttpd", "text", text, NULL);
}

/* Targets are decoded by us, part by part. */
static size_t leave_escaped(void *user, struct MHD_Connection *connection, char *text)
{
    (void)user;
    (void)connection;
    return strlen(text);
}

/* A daemon for the listener with this certificate, or NULL. fd is the socket as it gets it: when it
 * cannot be started it has closed it; otherwise it is closed by whoever stops it. -1: none, to see
 * whether the certificate is good. */
static struct MHD_Daemon *start_daemon(
    struct listener *l, int fd, const struct listen_handlers *h, char *certificate, char *key)
{
    const struct http_options *o = l->server->options;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_TURBO;
    int is_tls = certificate != NULL && !l->is_unix;
    struct MHD_OptionItem more[] = {{MHD_OPTION_HTTPS_MEM_CERT, 0, certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
            (void *)(uintptr_t) "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {fd >= 0 ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, fd, NULL}, {MHD_OPTION_END, 0, NULL}};

    flags |= is_tls ? MHD_USE_TLS : 0;
    return mhd->start_daemon(fd < 0 ? flags | MHD_USE_NO_LISTEN_SOCKET : flags, 0, NULL, NULL,
        h->request, l, MHD_OPTION_EXTERNAL_LOGGER, say, NULL, MHD_OPTION_NOTIFY_COMPLETED,
        h->completed, l, MHD_OPTION_NOTIFY_CONNECTION, h->connection, l,
        MHD_OPTION_URI_LOG_CALLBACK, h->uri, l, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)o->connections_max,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        l->is_unix ? 0U : (unsigned)o->connections_per_address_max, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)o->idle_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)o->header_bytes_max,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY,
        is_tls ? more : more + 3, MHD_OPTION_END);
}

/* Watches what the daemon waits for. */
static int watch(struct server *server, struct MHD_Daemon *daemon, struct loop_source *source,
    struct vial_error *err)
{
    const union MHD_DaemonInfo *info = mhd->get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);

    if (info == NULL || info->epoll_fd < 0) {
        return vial__fail(err, VIAL_E_SYS, "libmicrohttpd has no epoll here");
    }
    source->ready = on_ready;
    if (loop_watch(&server->loop, info->epoll_fd, EPOLLIN, source) < 0) {
        return vial__fail_sys(err, errno, "watching for connections");
    }
    return VIAL_OK;
}

static int start(struct listener *l, const struct listen_handlers *h, struct vial_error *err)
{
    int is_tls = l->server->tls_certificate != NULL && !l->is_unix;

    l->daemon_fd = fcntl(l->fd, F_DUPFD_CLOEXEC, 0);
    if (l->daemon_fd < 0) {
        return vial__fail_sys(err, errno, "one more descriptor for %s", l->address);
    }
    l->daemon = start_daemon(l, l->daemon_fd, h, l->server->tls_certificate, l->server->tls_key);
    if (l->daemon == NULL) {
        l->daemon_fd = -1;
        return vial__fail(err, VIAL_E_SYS, "libmicrohttpd cannot serve at %s%s", l->address,
            is_tls ? "; are the certificate and its key good PEM files?" : "");
    }
    return watch(l->server, l->daemon, &l->source, err);
}

/* ---- other certificates ---- */

static struct retired *free_place(struct server *server)
{
    size_t i;

    for (i = 0; i < RETIRED_MAX; i++) {
        if (server->retired[i].daemon == NULL) {
            return &server->retired[i];
        }
    }
    return NULL;
}

/* The daemon of the listener takes no more; what it has goes on beside the new one. */
static void retire(struct server *server, struct listener *l, struct MHD_Daemon *next, int fd)
{
    struct retired *r = free_place(server);
    const union MHD_DaemonInfo *info = mhd->get_daemon_info(l->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct vial_error ignored;

    (void)mhd->quiesce_daemon(l->daemon);
    fd_closep(&l->daemon_fd);
    if (info != NULL) {
        loop_forget(&server->loop, info->epoll_fd);
    }
    r->daemon = l->daemon;
    (void)!watch(server, r->daemon, &r->source, &ignored); /* else it is looked at twice a second */
    l->daemon = next;
    l->daemon_fd = fd;
    (void)!watch(server, l->daemon, &l->source, &ignored);
}

/* Is there room for the daemons that would be replaced? */
static int check_places(const struct server *server, struct vial_error *err)
{
    size_t i, places = 0, wanted = 0;

    for (i = 0; i < RETIRED_MAX; i++) {
        places += server->retired[i].daemon == NULL;
    }
    for (i = 0; i < server->listeners_count; i++) {
        wanted += !server->listeners[i].is_unix;
    }
    return wanted <= places ? VIAL_OK
                            : vial__fail(err, VIAL_E_BUSY,
                                  "connections with earlier certificates are still open; try again "
                                  "in a minute");
}

/* Is the certificate one that can be served with? */
static int check_certificate(struct listener *l, char *certificate, char *key,
    const struct listen_handlers *handlers, struct vial_error *err)
{
    struct MHD_Daemon *probe = start_daemon(l, -1, handlers, certificate, key);

    if (probe == NULL) {
        return vial__fail(
            err, VIAL_E_INVALID, "the certificate and its key are no PEM files that fit");
    }
    mhd->stop_daemon(probe);
    return VIAL_OK;
}

int listen_renew(struct server *server, char *certificate, char *key,
    const struct listen_handlers *handlers, struct vial_error *err)
{
    struct MHD_Daemon *next[LISTEN_MAX] = {NULL};
    int fds[LISTEN_MAX];
    int r = check_places(server, err);
    size_t i;

    for (i = 0; i < server->listeners_count && r == VIAL_OK; i++) {
        struct listener *l = &server->listeners[i];

        if (l->is_unix) {
            continue;
        }
        r = check_certificate(l, certificate, key, handlers, err);
        fds[i] = r == VIAL_OK ? fcntl(l->fd, F_DUPFD_CLOEXEC, 0) : -1;
        next[i] = fds[i] >= 0 ? start_daemon(l, fds[i], handlers, certificate, key) : NULL;
        if (r == VIAL_OK && next[i] == NULL) {
            r = vial__fail(err, VIAL_E_SYS, "libmicrohttpd cannot serve at %s anew", l->address);
        }
    }
    for (i = 0; i < server->listeners_count; i++) {
        if (next[i] != NULL && r == VIAL_OK) {
            retire(server, &server->listeners[i], next[i], fds[i]);
        } else if (next[i] != NULL) {
            (void)mhd->quiesce_daemon(next[i]);
            mhd->stop_daemon(next[i]);
            fd_closep(&fds[i]);
        }
    }
    return r;
}

void listen_run(struct server *server)
{
    size_t i;

    for (i = 0; i < server->listeners_count; i++) {
        if (server->listeners[i].daemon != NULL) {
            (void)mhd->run(server->listeners[i].daemon);
        }
    }
    for (i = 0; i < RETIRED_MAX; i++) {
        struct retired *r = &server->retired[i];
        const union MHD_DaemonInfo *info;

        if (r->daemon == NULL) {
            continue;
        }
        (void)mhd->run(r->daemon);
        info = mhd->get_daemon_info(r->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
        if (info != NULL && info->num_connections == 0) {
            mhd->stop_daemon(r->daemon);
            r->daemon = NULL;
        }
    }
}

uint64_t listen_wait_ms(struct server *server, uint64_t ms)
{
    MHD_UNSIGNED_LONG_LONG own = 0;
    size_t i;

    for (i = 0; i < server->listeners_count; i++) {
        if (server->listeners[i].daemon != NULL &&
            mhd->get_timeout(server->listeners[i].daemon, &own) == MHD_YES) {
            ms = own < ms ? own : ms;
        }
    }
    for (i = 0; i < RETIRED_MAX; i++) {
        if (server->retired[i].daemon != NULL &&
            mhd->get_timeout(server->retired[i].daemon, &own) == MHD_YES) {
            ms = own < ms ? own : ms;
        }
    }
    return ms;
}

/* ---- opening and closing ---- */

static int add(
    struct server *server, int fd, const struct listen_handlers *handlers, struct vial_error *err)
{
    struct listener *l = &server->listeners[server->listeners_count];
    int r;

    *l = (struct listener){.server = server, .fd = fd, .daemon_fd = -1};
    server->listeners_count++;
    r = describe(l, err);
    r = r < 0 ? r : start(l, handlers, err);
    if (r == VIAL_OK) {
        const char *trust =
            l->is_unix ? (server->options->unix_trust ? "no key is needed for the same user" : NULL)
            : server->options->insecure_local && l->is_loopback
                ? "INSECURE: no key is needed by anybody on this machine"
                : NULL;

        log_say(trust != NULL && !l->is_unix ? LOG_WARN : LOG_INFO, "listening", "address",
            l->address, "tls", server->tls_certificate != NULL && !l->is_unix ? "yes" : "no",
            "trust", trust, NULL);
    }
    return r;
}

int listen_open(struct server *server, const int *fds, size_t count,
    const struct listen_handlers *handlers, struct vial_error *err)
{
    const struct http_options *o = server->options;
    int r = VIAL_OK;
    size_t i;

    for (i = 0; i < count && i < LISTEN_MAX && r == VIAL_OK; i++) {
        r = add(server, fds[i], handlers, err);
    }
    for (i = 0; count == 0 && i < o->listen_count && r == VIAL_OK; i++) {
        int fd = -1;

        r = strncmp(o->listen[i], "unix:", 5) == 0 ? open_unix(o->listen[i] + 5, &fd, err)
                                                   : open_tcp(o->listen[i], &fd, err);
        r = r < 0 ? r : add(server, fd, handlers, err);
    }
    for (i = 0; o->insecure_local && r == VIAL_OK && i < server->listeners_count; i++) {
        if (!server->listeners[i].is_unix && !server->listeners[i].is_loopback) {
            r = vial__fail(err, VIAL_E_INVALID,
                "insecure_local is for loopback addresses only, and %s is none",
                server->listeners[i].address);
        }
    }
    return r;
}

void listen_quiesce(struct server *server)
{
    size_t i;

    for (i = 0; i < server->listeners_count; i++) {
        struct listener *l = &server->listeners[i];

        if (l->daemon != NULL && l->fd >= 0) {
            (void)mhd->quiesce_daemon(l->daemon);
            fd_closep(&l->daemon_fd);
            if (l->is_unix && strncmp(l->address, "unix:/", 6) == 0) {
                (void)unlink(l->address + 5);
            }
            fd_closep(&l->fd);
        }
    }
}

void listen_close(struct server *server)
{
    size_t i;

    listen_quiesce(server);
    for (i = 0; i < server->listeners_count; i++) {
        if (server->listeners[i].daemon != NULL) {
            mhd->stop_daemon(server->listeners[i].daemon);
        }
        fd_closep(&server->listeners[i].fd);
        free(server->listeners[i].address);
    }
    server->listeners_count = 0;
    for (i = 0; i < RETIRED_MAX; i++) {
        if (server->retired[i].daemon != NULL) {
            mhd->stop_daemon(server->retired[i].daemon);
            server->retired[i].daemon = NULL;
        }
    }
}
