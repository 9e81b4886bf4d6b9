/* jobs.c - see jobs.h. */
#include "http/jobs.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { STACK_BYTES = 1 << 20 }; /* the library needs a tenth of it */

/* The jobs of one key that wait, in the ring of all keys that have some. */
struct line {
    struct line *next;
    struct job *first, *last;
};

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct line *turn; /* the last one that had its turn, in a ring; NULL when nobody waits */
    size_t waiting, waiting_max, working;
    int stop;
    uint32_t threads_count;
    pthread_t threads[];
};

static struct line *line_of(struct jobs *jobs, const char *key)
{
    struct line *l = jobs->turn;

    if (l != NULL) {
        do {
            if (strcmp(l->first->key, key) == 0) {
                return l;
            }
            l = l->next;
        } while (l != jobs->turn);
    }
    return NULL;
}

/* Takes a line that is empty out of the ring. */
static void drop_line(struct jobs *jobs, struct line *l)
{
    struct line *before = l;

    while (before->next != l) {
        before = before->next;
    }
    before->next = l->next;
    if (jobs->turn == l) {
        jobs->turn = before != l ? before : NULL;
    }
    free(l);
}

/* The next one whose turn it is; there is one. */
static struct job *take(struct jobs *jobs)
{
    struct line *l = jobs->turn->next;
    struct job *job = l->first;

    l->first = job->next;
    jobs->turn = l;
    jobs->waiting--;
    if (l->first == NULL) {
        drop_line(jobs, l);
    }
    return job;
}

static void *work(void *user)
{
    struct jobs *jobs = user;

    (void)pthread_mutex_lock(&jobs->lock);
    for (;;) {
        struct job *job;

        while (jobs->turn == NULL && !jobs->stop) {
            (void)pthread_cond_wait(&jobs->more, &jobs->lock);
        }
        if (jobs->turn == NULL) {
            break;
        }
        job = take(jobs);
        jobs->working++;
        (void)pthread_mutex_unlock(&jobs->lock);
        job->work(job);
        (void)pthread_mutex_lock(&jobs->lock);
        jobs->working--;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

int jobs_new(uint32_t threads, uint32_t queue_max, struct jobs **ret, struct vial_error *err)
{
    struct jobs *jobs = calloc(1, sizeof(*jobs) + threads * sizeof(jobs->threads[0]));
    pthread_attr_t attributes;
    int r = 0;

    if (jobs == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for %u threads", threads);
    }
    jobs->waiting_max = queue_max;
    (void)pthread_mutex_init(&jobs->lock, NULL);
    (void)pthread_cond_init(&jobs->more, NULL);
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (jobs->threads_count < threads && r == 0) {
        r = pthread_create(&jobs->threads[jobs->threads_count], &attributes, work, jobs);
        jobs->threads_count += r == 0;
    }
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
    assert(jobs->turn == NULL);
    (void)pthread_cond_destroy(&jobs->more);
    (void)pthread_mutex_destroy(&jobs->lock);
    free(jobs);
}

/* Puts the job at the end of its line. 0, or -1. */
static int put(struct jobs *jobs, struct job *job)
{
    struct line *l = line_of(jobs, job->key);

    if (l == NULL) {
        l = calloc(1, sizeof(*l));
        if (l == NULL) {
            return -1;
        }
        if (jobs->turn == NULL) {
            jobs->turn = l->next = l;
        } else { /* behind everybody who waits already */
            l->next = jobs->turn->next;
            jobs->turn->next = l;
            jobs->turn = l;
        }
        l->first = job;
    } else {
        l->last->next = job;
    }
    l->last = job;
    return 0;
}

int jobs_add(struct jobs *jobs, struct job *job)
{
    int r = -1;

    job->next = NULL;
    (void)pthread_mutex_lock(&jobs->lock);
    if (jobs->waiting < jobs->waiting_max && put(jobs, job) == 0) {
        jobs->waiting++;
        (void)pthread_cond_signal(&jobs->more);
        r = 0;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return r;
}

static int remove_from(struct jobs *jobs, struct line *l, struct job *job)
{
    struct job *before = NULL, *at;

    for (at = l->first; at != NULL && at != job; at = at->next) {
        before = at;
    }
    if (at == NULL) {
        return 0;
    }
    if (before == NULL) {
        l->first = job->next;
    } else {
        before->next = job->next;
    }
    if (l->last == job) {
        l->last = before;
    }
    if (l->first == NULL) {
        drop_line(jobs, l);
    }
    return 1;
}

int jobs_remove(struct jobs *jobs, struct job *job)
{
    struct line *l;
    int removed = 0;

    (void)pthread_mutex_lock(&jobs->lock);
    l = line_of(jobs, job->key);
    if (l != NULL && remove_from(jobs, l, job)) {
        jobs->waiting--;
        removed = 1;
    }
    (void)pthread_mutex_unlock(&jobs->lock);
    return removed;
}

void jobs_count(struct jobs *jobs, size_t *ret_waiting, size_t *ret_working)
{
    (void)pthread_mutex_lock(&jobs->lock);
    *ret_waiting = jobs->waiting;
    *ret_working = jobs->working;
    (void)pthread_mutex_unlock(&jobs->lock);
}
