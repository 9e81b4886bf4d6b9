/* workers.c - see workers.h.
 *
 * Work goes straight to the thread that became idle last, under its own condition variable: one
 * piece of work wakes exactly one thread, the others grow old undisturbed and end, and connections
 * that a thread keeps are used while they are warm. The queue only fills while every thread is busy
 * and no more may be started; each thread looks there before it rests.
 *
 * Threads are joined, so that none is still in the library's code after workers_free: each one that
 * ends joins the one that ended before it, and the last is left to workers_free. The threads that
 * outlive workers_free detach themselves, and the last of them frees the pool. */
#include "host/workers.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"

/* Work here waits in libcurl or for a program, which takes some 24 KiB of stack, and there may be
 * hundreds of threads: with the usual 8 MiB each they would break a host that limits its address
 * space. */
enum { STACK_BYTES = 256 * 1024 };

struct job {
    void (*work)(void *user);
    void (*drop)(void *user); /* may be NULL */
    void *user;
};

/* One thread. It lives on the heap from before the thread starts until it ends. */
struct worker {
    struct workers *workers;
    struct worker *below; /* the next one on the stack of idle threads */
    pthread_cond_t wake;  /* signalled with has_job set, or when the pool closes */
    struct job job;
    int has_job;
};

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t gone; /* signalled when a thread ends while the pool closes */
    unsigned threads_max;
    unsigned threads_count; /* including those being started */
    struct worker *idle;    /* a stack */
    struct job *queue;      /* a ring of queue_max */
    unsigned queue_max;
    unsigned queue_first;
    unsigned queue_count;
    uint32_t idle_ms;
    int closing;
    int left; /* workers_free has returned: the last thread frees this */
    pthread_t ended;
    int has_ended; /* ended is a thread that nobody has joined yet */
};

static void workers_destroy(struct workers *w)
{
    assert(w->threads_count == 0 && w->queue_count == 0);
    (void)pthread_cond_destroy(&w->gone);
    (void)pthread_mutex_destroy(&w->lock);
    free(w->queue);
    free(w);
}

static int cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    int r;

    r = pthread_condattr_init(&attributes);
    if (r != 0) {
        return r;
    }
    r = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (r == 0) {
        r = pthread_cond_init(cond, &attributes);
    }
    (void)pthread_condattr_destroy(&attributes);
    return r;
}

static struct timespec time_in(uint32_t ms)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

/* ---- the queue and the stack of idle threads, with the lock held ---- */

static struct job queue_take(struct workers *w)
{
    struct job job = w->queue[w->queue_first];

    assert(w->queue_count > 0);
    w->queue_first = (w->queue_first + 1) % w->queue_max;
    w->queue_count--;
    return job;
}

static void queue_add(struct workers *w, const struct job *job)
{
    assert(w->queue_count < w->queue_max);
    w->queue[(w->queue_first + w->queue_count) % w->queue_max] = *job;
    w->queue_count++;
}

static void idle_remove(struct workers *w, const struct worker *worker)
{
    struct worker **p = &w->idle;

    while (*p != worker) {
        p = &(*p)->below;
    }
    *p = worker->below;
}

static void idle_give(struct workers *w, const struct job *job)
{
    struct worker *worker = w->idle;

    w->idle = worker->below;
    worker->job = *job;
    worker->has_job = 1;
    (void)pthread_cond_signal(&worker->wake);
}

/* ---- the threads ---- */

/* Rests until there is a job, and 1; or 0 when the thread shall end. */
static int worker_wait(struct worker *worker)
{
    struct workers *w = worker->workers;
    struct timespec until = time_in(w->idle_ms);
    int r = 0;

    if (w->closing) { /* what is queued is dropped then, not done */
        return 0;
    }
    if (w->queue_count > 0) {
        worker->job = queue_take(w);
        return 1;
    }
    worker->below = w->idle;
    w->idle = worker;
    while (!worker->has_job && !w->closing && r == 0) {
        r = pthread_cond_timedwait(&worker->wake, &w->lock, &until);
    }
    if (!worker->has_job) { /* else whoever gave it has taken us off the stack */
        idle_remove(w, worker);
    }
    return worker->has_job;
}

/* The lock is held and let go of. */
static void worker_end(struct worker *worker)
{
    struct workers *w = worker->workers;
    pthread_t before = w->ended;
    int join = w->has_ended && !w->left;
    int destroy;

    (void)pthread_cond_destroy(&worker->wake);
    free(worker);
    w->threads_count--;
    destroy = w->left && w->threads_count == 0;
    if (w->left) {
        (void)pthread_detach(pthread_self());
    } else {
        w->ended = pthread_self();
        w->has_ended = 1;
    }
    if (w->closing && !w->left) {
        (void)pthread_cond_signal(&w->gone);
    }
    (void)pthread_mutex_unlock(&w->lock);
    if (join) { /* it has left the lock for good, so this waits for next to nothing */
        (void)pthread_join(before, NULL);
    }
    if (destroy) {
        workers_destroy(w);
    }
}

static void *worker_main(void *user)
{
    struct worker *worker = user;
    struct workers *w = worker->workers;
    struct job job = worker->job;

    for (;;) {
        worker->has_job = 0;
        job.work(job.user);
        (void)pthread_mutex_lock(&w->lock);
        if (!worker_wait(worker)) {
            worker_end(worker);
            return NULL;
        }
        job = worker->job;
        (void)pthread_mutex_unlock(&w->lock);
    }
}

/* Starts a thread with its first job. It is counted already. 0, or an errno. */
static int worker_start(struct workers *w, const struct job *job)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int r;

    if (worker == NULL) {
        return ENOMEM;
    }
    worker->workers = w;
    worker->job = *job;
    r = cond_init(&worker->wake);
    if (r != 0) {
        free(worker);
        return r;
    }
    r = pthread_attr_init(&attributes);
    if (r == 0) {
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        /* Signals are the program's; none of its handlers shall run in our threads. */
        (void)sigfillset(&all);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        r = pthread_create(&thread, &attributes, worker_main, worker);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void)pthread_attr_destroy(&attributes);
    }
    if (r != 0) {
        (void)pthread_cond_destroy(&worker->wake);
        free(worker);
    }
    return r;
}

/* ---- the interface ---- */

int workers_new(
    unsigned threads_max, unsigned queue_max, struct workers **ret, struct vial_error *err)
{
    struct workers *w;
    int r;

    if (threads_max == 0 || threads_max > WORKERS_THREADS_MAX || queue_max == 0 ||
        queue_max > WORKERS_QUEUE_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "a pool of %u threads with a queue of %u: it takes 1 to %d and 1 to %d", threads_max,
            queue_max, WORKERS_THREADS_MAX, WORKERS_QUEUE_MAX);
    }
    w = calloc(1, sizeof(*w));
    if (w == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a pool of threads");
    }
    w->threads_max = threads_max;
    w->queue_max = queue_max;
    w->idle_ms = WORKERS_IDLE_MS;
    w->queue = calloc(queue_max, sizeof(*w->queue));
    if (w->queue == NULL) {
        free(w);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a queue of %u", queue_max);
    }
    r = pthread_mutex_init(&w->lock, NULL);
    if (r == 0) {
        r = cond_init(&w->gone);
        if (r != 0) {
            (void)pthread_mutex_destroy(&w->lock);
        }
    }
    if (r != 0) {
        free(w->queue);
        free(w);
        return vial__fail_sys(err, r, "making a pool of threads");
    }
    *ret = w;
    return VIAL_OK;
}

/* With the lock held: gives the job to whoever is there, or leaves it in the queue. */
static int give_or_queue(struct workers *w, const struct job *job, struct vial_error *err)
{
    if (w->closing) {
        return vial__fail(err, VIAL_E_BUSY, "the pool of threads is being closed");
    }
    if (w->idle != NULL) {
        idle_give(w, job);
        return VIAL_OK;
    }
    if (w->queue_count == w->queue_max) {
        return vial__fail(err, VIAL_E_BUSY,
            "all %u threads are busy and %u pieces of work wait: try again later", w->threads_count,
            w->queue_count);
    }
    queue_add(w, job);
    return VIAL_OK;
}

int workers_run(struct workers *w, void (*work)(void *user), void (*drop)(void *user), void *user,
    struct vial_error *err)
{
    struct job job = {.work = work, .drop = drop, .user = user};
    int sys;
    int r;

    (void)pthread_mutex_lock(&w->lock);
    if (w->closing || w->idle != NULL || w->threads_count == w->threads_max) {
        r = give_or_queue(w, &job, err);
        (void)pthread_mutex_unlock(&w->lock);
        return r;
    }
    w->threads_count++; /* which keeps the pool alive while the lock is let go of */
    (void)pthread_mutex_unlock(&w->lock);
    sys = worker_start(w, &job);
    if (sys == 0) {
        return VIAL_OK;
    }
    (void)pthread_mutex_lock(&w->lock);
    w->threads_count--;
    if (w->threads_count > 0) { /* one that is there will come to it */
        r = give_or_queue(w, &job, err);
    } else {
        r = vial__fail_sys(err, sys, "starting a thread for blocking work");
    }
    (void)pthread_mutex_unlock(&w->lock);
    return r;
}

/* With the lock held: every thread that is still there frees its part when it is done. */
static void wait_for_threads(struct workers *w, uint32_t ms)
{
    struct timespec until = time_in(ms);
    int r = 0;

    while (w->threads_count > 0 && r == 0) {
        r = pthread_cond_timedwait(&w->gone, &w->lock, &until);
    }
}

void workers_free(struct workers *w, uint32_t ms)
{
    struct worker *worker;
    struct job job;
    pthread_t ended;
    int has_ended;
    int destroy;

    if (w == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&w->lock);
    w->closing = 1;
    for (worker = w->idle; worker != NULL; worker = worker->below) {
        (void)pthread_cond_signal(&worker->wake);
    }
    while (w->queue_count > 0) {
        job = queue_take(w);
        (void)pthread_mutex_unlock(&w->lock);
        if (job.drop != NULL) {
            job.drop(job.user);
        }
        (void)pthread_mutex_lock(&w->lock);
    }
    wait_for_threads(w, ms);
    ended = w->ended;
    has_ended = w->has_ended;
    w->left = 1;
    destroy = w->threads_count == 0;
    (void)pthread_mutex_unlock(&w->lock);
    if (has_ended) {
        (void)pthread_join(ended, NULL);
    }
    if (destroy) {
        workers_destroy(w);
    }
}

void workers_set_idle_ms(struct workers *w, uint32_t ms)
{
    (void)pthread_mutex_lock(&w->lock);
    w->idle_ms = ms;
    (void)pthread_mutex_unlock(&w->lock);
}

unsigned workers_thread_count(struct workers *w)
{
    unsigned count;

    (void)pthread_mutex_lock(&w->lock);
    count = w->threads_count;
    (void)pthread_mutex_unlock(&w->lock);
    return count;
}
