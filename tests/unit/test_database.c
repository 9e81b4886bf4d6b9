/* test_database.c - how the database is set up, and that a change is whole or not there. What goes
 * wrong with its file is in test_store.c. */
#include "store/database.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static struct vial_error err;
static sqlite3 *db;

static int open_database(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof(path), "/tmp/vial-database-XXXXXX");
    (void)close(mkstemp(path));
    return database_open(path, &DATABASE_STORE, &db, &err);
}

static int close_database(void **state)
{
    char more[80];

    (void)state;
    (void)sqlite3_close(db);
    (void)snprintf(more, sizeof(more), "%s-wal", path);
    (void)unlink(more);
    (void)snprintf(more, sizeof(more), "%s-shm", path);
    (void)unlink(more);
    return unlink(path);
}

/* The first column of the first row, as a text. */
static const char *ask(const char *sql)
{
    static char answer[64];
    sqlite3_stmt *s = NULL;

    assert_int_equal(database_prepare(db, sql, &s, &err), 0);
    assert_int_equal(database_step(db, s, &err), 1);
    (void)snprintf(answer, sizeof(answer), "%s", (const char *)sqlite3_column_text(s, 0));
    database_finalizep(&s);
    assert_null(s);
    return answer;
}

static void a_commit_is_on_the_disk(void **state)
{
    (void)state;
    assert_string_equal(ask("PRAGMA journal_mode"), "wal");
    assert_string_equal(ask("PRAGMA synchronous"), "2"); /* FULL */
    assert_string_equal(ask("PRAGMA foreign_keys"), "1");
    assert_string_equal(ask("PRAGMA secure_delete"), "1");
    assert_string_equal(ask("PRAGMA busy_timeout"), "10000");
    assert_string_equal(ask("PRAGMA user_version"), "1");
    assert_string_equal(ask("PRAGMA application_id"), "1986617708");
}

static void a_change_that_fails_is_taken_back(void **state)
{
    (void)state;
    assert_int_equal(database_begin(db, &err), 0);
    assert_int_equal(database_run(db, "INSERT INTO environment (name) VALUES ('a')", &err), 0);
    assert_int_equal(database_end(db, VIAL_E_INVALID, &err), VIAL_E_INVALID);
    assert_string_equal(ask("SELECT count(*) FROM environment"), "0");
    assert_int_equal(database_begin(db, &err), 0);
    assert_int_equal(database_run(db, "INSERT INTO environment (name) VALUES ('a')", &err), 0);
    assert_int_equal(database_end(db, 0, &err), 0);
    assert_string_equal(ask("SELECT count(*) FROM environment"), "1");
}

static void the_schema_itself_keeps_numbers(void **state)
{
    (void)state;
    assert_int_equal(
        database_run(db, "INSERT INTO environment (name, version_last) VALUES ('a', 5)", &err), 0);
    assert_true(database_run(db, "UPDATE environment SET version_last = 5", &err) < 0);
    assert_non_null(strstr(err.text, "used again"));
    assert_true(database_run(db, "UPDATE environment SET version_last = 4", &err) < 0);
    assert_int_equal(database_run(db, "UPDATE environment SET version_last = 6", &err), 0);
    assert_true(database_run(db, "DELETE FROM environment", &err) < 0);
    assert_true(database_run(db, "INSERT INTO version VALUES (99, 1, 0, '')", &err) < 0);
}

static void failures_are_sentences(void **state)
{
    sqlite3_stmt *s = NULL;

    (void)state;
    assert_int_equal(database_prepare(db, "SELECT nonsense", &s, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "the store failed (no such column: nonsense)"));
    assert_int_equal(database_fail(db, SQLITE_BUSY, &err), VIAL_E_BUSY);
    assert_int_equal(database_fail(db, SQLITE_NOMEM, &err), VIAL_E_NOMEM);
    assert_int_equal(database_fail(db, SQLITE_FULL, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "is full"));
    assert_int_equal(database_fail(db, SQLITE_READONLY, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "cannot be written"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_database, close_database)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_commit_is_on_the_disk),
        TEST(a_change_that_fails_is_taken_back),
        TEST(the_schema_itself_keeps_numbers),
        TEST(failures_are_sentences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
