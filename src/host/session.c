/* session.c - sessions: programs one after the other in a process that stays; see vial.h and
 * session.h.
 *
 * A session does one thing at a time: whoever makes it BUSY under the engine's lock has its cell
 * until they make it IDLE again. When the cell has ended the session stays, to say why. */
#include "host/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/utf8.h"
#include "host/drive.h"
#include "host/env.h"
#include "host/fetch.h"
#include "host/meter.h"
#include "jail/mutate.h"
#include "policy/limits.h"
#include "wire/field.h"

enum {
    IDLE_MS_DEFAULT = 30 * 60 * 1000,
    LIFE_MS_DEFAULT = 24 * 3600 * 1000,
    LIFE_MS_LIMIT = 7 * 24 * 3600 * 1000, /* then its template's address layout is old enough */
};

/* ---- with the engine's lock held ---- */

/* The session is over; its cell, when there is one, is given back by the caller. */
static void __attribute__((format(printf, 2, 3)))
note_end(struct vial_session *s, const char *format, ...)
{
    va_list args;

    if (s->state == VIAL_SESSION_ENDED) {
        return;
    }
    s->state = VIAL_SESSION_ENDED;
    va_start(args, format);
    (void)vsnprintf(s->ended, sizeof(s->ended), format, args);
    va_end(args);
}

static void unlink_session(struct vial_session *s)
{
    struct vial_session **p;

    for (p = &s->engine->sessions; *p != NULL; p = &(*p)->next) {
        if (*p == s) {
            *p = s->next;
            s->engine->sessions_count--;
            return;
        }
    }
}

/* ---- */

static void kill_process(const struct vial_session *s)
{
    if (s->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
    }
}

/* Gives the cell of a session that is over back. Whoever calls it had made it BUSY, or nobody can
 * any more. */
static void release(struct vial_session *s, int suspicious)
{
    uint32_t cell;

    (void)pthread_mutex_lock(&s->engine->lock);
    cell = s->cell;
    s->cell = CELL_NONE;
    (void)pthread_mutex_unlock(&s->engine->lock);
    if (cell != CELL_NONE) {
        kill_process(s);
        buf_release(&s->engine->cells[cell].in);
        pool_give_back_member(s->engine, cell, suspicious);
    }
}

/* Makes it BUSY; VIAL_E_BUSY or VIAL_E_GONE when it is something else. */
static int enter(struct vial_session *s, struct vial_error *err)
{
    int r = VIAL_OK;

    (void)pthread_mutex_lock(&s->engine->lock);
    if (s->state == VIAL_SESSION_IDLE && s->engine->cells[s->cell].gone) {
        note_end(s, "its process has died");
    }
    if (s->state == VIAL_SESSION_ENDED) {
        r = vial__fail(err, VIAL_E_GONE, "the session has ended: %s", s->ended);
    } else if (s->state == VIAL_SESSION_BUSY) {
        r = vial__fail(
            err, VIAL_E_BUSY, "the session is busy: it does one thing at a time; try again later");
    } else {
        s->state = VIAL_SESSION_BUSY;
        __atomic_store_n(&s->cancelled, 0, __ATOMIC_SEQ_CST);
    }
    (void)pthread_mutex_unlock(&s->engine->lock);
    if (r == VIAL_E_GONE) {
        release(s, 0);
    }
    return r;
}

static void leave(struct vial_session *s)
{
    int ended;

    (void)pthread_mutex_lock(&s->engine->lock);
    s->used_us = clock_now_us();
    ended = s->state == VIAL_SESSION_ENDED;
    if (!ended) {
        s->state = VIAL_SESSION_IDLE;
        s->rest_cpu_us = meter_cpu_us(&s->engine->cells[s->cell]);
    }
    (void)pthread_mutex_unlock(&s->engine->lock);
    if (ended) {
        release(s, 0);
    }
}

int session_adopt(struct vial_engine *e, uint32_t cell, int pidfd, const struct vial_limits *limits,
    struct tool_set *tools, int hidden, struct vial_session **ret, struct vial_error *err)
{
    struct vial_session *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a session");
    }
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->wake_fd < 0) {
        free(s);
        return vial__fail_sys(err, errno, "making descriptors for a session");
    }
    s->engine = e;
    s->cell = cell;
    s->breed = e->cells[cell].spec.breed;
    s->pidfd = pidfd;
    s->limits = *limits;
    s->tools = tools != NULL ? tool_set_ref(tools) : NULL;
    s->created_us = s->used_us = clock_now_us();
    s->idle_us_max = IDLE_MS_DEFAULT * 1000ULL;
    s->life_us_max = LIFE_MS_DEFAULT * 1000ULL;
    (void)pthread_mutex_lock(&e->lock);
    if (!hidden) {
        s->id = ++e->session_id;
        s->next = e->sessions;
        e->sessions = s;
        e->sessions_count++;
    }
    (void)pthread_mutex_unlock(&e->lock);
    *ret = s;
    return VIAL_OK;
}

/* ---- evaluations ---- */

/* What became of the session with this result. */
static void judge(struct vial_session *s, struct vial_result *result)
{
    int lives = result->status == VIAL_STATUS_OK || result->status == VIAL_STATUS_EXCEPTION ||
                result->interrupted != 0 || result->refused;
    int suspicious = result->status == VIAL_STATUS_CRASHED || result->status == VIAL_STATUS_DENIED;

    lives = lives && !result->ended;
    result->session_lives = lives;
    (void)pthread_mutex_lock(&s->engine->lock);
    if (lives) {
        s->engine->cells[s->cell].phase = PHASE_WAITING;
    } else if (result->ended) {
        note_end(s, "its program ended it");
    } else {
        note_end(s, "%s: %.120s", vial_status_name(result->status),
            result->error.message != NULL ? result->error.message : "");
    }
    (void)pthread_mutex_unlock(&s->engine->lock);
    if (!lives) {
        release(s, suspicious);
    }
}

static void say_session_state(struct vial_result *result)
{
    if (result->interrupted != 0) {
        result->error.hint = "the program was stopped; the session and what it holds are still "
                             "there";
    } else if (!result->session_lives && result->status != VIAL_STATUS_OK &&
               result->status != VIAL_STATUS_EXCEPTION) {
        result->error.hint = "the session has ended with this program; make a new one, or branch a "
                             "checkpoint";
    }
}

int session_run(
    struct vial_session *s, struct vial_run *run, struct vial_result **ret, struct vial_error *err)
{
    struct vial_engine *e = s->engine;
    struct vial_result *result = NULL;
    int r;

    run->session = s;
    run->cell = s->cell;
    run->pidfd = fcntl(s->pidfd, F_DUPFD_CLOEXEC, 3);
    run->wake_fd = s->wake_fd;
    run->introduce = s->introduced ? NULL : s->tools;
    r = run->pidfd < 0 ? vial__fail_sys(err, errno, "copying a descriptor")
                       : result_new(&run->limits, e->isolation_json, &result, err);
    r = r < 0 ? r : calls_open(run, s->tools, s->mounts, s->breed, err);
    r = r < 0 ? r : fetches_open(run, s->env, err);
    meter_restart(&e->cells[s->cell]);
    r = r < 0 ? r : run_begin(run, err);
    r = r < 0 ? r : drive_run(run, result, err);
    if (r == VIAL_OK && result != NULL) {
        drive_usage(run, result);
        s->introduced = 1;
        s->seeded |= run->permit.settled.random_is_set;
        s->eval_count += run->complete == 0 && run->release == 0;
        s->file_count = (uint32_t)result->session_files[0];
        s->file_bytes = result->session_files[1];
        judge(s, result);
        run_complete(run, result);
        say_session_state(result);
        *ret = result;
    } else {
        (void)pthread_mutex_lock(&e->lock);
        note_end(s, "vial failed: %.120s", err != NULL ? err->text : "");
        (void)pthread_mutex_unlock(&e->lock);
        release(s, 0);
        vial_result_free(result);
    }
    run->cell = CELL_NONE; /* it is the session's */
    return r;
}

/* A run with the request's own parts; what belongs to the session is not the request's to set. */
int session_new_run(struct vial_session *s, const struct vial_request *request,
    struct vial_run **ret, struct vial_error *err)
{
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_limits limits;
    int r;

    if (request == NULL || request->size > sizeof(q)) {
        return vial__fail(err, VIAL_E_INVALID, "an evaluation needs a request");
    }
    memcpy(&q, request, request->size);
    q.size = sizeof(q);
    if (q.environment != NULL || q.tools_count > 0 || q.files_count > 0 || q.module_count > 0 ||
        q.globals != NULL || q.env_count > 0 || q.scan_rules_count > 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "files, modules, tools, globals, variables and rules belong to the session, not to one "
            "of its programs");
    }
    if (q.limits == NULL) {
        q.limits = &s->limits;
    } else if (s->env != NULL) { /* which says how far a program may go */
        r = env_limits(s->env, q.limits, &limits, err);
        if (r < 0) {
            return r;
        }
        q.limits = &limits;
    }
    r = run_new(s->engine, &q, ret, err);
    if (r == VIAL_OK) { /* these hold for all of the session */
        (*ret)->limits.memory_bytes_max = s->limits.memory_bytes_max;
        (*ret)->limits.disk_bytes_max = s->limits.disk_bytes_max;
        (*ret)->limits.files_max = s->limits.files_max;
        (*ret)->limits.open_files_max = s->limits.open_files_max;
        (*ret)->request.limits = NULL; /* they have been taken over */
        (*ret)->session_kind = SESSION_EVAL;
        if (s->env != NULL && s->env->document->scan_mode > (*ret)->scan) {
            (*ret)->scan = s->env->document->scan_mode;
        }
        r = permit_open(*ret, s->env_permissions, s, err);
        if (r < 0) {
            vial_run_free(*ret);
            *ret = NULL;
        }
    }
    return r;
}

int session_enter_and_run(
    struct vial_session *s, struct vial_run *run, struct vial_result **ret, struct vial_error *err)
{
    int r = enter(s, err);

    if (r == VIAL_OK) {
        r = session_run(s, run, ret, err);
        leave(s);
    }
    return r;
}

int vial_session_eval(struct vial_session *s, const struct vial_request *request,
    struct vial_result **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    char name[48];
    int r;

    if (s == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "an evaluation needs a session");
    }
    r = session_new_run(s, request, &run, err);
    if (r < 0) {
        return r;
    }
    if (run->request.name == NULL) {
        (void)snprintf(name, sizeof(name), "eval-%llu.%s", (unsigned long long)s->eval_count + 1,
            s->breed == BREED_JS ? "js" : "py");
        run->request.name = name;
    }
    r = session_enter_and_run(s, run, ret, err);
    vial_run_free(run);
    return r;
}

void vial_session_cancel(struct vial_session *s)
{
    uint64_t one = 1;

    /* Not through the run, which may be freed at any moment. */
    __atomic_store_n(&s->cancelled, 1, __ATOMIC_SEQ_CST);
    (void)!write(s->wake_fd, &one, sizeof(one)); /* short counts handled */
}

/* ---- making and ending ---- */

static int check_options(const struct vial_session_options *options, struct vial_session_options *o,
    struct vial_limits *limits, struct vial_error *err)
{
    *o = (struct vial_session_options)VIAL_SESSION_OPTIONS_INIT;
    if (options != NULL) {
        if (options->size > sizeof(*o)) {
            return vial__fail(err, VIAL_E_INVALID, "the options of a session are too large");
        }
        memcpy(o, options, options->size);
    }
    if (o->idle_ms_max > LIFE_MS_LIMIT || o->life_ms_max > LIFE_MS_LIMIT) {
        return vial__fail(err, VIAL_E_INVALID,
            "idle_ms_max and life_ms_max of a session may be up to %d", LIFE_MS_LIMIT);
    }
    if (o->name != NULL && (strlen(o->name) > 63 || !utf8_valid(o->name, strlen(o->name), NULL))) {
        return vial__fail(
            err, VIAL_E_INVALID, "the name of a session must be UTF-8 of up to 63 bytes");
    }
    return limits_resolve(o->limits, limits, err);
}

static int check_count(struct vial_engine *e, size_t more, struct vial_error *err)
{
    int r = VIAL_OK;

    (void)pthread_mutex_lock(&e->lock);
    if (more > e->sessions_max || e->sessions_count > e->sessions_max - more) {
        r = vial__fail(err, VIAL_E_BUSY,
            "there are %u sessions, and there may be %u (sessions_max); end some first",
            e->sessions_count, e->sessions_max);
    }
    (void)pthread_mutex_unlock(&e->lock);
    return r;
}

/* Reads what the session itself says. */
static int take_permissions(
    struct vial_session *s, const char *json, size_t len, struct vial_error *err)
{
    int r;

    if (json == NULL) {
        return VIAL_OK;
    }
    r = permission_parse(json, len, &s->permissions, err);
    if (r < 0) {
        return r;
    }
    s->permissions_json = strndup(json, len);
    return s->permissions_json != NULL
               ? VIAL_OK
               : vial__fail(err, VIAL_E_NOMEM, "no memory for the permissions of a session");
}

/* The program that puts the session's files, modules and globals into its cell: an empty one. */
static int introduce(
    struct vial_session *s, const struct vial_session_options *o, struct vial_error *err)
{
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_run *run = NULL;
    int r;

    if (o->files_count == 0 && o->module_count == 0 && o->globals == NULL && o->env_count == 0 &&
        o->permissions == NULL) {
        return VIAL_OK;
    }
    q.source = "";
    q.name = "session";
    q.limits = &s->limits;
    q.files = o->files;
    q.files_count = o->files_count;
    q.modules = o->modules;
    q.module_count = o->module_count;
    q.env = o->env;
    q.env_count = o->env_count;
    q.globals = o->globals;
    q.globals_len = o->globals_len;
    r = run_new(s->engine, &q, &run, err);
    if (r < 0) {
        return r;
    }
    run->session_kind = SESSION_EVAL;
    r = permit_open(run, s->env_permissions, s, err);
    r = r < 0 ? r : session_run(s, run, &result, err);
    if (r == VIAL_OK && result->status != VIAL_STATUS_OK) {
        r = vial__fail(err, VIAL_E_INVALID, "the session could not be set up: %s: %s",
            result->error.name, result->error.message);
    }
    vial_result_free(result);
    vial_run_free(run);
    return r;
}

static int take_cell(struct vial_engine *e, const struct vial_limits *limits,
    const struct vial_session_options *o, uint32_t *ret_cell, int *ret_pidfd,
    struct vial_error *err)
{
    struct cell_want want = {
        .spec = e->spec_default, .origin = CELL_NONE, .env = o->environment, .stays = 1};
    int never = 0;

    want.spec.kind = CELL_ORIGIN;
    engine_set_breed(&want.spec,
        o->environment != NULL ? env_breed(o->environment) : engine_breed_of(o->language, NULL));
    want.spec.open_files_max = limits->open_files_max;
    return env_take_cell(e, &want, &never, ret_cell, ret_pidfd, err);
}

int vial_session_new(struct vial_engine *e, const struct vial_session_options *options,
    struct vial_session **ret, struct vial_error *err)
{
    struct vial_session_options o;
    struct tool_set *tools = NULL;
    struct vial_session *s = NULL;
    struct vial_limits limits;
    uint32_t cell = CELL_NONE;
    int pidfd = -1;
    int r;

    if (e == NULL || ret == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "a session needs an engine and a place for it");
    }
    r = check_options(options, &o, &limits, err);
    r = r < 0 ? r : check_count(e, 1, err);
    if (r == VIAL_OK && o.environment != NULL) {
        r = env_limits(o.environment, o.limits, &limits, err);
        r = r < 0 ? r : env_tools(o.environment, o.tools, o.tools_count, &tools, err);
        r = r < 0 ? r : env_check_globals(o.environment, o.globals, o.globals_len, err);
    } else if (r == VIAL_OK && o.tools_count > 0) {
        r = tool_set_new(o.tools, o.tools_count, &tools, err);
    }
    r = r < 0 ? r : take_cell(e, &limits, &o, &cell, &pidfd, err);
    r = r < 0 ? r : session_adopt(e, cell, pidfd, &limits, tools, 0, &s, err);
    tool_set_unref(tools);
    if (r < 0) {
        if (cell != CELL_NONE) {
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
            fd_closep(&pidfd);
            pool_give_back_member(e, cell, 0);
        }
        return r;
    }
    s->env = o.environment;
    s->env_permissions = o.environment != NULL ? o.environment->document->permissions : NULL;
    s->has_variables = o.env_count > 0;
    s->mounts = o.environment != NULL ? o.environment->mounts : NULL;
    s->introduced = o.environment != NULL; /* its template has them */
    s->idle_us_max = o.idle_ms_max != 0 ? o.idle_ms_max * 1000ULL : s->idle_us_max;
    s->life_us_max = o.life_ms_max != 0 ? o.life_ms_max * 1000ULL : s->life_us_max;
    (void)snprintf(s->name, sizeof(s->name), "%s", o.name != NULL ? o.name : "");
    r = take_permissions(s, o.permissions, o.permissions_len, err);
    r = r < 0 ? r : introduce(s, &o, err);
    if (r < 0) {
        vial_session_free(s);
        return r;
    }
    *ret = s;
    return VIAL_OK;
}

void vial_session_end(struct vial_session *s)
{
    int idle;

    if (s == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&s->engine->lock);
    idle = s->state == VIAL_SESSION_IDLE;
    note_end(s, "it was ended");
    __atomic_store_n(&s->cancelled, 1, __ATOMIC_SEQ_CST);
    (void)pthread_mutex_unlock(&s->engine->lock);
    kill_process(s); /* whoever evaluates in it sees that */
    if (idle) {
        release(s, 0);
    }
}

void vial_session_free(struct vial_session *s)
{
    if (s == NULL) {
        return;
    }
    vial_session_end(s);
    release(s, 0);
    (void)pthread_mutex_lock(&s->engine->lock);
    unlink_session(s);
    (void)pthread_mutex_unlock(&s->engine->lock);
    fd_closep(&s->pidfd);
    fd_closep(&s->wake_fd);
    tool_set_unref(s->tools);
    permission_free(s->permissions);
    free(s->permissions_json);
    free(s);
}

/* Nobody drives a session that rests, but it may have threads, or worse. With the engine's lock
 * held: why it has to end, or NULL. */
static const char *restless(const struct vial_session *s)
{
    const struct cell *cell = &s->engine->cells[s->cell];

    if (cell->gone || mutate_without_part("rest")) {
        return NULL;
    }
    if (meter_cpu_us(cell) > s->rest_cpu_us + s->limits.cpu_ms_max * 1000ULL) {
        return "it used a whole program's processor time between two programs";
    }
    return meter_polls(cell) && meter_memory_now(cell) > s->limits.memory_bytes_max
               ? "it took more memory than it may have between two programs"
               : NULL;
}

void session_expire(struct vial_engine *e, uint64_t now_us)
{
    struct vial_session *s;
    const char *why;

    for (s = e->sessions; s != NULL; s = s->next) {
        if (s->state != VIAL_SESSION_IDLE) {
            continue;
        }
        why = restless(s);
        if (why != NULL) {
            note_end(s, "%s", why);
            kill_process(s);
        }
        if (now_us > s->used_us + s->idle_us_max) {
            note_end(
                s, "it was not used for %llu s", (unsigned long long)(s->idle_us_max / 1000000));
            kill_process(s);
        } else if (now_us > s->created_us + s->life_us_max) {
            note_end(s, "it was %llu s old", (unsigned long long)(s->life_us_max / 1000000));
            kill_process(s);
        }
    }
}

/* ---- branches ---- */

static int branch_once(struct vial_session *s, struct vial_session **ret, struct vial_error *err)
{
    struct cell_want want = {.spec = s->engine->cells[s->cell].spec, .origin = s->cell, .stays = 1};
    struct vial_session *b = NULL;
    uint32_t cell = CELL_NONE;
    int pidfd = -1;
    int never = 0;
    int r = pool_take(s->engine, &want, 1, &never, &cell, &pidfd, err);

    r = r < 0 ? r : session_adopt(s->engine, cell, pidfd, &s->limits, s->tools, 0, &b, err);
    if (r < 0) {
        if (cell != CELL_NONE) {
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
            fd_closep(&pidfd);
            pool_give_back_member(s->engine, cell, 0);
        }
        return r;
    }
    b->parent_id = s->id;
    b->env = s->env;
    b->env_permissions = s->env_permissions;
    b->has_variables = s->has_variables;
    b->mounts = s->mounts;
    b->introduced = s->introduced;
    b->eval_count = s->eval_count;
    b->file_count = s->file_count;
    b->file_bytes = s->file_bytes;
    b->idle_us_max = s->idle_us_max;
    b->life_us_max = s->life_us_max;
    memcpy(b->name, s->name, sizeof(b->name));
    r = take_permissions(
        b, s->permissions_json, s->permissions_json != NULL ? strlen(s->permissions_json) : 0, err);
    if (r < 0) {
        vial_session_free(b);
        return r;
    }
    *ret = b;
    return VIAL_OK;
}

int vial_session_branch(
    struct vial_session *s, size_t count, struct vial_session *ret[], struct vial_error *err)
{
    size_t i = 0;
    int r;

    if (s == NULL || ret == NULL || count == 0) {
        return vial__fail(err, VIAL_E_INVALID, "a branch needs a session and a place for it");
    }
    r = check_count(s->engine, count, err);
    r = r < 0 ? r : enter(s, err);
    if (r < 0) {
        return r;
    }
    for (i = 0; r == VIAL_OK && i < count; i++) {
        r = branch_once(s, &ret[i], err);
        s->branch_count += r == VIAL_OK;
    }
    leave(s);
    if (r < 0) {
        for (i--; i > 0; i--) {
            vial_session_free(ret[i - 1]);
            ret[i - 1] = NULL;
        }
    }
    return r;
}

/* ---- looking at them ---- */

void session_fill_info(struct vial_session *s, struct vial_session_info *info)
{
    struct vial_engine *e = s->engine;

    info->state = s->state;
    info->id = s->id;
    info->parent_id = s->parent_id;
    info->created_us = s->created_us;
    info->used_us = s->used_us;
    info->eval_count = s->eval_count;
    info->branch_count = s->branch_count;
    info->file_count = s->file_count;
    info->file_bytes = s->file_bytes;
    memcpy(info->name, s->name, sizeof(info->name));
    memcpy(info->ended, s->ended, sizeof(info->ended));
    if (s->state == VIAL_SESSION_IDLE && e->cells[s->cell].gone) {
        info->state = VIAL_SESSION_ENDED;
        (void)snprintf(info->ended, sizeof(info->ended), "its process has died");
    } else if (s->cell != CELL_NONE) {
        info->memory_bytes = meter_memory_now(&e->cells[s->cell]);
    }
}

void vial_session_info(struct vial_session *s, struct vial_session_info *info)
{
    struct vial_session_info full = VIAL_SESSION_INFO_INIT;
    uint32_t size = info->size < sizeof(full) ? info->size : (uint32_t)sizeof(full);

    (void)pthread_mutex_lock(&s->engine->lock);
    session_fill_info(s, &full);
    (void)pthread_mutex_unlock(&s->engine->lock);
    full.size = info->size;
    memcpy(info, &full, size);
}

size_t vial_engine_sessions(struct vial_engine *e, struct vial_session_info *infos, size_t count)
{
    uint32_t size = count > 0 && infos->size < sizeof(*infos) ? infos->size : sizeof(*infos);
    uint32_t step = count > 0 ? infos->size : 0;
    struct vial_session *s;
    size_t i = 0;

    (void)pthread_mutex_lock(&e->lock);
    for (s = e->sessions; s != NULL; s = s->next) {
        struct vial_session_info full = VIAL_SESSION_INFO_INIT;

        if (i < count) {
            session_fill_info(s, &full);
            full.size = step;
            memcpy((char *)infos + i * step, &full, size);
        }
        i++;
    }
    (void)pthread_mutex_unlock(&e->lock);
    return i;
}
