/* test_secret_key.c - files of keys: whose they may be, and how a new one takes the place of an
 * old one. */
#include "store/secret_key.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"

static char directory[64], path[96], staged[104];
static struct secret_key_place place = {path, SECRET_KEY_OWN};
static struct vial_error err;

static int make_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-key-XXXXXX");
    if (mkdtemp(directory) == NULL || seal_start(&err) < 0) {
        return -1;
    }
    (void)snprintf(path, sizeof(path), "%s/key", directory);
    (void)snprintf(staged, sizeof(staged), "%s/key.new", directory);
    place.kind = SECRET_KEY_OWN;
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    (void)unlink(path);
    (void)rmdir(path);
    (void)unlink(staged);
    return rmdir(directory); /* so nothing else was left */
}

static void put_file(const char *name, size_t len, mode_t mode)
{
    char bytes[64];
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    memset(bytes, 'k', sizeof(bytes));
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, bytes, len), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void expect_refusal(const char *words)
{
    struct secret_key key = {.is_set = 0};

    assert_int_equal(secret_key_read(&place, &key, &err), VIAL_E_SYS);
    if (strstr(err.text, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    }
    assert_false(key.is_set);
}

static void a_key_that_is_made_is_read_again(void **state)
{
    struct secret_key key = {.is_set = 0}, found = {.is_set = 0};
    struct stat st;
    mode_t before = umask(0);

    (void)state;
    expect_refusal("No such file");
    assert_int_equal(err.sys, ENOENT);
    secret_key_new(&key);
    assert_int_equal(secret_key_make(&place, &key, &err), 0);
    (void)umask(before);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, SEAL_KEY_BYTES);
    assert_int_equal(secret_key_read(&place, &found, &err), 0);
    assert_memory_equal(found.bytes, key.bytes, SEAL_KEY_BYTES);
    assert_memory_equal(found.id, key.id, SEAL_ID_BYTES);
    secret_key_wipe(&found);
    assert_memory_not_equal(found.bytes, key.bytes, SEAL_KEY_BYTES);
}

static void a_key_that_others_may_read_is_refused(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0610, 0601, 0644};
    struct secret_key key = {.is_set = 0};
    size_t i;

    (void)state;
    place.kind = SECRET_KEY_FILE;
    for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        put_file(path, SEAL_KEY_BYTES, modes[i]);
        expect_refusal("others may use the key file");
    }
    put_file(path, SEAL_KEY_BYTES, 0400);
    assert_int_equal(secret_key_read(&place, &key, &err), 0);
    (void)unlink(path);
    /* An access list for the service shows as a right of the group. */
    place.kind = SECRET_KEY_CREDENTIAL;
    put_file(path, SEAL_KEY_BYTES, 0440);
    assert_int_equal(secret_key_read(&place, &key, &err), 0);
    for (i = 1; i < sizeof(modes) / sizeof(modes[0]); i++) {
        put_file(path, SEAL_KEY_BYTES, modes[i]);
        expect_refusal("others may use the key file");
    }
}

static void what_is_no_key_file_is_refused(void **state)
{
    static const size_t sizes[] = {0, 1, 31, 33, 64};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put_file(path, sizes[i], 0600);
        expect_refusal("bytes and not 32");
    }
    (void)unlink(path);
    put_file(staged, SEAL_KEY_BYTES, 0600);
    assert_int_equal(symlink(staged, path), 0);
    expect_refusal("not a regular file");
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal("not a regular file");
    (void)unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_refusal("not a regular file");
}

static int read_as_another(void *user)
{
    struct secret_key key;

    (void)user;
    put_file(path, SEAL_KEY_BYTES, 0600);
    CHILD_CHECK(chmod(directory, 0755) == 0);
    if (geteuid() != 0) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(chown(path, 1, 1) == 0); /* root can read it, and it is not ours */
    place.kind = SECRET_KEY_FILE;
    CHILD_CHECK(secret_key_read(&place, &key, &err) == VIAL_E_SYS);
    CHILD_CHECK(strstr(err.text, "belongs to user 1") != NULL);
    place.kind = SECRET_KEY_CREDENTIAL;
    CHILD_CHECK(secret_key_read(&place, &key, &err) == VIAL_E_SYS);
    return CHILD_FINE;
}

static void a_key_of_somebody_else_is_refused(void **state)
{
    int r = helper_in_child(read_as_another, NULL);

    (void)state;
    assert_true(r == CHILD_FINE || r == CHILD_SKIPPED);
}

static void the_staged_key_is_found_when_it_is_the_one(void **state)
{
    struct secret_key old = {.is_set = 0}, new = {.is_set = 0}, found = {.is_set = 0};
    int is_staged = 7;

    (void)state;
    secret_key_new(&old);
    secret_key_new(&new);
    assert_int_equal(secret_key_find(&place, old.id, &found, &is_staged, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "is missing, and the secrets are encrypted with its key"));
    assert_int_equal(secret_key_make(&place, &old, &err), 0);
    assert_int_equal(secret_key_stage(&place, &new, &err), 0);
    assert_int_equal(secret_key_find(&place, old.id, &found, &is_staged, &err), 0);
    assert_int_equal(is_staged, 0);
    assert_int_equal(secret_key_find(&place, new.id, &found, &is_staged, &err), 0);
    assert_int_equal(is_staged, 1);
    assert_memory_equal(found.bytes, new.bytes, SEAL_KEY_BYTES);
    assert_int_equal(secret_key_unstage(&place, &err), 0);
    assert_int_equal(secret_key_find(&place, new.id, &found, &is_staged, &err), 0);
    assert_int_equal(is_staged, 0);
    assert_int_equal(secret_key_find(&place, old.id, &found, &is_staged, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "is not the one that the secrets are encrypted with"));
    assert_int_equal(secret_key_unstage(&place, &err), VIAL_E_SYS); /* there is none any more */
}

static void what_was_left_unfinished_is_no_hindrance(void **state)
{
    struct secret_key key = {.is_set = 0}, found = {.is_set = 0};
    char part[112];

    (void)state;
    (void)snprintf(part, sizeof(part), "%s.part", path);
    put_file(part, 5, 0600);
    secret_key_new(&key);
    assert_int_equal(secret_key_make(&place, &key, &err), 0);
    assert_int_equal(secret_key_read(&place, &found, &err), 0);
    assert_int_equal(access(part, F_OK), -1);
}

static void a_directory_that_is_not_there_is_an_error(void **state)
{
    const struct secret_key_place nowhere = {"/nonexistent/key", SECRET_KEY_OWN};
    struct secret_key key = {.is_set = 0};
    unsigned before = helper_fds_count();

    (void)state;
    secret_key_new(&key);
    assert_int_equal(secret_key_make(&nowhere, &key, &err), VIAL_E_SYS);
    assert_int_equal(secret_key_stage(&nowhere, &key, &err), VIAL_E_SYS);
    assert_int_equal(helper_fds_count(), before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_key_that_is_made_is_read_again),
        TEST(a_key_that_others_may_read_is_refused),
        TEST(what_is_no_key_file_is_refused),
        TEST(a_key_of_somebody_else_is_refused),
        TEST(the_staged_key_is_found_when_it_is_the_one),
        TEST(what_was_left_unfinished_is_no_hindrance),
        TEST(a_directory_that_is_not_there_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
