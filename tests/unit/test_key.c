/* test_key.c - keys: what is stored of them, who is let in, and what happens with files that are
 * locked, full, damaged or of a newer vial. */
#include "store/key.h"

#include <errno.h>
#include <pthread.h>
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
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/id.h"
#include "helper.h"

static char directory[64];
static struct vial_error err;
static struct key_store *store;

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static struct key_store *open_store(void)
{
    struct key_store *opened = NULL;

    if (key_store_open(directory, &opened, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return opened;
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-key-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    store = open_store();
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm", "in-use"};
    size_t i;

    (void)state;
    key_store_free(store);
    store = NULL;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(path_of(names[i]));
    }
    return rmdir(directory);
}

static struct key_info create(
    const char *name, uint64_t expires_us, char token[KEY_TOKEN_BYTES + 1])
{
    const struct key_options options = {.name = name,
        .scopes = KEY_SCOPE_RUN | KEY_SCOPE_ENV,
        .quota = {1, 2, 3, 4},
        .expires_us = expires_us};
    struct key_info info;

    if (key_create(store, &options, &info, token, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return info;
}

static int find(const char *token)
{
    struct key_info info;

    return key_find(store, token, strlen(token), &info, &err);
}

static void expect_rejected(const char *token, size_t len, int sys)
{
    struct key_info info;

    assert_int_equal(key_find(store, token, len, &info, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, sys);
}

static void change_file(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

/* ---- */

static void a_key_is_found_by_its_token(void **state)
{
    char token[KEY_TOKEN_BYTES + 1], other[KEY_TOKEN_BYTES + 1];
    struct key_info made = create("for tests", 0, token), found;

    (void)state;
    assert_int_equal(strlen(token), 70);
    assert_memory_equal(token, "vial_", 5);
    assert_memory_equal(token + 5, made.id, 12);
    assert_int_equal(token[17], '_');
    (void)create(NULL, 0, other);
    assert_int_equal(key_find(store, token, strlen(token), &found, &err), 0);
    assert_string_equal(found.id, made.id);
    assert_string_equal(found.name, "for tests");
    assert_int_equal(found.scopes, KEY_SCOPE_RUN | KEY_SCOPE_ENV);
    assert_int_equal(found.quota.concurrent, 1);
    assert_int_equal(found.quota.runs_per_minute, 2);
    assert_int_equal(found.quota.cpu_seconds_per_day, 3);
    assert_int_equal(found.quota.sessions, 4);
    assert_int_equal(found.revoked_us, 0);
    key_store_free(store);
    store = open_store();
    assert_int_equal(find(token), 0);
    assert_int_equal(find(other), 0);
    assert_string_not_equal(token, other);
}

static void other_tokens_are_rejected(void **state)
{
    char token[KEY_TOKEN_BYTES + 1], other[KEY_TOKEN_BYTES + 1], bad[128];
    size_t i;

    (void)state;
    (void)create(NULL, 0, token);
    (void)create(NULL, 0, other);
    expect_rejected("", 0, EKEYREJECTED);
    expect_rejected("vial_", 5, EKEYREJECTED);
    expect_rejected(token, strlen(token) - 1, EKEYREJECTED);
    for (i = 0; i < KEY_TOKEN_BYTES; i++) { /* every character counts, and every other is wrong */
        memcpy(bad, token, sizeof(token));
        bad[i] = bad[i] == '0' ? '1' : '0';
        expect_rejected(bad, KEY_TOKEN_BYTES, EKEYREJECTED);
        bad[i] = '\0';
        expect_rejected(bad, KEY_TOKEN_BYTES, EKEYREJECTED);
        bad[i] = (char)0xff;
        expect_rejected(bad, KEY_TOKEN_BYTES, EKEYREJECTED);
        assert_null(strstr(err.text, token + 18));
    }
    (void)snprintf(bad, sizeof(bad), "%.18s%s", token, other + 18); /* somebody else's secret */
    expect_rejected(bad, KEY_TOKEN_BYTES, EKEYREJECTED);
    (void)snprintf(bad, sizeof(bad), "%s0", token);
    expect_rejected(bad, KEY_TOKEN_BYTES + 1, EKEYREJECTED);
    assert_int_equal(find(token), 0);
}

static void the_secret_is_nowhere_in_the_files(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal"};
    char token[KEY_TOKEN_BYTES + 1], *bytes = malloc(1 << 20);
    size_t i, seen = 0;

    (void)state;
    assert_non_null(bytes);
    (void)create("named", 0, token);
    for (i = 0; i < 2; i++) {
        FILE *f = fopen(path_of(names[i]), "re");
        size_t len = f != NULL ? fread(bytes, 1, 1 << 20, f) : 0;

        assert_null(memmem(bytes, len, token + 18, 20));
        assert_null(memmem(bytes, len, token + 30, 20));
        seen += memmem(bytes, len, token + 5, 12) != NULL; /* the id is */
        if (f != NULL) {
            (void)fclose(f);
        }
    }
    assert_true(seen > 0);
    free(bytes);
}

static void a_revoked_key_is_refused_at_once(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];
    struct key_info made = create(NULL, 0, token), info, again;
    struct key_store *other = open_store(); /* another process */

    (void)state;
    assert_int_equal(find(token), 0);
    assert_int_equal(key_revoke(other, made.id, &info, &err), 0);
    assert_true(info.revoked_us > UINT64_C(1600000000000000));
    expect_rejected(token, strlen(token), EKEYREVOKED);
    assert_int_equal(key_revoke(other, made.id, &again, &err), 0);
    assert_int_equal(again.revoked_us, info.revoked_us);
    assert_int_equal(key_get(store, made.id, &info, &err), 0);
    assert_int_equal(key_revoke(store, "000000000000", NULL, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(key_revoke(store, "no such thing at all \x1b", NULL, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_null(strchr(err.text, '\x1b'));
    key_store_free(other);
}

static void an_expired_key_is_refused(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];

    (void)state;
    (void)create(NULL, id_now_us() + 300000, token);
    assert_int_equal(find(token), 0);
    helper_sleep_ms(350);
    expect_rejected(token, strlen(token), EKEYEXPIRED);
}

static void last_uses_are_written_later(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];
    struct key_info made = create(NULL, 0, token), info;
    struct key_store *other = open_store();

    (void)state;
    assert_int_equal(made.used_us, 0);
    assert_int_equal(find(token), 0);
    assert_int_equal(key_get(store, made.id, &info, &err), 0);
    assert_true(info.used_us >= made.created_us); /* it knows itself */
    assert_int_equal(key_get(other, made.id, &info, &err), 0);
    assert_int_equal(info.used_us, 0);
    assert_int_equal(key_flush(store, &err), 0);
    assert_int_equal(key_get(other, made.id, &info, &err), 0);
    assert_true(info.used_us >= made.created_us);
    key_store_free(other);
}

static void many_keys_that_are_used_are_all_remembered(void **state)
{
    enum { MANY = 300 };
    static char tokens[MANY][KEY_TOKEN_BYTES + 1];
    struct key_info *list = NULL;
    size_t count = 0, i;

    (void)state;
    for (i = 0; i < MANY; i++) {
        (void)create(NULL, 0, tokens[i]);
    }
    for (i = 0; i < MANY; i++) {
        assert_int_equal(find(tokens[i]), 0);
    }
    key_store_free(store); /* writes down what is left */
    store = open_store();
    assert_int_equal(key_list(store, &list, &count, &err), 0);
    assert_int_equal(count, MANY);
    for (i = 0; i < MANY; i++) {
        assert_memory_equal(list[i].id, tokens[i] + 5, 12); /* oldest first */
        assert_true(list[i].used_us > 0);
    }
    free(list);
}

static void options_are_checked(void **state)
{
    const struct key_options good = {.scopes = 1, .quota = QUOTA_DEFAULT};
    char token[KEY_TOKEN_BYTES + 1] = "kept", name[80];
    struct key_options bad[8];
    struct key_info info;
    size_t i;

    (void)state;
    for (i = 0; i < 8; i++) {
        bad[i] = good;
    }
    memset(name, 'x', sizeof(name) - 1);
    name[65] = '\0';
    bad[0].scopes = 0;
    bad[1].scopes = 16;
    bad[2].name = name;
    bad[3].name = "a\nb";
    bad[4].name = "\xff";
    bad[5].name = "\xc2\x9b";
    bad[6].quota.concurrent = QUOTA_CONCURRENT_MAX + 1;
    bad[7].expires_us = 1;
    for (i = 0; i < 8; i++) {
        assert_int_equal(key_create(store, &bad[i], &info, token, &err), VIAL_E_INVALID);
        assert_string_equal(token, "kept");
    }
    name[64] = '\0';
    bad[2].name = name;
    assert_int_equal(key_create(store, &bad[2], &info, token, &err), 0);
    assert_string_equal(info.name, name);
}

static void there_is_an_end_to_keys(void **state)
{
    const struct key_options options = {.scopes = 1, .quota = QUOTA_DEFAULT};
    char token[KEY_TOKEN_BYTES + 1], sql[512];
    struct key_info info, *list = NULL;
    size_t count = 0;

    (void)state;
    (void)create("old", 0, token);
    (void)snprintf(sql, sizeof(sql),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
        " INSERT INTO key (id, hash, name, scopes, concurrent, runs_per_minute,"
        " cpu_seconds_per_day, sessions, created_us) SELECT printf('%%012d', i), zeroblob(32),"
        " '', 1, 1, 1, 1, 1, 1 FROM n",
        KEYS_MAX - 1);
    change_file(sql);
    assert_int_equal(key_create(store, &options, &info, token, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "10000 keys"));
    change_file("UPDATE key SET revoked_us = 5 WHERE id < '000000005000'"); /* in 1970 */
    assert_int_equal(key_create(store, &options, &info, token, &err), 0);
    assert_int_equal(key_list(store, &list, &count, &err), 0);
    assert_int_equal(count, KEYS_MAX - 4999 + 1);
    free(list);
}

static void scopes_are_words(void **state)
{
    static const char *const bad[] = {"", "runs", "run,", ",run", "run session", "RUN", "all"};
    char text[KEY_SCOPES_TEXT_BYTES_MAX];
    uint32_t scopes = 77;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(key_scopes_parse(bad[i], &scopes, &err), VIAL_E_INVALID);
        assert_int_equal(scopes, 77);
    }
    assert_int_equal(key_scopes_parse("admin,run,run", &scopes, &err), 0);
    assert_int_equal(scopes, KEY_SCOPE_ADMIN | KEY_SCOPE_RUN);
    key_scopes_text(KEY_SCOPES_ALL, text);
    assert_string_equal(text, "run,session,env,admin");
    key_scopes_text(KEY_SCOPE_SESSION, text);
    assert_string_equal(text, "session");
}

/* ---- trouble ---- */

static void keys_of_a_newer_vial_are_left_alone(void **state)
{
    struct key_store *other = NULL;

    (void)state;
    change_file("UPDATE key_state SET schema = 7");
    assert_int_equal(key_store_open(directory, &other, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "newer vial (their schema is 7, this one knows 1)"));
    change_file("UPDATE key_state SET schema = 1; PRAGMA user_version = 9");
    assert_int_equal(key_store_open(directory, &other, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "newer vial"));
    change_file("PRAGMA user_version = 1; DELETE FROM key_state");
    assert_int_equal(key_store_open(directory, &other, &err), VIAL_E_SYS);
    assert_null(other);
}

static void a_damaged_record_lets_nobody_in(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];

    (void)state;
    (void)create(NULL, 0, token);
    change_file("PRAGMA ignore_check_constraints = ON; UPDATE key SET hash = x'00'");
    assert_int_equal(find(token), VIAL_E_SYS);
    change_file("PRAGMA ignore_check_constraints = ON; UPDATE key SET hash = zeroblob(32)");
    expect_rejected(token, strlen(token), EKEYREJECTED);
}

/* Somebody else writes for a long time: keys are found all the same, and no new ones made. */
static void a_locked_database_is_read_but_not_written(void **state)
{
    const struct key_options options = {.scopes = 1, .quota = QUOTA_DEFAULT};
    char token[KEY_TOKEN_BYTES + 1], other[KEY_TOKEN_BYTES + 1];
    struct key_info info;
    struct timespec start, end;
    sqlite3 *db = NULL;

    (void)state;
    (void)create(NULL, 0, token);
    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    (void)clock_gettime(CLOCK_MONOTONIC, &start);
    assert_int_equal(find(token), 0);
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - start.tv_sec < 2);
    assert_int_equal(key_create(store, &options, &info, other, &err), VIAL_E_BUSY);
    (void)sqlite3_close(db);
    assert_int_equal(key_create(store, &options, &info, other, &err), 0);
}

static int fill_disk(void *user)
{
    const struct key_options options = {.scopes = 1, .quota = QUOTA_DEFAULT};
    const struct rlimit limit = {100000, 100000};
    char token[KEY_TOKEN_BYTES + 1];
    struct key_info info;
    int r = 0, i;

    CHILD_CHECK(key_store_open(directory, &store, &err) == 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (i = 0; i < 5000 && r == 0; i++) {
        r = key_create(store, &options, &info, token, &err);
    }
    CHILD_CHECK(r == VIAL_E_SYS);
    CHILD_CHECK(key_find(store, user, strlen(user), &info, &err) == 0); /* still lets in */
    return CHILD_FINE;
}

static void no_room_is_an_error_and_no_damage(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];

    (void)state;
    (void)create(NULL, 0, token);
    assert_int_equal(helper_in_child(fill_disk, token), CHILD_FINE);
    assert_int_equal(find(token), 0);
}

static void *find_many(void *token)
{
    struct key_info info;
    intptr_t bad = 0;
    int i;

    for (i = 0; i < 2000; i++) {
        bad += key_find(store, token, KEY_TOKEN_BYTES, &info, NULL) != 0;
    }
    return (void *)bad;
}

static void threads_may_ask_at_once(void **state)
{
    char token[KEY_TOKEN_BYTES + 1];
    pthread_t threads[4];
    void *bad;
    size_t i;

    (void)state;
    (void)create(NULL, 0, token);
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, find_many, token), 0);
    }
    for (i = 0; i < 20; i++) {
        assert_int_equal(key_flush(store, &err), 0);
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_key_is_found_by_its_token),
        TEST(other_tokens_are_rejected),
        TEST(the_secret_is_nowhere_in_the_files),
        TEST(a_revoked_key_is_refused_at_once),
        TEST(an_expired_key_is_refused),
        TEST(last_uses_are_written_later),
        TEST(many_keys_that_are_used_are_all_remembered),
        TEST(options_are_checked),
        TEST(there_is_an_end_to_keys),
        TEST(scopes_are_words),
        TEST(keys_of_a_newer_vial_are_left_alone),
        TEST(a_damaged_record_lets_nobody_in),
        TEST(a_locked_database_is_read_but_not_written),
        TEST(no_room_is_an_error_and_no_damage),
        TEST(threads_may_ask_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
