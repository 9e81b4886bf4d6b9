/* workers.h - a bounded pool of threads for work that blocks.
 *
 * Who has something to do that waits for a server or a program gives it here and goes on. A thread
 * that is idle takes it at once; when there is none, a new one is started, up to the maximum; then
 * the work waits in a queue, first come, first served. Threads that had nothing to do for a while
 * end. All functions but workers_free may be called from any thread, from within work too. */
#ifndef VIAL_HOST_WORKERS_H
#define VIAL_HOST_WORKERS_H

#include <stdint.h>

#include "vial.h"

enum {
    WORKERS_THREADS_MAX = 1024,    /* more of them wait for each other, not for the world */
    WORKERS_QUEUE_MAX = 64 * 1024, /* 1.5 MiB; who waits behind so many has long given up */
};

struct workers;

/* No thread is started before there is work. */
VIAL_NODISCARD int workers_new(
    unsigned threads_max, unsigned queue_max, struct workers **ret, struct vial_error *err);

/* Sees to it that either work(user) runs once in some thread, or drop(user) once in workers_free;
 * drop may be NULL. VIAL_E_BUSY when the queue is full or the pool is being freed, VIAL_E_SYS when
 * there is no thread and none can be started; neither function is called then. Never waits. */
VIAL_NODISCARD int workers_run(struct workers *workers, void (*work)(void *user),
    void (*drop)(void *user), void *user, struct vial_error *err);

/* Takes no more work, drops what is queued and waits for the threads, at most ms. Work that goes on
 * for longer is left alone: its thread gives the rest back when it is done. Not to be called from
 * within work. */
void workers_free(struct workers *workers, uint32_t ms);

/* How long a thread without work stays; otherwise WORKERS_IDLE_MS. For threads that begin to wait
 * from now on. */
enum { WORKERS_IDLE_MS = 10 * 1000 };
void workers_set_idle_ms(struct workers *workers, uint32_t ms);

/* Threads there are now, idle ones included. */
unsigned workers_thread_count(struct workers *workers);

#endif
