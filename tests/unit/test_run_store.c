/* test_run_store.c - runs that are found again, page by page; what a restart does; what goes, and
 * when; CPU time that is remembered. */
#include "store/run_store.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

#define SECOND UINT64_C(1000000)
#define START (UINT64_C(1800000000) * SECOND)

static char directory[64];
static struct vial_error err;
static struct run_store *store;

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void open_store(void)
{
    if (run_store_open(directory, &store, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-runs-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    open_store();
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"runs.db", "runs.db-wal", "runs.db-shm", "in-use"};
    size_t i;

    (void)state;
    run_store_free(store);
    store = NULL;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(path_of(names[i]));
    }
    return rmdir(directory);
}

static struct stored_run make_run(const char *key, const char *environment, uint64_t created_us)
{
    struct stored_run run = {.created_us = created_us};

    assert_int_equal(id_make(RUN_PREFIX, created_us, run.id, &err), 0);
    (void)snprintf(run.key, sizeof(run.key), "%s", key);
    (void)snprintf(run.environment, sizeof(run.environment), "%s", environment);
    (void)snprintf(run.status, sizeof(run.status), "%s", RUN_RUNNING);
    return run;
}

static void end_run(struct stored_run *run, const char *status, uint64_t cpu_us)
{
    (void)snprintf(run->status, sizeof(run->status), "%s", status);
    run->started_us = run->created_us + 1;
    run->ended_us = run->created_us + 2;
    run->cpu_us = cpu_us;
}

static void save(const struct stored_run *run)
{
    if (run_store_save(store, run, 1, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* Runs that have ended, a second apart from START on. */
static void save_many(unsigned count)
{
    unsigned i;

    for (i = 0; i < count; i++) {
        struct stored_run run = make_run("k1", "crm@1", START + i * SECOND);

        end_run(&run, "ok", 0);
        save(&run);
    }
}

static void change_file(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("runs.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static size_t count_runs(void)
{
    const struct run_filter all = {.key = NULL};
    char cursor[ID_BYTES_MAX + 1] = "", given[ID_BYTES_MAX + 1];
    struct stored_run *list = NULL;
    size_t count = 0, sum = 0;

    do {
        memcpy(given, cursor, sizeof(given));
        assert_int_equal(run_store_list(store, &all, given[0] != '\0' ? given : NULL, 50, &list,
                             &count, cursor, &err),
            0);
        free(list);
        sum += count;
    } while (cursor[0] != '\0');
    return sum;
}

/* ---- */

static void a_run_is_found_again(void **state)
{
    char request[] = "{\"code\":\"1\"}", result[] = "{\"status\":\"ok\"}";
    struct stored_run run = make_run("k1", "crm@1", START), found;

    (void)state;
    run.request = request;
    run.request_len = strlen(request);
    (void)snprintf(run.agent, sizeof(run.agent), "tester");
    save(&run);
    assert_int_equal(run_store_get(store, run.id, &found, &err), 0);
    assert_string_equal(found.status, RUN_RUNNING);
    assert_string_equal(found.request, request);
    assert_null(found.result);
    stored_run_release(&found);
    end_run(&run, "ok", 5);
    run.request = NULL; /* it is kept */
    run.result = result;
    run.result_len = strlen(result);
    save(&run);
    run_store_free(store);
    open_store();
    assert_int_equal(run_store_get(store, run.id, &found, &err), 0);
    assert_string_equal(found.id, run.id);
    assert_string_equal(found.key, "k1");
    assert_string_equal(found.agent, "tester");
    assert_string_equal(found.environment, "crm@1");
    assert_string_equal(found.status, "ok");
    assert_string_equal(found.request, request);
    assert_string_equal(found.result, result);
    assert_int_equal(found.created_us, START);
    assert_int_equal(found.started_us, START + 1);
    assert_int_equal(found.ended_us, START + 2);
    assert_int_equal(found.cpu_us, 5);
    stored_run_release(&found);
}

static void what_is_not_there_is_missing(void **state)
{
    static const char *const ids[] = {"", "run_", "run_01ARYZ6S410000000000000000", "x'; --"};
    struct stored_run found;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        assert_int_equal(run_store_get(store, ids[i], &found, &err), VIAL_E_INVALID);
        assert_int_equal(err.sys, ENOENT);
    }
}

static void all_or_none_are_kept(void **state)
{
    struct stored_run runs[3] = {
        make_run("k", "a@1", START), make_run("k", "a@1", START), make_run("k", "a@1", START)};

    (void)state;
    (void)snprintf(runs[2].id, sizeof(runs[2].id), "nonsense");
    assert_int_equal(run_store_save(store, runs, 3, &err), VIAL_E_INVALID);
    assert_int_equal(count_runs(), 0);
    assert_int_equal(run_store_save(store, runs, 2, &err), 0);
    assert_int_equal(count_runs(), 2);
    runs[0].result = runs[0].id;
    runs[0].result_len = (size_t)RUN_RESULT_BYTES_MAX + 1;
    assert_int_equal(run_store_save(store, runs, 1, &err), VIAL_E_INVALID);
}

static size_t matches(struct run_filter filter)
{
    char cursor[ID_BYTES_MAX + 1];
    struct stored_run *list = NULL;
    size_t count = 0;

    assert_int_equal(run_store_list(store, &filter, NULL, 100, &list, &count, cursor, &err), 0);
    free(list);
    return count;
}

#define MATCHES(...) matches((struct run_filter){__VA_ARGS__})

static void lists_are_filtered(void **state)
{
    struct stored_run runs[4] = {make_run("k1", "crm@1", START),
        make_run("k1", "crm@2", START + SECOND), make_run("k2", "crmA@1", START + 2 * SECOND),
        make_run("k2", "", START + 3 * SECOND)};

    (void)state;
    end_run(&runs[1], "ok", 0);
    (void)snprintf(runs[2].session, sizeof(runs[2].session), "ses_1");
    assert_int_equal(run_store_save(store, runs, 4, &err), 0);
    assert_int_equal(MATCHES(.key = NULL), 4);
    assert_int_equal(MATCHES(.key = "k1"), 2);
    assert_int_equal(MATCHES(.key = "k1' OR 1 --"), 0);
    assert_int_equal(MATCHES(.environment = "crm"), 2);
    assert_int_equal(MATCHES(.environment = "crm@2"), 1);
    assert_int_equal(MATCHES(.status = RUN_RUNNING), 3);
    assert_int_equal(MATCHES(.session = "ses_1"), 1);
    assert_int_equal(MATCHES(.from_us = START + SECOND), 3);
    assert_int_equal(MATCHES(.until_us = START + SECOND), 1);
    assert_int_equal(MATCHES(.from_us = START + SECOND, .until_us = START + 2 * SECOND), 1);
    assert_int_equal(MATCHES(.key = "k1", .status = "ok", .environment = "crm"), 1);
}

static void pages_follow_each_other(void **state)
{
    const struct run_filter filter = {.key = "k1"};
    char cursor[ID_BYTES_MAX + 1] = "", given[ID_BYTES_MAX + 1], last[ID_BYTES_MAX + 1] = "s";
    struct stored_run *list = NULL;
    size_t count = 0, sum = 0, i;

    (void)state;
    save_many(105);
    do {
        memcpy(given, cursor, sizeof(given));
        assert_int_equal(run_store_list(store, &filter, given[0] != '\0' ? given : NULL, 35, &list,
                             &count, cursor, &err),
            0);
        assert_int_equal(count, 35);
        for (i = 0; i < count; i++) {
            assert_true(strcmp(list[i].id, last) < 0); /* newest first, each once */
            memcpy(last, list[i].id, sizeof(last));
        }
        sum += count;
        free(list);
        save_many(1); /* with the time of the oldest: behind what is read, or not */
    } while (cursor[0] != '\0' && sum < 105);
    assert_int_equal(sum, 105);
}

static void other_cursors_are_none(void **state)
{
    static const char *const bad[] = {"", "run_", "a5", "ses_01ARYZ6S410000000000000000", "\xff",
        "run_01ARYZ6S41000000000000000000000000000000000000000"};
    const struct run_filter all = {.key = NULL};
    char cursor[ID_BYTES_MAX + 1];
    struct stored_run *list = NULL;
    size_t count, i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            run_store_list(store, &all, bad[i], 10, &list, &count, cursor, &err), VIAL_E_INVALID);
    }
    assert_int_equal(
        run_store_list(store, &all, NULL, 0, &list, &count, cursor, &err), VIAL_E_INVALID);
    assert_int_equal(
        run_store_list(store, &all, NULL, RUN_PAGE_MAX + 1, &list, &count, cursor, &err),
        VIAL_E_INVALID);
}

static void a_restart_ends_what_ran(void **state)
{
    struct stored_run runs[2] = {make_run("k", "a@1", START), make_run("k", "a@1", START)}, found;
    size_t count = 0;

    (void)state;
    end_run(&runs[1], "ok", 0);
    assert_int_equal(run_store_save(store, runs, 2, &err), 0);
    assert_int_equal(
        run_store_recover(store, "cancelled", "{\"x\":1}", 7, START + 9, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_int_equal(run_store_get(store, runs[0].id, &found, &err), 0);
    assert_string_equal(found.status, "cancelled");
    assert_string_equal(found.result, "{\"x\":1}");
    assert_int_equal(found.ended_us, START + 9);
    stored_run_release(&found);
    assert_int_equal(run_store_get(store, runs[1].id, &found, &err), 0);
    assert_string_equal(found.status, "ok");
    stored_run_release(&found);
}

static void old_runs_go(void **state)
{
    struct stored_run running = make_run("k", "a@1", START - SECOND);
    uint64_t removed = 0, sum = 0;

    (void)state;
    save_many(60);
    save(&running); /* the oldest of all, and it runs */
    assert_int_equal(run_store_retain(store, START, START, 0, &removed, &err), 0);
    assert_int_equal(removed, 0);
    assert_int_equal(run_store_retain(store, START, START + 10 * SECOND, 0, &removed, &err), 0);
    assert_int_equal(removed, 10);
    assert_int_equal(run_store_retain(store, START, 0, 31, &removed, &err), 0);
    assert_int_equal(removed, 20);
    assert_int_equal(count_runs(), 31);
    assert_int_equal(MATCHES(.status = RUN_RUNNING), 1);
    assert_int_equal(run_store_retain(store, START, 0, 31, &removed, &err), 0);
    assert_int_equal(removed, 0);
    save_many(700); /* more than go at once */
    do {
        assert_int_equal(run_store_retain(store, START, UINT64_MAX, 0, &removed, &err), 0);
        assert_true(removed <= 500);
        sum += removed;
    } while (removed > 0);
    assert_int_equal(sum, 730);
    assert_int_equal(count_runs(), 1);
}

static void note_use(const char *key, uint64_t then_us, uint64_t cpu_us, void *user)
{
    uint64_t *sum = user;

    assert_true(then_us % QUOTA_CPU_SLOT_US == 0 && then_us <= START + 10 * SECOND);
    sum[strcmp(key, "k1") == 0 ? 0 : 1] += cpu_us;
}

static void cpu_time_is_remembered_once(void **state)
{
    struct stored_run run = make_run("k1", "a@1", START);
    uint64_t sum[2] = {0, 0}, removed = 0;

    (void)state;
    save(&run);
    end_run(&run, "ok", 1000);
    save(&run);
    save(&run); /* again: it counts once */
    assert_int_equal(run_store_add_usage(store, "k1", START, 7, &err), 0);
    assert_int_equal(run_store_add_usage(store, "k2", START, 50, &err), 0);
    assert_int_equal(
        run_store_add_usage(store, "k2", START - 3 * UINT64_C(86400) * SECOND, 9, &err), 0);
    assert_int_equal(run_store_add_usage(store, "k3", START, UINT64_MAX, &err), 0);
    assert_int_equal(run_store_add_usage(store, "k3", START, UINT64_MAX, &err), 0);
    change_file("DELETE FROM usage WHERE key = 'k3' AND cpu_us > 0");
    assert_int_equal(run_store_usage(store, START, note_use, sum, &err), 0);
    assert_int_equal(sum[0], 1007);
    assert_int_equal(sum[1], 50);
    assert_int_equal(run_store_retain(store, START, 0, 0, &removed, &err), 0);
    assert_int_equal(removed, 1); /* of three days ago */
    sum[0] = sum[1] = 0;
    assert_int_equal(
        run_store_usage(store, START + UINT64_C(86400) * 2 * SECOND, note_use, sum, &err), 0);
    assert_int_equal(sum[0], 0);
}

/* ---- trouble ---- */

static int save_for_ever(int promised)
{
    struct run_store *own = NULL;
    static char result[5000];
    uint64_t us;

    if (run_store_open(directory, &own, &err) < 0) {
        return 1;
    }
    memset(result, 'x', sizeof(result));
    for (us = START;; us += SECOND) {
        struct stored_run run = {.created_us = us, .status = "ok"};

        if (id_make(RUN_PREFIX, us, run.id, &err) < 0) {
            return 1;
        }
        run.ended_us = us;
        run.cpu_us = 1;
        run.result = result;
        run.result_len = us / SECOND % sizeof(result);
        if (run_store_save(own, &run, 1, &err) < 0 ||
            fd_write_all(promised, run.id, sizeof(run.id)) < 0) {
            return 1;
        }
    }
}

static void a_killed_process_loses_nothing_that_was_saved(void **state)
{
    char id[ID_BYTES_MAX + 1];
    unsigned seed = (unsigned)getpid(), seen = 0;
    struct stored_run found;
    int pipes[2], status, round;
    pid_t pid;

    (void)state;
    for (round = 0; round < 20; round++) {
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
            _exit(save_for_ever(pipes[1]));
        }
        (void)close(pipes[1]);
        seed = seed * 1103515245U + 12345U;
        (void)usleep((seed >> 8) % 30000);
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        while (fd_read_up_to(pipes[0], id, sizeof(id)) == sizeof(id)) {
            assert_int_equal(run_store_get(store, id, &found, &err), 0);
            assert_int_equal(found.result_len, found.created_us / SECOND % 5000); /* whole */
            stored_run_release(&found);
            seen++;
        }
        (void)close(pipes[0]);
    }
    assert_true(seen > 20);
}

static void runs_of_a_newer_vial_are_left_alone(void **state)
{
    struct run_store *other = NULL;

    (void)state;
    change_file("PRAGMA user_version = 9");
    assert_int_equal(run_store_open(directory, &other, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "newer vial (its schema is 9, this one knows 2)"));
}

static int fill_disk(void *user)
{
    const struct rlimit limit = {400000, 400000};
    static char result[100000];
    struct stored_run run = make_run("k", "a@1", START);
    int r = 0, i;

    (void)user;
    CHILD_CHECK(run_store_open(directory, &store, &err) == 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (i = 0; i < 20 && r == 0; i++) {
        CHILD_CHECK(id_make(RUN_PREFIX, START, run.id, &err) == 0);
        run.result = result;
        run.result_len = sizeof(result);
        r = run_store_save(store, &run, 1, &err);
    }
    CHILD_CHECK(r == VIAL_E_SYS);
    return CHILD_FINE;
}

static void no_room_is_an_error_and_no_damage(void **state)
{
    (void)state;
    save_many(3);
    assert_int_equal(helper_in_child(fill_disk, NULL), CHILD_FINE);
    assert_true(count_runs() >= 3);
    save_many(1);
}

static void a_locked_database_is_read_but_not_written(void **state)
{
    struct stored_run run = make_run("k", "a@1", START), found;
    sqlite3 *db = NULL;

    (void)state;
    save(&run);
    assert_int_equal(sqlite3_open(path_of("runs.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(run_store_get(store, run.id, &found, &err), 0);
    stored_run_release(&found);
    assert_int_equal(run_store_save(store, &run, 1, &err), VIAL_E_BUSY);
    (void)sqlite3_close(db);
    save(&run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_is_found_again),
        TEST(what_is_not_there_is_missing),
        TEST(all_or_none_are_kept),
        TEST(lists_are_filtered),
        TEST(pages_follow_each_other),
        TEST(other_cursors_are_none),
        TEST(a_restart_ends_what_ran),
        TEST(old_runs_go),
        TEST(cpu_time_is_remembered_once),
        TEST(a_killed_process_loses_nothing_that_was_saved),
        TEST(runs_of_a_newer_vial_are_left_alone),
        TEST(no_room_is_an_error_and_no_damage),
        TEST(a_locked_database_is_read_but_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
