/* addon.c - the functions that js/ calls, and the life of an environment of Node. */
#include "binding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ARGS_MAX = 5, CANCEL_MS = 20 };

static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static struct instance *instances;
static uint32_t last_id;

/* ---- instances ---- */

struct instance *instance_of(uint32_t id)
{
    struct instance *in;

    pthread_mutex_lock(&instances_lock);
    for (in = instances; in != NULL && in->id != id; in = in->next) {
    }
    if (in != NULL) {
        __atomic_add_fetch(&in->refs, 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&instances_lock);
    return in;
}

void instance_drop(struct instance *in)
{
    if (in == NULL || __atomic_sub_fetch(&in->refs, 1, __ATOMIC_SEQ_CST) > 0) {
        return;
    }
    if (in->here_fd >= 0) {
        (void)close(in->here_fd);
    }
    pthread_cond_destroy(&in->quiet);
    pthread_mutex_destroy(&in->lock);
    free(in);
}

uint64_t instances_hand_over(uint64_t due_us)
{
    uint64_t next = 0;

    pthread_mutex_lock(&instances_lock);
    for (struct instance *in = instances; in != NULL; in = in->next) {
        here_hand_over(in, due_us, &next);
    }
    pthread_mutex_unlock(&instances_lock);
    return next;
}

/* Cancels what is going on, waits for it, and ends every process. Afterwards nothing calls Node. */
void instance_stop(struct instance *in)
{
    struct timespec until;

    pthread_mutex_lock(&in->lock);
    if (in->is_closed) {
        pthread_mutex_unlock(&in->lock);
        return;
    }
    in->is_closed = 1;
    pthread_mutex_unlock(&in->lock);
    here_hand_over(in, UINT64_MAX, NULL);
    pthread_mutex_lock(&in->lock);
    while (in->job_count > 0) {
        for (struct job *job = in->jobs; job != NULL; job = job->next) {
            job_cancel(job);
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += CANCEL_MS * 1000000L;
        if (until.tv_nsec >= 1000000000L) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000L;
        }
        pthread_cond_timedwait(&in->quiet, &in->lock, &until);
    }
    pthread_mutex_unlock(&in->lock);
    pthread_mutex_lock(&instances_lock);
    for (struct instance **at = &instances; *at != NULL; at = &(*at)->next) {
        if (*at == in) {
            *at = in->next;
            break;
        }
    }
    pthread_mutex_unlock(&instances_lock);
    handles_end(in);
}

static void cleanup(void *data)
{
    struct instance *in = data;

    instance_stop(in);
    napi_release_threadsafe_function(in->calls, napi_tsfn_abort);
    instance_drop(in);
}

/* ---- arguments ---- */

static struct instance *get(
    napi_env env, napi_callback_info info, size_t wanted, napi_value argv[ARGS_MAX])
{
    void *data = NULL;
    size_t count = ARGS_MAX;

    if (napi_get_cb_info(env, info, &count, argv, NULL, &data) != napi_ok || count < wanted) {
        napi_throw_type_error(env, NULL, "arguments are missing");
        return NULL;
    }
    if (((struct instance *)data)->is_closed) {
        napi_throw_error(env, "VIAL_CLOSED", "the process is ending");
        return NULL;
    }
    return data;
}

static int call_id_of(napi_env env, napi_value value, uint64_t *ret)
{
    bool is_whole = false;

    if (napi_get_value_bigint_uint64(env, value, ret, &is_whole) != napi_ok || !is_whole) {
        napi_throw_type_error(env, NULL, "a call must be a BigInt");
        return -1;
    }
    return 0;
}

static napi_value number_value(napi_env env, int64_t number)
{
    napi_value value = NULL;

    return napi_create_int64(env, number, &value) == napi_ok ? value : NULL;
}

static napi_value text_value(napi_env env, const char *text)
{
    napi_value value = NULL;

    return text != NULL && napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok
               ? value
               : NULL;
}

/* ---- jobs ---- */

static const enum handle_kind target_kinds[OP_COUNT] = {
    [OP_RUN] = HANDLE_ENGINE,
    [OP_ENV_NEW] = HANDLE_ENGINE,
    [OP_ENV_START] = HANDLE_ENVIRONMENT,
    [OP_SESSION_NEW] = HANDLE_ENGINE,
    [OP_SESSION_EVAL] = HANDLE_SESSION,
    [OP_SESSION_CALL] = HANDLE_SESSION,
    [OP_SESSION_BRANCH] = HANDLE_SESSION,
    [OP_SETTLE] = HANDLE_ENGINE,
};

static int fill_engine_options(napi_env env, struct job *job, napi_value object)
{
    struct vial_engine_options *o = &job->engine_options;
    const struct {
        const char *name;
        uint32_t *field;
    } numbers[] = {{"poolCount", &o->pool_count}, {"runsMax", &o->runs_max},
        {"queueCountMax", &o->queue_count_max}, {"queueMsMax", &o->queue_ms_max},
        {"noJit", &o->no_jit}, {"quick", &o->quick}, {"sessionsMax", &o->sessions_max},
        {"toolThreadsMax", &o->tool_threads_max}, {"forSessions", &o->for_sessions},
        {"language", &o->language}};
    size_t len = 0;

    *o = (struct vial_engine_options)VIAL_ENGINE_OPTIONS_INIT;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        napi_value value = named(env, object, numbers[i].name);

        if (!is_missing(env, value) &&
            napi_get_value_uint32(env, value, numbers[i].field) != napi_ok) {
            napi_throw_type_error(env, NULL, numbers[i].name);
            return -1;
        }
    }
    if (copy_bytes(env, job->request.arena, named(env, object, "cellPath"), &o->cell_path, &len) <
            0 ||
        copy_bytes(env, job->request.arena, named(env, object, "require"), &o->require, &len) < 0) {
        napi_throw_type_error(env, NULL, "cellPath and require must be strings");
        return -1;
    }
    return 0;
}

static int fill_more(napi_env env, struct job *job, napi_value object)
{
    napi_value value;
    int64_t number = 0;

    if (job->op == OP_ENGINE_NEW) {
        return fill_engine_options(env, job, object);
    }
    value = named(env, object, "count");
    if (!is_missing(env, value)) {
        if (napi_get_value_int64(env, value, &number) != napi_ok || number < 1 ||
            (job->op == OP_SESSION_BRANCH && number > BRANCHES_MAX)) {
            napi_throw_range_error(env, NULL, "count is out of range");
            return -1;
        }
        job->count = (size_t)number;
    }
    value = named(env, object, "function");
    if (!is_missing(env, value)) {
        if (napi_get_value_int64(env, value, &number) != napi_ok || number < 0) {
            napi_throw_type_error(env, NULL, "a function must be a number");
            return -1;
        }
        job->function = (uint64_t)number;
    }
    if (copy_bytes(
            env, job->request.arena, named(env, object, "document"), &job->bytes, &job->len) < 0) {
        napi_throw_type_error(env, NULL, "a document must be a string");
        return -1;
    }
    if (!is_missing(env, named(env, object, "onApprove"))) {
        job->request.request.on_approve = tool_needs_approval;
    }
    return 0;
}

static int fill_job(napi_env env, struct job *job, napi_value object)
{
    struct vial_request *request = &job->request.request;

    if (request_fill(env, job->instance, object, &job->request) < 0) {
        return -1;
    }
    request->limits = request->limits != NULL ? &job->request.limits : NULL;
    request->user = job;
    if (job->op == OP_RUN || job->op == OP_SESSION_EVAL || job->op == OP_SESSION_CALL) {
        request->on_output = output_came;
    }
    return job->request.has_more ? fill_more(env, job, object) : 0;
}

/* start(op, target, request, number): dispatch tells of it under this number. */
static napi_value start(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct instance *in = get(env, info, 4, argv);
    struct job *job;
    napi_value outcome = NULL;
    bool takes_outcome = false;
    uint32_t op = OP_COUNT;
    int64_t number = 0;

    if (in == NULL) {
        return NULL;
    }
    if (napi_get_value_uint32(env, argv[0], &op) != napi_ok || op >= OP_CLOSE ||
        napi_get_value_int64(env, argv[3], &number) != napi_ok || number < 1) {
        napi_throw_type_error(env, NULL, "there is no such operation");
        return NULL;
    }
    job = calloc(1, sizeof(*job));
    if (job == NULL) {
        napi_throw_error(env, NULL, "there is no memory");
        return NULL;
    }
    job->instance = in;
    job->op = (enum operation)op;
    job->number = (uint64_t)number;
    if (op != OP_ENGINE_NEW) {
        job->target = handle_of(env, argv[1], target_kinds[op]);
        if (job->target == NULL) {
            free(job);
            return NULL;
        }
        handle_take(job->target);
    }
    if (fill_job(env, job, argv[2]) < 0) {
        job->count = 0;
        job_free(job);
        return NULL;
    }
    if (napi_get_value_bool(env, argv[4], &takes_outcome) != napi_ok) {
        takes_outcome = false;
    }
    if (job_submit(job, takes_outcome ? &outcome : NULL) < 0) {
        job_free(job);
        napi_throw_error(env, "VIAL_BUSY", "too much is going on at once; retry later");
    }
    return outcome;
}

static napi_value cancel(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct instance *in = get(env, info, 1, argv);
    int64_t number = 0;

    if (in == NULL || napi_get_value_int64(env, argv[0], &number) != napi_ok) {
        return NULL;
    }
    pthread_mutex_lock(&in->lock);
    for (struct job *job = in->jobs; job != NULL; job = job->next) {
        if (job->number == (uint64_t)number) {
            job_cancel(job);
        }
    }
    pthread_mutex_unlock(&in->lock);
    return NULL;
}

/* close(handle, number): dispatch tells when it is done. */
static napi_value close_handle(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct instance *in = get(env, info, 2, argv);
    int64_t number = 0;
    void *h = NULL;
    struct job *job;

    if (in == NULL || napi_get_value_int64(env, argv[1], &number) != napi_ok ||
        napi_remove_wrap(env, argv[0], &h) != napi_ok) {
        return NULL;
    }
    job = calloc(1, sizeof(*job));
    if (job == NULL) {
        handle_drop(h);
        return NULL;
    }
    job->instance = in;
    job->op = OP_CLOSE;
    job->number = (uint64_t)number;
    job->target = h;
    if (job_submit(job, NULL) < 0) {
        job_free(job);
    }
    return NULL;
}

/* Node stays alive while something is wanted of us. */
static napi_value keep_alive(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct instance *in = get(env, info, 1, argv);
    bool is_wanted = false;

    if (in == NULL || napi_get_value_bool(env, argv[0], &is_wanted) != napi_ok) {
        return NULL;
    }
    if (is_wanted) {
        napi_ref_threadsafe_function(env, in->calls);
    } else {
        napi_unref_threadsafe_function(env, in->calls);
    }
    return NULL;
}

/* ---- calls of tools ---- */

/* answer(engine, id, json, cbor): one of the last two, or neither for undefined. */
static napi_value answer(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 4, argv) ? handle_of(env, argv[0], HANDLE_ENGINE) : NULL;
    struct arena *a = h != NULL ? arena_new() : NULL;
    const char *bytes = NULL;
    struct vial_error err;
    uint64_t id = 0;
    size_t len = 0;
    int r = 0;

    if (a == NULL || call_id_of(env, argv[1], &id) < 0) {
        arena_drop(a);
        return NULL;
    }
    if (!is_missing(env, argv[3])) {
        r = copy_bytes(env, a, argv[3], &bytes, &len);
        r = r < 0 ? r : vial_call_answer_cbor(h->is.engine, id, bytes, len, &err);
    } else {
        r = copy_bytes(env, a, argv[2], &bytes, &len);
        r = r < 0 ? r : vial_call_answer(h->is.engine, id, bytes, len, &err);
    }
    arena_drop(a);
    return number_value(env, r);
}

/* fail(engine, id, name, message, fields) */
static napi_value fail(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 5, argv) ? handle_of(env, argv[0], HANDLE_ENGINE) : NULL;
    struct arena *a = h != NULL ? arena_new() : NULL;
    const char *texts[3] = {NULL};
    struct vial_error err;
    uint64_t id = 0;
    size_t len = 0;
    int r = 0;

    if (a == NULL || call_id_of(env, argv[1], &id) < 0) {
        arena_drop(a);
        return NULL;
    }
    for (int i = 0; i < 3 && r == 0; i++) {
        r = copy_bytes(env, a, argv[i + 2], &texts[i], &len);
    }
    if (r == 0) {
        r = vial_call_fail(h->is.engine, id, texts[0] != NULL ? texts[0] : "Error",
            texts[1] != NULL ? texts[1] : "", texts[2], &err);
    }
    arena_drop(a);
    return number_value(env, r);
}

/* approve(engine, id, yes, reason) */
static napi_value approve(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 4, argv) ? handle_of(env, argv[0], HANDLE_ENGINE) : NULL;
    struct arena *a = h != NULL ? arena_new() : NULL;
    const char *reason = NULL;
    bool yes = false;
    struct vial_error err;
    uint64_t id = 0;
    size_t len = 0;
    int r = -1;

    if (a != NULL && call_id_of(env, argv[1], &id) == 0 &&
        napi_get_value_bool(env, argv[2], &yes) == napi_ok &&
        copy_bytes(env, a, argv[3], &reason, &len) == 0) {
        r = vial_call_approve(h->is.engine, id, yes, reason, &err);
    }
    arena_drop(a);
    return number_value(env, r);
}

/* ---- questions ---- */

static napi_value details(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX], text = NULL;
    void *result = NULL;
    const char *json;
    size_t len = 0;

    if (get(env, info, 1, argv) == NULL ||
        napi_get_value_external(env, argv[0], &result) != napi_ok) {
        return NULL;
    }
    json = vial_result_json(result, &len);
    if (json != NULL) {
        napi_create_string_utf8(env, json, len, &text);
    }
    return text;
}

static napi_value isolation(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 1, argv) ? handle_of(env, argv[0], HANDLE_ENGINE) : NULL;

    return h != NULL ? text_value(env, vial_engine_isolation(h->is.engine)) : NULL;
}

static void put(napi_env env, napi_value object, const char *name, napi_value value)
{
    if (value != NULL) {
        napi_set_named_property(env, object, name, value);
    }
}

static napi_value stats(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX], object = NULL;
    struct handle *h = get(env, info, 1, argv) ? handle_of(env, argv[0], HANDLE_ENGINE) : NULL;
    struct vial_engine_stats s = VIAL_ENGINE_STATS_INIT;

    if (h == NULL || napi_create_object(env, &object) != napi_ok) {
        return NULL;
    }
    vial_engine_stats(h->is.engine, &s);
    put(env, object, "readyCount", number_value(env, s.ready_count));
    put(env, object, "busyCount", number_value(env, s.busy_count));
    put(env, object, "templateCount", number_value(env, s.template_count));
    put(env, object, "runCount", number_value(env, (int64_t)s.run_count));
    put(env, object, "templatePid", number_value(env, s.template_pid));
    return object;
}

static napi_value session_info(napi_env env, napi_callback_info info)
{
    static const char *const states[] = {"idle", "busy", "ended"};
    napi_value argv[ARGS_MAX], object = NULL;
    struct handle *h = get(env, info, 1, argv) ? handle_of(env, argv[0], HANDLE_SESSION) : NULL;
    struct vial_session_info i = VIAL_SESSION_INFO_INIT;

    if (h == NULL || napi_create_object(env, &object) != napi_ok) {
        return NULL;
    }
    vial_session_info(h->is.session, &i);
    put(env, object, "state", text_value(env, states[i.state < 3 ? i.state : 2]));
    put(env, object, "id", number_value(env, (int64_t)i.id));
    put(env, object, "parentId", number_value(env, (int64_t)i.parent_id));
    put(env, object, "evalCount", number_value(env, (int64_t)i.eval_count));
    put(env, object, "memoryBytes", number_value(env, (int64_t)i.memory_bytes));
    put(env, object, "fileCount", number_value(env, i.file_count));
    put(env, object, "fileBytes", number_value(env, (int64_t)i.file_bytes));
    put(env, object, "branchCount", number_value(env, i.branch_count));
    put(env, object, "name", text_value(env, i.name));
    put(env, object, "ended", text_value(env, i.ended));
    return object;
}

/* endSession(session): what it evaluates ends with it. */
static napi_value end_session(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 1, argv) ? handle_of(env, argv[0], HANDLE_SESSION) : NULL;

    if (h != NULL) {
        vial_session_end(h->is.session);
    }
    return NULL;
}

/* release(session, function) */
static napi_value release(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct handle *h = get(env, info, 2, argv) ? handle_of(env, argv[0], HANDLE_SESSION) : NULL;
    struct vial_error err;
    int64_t number = 0;

    if (h == NULL || napi_get_value_int64(env, argv[1], &number) != napi_ok) {
        return NULL;
    }
    return number_value(env, vial_session_release(h->is.session, (uint64_t)number, &err));
}

static napi_value env_check(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX], text = NULL;
    struct arena *a = get(env, info, 1, argv) != NULL ? arena_new() : NULL;
    const char *document = NULL;
    struct vial_error err;
    char *problems = NULL;
    size_t len = 0;

    if (a != NULL && copy_bytes(env, a, argv[0], &document, &len) == 0 && document != NULL &&
        vial_env_check(document, len, &problems, &err) == 0) {
        text = text_value(env, problems);
        vial_text_free(problems);
    }
    arena_drop(a);
    return text;
}

static napi_value version(napi_env env, napi_callback_info info)
{
    (void)info;
    return text_value(env, vial_version());
}

static napi_value shutdown(napi_env env, napi_callback_info info)
{
    napi_value argv[ARGS_MAX];
    struct instance *in = get(env, info, 0, argv);

    if (in != NULL) {
        instance_stop(in);
    }
    return NULL;
}

/* ---- the module ---- */

static struct instance *instance_new(napi_env env, napi_value dispatch)
{
    struct instance *in = calloc(1, sizeof(*in));
    napi_value name = NULL;

    if (in == NULL) {
        return NULL;
    }
    in->env = env;
    in->refs = 1;
    in->here_fd = -1;
    pthread_mutex_init(&in->lock, NULL);
    pthread_cond_init(&in->quiet, NULL);
    /* The hook after the function: hooks are called in the opposite order, and ours has to be done
     * while the function is still there. */
    if (napi_create_string_utf8(env, "vial", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_create_reference(env, dispatch, 1, &in->dispatch) != napi_ok ||
        napi_create_threadsafe_function(
            env, NULL, NULL, name, 0, 1, NULL, NULL, in, call_dispatch, &in->calls) != napi_ok ||
        napi_unref_threadsafe_function(env, in->calls) != napi_ok ||
        napi_add_env_cleanup_hook(env, cleanup, in) != napi_ok) {
        instance_drop(in);
        return NULL;
    }
    pthread_mutex_lock(&instances_lock);
    in->id = ++last_id;
    in->next = instances;
    instances = in;
    pthread_mutex_unlock(&instances_lock);
    here_open(in);
    return in;
}

/* setup(dispatch): the functions, as an object. */
static napi_value setup(napi_env env, napi_callback_info info)
{
    static const struct {
        const char *name;
        napi_callback call;
    } functions[] = {{"start", start}, {"cancel", cancel}, {"close", close_handle},
        {"keepAlive", keep_alive}, {"answer", answer}, {"fail", fail}, {"approve", approve},
        {"details", details}, {"isolation", isolation}, {"stats", stats},
        {"sessionInfo", session_info}, {"endSession", end_session}, {"release", release},
        {"envCheck", env_check}, {"version", version}, {"shutdown", shutdown}};
    napi_value argv[1], object = NULL;
    napi_valuetype type = napi_undefined;
    size_t count = 1;
    struct instance *in;

    if (napi_get_cb_info(env, info, &count, argv, NULL, NULL) != napi_ok || count < 1 ||
        napi_typeof(env, argv[0], &type) != napi_ok || type != napi_function ||
        napi_create_object(env, &object) != napi_ok) {
        napi_throw_type_error(env, NULL, "setup takes a function");
        return NULL;
    }
    in = instance_new(env, argv[0]);
    if (in == NULL) {
        napi_throw_error(env, NULL, "there is no memory");
        return NULL;
    }
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        napi_value function = NULL;

        if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].call, in,
                &function) == napi_ok) {
            put(env, object, functions[i].name, function);
        }
    }
    return object;
}

/* The next macro defines it without a prototype. */
NAPI_MODULE_EXPORT int32_t NODE_API_MODULE_GET_API_VERSION(void);

/* The library says what it is; the numbers before the last dot must be those we were made for. */
static int check_library(napi_env env)
{
    static const char built[] = VIAL_NODE_VERSION;
    const char *dot = strrchr(built, '.');
    size_t len = dot != NULL ? (size_t)(dot - built) + 1 : strlen(built);
    char text[256];

    if (strncmp(vial_version(), built, len) == 0) {
        return 0;
    }
    (void)snprintf(text, sizeof(text),
        "libvial is of version %s, and this addon was made for version %s; install both of one "
        "version",
        vial_version(), built);
    napi_throw_error(env, "VIAL_VERSION", text);
    return -1;
}

NAPI_MODULE_INIT()
{
    napi_value function = NULL;

    if (check_library(env) < 0) {
        return NULL;
    }
    if (napi_create_function(env, "setup", NAPI_AUTO_LENGTH, setup, NULL, &function) == napi_ok) {
        put(env, exports, "setup", function);
    }
    return exports;
}
