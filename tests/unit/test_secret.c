/* test_secret.c - secrets that last: what opens and what must not, wrong keys, moved and damaged
 * records, crashes in the middle of anything, several processes at once. */
#include "store/secret.h"

#include <dirent.h>
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
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-secret-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static const char *path_of(const char *name)
{
    static char paths[4][400];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    (void)snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

static int remove_directory(void **state)
{
    DIR *stream = opendir(directory);
    const struct dirent *entry;

    (void)state;
    if (stream == NULL) {
        return -1;
    }
    while ((entry = readdir(stream)) != NULL) {
        (void)unlink(path_of(entry->d_name));
    }
    (void)closedir(stream);
    return rmdir(directory);
}

static struct secret_store *open_with(const char *key_file, const char *credential)
{
    const struct secret_options options = {directory, key_file, credential};
    struct secret_store *store = NULL;

    if (secret_open(&options, &store, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return store;
}

static struct secret_store *open_store(void)
{
    return open_with(NULL, NULL);
}

static void set(struct secret_store *store, const char *name, const char *text)
{
    if (secret_set(store, name, text, strlen(text), NULL, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static void expect_kept(struct secret_store *store, const char *name, const char *text)
{
    struct secret_value value = {.len = 0};

    if (secret_get(store, name, &value, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(value.len, strlen(text));
    assert_string_equal(value.bytes, text);
    secret_value_release(&value);
    assert_null(value.bytes);
}

/* The value cannot be had, for a reason, and nothing of it is in the sentence. */
static void expect_none(struct secret_store *store, const char *name, int code, const char *why)
{
    struct secret_value value = {.len = 0};

    assert_int_equal(secret_get(store, name, &value, &err), code);
    assert_null(value.bytes);
    if (strstr(err.text, why) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, why);
    }
    assert_null(strstr(err.text, "hunter2"));
}

static void change_file(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static void put_key(const char *name, char c, mode_t mode)
{
    char bytes[32];
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    memset(bytes, c, sizeof(bytes));
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, bytes, sizeof(bytes)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void read_key(char bytes[32])
{
    int fd = open(path_of("secret.key"), O_RDONLY | O_CLOEXEC);

    assert_int_equal(fd_read_up_to(fd, bytes, 32), 32);
    (void)close(fd);
}

/* ---- what is kept ---- */

static void what_is_set_is_had_again(void **state)
{
    struct secret_store *store = open_store();
    struct secret_info info;

    (void)state;
    assert_int_equal(secret_set(store, "TOKEN", "hunter2", 7, &info, &err), 0);
    assert_string_equal(info.name, "TOKEN");
    assert_int_equal(info.version, 1);
    assert_int_equal(info.value_bytes, 7);
    expect_kept(store, "TOKEN", "hunter2");
    assert_int_equal(secret_set(store, "TOKEN", "hunter3", 7, &info, &err), 0);
    assert_int_equal(info.version, 2);
    assert_true(info.changed_us >= info.created_us);
    secret_free(store);
    store = open_store();
    expect_kept(store, "TOKEN", "hunter3");
    expect_none(store, "OTHER", VIAL_E_INVALID, "there is no secret OTHER");
    assert_int_equal(err.sys, ENOENT);
    secret_free(store);
    secret_free(NULL);
}

static void a_callback_gets_it_into_a_buffer(void **state)
{
    struct secret_store *store = open_store();
    struct buf out;

    (void)state;
    set(store, "TOKEN", "hunter2");
    buf_init(&out, 100);
    assert_int_equal(buf_add_text(&out, "Bearer ", &err), 0);
    assert_int_equal(secret_lookup(store, "TOKEN", &out, &err), 0);
    assert_string_equal(out.data, "Bearer hunter2");
    assert_int_equal(secret_lookup(store, "NONE", &out, &err), VIAL_E_INVALID);
    assert_int_equal(out.len, 14);
    buf_wipe(&out);
    secret_free(store);
}

static void lists_have_no_values(void **state)
{
    struct secret_store *store = open_store();
    struct secret_info *list = NULL;
    size_t count = 9;

    (void)state;
    assert_int_equal(secret_list(store, &list, &count, &err), 0);
    assert_int_equal(count, 0);
    free(list);
    set(store, "B", "hunter2");
    set(store, "A", "hunter22");
    set(store, "B", "hunter222");
    assert_int_equal(secret_list(store, &list, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].name, "A");
    assert_string_equal(list[1].name, "B");
    assert_int_equal(list[1].version, 2);
    assert_int_equal(list[1].value_bytes, 9);
    assert_true(list[1].created_us > UINT64_C(1600000000000000));
    assert_null(memmem(list, count * sizeof(*list), "hunter2", 7));
    free(list);
    secret_free(store);
}

static void what_is_deleted_is_gone_and_needs_no_key(void **state)
{
    struct secret_store *store = open_store();

    (void)state;
    set(store, "A", "hunter2");
    secret_free(store);
    assert_int_equal(unlink(path_of("secret.key")), 0);
    store = open_store();
    expect_none(store, "A", VIAL_E_SYS, "secret.key is missing");
    assert_int_equal(secret_set(store, "B", "value", 5, NULL, &err), VIAL_E_SYS);
    assert_int_equal(access(path_of("secret.key"), F_OK), -1); /* no other key is made */
    assert_int_equal(secret_delete(store, "A", &err), 0);
    assert_int_equal(secret_delete(store, "A", &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    set(store, "B", "with a new key"); /* nothing needs the old one any more */
    expect_kept(store, "B", "with a new key");
    secret_free(store);
}

static void sizes_and_names_are_bounded(void **state)
{
    struct secret_store *store = open_store();
    char *large = calloc(1, SECRET_VALUE_BYTES_MAX + 1);
    struct secret_value value = {.len = 0};

    (void)state;
    assert_non_null(large);
    assert_int_equal(secret_set(store, "A", large, 0, NULL, &err), VIAL_E_INVALID);
    assert_int_equal(
        secret_set(store, "A", large, SECRET_VALUE_BYTES_MAX + 1, NULL, &err), VIAL_E_INVALID);
    assert_int_equal(secret_set(store, "A", large, SECRET_VALUE_BYTES_MAX, NULL, &err), 0);
    assert_int_equal(secret_get(store, "A", &value, &err), 0);
    assert_int_equal(value.len, SECRET_VALUE_BYTES_MAX);
    secret_value_release(&value);
    assert_int_equal(secret_set(store, "hunter2-", large, 5, NULL, &err), VIAL_E_INVALID);
    assert_null(strstr(err.text, "hunter2")); /* it may be a value in the wrong place */
    expect_none(store, "hunter2-", VIAL_E_INVALID, "the name of a secret");
    assert_int_equal(secret_delete(store, "", &err), VIAL_E_INVALID);
    free(large);
    secret_free(store);
}

static void there_is_a_last_one(void **state)
{
    struct secret_store *store = open_store();

    (void)state;
    set(store, "A", "hunter2");
    change_file("WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
                " INSERT INTO secret SELECT 'N' || i, 1, 0, 0, x'00' FROM n");
    assert_int_equal(secret_set(store, "B", "x", 1, NULL, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "1000 secrets"));
    set(store, "A", "hunter22");
    secret_free(store);
}

/* ---- keys ---- */

static void the_key_is_where_it_was_said_to_be(void **state)
{
    struct secret_store *store;

    (void)state;
    store = open_with(path_of("my.key"), NULL);
    assert_int_equal(secret_set(store, "A", "hunter2", 7, NULL, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "there is no key file"));
    put_key("my.key", 'k', 0600);
    set(store, "A", "hunter2");
    secret_free(store);
    assert_int_equal(access(path_of("secret.key"), F_OK), -1);
    put_key("credential", 'k', 0440);
    store = open_with(NULL, path_of("credential"));
    expect_kept(store, "A", "hunter2");
    secret_free(store);
    store = open_with(path_of("credential"), NULL);
    expect_none(store, "A", VIAL_E_SYS, "others may use the key file");
    secret_free(store);
}

static void a_wrong_key_is_said_to_be_wrong(void **state)
{
    struct secret_store *store = open_store();
    size_t count = 0;

    (void)state;
    set(store, "A", "hunter2");
    put_key("secret.key", 'x', 0600);
    expect_kept(store, "A", "hunter2"); /* it knows the right one by now */
    secret_free(store);
    store = open_store();
    expect_none(store, "A", VIAL_E_SYS, "is not the one that the secrets are encrypted with");
    assert_int_equal(secret_set(store, "B", "value", 5, NULL, &err), VIAL_E_SYS);
    assert_int_equal(secret_check(store, NULL, NULL, &count, &err), VIAL_E_SYS);
    assert_int_equal(secret_rotate(store, NULL, &count, &err), VIAL_E_SYS);
    assert_int_equal(truncate(path_of("secret.key"), 31), 0);
    expect_none(store, "A", VIAL_E_SYS, "has 31 bytes and not 32");
    secret_free(store);
}

static void a_new_key_is_for_all(void **state)
{
    struct secret_store *store = open_store(), *other = open_store();
    char before[32], after[32];
    size_t count = 0;

    (void)state;
    assert_int_equal(secret_rotate(store, NULL, &count, &err), 0);
    assert_int_equal(count, 0);
    set(store, "A", "hunter2");
    set(store, "B", "hunter22");
    expect_kept(other, "A", "hunter2");
    read_key(before);
    assert_int_equal(secret_rotate(store, NULL, &count, &err), 0);
    assert_int_equal(count, 2);
    read_key(after);
    assert_memory_not_equal(before, after, 32);
    assert_int_equal(access(path_of("secret.key.new"), F_OK), -1);
    expect_kept(store, "A", "hunter2");
    expect_kept(other, "B", "hunter22"); /* it notices that its key is an old one */
    secret_free(store);
    secret_free(other);
}

static void a_new_key_may_come_from_a_file(void **state)
{
    struct secret_store *store;
    size_t count = 0;

    (void)state;
    put_key("credential", 'c', 0400);
    put_key("next", 'n', 0600);
    store = open_with(NULL, path_of("credential"));
    set(store, "A", "hunter2");
    assert_int_equal(secret_rotate(store, NULL, &count, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "credential of the service manager"));
    assert_int_equal(secret_rotate(store, path_of("credential"), &count, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, "in use already"));
    assert_int_equal(secret_rotate(store, path_of("nothing"), &count, &err), VIAL_E_SYS);
    expect_kept(store, "A", "hunter2");
    assert_int_equal(secret_rotate(store, path_of("next"), &count, &err), 0);
    assert_int_equal(count, 1);
    secret_free(store);
    store = open_with(NULL, path_of("credential"));
    expect_none(store, "A", VIAL_E_SYS, "is not the one");
    secret_free(store);
    store = open_with(path_of("next"), NULL);
    expect_kept(store, "A", "hunter2");
    secret_free(store);
}

/* ---- damage ---- */

static void note_bad(const char *name, void *user)
{
    (void)snprintf(user, 8, "%s", name);
}

static void a_record_under_another_name_does_not_open(void **state)
{
    struct secret_store *store = open_store();
    char bad[8] = "";
    size_t count = 0;

    (void)state;
    set(store, "A", "hunter2");
    set(store, "B", "hunter22");
    change_file("UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'A')"
                " WHERE name = 'B'");
    expect_none(store, "B", VIAL_E_SYS, "record of the secret B is damaged");
    expect_kept(store, "A", "hunter2");
    assert_int_equal(secret_check(store, note_bad, bad, &count, &err), 0);
    assert_int_equal(count, 1);
    assert_string_equal(bad, "B");
    assert_int_equal(secret_rotate(store, NULL, &count, &err), VIAL_E_SYS);
    expect_kept(store, "A", "hunter2"); /* with the old key, which stays */
    set(store, "B", "hunter23");
    expect_kept(store, "B", "hunter23");
    secret_free(store);
    store = open_store();
    expect_kept(store, "A", "hunter2");
    secret_free(store);
}

static void an_older_version_does_not_open_as_a_newer_one(void **state)
{
    struct secret_store *store = open_store();

    (void)state;
    set(store, "A", "hunter2");
    change_file("CREATE TABLE copy AS SELECT sealed FROM secret");
    set(store, "A", "hunter22");
    change_file("UPDATE secret SET sealed = (SELECT sealed FROM copy)");
    expect_none(store, "A", VIAL_E_SYS, "is damaged");
    change_file("UPDATE secret SET sealed = x'00'");
    expect_none(store, "A", VIAL_E_SYS, "is damaged");
    change_file("UPDATE secret SET sealed = zeroblob(100000)");
    expect_none(store, "A", VIAL_E_SYS, "is damaged");
    change_file("UPDATE secret_state SET key_id = NULL");
    expect_none(store, "A", VIAL_E_SYS, "table of secrets is damaged");
    secret_free(store);
}

static void expect_refused(const char *words)
{
    const struct secret_options options = {.directory = directory};
    struct secret_store *store = NULL;

    assert_int_equal(secret_open(&options, &store, &err), VIAL_E_SYS);
    if (strstr(err.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    }
    assert_null(store);
}

static void secrets_of_a_newer_vial_are_left_alone(void **state)
{
    struct secret_store *store = open_store();
    unsigned before;

    (void)state;
    set(store, "A", "hunter2");
    secret_free(store);
    before = helper_fds_count();
    change_file("UPDATE secret_state SET schema = 7");
    expect_refused("newer vial (their schema is 7, this one knows 1)");
    change_file("UPDATE secret_state SET schema = 0");
    expect_refused("damaged");
    change_file("DELETE FROM secret_state");
    expect_refused("damaged");
    assert_int_equal(truncate(path_of("store.db"), 5000), 0);
    expect_refused("damaged");
    assert_int_equal(helper_fds_count(), before);
}

/* Is the text in any file of the directory? */
static int is_on_disk(const char *text)
{
    DIR *stream = opendir(directory);
    const struct dirent *entry;
    char *bytes = malloc(1 << 20);
    int found = 0;

    assert_non_null(stream);
    assert_non_null(bytes);
    while ((entry = readdir(stream)) != NULL) {
        int fd = open(path_of(entry->d_name), O_RDONLY | O_CLOEXEC);
        ssize_t n = fd_read_up_to(fd, bytes, 1 << 20);

        assert_true(n < 1 << 20);
        found |= n > 0 && memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
        fd_closep(&fd);
    }
    (void)closedir(stream);
    free(bytes);
    return found;
}

static void no_file_has_a_value_and_only_we_can_read_them(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal", "in-use", "secret.key"};
    mode_t before = umask(0);
    struct secret_store *store = open_store();
    size_t count = 0, i;
    struct stat st;

    (void)state;
    set(store, "TOKEN", "hunter2-hunter2");
    assert_int_equal(secret_rotate(store, NULL, &count, &err), 0);
    set(store, "TOKEN", "hunter2-hunter3");
    (void)umask(before);
    assert_true(is_on_disk("TOKEN")); /* the search works */
    assert_false(is_on_disk("hunter2"));
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(stat(path_of(names[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    secret_free(store);
    assert_false(is_on_disk("hunter2"));
}

/* ---- crashes and company ---- */

enum { CRASHES = 60 };

/* Changes secrets and keys without end; says so after each change of A, whose value is a number. */
static int change_for_ever(int promised, unsigned number)
{
    const struct secret_options options = {.directory = directory};
    struct secret_store *store = NULL;
    char text[32];
    size_t count;

    if (secret_open(&options, &store, &err) < 0) {
        return 1;
    }
    for (;; number++) {
        (void)snprintf(text, sizeof(text), "%020u", number);
        if (secret_set(store, "A", text, 20, NULL, &err) < 0 ||
            fd_write_all(promised, &number, sizeof(number)) < 0 ||
            secret_rotate(store, NULL, &count, &err) < 0) {
            return 1;
        }
    }
}

/* All that is there can be read, and A is at least what was promised. */
static unsigned check_all(unsigned promised)
{
    struct secret_store *store = open_store();
    struct secret_value value = {.len = 0};
    char bad[8] = "";
    unsigned number = 0;
    size_t count = 0;

    if (secret_check(store, note_bad, bad, &count, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(bad, "");
    expect_kept(store, "KEPT", "hunter2");
    if (secret_get(store, "A", &value, &err) == 0) {
        assert_int_equal(sscanf(value.bytes, "%u", &number), 1);
        secret_value_release(&value);
    }
    assert_true(number == promised || number == promised + 1);
    secret_free(store);
    return number;
}

static void a_crash_at_any_moment_breaks_nothing(void **state)
{
    struct secret_store *store = open_store();
    unsigned seed = (unsigned)getpid(), number, promised = 0;
    int pipes[2], status, round;
    pid_t pid;

    (void)state;
    set(store, "KEPT", "hunter2");
    secret_free(store);
    for (round = 0; round < CRASHES; round++) {
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
            _exit(change_for_ever(pipes[1], promised + 1));
        }
        (void)close(pipes[1]);
        seed = seed * 1103515245u + 12345u;
        (void)usleep((seed >> 8) % 30000); /* an opening takes about 5 ms */
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status)); /* it did not fail before */
        while (fd_read_up_to(pipes[0], &number, sizeof(number)) == sizeof(number)) {
            promised = number;
        }
        (void)close(pipes[0]);
        promised = check_all(promised);
    }
    assert_true(promised > 5); /* the loop did something */
}

/* The moment that chance seldom meets: the database has the new key, and its file the old name. */
static void a_crash_before_the_key_has_its_name_is_made_good(void **state)
{
    struct secret_store *store = open_store();
    size_t count = 0;

    (void)state;
    set(store, "A", "hunter2");
    assert_int_equal(link(path_of("secret.key"), path_of("old")), 0);
    assert_int_equal(secret_rotate(store, NULL, &count, &err), 0);
    secret_free(store);
    assert_int_equal(rename(path_of("secret.key"), path_of("secret.key.new")), 0);
    assert_int_equal(rename(path_of("old"), path_of("secret.key")), 0);
    store = open_store();
    expect_kept(store, "A", "hunter2");
    assert_int_equal(access(path_of("secret.key.new"), F_OK), 0); /* who looks changes nothing */
    set(store, "B", "hunter22");
    assert_int_equal(access(path_of("secret.key.new"), F_OK), -1);
    expect_kept(store, "A", "hunter2");
    secret_free(store);
    store = open_store();
    assert_int_equal(secret_rotate(store, NULL, &count, &err), 0);
    assert_int_equal(count, 2);
    secret_free(store);
}

static int set_and_rotate(void *user)
{
    const struct secret_options options = {.directory = directory};
    const char *name = user;
    struct secret_value value = {.len = 0};
    struct secret_store *store = NULL;
    size_t count;
    int i;

    CHILD_CHECK(secret_open(&options, &store, &err) == 0);
    for (i = 0; i < 8; i++) {
        CHILD_CHECK(secret_set(store, name, name, strlen(name), NULL, &err) == 0);
        CHILD_CHECK(secret_get(store, name, &value, &err) == 0);
        CHILD_CHECK(strcmp(value.bytes, name) == 0);
        secret_value_release(&value);
        CHILD_CHECK(i % 4 != 3 || secret_rotate(store, NULL, &count, &err) == 0);
    }
    secret_free(store);
    return CHILD_FINE;
}

/* They also make the database and the key at the same time. */
static void processes_at_the_same_time_do_not_harm_each_other(void **state)
{
    static char names[4][8] = {"FIRST", "SECOND", "THIRD", "FOURTH"};
    struct secret_store *store;
    pid_t pids[4];
    int status;
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(set_and_rotate(names[i]));
        }
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    store = open_store();
    for (i = 0; i < 4; i++) {
        expect_kept(store, names[i], names[i]);
    }
    secret_free(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_set_is_had_again),
        TEST(a_callback_gets_it_into_a_buffer),
        TEST(lists_have_no_values),
        TEST(what_is_deleted_is_gone_and_needs_no_key),
        TEST(sizes_and_names_are_bounded),
        TEST(there_is_a_last_one),
        TEST(the_key_is_where_it_was_said_to_be),
        TEST(a_wrong_key_is_said_to_be_wrong),
        TEST(a_new_key_is_for_all),
        TEST(a_new_key_may_come_from_a_file),
        TEST(a_record_under_another_name_does_not_open),
        TEST(an_older_version_does_not_open_as_a_newer_one),
        TEST(secrets_of_a_newer_vial_are_left_alone),
        TEST(no_file_has_a_value_and_only_we_can_read_them),
        TEST(a_crash_at_any_moment_breaks_nothing),
        TEST(a_crash_before_the_key_has_its_name_is_made_good),
        TEST(processes_at_the_same_time_do_not_harm_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
