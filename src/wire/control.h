/* control.h - messages between host and template: a seqpacket socket, one fixed struct a message.
 *
 * The template is our own code and has run no guest bytes, but it is the one process that talks to
 * the host for a long time, so its messages are checked like any other's. Descriptors travel only
 * from host to template, but for the two process descriptors that the template makes. */
#ifndef VIAL_WIRE_CONTROL_H
#define VIAL_WIRE_CONTROL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum control_type {
    CONTROL_SPAWNED =
        1, /* to the host, with a pidfd: the template exists and waits for its user map */
    CONTROL_MAPPED = 2,  /* to the template: go on */
    CONTROL_UP = 3,      /* to the host: confined and warm, with the layers it has */
    CONTROL_FAILED = 4,  /* to the host: a step failed, the template is gone */
    CONTROL_FORK = 5,    /* to the template, with the cell's socket, that of its family when it has
                            one, and cgroup files */
    CONTROL_FORKED = 6,  /* to the host, with a pidfd, or with sys set and nothing */
    CONTROL_EXITED = 7,  /* to the host: a cell is gone; from the first process of a family the
                            number is the member's process number in there */
    CONTROL_ADOPTED = 8, /* to the process that will become the template: it lies in its group now,
                            which its copy is to have for the top of all groups */
};

enum { CONTROL_PAYLOAD_BYTES = 240 };

struct control_failed {
    int32_t sys;   /* errno */
    char step[60]; /* which step failed */
};

struct control_exited {
    int32_t status; /* as from wait */
    int32_t zero;
    uint64_t cpu_us;
};

struct control_message {
    uint32_t type;
    uint32_t cell; /* the host's number for it; UP: how many pages the template's image has */
    /* MAPPED: uint32_t, how many users the map has. UP: struct layer_report. FORK: struct
     * cell_spec. FAILED and FORKED: struct control_failed, whose sys is 0 when all is well. EXITED:
     * above. */
    char payload[CONTROL_PAYLOAD_BYTES];
};

/* Makes a message; the rest of the payload is zero. */
void control_message_init(
    struct control_message *m, uint32_t type, uint32_t cell, const void *payload, size_t len);

enum { CONTROL_FDS_MAX = 6 }; /* two sockets and at most four cgroup files */

/* Sends one message with fds; 0, or -1 with errno. */
int control_send(int sock, const struct control_message *m, const int *fds, unsigned fds_count);

/* Receives one message. Descriptors beyond fds_max are closed by the kernel and make it fail with
 * EPROTO. ret_pid, when not NULL, gets the sender's pid in our namespace (the socket needs
 * SO_PASSCRED). 1: received; 0: the other side is gone; -1 with errno (EAGAIN on a non-blocking
 * socket). */
int control_receive(int sock, struct control_message *m, int *fds, unsigned fds_max,
    unsigned *ret_fds_count, pid_t *ret_pid);

#endif
