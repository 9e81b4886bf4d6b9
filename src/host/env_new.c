/* env_new.c - makes environments out of documents, and ends them; see vial.h and env.h. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "host/catalog.h"
#include "host/env.h"
#include "host/mounts.h"
#include "host/place.h"
#include "host/session.h"

enum {
    CALLS_END_TRIES = 200, /* two seconds in all */
    CALLS_END_PAUSE_US = 10 * 1000,
};

/* What a tool does that the document leaves to the host, when the host has no function for it. */
static void tool_is_missing(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct vial_error ignored;

    (void)user;
    (void)!vial_call_fail(engine, call->id, "Error",
        "the host program has no function for this tool", NULL, &ignored);
}

/* One of the document's tools as vial.h has it. */
static struct vial_tool spec_of(const struct document_tool *t)
{
    return (struct vial_tool){.size = sizeof(struct vial_tool),
        .mode = t->sync ? VIAL_TOOL_SYNC : VIAL_TOOL_ASYNC,
        .name = t->name,
        .description = t->description,
        .input_schema = t->input,
        .output_schema = t->output,
        .call = t->executor == DOCUMENT_BY_HOST ? tool_is_missing : NULL,
        .url = t->url,
        .headers = t->headers.items,
        .headers_count = t->headers.count,
        .command = t->command.items,
        .command_count = t->command.count,
        .command_env = t->exec_env.items,
        .command_env_count = t->exec_env.count,
        .command_cwd = t->exec_cwd,
        .flags = t->approve ? VIAL_TOOL_APPROVE : 0,
        .timeout_ms_max = t->timeout_ms,
        .calls_max = t->calls_max,
        .concurrency_max = t->concurrency_max,
        .input_bytes_max = t->input_bytes_max,
        .output_bytes_max = t->output_bytes_max};
}

/* The number of the document's tool that a function of the caller is for; -1 when there is none. */
static ptrdiff_t find_host_tool(const struct document *d, const char *name)
{
    size_t i;

    for (i = 0; name != NULL && i < d->tools_count; i++) {
        if (strcmp(d->tools[i].name, name) == 0) {
            return d->tools[i].executor == DOCUMENT_BY_HOST ? (ptrdiff_t)i : -1;
        }
    }
    return -1;
}

/* The document's tools as vial.h has them. Those that programs may not call are there, too: a call
 * of one says which rule refused it. What is left to the host gets its functions from the caller's
 * tools. */
static int fill_tools(
    struct vial_env *env, const struct vial_tool *given, size_t count, struct vial_error *err)
{
    const struct document *d = env->document;
    struct vial_tool one;
    size_t i;

    env->specs = calloc(d->tools_count + 1, sizeof(*env->specs));
    if (env->specs == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an environment");
    }
    for (i = 0; i < d->tools_count; i++) {
        env->specs[i] = spec_of(&d->tools[i]);
    }
    for (i = 0; i < count; i++) {
        ptrdiff_t at = -1;

        if (tool_given(given, i, &one, err) < 0) {
            return VIAL_E_INVALID;
        }
        at = find_host_tool(d, one.name);
        if (at < 0 || one.call == NULL) {
            return vial__fail(err, VIAL_E_INVALID,
                "the environment %s declares no tool %s that a function could do", d->name,
                one.name != NULL ? one.name : "without a name");
        }
        env->specs[at].call = one.call;
        env->specs[at].user = one.user;
        env->specs[at].flags |=
            one.flags & (VIAL_TOOL_INLINE | VIAL_TOOL_VALUES | VIAL_TOOL_MODULES);
    }
    return d->tools_count > 0 ? tool_set_new(env->specs, d->tools_count, &env->tools, err)
                              : VIAL_OK;
}

/* The defaults of the globals as one object. */
static int fill_globals(struct vial_env *env, struct vial_error *err)
{
    const struct document *d = env->document;
    struct json_writer w;
    struct buf out;
    size_t i, len;
    int r;

    if (d->globals_count == 0) {
        return VIAL_OK;
    }
    buf_init(&out, (size_t)2 * DOCUMENT_BYTES_MAX);
    json_init(&w, &out, err);
    json_begin_object(&w);
    for (i = 0; i < d->globals_count; i++) {
        json_key(&w, d->globals[i].name);
        json_raw(&w, d->globals[i].json, strlen(d->globals[i].json));
    }
    json_end_object(&w);
    r = json_finish(&w);
    r = r < 0 ? r : buf_take(&out, &env->defaults, &len, err);
    buf_release(&out);
    return r;
}

int vial_env_new(struct vial_engine *engine, const char *document, size_t len,
    const struct vial_tool *tools, size_t tools_count, struct vial_env **ret,
    struct vial_error *err)
{
    struct vial_env *env;
    struct buf report;
    int r;

    if (engine == NULL || document == NULL || ret == NULL || (tools == NULL && tools_count > 0)) {
        return vial__fail(err, VIAL_E_INVALID, "an environment needs an engine and a document");
    }
    env = calloc(1, sizeof(*env));
    if (env == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an environment");
    }
    env->engine = engine;
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    r = catalog_parse(document, len, &env->document, &report, err);
    buf_release(&report);
    r = r < 0 ? r : fill_tools(env, tools, tools_count, err);
    r = r < 0 ? r : fill_globals(env, err);
    r = r < 0 ? r : mounts_open(env->document, &env->mounts, err);
    (void)pthread_mutex_lock(&engine->lock);
    env->next = engine->envs;
    engine->envs = env;
    (void)pthread_mutex_unlock(&engine->lock);
    if (r < 0) {
        vial_env_free(env);
        return r;
    }
    *ret = env;
    return VIAL_OK;
}

/* Calls that were cancelled end soon. 1 when nobody but us has the tools any more. */
static int await_calls(const struct tool_set *tools)
{
    unsigned i;

    for (i = 0; __atomic_load_n(&tools->references, __ATOMIC_ACQUIRE) > 1; i++) {
        if (i == CALLS_END_TRIES) {
            return 0;
        }
        (void)usleep(CALLS_END_PAUSE_US);
    }
    return 1;
}

void vial_env_free(struct vial_env *env)
{
    struct vial_session *origin;
    struct vial_env **p;

    if (env == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&env->engine->lock);
    origin = env_put_down(env);
    for (p = &env->engine->envs; *p != NULL && *p != env; p = &(*p)->next) {
    }
    if (*p == env) {
        *p = env->next;
    }
    place_forget_env(env->engine, env);
    (void)pthread_mutex_unlock(&env->engine->lock);
    vial_session_free(origin);
    if (env->tools != NULL && !await_calls(env->tools)) {
        return; /* a function that never returns may still look at it: better lost than used */
    }
    tool_set_unref(env->tools);
    mounts_free(env->mounts);
    free(env->specs);
    free(env->defaults);
    document_free(env->document);
    free(env);
}

int vial_env_check(const char *document, size_t len, char **ret, struct vial_error *err)
{
    struct document *parsed = NULL;
    struct buf report;
    size_t report_len;
    int r;

    if (document == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "there is no document to check");
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    r = catalog_parse(document, len, &parsed, &report, err);
    document_free(parsed);
    if (r == VIAL_OK || r == VIAL_E_INVALID) {
        r = buf_take(&report, ret, &report_len, err);
    }
    buf_release(&report);
    return r;
}

void vial_text_free(char *text)
{
    free(text);
}
