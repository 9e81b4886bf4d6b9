/* engine.c - making and ending an engine; see vial.h and engine.h. */
#include "host/engine.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "host/env.h"
#include "host/place.h"
#include "policy/limits.h"

enum {
    POOL_DEFAULT = 8,  /* about 1 MB each; a burst of as many starts at once */
    RUNS_DEFAULT = 64, /* with the default memory limit 8 GiB at the very worst */
    QUEUE_DEFAULT = 256,
    QUEUE_MS_DEFAULT = 10000,
    TOOL_THREADS_DEFAULT = 128, /* tools mostly wait; 256 KiB of stack each, touched as needed */
    TOOL_THREADS_LIMIT = 1024,
    SESSIONS_DEFAULT = 64,
    SESSIONS_LIMIT = 1024,
    ENV_CELLS = 64,     /* ready for runs in environments, of all of them together */
    FAMILIES_ENVS = 64, /* environments that have a template at the same time */
    POOL_LIMIT = 1024,
    RUNS_LIMIT = 2048,
    QUEUE_LIMIT = 65536,
    QUEUE_MS_LIMIT = 3600 * 1000,
    ISOLATION_BYTES_MAX = 16384,
    CELL_IN_BYTES_MAX = 1024 * 1024 * 1024, /* twice the largest value and its text; see frame.c */
};

static const uint64_t ENV_BYTES_DEFAULT = UINT64_C(1024) * 1024 * 1024;

const char *vial_version(void)
{
    return VIAL_VERSION;
}

/* The path of a program in the directory of this file, when it is there; else NULL. */
static const char *beside(const char *file, const char *name, char path[PATH_MAX])
{
    const char *slash = file != NULL ? strrchr(file, '/') : NULL;

    if (slash == NULL) {
        return NULL;
    }
    (void)snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - file), file, name);
    return access(path, X_OK) == 0 ? path : NULL;
}

int engine_find_program(struct vial_engine *e, unsigned breed, struct vial_error *err)
{
    const char *name = breed == BREED_JS ? "vial-cell-js" : "vial-cell-python";
    struct breed *b = &e->breeds[breed];
    const char *found = breed == e->first ? e->cell_path : NULL;
    char path[PATH_MAX];
    Dl_info info;

    if (b->cell_path != NULL) {
        return VIAL_OK;
    }
    if (found != NULL && access(found, X_OK) < 0) {
        return vial__fail_sys(err, errno, "the cell program %s", found);
    }
    if (found == NULL) {
        found = beside(e->cell_path, name, path);
    }
    if (found == NULL && dladdr((const void *)(uintptr_t)vial_version, &info) != 0) {
        found = beside(info.dli_fname, name, path);
    }
    if (found == NULL) {
        found = beside(VIAL_LIBEXEC_DIR "/", name, path);
    }
    if (found == NULL) {
        return vial__fail(
            err, VIAL_E_CELL, "there is no %s beside libvial nor in %s", name, VIAL_LIBEXEC_DIR);
    }
    b->cell_path = strdup(found);
    return b->cell_path != NULL ? VIAL_OK
                                : vial__fail(err, VIAL_E_NOMEM, "no memory for an engine");
}

void engine_set_breed(struct cell_spec *spec, unsigned breed)
{
    spec->breed = breed;
    spec->threads_max = breed == BREED_JS ? 0 : PYTHON_THREADS;
}

unsigned engine_breed_of(uint32_t language, const char *name)
{
    size_t len = name != NULL ? strlen(name) : 0;

    if (language == VIAL_LANGUAGE_AUTO && len > 3 && strcmp(name + len - 3, ".py") == 0) {
        return BREED_PYTHON;
    }
    return language == VIAL_LANGUAGE_PYTHON ? BREED_PYTHON : BREED_JS;
}

static int in_range(const char *name, uint32_t v, uint32_t by_default, uint32_t max, uint32_t *ret,
    struct vial_error *err)
{
    if (v > max) {
        return vial__fail(err, VIAL_E_INVALID, "%s is %u; it may be up to %u", name, v, max);
    }
    *ret = v != 0 ? v : by_default;
    return VIAL_OK;
}

static int take_options(
    struct vial_engine *e, const struct vial_engine_options *options, struct vial_error *err)
{
    struct vial_engine_options o = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_limits limits;
    int r;

    if (options != NULL) {
        memcpy(&o, options, options->size < sizeof(o) ? options->size : sizeof(o));
    }
    r = in_range("pool_count", o.pool_count, POOL_DEFAULT, POOL_LIMIT, &e->pool_count, err);
    r = r < 0 ? r : in_range("runs_max", o.runs_max, RUNS_DEFAULT, RUNS_LIMIT, &e->runs_max, err);
    r = r < 0 ? r
              : in_range("queue_count_max", o.queue_count_max, QUEUE_DEFAULT, QUEUE_LIMIT,
                    &e->queue_count_max, err);
    r = r < 0 ? r
              : in_range("queue_ms_max", o.queue_ms_max, QUEUE_MS_DEFAULT, QUEUE_MS_LIMIT,
                    &e->queue_ms_max, err);
    r = r < 0 ? r
              : in_range("tool_threads_max", o.tool_threads_max, TOOL_THREADS_DEFAULT,
                    TOOL_THREADS_LIMIT, &e->calls.threads_max, err);
    r = r < 0 ? r
              : in_range("sessions_max", o.sessions_max, SESSIONS_DEFAULT, SESSIONS_LIMIT,
                    &e->sessions_max, err);
    e->env_bytes_max = o.env_bytes_max != 0 ? o.env_bytes_max : ENV_BYTES_DEFAULT;
    r = r < 0 ? r : layer_require_check(o.require, err);
    r = r < 0 ? r : limits_resolve(NULL, &limits, err);
    if (r < 0) {
        return r;
    }
    e->no_jit = o.no_jit != 0;
    e->quick = o.quick != 0;
    e->for_sessions = o.for_sessions != 0;
    e->on_secret = o.on_secret;
    e->secret_user = o.secret_user;
    e->memory_default = limits.memory_bytes_max;
    e->spec_default = (struct cell_spec){.open_files_max = limits.open_files_max};
    e->require = o.require != NULL ? strdup(o.require) : NULL;
    e->cell_path = o.cell_path != NULL ? strdup(o.cell_path) : NULL;
    if ((o.require != NULL && e->require == NULL) ||
        (o.cell_path != NULL && e->cell_path == NULL)) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an engine");
    }
    e->first = engine_breed_of(o.language, NULL);
    return engine_find_program(e, e->first, err);
}

static int make_tables(struct vial_engine *e, struct vial_error *err)
{
    unsigned count =
        BREEDS * e->pool_count + e->runs_max + e->sessions_max + ENV_CELLS + CELLS_EXTRA;
    unsigned families = e->sessions_max + FAMILIES_ENVS;
    unsigned i;
    int missing = 0;

    count = count < CELLS_LIMIT ? count : CELLS_LIMIT;
    families = families < FAMILIES_LIMIT ? families : FAMILIES_LIMIT;
    e->cells = calloc(count, sizeof(*e->cells));
    e->families = calloc(families, sizeof(*e->families));
    for (i = 0; i < BREEDS; i++) {
        e->breeds[i].ready = calloc(count, sizeof(*e->breeds[i].ready));
        missing |= e->breeds[i].ready == NULL;
    }
    if (e->cells == NULL || missing || e->families == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an engine");
    }
    e->cells_count = count; /* only now: vial_engine_free closes what so many cells hold */
    for (i = 0; i < e->cells_count; i++) {
        e->cells[i].sock = e->cells[i].pidfd = e->cells[i].statm_fd = -1;
        e->cells[i].cgroups = (struct cgroup_slot){.memory_fd = -1, .peak_fd = -1, .kills_fd = -1};
        buf_init(&e->cells[i].in, CELL_IN_BYTES_MAX);
    }
    e->families_count = families;
    for (i = 0; i < families; i++) {
        e->families[i].sock = e->families[i].pidfd = e->families[i].listener = -1;
    }
    e->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    e->host_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (e->wake_fd < 0 || e->host_pidfd < 0) {
        return vial__fail_sys(err, errno, "making descriptors for an engine");
    }
    if (e->host_pidfd < 16) { /* away from the numbers that a new program gets */
        int moved = fcntl(e->host_pidfd, F_DUPFD_CLOEXEC, 16);

        if (moved < 0) {
            return vial__fail_sys(err, errno, "making descriptors for an engine");
        }
        (void)close(e->host_pidfd);
        e->host_pidfd = moved;
    }
    return VIAL_OK;
}

static int write_isolation(struct vial_engine *e, struct vial_error *err)
{
    struct json_writer w;
    struct buf out;
    size_t len;
    int r;

    buf_init(&out, ISOLATION_BYTES_MAX);
    json_init(&w, &out, err);
    layer_report_write(&e->report, &w);
    r = json_finish(&w);
    r = r < 0 ? r : buf_take(&out, &e->isolation_json, &len, err);
    buf_release(&out);
    e->level = layer_report_level(&e->report);
    return r;
}

/* What the canary found about a control group, with what the host knows about it. */
static void merge_group(struct layer_entry *found, const struct layer_entry *known)
{
    uint8_t state = found->state != LAYER_OFF ? found->state : known->state;

    found->sys = known->state == LAYER_OFF ? known->sys : found->sys;
    found->version = known->version;
    found->state = known->state == LAYER_OFF ? (uint8_t)LAYER_OFF : state;
}

/* The first template, so that what is wrong is said to the caller and not found out by the first
 * run. */
static int first_template(struct vial_engine *e, struct vial_error *err)
{
    struct breed *b = &e->breeds[e->first];
    struct layer_report groups;
    int r;

    memset(&groups, 0, sizeof(groups));
    cgroup_base_open(&e->cgroups, &groups);
    r = template_start(e, e->first, e->for_sessions, &e->templates[0], &e->report, err);
    if (r < 0) {
        return r;
    }
    b->wanted = 1;
    b->current = 0;
    b->current_stays = e->for_sessions ? 0 : -1;
    e->template_count = 1;
    merge_group(&e->report.entries[LAYER_CGROUP_MEMORY], &groups.entries[LAYER_CGROUP_MEMORY]);
    merge_group(&e->report.entries[LAYER_CGROUP_PIDS], &groups.entries[LAYER_CGROUP_PIDS]);
    r = layer_report_require(&e->report, e->require, err);
    r = r < 0 ? r : write_isolation(e, err);
    if (r == 0 && e->level == NULL) {
        return vial__fail(err, VIAL_E_ISOLATION,
            "this kernel offers less than the lowest level of isolation; `vial doctor` says what "
            "is missing");
    }
    return r;
}

int vial_engine_new(
    const struct vial_engine_options *options, struct vial_engine **ret, struct vial_error *err)
{
    struct vial_engine *e = calloc(1, sizeof(*e));
    pthread_condattr_t monotonic;
    unsigned i;
    int r;

    if (e == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for an engine");
    }
    for (i = 0; i < BREEDS; i++) {
        e->breeds[i].current = e->breeds[i].current_stays = -1;
    }
    e->pace_us = UINT16_MAX; /* nobody is in a hurry yet */
    e->wake_fd = e->host_pidfd = -1;
    for (i = 0; i < TEMPLATES_MAX; i++) {
        e->templates[i].sock = e->templates[i].pidfd = -1;
    }
    for (i = 0; i < CGROUP_CONTROLLERS; i++) {
        e->cgroups.controllers[i].dir_fd = -1;
    }
    (void)pthread_mutex_init(&e->lock, NULL);
    call_table_init(&e->calls, TOOL_THREADS_DEFAULT);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&e->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)sched_getaffinity(0, sizeof(e->cpus), &e->cpus);
    r = take_options(e, options, err);
    r = r < 0 ? r : make_tables(e, err);
    r = r < 0 ? r : first_template(e, err);
    r = r < 0 ? r : keeper_start(e, err);
    if (r < 0) {
        vial_engine_free(e);
        return r;
    }
    *ret = e;
    return VIAL_OK;
}

void vial_engine_free(struct vial_engine *e)
{
    unsigned i;
    int held;

    if (e == NULL) {
        return;
    }
    held = call_table_release(&e->calls) < 0;
    keeper_stop(e);
    cgroup_base_close(&e->cgroups);
    fd_closep(&e->wake_fd);
    fd_closep(&e->host_pidfd);
    (void)pthread_cond_destroy(&e->changed);
    (void)pthread_mutex_destroy(&e->lock);
    free(e->cells);
    for (i = 0; i < BREEDS; i++) {
        free(e->breeds[i].ready);
        free(e->breeds[i].cell_path);
    }
    free(e->families);
    free(e->cell_path);
    free(e->require);
    free(e->isolation_json);
    if (!held) { /* a function that never returns may still want to answer: better lost than used */
        free(e);
    }
}

const char *vial_engine_isolation(const struct vial_engine *engine)
{
    return engine->isolation_json;
}

const char *vial_engine_level(const struct vial_engine *engine)
{
    return engine->level;
}

static int is_settled(const struct vial_engine *e)
{
    const struct vial_env *env;
    unsigned i;

    for (env = e->envs; env != NULL; env = env->next) {
        if (env_is_up(env) && !env->failed && env->ready_count < env->wanted_count) {
            return 0;
        }
    }

    for (i = 0; i < BREEDS; i++) {
        if (e->breeds[i].ready_count < place_wanted(e, &e->breeds[i])) {
            return 0;
        }
    }
    return 1;
}

void vial_engine_settle(struct vial_engine *e, uint32_t ms)
{
    uint64_t deadline = clock_now_us() + ms * 1000ULL;
    struct timespec until;

    (void)pthread_mutex_lock(&e->lock);
    while (!is_settled(e) && clock_now_us() < deadline) {
        until.tv_sec = (time_t)(deadline / 1000000);
        until.tv_nsec = (long)(deadline % 1000000) * 1000;
        (void)pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    (void)pthread_mutex_unlock(&e->lock);
}

void vial_engine_stats(struct vial_engine *e, struct vial_engine_stats *stats)
{
    struct vial_engine_stats s = VIAL_ENGINE_STATS_INIT;
    const struct breed *b = &e->breeds[e->first];
    unsigned i;
    size_t n = stats->size < sizeof(s) ? stats->size : sizeof(s);

    if (n <= sizeof(s.size)) {
        return;
    }
    (void)pthread_mutex_lock(&e->lock);
    for (i = 0; i < BREEDS; i++) {
        s.ready_count += e->breeds[i].ready_count;
    }
    s.busy_count = e->busy_count;
    s.template_count = e->template_count;
    s.run_count = e->run_count;
    s.template_pid = b->current >= 0 ? e->templates[b->current].pid : 0;
    s.idle_cell_pid = b->ready_count > 0 ? e->cells[b->ready[0]].pid : 0;
    (void)pthread_mutex_unlock(&e->lock);
    memcpy((char *)stats + sizeof(s.size), (const char *)&s + sizeof(s.size), n - sizeof(s.size));
}
