/* session.c - see session.h: sessions and the table of them. */
#include "http/session.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "http/envs.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"

enum {
    ENDED_US = 600 * 1000 * 1000, /* so long after its end it can still be asked why it ended */
    ENDED_MAX = 10000,
};

/* The evaluation that this thread waits for: whom its calls belong to. Branches share their tools,
 * so the tool itself cannot know. */
static _Thread_local struct run *evaluating;

/* ---- what a family shares ---- */

struct session_base *session_base_ref(struct session_base *base)
{
    (void)__atomic_add_fetch(&base->refs, 1, __ATOMIC_RELAXED);
    return base;
}

void session_base_unref(struct session_base *base)
{
    if (base != NULL && __atomic_sub_fetch(&base->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        envs_release(base->server, base->env);
        run_spec_release(&base->spec);
        free(base->tools);
        free(base);
    }
}

void session_call_tool(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    if (evaluating == NULL) {
        (void)!vial_call_fail(
            engine, call->id, "ToolError", "nobody answers this tool", NULL, NULL);
        return;
    }
    run_call_tool(engine, call, evaluating);
}

/* ---- the table ---- */

static size_t bucket_of(const char *id)
{
    uint32_t h = 2166136261U;

    for (; *id != '\0'; id++) {
        h = (h ^ (unsigned char)*id) * 16777619U;
    }
    return h % SESSION_BUCKETS;
}

int sessions_new(struct server *server, struct sessions **ret, struct vial_error *err)
{
    struct sessions *sessions = calloc(1, sizeof(*sessions));

    if (sessions == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for sessions");
    }
    sessions->server = server;
    *ret = sessions;
    return VIAL_OK;
}

static void leave_table(struct sessions *sessions, struct session *s)
{
    struct session **at = &sessions->buckets[bucket_of(s->id)];

    while (*at != s) {
        at = &(*at)->in_bucket;
    }
    *at = s->in_bucket;
    *(s->previous != NULL ? &s->previous->next : &sessions->first) = s->next;
    if (s->next != NULL) {
        s->next->previous = s->previous;
    }
    sessions->count--;
    session_unref(s);
}

void sessions_free(struct sessions *sessions)
{
    if (sessions == NULL) {
        return;
    }
    while (sessions->first != NULL) {
        session_end(sessions->first, "the server has stopped");
        leave_table(sessions, sessions->first);
    }
    free(sessions);
}

struct session *session_add(struct server *server, const struct caller *caller,
    struct session_base *base, struct vial_session *handle, const struct session *parent)
{
    struct sessions *sessions = server->sessions;
    struct session *s = calloc(1, sizeof(*s));
    size_t b;

    if (s == NULL) {
        return NULL;
    }
    s->created_us = id_now_us();
    s->client = client_get(&server->clients, caller);
    if (id_make(SESSION_PREFIX, s->created_us, s->id, NULL) < 0 || s->client == NULL) {
        free(s);
        return NULL;
    }
    s->client->refs++;
    quota_begin_session(&s->client->used);
    s->server = server;
    s->base = session_base_ref(base);
    (void)snprintf(s->environment, sizeof(s->environment), "%s", base->environment);
    s->language = base->language;
    s->file_evals = parent != NULL ? parent->file_evals : 0; /* the library counts on, too */
    s->handle = handle;
    s->refs = 1;
    (void)snprintf(s->key, sizeof(s->key), "%s", caller->id);
    (void)snprintf(s->parent, sizeof(s->parent), "%s", parent != NULL ? parent->id : "");
    (void)snprintf(s->name, sizeof(s->name), "%s",
        base->spec.request.name != NULL ? base->spec.request.name : "");
    b = bucket_of(s->id);
    s->in_bucket = sessions->buckets[b];
    sessions->buckets[b] = s;
    s->next = sessions->first;
    if (s->next != NULL) {
        s->next->previous = s;
    }
    sessions->first = s;
    sessions->count++;
    sessions->live++;
    return s;
}

struct session *session_ref(struct session *session)
{
    session->refs++;
    return session;
}

void session_unref(struct session *session)
{
    if (session == NULL || --session->refs > 0) {
        return;
    }
    assert(session->client == NULL);
    vial_session_free(session->handle);
    session_base_unref(session->base);
    free(session);
}

void session_end(struct session *s, const char *reason)
{
    struct audit_record record = {.kind = AUDIT_SESSION,
        .what = "end",
        .session = s->id,
        .detail = reason,
        .key = s->key[0] != '\0' ? s->key : NULL};

    if (s->client == NULL) {
        return;
    }
    (void)snprintf(s->ended, sizeof(s->ended), "%s", reason);
    s->ended_at_us = clock_now_us();
    quota_end_session(&s->client->used);
    s->client->refs--;
    s->client = NULL;
    s->server->sessions->live--;
    if (s->handle != NULL) {
        vial_session_end(s->handle);
    }
    (void)!server_record(s->server, &record, NULL);
}

const char *session_id(const struct session *session)
{
    return session->id;
}

const char *session_environment(const struct session *session)
{
    return session->environment;
}

size_t sessions_count(const struct server *server)
{
    return server->sessions->live;
}

void sessions_tick(struct server *server, uint64_t now_us)
{
    struct session *s, *next;

    for (s = server->sessions->first; s != NULL; s = next) {
        struct vial_session_info info = VIAL_SESSION_INFO_INIT;

        next = s->next;
        if (s->client != NULL && s->run == NULL && !s->is_busy) {
            vial_session_info(s->handle, &info);
            if (info.state == VIAL_SESSION_ENDED) {
                session_end(s, info.ended);
            }
        }
        if (s->client == NULL && s->run == NULL && !s->is_busy && s->handle != NULL) {
            vial_session_free(s->handle);
            s->handle = NULL;
            session_base_unref(s->base); /* its environment may be deleted from now on */
            s->base = NULL;
        }
        if (s->client == NULL && s->handle == NULL &&
            (now_us > s->ended_at_us + ENDED_US || server->sessions->count > ENDED_MAX)) {
            leave_table(server->sessions, s);
        }
    }
}

/* ---- finding ---- */

struct session *session_of_any(struct exchange *x)
{
    struct session *s = x->server->sessions->buckets[bucket_of(x->params[0])];

    while (s != NULL && strcmp(s->id, x->params[0]) != 0) {
        s = s->in_bucket;
    }
    if (s == NULL || !runs_may_see(x, s->key)) {
        answer_problem(x, PROBLEM_NOT_FOUND, "there is no such session");
        return NULL;
    }
    return s;
}

struct session *session_of(struct exchange *x)
{
    struct session *s = session_of_any(x);

    if (s == NULL) {
        return NULL;
    }
    if (s->client == NULL) {
        answer_problem(x, PROBLEM_ENDED, "the session has ended: %s", s->ended);
        return NULL;
    }
    if (s->run != NULL || s->is_busy) {
        answer_problem(x, PROBLEM_BUSY, "the session does something else at the moment");
        return NULL;
    }
    return s;
}

int session_describe(struct session *s, struct buf *out)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;
    struct json_writer w;
    char at[RUN_TIME_BYTES];

    if (s->handle != NULL) {
        vial_session_info(s->handle, &info);
    }
    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "id");
    json_text(&w, s->id);
    json_key(&w, "name");
    json_text(&w, s->name[0] != '\0' ? s->name : NULL);
    json_key(&w, "parent");
    json_text(&w, s->parent[0] != '\0' ? s->parent : NULL);
    json_key(&w, "state");
    json_text(&w, s->client == NULL ? "ended" : s->run != NULL || s->is_busy ? "busy" : "idle");
    json_key(&w, "ended");
    json_text(&w, s->client == NULL ? s->ended : NULL);
    json_key(&w, "language");
    json_text(&w, s->language == VIAL_LANGUAGE_PYTHON       ? "python"
                  : s->language == VIAL_LANGUAGE_TYPESCRIPT ? "typescript"
                                                            : "javascript");
    json_key(&w, "environment");
    json_text(&w, s->environment[0] != '\0' ? s->environment : NULL);
    run_time_text(s->created_us, at);
    json_key(&w, "created_at");
    json_text(&w, at);
    json_key(&w, "evals");
    json_u64(&w, info.eval_count > s->file_evals ? info.eval_count - s->file_evals : 0);
    json_key(&w, "branches");
    json_u64(&w, info.branch_count);
    json_key(&w, "memory_bytes");
    json_u64(&w, info.memory_bytes);
    json_key(&w, "files");
    json_u64(&w, info.file_count);
    json_key(&w, "file_bytes");
    json_u64(&w, info.file_bytes);
    json_end_object(&w);
    return json_finish(&w);
}

/* ---- evaluating ---- */

int session_eval(struct session *session, struct run *run)
{
    int r;

    evaluating = run;
    r = vial_session_eval(session->handle, &run->spec.request, &run->result, &run->err);
    evaluating = NULL;
    (void)snprintf(run->environment, sizeof(run->environment), "%s", session->environment);
    return r;
}

void session_cancel(struct session *session)
{
    vial_session_cancel(session->handle);
}
