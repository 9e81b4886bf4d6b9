/* handles.c - engines, environments and sessions, each as long as anything needs it. */
#include "binding.h"

#include <stdlib.h>

struct block {
    struct block *next;
    _Alignas(16) char bytes[];
};

static const napi_type_tag tag = {0x7669616c2d6e6f64ULL, 0x652d68616e646c65ULL};

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof(*a));

    if (a != NULL) {
        a->refs = 1;
    }
    return a;
}

struct arena *arena_take(struct arena *a)
{
    if (a != NULL) {
        __atomic_add_fetch(&a->refs, 1, __ATOMIC_SEQ_CST);
    }
    return a;
}

void arena_drop(struct arena *a)
{
    if (a == NULL || __atomic_sub_fetch(&a->refs, 1, __ATOMIC_SEQ_CST) > 0) {
        return;
    }
    while (a->blocks != NULL) {
        struct block *b = a->blocks;

        a->blocks = b->next;
        free(b);
    }
    free(a);
}

void *arena_alloc(struct arena *a, size_t len)
{
    struct block *b = calloc(1, sizeof(*b) + len);

    if (b == NULL) {
        return NULL;
    }
    b->next = a->blocks;
    a->blocks = b;
    return b->bytes;
}

struct handle *handle_new(
    struct instance *in, enum handle_kind kind, void *object, struct handle *engine)
{
    struct handle *h = calloc(1, sizeof(*h));

    if (h == NULL) {
        return NULL;
    }
    h->instance = in;
    h->kind = kind;
    h->refs = 1;
    h->is.any = object;
    h->engine = engine != NULL ? handle_take(engine) : NULL;
    __atomic_add_fetch(&in->refs, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&in->lock);
    h->next = in->handles;
    if (h->next != NULL) {
        h->next->prev = h;
    }
    in->handles = h;
    pthread_mutex_unlock(&in->lock);
    return h;
}

struct handle *handle_take(struct handle *h)
{
    __atomic_add_fetch(&h->refs, 1, __ATOMIC_SEQ_CST);
    return h;
}

static void end_object(struct handle *h)
{
    if (h->is.any == NULL) {
        return;
    }
    switch (h->kind) {
    case HANDLE_ENGINE:
        vial_engine_free(h->is.engine);
        break;
    case HANDLE_ENVIRONMENT:
        vial_env_free(h->is.env);
        break;
    case HANDLE_SESSION:
        vial_session_free(h->is.session);
        break;
    }
    h->is.any = NULL;
}

void handle_drop(struct handle *h)
{
    struct instance *in;

    if (h == NULL || __atomic_sub_fetch(&h->refs, 1, __ATOMIC_SEQ_CST) > 0) {
        return;
    }
    in = h->instance;
    pthread_mutex_lock(&in->lock);
    if (h->prev != NULL) {
        h->prev->next = h->next;
    } else {
        in->handles = h->next;
    }
    if (h->next != NULL) {
        h->next->prev = h->prev;
    }
    pthread_mutex_unlock(&in->lock);
    end_object(h);
    handle_drop(h->environment);
    handle_drop(h->engine);
    arena_drop(h->arena);
    free(h);
    instance_drop(in);
}

void handles_end(struct instance *in)
{
    for (int kind = HANDLE_SESSION; kind >= HANDLE_ENGINE; kind--) {
        for (struct handle *h = in->handles; h != NULL; h = h->next) {
            if ((int)h->kind == kind) {
                end_object(h);
            }
        }
    }
}

struct handle *handle_of(napi_env env, napi_value value, enum handle_kind kind)
{
    static const char *const problems[] = {"", "this must be an engine of vial",
        "this must be an environment of vial", "this must be a session of vial"};
    napi_valuetype type = napi_undefined;
    bool is_ours = false;
    void *data = NULL;
    struct handle *h;

    if (napi_typeof(env, value, &type) != napi_ok || type != napi_object ||
        napi_check_object_type_tag(env, value, &tag, &is_ours) != napi_ok || !is_ours) {
        napi_throw_type_error(env, NULL, problems[kind]);
        return NULL;
    }
    h = napi_unwrap(env, value, &data) == napi_ok ? data : NULL;
    if (h == NULL || h->is.any == NULL) {
        napi_throw_error(env, "VIAL_CLOSED", "it is closed");
        return NULL;
    }
    if (h->kind != kind) {
        napi_throw_type_error(env, NULL, problems[kind]);
        return NULL;
    }
    return h;
}

/* The collector has found that nobody uses it. Freeing can wait, so it is done elsewhere. */
static void collected(napi_env env, void *data, void *hint)
{
    struct handle *h = data;
    struct job *job;

    (void)env;
    (void)hint;
    if (__atomic_load_n(&h->refs, __ATOMIC_SEQ_CST) > 1 || h->is.any == NULL) {
        handle_drop(h);
        return;
    }
    job = calloc(1, sizeof(*job));
    if (job != NULL) {
        job->instance = h->instance;
        job->op = OP_CLOSE;
        job->target = h;
        if (job_submit(job, NULL) == 0) {
            return;
        }
        free(job);
    }
    handle_drop(h);
}

napi_value handle_value(napi_env env, struct handle *h)
{
    napi_value object = NULL;

    if (napi_create_object(env, &object) != napi_ok ||
        napi_type_tag_object(env, object, &tag) != napi_ok ||
        napi_wrap(env, object, h, collected, NULL, NULL) != napi_ok) {
        handle_drop(h);
        return NULL;
    }
    return object;
}
