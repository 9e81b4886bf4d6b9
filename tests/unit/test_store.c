/* test_store.c - environments that last: versions, deletion, use, and everything that can go wrong
 * with a file: crashes, two writers, no room, damage, and a newer vial. */
#include "store/store.h"

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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

static char directory[64];
static struct vial_error err;

/* ---- a directory for each test ---- */

static int make_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-store-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static int remove_directory(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm", "in-use"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(path_of(names[i]));
    }
    return rmdir(directory);
}

static struct store *open_store(void)
{
    struct store *store = NULL;

    if (store_open(directory, &store, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return store;
}

static uint32_t create(struct store *store, const char *name, const char *text)
{
    uint32_t version = 0;

    if (store_create(store, name, text, strlen(text), &version, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return version;
}

static uint32_t update(struct store *store, const char *name, const char *text)
{
    uint32_t version = 0;

    if (store_update(store, name, text, strlen(text), &version, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return version;
}

static void expect_document(struct store *store, const char *name, uint32_t version,
    uint32_t found_version, const char *text)
{
    struct store_version found;
    char *document = NULL;

    if (store_get(store, name, version, &found, &document, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(found.name, name);
    assert_int_equal(found.version, found_version);
    assert_int_equal(found.document_bytes, strlen(text));
    assert_true(found.created_us > UINT64_C(1600000000000000));
    assert_string_equal(document, text);
    free(document);
}

static void expect_missing(struct store *store, const char *name, uint32_t version)
{
    assert_int_equal(store_get(store, name, version, NULL, NULL, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
}

/* ---- versions ---- */

static void what_is_created_is_found_again(void **state)
{
    struct store *store = open_store();

    (void)state;
    assert_int_equal(create(store, "crm", "{1}"), 1);
    expect_document(store, "crm", 0, 1, "{1}");
    store_free(store);
    store = open_store();
    expect_document(store, "crm", 1, 1, "{1}");
    expect_missing(store, "crm", 2);
    expect_missing(store, "other", 0);
    assert_string_equal(err.text, "there is no environment other");
    store_free(store);
    store_free(NULL);
}

static void a_name_is_created_once_and_updated_when_it_is_there(void **state)
{
    struct store *store = open_store();
    uint32_t version = 77;

    (void)state;
    assert_int_equal(store_update(store, "crm", "x", 1, &version, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(create(store, "crm", "{1}"), 1);
    assert_int_equal(store_create(store, "crm", "x", 1, &version, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, EEXIST);
    assert_int_equal(version, 77);
    assert_int_equal(update(store, "crm", "{2}"), 2);
    assert_int_equal(update(store, "crm", "{3}"), 3);
    expect_document(store, "crm", 0, 3, "{3}");
    expect_document(store, "crm", 1, 1, "{1}");
    store_free(store);
}

static void a_number_is_never_used_again(void **state)
{
    struct store *store = open_store();

    (void)state;
    assert_int_equal(create(store, "crm", "{1}"), 1);
    assert_int_equal(update(store, "crm", "{2}"), 2);
    assert_int_equal(store_delete(store, "crm", 2, 0, &err), 0);
    expect_document(store, "crm", 0, 1, "{1}");
    expect_missing(store, "crm", 2);
    assert_int_equal(update(store, "crm", "{3}"), 3);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), 0);
    expect_missing(store, "crm", 0);
    expect_missing(store, "crm", 1);
    store_free(store);
    store = open_store();
    assert_int_equal(create(store, "crm", "{4}"), 4);
    assert_int_equal(store_delete(store, "crm", 4, 0, &err), 0); /* the last one of all */
    expect_missing(store, "crm", 0);
    assert_int_equal(create(store, "crm", "{5}"), 5);
    store_free(store);
}

static void deleting_what_is_not_there_says_so(void **state)
{
    struct store *store = open_store();

    (void)state;
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    (void)create(store, "crm", "{1}");
    assert_int_equal(store_delete(store, "crm", 2, 0, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_string_equal(err.text, "there is no environment crm@2");
    expect_document(store, "crm", 0, 1, "{1}");
    store_free(store);
}

static void lists_are_in_order(void **state)
{
    struct store *store = open_store();
    struct store_version *list = NULL;
    size_t count = 9;

    (void)state;
    assert_int_equal(store_list(store, &list, &count, &err), 0);
    assert_int_equal(count, 0);
    free(list);
    (void)create(store, "b", "{1}");
    (void)create(store, "a", "{22}");
    (void)create(store, "c", "{}");
    (void)update(store, "b", "{333}");
    assert_int_equal(store_delete(store, "c", 0, 0, &err), 0);
    assert_int_equal(store_list(store, &list, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "a");
    assert_string_equal(list[1].name, "b");
    assert_int_equal(list[1].version, 2);
    assert_int_equal(list[1].versions_count, 2);
    assert_int_equal(list[1].document_bytes, 5);
    free(list);
    assert_int_equal(store_versions(store, "b", &list, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_int_equal(list[0].version, 2);
    assert_int_equal(list[1].version, 1);
    free(list);
    assert_int_equal(store_versions(store, "c", &list, &count, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    store_free(store);
}

static void sizes_are_bounded(void **state)
{
    struct store *store = open_store();
    char *large = calloc(1, (size_t)STORE_DOCUMENT_BYTES_MAX + 1);
    char name[STORE_NAME_BYTES_MAX + 2];
    uint32_t version;

    (void)state;
    assert_non_null(large);
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(store_create(store, name, "", 0, &version, &err), VIAL_E_INVALID);
    assert_int_equal(store_create(store, "", "", 0, &version, &err), VIAL_E_INVALID);
    assert_int_equal(
        store_create(store, "a", large, (size_t)STORE_DOCUMENT_BYTES_MAX + 1, &version, &err),
        VIAL_E_INVALID);
    assert_int_equal(store_create(store, "a", large, STORE_DOCUMENT_BYTES_MAX, &version, &err), 0);
    free(large);
    store_free(store);
}

static void old_versions_have_to_go_before_there_are_too_many(void **state)
{
    struct store *store = open_store();
    sqlite3 *db = NULL;
    uint32_t version;

    (void)state;
    (void)create(store, "a", "{}");
    /* Making them one by one would wait for the disk a thousand times. */
    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
            "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
            " INSERT INTO version SELECT 1, i, 0, x'00' FROM n;"
            "UPDATE environment SET version_last = 1000",
            NULL, NULL, NULL),
        SQLITE_OK);
    (void)sqlite3_close(db);
    assert_int_equal(store_update(store, "a", "{}", 2, &version, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "delete old ones"));
    assert_int_equal(store_delete(store, "a", 7, 0, &err), 0);
    assert_int_equal(update(store, "a", "{}"), 1001);
    store_free(store);
}

/* ---- use ---- */

static void what_is_in_use_is_not_deleted(void **state)
{
    struct store *store = open_store();
    struct store_use *use = NULL, *second = NULL;

    (void)state;
    (void)create(store, "crm", "{1}");
    (void)update(store, "crm", "{2}");
    (void)create(store, "other", "{}");
    assert_int_equal(store_use(store, "crm", 0, &use, &err), 0);
    assert_int_equal(store_use_version(use), 2);
    assert_int_equal(store_use(store, "crm", 2, &second, &err), 0);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), VIAL_E_BUSY);
    assert_non_null(strstr(err.text, "crm is in use"));
    assert_int_equal(store_delete(store, "crm", 2, 0, &err), VIAL_E_BUSY);
    expect_document(store, "crm", 2, 2, "{2}");
    /* Another version and another environment are not in use. */
    assert_int_equal(store_delete(store, "crm", 1, 0, &err), 0);
    assert_int_equal(store_delete(store, "other", 0, 0, &err), 0);
    store_use_free(use);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), VIAL_E_BUSY);
    store_use_free(second);
    store_use_free(NULL);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), 0);
    store_free(store);
}

static void force_deletes_what_is_in_use(void **state)
{
    struct store *store = open_store();
    struct store_use *use = NULL;

    (void)state;
    (void)create(store, "crm", "{1}");
    assert_int_equal(store_use(store, "crm", 1, &use, &err), 0);
    assert_int_equal(store_delete(store, "crm", 0, 1, &err), 0);
    expect_missing(store, "crm", 0);
    store_use_free(use);
    assert_int_equal(store_use(store, "crm", 1, &use, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(store_use(store, "never", 0, &use, &err), VIAL_E_INVALID);
    store_free(store);
}

/* A child that uses an environment until it is killed. */
static int use_and_wait(int ready)
{
    struct store *store = open_store();
    struct store_use *use = NULL;

    if (store_use(store, "crm", 1, &use, &err) < 0 || fd_write_all(ready, "x", 1) < 0) {
        return 1;
    }
    (void)pause();
    return 0;
}

static void a_process_that_dies_lets_go(void **state)
{
    struct store *store = open_store();
    int pipes[2], status;
    char byte;
    pid_t pid;

    (void)state;
    (void)create(store, "crm", "{1}");
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        _exit(use_and_wait(pipes[1]));
    }
    assert_int_equal(fd_read_up_to(pipes[0], &byte, 1), 1);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), VIAL_E_BUSY);
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(store_delete(store, "crm", 0, 0, &err), 0);
    (void)close(pipes[0]);
    (void)close(pipes[1]);
    store_free(store);
}

/* ---- crashes ---- */

enum { CRASHES = 60, FILLER_BYTES_MAX = 300000, KEPT_MAX = 20 };

/* A document that tells whether it is whole: its length, then letters that follow from it. */
static size_t make_filler(char *text, unsigned seed)
{
    size_t len = 16 + seed * 7919u % FILLER_BYTES_MAX, i;

    (void)snprintf(text, 16, "%zu", len);
    for (i = 15; i < len; i++) {
        text[i] = (char)('a' + (i * 31 + len) % 26);
    }
    return len;
}

static int is_whole(const char *text, size_t len)
{
    char digits[16];
    size_t i;

    (void)snprintf(digits, sizeof(digits), "%zu", len);
    if (len < 16 || strcmp(text, digits) != 0) {
        return 0;
    }
    for (i = 15; i < len; i++) {
        if (text[i] != (char)('a' + (i * 31 + len) % 26)) {
            return 0;
        }
    }
    return 1;
}

/* Changes the store without end, and tells each version that it was promised. */
static int change_for_ever(int promised, unsigned seed)
{
    static char text[FILLER_BYTES_MAX + 16];
    struct store *store = NULL;
    uint32_t version;
    size_t len;
    int r;

    if (store_open(directory, &store, &err) < 0) {
        return 1;
    }
    for (;; seed++) {
        len = make_filler(text, seed);
        r = store_update(store, "crm", text, len, &version, &err);
        if (r < 0 && err.sys == ENOENT) {
            r = store_create(store, "crm", text, len, &version, &err);
        }
        if (r < 0 || fd_write_all(promised, &version, sizeof(version)) < 0) {
            return 1;
        }
        if (seed % 17 == 0) {
            r = store_delete(store, "crm", 0, 0, &err);
        } else if (version > KEPT_MAX) {
            r = store_delete(store, "crm", version - KEPT_MAX, 0, &err);
        }
        if (r < 0 && err.sys != ENOENT) {
            return 1;
        }
    }
}

static int64_t ask(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    int64_t answer;

    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    answer = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    return answer;
}

/* Everything that is in the store is whole and consistent. */
static void check_store(void)
{
    struct store *store = open_store();
    struct store_version *list = NULL;
    size_t count = 0, i;

    if (store_versions(store, "crm", &list, &count, &err) < 0) {
        assert_int_equal(err.sys, ENOENT);
    }
    for (i = 0; i < count; i++) {
        char *document = NULL;

        assert_int_equal(store_get(store, "crm", list[i].version, NULL, &document, &err), 0);
        assert_true(is_whole(document, list[i].document_bytes));
        free(document);
    }
    free(list);
    store_free(store);
    assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    assert_int_equal(ask("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_int_equal(ask("SELECT count(*) FROM version v JOIN environment e ON e.id = v.environment"
                         " WHERE v.number > e.version_last"),
        0);
}

static void a_crash_at_any_moment_breaks_nothing(void **state)
{
    uint32_t promised_max = 0, version;
    int pipes[2], status, round;
    unsigned seed = (unsigned)getpid();
    pid_t pid;

    (void)state;
    for (round = 0; round < CRASHES; round++) {
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
            _exit(change_for_ever(pipes[1], seed));
        }
        (void)close(pipes[1]);
        seed = seed * 1103515245u + 12345u;
        (void)usleep((seed >> 8) % 30000); /* an opening takes about 5 ms */
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status)); /* it did not fail before */
        while (fd_read_up_to(pipes[0], &version, sizeof(version)) == sizeof(version)) {
            assert_true(version > promised_max); /* no number is given out twice */
            promised_max = version;
        }
        (void)close(pipes[0]);
        check_store();
        assert_true(ask("SELECT coalesce(max(version_last), 0) FROM environment") >= promised_max);
    }
    assert_true(promised_max > 5); /* the loop did something */
}

static int update_many(void *user)
{
    struct store *store = NULL;
    uint32_t version, last = 0;
    int i;

    (void)user;
    CHILD_CHECK(store_open(directory, &store, &err) == 0);
    for (i = 0; i < 25; i++) {
        int r = store_update(store, "crm", "{}", 2, &version, &err);

        if (r < 0 && err.sys == ENOENT) {
            r = store_create(store, "crm", "{}", 2, &version, &err);
            r = r < 0 && err.sys == EEXIST ? store_update(store, "crm", "{}", 2, &version, &err)
                                           : r;
        }
        CHILD_CHECK(r == 0);
        CHILD_CHECK(version > last);
        last = version;
    }
    store_free(store);
    return CHILD_FINE;
}

/* They also make the database at the same time. */
static void writers_at_the_same_time_get_different_numbers(void **state)
{
    pid_t pids[4];
    int status;
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(update_many(NULL));
        }
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ask("SELECT count(*) FROM version"), 100);
    assert_int_equal(ask("SELECT version_last FROM environment"), 100);
}

/* ---- bad files ---- */

static void change_file(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static void expect_refusal(const char *words)
{
    struct store *store = NULL;

    assert_int_equal(store_open(directory, &store, &err), VIAL_E_SYS);
    if (strstr(err.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    }
    assert_null(store);
}

static void a_store_of_a_newer_vial_is_left_alone(void **state)
{
    (void)state;
    store_free(open_store());
    change_file("PRAGMA user_version = 9; CREATE TABLE later (x)");
    expect_refusal("newer vial (its schema is 9, this one knows 1)");
    assert_int_equal(ask("PRAGMA user_version"), 9);
}

static void a_database_of_something_else_is_left_alone(void **state)
{
    (void)state;
    change_file("CREATE TABLE theirs (x)");
    expect_refusal("database of another program");
    assert_int_equal(ask("SELECT count(*) FROM sqlite_schema"), 1);
    change_file("DROP TABLE theirs; PRAGMA application_id = 5");
    expect_refusal("database of another program");
}

static void put_file(const char *name, const char *bytes, size_t len)
{
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, bytes, len), 0);
    (void)close(fd);
}

static void a_damaged_file_is_said_to_be_damaged(void **state)
{
    char garbage[8192];
    struct store *store;
    int fd;

    (void)state;
    memset(garbage, 'x', sizeof(garbage));
    put_file("store.db", garbage, sizeof(garbage));
    expect_refusal("damaged");
    (void)unlink(path_of("store.db"));
    store = open_store();
    (void)create(store, "crm", "{1}");
    store_free(store);
    fd = open(path_of("store.db"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    /* The schema's page, behind the header of the file. */
    assert_int_equal(pwrite(fd, garbage, 4000, 96), 4000);
    (void)close(fd);
    expect_refusal("damaged");
}

static int fill_disk(void *user)
{
    const struct rlimit limit = {400000, 400000};
    struct store *store = NULL;
    char *text = calloc(1, 300000);
    uint32_t version;
    int r = 0, i;

    (void)user;
    CHILD_CHECK(text != NULL);
    CHILD_CHECK(store_open(directory, &store, &err) == 0);
    CHILD_CHECK(store_create(store, "crm", "{1}", 3, &version, &err) == 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    for (i = 0; i < 5 && r == 0; i++) {
        r = store_update(store, "crm", text, 300000, &version, &err);
    }
    CHILD_CHECK(r == VIAL_E_SYS);
    CHILD_CHECK(strstr(err.text, "store") != NULL);
    store_free(store);
    free(text);
    return CHILD_FINE;
}

static void no_room_is_an_error_and_no_damage(void **state)
{
    struct store *store;

    (void)state;
    assert_int_equal(helper_in_child(fill_disk, NULL), CHILD_FINE);
    store = open_store();
    expect_document(store, "crm", 1, 1, "{1}");
    store_free(store);
    assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
}

static void only_we_can_read_it(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal", "in-use"};
    struct store *store;
    mode_t before = umask(0);
    struct stat st;
    size_t i;

    (void)state;
    store = open_store();
    (void)umask(before);
    (void)create(store, "crm", "{1}");
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(stat(path_of(names[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    store_free(store);
}

static void nothing_is_left_open(void **state)
{
    unsigned before = helper_fds_count();
    struct store *store = open_store();
    struct store_use *use = NULL;

    (void)state;
    (void)create(store, "crm", "{1}");
    assert_int_equal(store_use(store, "crm", 0, &use, &err), 0);
    store_free(store);
    store_use_free(use);
    put_file("store.db", "not a database, but long enough to be read as one by somebody", 60);
    expect_refusal("damaged");
    assert_int_equal(helper_fds_count(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_created_is_found_again),
        TEST(a_name_is_created_once_and_updated_when_it_is_there),
        TEST(a_number_is_never_used_again),
        TEST(deleting_what_is_not_there_says_so),
        TEST(lists_are_in_order),
        TEST(sizes_are_bounded),
        TEST(old_versions_have_to_go_before_there_are_too_many),
        TEST(what_is_in_use_is_not_deleted),
        TEST(force_deletes_what_is_in_use),
        TEST(a_process_that_dies_lets_go),
        TEST(a_crash_at_any_moment_breaks_nothing),
        TEST(writers_at_the_same_time_get_different_numbers),
        TEST(a_store_of_a_newer_vial_is_left_alone),
        TEST(a_database_of_something_else_is_left_alone),
        TEST(a_damaged_file_is_said_to_be_damaged),
        TEST(no_room_is_an_error_and_no_damage),
        TEST(only_we_can_read_it),
        TEST(nothing_is_left_open),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
