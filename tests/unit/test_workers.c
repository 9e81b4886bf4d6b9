/* test_workers.c - the pool of threads: work is done once, at once, in order, and ends in peace. */
#include "host/workers.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper.h"

enum { JOBS_MAX = 20000 };

/* What the jobs of one test share. Everything is atomic or guarded by the lock. */
struct ground {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;               /* jobs that wait at the gate may go on */
    unsigned waiting_count; /* at the gate now */
    unsigned done_count;
    unsigned dropped_count;
    unsigned order[JOBS_MAX];
};

struct task {
    struct ground *ground;
    unsigned number;
};

static struct ground *ground_new(void)
{
    struct ground *g = calloc(1, sizeof(*g));

    assert_non_null(g);
    assert_int_equal(pthread_mutex_init(&g->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&g->changed, NULL), 0);
    return g;
}

static void ground_free(struct ground *g)
{
    (void)pthread_cond_destroy(&g->changed);
    (void)pthread_mutex_destroy(&g->lock);
    free(g);
}

static struct workers *pool_new(unsigned threads_max, unsigned queue_max)
{
    struct workers *w = NULL;

    assert_int_equal(workers_new(threads_max, queue_max, &w, NULL), 0);
    assert_non_null(w);
    return w;
}

static unsigned count(struct ground *g, const unsigned *what)
{
    unsigned n;

    (void)pthread_mutex_lock(&g->lock);
    n = *what;
    (void)pthread_mutex_unlock(&g->lock);
    return n;
}

/* Waits until a count is reached; 10 s are for ever. */
static void wait_count(struct ground *g, const unsigned *what, unsigned wanted)
{
    uint64_t until = clock_now_us() + 10000000;

    while (count(g, what) != wanted) {
        assert_true(clock_now_us() < until);
        helper_sleep_ms(1);
    }
}

static void note_done(struct ground *g, unsigned number)
{
    (void)pthread_mutex_lock(&g->lock);
    g->order[g->done_count] = number;
    g->done_count++;
    (void)pthread_mutex_unlock(&g->lock);
}

static void just_do(void *user)
{
    struct task *t = user;

    note_done(t->ground, t->number);
}

static void sleep_10_ms(void *user)
{
    struct task *t = user;

    helper_sleep_ms(10);
    note_done(t->ground, t->number);
}

static void wait_at_gate(void *user)
{
    struct task *t = user;
    struct ground *g = t->ground;

    (void)pthread_mutex_lock(&g->lock);
    g->waiting_count++;
    while (!g->open) {
        (void)pthread_cond_wait(&g->changed, &g->lock);
    }
    g->waiting_count--;
    (void)pthread_mutex_unlock(&g->lock);
    note_done(g, t->number);
}

static void open_gate(struct ground *g)
{
    (void)pthread_mutex_lock(&g->lock);
    g->open = 1;
    (void)pthread_cond_broadcast(&g->changed);
    (void)pthread_mutex_unlock(&g->lock);
}

static void note_dropped(void *user)
{
    struct task *t = user;

    (void)pthread_mutex_lock(&t->ground->lock);
    t->ground->dropped_count++;
    (void)pthread_mutex_unlock(&t->ground->lock);
}

static void a_hundred_jobs_that_sleep_10_ms_take_little_more(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(128, 16);
    struct task t = {.ground = g};
    uint64_t begun, best_us = UINT64_MAX;
    unsigned round, i;

    (void)state;
    for (round = 1; round <= 5; round++) { /* the first without any thread; others may be busy */
        begun = clock_now_us();
        for (i = 0; i < 100; i++) {
            assert_int_equal(workers_run(w, sleep_10_ms, NULL, &t, NULL), 0);
        }
        wait_count(g, &g->done_count, round * 100);
        best_us = clock_now_us() - begun < best_us ? clock_now_us() - begun : best_us;
    }
    assert_true(workers_thread_count(w) <= 128);
    workers_free(w, 1000);
    ground_free(g);
    assert_true(best_us < 200000); /* one after the other they take a second */
}

static void an_idle_thread_is_used_before_another_is_started(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(128, 16);
    struct task t = {.ground = g};
    unsigned i;

    (void)state;
    assert_int_equal(workers_thread_count(w), 0);
    for (i = 1; i <= 50; i++) {
        assert_int_equal(workers_run(w, just_do, NULL, &t, NULL), 0);
        wait_count(g, &g->done_count, i);
        helper_sleep_ms(2); /* so that it has come to rest */
    }
    assert_true(workers_thread_count(w) <= 5); /* 1 unless the machine is very busy */
    workers_free(w, 1000);
    ground_free(g);
}

static void work_beyond_the_threads_waits_in_order_and_beyond_the_queue_is_refused(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(1, 8);
    struct vial_error err = {0};
    struct task tasks[10];
    unsigned i;

    (void)state;
    for (i = 0; i < 10; i++) {
        tasks[i] = (struct task){.ground = g, .number = i};
    }
    for (i = 0; i < 9; i++) {
        assert_int_equal(workers_run(w, wait_at_gate, NULL, &tasks[i], &err), 0);
    }
    assert_int_equal(workers_run(w, wait_at_gate, NULL, &tasks[9], &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "try again later"));
    assert_int_equal(workers_thread_count(w), 1);
    open_gate(g);
    wait_count(g, &g->done_count, 9);
    for (i = 0; i < 9; i++) {
        assert_int_equal(g->order[i], i);
    }
    workers_free(w, 1000);
    ground_free(g);
}

static void threads_without_work_end_and_others_come_back(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(16, 16);
    struct task t = {.ground = g};
    uint64_t until;
    unsigned round, i;

    (void)state;
    workers_set_idle_ms(w, 20);
    for (round = 1; round <= 3; round++) {
        for (i = 0; i < 16; i++) {
            assert_int_equal(workers_run(w, sleep_10_ms, NULL, &t, NULL), 0);
        }
        wait_count(g, &g->done_count, round * 16);
        until = clock_now_us() + 10000000;
        while (workers_thread_count(w) > 0) {
            assert_true(clock_now_us() < until);
            helper_sleep_ms(5);
        }
    }
    workers_free(w, 1000);
    ground_free(g);
}

static void freeing_drops_what_is_queued_and_waits_for_what_runs(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(2, 16);
    struct task t = {.ground = g};
    unsigned i;

    (void)state;
    for (i = 0; i < 10; i++) {
        assert_int_equal(workers_run(w, sleep_10_ms, note_dropped, &t, NULL), 0);
    }
    workers_free(w, 10000);
    assert_int_equal(g->done_count + g->dropped_count, 10);
    assert_true(g->dropped_count > 0);
    ground_free(g);
    workers_free(NULL, 0);
}

static void freeing_leaves_alone_what_does_not_end(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(4, 16);
    struct task t = {.ground = g};
    uint64_t begun;
    unsigned i;

    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(workers_run(w, wait_at_gate, note_dropped, &t, NULL), 0);
    }
    wait_count(g, &g->waiting_count, 4);
    for (i = 0; i < 3; i++) {
        assert_int_equal(workers_run(w, wait_at_gate, note_dropped, &t, NULL), 0);
    }
    begun = clock_now_us();
    workers_free(w, 30);
    assert_true(clock_now_us() - begun >= 30000);
    assert_true(clock_now_us() - begun < 5000000);
    assert_int_equal(count(g, &g->dropped_count), 3);
    assert_int_equal(count(g, &g->done_count), 0);
    open_gate(g); /* and now they give back what is left, which the leak checker looks for */
    wait_count(g, &g->done_count, 4);
    helper_sleep_ms(50);
    ground_free(g);
}

struct again {
    struct ground *ground;
    struct workers *workers;
    int r; /* of the second workers_run */
};

static void ask_for_more_when_open(void *user)
{
    struct again *a = user;
    struct task t = {.ground = a->ground};

    wait_at_gate(&t);
    a->r = workers_run(a->workers, just_do, NULL, &t, NULL);
    note_done(a->ground, 0);
}

static void *open_soon(void *user)
{
    helper_sleep_ms(50);
    open_gate(user);
    return NULL;
}

static void work_may_ask_for_more_but_not_while_the_pool_closes(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(4, 16);
    struct again a = {.ground = g, .workers = w, .r = 99};
    pthread_t opener;

    (void)state;
    assert_int_equal(workers_run(w, ask_for_more_when_open, NULL, &a, NULL), 0);
    wait_count(g, &g->waiting_count, 1);
    assert_int_equal(pthread_create(&opener, NULL, open_soon, g), 0);
    workers_free(w, 10000);
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(a.r, VIAL_E_BUSY);
    ground_free(g);
}

struct signals {
    struct ground *ground;
    sigset_t blocked;
};

static void look_at_signals(void *user)
{
    struct signals *s = user;

    (void)pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
    note_done(s->ground, 0);
}

static void no_signal_of_the_program_is_delivered_to_a_worker(void **state)
{
    static const int looked_at[] = {SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGPROF};
    struct ground *g = ground_new();
    struct workers *w = pool_new(1, 1);
    struct signals s = {.ground = g};
    sigset_t before, after;
    size_t i;

    (void)state;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(workers_run(w, look_at_signals, NULL, &s, NULL), 0);
    (void)pthread_sigmask(SIG_SETMASK, NULL, &after);
    workers_free(w, 10000);
    for (i = 0; i < sizeof(looked_at) / sizeof(looked_at[0]); i++) {
        assert_true(sigismember(&s.blocked, looked_at[i]));
        assert_int_equal(sigismember(&before, looked_at[i]), sigismember(&after, looked_at[i]));
    }
    ground_free(g);
}

struct feeder {
    struct ground *ground;
    struct workers *workers;
    struct task task;
    unsigned refused_count;
};

enum { FEEDERS = 4, FED = 2000 };

static void *feed(void *user)
{
    struct feeder *f = user;
    unsigned i;

    for (i = 0; i < FED; i++) {
        if (workers_run(f->workers, just_do, NULL, &f->task, NULL) != 0) {
            f->refused_count++;
        }
    }
    return NULL;
}

static void many_threads_may_give_work_and_each_piece_is_done_once(void **state)
{
    struct ground *g = ground_new();
    struct workers *w = pool_new(8, 64);
    struct feeder feeders[FEEDERS];
    pthread_t threads[FEEDERS];
    unsigned refused = 0;
    unsigned i;

    (void)state;
    workers_set_idle_ms(w, 1); /* so that threads end in the middle of it */
    for (i = 0; i < FEEDERS; i++) {
        feeders[i] = (struct feeder){.ground = g, .workers = w, .task = {.ground = g}};
        assert_int_equal(pthread_create(&threads[i], NULL, feed, &feeders[i]), 0);
    }
    for (i = 0; i < FEEDERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        refused += feeders[i].refused_count;
    }
    wait_count(g, &g->done_count, FEEDERS * FED - refused);
    assert_true(refused < FEEDERS * FED);
    assert_true(workers_thread_count(w) <= 8);
    workers_free(w, 10000);
    assert_int_equal(g->done_count, FEEDERS * FED - refused);
    ground_free(g);
}

static int run_without_threads(void *user)
{
    struct rlimit none = {.rlim_cur = 67108864, .rlim_max = 67108864};
    struct ground *g = calloc(1, sizeof(*g));
    struct task t = {.ground = g};
    struct workers *w = NULL;
    struct vial_error err = {0};
    unsigned i;
    int r = 0;

    (void)user;
    CHILD_CHECK(g != NULL && pthread_mutex_init(&g->lock, NULL) == 0);
    CHILD_CHECK(pthread_cond_init(&g->changed, NULL) == 0);
    CHILD_CHECK(workers_new(WORKERS_THREADS_MAX, 4, &w, &err) == 0);
    CHILD_CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    for (i = 0; i < WORKERS_THREADS_MAX && r == 0; i++) {
        r = workers_run(w, wait_at_gate, NULL, &t, &err);
    }
    CHILD_CHECK(r == VIAL_E_BUSY); /* some threads, then four in the queue, then no more */
    CHILD_CHECK(workers_thread_count(w) == i - 5);
    open_gate(g);
    while (count(g, &g->done_count) != i - 1) {
        helper_sleep_ms(1);
    }
    workers_free(w, 10000);
    return CHILD_FINE;
}

static void when_no_more_threads_can_be_had_those_there_do_the_work(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    helper_say_skip("a sanitizer cannot live with a limit on address space");
    skip();
#else
    (void)state;
    assert_int_equal(helper_in_child(run_without_threads, NULL), CHILD_FINE);
#endif
}

static void nonsense_is_refused(void **state)
{
    struct workers *w = NULL;
    struct vial_error err = {0};

    (void)state;
    assert_int_equal(workers_new(0, 1, &w, &err), VIAL_E_INVALID);
    assert_int_equal(workers_new(1, 0, &w, &err), VIAL_E_INVALID);
    assert_int_equal(workers_new(WORKERS_THREADS_MAX + 1, 1, &w, &err), VIAL_E_INVALID);
    assert_int_equal(workers_new(1, WORKERS_QUEUE_MAX + 1, &w, &err), VIAL_E_INVALID);
    assert_null(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_jobs_that_sleep_10_ms_take_little_more),
        cmocka_unit_test(an_idle_thread_is_used_before_another_is_started),
        cmocka_unit_test(work_beyond_the_threads_waits_in_order_and_beyond_the_queue_is_refused),
        cmocka_unit_test(threads_without_work_end_and_others_come_back),
        cmocka_unit_test(freeing_drops_what_is_queued_and_waits_for_what_runs),
        cmocka_unit_test(freeing_leaves_alone_what_does_not_end),
        cmocka_unit_test(work_may_ask_for_more_but_not_while_the_pool_closes),
        cmocka_unit_test(no_signal_of_the_program_is_delivered_to_a_worker),
        cmocka_unit_test(many_threads_may_give_work_and_each_piece_is_done_once),
        cmocka_unit_test(when_no_more_threads_can_be_had_those_there_do_the_work),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
