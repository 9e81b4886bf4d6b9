/* test_run_recording.c - recordings of runs: found again, gone with their run, and what is said of
 * those that are not there. */
#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/run_store.h"

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

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-runs-XXXXXX");
    return mkdtemp(directory) == NULL ? -1 : run_store_open(directory, &store, &err);
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

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("runs.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

/* A run that has ended, saved. */
static struct stored_run save(unsigned second, const char *recording, const char *fault)
{
    struct stored_run run = {.created_us = START + second * SECOND,
        .ended_us = START + second * SECOND + 1,
        .recording = recording,
        .recording_len = recording != NULL ? strlen(recording) : 0,
        .recording_fault = fault};

    assert_int_equal(id_make(RUN_PREFIX, run.created_us, run.id, &err), 0);
    (void)snprintf(run.status, sizeof(run.status), "ok");
    if (run_store_save(store, &run, 1, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return run;
}

static void expect(const struct stored_run *run, const char *recording)
{
    char *text = NULL;
    size_t len = 0;

    if (run_store_recording(store, run->id, &text, &len, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(text, recording);
    assert_int_equal(len, strlen(recording));
    free(text);
}

static void expect_none(const char *id, int sys)
{
    char *text = NULL;
    size_t len = 0;

    assert_int_equal(run_store_recording(store, id, &text, &len, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, sys);
    assert_null(text);
}

static void a_recording_is_found_again(void **state)
{
    struct stored_run run = save(0, "{\"a\":1}", NULL), found;

    (void)state;
    expect(&run, "{\"a\":1}");
    run_store_free(store);
    assert_int_equal(run_store_open_there(directory, &store, &err), 0);
    expect(&run, "{\"a\":1}");
    assert_int_equal(run_store_get(store, run.id, &found, &err), 0);
    assert_null(found.recording); /* who asks for a run does not get it along */
    stored_run_release(&found);
}

static void what_is_not_there_says_why(void **state)
{
    struct stored_run plain = save(0, NULL, NULL), large = save(1, NULL, "it is too large");
    char other[ID_BYTES_MAX + 1];

    (void)state;
    assert_int_equal(id_make(RUN_PREFIX, START, other, &err), 0);
    expect_none(other, ENOENT);
    expect_none("run_x", ENOENT);
    expect_none(plain.id, ENODATA);
    expect_none(large.id, ESTALE);
    assert_string_equal(err.text, "it is too large");
    large.recording_fault = NULL; /* saved again with one, as when a run has ended */
    large.recording = "{}";
    large.recording_len = 2;
    assert_int_equal(run_store_save(store, &large, 1, &err), 0);
    expect(&large, "{}");
    large.recording = NULL; /* and without a word of it */
    assert_int_equal(run_store_save(store, &large, 1, &err), 0);
    expect(&large, "{}");
}

static void a_recording_goes_with_its_run(void **state)
{
    struct stored_run old = save(0, "{\"old\":1}", NULL), new = save(100, "{\"new\":1}", NULL);
    uint64_t removed = 0;

    (void)state;
    assert_int_equal(run_store_retain(store, START, START + 50 * SECOND, 0, &removed, &err), 0);
    assert_int_equal(removed, 1);
    expect_none(old.id, ENOENT);
    expect(&new, "{\"new\":1}");
    /* Fails when more than one is left. */
    run_sql("CREATE TABLE t (x CHECK (x = 1)); INSERT INTO t SELECT count(*) FROM recording");
}

static void the_oldest_make_room(void **state)
{
    struct stored_run first, second, third, large;

    (void)state;
    run_store_set_recordings_max(store, 10);
    first = save(0, "1234", NULL);
    second = save(1, "1234", NULL);
    expect(&first, "1234");
    third = save(2, "1234", NULL);
    expect_none(first.id, ESTALE);
    assert_non_null(strstr(err.text, "recordings_max"));
    expect(&second, "1234");
    expect(&third, "1234");
    large = save(3, "12345678901", NULL);
    expect_none(second.id, ESTALE);
    expect_none(third.id, ESTALE);
    expect_none(large.id, ESTALE);
}

static void a_damaged_one_is_not_given(void **state)
{
    struct stored_run run = save(0, "{\"a\":1}", NULL);
    char *text = NULL;
    size_t len = 0;

    (void)state;
    run_sql("UPDATE recording SET bytes = substr(bytes, 1, 3)");
    assert_int_equal(run_store_recording(store, run.id, &text, &len, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "damaged"));
    assert_null(text);
}

/* A store that was made before there were recordings gets their table. */
static void an_older_store_is_brought_up_to_date(void **state)
{
    struct stored_run old = save(0, NULL, NULL), run;

    (void)state;
    run_store_free(store);
    store = NULL;
    run_sql("DROP TRIGGER recording_goes; DROP TABLE recording; PRAGMA user_version = 1");
    assert_int_equal(run_store_open(directory, &store, &err), 0);
    expect_none(old.id, ENODATA);
    run = save(1, "{}", NULL);
    expect(&run, "{}");
}

static void who_only_reads_makes_nothing(void **state)
{
    struct run_store *other = NULL;

    (void)state;
    assert_int_equal(
        run_store_open_there("/tmp/vial-no-such-directory", &other, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(access("/tmp/vial-no-such-directory", F_OK), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_recording_is_found_again),
        TEST(what_is_not_there_says_why),
        TEST(a_recording_goes_with_its_run),
        TEST(the_oldest_make_room),
        TEST(a_damaged_one_is_not_given),
        TEST(an_older_store_is_brought_up_to_date),
        TEST(who_only_reads_makes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
