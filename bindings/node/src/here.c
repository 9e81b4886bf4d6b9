/* here.c - small runs in Node's own thread: it tells the cell what to do, its loop wakes when the
 * cell has answered, and no other thread has to. That is what a run of a moment costs most.
 *
 * Limits of time are kept by who waits for a run. So a run that is not over after a moment, and
 * every run with tools, a network or much to send, is for a thread. Node's own may be busy with
 * something else for as long as it likes: a watch of ours, on a timer of the kernel's, takes the
 * run away from it.
 *
 * Before it goes back to its loop, Node's thread waits a little for the answer: the cell sits on
 * the same processor, so nothing is gained by not waiting while it runs, and the way through the
 * loop takes longer than most small programs. Where programs take longer than that it soon gives up
 * waiting. */
#include "binding.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    HERE_US = 2000,             /* a cell sits on our processor as long */
    WAIT_NS = 400 * 1000,       /* Node's thread stands still for so long at most */
    WAITS_SKIPPED = 32,         /* after one that was in vain */
    HERE_BYTES_MAX = 64 * 1024, /* is written at once, whether or not the cell reads */
    UV_POLL = 8,                /* of enum uv_handle_type, which libuv 1 does not change */
    UV_READABLE = 1,            /* of enum uv_poll_event */
    UV_HANDLE_BYTES_MAX = 4096, /* a poll handle has 160 */
    WATCH_STACK_BYTES = 512 * 1024
};

/* What we use of libuv. Who loads the addon has it; its headers are in another package than those
 * of Node-API, and something that is only like Node may not have it. */
static struct {
    int (*poll_init)(struct uv_loop_s *loop, void *handle, int fd);
    int (*poll_start)(
        void *handle, int events, void (*ready)(void *handle, int status, int events));
    void (*close)(void *handle, void (*closed)(void *handle));
    void (*unref)(void *handle);
    size_t (*handle_size)(int type);
    const char *(*handle_type_name)(int type);
    int is_there;
} uv;

static unsigned here_count; /* runs that are here, of all instances; atomic */

static struct {
    pthread_mutex_t lock;
    int fd; /* a timer; -1: there is none, and no run is here */
    int is_set;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static uint64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- the watch ---- */

/* The watch's lock is held. 0 stops it. */
static void set_watch(uint64_t at_us)
{
    struct itimerspec t = {.it_value = {.tv_sec = (time_t)(at_us / 1000000),
                               .tv_nsec = (long)(at_us % 1000000) * 1000}};

    watch.is_set = at_us != 0;
    (void)timerfd_settime(watch.fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void watch_from(uint64_t at_us)
{
    pthread_mutex_lock(&watch.lock);
    if (!watch.is_set) { /* else it looks earlier, and then at this one as well */
        set_watch(at_us);
    }
    pthread_mutex_unlock(&watch.lock);
}

static void *keep_watch(void *unused)
{
    uint64_t count;

    (void)unused;
    while (read(watch.fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
        uint64_t next;

        pthread_mutex_lock(&watch.lock);
        watch.is_set = 0;
        pthread_mutex_unlock(&watch.lock);
        next = instances_hand_over(now_us());
        if (next != 0) {
            watch_from(next);
        }
    }
    return NULL;
}

static int start_watch(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int r = 0;

    pthread_mutex_lock(&watch.lock);
    if (watch.fd < 0) {
        watch.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, WATCH_STACK_BYTES);
        if (watch.fd < 0 || pthread_create(&thread, &attributes, keep_watch, NULL) != 0) {
            r = -1;
        }
        pthread_attr_destroy(&attributes);
        if (r < 0 && watch.fd >= 0) {
            (void)close(watch.fd);
            watch.fd = -1;
        }
    }
    pthread_mutex_unlock(&watch.lock);
    return r;
}

/* ---- from here to a thread ---- */

static void forget_fd(const struct instance *in, const struct job *job)
{
    int fd = vial_run_fd(job->run);

    if (fd >= 0) {
        (void)epoll_ctl(in->here_fd, EPOLL_CTL_DEL, fd, NULL);
    }
}

/* The run that is here, which is then nobody's: NULL when there is none, or it has time. */
static struct job *take_job(struct instance *in, uint64_t due_us, uint64_t *ret_next_us)
{
    struct job *job;

    pthread_mutex_lock(&in->lock);
    job = in->here;
    if (job != NULL && job->here_until_us > due_us) {
        if (ret_next_us != NULL && (*ret_next_us == 0 || job->here_until_us < *ret_next_us)) {
            *ret_next_us = job->here_until_us;
        }
        job = NULL;
    } else if (job != NULL) {
        in->here = NULL;
        __atomic_sub_fetch(&here_count, 1, __ATOMIC_SEQ_CST);
        forget_fd(in, job);
    }
    pthread_mutex_unlock(&in->lock);
    return job;
}

static void hand_over(struct job *job)
{
    if (job_enqueue(job) < 0) { /* there is no thread to be had: it has to end now */
        vial_run_cancel(job->run);
        job_do(job);
        job_finish(job);
    }
}

void here_hand_over(struct instance *in, uint64_t due_us, uint64_t *ret_next_us)
{
    struct job *job = take_job(in, due_us, ret_next_us);

    if (job != NULL) {
        hand_over(job);
    }
}

/* ---- in Node's thread ---- */

/* Tells JavaScript at once, unless something else of this run is on its way there. */
static void tell(struct instance *in, struct job *job)
{
    napi_handle_scope handles = NULL;
    napi_callback_scope callback = NULL;
    napi_value resource = NULL;
    struct event *e;

    if (job->has_posted || napi_open_handle_scope(in->env, &handles) != napi_ok) {
        job_finish(job);
        return;
    }
    e = job_settle(job);
    if (e != NULL && napi_get_reference_value(in->env, in->resource, &resource) == napi_ok &&
        napi_open_callback_scope(in->env, resource, in->context, &callback) == napi_ok) {
        call_dispatch(in->env, NULL, in, e);
        (void)napi_close_callback_scope(in->env, callback);
    } else if (e == NULL || post(in, e) < 0) {
        job_free(job);
    }
    (void)napi_close_handle_scope(in->env, handles);
}

/* Who puts a run here counts it first and sets the watch then, so none is left without. */
static void watch_no_more(void)
{
    pthread_mutex_lock(&watch.lock);
    if (watch.is_set && __atomic_load_n(&here_count, __ATOMIC_SEQ_CST) == 0) {
        set_watch(0);
    }
    pthread_mutex_unlock(&watch.lock);
}

/* Puts a run here whose cell has been told what to do; -1 when it cannot be heard from here. */
static int keep_here(struct instance *in, struct job *job)
{
    struct epoll_event event = {.events = EPOLLIN};
    int fd = vial_run_fd(job->run);

    if (fd < 0) {
        return -1;
    }
    pthread_mutex_lock(&in->lock);
    if (epoll_ctl(in->here_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
        fd = -1;
    } else {
        in->here = job;
        __atomic_add_fetch(&here_count, 1, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&in->lock);
    return fd < 0 ? -1 : 0;
}

/* The cell has said something. */
static void hear(void *handle, int status, int events)
{
    struct instance *in = *(struct instance **)handle; /* its first member is for its user */
    struct job *job = take_job(in, UINT64_MAX, NULL);

    (void)status;
    (void)events;
    if (job == NULL) {
        return;
    }
    job->code = vial_run_try(job->run, &job->result, &job->err);
    if (job->code == 0 && job->result == NULL) {
        if (now_us() >= job->here_until_us || keep_here(in, job) < 0) {
            hand_over(job);
        } else {
            watch_from(job->here_until_us); /* it may have looked meanwhile, and found none */
        }
        return;
    }
    job_end_run(job);
    tell(in, job);
    watch_no_more();
}

static int is_small(const struct job *job)
{
    const struct vial_request *q = &job->request.request;

    return job->op == OP_RUN && q->tools_count == 0 && q->files_count == 0 &&
           q->module_count == 0 && q->environment == NULL && q->net == NULL &&
           q->on_approve == NULL &&
           q->source_len + q->input_len + q->stdin_len + q->permissions_len < HERE_BYTES_MAX;
}

/* Waits a little for the cell's answer; 1: the run is over. */
static int wait_here(struct instance *in, struct job *job)
{
    static const struct timespec wait = {.tv_nsec = WAIT_NS};
    struct pollfd p = {.fd = vial_run_fd(job->run), .events = POLLIN};

    if (in->skip_count > 0) {
        in->skip_count--;
        return 0;
    }
    if (p.fd < 0 || ppoll(&p, 1, &wait, NULL) <= 0) {
        in->skip_count = WAITS_SKIPPED;
        return 0;
    }
    job->code = vial_run_try(job->run, &job->result, &job->err);
    if (job->code == 0 && job->result == NULL) {
        return 0;
    }
    job_end_run(job);
    return 1;
}

/* One at a time: a second one would wait for the first one's processor. */
int here_begin(struct instance *in, struct job *job, napi_value *ret_outcome)
{
    const struct vial_limits *limits = job->request.request.limits;
    uint64_t lasts_us = HERE_US;

    if (in->poll == NULL || in->is_deaf || in->here != NULL || !is_small(job)) {
        return -1;
    }
    if (limits != NULL && limits->wall_ms_max != 0 && limits->wall_ms_max * 1000ULL < lasts_us) {
        lasts_us = limits->wall_ms_max * 1000ULL;
    }
    job->here_until_us = now_us() + lasts_us;
    job->code = vial_run_start(job->target->is.engine, &job->request.request, &job->run, &job->err);
    if (job->code < 0) {
        job->is_over = 1; /* a thread tells of it */
        return -1;
    }
    if (wait_here(in, job)) {
        if (job->has_posted || job->code < 0 || ret_outcome == NULL) {
            job_finish(job); /* behind what else of this run is on its way to JavaScript */
        } else {
            *ret_outcome = job_outcome(in->env, job);
            job_forget(job);
        }
        return 0;
    }
    if (keep_here(in, job) < 0) {
        return -1;
    }
    watch_from(job->here_until_us);
    return 0;
}

/* ---- the life of it ---- */

static void closed(void *handle)
{
    struct instance *in = *(struct instance **)handle;

    if (in->poll_hook != NULL) {
        (void)napi_remove_async_cleanup_hook(in->poll_hook);
    }
    free(handle);
    instance_drop(in);
}

static void close_poll(napi_async_cleanup_hook_handle hook, void *data)
{
    struct instance *in = data;

    in->poll_hook = hook;
    uv.close(in->poll, closed);
    in->poll = NULL;
}

static int find(const char *name, void *ret)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    memcpy(ret, &symbol, sizeof(symbol));
    return symbol != NULL ? 0 : -1;
}

static void find_uv(void)
{
    const char *name;

    if (find("uv_poll_init", &uv.poll_init) == 0 && find("uv_poll_start", &uv.poll_start) == 0 &&
        find("uv_close", &uv.close) == 0 && find("uv_unref", &uv.unref) == 0 &&
        find("uv_handle_size", &uv.handle_size) == 0 &&
        find("uv_handle_type_name", &uv.handle_type_name) == 0) {
        name = uv.handle_type_name(UV_POLL);
        uv.is_there = name != NULL && strcmp(name, "poll") == 0 &&
                      uv.handle_size(UV_POLL) >= sizeof(void *) &&
                      uv.handle_size(UV_POLL) <= UV_HANDLE_BYTES_MAX;
    }
}

void here_open(struct instance *in)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct uv_loop_s *loop = NULL;
    napi_value resource = NULL, name = NULL;
    void *handle;

    (void)pthread_once(&once, find_uv);
    if (!uv.is_there || start_watch() < 0 || napi_get_uv_event_loop(in->env, &loop) != napi_ok ||
        napi_create_object(in->env, &resource) != napi_ok ||
        napi_create_reference(in->env, resource, 1, &in->resource) != napi_ok ||
        napi_create_string_utf8(in->env, "vial", NAPI_AUTO_LENGTH, &name) != napi_ok ||
        napi_async_init(in->env, resource, name, &in->context) != napi_ok) {
        return;
    }
    in->here_fd = epoll_create1(EPOLL_CLOEXEC);
    handle = calloc(1, uv.handle_size(UV_POLL));
    if (in->here_fd < 0 || handle == NULL || uv.poll_init(loop, handle, in->here_fd) != 0) {
        free(handle);
        return;
    }
    *(struct instance **)handle = in;
    in->poll = handle;
    __atomic_add_fetch(&in->refs, 1, __ATOMIC_SEQ_CST);
    uv.unref(handle); /* what keeps Node alive is told elsewhere */
    if (napi_add_async_cleanup_hook(in->env, close_poll, in, NULL) != napi_ok) {
        close_poll(NULL, in);
    } else if (uv.poll_start(handle, UV_READABLE, hear) != 0) {
        in->is_deaf = 1; /* runs are for threads */
    }
}
