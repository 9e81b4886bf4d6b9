/* drive.c - see drive.h.
 *
 * The waiting thread sleeps on the cell's socket, and on those of its requests to the network. All
 * limits are deadlines of that sleep: the
 * wall clock; the processor time, which cannot be used up before as much time has passed on every
 * processor that the cell can have; and, where no cgroup watches memory, the next look at it. */
#include "host/drive.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/egress_net.h"
#include "host/fetch.h"
#include "host/meter.h"
#include "host/result.h"
#include "host/run_files.h"
#include "host/session.h"

enum {
    TOGETHER_US = 2000, /* how long a cell shares our processor, see drive_sit_together */
    GONE_MS_MAX = 5000, /* a killed process is gone in this time, or the machine is in trouble */
    FLOOD_FACTOR = 16,  /* output beyond so many times its limit ends the run */
    RECEIVE_BYTES = 65536 + 8192, /* a whole frame of output, a file or an artifact */
    STOP_US = 10 * 1000,          /* between two requests to stop */
    GRACE_US =
        500 * 1000,     /* for a program that was asked to stop: a native loop may take a while */
    CPU_LOOK_US = 1000, /* the time used is not looked at more often */
    OWN_SOCKETS = 2,    /* the cell's, and the one that wakes */
    SLEEP_US_MAX = 1000 * 1000 * 1000, /* the kernel takes no endless time as a number */
};

void drive_sit_together(struct vial_run *run)
{
    int cpu = sched_getcpu();
    cpu_set_t one;

    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        return;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    run->together = sched_setaffinity(run->engine->cells[run->cell].pid, sizeof(one), &one) == 0;
    run->together_until_us = clock_now_us() + TOGETHER_US;
}

static void let_go(struct vial_run *run)
{
    if (run->together) {
        (void)sched_setaffinity(
            run->engine->cells[run->cell].pid, sizeof(run->engine->cpus), &run->engine->cpus);
        run->together = 0;
    }
}

void drive_kill(struct vial_run *run)
{
    (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int is_cancelled(const struct vial_run *run)
{
    const int *flag = run->session != NULL ? &run->session->cancelled : &run->cancelled;

    return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

/* When the wall clock will have run out; it stands while an approval is waited for. A program that
 * was asked to stop has a little longer. */
static uint64_t wall_end_us(const struct vial_run *run)
{
    if (run->interrupted != 0) {
        return run->grace_end_us;
    }
    return run->calls.paused_us != 0
               ? UINT64_MAX
               : run->started_us + run->limits.wall_ms_max * 1000ULL + run->calls.paused_us_sum;
}

/* Waits for the cell, or for somebody who has an answer for it, until the time has come. How many
 * descriptors have something to say. */
static int sleep_once(struct vial_run *run, uint64_t now, uint64_t until)
{
    struct pollfd p[OWN_SOCKETS + EGRESS_SOCKETS_MAX] = {
        {.fd = run->engine->cells[run->cell].sock, .events = POLLIN},
        {.fd = run->wake_fd, .events = POLLIN}};
    size_t asked = fetches_sockets(run, p + OWN_SOCKETS, EGRESS_SOCKETS_MAX);
    uint64_t left_us = until > now ? until - now : 0;
    struct timespec left = {
        .tv_sec = (time_t)(left_us / 1000000), .tv_nsec = (long)(left_us % 1000000) * 1000};
    uint64_t count;
    int n;

    if (left_us > SLEEP_US_MAX) {
        left = (struct timespec){.tv_sec = SLEEP_US_MAX / 1000000};
    }
    if (calls_wants_to_write(run)) {
        p[0].events |= POLLOUT;
    }
    n = ppoll(p, OWN_SOCKETS + asked, &left, NULL); /* one that is not there, -1, is passed over */
    if (n > 0 && (p[1].revents & POLLIN) != 0) {    /* else the next one would not sleep */
        (void)!read(run->wake_fd, &count, sizeof(count)); /* short counts handled */
    }
    fetches_serve(run, p + OWN_SOCKETS, n > 0 ? asked : 0, clock_now_us());
    return n > 0 && (p[0].revents & ~POLLOUT) != 0;
}

/* How long it takes at least to use up so much processor time: each thread of the cell may have a
 * processor. */
static uint64_t cpu_lasts_us(const struct vial_run *run, const struct cell *cell, uint64_t left_us)
{
    uint64_t at_once = min_u64(1 + cell->spec.threads_max, (uint64_t)CPU_COUNT(&run->engine->cpus));

    if (at_once <= 1) {
        return left_us;
    }
    return left_us / at_once > CPU_LOOK_US ? left_us / at_once : CPU_LOOK_US;
}

/* Sleeps until the cell says something or a limit is reached. */
static enum drive_event sleep_until_event(struct vial_run *run)
{
    struct cell *cell = &run->engine->cells[run->cell];
    uint64_t cpu_max = run->limits.cpu_ms_max * 1000ULL;
    uint64_t now = clock_now_us();
    uint64_t cpu_next = run->started_us + cpu_lasts_us(run, cell, cpu_max);
    uint64_t until, used;
    int n;

    for (;;) {
        until = min_u64(wall_end_us(run), calls_deadline_us(run));
        until = min_u64(until, fetches_deadline_us(run));
        until = run->interrupted == 0 ? min_u64(until, cpu_next) : min_u64(until, now + STOP_US);
        if (run->together) {
            until = min_u64(until, run->together_until_us);
        }
        if (meter_polls(cell)) {
            until = min_u64(until, now + MEMORY_POLL_US);
        }
        n = sleep_once(run, now, until);
        now = clock_now_us();
        if (run->together && now >= run->together_until_us) {
            let_go(run);
        }
        calls_serve(run, now);
        if (run->interrupted != 0) { /* again: the last one may have come a moment too early */
            (void)syscall(SYS_pidfd_send_signal, run->pidfd, FRAME_STOP_SIGNAL, NULL, 0);
        }
        if (run->session != NULL && run->interrupted == 0 && is_cancelled(run)) {
            return EVENT_CANCEL;
        }
        if (now >= wall_end_us(run)) {
            return EVENT_WALL;
        }
        if (run->interrupted == 0 && now >= cpu_next) {
            used = meter_cpu_us(cell);
            if (used >= cpu_max) {
                return EVENT_CPU;
            }
            cpu_next = now + cpu_lasts_us(run, cell, cpu_max - used);
        }
        if (meter_polls(cell) && now >= run->memory_next_us) {
            run->memory_next_us = now + MEMORY_POLL_US;
            used = meter_memory_bytes(cell);
            run->memory_peak = used > run->memory_peak ? used : run->memory_peak;
            if (used > run->limits.memory_bytes_max) {
                return EVENT_MEMORY;
            }
        }
        if (n > 0) { /* last: a cell that never stops talking must not keep us from looking */
            return EVENT_READ;
        }
    }
}

/* Takes a piece of output; -1 when it is a flood. */
static int take_output(struct vial_run *run, struct vial_result *result, const struct frame *f)
{
    int stream = f->type == FRAME_STDERR ? VIAL_STDERR : VIAL_STDOUT;
    int i = stream == VIAL_STDERR;
    uint64_t max = i ? run->limits.stderr_bytes_max : run->limits.stdout_bytes_max;
    size_t kept = result_output(result, stream, f->payload, f->len);

    if (kept > 0 && run->request.on_output != NULL) {
        run->request.on_output(stream, f->payload, kept, run->request.user);
    }
    run->received[i] += f->len;
    return run->received[i] / FLOOD_FACTOR > max ? -1 : 0;
}

enum heard {
    HEARD_MORE, /* 0: nothing that ends it */
    HEARD_RESULT,
    HEARD_END,
    HEARD_NONSENSE,
    HEARD_FLOOD,
    HEARD_CALLS, /* a flood of calls */
    HEARD_NOMEM
};

static enum heard heard_of(enum files_taken taken)
{
    return taken == FILES_TAKEN ? HEARD_MORE : taken == FILES_NOMEM ? HEARD_NOMEM : HEARD_NONSENSE;
}

/* A program that calls tools which answer at once takes turns with us, however long: it sits, or
 * comes back, to our processor as long as it goes on. */
static void stay_together(struct vial_run *run)
{
    uint64_t now = clock_now_us();

    if (run->together) {
        run->together_until_us = now + TOGETHER_US;
    } else if (now < run->called_us + TOGETHER_US) {
        drive_sit_together(run);
    }
    run->called_us = now;
}

static enum heard heard_call(enum calls_taken taken)
{
    return taken == CALLS_TAKEN ? HEARD_MORE : taken == CALLS_FLOOD ? HEARD_CALLS : HEARD_NONSENSE;
}

/* Those that have become whole by this frame are told of. */
static enum heard take_artifacts(
    const struct vial_run *run, struct vial_result *result, const struct frame *f)
{
    unsigned i = result->artifacts.count;
    enum artifacts_taken taken = result_artifacts_take(&result->artifacts, f->payload, f->len);

    for (; run->request.on_artifact != NULL && i < result->artifacts.count; i++) {
        run->request.on_artifact(result, i, run->request.user);
    }
    return taken == ARTIFACTS_TAKEN   ? HEARD_MORE
           : taken == ARTIFACTS_NOMEM ? HEARD_NOMEM
                                      : HEARD_NONSENSE;
}

/* They come when they were asked for, and only then. */
static enum heard heard_findings(const struct vial_run *run, enum findings_taken taken)
{
    return run->scan == SCAN_OFF || taken == FINDINGS_MALFORMED ? HEARD_NONSENSE
           : taken == FINDINGS_NOMEM                            ? HEARD_NOMEM
                                                                : HEARD_MORE;
}

/* Takes a result out of the receive buffer, which is the next run's again. */
static enum heard take_result(struct vial_result *result, const struct frame *f)
{
    char *payload;

    if (result->artifacts.is_open) {
        return HEARD_NONSENSE;
    }
    payload = malloc(f->len + 1);
    if (payload == NULL) {
        return HEARD_NOMEM;
    }
    memcpy(payload, f->payload, f->len);
    payload[f->len] = '\0';
    if (result_read(result, payload, f->len) < 0) {
        free(payload);
        return HEARD_NONSENSE;
    }
    return HEARD_RESULT;
}

/* A tool that is called with more than it may be called with says so itself. */
static uint64_t call_bytes_max(const struct vial_run *run)
{
    uint64_t for_net = fetches_call_bytes_max(run);

    return for_net > run->limits.call_bytes_max ? for_net : run->limits.call_bytes_max;
}

/* Reads what the cell has sent and acts on every whole frame. */
static enum heard listen_once(struct vial_run *run, struct vial_result *result)
{
    const struct frame_limits limits = {
        .value_bytes_max = run->limits.value_bytes_max, .call_bytes_max = call_bytes_max(run)};
    struct cell *cell = &run->engine->cells[run->cell];
    enum heard heard = HEARD_MORE;
    struct frame f;
    size_t at = 0;
    ssize_t n;
    int r;

    if (buf_reserve(&cell->in, RECEIVE_BYTES, NULL) < 0) {
        return HEARD_NOMEM;
    }
    n = recv(
        cell->sock, cell->in.data + cell->in.len, cell->in.capacity - cell->in.len, MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR ? HEARD_MORE : HEARD_END;
    }
    if (n == 0) {
        return HEARD_END;
    }
    cell->in.len += (size_t)n;
    do {
        r = frame_next(&cell->in, &at, &cell->phase, &limits, &f);
        if (r < 0 || (r == 0 && cell->phase == PHASE_DONE && at < cell->in.len)) {
            return HEARD_NONSENSE; /* also anything behind the result */
        }
        if (r == 1 && f.type == FRAME_RESULT) {
            heard = take_result(result, &f);
        } else if (r == 1 && f.type == FRAME_FILE) {
            heard = heard_of(files_take(result, &run->request, f.payload, f.len));
        } else if (r == 1 && f.type == FRAME_ARTIFACT) {
            heard = take_artifacts(run, result, &f);
        } else if (r == 1 && f.type == FRAME_DENIED) {
            heard =
                permit_take_denial(run, result, f.payload, f.len) < 0 ? HEARD_NONSENSE : HEARD_MORE;
        } else if (r == 1 && f.type == FRAME_FINDINGS) {
            heard = heard_findings(run, result_findings_take(&result->findings, f.payload, f.len));
        } else if (r == 1 && f.type == FRAME_CALL) {
            heard = heard_call(calls_take(run, &f));
            if (run->calls.pending_count == 0 && !fetches_are_pending(run)) { /* answered at once */
                stay_together(run);
            }
        } else if (r == 1 && take_output(run, result, &f) < 0) {
            heard = HEARD_FLOOD;
        }
    } while (r == 1 && (heard == HEARD_MORE || heard == HEARD_RESULT));
    buf_consume(&cell->in, at);
    return heard;
}

/* ---- the end ---- */

static void state_limit(struct vial_run *run, struct vial_result *result, enum drive_event event)
{
    if (event == EVENT_WALL) {
        result_state(result, VIAL_STATUS_WALL_LIMIT, "WallLimit",
            "raise it with --wall-ms (wall_ms_max), or do less waiting and computing in one run",
            "the run took longer than its limit of %u ms", run->limits.wall_ms_max);
    } else if (event == EVENT_CPU) {
        result_state(result, VIAL_STATUS_CPU_LIMIT, "CpuLimit",
            "raise it with --cpu-ms (cpu_ms_max), or compute less: look for a loop that never ends",
            "the run used more than its limit of %u ms of processor time", run->limits.cpu_ms_max);
    } else if (event == EVENT_CANCEL) {
        result_state(result, VIAL_STATUS_CANCELLED, "Cancelled", NULL, "the run was cancelled");
    } else {
        result_state(result, VIAL_STATUS_MEMORY_LIMIT, "MemoryLimit",
            "raise it with --memory-mb (memory_bytes_max), or keep less in memory at once",
            "the run needed more than its limit of %llu bytes of memory",
            (unsigned long long)run->limits.memory_bytes_max);
    }
}

/* The cell is gone without a result: its exit status and its cgroup say why. */
static void state_death(struct vial_run *run, struct vial_result *result)
{
    struct cell *cell = &run->engine->cells[run->cell];
    int known = pool_wait_gone(run->engine, run->cell, GONE_MS_MAX);
    int status = known ? cell->exit_status : 0;

    if (is_cancelled(run)) {
        result_state(result, VIAL_STATUS_CANCELLED, "Cancelled", NULL, "the run was cancelled");
    } else if (cgroup_slot_killed(&cell->cgroups)) {
        state_limit(run, result, EVENT_MEMORY);
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
        result_state(result, VIAL_STATUS_DENIED, "Denied", NULL,
            "the guest's process made a system call that no program of its kind makes, and was "
            "ended");
    } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        state_limit(run, result, EVENT_CPU);
    } else if (WIFSIGNALED(status)) {
        result_state(result, VIAL_STATUS_CRASHED, "Crashed",
            "the engine itself failed; nothing outside of this run is affected",
            "the guest's process died of signal %d (SIG%s)", WTERMSIG(status),
            sigabbrev_np(WTERMSIG(status)) != NULL ? sigabbrev_np(WTERMSIG(status)) : "?");
    } else {
        result_state(result, VIAL_STATUS_CRASHED, "Crashed", NULL,
            "the guest's process ended without a result");
    }
}

static void state_heard(struct vial_run *run, struct vial_result *result, enum heard heard)
{
    if (heard == HEARD_FLOOD) {
        result_state(result, VIAL_STATUS_OUTPUT_LIMIT, "OutputLimit",
            "print less, or raise --stdout-bytes or --stderr-bytes",
            "the run went on printing after %d times its output limit", FLOOD_FACTOR);
    } else if (heard == HEARD_CALLS) {
        result_state(result, VIAL_STATUS_CALL_LIMIT, "CallLimit",
            "look at the errors of calls, or raise --calls (calls_max)",
            "the run went on calling tools after many times its limit of %u calls",
            run->limits.calls_max);
    } else {
        result_state(result, VIAL_STATUS_CRASHED, "Crashed", NULL,
            "the guest's process broke the protocol and was ended");
    }
}

/* Waits, after a kill, until the process is really gone. */
void drive_end(struct vial_run *run)
{
    struct pollfd p = {.fd = run->pidfd, .events = POLLIN};

    drive_kill(run);
    while (poll(&p, 1, GONE_MS_MAX) < 0 && errno == EINTR) {
    }
}

/* After a kill: what the cell had printed before is kept. */
static void drain(struct vial_run *run, struct vial_result *result)
{
    const struct cell *cell = &run->engine->cells[run->cell];
    struct pollfd p = {.fd = cell->sock, .events = POLLIN};

    while (cell->phase == PHASE_RUNNING && poll(&p, 1, 0) > 0 &&
           listen_once(run, result) == HEARD_MORE) {
    }
}

/* A program in a session is asked to stop before its process is ended. */
static int ask_to_stop(struct vial_run *run, enum drive_event event)
{
    if (run->session == NULL || run->interrupted != 0 || event == EVENT_MEMORY) {
        return 0;
    }
    run->interrupted = (int)event;
    run->grace_end_us = clock_now_us() + GRACE_US;
    (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGCONT, NULL, 0);
    return syscall(SYS_pidfd_send_signal, run->pidfd, FRAME_STOP_SIGNAL, NULL, 0) == 0;
}

/* Listens until the run is over one way or another. */
static int drive(struct vial_run *run, struct vial_result *result, struct vial_error *err)
{
    enum drive_event event;
    enum heard heard;

    for (;;) {
        event = run->heard != HEARD_MORE ? EVENT_READ : sleep_until_event(run);
        if (event != EVENT_READ && ask_to_stop(run, event)) {
            continue;
        }
        if (event != EVENT_READ) {
            event = run->interrupted != 0 ? (enum drive_event)run->interrupted : event;
            drive_end(run);
            drain(run, result);
            state_limit(run, result, event);
            return VIAL_OK;
        }
        heard = run->heard != HEARD_MORE ? (enum heard)run->heard : listen_once(run, result);
        run->heard = HEARD_MORE;
        if (heard == HEARD_RESULT && result->interrupted != 0 && run->interrupted == 0) {
            heard = HEARD_NONSENSE; /* nobody asked it to stop */
        }
        if (heard == HEARD_RESULT) {
            run->ended_us = clock_now_us();
            if (run->interrupted != 0 && result->interrupted != 0) {
                state_limit(run, result, (enum drive_event)run->interrupted);
            }
            return VIAL_OK;
        }
        if (heard == HEARD_END) {
            /* It may have hung up and live on; of one that is dying the cause is set already. */
            drive_kill(run);
            state_death(run, result);
            return VIAL_OK;
        }
        if (heard != HEARD_MORE) {
            drive_end(run);
            if (heard == HEARD_NOMEM) {
                return vial__fail(err, VIAL_E_NOMEM, "no memory for the result of a run");
            }
            state_heard(run, result, heard);
            return VIAL_OK;
        }
    }
}

/* Once for a result. */
static void begin(struct vial_run *run, struct vial_result *result)
{
    if (run->calls.result != result) {
        calls_begin(run, run->engine->cells[run->cell].sock, result);
        permit_note(run, result);
    }
}

int drive_can_try(const struct vial_run *run)
{
    return run->cell != CELL_NONE && run->session == NULL && run->heard == HEARD_MORE &&
           run->wake_fd < 0 && run->calls.pending_count == 0 && !fetches_are_pending(run);
}

int drive_try(struct vial_run *run, struct vial_result *result)
{
    enum heard heard;

    begin(run, result);
    heard = listen_once(run, result);
    /* Of a process that has ended by itself nobody but its template knows what it used, and nobody
     * had a reason to ask it to stop: both are for who may wait. */
    if (heard != HEARD_RESULT || result->interrupted != 0 ||
        meter_cpu_us(&run->engine->cells[run->cell]) == 0) {
        run->heard = (int)heard;
        return 0;
    }
    run->ended_us = clock_now_us();
    calls_end(run);
    return 1;
}

int drive_run(struct vial_run *run, struct vial_result *result, struct vial_error *err)
{
    int r;

    begin(run, result);
    r = drive(run, result, err);
    calls_end(run);
    return r;
}

static int is_dead(const struct vial_run *run)
{
    struct pollfd p = {.fd = run->pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

void drive_usage(struct vial_run *run, struct vial_result *result)
{
    struct cell *cell = &run->engine->cells[run->cell];
    uint64_t seen = meter_memory_bytes(cell);

    if (run->ended_us == 0) {
        run->ended_us = clock_now_us();
    }
    /* A pause may have lasted until after the end. */
    result->usage.approval_us = min_u64(run->calls.paused_us_sum, run->ended_us - run->started_us);
    result->usage.wall_us = run->ended_us - run->started_us - result->usage.approval_us;
    result->usage.cpu_us = meter_cpu_us(cell);
    if (result->usage.cpu_us == 0 && is_dead(run) &&
        pool_wait_gone(run->engine, run->cell, GONE_MS_MAX)) {
        result->usage.cpu_us = meter_cpu_us(cell); /* it ended by itself: the template knows */
    }
    result->usage.memory_bytes_peak = seen > run->memory_peak ? seen : run->memory_peak;
    result->usage.queue_us = run->started_us - run->asked_us;
}
