/* calls.c - see calls.h. */
#include "host/calls.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "host/call.h"
#include "host/fetch.h"
#include "host/mounts.h"
#include "host/workers.h"
#include "jail/mutate.h"
#include "value/cbor.h"
#include "wire/fetch.h"
#include "wire/library.h"
#include "wire/look.h"

enum {
    SLOT_BITS = 16,
    SLOTS_MAX = 1 << SLOT_BITS, /* calls of all runs of an engine together */
    SLOTS_FIRST = 64,
    ARGS_DEPTH_MAX = 512, /* deeper JSON is an attack on somebody's recursion */
    FLOOD_FACTOR = 16,    /* a program that goes on calling past so many times its limit is ended */
    ERROR_BYTES_MAX = 60000,   /* of the JSON of an error: below ANSWER_EXTRA_BYTES */
    REST_US_MAX = 1000 * 1000, /* for a cell to take what it will not use: a few milliseconds */
    END_MS = 2000,             /* for threads that are still busy when the engine ends */
    /* A thread of a cell waits for the answer to its look before it has another; a cell that asks
     * and does not listen would have us keep the whole library for it, again and again. */
    LOOKS_BYTES_MAX = 8 * 1024 * 1024,
};

/* ---- the table ---- */

void call_table_init(struct call_table *table, unsigned threads_max)
{
    (void)pthread_mutex_init(&table->lock, NULL);
    table->threads_max = threads_max;
}

int call_table_release(struct call_table *table)
{
    unsigned held;

    if (table->workers != NULL) {
        workers_free(table->workers, END_MS);
    }
    (void)pthread_mutex_lock(&table->lock);
    held = table->held_count;
    (void)pthread_mutex_unlock(&table->lock);
    if (held > 0) {
        return -1;
    }
    free(table->slots);
    (void)pthread_mutex_destroy(&table->lock);
    return 0;
}

static int grow(struct call_table *table)
{
    unsigned count = table->slots_count > 0 ? 2 * table->slots_count : SLOTS_FIRST;
    struct call **grown;

    if (count > SLOTS_MAX) {
        return -1;
    }
    grown = realloc(table->slots, count * sizeof(struct call *));
    if (grown == NULL) {
        return -1;
    }
    memset(grown + table->slots_count, 0, (count - table->slots_count) * sizeof(struct call *));
    table->slots = grown;
    table->slots_count = count;
    return 0;
}

/* Gives the call a number; -1 when there are too many. */
static int table_add(struct call_table *table, struct call *call)
{
    unsigned i, at;

    for (;;) {
        for (i = 0; i < table->slots_count; i++) {
            /* Where the last one was given out the next is most likely free. */
            at = (unsigned)(table->generation + i) & (table->slots_count - 1);
            if (table->slots[at] == NULL) {
                table->generation++;
                call->id = table->generation << SLOT_BITS | at;
                table->slots[at] = call;
                return 0;
            }
        }
        if (grow(table) < 0) {
            return -1;
        }
    }
}

struct call *call_find(struct call_table *table, uint64_t id)
{
    unsigned at = (unsigned)(id & (SLOTS_MAX - 1));
    struct call *call = at < table->slots_count ? table->slots[at] : NULL;

    return call != NULL && call->id == id && call->state != CALL_OVER ? call : NULL;
}

/* With the lock held. */
static void free_if_over(struct call *call)
{
    struct call_table *table = &call->engine->calls;

    if (call->state != CALL_OVER || call->held) {
        return;
    }
    if (call->id != 0) {
        table->slots[call->id & (SLOTS_MAX - 1)] = NULL;
    }
    tool_set_unref(call->tools);
    free(call->args);
    free(call->reason);
    free(call);
}

void call_let_go(struct call *call)
{
    struct call_table *table = &call->engine->calls;

    (void)pthread_mutex_lock(&table->lock);
    call->held = 0;
    table->held_count--;
    free_if_over(call);
    (void)pthread_mutex_unlock(&table->lock);
}

/* ---- answers ---- */

static uint64_t since_start(const struct vial_run *run)
{
    return clock_now_us() - run->started_us;
}

/* Sends what there is as far as the socket takes it. */
static void flush(struct run_calls *calls)
{
    ssize_t n;

    while (calls->out.len > 0) {
        n = send(calls->sock, calls->out.data, calls->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            if (errno != EAGAIN) {
                buf_clear(&calls->out); /* the cell is gone; who listens to it will see */
            }
            return;
        }
        buf_consume(&calls->out, (size_t)n);
    }
}

static void wake(const struct vial_run *run)
{
    uint64_t one = 1;

    (void)!write(run->wake_fd, &one, sizeof(one)); /* short counts handled */
}

/* Puts an answer on its way. Without memory for it the run is beyond help: the cell is ended. */
static void send_answer(
    struct vial_run *run, uint32_t cell_id, uint32_t kind, const char *bytes, size_t len)
{
    struct run_calls *calls = &run->calls;
    struct frame_header frame = {
        .type = FRAME_ANSWER, .len = (uint32_t)(sizeof(struct answer_head) + len)};
    struct answer_head head = {.id = cell_id, .kind = kind};

    if (buf_add(&calls->out, &frame, sizeof(frame), NULL) < 0 ||
        buf_add(&calls->out, &head, sizeof(head), NULL) < 0 ||
        (len > 0 && buf_add(&calls->out, bytes, len, NULL) < 0)) {
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
        return;
    }
    flush(calls);
    if (calls->out.len > 0) {
        wake(run);
    }
}

void calls_give_up(struct vial_run *run)
{
    (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
}

void calls_answer(
    struct vial_run *run, uint32_t cell_id, uint32_t kind, const char *bytes, size_t len)
{
    (void)pthread_mutex_lock(&run->engine->calls.lock);
    send_answer(run, cell_id, kind, bytes, len);
    (void)pthread_mutex_unlock(&run->engine->calls.lock);
}

static void unlink_call(struct run_calls *calls, struct call *call)
{
    struct call **p;

    for (p = &calls->first; *p != NULL; p = &(*p)->next) {
        if (*p == call) {
            *p = call->next;
            calls->pending_count--;
            return;
        }
    }
}

void call_finish(struct call *call, uint32_t status, const char *reason, uint32_t kind,
    const char *bytes, size_t len)
{
    struct vial_run *run = call->run;
    size_t index = (size_t)(call->tool - call->tools->tools);

    assert(call->state != CALL_OVER && run != NULL);
    call->state = CALL_OVER;
    call->run = NULL;
    __atomic_store_n(&call->cancelled, 1, __ATOMIC_RELAXED); /* one answer is enough */
    unlink_call(&run->calls, call);
    run->calls.tool_counts[2 * index + 1]--;
    if (kind == ANSWER_JSON && run->request.record_calls != 0) {
        result_calls_record(&run->calls.result->calls, call->record, CALL_PART_OUTPUT, bytes, len);
    }
    if (kind == ANSWER_ERROR && run->request.record_calls != 0) {
        result_calls_record(&run->calls.result->calls, call->record, CALL_PART_ERROR, bytes, len);
    }
    result_calls_end(&run->calls.result->calls, call->record, status, reason, since_start(run),
        kind == ANSWER_ERROR ? 0 : len);
    send_answer(run, call->cell_id, kind, bytes, len);
    free_if_over(call);
}

static void write_error(struct buf *out, const struct call_error *error)
{
    struct json_writer w;

    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "name");
    json_text(&w, error->name);
    json_key(&w, "message");
    json_text(&w, error->message);
    if (error->fields != NULL) {
        json_key(&w, "fields");
        json_raw(&w, error->fields, strlen(error->fields));
    }
    json_end_object(&w);
    if (json_finish(&w) < 0) {
        buf_clear(out);
    }
}

void call_finish_error(struct call *call, uint32_t status, const struct call_error *error)
{
    static const char plain[] = "{\"name\":\"Error\",\"message\":\"the call failed\"}";
    struct call_error shorter = {.name = error->name, .message = error->message};
    struct buf out;

    buf_init(&out, ERROR_BYTES_MAX);
    write_error(&out, error);
    if (out.len == 0 && error->fields != NULL) { /* they are too long */
        write_error(&out, &shorter);
    }
    call_finish(call, status, error->message, ANSWER_ERROR, out.len > 0 ? out.data : plain,
        out.len > 0 ? out.len : sizeof(plain) - 1);
    buf_release(&out);
}

static void __attribute__((format(printf, 4, 5)))
fail_call(struct call *call, uint32_t status, const char *name, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    call_finish_error(call, status, &(struct call_error){.name = name, .message = text});
}

/* ---- calls as they come ---- */

/* What it takes to answer anything. */
static int open_now(struct vial_run *run, struct tool_set *tools, struct vial_error *err)
{
    run->calls.tool_counts = calloc(tools != NULL ? 2 * tools->count : 1, sizeof(uint32_t));
    if (run->wake_fd < 0) {
        run->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    if (run->calls.tool_counts == NULL || run->wake_fd < 0) {
        int sys = run->calls.tool_counts == NULL ? ENOMEM : errno;

        free(run->calls.tool_counts);
        run->calls.tool_counts = NULL;
        return vial__fail_sys(err, sys, "preparing for calls of tools");
    }
    buf_init(&run->calls.out, (run->limits.call_bytes_max + ANSWER_EXTRA_BYTES) *
                                      ((size_t)run->limits.calls_at_once_max + 1) +
                                  fetches_out_bytes_max(run));
    run->calls.tools = tools != NULL ? tool_set_ref(tools) : NULL;
    run->calls.is_open = 1;
    return VIAL_OK;
}

int calls_open(struct vial_run *run, struct tool_set *tools, const struct mounts *mounts,
    unsigned breed, struct vial_error *err)
{
    run->calls = (struct run_calls){.sock = run->calls.sock,
        .result = run->calls.result,
        .fetches = run->calls.fetches,
        .mounts = mounts,
        .library_count = breed == BREED_DATA     ? LIBRARY_DATA_COUNT
                         : breed == BREED_PYTHON ? LIBRARY_PYTHON_COUNT
                                                 : 0};
    return tools == NULL && mounts == NULL ? VIAL_OK : open_now(run, tools, err);
}

void calls_begin(struct vial_run *run, int sock, struct vial_result *result)
{
    run->calls.sock = sock;
    run->calls.result = result;
}

/* 0, or -1 when it was ended, because the program may not call that tool. */
static int check_permission(const struct vial_run *run, struct call *call)
{
    char by[RULE_TEXT_BYTES];

    if (permit_tool(run, call->tool->spec.name, by)) {
        return 0;
    }
    fail_call(call, VIAL_CALL_DENIED, "DeniedError", "%s may not be called: denied by %s",
        call->tool->spec.name, by);
    return -1;
}

/* Its limits, in the words of the error that it gets; 0, or -1 when it was ended. */
static int check_limits(struct vial_run *run, struct call *call, uint64_t size)
{
    const struct vial_tool *t = &call->tool->spec;
    const uint32_t *counts = &run->calls.tool_counts[2 * (call->tool - call->tools->tools)];
    uint64_t bytes_max = t->input_bytes_max != 0 && t->input_bytes_max < run->limits.call_bytes_max
                             ? t->input_bytes_max
                             : run->limits.call_bytes_max;

    if (run->calls.count > run->limits.calls_max) {
        fail_call(call, VIAL_CALL_LIMIT, "LimitError",
            "%s: a run may make %u calls of tools; raise it with --calls (calls_max), or ask for "
            "more at once",
            t->name, run->limits.calls_max);
    } else if (t->calls_max != 0 && counts[0] > t->calls_max) {
        fail_call(call, VIAL_CALL_LIMIT, "LimitError", "%s may be called %u times in one run",
            t->name, t->calls_max);
    } else if (run->calls.pending_count > run->limits.calls_at_once_max ||
               (t->concurrency_max != 0 && counts[1] > t->concurrency_max)) {
        fail_call(call, VIAL_CALL_LIMIT, "LimitError",
            "%s: %u calls may wait for their answer at the same time; await some of them first",
            t->name,
            run->calls.pending_count > run->limits.calls_at_once_max ? run->limits.calls_at_once_max
                                                                     : t->concurrency_max);
    } else if (size > bytes_max) {
        fail_call(call, VIAL_CALL_LIMIT, "LimitError",
            "%s: the arguments are %llu bytes long; they may have %llu", t->name,
            (unsigned long long)size, (unsigned long long)bytes_max);
    } else {
        return 0;
    }
    return -1;
}

/* Are the arguments what the tool takes? 0, or -1 when it was ended with the reasons. */
static int check_arguments(struct call *call)
{
    const char *name = call->tool->spec.name;
    struct vial_error err = {.code = 0};
    struct json_fault fault;
    struct buf report, text, fields;
    int r;

    if (call->kind == CALL_CBOR) {
        if ((call->tool->spec.flags & VIAL_TOOL_VALUES) == 0 ||
            value_cbor_check(call->args, call->args_len, &err) < 0) {
            fail_call(call, VIAL_CALL_INVALID, "TypeError", "%s takes JSON", name);
            return -1;
        }
        return 0;
    }
    if (call->tool->input == NULL) {
        if (json_check(call->args, call->args_len, ARGS_DEPTH_MAX, &fault) < 0) {
            fail_call(call, VIAL_CALL_INVALID, "TypeError", "%s: the arguments are not JSON: %s",
                name, fault.why);
            return -1;
        }
        return 0;
    }
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&fields, SCHEMA_REPORT_BYTES_MAX + 64);
    r = schema_check(call->tool->input, call->args, call->args_len, &report, &err);
    if (r > 0 && buf_add_text(&text, name, NULL) == 0 && buf_add_text(&text, ": ", NULL) == 0 &&
        schema_report_text(report.data, report.len, &text, NULL) == 0 &&
        buf_add_text(&fields, "{\"problems\":", NULL) == 0 &&
        buf_add(&fields, report.data, report.len, NULL) == 0 &&
        buf_add_text(&fields, "}", NULL) == 0) {
        call_finish_error(call, VIAL_CALL_INVALID,
            &(struct call_error){.name = "TypeError", .message = text.data, .fields = fields.data});
    } else if (r != 0) {
        fail_call(call, VIAL_CALL_INVALID, "TypeError", "%s: %s", name,
            r < 0 ? err.text : "the arguments are not what it takes");
    }
    buf_release(&report);
    buf_release(&text);
    buf_release(&fields);
    return r == 0 ? 0 : -1;
}

/* The wall clock stands, and so does the cell, while somebody thinks about an approval. */
static void pause_run(struct vial_run *run)
{
    if (run->calls.approvals_count++ == 0) {
        run->calls.paused_us = clock_now_us();
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGSTOP, NULL, 0);
    }
}

static void unpause_run(struct vial_run *run)
{
    if (--run->calls.approvals_count == 0) {
        run->calls.paused_us_sum += clock_now_us() - run->calls.paused_us;
        run->calls.paused_us = 0;
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGCONT, NULL, 0);
    }
}

static void deny(struct call *call, const char *reason)
{
    fail_call(call, VIAL_CALL_DENIED, "DeniedError", "%s was not approved: %s",
        call->tool->spec.name, reason);
}

/* With the lock held on both sides of it, asks whether the call may be done. */
static void ask_approval(struct vial_run *run, struct call *call)
{
    struct call_table *table = &run->engine->calls;
    struct vial_call seen;
    int said;

    if (run->request.on_approve == NULL) {
        deny(call, "nobody is there to ask");
        return;
    }
    call->state = CALL_WAITING;
    call->deadline_us = clock_now_us() + run->limits.approval_ms_max * 1000ULL;
    pause_run(run);
    call_describe(call, &seen);
    call->held = 1;
    (void)pthread_mutex_unlock(&table->lock);
    said = run->request.on_approve(run->engine, &seen, run->request.user);
    (void)pthread_mutex_lock(&table->lock);
    call->held = 0;
    if (call->state == CALL_WAITING && said != VIAL_APPROVAL_LATER) {
        call->state = said == VIAL_APPROVAL_YES ? CALL_APPROVED : CALL_REFUSED;
    }
    wake(run); /* what was decided is done in calls_serve */
}

/* With the lock held: the tool is to do it now. The lock is let go of meanwhile. */
static void begin_call(struct vial_run *run, struct call *call)
{
    struct call_table *table = &run->engine->calls;

    call->state = CALL_UNDERWAY;
    call->deadline_us = clock_now_us() + call->tool->spec.timeout_ms_max * 1000ULL;
    call->held = 1;
    table->held_count++;
    (void)pthread_mutex_unlock(&table->lock);
    call_do(call);
    (void)pthread_mutex_lock(&table->lock);
}

/* A new call in the run's list, with what came; NULL without memory. */
static struct call *new_call(
    struct vial_run *run, const struct call_head *head, const char *bytes, size_t len)
{
    struct call *call = calloc(1, sizeof(*call));
    const struct vial_tool *t = &run->calls.tools->tools[head->tool].spec;
    uint64_t out_max = t->output_bytes_max;

    if (call == NULL || (call->args = malloc(len + 1)) == NULL) {
        free(call);
        return NULL;
    }
    memcpy(call->args, bytes, len);
    call->args[len] = '\0';
    call->args_len = len;
    call->engine = run->engine;
    call->run = run;
    call->run_id = run->id;
    if (run->request.traceparent != NULL && trace_is_valid(run->request.traceparent)) {
        memcpy(call->traceparent, run->request.traceparent, TRACE_BYTES);
    }
    call->tools = tool_set_ref(run->calls.tools);
    call->tool = &call->tools->tools[head->tool];
    call->cell_id = head->id;
    call->kind = head->kind;
    call->state = CALL_UNDERWAY;
    call->output_bytes_max =
        out_max != 0 && out_max < run->limits.call_bytes_max ? out_max : run->limits.call_bytes_max;
    call->next = run->calls.first;
    run->calls.first = call;
    run->calls.pending_count++;
    run->calls.count++;
    run->calls.tool_counts[2 * (size_t)head->tool]++;
    run->calls.tool_counts[2 * (size_t)head->tool + 1]++;
    return call;
}

/* With the lock held: everything between a frame and the tool. */
static void take_call(
    struct vial_run *run, const struct call_head *head, const char *bytes, size_t len)
{
    uint64_t size = len;
    struct call *call;

    if (head->kind == CALL_LARGE) {
        memcpy(&size, bytes, sizeof(size));
        size = size > run->limits.call_bytes_max ? size : run->limits.call_bytes_max + 1;
        len = 0;
    }
    call = new_call(run, head, bytes, len);
    if (call == NULL) {
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
        return;
    }
    call->record =
        result_calls_add(&run->calls.result->calls, call->tool->spec.name, since_start(run), size);
    /* What the result holds is JSON, also when a cell says that it is and it is not. */
    if (run->request.record_calls != 0 && head->kind == CALL_JSON &&
        json_check(call->args, len, ARGS_DEPTH_MAX, NULL) == 0) {
        result_calls_record(
            &run->calls.result->calls, call->record, CALL_PART_INPUT, call->args, len);
    }
    if (check_permission(run, call) < 0 || check_limits(run, call, size) < 0 ||
        check_arguments(call) < 0) {
        return;
    }
    if (table_add(&run->engine->calls, call) < 0) {
        fail_call(call, VIAL_CALL_LIMIT, "LimitError",
            "%s: the host has too many calls under way; try again", call->tool->spec.name);
    } else if ((call->tool->spec.flags & VIAL_TOOL_APPROVE) != 0) {
        ask_approval(run, call);
    } else {
        begin_call(run, call);
    }
}

/* What the cell should have refused itself. */
static int may_look(const char *name, const char *path, const void *run)
{
    return permit_look(run, name, path);
}

/* The cell looks into a directory that we serve. */
static enum calls_taken take_look(
    struct vial_run *run, const struct call_head *head, const char *bytes, size_t len)
{
    struct call_table *table = &run->engine->calls;
    struct buf answer;
    uint32_t sys;
    int flood;

    if ((run->calls.mounts == NULL && run->calls.library_count == 0) ||
        head->id <= run->calls.last_id) {
        return CALLS_NONSENSE;
    }
    run->calls.last_id = head->id;
    buf_init(&answer, LOOK_BYTES_MAX);
    sys = (uint32_t)mounts_look(
        run->calls.mounts, run->calls.library_count, bytes, len, may_look, run, &answer);
    (void)pthread_mutex_lock(&table->lock);
    if (sys != 0) {
        send_answer(run, head->id, ANSWER_ERRNO, (const char *)&sys, sizeof(sys));
    } else {
        send_answer(run, head->id, ANSWER_BYTES, answer.data, answer.len);
    }
    run->calls.looks_bytes = run->calls.out.len > 0 ? run->calls.looks_bytes + answer.len : 0;
    flood = run->calls.looks_bytes > LOOKS_BYTES_MAX && !mutate_without_part("library-flood");
    (void)pthread_mutex_unlock(&table->lock);
    buf_release(&answer);
    return flood ? CALLS_NONSENSE : CALLS_TAKEN;
}

enum calls_taken calls_take(struct vial_run *run, const struct frame *f)
{
    struct call_table *table = &run->engine->calls;
    struct call_head head;

    if (f->len < sizeof(head)) {
        return CALLS_NONSENSE;
    }
    memcpy(&head, f->payload, sizeof(head));
    /* Most programs that may look into a library, or ask the network, never do. */
    if (!run->calls.is_open &&
        ((run->calls.library_count > 0 && head.tool == LOOK_TOOL) || head.tool == FETCH_TOOL) &&
        open_now(run, NULL, NULL) < 0) {
        return CALLS_NONSENSE;
    }
    if (!run->calls.is_open) {
        return CALLS_NONSENSE;
    }
    if (head.tool == LOOK_TOOL) {
        return take_look(run, &head, f->payload + sizeof(head), f->len - sizeof(head));
    }
    if (head.tool == FETCH_TOOL && head.id > run->calls.last_id && head.zero == 0) {
        run->calls.last_id = head.id;
        return fetches_take(run, &head, f->payload + sizeof(head), f->len - sizeof(head));
    }
    if (run->calls.tools == NULL || head.tool >= run->calls.tools->count ||
        head.kind > CALL_LARGE || head.zero != 0 || head.id <= run->calls.last_id ||
        (head.kind == CALL_LARGE && f->len != sizeof(head) + sizeof(uint64_t))) {
        return CALLS_NONSENSE;
    }
    run->calls.last_id = head.id;
    (void)pthread_mutex_lock(&table->lock);
    take_call(run, &head, f->payload + sizeof(head), f->len - sizeof(head));
    (void)pthread_mutex_unlock(&table->lock);
    return run->calls.count / FLOOD_FACTOR > run->limits.calls_max ? CALLS_FLOOD : CALLS_TAKEN;
}

/* ---- while the run goes on ---- */

uint64_t calls_deadline_us(struct vial_run *run)
{
    struct call_table *table = &run->engine->calls;
    uint64_t first = UINT64_MAX;
    const struct call *call;

    if (run->calls.first == NULL) { /* a new one is made by this thread */
        return first;
    }
    (void)pthread_mutex_lock(&table->lock);
    for (call = run->calls.first; call != NULL; call = call->next) {
        first = call->deadline_us < first ? call->deadline_us : first;
    }
    (void)pthread_mutex_unlock(&table->lock);
    return first;
}

/* With the lock held: what is to be done about this call? 1 when the list has changed. */
static int serve_call(struct vial_run *run, struct call *call, uint64_t now_us)
{
    if (call->held && call->state != CALL_UNDERWAY) {
        return 0; /* somebody is being asked right now */
    }
    if (call->state == CALL_APPROVED) {
        unpause_run(run);
        begin_call(run, call);
        return 1;
    }
    if (call->state == CALL_REFUSED) {
        unpause_run(run);
        deny(call, call->reason != NULL ? call->reason : "the answer was no");
        return 1;
    }
    if (now_us < call->deadline_us) {
        return 0;
    }
    if (call->state == CALL_WAITING) {
        unpause_run(run);
        deny(call, "nobody answered in time");
    } else {
        fail_call(call, VIAL_CALL_TIMEOUT, "TimeoutError", "%s did not answer within %u ms",
            call->tool->spec.name, call->tool->spec.timeout_ms_max);
    }
    return 1;
}

void calls_serve(struct vial_run *run, uint64_t now_us)
{
    struct call_table *table = &run->engine->calls;
    struct call *call;
    uint64_t count;
    int changed = 1;

    if (!run->calls.is_open || (run->calls.count == 0 && run->calls.out.len == 0)) {
        return;
    }
    (void)!read(run->wake_fd, &count, sizeof(count)); /* short counts handled */
    (void)pthread_mutex_lock(&table->lock);
    flush(&run->calls);
    while (changed) {
        changed = 0;
        for (call = run->calls.first; call != NULL && !changed; call = call->next) {
            changed = serve_call(run, call, now_us);
            if (changed) {
                break; /* call may be gone */
            }
        }
    }
    (void)pthread_mutex_unlock(&table->lock);
}

int calls_wants_to_write(struct vial_run *run)
{
    int wants;

    if (!run->calls.is_open) {
        return 0;
    }
    (void)pthread_mutex_lock(&run->engine->calls.lock);
    wants = run->calls.out.len > 0;
    (void)pthread_mutex_unlock(&run->engine->calls.lock);
    return wants;
}

/* The cell of a session that is at rest throws answers away, but no frame may be cut off: the next
 * one begins behind it. One that does not read is beyond help. */
static void finish_sending(struct vial_run *run)
{
    struct pollfd p = {.fd = run->calls.sock, .events = POLLOUT};
    uint64_t until = clock_now_us() + REST_US_MAX;
    uint64_t now;

    flush(&run->calls);
    while (run->calls.out.len > 0 && (now = clock_now_us()) < until) {
        (void)poll(&p, 1, (int)((until - now) / 1000 + 1));
        flush(&run->calls);
    }
    if (run->calls.out.len > 0) {
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGKILL, NULL, 0);
    }
}

void calls_end(struct vial_run *run)
{
    struct call_table *table = &run->engine->calls;
    struct call *call, *next;

    fetches_end(run);
    if (!run->calls.is_open) {
        return;
    }
    (void)pthread_mutex_lock(&table->lock);
    for (call = run->calls.first; call != NULL; call = next) {
        next = call->next;
        result_calls_end(&run->calls.result->calls, call->record, VIAL_CALL_CANCELLED,
            "the run was over before the answer came", since_start(run), 0);
        call->state = CALL_OVER;
        call->run = NULL;
        __atomic_store_n(&call->cancelled, 1, __ATOMIC_RELAXED);
        free_if_over(call);
    }
    run->calls.first = NULL;
    run->calls.pending_count = 0;
    if (run->calls.approvals_count > 0) {
        run->calls.paused_us_sum += clock_now_us() - run->calls.paused_us;
        run->calls.paused_us = 0;
        run->calls.approvals_count = 0;
        /* A session has further programs. */
        (void)syscall(SYS_pidfd_send_signal, run->pidfd, SIGCONT, NULL, 0);
    }
    (void)pthread_mutex_unlock(&table->lock);
    if (run->session != NULL) { /* nobody but us adds to it any more */
        finish_sending(run);
    }
    buf_clear(&run->calls.out);
}

void calls_close(struct vial_run *run)
{
    free(run->calls.tool_counts);
    buf_release(&run->calls.out);
    tool_set_unref(run->calls.tools);
    fetches_close(run);
    run->calls = (struct run_calls){.sock = -1};
}
