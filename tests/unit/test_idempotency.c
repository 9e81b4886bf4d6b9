/* test_idempotency.c - a request that comes twice is done once, and answered twice. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/run_store.h"

#define START (UINT64_C(1800000000) * 1000000)

static char directory[64];
static struct vial_error err;
static struct run_store *store;
static struct idempotency_answer last; /* of begin */

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-runs-XXXXXX");
    return mkdtemp(directory) != NULL ? run_store_open(directory, &store, &err) : -1;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"runs.db", "runs.db-wal", "runs.db-shm", "in-use"};
    char path[128];
    size_t i;

    (void)state;
    idempotency_answer_release(&last);
    run_store_free(store);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    return rmdir(directory);
}

static enum idempotency_state begin(
    const char *key, const char *name, const char *request, uint64_t now_us)
{
    enum idempotency_state state = IDEMPOTENCY_NEW;

    idempotency_answer_release(&last);
    if (idempotency_begin(store, key, name, strlen(name), request, strlen(request), now_us, &state,
            &last, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return state;
}

static void end(const char *key, const char *name)
{
    char body[] = "{\"a\":1}";
    const struct idempotency_answer answer = {.http_status = 201,
        .run = "run_01ARYZ6S410000000000000000",
        .content_type = "application/json",
        .body = body,
        .body_len = 7};

    assert_int_equal(idempotency_end(store, key, name, strlen(name), &answer, &err), 0);
}

static void the_second_gets_the_answer_of_the_first(void **state)
{
    (void)state;
    assert_int_equal(begin("k1", "a", "POST /v1/runs {}", START), IDEMPOTENCY_NEW);
    assert_int_equal(begin("k1", "a", "POST /v1/runs {}", START), IDEMPOTENCY_RUNNING);
    assert_string_equal(last.run, "");
    assert_int_equal(
        idempotency_set_run(store, "k1", "a", 1, "run_01ARYZ6S410000000000000000", &err), 0);
    assert_int_equal(begin("k1", "a", "POST /v1/runs {}", START), IDEMPOTENCY_RUNNING);
    assert_string_equal(last.run, "run_01ARYZ6S410000000000000000");
    assert_int_equal(begin("k1", "a", "POST /v1/runs {1}", START), IDEMPOTENCY_OTHER_BODY);
    assert_null(last.body);
    end("k1", "a");
    assert_int_equal(begin("k1", "a", "POST /v1/runs {}", START + 5), IDEMPOTENCY_DONE);
    assert_int_equal(last.http_status, 201);
    assert_string_equal(last.content_type, "application/json");
    assert_string_equal(last.run, "run_01ARYZ6S410000000000000000");
    assert_int_equal(last.body_len, 7);
    assert_string_equal(last.body, "{\"a\":1}");
    assert_int_equal(begin("k1", "a", "POST /v1/runs {1}", START), IDEMPOTENCY_OTHER_BODY);
}

static void names_belong_to_keys(void **state)
{
    (void)state;
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_NEW);
    assert_int_equal(begin("k2", "a", "y", START), IDEMPOTENCY_NEW);
    assert_int_equal(begin("k1", "b", "y", START), IDEMPOTENCY_NEW);
    end("k2", "a");
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_RUNNING);
    assert_int_equal(begin("k2", "a", "x", START), IDEMPOTENCY_OTHER_BODY);
}

static void an_answer_is_kept_for_a_day(void **state)
{
    (void)state;
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_NEW);
    end("k1", "a");
    assert_int_equal(begin("k1", "a", "x", START + IDEMPOTENCY_KEPT_US), IDEMPOTENCY_DONE);
    assert_int_equal(begin("k1", "a", "z", START + IDEMPOTENCY_KEPT_US + 1), IDEMPOTENCY_NEW);
    assert_int_equal(begin("k1", "a", "z", START + IDEMPOTENCY_KEPT_US + 2), IDEMPOTENCY_RUNNING);
}

static void what_was_refused_may_come_again(void **state)
{
    (void)state;
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_NEW);
    assert_int_equal(idempotency_drop(store, "k1", "a", 1, &err), 0);
    assert_int_equal(begin("k1", "a", "other", START), IDEMPOTENCY_NEW);
    end("k1", "a");
    assert_int_equal(idempotency_drop(store, "k1", "a", 1, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(begin("k1", "a", "other", START), IDEMPOTENCY_DONE);
}

static void a_restart_interrupts(void **state)
{
    size_t count = 77;

    (void)state;
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_NEW);
    assert_int_equal(begin("k1", "b", "x", START), IDEMPOTENCY_NEW);
    end("k1", "b");
    assert_int_equal(run_store_recover(store, "cancelled", NULL, 0, START, &count, &err), 0);
    assert_int_equal(count, 0);
    assert_int_equal(begin("k1", "a", "x", START), IDEMPOTENCY_INTERRUPTED);
    assert_int_equal(begin("k1", "a", "y", START), IDEMPOTENCY_OTHER_BODY);
    assert_int_equal(begin("k1", "b", "x", START), IDEMPOTENCY_DONE);
}

static void names_are_bounded_bytes(void **state)
{
    enum idempotency_state found;
    char name[300];

    (void)state;
    memset(name, 0xff, sizeof(name));
    name[3] = '\0';
    assert_int_equal(
        idempotency_begin(store, "k", name, 255, "", 0, START, &found, &last, &err), 0);
    assert_int_equal(found, IDEMPOTENCY_NEW);
    assert_int_equal(
        idempotency_begin(store, "k", name, 254, "", 0, START, &found, &last, &err), 0);
    assert_int_equal(found, IDEMPOTENCY_NEW); /* another one */
    assert_int_equal(idempotency_begin(store, "k", name, 256, "", 0, START, &found, &last, &err),
        VIAL_E_INVALID);
    assert_int_equal(
        idempotency_begin(store, "k", name, 0, "", 0, START, &found, &last, &err), VIAL_E_INVALID);
}

static int firsts;
static pthread_mutex_t firsts_lock = PTHREAD_MUTEX_INITIALIZER;

static void *begin_same(void *user)
{
    struct idempotency_answer answer;
    enum idempotency_state state;
    char name[16];
    int i;

    (void)user;
    for (i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof(name), "n%d", i);
        if (idempotency_begin(
                store, "k", name, strlen(name), "x", 1, START, &state, &answer, NULL) < 0) {
            return store;
        }
        (void)pthread_mutex_lock(&firsts_lock);
        firsts += state == IDEMPOTENCY_NEW;
        (void)pthread_mutex_unlock(&firsts_lock);
    }
    return NULL;
}

static void of_many_at_once_one_is_first(void **state)
{
    pthread_t threads[4];
    void *bad;
    size_t i;

    (void)state;
    firsts = 0;
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, begin_same, NULL), 0);
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    assert_int_equal(firsts, 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_second_gets_the_answer_of_the_first),
        TEST(names_belong_to_keys),
        TEST(an_answer_is_kept_for_a_day),
        TEST(what_was_refused_may_come_again),
        TEST(a_restart_interrupts),
        TEST(names_are_bounded_bytes),
        TEST(of_many_at_once_one_is_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
