/* sessions.c - /v1/sessions: making, evaluating, branching, ending. */
#include "http/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "http/envs.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"
#include "http/session.h"

enum { TEXT_BYTES_MAX = 1 << 20, LIST_BYTES_MAX = 32 << 20, BRANCHES_MAX = 16 };

/* Something that is done with a session in a thread beside the loop. */
struct work {
    struct job job;
    struct loop_post post;
    struct exchange *x;
    struct session *session; /* a reference, or NULL when it is to be made */
    struct session_base *base;
    struct vial_session *made[BRANCHES_MAX];
    size_t count;
    struct caller caller;
    uint32_t idle_ms, life_ms;
    char *text;
    int r;
    struct vial_error err;
};

static void answer_session(struct exchange *x, unsigned status, struct session *s)
{
    struct buf out;

    buf_init(&out, TEXT_BYTES_MAX);
    if (session_describe(s, &out) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, status, &out);
    }
    buf_release(&out);
}

/* ---- making ---- */

static int ask_quota(struct exchange *x, uint32_t count)
{
    struct client *client = client_get(&x->server->clients, &x->caller);
    struct quota_answer answer;

    if (client == NULL) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    answer = quota_ask_session(&client->quota, &client->used);
    if (answer.verdict != QUOTA_YES || answer.used + count > answer.limit) {
        answer_header(x, "Retry-After", "5");
        answer_problem(x, PROBLEM_QUOTA, "the key may have %llu sessions, and has %llu",
            (unsigned long long)client->quota.sessions, (unsigned long long)client->used.sessions);
        return -1;
    }
    return 0;
}

static int give_tools(struct session_base *base, struct vial_error *err)
{
    const struct document *doc = base->env != NULL ? base->env->document : NULL;
    size_t max = base->spec.tools_count + (doc != NULL ? doc->tools_count : 0), count = 0, i;

    base->tools = calloc(max + 1, sizeof(*base->tools));
    if (base->tools == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for tools");
    }
    for (i = 0; i < base->spec.tools_count; i++) {
        base->tools[count] = base->spec.tools[i];
        base->tools[count++].call = session_call_tool;
    }
    for (i = 0; doc != NULL && i < doc->tools_count && base->spec.tools_count == 0; i++) {
        if (doc->tools[i].executor == DOCUMENT_BY_HOST) {
            base->tools[count] = (struct vial_tool)VIAL_TOOL_INIT;
            base->tools[count].name = doc->tools[i].name;
            base->tools[count].flags = VIAL_TOOL_INLINE;
            base->tools[count++].call = session_call_tool;
        }
    }
    base->spec.request.tools = base->tools;
    base->spec.request.tools_count = count;
    return VIAL_OK;
}

static int make(struct work *w)
{
    struct session_base *base = w->base;
    const struct vial_request *q = &base->spec.request;
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    int r = VIAL_OK;

    if (base->spec.environment != NULL) {
        r = envs_acquire(base->server, base->spec.environment, &base->env, &w->err);
        if (r < 0) {
            return r;
        }
        (void)snprintf(base->environment, sizeof(base->environment), "%s@%u", base->env->name,
            base->env->version);
        o.environment = base->env->env;
        base->language = base->env->document->language;
    } else {
        base->language = q->language;
    }
    r = give_tools(base, &w->err);
    if (r < 0) {
        return r;
    }
    o.idle_ms_max = w->idle_ms;
    o.life_ms_max = w->life_ms;
    o.language = q->language;
    o.limits = &base->spec.limits;
    o.name = q->name;
    o.tools = q->tools;
    o.tools_count = q->tools_count;
    o.globals = q->globals;
    o.globals_len = q->globals_len;
    o.modules = q->modules;
    o.module_count = q->module_count;
    o.files = q->files;
    o.files_count = q->files_count;
    o.env = q->env;
    o.env_count = q->env_count;
    o.permissions = q->permissions;
    o.permissions_len = q->permissions_len;
    w->count = 1;
    return vial_session_new(base->server->engine, &o, &w->made[0], &w->err);
}

static void fail(struct exchange *x, const struct vial_error *err)
{
    if (err->code == VIAL_E_BUSY) {
        answer_problem(x, PROBLEM_OVERLOADED, "%s", err->text);
    } else {
        answer_error(x, err);
    }
}

static void record(struct session *s, const char *what)
{
    struct audit_record r = {.kind = AUDIT_SESSION,
        .what = what,
        .session = s->id,
        .environment = s->environment[0] != '\0' ? s->environment : NULL,
        .key = s->key[0] != '\0' ? s->key : NULL};

    (void)!server_record(s->server, &r, NULL);
}

static void finish_make(struct loop_post *post)
{
    struct work *w = (struct work *)((char *)post - offsetof(struct work, post));
    struct session *s = NULL;

    if (w->r < 0) {
        fail(w->x, &w->err);
    } else {
        s = session_add(w->x->server, &w->caller, w->base, w->made[0], NULL);
        if (s == NULL) {
            vial_session_free(w->made[0]);
            answer_problem(w->x, PROBLEM_INTERNAL, "out of memory");
        } else {
            record(s, "begin");
            answer_session(w->x, 201, s);
            answer_header(w->x, "Location", "/v1/sessions/%s", s->id);
        }
    }
    session_base_unref(w->base);
    exchange_wake(w->x);
    free(w);
}

static void do_make(struct job *job)
{
    struct work *w = (struct work *)job;

    w->r = make(w);
    w->post.run = finish_make;
    loop_post(&w->x->server->loop, &w->post);
}

/* Has the work done beside the loop; on failure the answer is filled in and w is the caller's. */
static int begin(struct work *w, void (*work)(struct job *job))
{
    w->job.work = work;
    if (jobs_add(w->x->server->side, &w->job) < 0) {
        answer_problem(w->x, PROBLEM_OVERLOADED, "too many requests wait for the disk");
        return -1;
    }
    exchange_wait(w->x);
    return 0;
}

static uint32_t seconds_of(const struct run_spec *spec, const char *name)
{
    uint32_t at = tree_member(&spec->tree, 0, name);

    return at != 0 ? (uint32_t)strtoul(spec->tree.values[at].text, NULL, 10) * 1000U : 0;
}

void sessions_create(struct exchange *x)
{
    struct work *w = calloc(1, sizeof(*w));
    struct session_base *base = calloc(1, sizeof(*base));

    if (w == NULL || base == NULL) {
        free(w);
        free(base);
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    base->server = x->server;
    base->refs = 1;
    w->x = x;
    w->base = base;
    w->caller = x->caller;
    if (x->server->is_stopping) {
        answer_problem(x, PROBLEM_STOPPING, "the server is stopping and begins nothing new");
    } else if (runs_take_spec(&base->spec, x, "SessionRequest") == 0 && ask_quota(x, 1) == 0) {
        w->idle_ms = seconds_of(&base->spec, "idle_s");
        w->life_ms = seconds_of(&base->spec, "life_s");
        if (begin(w, do_make) == 0) {
            return;
        }
    }
    session_base_unref(base);
    free(w);
}

/* ---- reading ---- */

void sessions_list(struct exchange *x)
{
    struct session *s;
    struct buf out;
    int r, first = 1;

    buf_init(&out, LIST_BYTES_MAX);
    r = buf_add_text(&out, "{\"items\":[", NULL);
    for (s = x->server->sessions->first; s != NULL && r == 0; s = s->next) {
        if (runs_may_see(x, s->key)) {
            r = first ? 0 : buf_add_text(&out, ",", NULL);
            r = r < 0 ? r : session_describe(s, &out);
            first = 0;
        }
    }
    r = r < 0 ? r : buf_add_text(&out, "],\"next_cursor\":null}", NULL);
    if (r < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 200, &out);
    }
    buf_release(&out);
}

void sessions_get(struct exchange *x)
{
    struct session *s = session_of_any(x);

    if (s != NULL) {
        answer_session(x, 200, s);
    }
}

/* ---- evaluating ---- */

static void on_eval_end(struct run *run, void *user)
{
    struct session *s = user;
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;

    s->run = NULL;
    vial_session_info(s->handle, &info);
    if (info.state == VIAL_SESSION_ENDED) {
        session_end(s, info.ended);
    }
    (void)run;
}

static void session_run(struct session *s, struct exchange *x, struct run *run, int is_stream)
{
    run->session = session_ref(s);
    run->wants_events = is_stream;
    run->on_end = on_eval_end;
    run->on_end_user = s;
    s->run = run;
    if (run_submit(run, x) < 0) {
        s->run = NULL;
    }
}

static void on_waiter_gone(struct exchange *x)
{
    run_cancel(x->user, "client_gone");
}

void sessions_eval(struct exchange *x)
{
    struct session *s = session_of(x);
    const char *accept = exchange_header(x, "Accept");
    struct vial_error err;
    struct run *run = s != NULL ? run_new(x->server, &x->caller, &err) : NULL;
    int is_stream;

    if (run == NULL) {
        if (s != NULL) {
            answer_error(x, &err);
        }
        return;
    }
    if (runs_take_body(run, x, "EvalRequest") == 0) {
        runs_note_client(run, x);
        is_stream = run->spec.stream ||
                    (accept != NULL && (strstr(accept, "application/x-ndjson") != NULL ||
                                           strstr(accept, "text/event-stream") != NULL));
        session_run(s, x, run, is_stream);
        if (s->run == run && is_stream) {
            if (stream_open(x, run, 0, 1) < 0) {
                run_cancel(run, "server_failed");
                answer_problem(x, PROBLEM_INTERNAL, "out of memory");
            }
        } else if (s->run == run) {
            run->waiter = x;
            x->user = run;
            x->on_gone = on_waiter_gone;
            exchange_wait(x);
        }
    }
    run_unref(run);
}

/* ---- branching ---- */

static void finish_branch(struct loop_post *post)
{
    struct work *w = (struct work *)((char *)post - offsetof(struct work, post));
    struct exchange *x = w->x;
    struct buf out;
    size_t i;
    int r;

    w->session->is_busy = 0;
    if (w->r < 0) {
        fail(x, &w->err);
    } else {
        buf_init(&out, LIST_BYTES_MAX);
        r = buf_add_text(&out, "{\"items\":[", NULL);
        for (i = 0; i < w->count; i++) {
            struct session *s =
                session_add(x->server, &w->caller, w->session->base, w->made[i], w->session);

            if (s == NULL) {
                vial_session_free(w->made[i]);
                r = -1;
                continue;
            }
            record(s, "branch");
            r = r < 0 || i == 0 ? r : buf_add_text(&out, ",", NULL);
            r = r < 0 ? r : session_describe(s, &out);
        }
        r = r < 0 ? r : buf_add_text(&out, "],\"next_cursor\":null}", NULL);
        if (r < 0) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        } else {
            answer_json(x, 201, &out);
        }
        buf_release(&out);
    }
    session_unref(w->session);
    exchange_wake(x);
    free(w);
}

static void do_branch(struct job *job)
{
    struct work *w = (struct work *)job;

    w->r = vial_session_branch(w->session->handle, w->count, w->made, &w->err);
    w->post.run = finish_branch;
    loop_post(&w->x->server->loop, &w->post);
}

static size_t count_of(const struct exchange *x)
{
    struct tree t;
    uint32_t at;
    size_t count = 1;

    if (tree_read(&t, x->body.data, x->body.len, NULL) == 0) {
        at = tree_member(&t, 0, "count");
        count = at != 0 ? strtoul(t.values[at].text, NULL, 10) : 1;
        tree_release(&t);
    }
    return count;
}

void sessions_branch(struct exchange *x)
{
    struct session *s = session_of(x);
    struct work *w = s != NULL ? calloc(1, sizeof(*w)) : NULL;

    if (w == NULL) {
        if (s != NULL) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        }
        return;
    }
    w->x = x;
    w->caller = x->caller;
    w->count = count_of(x);
    w->session = session_ref(s);
    s->is_busy = 1;
    if (ask_quota(x, (uint32_t)w->count) < 0 || begin(w, do_branch) < 0) {
        s->is_busy = 0;
        session_unref(s);
        free(w);
    }
}

/* ---- names ---- */

static void finish_complete(struct loop_post *post)
{
    struct work *w = (struct work *)((char *)post - offsetof(struct work, post));
    struct buf out;

    w->session->is_busy = 0;
    if (w->r < 0) {
        fail(w->x, &w->err);
    } else {
        buf_init(&out, strlen(w->text) + 64);
        if (buf_add_text(&out, "{\"names\":", NULL) < 0 || buf_add_text(&out, w->text, NULL) < 0 ||
            buf_add_text(&out, "}", NULL) < 0) {
            answer_problem(w->x, PROBLEM_INTERNAL, "out of memory");
        } else {
            answer_json(w->x, 200, &out);
        }
        buf_release(&out);
        vial_text_free(w->text);
    }
    session_unref(w->session);
    exchange_wake(w->x);
    free(w);
}

static void do_complete(struct job *job)
{
    struct work *w = (struct work *)job;
    struct tree t;
    uint32_t at;

    w->r = tree_read(&t, w->x->body.data, w->x->body.len, &w->err);
    if (w->r == 0) {
        at = tree_member(&t, 0, "text");
        w->r = vial_session_complete(
            w->session->handle, t.values[at].text, t.values[at].len, &w->text, &w->err);
        tree_release(&t);
    }
    w->post.run = finish_complete;
    loop_post(&w->x->server->loop, &w->post);
}

void sessions_complete(struct exchange *x)
{
    struct session *s = session_of(x);
    struct work *w = s != NULL ? calloc(1, sizeof(*w)) : NULL;

    if (w != NULL) {
        w->x = x;
        w->session = session_ref(s);
        s->is_busy = 1;
        if (begin(w, do_complete) == 0) {
            return;
        }
        s->is_busy = 0;
        session_unref(s);
        free(w);
    }
}

/* ---- ending ---- */

void sessions_delete(struct exchange *x)
{
    struct session *s = session_of_any(x);

    if (s == NULL) {
        return;
    }
    if (s->client == NULL) {
        answer_problem(x, PROBLEM_ENDED, "the session has ended: %s", s->ended);
        return;
    }
    if (s->run != NULL) {
        run_cancel(s->run, "session_ended");
    }
    session_end(s, "it was ended by its client");
    answer_session(x, 200, s);
}
