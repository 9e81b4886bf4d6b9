/* test_jobs.c - every job is done once, and the queue has an end. */
#include "http/jobs.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 1000 };

static int done;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void count(struct job *job)
{
    (void)job;
    (void)__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
}

static void wait_at_the_gate(struct job *job)
{
    (void)pthread_mutex_lock(&gate);
    (void)pthread_mutex_unlock(&gate);
    count(job);
}

static void all_are_done(void **state)
{
    static struct job jobs[MANY];
    struct jobs *pool = NULL;
    int i;

    (void)state;
    done = 0;
    assert_int_equal(jobs_new(4, MANY, &pool, NULL), 0);
    for (i = 0; i < MANY; i++) {
        jobs[i].work = count;
        assert_int_equal(jobs_add(pool, &jobs[i]), 0);
    }
    jobs_free(pool); /* waits for them */
    assert_int_equal(done, MANY);
}

static void too_many_are_refused(void **state)
{
    struct job jobs[4] = {{.work = wait_at_the_gate}, {.work = wait_at_the_gate},
        {.work = wait_at_the_gate}, {.work = wait_at_the_gate}};
    struct jobs *pool = NULL;

    (void)state;
    done = 0;
    (void)pthread_mutex_lock(&gate);
    assert_int_equal(jobs_new(1, 2, &pool, NULL), 0);
    assert_int_equal(jobs_add(pool, &jobs[0]), 0);
    (void)usleep(50 * 1000); /* it has begun by now */
    assert_int_equal(jobs_add(pool, &jobs[1]), 0);
    assert_int_equal(jobs_add(pool, &jobs[2]), 0);
    assert_int_equal(jobs_add(pool, &jobs[3]), -1);
    (void)pthread_mutex_unlock(&gate);
    jobs_free(pool);
    assert_int_equal(done, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_done),
        cmocka_unit_test(too_many_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
