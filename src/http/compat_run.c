/* compat_run.c - programs for environments of JSCodeSandbox.
 *
 * The implementation gets a session of its own for each program: Initialize, then one evaluation
 * for each endowment that is called, then Deinitialize. The program itself runs as any other, in
 * another cell, and its tools are these evaluations. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "http/compat.h"
#include "http/compat_check.h"
#include "http/compat_inside.h"
#include "http/envs.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"

enum {
    LINGER_US = 5 * 1000 * 1000, /* a call that was begun late may still look at its provider */
    SOURCE_BYTES_MAX = 16 << 20,
    RESULT_BYTES_MAX = 256 << 20,
};

/* The implementation at work for one program. */
struct provider {
    struct provider *next; /* of those that are over */
    struct server *server;
    pthread_mutex_t lock; /* one evaluation at a time */
    struct vial_session *session;
    struct env_entry *env;
    struct vial_tool *tools;
    int in_flight; /* atomic */
    int is_over;   /* under lock */
    uint64_t over_us;
    char name[COMPAT_ENV_BYTES + 16];
    char *agent;
};

struct compat {
    pthread_mutex_t lock;
    struct provider *over; /* to be freed when nobody looks at them any more */
};

int compat_new(struct server *server, struct compat **ret, struct vial_error *err)
{
    struct compat *compat = calloc(1, sizeof(*compat));

    (void)server;
    if (compat == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory");
    }
    (void)pthread_mutex_init(&compat->lock, NULL);
    *ret = compat;
    return VIAL_OK;
}

static void provider_free(struct provider *p)
{
    (void)pthread_mutex_destroy(&p->lock);
    free(p->tools);
    free(p->agent);
    free(p);
}

/* Frees those that have been over for a while. */
static void sweep(struct compat *compat, int all)
{
    struct provider **at, *p;
    uint64_t now = clock_now_us();

    (void)pthread_mutex_lock(&compat->lock);
    at = &compat->over;
    while ((p = *at) != NULL) {
        if (all || (now - p->over_us > LINGER_US &&
                       __atomic_load_n(&p->in_flight, __ATOMIC_SEQ_CST) == 0)) {
            *at = p->next;
            provider_free(p);
        } else {
            at = &p->next;
        }
    }
    (void)pthread_mutex_unlock(&compat->lock);
}

void compat_free(struct compat *compat)
{
    if (compat != NULL) {
        sweep(compat, 1);
        (void)pthread_mutex_destroy(&compat->lock);
        free(compat);
    }
}

/* ---- the implementation ---- */

/* Evaluates "name(arguments)"; the lock is held. The result belongs to the caller. */
static int evaluate(struct provider *p, const char *name, const char *arguments, size_t len,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct buf source;
    int r;

    buf_init(&source, SOURCE_BYTES_MAX);
    r = buf_add_text(&source, name, err);
    r = r < 0 ? r : buf_add_text(&source, "(", err);
    r = r < 0 || len == 0 ? r : buf_add(&source, arguments, len, err);
    r = r < 0 ? r : buf_add_text(&source, ")", err);
    if (r == VIAL_OK) {
        request.source = source.data;
        request.source_len = source.len;
        request.language = VIAL_LANGUAGE_JAVASCRIPT;
        request.name = name;
        r = vial_session_eval(p->session, &request, ret, err);
    }
    buf_release(&source);
    return r;
}

/* The same for what must go well: VIAL_E_INVALID with what it threw. */
static int perform(
    struct provider *p, const char *name, const char *arguments, size_t len, struct vial_error *err)
{
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct vial_result *result = NULL;
    int r = evaluate(p, name, arguments, len, &result, err);

    if (r == VIAL_OK && vial_result_status(result) != VIAL_STATUS_OK) {
        vial_result_error(result, &error);
        r = vial__fail(err, VIAL_E_INVALID, "%s failed: %s: %s", name,
            error.name != NULL ? error.name : "", error.message != NULL ? error.message : "");
    }
    vial_result_free(result);
    return r;
}

/* An endowment is called. In a thread of the engine. */
static void on_call(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct provider *p = user;
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};
    const char *value;
    size_t len = 0;
    int r = VIAL_E_GONE;

    (void)__atomic_add_fetch(&p->in_flight, 1, __ATOMIC_SEQ_CST);
    (void)pthread_mutex_lock(&p->lock);
    if (!p->is_over) {
        int is_nothing = call->args_len == 4 && memcmp(call->args, "null", 4) == 0;

        r = evaluate(p, call->name, is_nothing ? "" : call->args, is_nothing ? 0 : call->args_len,
            &result, &err);
    }
    (void)pthread_mutex_unlock(&p->lock);
    if (r < 0) {
        (void)!vial_call_fail(engine, call->id, "EndowmentError",
            err.code != 0 ? err.text : "the implementation has ended", NULL, NULL);
    } else if (vial_result_status(result) != VIAL_STATUS_OK) {
        vial_result_error(result, &error);
        (void)!vial_call_fail(engine, call->id, error.name != NULL ? error.name : "EndowmentError",
            error.message != NULL ? error.message : "", NULL, NULL);
    } else {
        value = vial_result_value(result, &len);
        (void)!vial_call_answer(engine, call->id, value, len, NULL);
    }
    vial_result_free(result);
    (void)__atomic_sub_fetch(&p->in_flight, 1, __ATOMIC_SEQ_CST);
}

static int initialize(struct provider *p, struct vial_error *err)
{
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    struct json_writer w;
    struct buf arguments;
    int r = envs_acquire(p->server, p->name, &p->env, err);

    if (r < 0) {
        return r;
    }
    o.environment = p->env->env;
    r = vial_session_new(p->server->engine, &o, &p->session, err);
    if (r < 0) {
        return r;
    }
    buf_init(&arguments, 1 << 16);
    json_init(&w, &arguments, err);
    json_text(&w, p->agent != NULL ? p->agent : "");
    r = json_finish(&w);
    r = r < 0 ? r : buf_add_text(&arguments, "," COMPAT_BACKENDS, err);
    r = r < 0 ? r : perform(p, "Initialize", arguments.data, arguments.len, err);
    buf_release(&arguments);
    return r;
}

/* ---- around the program, in its worker ---- */

static int before(struct run *run, struct vial_error *err)
{
    struct provider *p = run->around_user;
    const struct document *doc = run->env->document;
    size_t i;
    int r;

    sweep(run->server->compat, 0);
    r = initialize(p, err);
    p->tools = r == VIAL_OK ? calloc(doc->tools_count + 1, sizeof(*p->tools)) : NULL;
    if (r < 0 || p->tools == NULL) {
        return r < 0 ? r : vial__fail(err, VIAL_E_NOMEM, "no memory for tools");
    }
    for (i = 0; i < doc->tools_count; i++) {
        p->tools[i] = (struct vial_tool)VIAL_TOOL_INIT;
        p->tools[i].name = doc->tools[i].name;
        p->tools[i].call = on_call;
        p->tools[i].user = p;
    }
    run->spec.request.tools = p->tools;
    run->spec.request.tools_count = doc->tools_count;
    return VIAL_OK;
}

static void after(struct run *run)
{
    struct provider *p = run->around_user;
    struct compat *compat = run->server->compat;
    struct vial_error err;

    if (__atomic_load_n(&p->in_flight, __ATOMIC_SEQ_CST) > 0) {
        vial_session_cancel(p->session); /* nobody waits for that answer any more */
    }
    (void)pthread_mutex_lock(&p->lock);
    p->is_over = 1;
    if (p->session != NULL && run->was_begun_around) {
        (void)!perform(p, "Deinitialize", "", 0, &err);
    }
    vial_session_free(p->session);
    p->session = NULL;
    (void)pthread_mutex_unlock(&p->lock);
    envs_release(p->server, p->env);
    p->env = NULL;
    p->over_us = clock_now_us();
    (void)pthread_mutex_lock(&compat->lock);
    p->next = compat->over;
    compat->over = p;
    (void)pthread_mutex_unlock(&compat->lock);
}

/* ---- the request ---- */

static int put_value(struct json_writer *w, const struct run *run)
{
    struct vial_result_error error = VIAL_RESULT_ERROR_INIT;
    const char *value;
    size_t len = 0;
    struct tree t;
    int is_error =
        run->r < 0 || run->result == NULL || vial_result_status(run->result) != VIAL_STATUS_OK;

    json_key(w, "isError");
    json_bool(w, is_error);
    json_key(w, "executionResult");
    if (is_error && run->result == NULL) {
        json_text(w, run->r < 0 ? run->err.text : run->status);
    } else if (is_error) {
        vial_result_error(run->result, &error);
        json_text(w, error.message != NULL ? error.message : run->status);
    } else {
        value = vial_result_value(run->result, &len);
        if (value != NULL && value[0] == '"' && tree_read(&t, value, len, NULL) == 0) {
            json_write_string(w, t.values[0].text, t.values[0].len);
            tree_release(&t);
        } else {
            json_write_string(w, value != NULL ? value : "", len);
        }
    }
    return 0;
}

static void on_end(struct run *run, void *user)
{
    struct exchange *x = user;
    struct json_writer w;
    struct buf out;

    x->on_gone = NULL;
    buf_init(&out, RESULT_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    (void)put_value(&w, run);
    json_end_object(&w);
    if (run->r < 0 && run->problem != PROBLEM_INVALID) {
        answer_problem(x, run->problem, "%s", run->err.text);
    } else if (json_finish(&w) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 200, &out);
    }
    buf_release(&out);
    exchange_wake(x);
}

static void on_gone(struct exchange *x)
{
    run_cancel(x->user, "client_gone");
}

/* The store keeps the program: /api/Audit shows it. */
static void keep_code(struct run *run, const struct tree_value *code)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, RUN_REQUEST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "code");
    json_write_string(&w, code->text, code->len);
    json_end_object(&w);
    if (json_finish(&w) == 0) {
        (void)!buf_take(&out, &run->stored_request, &run->stored_request_len, NULL);
    }
    buf_release(&out);
}

/* Fills the run in: the program, its environment, its provider. 0, or -1 with an answer. */
static int fill(struct run *run, struct exchange *x, const struct tree *t, const char *name)
{
    uint32_t code = tree_member(t, 0, "code"), agent = tree_member(t, 0, "userAgentId");
    struct provider *p = calloc(1, sizeof(*p));
    const struct tree_value *v = &t->values[code];
    char *source = malloc(v->len + 1);

    run->spec.environment = run_spec_alloc(&run->spec, strlen(name) + 1);
    if (p == NULL || source == NULL || run->spec.environment == NULL) {
        free(p);
        free(source);
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return -1;
    }
    memcpy(run->spec.environment, name, strlen(name) + 1);
    memcpy(source, v->text, v->len);
    run->spec.body = source;
    run->spec.request.source = source;
    run->spec.request.source_len = v->len;
    (void)pthread_mutex_init(&p->lock, NULL);
    p->server = x->server;
    (void)snprintf(p->name, sizeof(p->name), "%s" COMPAT_INSIDE, name);
    if (agent != 0 && t->values[agent].kind == TREE_STRING) {
        p->agent = strndup(t->values[agent].text, t->values[agent].len);
        (void)snprintf(run->agent, sizeof(run->agent), "%s", p->agent != NULL ? p->agent : "");
        run->spec.agent = run->agent;
    }
    keep_code(run, v);
    run->before = before;
    run->after = after;
    run->around_user = p;
    return 0;
}

void compat_execute(struct exchange *x)
{
    char name[COMPAT_ENV_BYTES + 1];
    const char *given = x->params[0];
    size_t len = given != NULL ? strlen(given) : 0;
    struct vial_error err;
    struct run *run;
    struct tree t;
    uint32_t at;

    if (compat_body(x, given != NULL ? "CompatExecution" : "CompatExecute", &t) < 0) {
        return;
    }
    if (given == NULL) {
        at = tree_member(&t, 0, "environmentName");
        given = t.values[at].text;
        len = t.values[at].len;
    }
    at = tree_member(&t, 0, "code");
    run = NULL;
    if (compat_name(x, given, len, name) < 0) {
        /* answered */
    } else if (compat_check_program(t.values[at].text, t.values[at].len, &err) < 0) {
        compat_refuse(x, "InvalidCodeToRun", err.text);
    } else if ((run = run_new(x->server, &x->caller, &err)) == NULL) {
        answer_error(x, &err);
    } else if (fill(run, x, &t, name) == 0) {
        runs_note_client(run, x);
        run->on_end = on_end;
        run->on_end_user = x;
        if (run_submit(run, x) == 0) {
            x->user = run;
            x->on_gone = on_gone;
            exchange_wait(x);
        } else {
            provider_free(run->around_user);
        }
    }
    tree_release(&t);
    run_unref(run);
}
