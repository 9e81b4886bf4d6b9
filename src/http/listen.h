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

/* No new connections. */
void listen_quiesce(struct server *server);
void listen_close(struct server *server);

#endif
