/* jobs.c - what waits, in threads of our own: those of libuv are four, and a run would keep one of
 * them from files and names of the whole process. */
#include "binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As many runs as an engine has at most by default, several times; what is beyond waits for a
 * thread. */
enum { THREADS_MAX = 512, IDLE_SECONDS_MAX = 10, STACK_BYTES = 512 * 1024 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *first, *last;
    unsigned queued_count, idle_count, thread_count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void unlink_job(struct job *job)
{
    struct instance *in = job->instance;

    pthread_mutex_lock(&in->lock);
    if (job->prev != NULL) {
        job->prev->next = job->next;
    } else {
        in->jobs = job->next;
    }
    if (job->next != NULL) {
        job->next->prev = job->prev;
    }
    job->prev = job->next = NULL;
    pthread_mutex_unlock(&in->lock);
}

static void count_down(struct instance *in)
{
    pthread_mutex_lock(&in->lock);
    if (--in->job_count == 0) {
        pthread_cond_broadcast(&in->quiet);
    }
    pthread_mutex_unlock(&in->lock);
}

/* What it held is let go of here, where that may wait, and before the instance counts it as done.
 */
static struct event *let_go(struct job *job)
{
    struct handle *target;
    struct event *e = NULL;

    unlink_job(job);
    request_release(&job->request);
    target = job->target;
    job->target = NULL;
    handle_drop(target);
    if (job->number != 0) {
        e = event_new(EVENT_DONE, job->number, NULL, 0);
    }
    if (e != NULL) {
        e->job = job;
    }
    return e;
}

void job_finish(struct job *job)
{
    struct instance *in = job->instance;
    struct event *e;

    __atomic_add_fetch(&in->refs, 1, __ATOMIC_SEQ_CST);
    e = let_go(job);
    if (e == NULL || post(in, e) < 0) {
        job_free(job);
    }
    count_down(in);
    instance_drop(in);
}

struct event *job_settle(struct job *job)
{
    struct event *e = let_go(job);

    count_down(job->instance);
    return e;
}

void job_forget(struct job *job)
{
    struct instance *in = job->instance;

    unlink_job(job);
    job_free(job);
    count_down(in);
}

static struct job *next_job(void)
{
    struct job *job = NULL;
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS_MAX;
    pthread_mutex_lock(&pool.lock);
    while (pool.first == NULL) {
        int r;

        pool.idle_count++;
        r = pthread_cond_timedwait(&pool.more, &pool.lock, &until);
        pool.idle_count--;
        if (r == ETIMEDOUT && pool.first == NULL) {
            break;
        }
    }
    job = pool.first;
    if (job != NULL) {
        pool.first = job->queued;
        if (pool.first == NULL) {
            pool.last = NULL;
        }
        pool.queued_count--;
    } else {
        pool.thread_count--;
    }
    pthread_mutex_unlock(&pool.lock);
    return job;
}

static void *work(void *unused)
{
    struct job *job;

    (void)unused;
    while ((job = next_job()) != NULL) {
        job_do(job);
        job_finish(job);
    }
    return NULL;
}

static int start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int r;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    r = pthread_create(&thread, &attributes, work, NULL);
    pthread_attr_destroy(&attributes);
    return r == 0 ? 0 : -1;
}

int job_enqueue(struct job *job)
{
    int r = 0;

    pthread_mutex_lock(&pool.lock);
    if (pool.queued_count + 1 > pool.idle_count && pool.thread_count < THREADS_MAX) {
        r = start_thread();
        pool.thread_count += r == 0;
        r = pool.thread_count > 0 ? 0 : -1;
    }
    if (r == 0) {
        if (pool.last != NULL) {
            pool.last->queued = job;
        } else {
            pool.first = job;
        }
        pool.last = job;
        pool.queued_count++;
        pthread_cond_signal(&pool.more);
    }
    pthread_mutex_unlock(&pool.lock);
    return r;
}

int job_submit(struct job *job, napi_value *ret_outcome)
{
    struct instance *in = job->instance;

    pthread_mutex_lock(&in->lock);
    if (in->is_closed || in->job_count >= JOBS_MAX) {
        pthread_mutex_unlock(&in->lock);
        return -1;
    }
    in->job_count++;
    job->next = in->jobs;
    if (job->next != NULL) {
        job->next->prev = job;
    }
    in->jobs = job;
    pthread_mutex_unlock(&in->lock);
    if (here_begin(in, job, ret_outcome) == 0 || job_enqueue(job) == 0) {
        return 0;
    }
    unlink_job(job);
    count_down(in);
    return -1;
}

/* The instance's lock is held. */
void job_cancel(struct job *job)
{
    job->is_cancelled = 1;
    if (job->op == OP_RUN && job->run != NULL) {
        vial_run_cancel(job->run);
    } else if ((job->op == OP_SESSION_EVAL || job->op == OP_SESSION_CALL) && job->target != NULL) {
        vial_session_cancel(job->target->is.session);
    }
}

void job_free(struct job *job)
{
    vial_run_free(job->run);
    request_release(&job->request);
    vial_result_free(job->result);
    if (job->branches != NULL) {
        for (size_t i = 0; i < job->count; i++) {
            handle_drop(job->branches[i]);
        }
        free(job->branches);
    }
    handle_drop(job->made);
    handle_drop(job->target);
    free(job);
}

/* ---- the operations ---- */

void job_end_run(struct job *job)
{
    struct vial_run *run = job->run;

    pthread_mutex_lock(&job->instance->lock);
    job->run = NULL;
    pthread_mutex_unlock(&job->instance->lock);
    vial_run_free(run);
}

static void do_run(struct job *job)
{
    struct vial_run *run = job->run; /* which may have begun */
    struct instance *in = job->instance;

    if (run == NULL) {
        job->code = vial_run_start(job->target->is.engine, &job->request.request, &run, &job->err);
        if (job->code < 0) {
            return;
        }
        pthread_mutex_lock(&in->lock);
        job->run = run;
        if (job->is_cancelled) {
            vial_run_cancel(run);
        }
        pthread_mutex_unlock(&in->lock);
    }
    job->code = vial_run_wait(run, &job->result, &job->err);
    job_end_run(job);
}

static void made(struct job *job, enum handle_kind kind, void *object, struct handle *engine)
{
    job->made = handle_new(job->instance, kind, object, engine);
    if (job->made == NULL) {
        job->code = VIAL_E_NOMEM;
        return;
    }
    job->made->arena = arena_take(job->request.arena);
    if (job->request.environment != NULL) {
        job->made->environment = handle_take(job->request.environment);
    }
}

static void do_engine_new(struct job *job)
{
    struct vial_engine *engine = NULL;

    job->code = vial_engine_new(&job->engine_options, &engine, &job->err);
    if (job->code == 0) {
        made(job, HANDLE_ENGINE, engine, NULL);
    }
}

static void do_env_new(struct job *job)
{
    struct vial_env *environment = NULL;

    job->code = vial_env_new(job->target->is.engine, job->bytes, job->len,
        job->request.request.tools, job->request.request.tools_count, &environment, &job->err);
    if (job->code == 0) {
        made(job, HANDLE_ENVIRONMENT, environment, job->target);
    }
}

static void do_session_new(struct job *job)
{
    struct vial_session *session = NULL;

    job->code =
        vial_session_new(job->target->is.engine, &job->request.options, &session, &job->err);
    if (job->code == 0) {
        made(job, HANDLE_SESSION, session, job->target);
    }
}

static void do_branch(struct job *job)
{
    struct vial_session **sessions = calloc(job->count, sizeof(struct vial_session *));
    struct handle *from = job->target;

    job->branches = calloc(job->count, sizeof(struct handle *));
    if (job->branches == NULL || sessions == NULL) {
        free(sessions);
        job->code = VIAL_E_NOMEM;
        return;
    }
    job->code = vial_session_branch(from->is.session, job->count, sessions, &job->err);
    for (size_t i = 0; job->code == 0 && i < job->count; i++) {
        struct handle *h = handle_new(job->instance, HANDLE_SESSION, sessions[i], from->engine);

        if (h == NULL) { /* of the first that is left without a handle on */
            for (size_t rest = i; rest < job->count; rest++) {
                vial_session_free(sessions[rest]);
            }
            job->code = VIAL_E_NOMEM;
            break;
        }
        h->arena = arena_take(from->arena);
        h->environment = from->environment != NULL ? handle_take(from->environment) : NULL;
        job->branches[i] = h;
    }
    free(sessions);
}

static void do_call(struct job *job)
{
    struct vial_request request = job->request.request;
    const char *args = request.input;
    size_t len = request.input_len;

    request.input = NULL;
    request.input_len = 0;
    job->code = vial_session_call(
        job->target->is.session, job->function, args, len, &request, &job->result, &job->err);
}

void job_do(struct job *job)
{
    if (job->is_over) {
        return;
    }
    if (job->is_cancelled && job->op != OP_RUN && job->op != OP_CLOSE) {
        job->code = VIAL_E_GONE;
        (void)strcpy(job->err.text, "it was cancelled before it began");
        return;
    }
    switch (job->op) {
    case OP_ENGINE_NEW:
        do_engine_new(job);
        break;
    case OP_RUN:
        do_run(job);
        break;
    case OP_ENV_NEW:
        do_env_new(job);
        break;
    case OP_ENV_START:
        job->code = vial_env_start(job->target->is.env, &job->result, &job->err);
        break;
    case OP_SESSION_NEW:
        do_session_new(job);
        break;
    case OP_SESSION_EVAL:
        job->code = vial_session_eval(
            job->target->is.session, &job->request.request, &job->result, &job->err);
        break;
    case OP_SESSION_CALL:
        do_call(job);
        break;
    case OP_SESSION_BRANCH:
        do_branch(job);
        break;
    case OP_SETTLE:
        vial_engine_settle(job->target->is.engine, (uint32_t)job->count);
        break;
    case OP_CLOSE:
        handle_drop(job->target);
        job->target = NULL;
        break;
    case OP_COUNT:
        break;
    }
}
