/* test_alloc_tools.c - fails the n-th allocation of a call of a tool and of the pool of threads,
 * for every n: as test_alloc.c does for runs.
 *
 * Whatever fails must end in an error code and leave no descriptor, process or memory behind. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper.h"
#include "host/tool_exec.h"
#include "host/tool_http.h"
#include "host/workers.h"
#include "http_server.h"

enum { SWEEP_MAX = 100 }; /* far more allocations than any step makes */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static __thread int armed; /* is the count running, in this thread? */
static __thread int left;  /* how many allocations still succeed */

static int refuse(void)
{
    return armed && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

/* Was an allocation refused since? */
static int disarm(void)
{
    armed = 0;
    return left < 0;
}

static void arm(int n)
{
    left = n;
    armed = 1;
}

/* One call of a tool of either kind, with the n-th allocation refused; was it? */
static int call(const struct tool_exec *exec, const struct tool_http *http, int n, int wanted)
{
    struct vial_error err = {0};
    struct tool_failure failure;
    struct buf answer;
    uint64_t deadline_us = clock_now_us() + 10000000;
    int hit, r;

    buf_init(&answer, 100000);
    tool_failure_init(&failure);
    arm(n);
    if (exec != NULL) {
        r = tool_exec_call(exec, "1", 1, deadline_us, 100000, NULL, &answer, &failure, &err);
    } else {
        r = tool_http_call(http, "1", 1, deadline_us, 100000, NULL, &answer, &failure, &err);
    }
    hit = disarm();
    if (r != wanted) {
        assert_true(hit);
        assert_int_equal(r, VIAL_E_NOMEM);
        assert_int_equal(err.code, VIAL_E_NOMEM);
    }
    buf_release(&answer);
    tool_failure_release(&failure);
    return hit;
}

static void a_program_answers_or_there_is_no_memory(void **state)
{
    static const char *const scripts[] = {
        "head -c 50000 /dev/zero | tr '\\0' 1", "echo x >&2; exit 1"};
    const char *command[] = {"sh", "-c", NULL};
    struct tool_exec tool = {.command = command, .command_count = 3};
    unsigned fds = helper_fds_count();
    int i, n, hit;

    (void)state;
    for (i = 0; i < 2; i++) {
        command[2] = scripts[i];
        for (n = 0, hit = 1; hit && n < SWEEP_MAX; n++) {
            hit = call(&tool, NULL, n, i == 0 ? 0 : TOOL_FAILED);
            assert_int_equal(helper_fds_count(), fds);
            assert_true(helper_has_no_children());
        }
        assert_in_range(n, 3, SWEEP_MAX - 1);
    }
}

struct sweep {
    struct http_server *server;
    int wanted;
    int n;
    int hit;
};

/* In a thread of its own, which has no handles yet and gives them back at its end. */
static void *call_in_thread(void *user)
{
    struct sweep *s = user;
    struct tool_http tool = {0};
    char url[100];

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", s->server->port);
    tool.url = url;
    s->hit = call(NULL, &tool, s->n, s->wanted);
    return NULL;
}

static void a_server_answers_or_there_is_no_memory(void **state)
{
    static const char *const texts[] = {"HTTP/1.1 200 OK\r\n\r\n1", "HTTP/1.1 404 X\r\n\r\nno"};
    struct sweep s = {.wanted = 0};
    unsigned fds = helper_fds_count();
    pthread_t thread;
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        s.server = http_server_new(http_serve_text, texts[i]);
        s.wanted = i == 0 ? 0 : TOOL_FAILED;
        s.hit = 1;
        for (s.n = 0; s.hit && s.n < SWEEP_MAX; s.n++) {
            assert_int_equal(pthread_create(&thread, NULL, call_in_thread, &s), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
        }
        assert_in_range(s.n, 3, SWEEP_MAX - 1);
        http_server_free(s.server);
        assert_int_equal(helper_fds_count(), fds);
    }
}

static void note(void *user)
{
    (void)__atomic_add_fetch((unsigned *)user, 1, __ATOMIC_SEQ_CST);
}

static void a_pool_of_threads_is_there_or_there_is_no_memory(void **state)
{
    struct vial_error err;
    struct workers *w;
    unsigned done = 0;
    int n, r, hit = 1;

    (void)state;
    for (n = 0; hit && n < SWEEP_MAX; n++) {
        w = NULL;
        done = 0;
        err = (struct vial_error){0};
        arm(n);
        r = workers_new(2, 2, &w, &err);
        if (r == 0) {
            r = workers_run(w, note, NULL, &done, &err);
        }
        hit = disarm();
        assert_true(r == 0 || r == VIAL_E_NOMEM || (r == VIAL_E_SYS && err.sys == ENOMEM));
        assert_true(hit || r == 0);
        workers_free(w, 10000);
        assert_int_equal(done, r == 0 ? 1 : 0);
    }
    assert_in_range(n, 4, SWEEP_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_answers_or_there_is_no_memory),
        cmocka_unit_test(a_server_answers_or_there_is_no_memory),
        cmocka_unit_test(a_pool_of_threads_is_there_or_there_is_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
