/* jobs.c - see jobs.h. */
#include "http/jobs.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"

enum { STACK_BYTES = 1 << 20 }; /* the library needs a tenth of it */

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct job *first, *last; /* those that wait */
    size_t waiting, waiting_max;
    int stop;
    uint32_t threads_count;
    pthread_t threads[];
};

static void *work(void *user)
{
    struct jobs *jobs = user;

    (void)pthread_mutex_lock(&jobs->lock);
    for (;;) {
        struct job *job;

        while (jobs->first == NULL && !jobs->stop) {
            (void)pthread_cond_wait(&jobs->more, &jobs->lock);
        }
        if (jobs->first == NULL) {
            break;
        }
        job = jobs->first;
        jobs->first = job->next;
        jobs->waiting--;
        (void)pthread_mutex_unlock(&jobs->lock);
        job->work(job);
        (void)pthread_mutex_lock(&jobs->lock);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

int jobs_new(uint32_t threads, uint32_t queue_max, struct jobs **ret, struct vial_error *err)
{
    struct jobs *jobs = calloc(1, sizeof(*jobs) + threads * sizeof(jobs->threads[0]));
    pthread_attr_t attributes;
    sigset_t all, before;
    int r = 0;

    if (jobs == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for %u threads", threads);
    }
    jobs->waiting_max = queue_max;
    (void)pthread_mutex_init(&jobs->lock, NULL);
    (void)pthread_cond_init(&jobs->more, NULL);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    (void)sigfillset(&all); /* signals are the loop's */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    while (jobs->threads_count < threads && r == 0) {
        r = pthread_create(&jobs->threads[jobs->threads_count], &attributes, work, jobs);
        jobs->threads_count += r == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    if (r != 0) {
        jobs_free(jobs);
        return vial__fail_sys(err, r, "starting %u threads", threads);
    }
    *ret = jobs;
    return VIAL_OK;
}

void jobs_free(struct jobs *jobs)
{
    uint32_t i;

    if (jobs == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&jobs->lock);
    jobs->stop = 1;
    (void)pthread_cond_broadcast(&jobs->more);
    (void)pthread_mutex_unlock(&jobs->lock);
    for (i = 0; i < jobs->threads_count; i++) {
        (void)pthread_join(jobs->threads[i], NULL);
    }
    assert(jobs->first == NULL);
    (void)pthread_cond_destroy(&jobs->more);
    (void)pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

int jobs_add(struct jobs *jobs, struct job *job)
{
    int r = -1;

    if (jobs == NULL) {
        return -1;
    }
    job->next = NULL;
    (void)pthread_mutex_lock(&jobs->lock);
    if (jobs->waiting < jobs->waiting_max) {
        if (jobs->first == NULL) {
            jobs->first = job;
        } else {
            jobs->last->next = job;
        }
        jobs->last = job;
        jobs->waiting++;
        r = 0;
        (void)pthread_cond_signal(&jobs->more);
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return r;
}
