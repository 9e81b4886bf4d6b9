/* fetch.h - the requests of a run to the network: taken from its cell, made by egress, answered.
 *
 * They are made in the thread that waits for the run, whose sleep is on their sockets too: nobody
 * has to be woken for a request. An answer goes to the cell piece by piece, as the program reads
 * it, so that a long one is never in the host's memory as a whole. When the run ends so do they,
 * before its result is given out. */
#ifndef VIAL_HOST_FETCH_H
#define VIAL_HOST_FETCH_H

#include <poll.h>

#include "host/calls.h"
#include "host/run.h"

struct vial_env;
struct fetches;

/* Gives the run its network, when its environment, or without one its request, has rules for it. */
VIAL_NODISCARD int fetches_open(
    struct vial_run *run, const struct vial_env *env, struct vial_error *err);

/* Takes a CALL of FETCH_TOOL, with its arguments. */
enum calls_taken fetches_take(
    struct vial_run *run, const struct call_head *head, const char *bytes, size_t len);

/* Does the cell wait for an answer? */
int fetches_are_pending(const struct vial_run *run);

/* The longest CALL that the cell may send because of the network, or 0. */
uint64_t fetches_call_bytes_max(const struct vial_run *run);

/* What the answers that the cell has not taken yet may add up to. */
size_t fetches_out_bytes_max(const struct vial_run *run);

/* For the sleep of the run's thread: the sockets, at most max, and the time until when; and then
 * what happened meanwhile. */
size_t fetches_sockets(const struct vial_run *run, struct pollfd *ret, size_t max);
uint64_t fetches_deadline_us(const struct vial_run *run);
void fetches_serve(
    struct vial_run *run, const struct pollfd *sockets, size_t count, uint64_t now_us);

/* The run is over, and so are its requests. */
void fetches_end(struct vial_run *run);
void fetches_close(struct vial_run *run);

#endif
