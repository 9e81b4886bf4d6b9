/* bait.c - what the host offers to whoever can reach it: a port, an abstract socket, shared memory.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "suite.h"

enum { BACKLOG = 64 }; /* nobody accepts; each connection of an escape stays in the queue */

static int open_port(struct suite *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof(at);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        listen(s->listen_fd, BACKLOG) < 0 ||
        getsockname(s->listen_fd, (struct sockaddr *)&at, &len) < 0) {
        return -1;
    }
    s->port = ntohs(at.sin_port);
    return 0;
}

static int open_abstract(struct suite *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "vial-attack-%d", (int)getpid());

    s->abstract_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->abstract_fd < 0 || bind(s->abstract_fd, (struct sockaddr *)&at,
                                  (socklen_t)(sizeof(at.sun_family) + 1 + (size_t)n)) < 0) {
        return -1;
    }
    return listen(s->abstract_fd, BACKLOG);
}

int bait_open(struct suite *s)
{
    s->listen_fd = s->abstract_fd = -1;
    s->shm_id = shmget((key_t)getpid(), 4096, IPC_CREAT | 0666);
    if (s->shm_id < 0 || open_port(s) < 0 || open_abstract(s) < 0) {
        (void)fprintf(stderr, "cannot offer anything to attackers: %s\n", strerror(errno));
        bait_close(s);
        return -1;
    }
    return 0;
}

void bait_close(struct suite *s)
{
    if (s->shm_id >= 0) {
        (void)shmctl(s->shm_id, IPC_RMID, NULL);
        s->shm_id = -1;
    }
    fd_closep(&s->listen_fd);
    fd_closep(&s->abstract_fd);
}
