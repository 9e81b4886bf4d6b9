/* run_here.c - a small program is run by the loop itself for a moment: to wake a worker and to be
 * woken by it takes as long as the program. The loop goes on meanwhile and listens to the cell as
 * to everybody else. One at a time: what comes beside it has workers, and a processor each. A
 * program that takes longer, or ends other than with a result, is a worker's from there on. */
#include <stdint.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "http/run_inside.h"
#include "http/server.h"

enum {
    HERE_US = 2000, /* the cell shares the loop's processor for so long */
    /* What is sent to a cell from the loop itself: a socket takes it at once. */
    HERE_BYTES_MAX = 16 * 1024,
};

/* With a result the cell's descriptor is closed already; before, it is not ours any more. */
static void stop_listening(struct run *run)
{
    struct runs *runs = run->server->runs;

    if (runs->is_heard_fd_watched && run->result == NULL) {
        loop_forget(&run->server->loop, runs->heard_fd);
    }
    runs->heard = NULL;
}

static void give_to_worker(struct run *run)
{
    stop_listening(run);
    run_hand_over(run);
}

/* The program has ended: its answer first. */
static void finish(struct run *run)
{
    stop_listening(run);
    run->ended = run->handle;
    (void)run_set_handle(run, NULL, 0);
    run_conclude(run);
    run->done.run = run_finish;
    if (run->wants_events) { /* after its output, which is on the way to the loop */
        run_record_end(run);
        loop_post(&run->server->loop, &run->done);
    } else {
        run->is_unrecorded = 1;
        run_finish(&run->done);
    }
}

static void on_heard(struct loop_source *source, uint32_t events)
{
    struct run *run = (struct run *)((char *)source - offsetof(struct run, ear));

    (void)events;
    run->r = vial_run_try(run->handle, &run->result, &run->err);
    if (run->r < 0 || run->result != NULL) {
        finish(run);
    } else if (vial_run_fd(run->handle) < 0) {
        give_to_worker(run);
    }
}

int run_hear(struct run *run)
{
    struct runs *runs = run->server->runs;

    if (runs->heard == run && loop_wait_for(&run->server->loop, runs->heard_fd, HERE_US)) {
        on_heard(&run->ear, EPOLLIN);
    }
    return run->state == RUN_STATE_ENDED;
}

int run_here(struct run *run)
{
    struct runs *runs = run->server->runs;
    struct vial_run *handle = NULL;

    if (runs->heard != NULL || run->spec.environment != NULL || run->session != NULL ||
        run->before != NULL || run->spec.tools_count > 0 || run->recording_bytes_max > 0 ||
        run->spec.body_len > HERE_BYTES_MAX || run_prepare(run, &run->err) < 0) {
        return 0;
    }
    run->is_prepared = 1;
    run->r = vial_run_start(run->server->engine, &run->spec.request, &handle, &run->err);
    if (run->r < 0) {
        return 0; /* the worker says so */
    }
    (void)run_set_handle(run, handle, 0);
    run->ear.ready = on_heard;
    runs->heard_fd = vial_run_fd(handle);
    if (runs->heard_fd < 0) {
        return 0;
    }
    runs->heard = run;
    runs->is_heard_fd_watched = 0;
    runs->heard_until_us = clock_now_us() + HERE_US;
    return 1;
}

uint64_t runs_deadline_us(const struct server *server)
{
    return server->runs->heard != NULL ? server->runs->heard_until_us : UINT64_MAX;
}

void runs_relieve(struct server *server, uint64_t now_us)
{
    struct runs *runs = server->runs;
    struct run *run = runs->heard;

    if (run != NULL && !runs->is_heard_fd_watched) {
        runs->is_heard_fd_watched =
            loop_watch(&server->loop, runs->heard_fd, EPOLLIN, &run->ear) == 0;
    }
    if (run != NULL && (now_us >= runs->heard_until_us || !runs->is_heard_fd_watched)) {
        give_to_worker(run);
    }
}
