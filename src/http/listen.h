/* listen.h - sockets to listen at, and libmicrohttpd behind them. */
#ifndef VIAL_HTTP_LISTEN_H
#define VIAL_HTTP_LISTEN_H

#include "http/libmicrohttpd.h"
#include "http/server.h"

struct listen_handlers {
    MHD_AccessHandlerCallback request;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*uri)(void *user, const char *uri, struct MHD_Connection *connection);
};

/* Opens what the options say, or takes the sockets that are there already. */
VIAL_NODISCARD int listen_open(struct server *server, const int *fds, size_t count,
    const struct listen_handlers *handlers, struct vial_error *err);

/* Serves new connections with this certificate and its key, which are PEM and the server's from
 * then on; those that are open keep theirs. On failure nothing has changed. */
VIAL_NODISCARD int listen_renew(struct server *server, char *certificate, char *key,
    const struct listen_handlers *handlers, struct vial_error *err);

/* Has all daemons do what they have to do, and how long they have nothing to do: at most ms. */
void listen_run(struct server *server);
uint64_t listen_wait_ms(struct server *server, uint64_t ms);

/* No new connections. */
void listen_quiesce(struct server *server);
void listen_close(struct server *server);

#endif
