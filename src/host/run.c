/* run.c - one run: a cell is taken, told what to run, listened to, and ended.
 *
 * The waiting thread sleeps on the cell's socket alone. All limits are deadlines of that sleep: the
 * wall clock; the processor time, which cannot be used up before as much time has passed; and,
 * where no cgroup watches memory, the next look at it. Whatever happens, the cell's process is dead
 * or has a deadly signal pending before the result is given out, and for every end but a plain
 * result it is dead. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/utf8.h"
#include "host/engine.h"
#include "host/meter.h"
#include "host/modules.h"
#include "host/result.h"
#include "host/run_files.h"
#include "jail/filter.h"
#include "policy/limits.h"
#include "policy/process.h"
#include "value/cbor.h"
#include "wire/field.h"

enum {
    MEMORY_POLL_US =
        2000,           /* a process that touches pages as fast as it can gets 5 MB in this time */
    TOGETHER_US = 2000, /* how long a cell shares our processor, see sit_together */
    TOGETHER_BYTES_MAX = 256 * 1024, /* a longer message is written and read at the same time */
    LATE_CHECK_BYTES = 1024 * 1024,
    MODULES_LOOK_BYTES = 4096,     /* programs say at their beginning what they need */
    MODULES_US = 10 * 1000 * 1000, /* who has modules will have some more */
    GONE_MS_MAX = 5000, /* a killed process is gone in this time, or the machine is in trouble */
    FLOOD_FACTOR = 16,  /* output beyond so many times its limit ends the run */
    RECEIVE_BYTES = 65536 + 8192, /* a whole frame of output or of a file */
    KEEP_BYTES = 256 * 1024,      /* a larger receive buffer is given back after the run */
    INPUT_DEPTH_MAX = 512,        /* deeper JSON is an attack on somebody's recursion */
    NAME_BYTES_MAX = 1024,
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
    INPUT_BYTES_MAX = 128 * 1024 * 1024,
    START_EXTRA_BYTES = 65536, /* of a start message, beside the texts of the caller */
    CPU_GRACE_S = 2,           /* the kernel's own processor limit is so much later than ours */
};

struct vial_run {
    struct vial_engine *engine;
    struct vial_request request; /* as given; its strings are the caller's */
    struct vial_limits limits;
    struct cell_spec spec;
    uint32_t cell; /* CELL_NONE while there is none */
    int pidfd;     /* ours from when the cell is taken, -1 before */
    int cancelled; /* atomic */
    uint64_t asked_us, started_us, ended_us;
    uint64_t received[2];    /* bytes of stdout and stderr */
    uint64_t memory_peak;    /* seen while polling */
    uint64_t memory_next_us; /* when to look at it again */
    int together;
};

/* ---- before the start ---- */

static int check_input(const struct vial_request *q, struct vial_error *err)
{
    struct json_fault fault;
    int r;

    if (q->input != NULL && q->input_is_cbor != 0) {
        r = value_cbor_check(q->input, q->input_len, err);
        return r < 0 ? vial__wrap(err, r, "the input is not CBOR that a guest can have") : VIAL_OK;
    }
    if (q->input != NULL && json_check(q->input, q->input_len, INPUT_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "the input is not JSON: %s at line %u, column %u",
            fault.why, fault.line, fault.column);
    }
    return VIAL_OK;
}

/* Large JSON is checked while the cell reads it: the engine's own parser refuses what is none, so
 * no program runs with it; ours only says better where it is wrong. The decoder of CBOR in the cell
 * relies on the check. */
static int is_checked_late(const struct vial_request *q)
{
    return q->input != NULL && q->input_is_cbor == 0 && q->input_len > LATE_CHECK_BYTES;
}

static int check_request(const struct vial_request *q, struct vial_error *err)
{
    size_t bytes = q->source_len + q->input_len;
    size_t bad;
    int r;

    if (q->source == NULL || q->source_len > SOURCE_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the source is %zu bytes long; it may have up to %d",
            q->source_len, SOURCE_BYTES_MAX);
    }
    if (!utf8_valid(q->source, q->source_len, &bad)) {
        return vial__fail(err, VIAL_E_INVALID, "the source is not UTF-8 (at byte %zu)", bad);
    }
    if (q->name != NULL &&
        (strlen(q->name) > NAME_BYTES_MAX || !utf8_valid(q->name, strlen(q->name), NULL))) {
        return vial__fail(err, VIAL_E_INVALID,
            "the name of the source must be UTF-8 of up to %d bytes", NAME_BYTES_MAX);
    }
    if (q->language > VIAL_LANGUAGE_TYPESCRIPT) {
        return vial__fail(err, VIAL_E_INVALID, "%u is not a language", q->language);
    }
    if (q->input != NULL && q->input_len > INPUT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the input is %zu bytes long; it may have up to %d",
            q->input_len, INPUT_BYTES_MAX);
    }
    r = is_checked_late(q) ? VIAL_OK : check_input(q, err);
    if (r < 0) {
        return r;
    }
    if (q->kind > VIAL_KIND_MODULE) {
        return vial__fail(err, VIAL_E_INVALID, "%u is no kind of source", q->kind);
    }
    r = modules_check(q, &bytes, err);
    if (r == VIAL_OK && bytes > FRAME_START_BYTES_MAX - START_EXTRA_BYTES) {
        return vial__fail(err, VIAL_E_INVALID,
            "source, input and modules are %zu bytes long; together they may have up to %d", bytes,
            FRAME_START_BYTES_MAX - START_EXTRA_BYTES);
    }
    return r;
}

/* ---- the start message ---- */

static int send_all(int sock, struct iovec *iov, size_t count)
{
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t n;

    while (msg.msg_iovlen > 0) {
        n = sendmsg(sock, &msg, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -1;
        }
        while (msg.msg_iovlen > 0 && (size_t)n >= msg.msg_iov->iov_len) {
            n -= (ssize_t)msg.msg_iov->iov_len;
            msg.msg_iov++;
            msg.msg_iovlen--;
        }
        if (msg.msg_iovlen > 0) {
            msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + n;
            msg.msg_iov->iov_len -= (size_t)n;
        }
    }
    return 0;
}

static struct iovec iov_of(const void *bytes, size_t len)
{
    struct iovec v = {.iov_len = len};

    memcpy(&v.iov_base, &bytes, sizeof(bytes)); /* sendmsg does not write to it */
    return v;
}

/* Source and input go from the caller's memory to the socket without a copy. */
static int send_start(struct vial_run *run)
{
    const struct vial_request *q = &run->request;
    const char *name = q->name != NULL ? q->name : "main.js";
    char source_head[FIELD_HEAD_BYTES], input_head[FIELD_HEAD_BYTES], stdin_head[FIELD_HEAD_BYTES];
    struct frame_header header = {.type = FRAME_START};
    struct iovec iov[8];
    size_t count = 0;
    struct buf fields;
    size_t i;
    int r;

    buf_init(&fields, FRAME_START_BYTES_MAX);
    r = field_add(&fields, FIELD_NAME, name, strlen(name), NULL);
    r = r < 0 ? r : field_add_u32(&fields, FIELD_WANT_TEXT, q->want_text, NULL);
    r = r < 0 ? r : field_add_u32(&fields, FIELD_LANGUAGE, q->language, NULL);
    r = r < 0 ? r : field_add_u32(&fields, FIELD_TIMERS_MAX, run->limits.timers_max, NULL);
    r = r < 0
            ? r
            : field_add_u32(&fields, FIELD_VALUE_MAX, (uint32_t)run->limits.value_bytes_max, NULL);
    r = r < 0 ? r : files_add_fields(q, &run->limits, &fields, NULL);
    if (q->kind != VIAL_KIND_AUTO) {
        r = r < 0 ? r : field_add_u32(&fields, FIELD_KIND, q->kind, NULL);
    }
    r = r < 0 ? r : modules_add(q, &fields, NULL);
    if (r < 0) {
        buf_release(&fields);
        errno = ENOMEM;
        return -1;
    }
    field_head(source_head, FIELD_SOURCE, (uint32_t)q->source_len);
    iov[count++] = iov_of(&header, sizeof(header));
    iov[count++] = iov_of(fields.data, fields.len);
    iov[count++] = iov_of(source_head, sizeof(source_head));
    iov[count++] = iov_of(q->source, q->source_len);
    if (q->input != NULL) {
        field_head(input_head, q->input_is_cbor != 0 ? FIELD_INPUT_CBOR : FIELD_INPUT,
            (uint32_t)q->input_len);
        iov[count++] = iov_of(input_head, sizeof(input_head));
        iov[count++] = iov_of(q->input, q->input_len);
    }
    if (q->stdin_bytes != NULL) {
        field_head(stdin_head, FIELD_STDIN, (uint32_t)q->stdin_len);
        iov[count++] = iov_of(stdin_head, sizeof(stdin_head));
        iov[count++] = iov_of(q->stdin_bytes, q->stdin_len);
    }
    for (i = 1; i < count; i++) {
        header.len += (uint32_t)iov[i].iov_len;
    }
    r = send_all(run->engine->cells[run->cell].sock, iov, count);
    buf_release(&fields);
    return r;
}

/* A wake-up across processors costs some 50 us here, a switch on one processor 8 us. So the cell is
 * put beside us while the run is young: short runs never wake the other processor, and a run that
 * turns out to be long is let go again. */
static void sit_together(struct vial_run *run)
{
    int cpu = sched_getcpu();
    cpu_set_t one;

    if (cpu < 0 || cpu >= CPU_SETSIZE) {
        return;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    run->together = sched_setaffinity(run->engine->cells[run->cell].pid, sizeof(one), &one) == 0;
}

static void let_go(struct vial_run *run)
{
    if (run->together) {
        (void)sched_setaffinity(
            run->engine->cells[run->cell].pid, sizeof(run->engine->cpus), &run->engine->cpus);
        run->together = 0;
    }
}

/* With a cell taken: sets its limits and tells it what to run. */
static int begin(struct vial_run *run, struct vial_error *err)
{
    struct cell *cell = &run->engine->cells[run->cell];
    rlim_t cpu_s =
        run->limits.cpu_ms_max / 1000 + (rlim_t)(cell->cpu_us_base / 1000000) + CPU_GRACE_S;
    struct rlimit cpu = {.rlim_cur = cpu_s, .rlim_max = cpu_s};

    if (cgroup_slot_limit(&cell->cgroups, run->limits.memory_bytes_max) < 0) {
        return vial__fail_sys(err, errno, "setting the memory limit");
    }
    /* The second lock behind our own clock. Without a user namespace a root that lacks
     * CAP_SYS_RESOURCE, as in most containers, may not set it for the cell's user. */
    if (prlimit(cell->pid, RLIMIT_CPU, &cpu, NULL) < 0 && errno != ESRCH &&
        !(errno == EPERM && run->engine->report.entries[LAYER_USERNS].state == LAYER_OFF)) {
        return vial__fail_sys(err, errno, "setting the processor limit");
    }
    cell->phase = PHASE_RUNNING;
    if (run->request.source_len + run->request.input_len < TOGETHER_BYTES_MAX) {
        sit_together(run);
    }
    run->started_us = clock_now_us();
    run->memory_next_us = run->started_us + MEMORY_POLL_US;
    if ((files_send(&run->request, cell->sock) < 0 || send_start(run) < 0) && errno != EPIPE &&
        errno != ECONNRESET) {
        return vial__fail_sys(err, errno, "sending the program to its cell");
    }
    /* A cell that died before is noticed when it is listened to. */
    return is_checked_late(&run->request) ? check_input(&run->request, err) : VIAL_OK;
}

/* ---- during the run ---- */

static void kill_cell(struct vial_run *run)
{
    (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
}

/* How the sleep ends: something can be read, or a limit has been reached. */
enum event { EVENT_READ, EVENT_WALL, EVENT_CPU, EVENT_MEMORY };

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Sleeps until the cell says something or a limit is reached. */
static enum event sleep_until_event(struct vial_run *run)
{
    struct cell *cell = &run->engine->cells[run->cell];
    struct pollfd p = {.fd = cell->sock, .events = POLLIN};
    uint64_t wall_end = run->started_us + run->limits.wall_ms_max * 1000ULL;
    uint64_t cpu_max = run->limits.cpu_ms_max * 1000ULL;
    uint64_t now = clock_now_us();
    uint64_t cpu_next = run->started_us + cpu_max;
    uint64_t until, used;
    struct timespec left;
    int n;

    for (;;) {
        until = min_u64(wall_end, cpu_next);
        if (run->together) {
            until = min_u64(until, run->started_us + TOGETHER_US);
        }
        if (meter_polls(cell)) {
            until = min_u64(until, now + MEMORY_POLL_US);
        }
        left.tv_sec = (time_t)((until > now ? until - now : 0) / 1000000);
        left.tv_nsec = (long)((until > now ? until - now : 0) % 1000000) * 1000;
        n = ppoll(&p, 1, &left, NULL);
        now = clock_now_us();
        if (now >= run->started_us + TOGETHER_US) {
            let_go(run);
        }
        if (now >= wall_end) {
            return EVENT_WALL;
        }
        if (now >=
            cpu_next) { /* one thread: what is left cannot be used up before as much time passed */
            used = meter_cpu_us(cell);
            if (used >= cpu_max) {
                return EVENT_CPU;
            }
            cpu_next = now + (cpu_max - used);
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

enum heard { HEARD_MORE, HEARD_RESULT, HEARD_END, HEARD_NONSENSE, HEARD_FLOOD, HEARD_NOMEM };

static enum heard heard_of(enum files_taken taken)
{
    return taken == FILES_TAKEN ? HEARD_MORE : taken == FILES_NOMEM ? HEARD_NOMEM : HEARD_NONSENSE;
}

/* Takes a result out of the receive buffer, which is the next run's again. */
static enum heard take_result(struct vial_result *result, const struct frame *f)
{
    char *payload = malloc(f->len + 1);

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

/* Reads what the cell has sent and acts on every whole frame. */
static enum heard listen_once(struct vial_run *run, struct vial_result *result)
{
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
        r = frame_next(&cell->in, &at, &cell->phase, run->limits.value_bytes_max, &f);
        if (r < 0 || (r == 0 && cell->phase == PHASE_DONE && at < cell->in.len)) {
            return HEARD_NONSENSE; /* also anything behind the result */
        }
        if (r == 1 && f.type == FRAME_RESULT) {
            heard = take_result(result, &f);
        } else if (r == 1 && f.type == FRAME_FILE) {
            heard = heard_of(files_take(result, &run->request, f.payload, f.len));
        } else if (r == 1 && take_output(run, result, &f) < 0) {
            heard = HEARD_FLOOD;
        }
    } while (r == 1 && (heard == HEARD_MORE || heard == HEARD_RESULT));
    buf_consume(&cell->in, at);
    return heard;
}

/* ---- the end ---- */

static void state_limit(struct vial_run *run, struct vial_result *result, enum event event)
{
    if (event == EVENT_WALL) {
        result_state(result, VIAL_STATUS_WALL_LIMIT, "WallLimit",
            "raise it with --wall-ms (wall_ms_max), or do less waiting and computing in one run",
            "the run took longer than its limit of %u ms", run->limits.wall_ms_max);
    } else if (event == EVENT_CPU) {
        result_state(result, VIAL_STATUS_CPU_LIMIT, "CpuLimit",
            "raise it with --cpu-ms (cpu_ms_max), or compute less: look for a loop that never ends",
            "the run used more than its limit of %u ms of processor time", run->limits.cpu_ms_max);
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

    if (__atomic_load_n(&run->cancelled, __ATOMIC_RELAXED)) {
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
    } else {
        (void)run;
        result_state(result, VIAL_STATUS_CRASHED, "Crashed", NULL,
            "the guest's process broke the protocol and was ended");
    }
}

/* Waits, after a kill, until the process is really gone. */
static void await_death(struct vial_run *run)
{
    struct pollfd p = {.fd = run->pidfd, .events = POLLIN};

    kill_cell(run);
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

/* Listens until the run is over one way or another. */
static int drive(struct vial_run *run, struct vial_result *result, struct vial_error *err)
{
    enum event event;
    enum heard heard;

    for (;;) {
        event = sleep_until_event(run);
        if (event != EVENT_READ) {
            await_death(run);
            drain(run, result);
            state_limit(run, result, event);
            return VIAL_OK;
        }
        heard = listen_once(run, result);
        if (heard == HEARD_RESULT) {
            run->ended_us = clock_now_us();
            return VIAL_OK;
        }
        if (heard == HEARD_END) {
            /* It may have hung up and live on; of one that is dying the cause is set already. */
            kill_cell(run);
            state_death(run, result);
            return VIAL_OK;
        }
        if (heard != HEARD_MORE) {
            await_death(run);
            if (heard == HEARD_NOMEM) {
                return vial__fail(err, VIAL_E_NOMEM, "no memory for the result of a run");
            }
            state_heard(run, result, heard);
            return VIAL_OK;
        }
    }
}

static int is_dead(const struct vial_run *run)
{
    struct pollfd p = {.fd = run->pidfd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

static void fill_usage(struct vial_run *run, struct vial_result *result)
{
    struct cell *cell = &run->engine->cells[run->cell];
    uint64_t seen = meter_memory_bytes(cell);

    if (run->ended_us == 0) {
        run->ended_us = clock_now_us();
    }
    result->usage.wall_us = run->ended_us - run->started_us;
    result->usage.cpu_us = meter_cpu_us(cell);
    if (result->usage.cpu_us == 0 && is_dead(run) &&
        pool_wait_gone(run->engine, run->cell, GONE_MS_MAX)) {
        result->usage.cpu_us = meter_cpu_us(cell); /* it ended by itself: the template knows */
    }
    result->usage.memory_bytes_peak = seen > run->memory_peak ? seen : run->memory_peak;
    result->usage.queue_us = run->started_us - run->asked_us;
}

/* Gives the cell back; it has been killed or has ended. */
static void release_cell(struct vial_run *run, int suspicious)
{
    struct cell *cell = &run->engine->cells[run->cell];

    buf_clear(&cell->in);
    if (cell->in.capacity > KEEP_BYTES) {
        buf_release(&cell->in);
    }
    pool_give_back(run->engine, run->cell, suspicious);
    run->cell = CELL_NONE;
}

/* Finds the text of the line that an error is in, in the source that it is in. */
static void find_line(const struct vial_run *run, struct vial_result *result)
{
    const struct vial_request *q = &run->request;
    const char *file = result->error.file;
    const struct vial_module *module =
        file != NULL && file[0] != '\0' ? modules_find(q, file) : NULL;

    if (module != NULL) {
        result_find_line(result, module->source, module->source_len);
    } else if (file == NULL || file[0] == '\0') {
        result_find_line(result, q->source, q->source_len);
    }
    result_name_files(result, q->name != NULL ? q->name : "main.js");
}

/* ---- the public functions ---- */

/* Settles what kind of cell the run is in. Those of the pool are alike: how much of files a run may
 * have is said in its start message. A tree of the kernel's is made for the limits of its run. */
static void choose_cell(struct vial_run *run, const struct cell_spec *wanted)
{
    run->spec = *wanted;
    if (wanted->kind != CELL_GUEST || wanted->profile == PROFILE_POSIX) {
        run->spec.open_files_max = run->limits.open_files_max;
    }
    if (wanted->profile == PROFILE_POSIX) {
        run->spec.files_max = run->limits.files_max;
        run->spec.disk_bytes_max = run->limits.disk_bytes_max;
    }
}

/* Cells are prepared for modules while programs have some: it costs them half a megabyte. */
static void note_modules(struct vial_engine *engine, const struct vial_run *run)
{
    static const char *const words[] = {"import", "require", "await"};
    const struct vial_request *q = &run->request;
    size_t len = q->source_len < MODULES_LOOK_BYTES ? q->source_len : MODULES_LOOK_BYTES;
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (memmem(q->source, len, words[i], strlen(words[i])) != NULL) {
            __atomic_store_n(
                &engine->modules_until_us, run->asked_us + MODULES_US, __ATOMIC_RELAXED);
            return;
        }
    }
}

int run_start_in(struct vial_engine *engine, const struct vial_request *request,
    const struct cell_spec *wanted, struct vial_run **ret, struct vial_error *err)
{
    struct vial_run *run;
    size_t known;
    int r;

    if (request == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a run needs a request and a place for it");
    }
    known = request->size < sizeof(run->request) ? request->size : sizeof(run->request);
    run = calloc(1, sizeof(*run));
    if (run == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a run");
    }
    memcpy(&run->request, request, known);
    run->engine = engine;
    run->cell = CELL_NONE;
    run->pidfd = -1;
    run->asked_us = clock_now_us();
    r = check_request(&run->request, err);
    r = r < 0 ? r : limits_resolve(run->request.limits, &run->limits, err);
    r = r < 0 ? r : process_check(&run->request, &run->limits, err);
    if (r < 0) {
        free(run);
        return r;
    }
    choose_cell(run, wanted);
    note_modules(engine, run);
    if (pool_take(engine, &run->spec, 0, &run->cancelled, &run->cell, &run->pidfd, err) == 0) {
        r = begin(run, err);
        if (r < 0) {
            await_death(run);
            release_cell(run, 1);
            vial_run_free(run);
            return r;
        }
    }
    *ret = run;
    return VIAL_OK;
}

int vial_run_start(struct vial_engine *engine, const struct vial_request *request,
    struct vial_run **ret, struct vial_error *err)
{
    if (engine == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a run needs an engine");
    }
    return run_start_in(engine, request, &engine->spec_default, ret, err);
}

int vial_run_wait(struct vial_run *run, struct vial_result **ret, struct vial_error *err)
{
    struct vial_engine *engine = run->engine;
    struct vial_result *result;
    int r;

    r = result_new(&run->limits, engine->isolation_json, &result, err);
    if (r < 0) {
        return r;
    }
    if (run->cell == CELL_NONE) {
        r = pool_take(engine, &run->spec, 1, &run->cancelled, &run->cell, &run->pidfd, err);
        if (r == 0 && run->cell == CELL_NONE) {
            result_state(result, VIAL_STATUS_CANCELLED, "Cancelled", NULL, "the run was cancelled");
            *ret = result;
            return VIAL_OK;
        }
        r = r < 0 ? r : begin(run, err);
        if (r < 0) {
            vial_result_free(result);
            return r;
        }
    }
    if (__atomic_load_n(&run->cancelled, __ATOMIC_SEQ_CST)) {
        kill_cell(run); /* it came while there was no process to signal */
    }
    r = drive(run, result, err);
    if (r < 0) {
        vial_result_free(result);
        release_cell(run, 0);
        return r;
    }
    fill_usage(run, result);
    if (result->status == VIAL_STATUS_OK || result->status == VIAL_STATUS_EXCEPTION) {
        kill_cell(run);
    }
    find_line(run, result);
    release_cell(
        run, result->status == VIAL_STATUS_CRASHED || result->status == VIAL_STATUS_DENIED);
    result->usage.host_us = clock_now_us() - run->asked_us - result->usage.wall_us;
    *ret = result;
    return VIAL_OK;
}

void vial_run_cancel(struct vial_run *run)
{
    int pidfd;

    __atomic_store_n(&run->cancelled, 1, __ATOMIC_SEQ_CST);
    pidfd = __atomic_load_n(&run->pidfd, __ATOMIC_SEQ_CST);
    if (pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    }
}

void vial_run_free(struct vial_run *run)
{
    if (run == NULL) {
        return;
    }
    if (run->cell != CELL_NONE) { /* started and never waited for */
        await_death(run);
        release_cell(run, 0);
    }
    fd_closep(&run->pidfd);
    free(run);
}

int vial_run(struct vial_engine *engine, const struct vial_request *request,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int r = vial_run_start(engine, request, &run, err);

    if (r < 0) {
        return r;
    }
    assert(run != NULL);
    r = vial_run_wait(run, ret, err);
    vial_run_free(run);
    return r;
}
