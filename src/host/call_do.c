/* call_do.c - has a tool do what it is called for: a function, a server or a program; see call.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/call.h"
#include "host/tool_exec.h"
#include "host/tool_http.h"
#include "host/workers.h"

enum { JOBS_MAX = 16384 }; /* calls that wait for a thread; each run is limited for itself too */

void call_describe(const struct call *call, struct vial_call *ret)
{
    *ret = (struct vial_call){.size = sizeof(*ret),
        .args_is_cbor = call->kind == CALL_CBOR,
        .id = call->id,
        .name = call->tool->spec.name,
        .args = call->args,
        .args_len = call->args_len,
        .run_id = call->run_id};
}

static void call_function(struct call *call)
{
    struct vial_call seen;

    call_describe(call, &seen);
    call->tool->spec.call(call->engine, &seen, call->tool->spec.user);
}

/* What an http or exec tool said is the answer. */
static void pass_on(struct call *call, int r, const struct buf *answer,
    const struct tool_failure *failure, const struct vial_error *err)
{
    struct vial_error ignored; /* of a call that nobody waits for any more */

    if (r > 0 && strcmp(failure->name, TOOL_ERROR_TIMEOUT) == 0) {
        return; /* the run's thread has the same deadline, and says so in the same words always */
    }
    if (r == 0) {
        (void)!vial_call_answer(
            call->engine, call->id, answer->len > 0 ? answer->data : NULL, answer->len, &ignored);
    } else if (r > 0) {
        (void)!vial_call_fail(call->engine, call->id, failure->name, failure->message,
            failure->fields.len > 0 ? failure->fields.data : NULL, &ignored);
    } else {
        (void)!vial_call_fail(call->engine, call->id, "Error", err->text, NULL, &ignored);
    }
}

static void call_outside(struct call *call)
{
    const struct vial_tool *t = &call->tool->spec;
    struct vial_error err = {.code = 0};
    struct tool_failure failure;
    struct buf answer;
    const char *trace = call->traceparent[0] != '\0' ? call->traceparent : NULL;
    int r;

    tool_failure_init(&failure);
    buf_init(&answer, call->output_bytes_max);
    if (t->url != NULL) {
        struct tool_http http = {.url = t->url,
            .headers = t->headers,
            .header_count = t->headers_count,
            .traceparent = trace};

        r = tool_http_call(&http, call->args, call->args_len, call->deadline_us,
            call->output_bytes_max, &call->cancelled, &answer, &failure, &err);
    } else {
        struct tool_exec exec = {.command = t->command,
            .command_count = t->command_count,
            .env = t->command_env,
            .env_count = t->command_env_count,
            .cwd = t->command_cwd,
            .traceparent = trace};

        r = tool_exec_call(&exec, call->args, call->args_len, call->deadline_us,
            call->output_bytes_max, &call->cancelled, &answer, &failure, &err);
    }
    pass_on(call, r, &answer, &failure, &err);
    buf_release(&answer);
    tool_failure_release(&failure);
}

/* In a thread of the pool. */
static void work(void *user)
{
    struct call *call = user;

    if (__atomic_load_n(&call->cancelled, __ATOMIC_RELAXED) == 0) {
        if (call->tool->spec.call != NULL) {
            call_function(call);
        } else {
            call_outside(call);
        }
    }
    call_let_go(call);
}

static void drop(void *user)
{
    call_let_go(user);
}

struct workers *calls_workers(struct call_table *table, struct vial_error *err)
{
    struct workers *workers = NULL;

    (void)pthread_mutex_lock(&table->lock);
    if (table->workers == NULL &&
        workers_new(table->threads_max, JOBS_MAX, &table->workers, err) < 0) {
        table->workers = NULL;
    }
    workers = table->workers;
    (void)pthread_mutex_unlock(&table->lock);
    return workers;
}

void call_do(struct call *call)
{
    struct vial_error err = {.code = 0};
    struct vial_error ignored;
    struct workers *workers;

    if (call->tool->spec.call != NULL && (call->tool->spec.flags & VIAL_TOOL_INLINE) != 0) {
        call_function(call);
        call_let_go(call);
        return;
    }
    workers = calls_workers(&call->engine->calls, &err);
    if (workers == NULL || workers_run(workers, work, drop, call, &err) < 0) {
        (void)!vial_call_fail(call->engine, call->id, "Error", err.text, NULL, &ignored);
        call_let_go(call);
    }
}
