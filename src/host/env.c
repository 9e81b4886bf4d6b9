/* env.c - see env.h and vial.h. */
#include "host/env.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "host/family.h"
#include "host/place.h"
#include "host/session.h"
#include "policy/document.h"
#include "wire/field.h"

enum {
    SHRINK_US = 60 * 1000 * 1000, /* unused for so long it keeps one cell less */
    START_WAIT_US = 100 * 1000,   /* how often one looks who waits for another to start it */
    PREFIX_MS = 10000,            /* a prefix may load a large library, but somebody waits for it */
    TAKE_TRIES_MAX = 20, /* each time a template was started and has died or been put down since */
    ENVS_UP_MAX = 60,    /* below the families that an engine keeps for them */
};

/* ---- for the keeper and the pool ---- */

int env_is_up(const struct vial_env *env)
{
    return env->state == ENV_UP && !env->failed;
}

uint32_t env_take(struct vial_env *env)
{
    struct vial_engine *e = env->engine;
    uint32_t cell;

    env->used_us = clock_now_us();
    if (env->ready_count == 0) {
        /* More are used at once than were kept. */
        env->wanted_count += env->wanted_count < ENV_READY_MAX && env->coming_count == 0;
        return CELL_NONE;
    }
    cell = env->ready[--env->ready_count];
    e->cells[cell].state = CELL_TAKEN;
    return cell;
}

void env_coming(struct vial_env *env)
{
    env->coming_count++;
}

void env_not_coming(struct vial_env *env)
{
    env->coming_count--;
}

void env_ready(struct vial_env *env, uint32_t cell)
{
    env->coming_count--;
    if (env->state != ENV_UP || env->ready_count == ENV_READY_MAX) {
        place_drop(env->engine, &env->engine->cells[cell]);
        return;
    }
    env->ready[env->ready_count++] = cell;
}

void env_unready(struct vial_env *env, uint32_t cell)
{
    unsigned i;

    for (i = 0; i < env->ready_count; i++) {
        if (env->ready[i] == cell) {
            env->ready[i] = env->ready[--env->ready_count];
            return;
        }
    }
}

void env_failed(struct vial_env *env, const struct vial_error *why)
{
    (void)why; /* it is the engine's failure already */
    env->failed = 1;
}

struct vial_session *env_put_down(struct vial_env *env)
{
    struct vial_session *origin = env->origin;

    while (env->ready_count > 0) {
        place_drop(env->engine, &env->engine->cells[env->ready[--env->ready_count]]);
    }
    env->origin = NULL;
    env->state = ENV_COLD;
    env->wanted_count = 0;
    return origin;
}

void env_origin_gone(struct vial_engine *e, uint32_t cell)
{
    struct vial_env *env;

    for (env = e->envs; env != NULL; env = env->next) {
        if (env->origin != NULL && env->origin->cell == cell) {
            env->failed = 1; /* the next run starts it anew */
        }
    }
}

void env_order_missing(struct vial_engine *e)
{
    struct vial_env *env;
    uint64_t now = clock_now_us();

    for (env = e->envs; env != NULL; env = env->next) {
        if (env->state != ENV_UP || env->failed) {
            continue;
        }
        if (env->wanted_count > 1 && now > env->used_us + SHRINK_US &&
            now > env->shrunk_us + SHRINK_US) {
            env->shrunk_us = now;
            env->wanted_count--;
            if (env->ready_count > env->wanted_count) {
                place_drop(e, &e->cells[env->ready[--env->ready_count]]);
            }
        }
        while (env->ready_count + env->coming_count < env->wanted_count) {
            if (family_order_branch(e, env->origin->cell, PURPOSE_ENV, env) < 0) {
                env->failed = 1;
                (void)pthread_cond_broadcast(&e->changed);
                break;
            }
        }
    }
}

/* ---- its template ---- */

static uint64_t env_bytes(const struct vial_env *env)
{
    struct vial_session_info info = VIAL_SESSION_INFO_INIT;

    if (env->origin == NULL) {
        return 0;
    }
    session_fill_info(env->origin, &info);
    return info.memory_bytes;
}

/* With the lock held: the environment that was not used for longest and that nobody waits for, when
 * all of them together have too much. */
static struct vial_env *find_victim(struct vial_engine *e, const struct vial_env *but)
{
    struct vial_env *env, *oldest = NULL;
    uint64_t bytes = 0;
    unsigned count = 0;

    for (env = e->envs; env != NULL; env = env->next) {
        bytes += env_bytes(env);
        count += env->state == ENV_UP;
        if (env != but && env->state == ENV_UP &&
            (oldest == NULL || env->used_us < oldest->used_us)) {
            oldest = env;
        }
    }
    return bytes > e->env_bytes_max || count > ENVS_UP_MAX ? oldest : NULL;
}

static void make_room(struct vial_env *env)
{
    struct vial_engine *e = env->engine;
    struct vial_session *origin;
    struct vial_env *victim;

    for (;;) {
        (void)pthread_mutex_lock(&e->lock);
        victim = find_victim(e, env);
        origin = victim != NULL ? env_put_down(victim) : NULL;
        (void)pthread_mutex_unlock(&e->lock);
        if (victim == NULL) {
            return;
        }
        vial_session_free(origin);
    }
}

/* Evaluates the prefix in a new session; on success that is the template. */
static int run_prefix(struct vial_env *env, struct vial_session *origin, struct vial_result **ret,
    struct vial_error *err)
{
    const struct document *d = env->document;
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_limits limits = d->limits;
    struct vial_module *modules = NULL;
    struct vial_file *files = NULL;
    struct vial_run *run = NULL;
    size_t i;
    int r;

    modules = calloc(d->modules_count + 1, sizeof(*modules));
    files = calloc(d->files_count + 1, sizeof(*files));
    if (modules == NULL || files == NULL) {
        free(modules);
        free(files);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an environment");
    }
    for (i = 0; i < d->modules_count; i++) {
        modules[i] = (struct vial_module){.name = d->modules[i].name,
            .source = d->modules[i].source,
            .source_len = d->modules[i].source_len};
    }
    for (i = 0; i < d->files_count; i++) {
        files[i] = (struct vial_file){
            .name = d->files[i].name, .bytes = d->files[i].bytes, .len = d->files[i].len};
    }
    limits.wall_ms_max = limits.cpu_ms_max = PREFIX_MS;
    q.source = d->prefix;
    q.source_len = d->prefix_len;
    q.name = d->language == VIAL_LANGUAGE_TYPESCRIPT ? "prefix.ts"
             : d->language == VIAL_LANGUAGE_PYTHON   ? "prefix.py"
                                                     : "prefix.js";
    q.language = d->language;
    q.limits = &limits;
    q.modules = modules;
    q.module_count = d->modules_count;
    q.files = files;
    q.files_count = d->files_count;
    q.env = d->env.items;
    q.env_count = d->env.count;
    q.cwd = d->cwd;
    q.want_text = WANT_NOTHING;
    q.globals = env->defaults;
    q.globals_len = env->defaults != NULL ? strlen(env->defaults) : 0;
    r = run_new(env->engine, &q, &run, err);
    if (r == VIAL_OK) {
        run->session_kind = SESSION_EVAL;
        run->introduce_mounts = env->mounts;
        run->scan =
            d->scan_mode != VIAL_SCAN_AUTO || d->scan_rules_count > 0 ? SCAN_PREPARE : SCAN_OFF;
        run->introduce_rules = d->scan_rules;
        run->introduce_rules_count = d->scan_rules_count;
        r = permit_open(run, origin->env_permissions, origin, err);
        r = r < 0 ? r : session_run(origin, run, ret, err);
        vial_run_free(run);
    }
    free(modules);
    free(files);
    return r;
}

unsigned env_breed(const struct vial_env *env)
{
    return env->document->packages.count > 0 ? BREED_DATA
                                             : engine_breed_of(env->document->language, NULL);
}

/* A template for the environment; *ret is NULL when its prefix failed, which the result tells. */
static int make_origin(struct vial_env *env, struct vial_session **ret,
    struct vial_result **ret_result, struct vial_error *err)
{
    struct vial_engine *e = env->engine;
    struct cell_want want = {.spec = e->spec_default, .origin = CELL_NONE, .stays = 1};
    struct vial_session *origin = NULL;
    struct vial_limits limits = env->document->limits;
    uint32_t cell = CELL_NONE;
    int pidfd = -1;
    int never = 0;
    int r;

    want.spec.kind = CELL_ORIGIN;
    engine_set_breed(&want.spec, env_breed(env));
    want.spec.open_files_max = limits.open_files_max;
    r = pool_take(e, &want, 1, &never, &cell, &pidfd, err);
    r = r < 0 ? r : session_adopt(e, cell, pidfd, &limits, env->tools, 1, &origin, err);
    if (r < 0) {
        if (cell != CELL_NONE) {
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
            fd_closep(&pidfd);
            pool_give_back_member(e, cell, 0);
        }
        return r;
    }
    origin->mounts = env->mounts;
    origin->env_permissions = env->document->permissions;
    origin->env = env;
    r = run_prefix(env, origin, ret_result, err);
    if (r == VIAL_OK && (*ret_result)->status == VIAL_STATUS_OK && !(*ret_result)->session_lives) {
        vial_result_free(*ret_result);
        *ret_result = NULL;
        vial_session_free(origin);
        return vial__fail(err, VIAL_E_INVALID,
            "the prefix of the environment %s ended its process, so that there is nothing to run "
            "in; leave out %s",
            env->document->name, env_breed(env) == BREED_JS ? "process.exit()" : "sys.exit()");
    }
    if (r < 0 || (*ret_result)->status != VIAL_STATUS_OK) {
        vial_session_free(origin);
        return r;
    }
    *ret = origin;
    return VIAL_OK;
}

/* Waits for another thread that starts it. With the lock held; 1 when this thread is to do it. */
static int claim(struct vial_env *env, int anew, struct vial_session **ret_old)
{
    struct vial_engine *e = env->engine;
    struct timespec until;

    *ret_old = NULL;
    while (env->state == ENV_STARTING) {
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += START_WAIT_US * 1000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        (void)pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    if (env->state == ENV_UP && !env->failed && !anew) {
        return 0;
    }
    if (env->state == ENV_UP) {
        *ret_old = env_put_down(env);
    }
    env->state = ENV_STARTING;
    env->failed = 0;
    return 1;
}

static int start(struct vial_env *env, int anew, struct vial_result **ret, struct vial_error *err)
{
    struct vial_engine *e = env->engine;
    struct vial_session *origin = NULL;
    struct vial_session *old;
    int r, ours;

    *ret = NULL;
    (void)pthread_mutex_lock(&e->lock);
    ours = claim(env, anew, &old);
    (void)pthread_mutex_unlock(&e->lock);
    if (!ours) {
        return VIAL_OK;
    }
    vial_session_free(old);
    make_room(env);
    r = make_origin(env, &origin, ret, err);
    (void)pthread_mutex_lock(&e->lock);
    env->origin = origin;
    env->state = origin != NULL ? ENV_UP : ENV_COLD;
    env->used_us = env->started_us = clock_now_us();
    env->wanted_count = 1;
    (void)pthread_cond_broadcast(&e->changed);
    (void)pthread_mutex_unlock(&e->lock);
    pool_wake_keeper(e);
    return r;
}

int env_start(struct vial_env *env, struct vial_error *err)
{
    struct vial_result *result = NULL;
    struct vial_result_error why = VIAL_RESULT_ERROR_INIT;
    int r;

    (void)pthread_mutex_lock(&env->engine->lock);
    r = env_is_up(env);
    (void)pthread_mutex_unlock(&env->engine->lock);
    if (r) {
        return VIAL_OK;
    }
    r = start(env, 0, &result, err);
    if (r == VIAL_OK && result != NULL && result->status != VIAL_STATUS_OK) {
        vial_result_error(result, &why);
        r = why.name != NULL && strcmp(why.name, SCAN_RULES_ERROR) == 0
                ? vial__fail(err, VIAL_E_INVALID,
                      "the rules of the environment %s for the scanner: %s", env->document->name,
                      why.message)
                : vial__fail(err, VIAL_E_INVALID,
                      "the prefix of the environment %s failed: %s: %s (line %u)",
                      env->document->name, why.name, why.message, why.line);
    }
    vial_result_free(result);
    return r;
}

int env_take_cell(struct vial_engine *e, const struct cell_want *want, const int *cancelled,
    uint32_t *ret_cell, int *ret_pidfd, struct vial_error *err)
{
    unsigned tries = 0;
    int r, up;

    do {
        r = want->env != NULL ? env_start(want->env, err) : VIAL_OK;
        if (r < 0) {
            return r;
        }
        r = pool_take(e, want, 1, cancelled, ret_cell, ret_pidfd, err);
        (void)pthread_mutex_lock(&e->lock);
        up = want->env == NULL || env_is_up(want->env);
        (void)pthread_mutex_unlock(&e->lock);
    } while (r < 0 && !up && ++tries < TAKE_TRIES_MAX);
    return r;
}

int vial_env_start(struct vial_env *env, struct vial_result **ret, struct vial_error *err)
{
    return start(env, 1, ret, err);
}
