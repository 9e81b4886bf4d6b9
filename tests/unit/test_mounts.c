/* test_mounts.c - looking into a directory of the host, and nowhere else, whatever is asked. */
#include "host/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "wire/look.h"

static char directory[] = "/tmp/vial-mounts-XXXXXX";
static struct mounts *mounts;

static void put(const char *name, const char *text)
{
    char path[256];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
    (void)close(fd);
}

static void put_link(const char *target, const char *name)
{
    char path[256];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    assert_int_equal(symlink(target, path), 0);
}

static int make_directory(void **state)
{
    static char name[] = "data";
    char path[256];
    struct document_mount mount = {.name = name, .from = directory};
    struct document document = {.name = name, .mounts = &mount, .mounts_count = 1};

    (void)state;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/sub", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    put("a", "hello");
    put("sub/b", "deep");
    put_link("/etc/passwd", "out");
    put_link("../../../../../../etc/passwd", "up");
    put_link("a", "in");
    (void)snprintf(path, sizeof(path), "%s/fifo", directory);
    assert_int_equal(mkfifo(path, 0644), 0);
    return mounts_open(&document, &mounts, NULL);
}

static int remove_directory(void **state)
{
    static const char *const names[] = {"sub/b", "sub", "a", "out", "up", "in", "fifo", ""};
    char path[256];
    size_t i;

    (void)state;
    mounts_free(mounts);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        (void)remove(path);
    }
    return 0;
}

/* Asks, and gives the errno; what came is in *answer. */
static int ask(struct look look, const char *path, size_t path_len, struct buf *answer)
{
    char question[sizeof(look) + LOOK_PATH_BYTES_MAX + 16];

    memcpy(question, &look, sizeof(look));
    memcpy(question + sizeof(look), path, path_len);
    buf_init(answer, LOOK_BYTES_MAX);
    return mounts_look(mounts, 0, question, sizeof(look) + path_len, NULL, NULL, answer);
}

static void expect_read(const char *path, int sys, const char *text)
{
    struct look look = {.what = LOOK_READ, .len = 100};
    struct buf answer;

    assert_int_equal(ask(look, path, strlen(path), &answer), sys);
    if (sys == 0) {
        assert_int_equal(answer.len, strlen(text));
        assert_memory_equal(answer.data, text, answer.len);
    }
    buf_release(&answer);
}

static void files_inside_are_read(void **state)
{
    struct look look = {.what = LOOK_READ, .len = 2, .offset = 1};
    struct buf answer;

    (void)state;
    expect_read("a", 0, "hello");
    expect_read("sub/b", 0, "deep");
    expect_read("in", 0, "hello");
    assert_int_equal(ask(look, "a", 1, &answer), 0);
    assert_int_equal(answer.len, 2);
    assert_memory_equal(answer.data, "el", 2);
    buf_release(&answer);
}

static void nothing_outside_is_reached(void **state)
{
    (void)state;
    expect_read("out", EACCES, NULL);
    expect_read("up", EACCES, NULL);
    expect_read("../etc/passwd", EACCES, NULL);
    expect_read("sub/../../etc/passwd", EACCES, NULL);
    expect_read("/etc/passwd", EACCES, NULL);
    expect_read("fifo", ENOENT, NULL);
    expect_read("none", ENOENT, NULL);
    expect_read("", EISDIR, NULL);
    expect_read("a/b", ENOTDIR, NULL);
}

static void directories_are_listed_from_any_number_on(void **state)
{
    struct look look = {.what = LOOK_LIST, .len = LOOK_BYTES_MAX};
    struct buf answer;
    unsigned count = 0;
    size_t at;

    (void)state;
    assert_int_equal(ask(look, "", 0, &answer), 0);
    for (at = 0; at < answer.len; at += 2 + (unsigned char)answer.data[at + 1]) {
        count++;
    }
    assert_int_equal(count, 6);
    buf_release(&answer);
    look.offset = 6;
    assert_int_equal(ask(look, "", 0, &answer), 0);
    assert_int_equal(answer.len, 0);
    buf_release(&answer);
    assert_int_equal(ask(look, "a", 1, &answer), ENOTDIR);
    buf_release(&answer);
}

static void questions_that_are_none_are_refused(void **state)
{
    struct look look = {.what = LOOK_READ, .len = 100};
    static char long_path[LOOK_PATH_BYTES_MAX + 1];
    struct buf answer;

    (void)state;
    look.mount = 1;
    assert_int_equal(ask(look, "a", 1, &answer), EINVAL);
    buf_release(&answer);
    look.mount = 0;
    look.what = 3;
    assert_int_equal(ask(look, "a", 1, &answer), EINVAL);
    buf_release(&answer);
    look.what = LOOK_READ;
    assert_int_equal(ask(look, "a\0b", 3, &answer), EINVAL);
    buf_release(&answer);
    look.offset = UINT64_MAX;
    assert_int_equal(ask(look, "a", 1, &answer), EINVAL);
    buf_release(&answer);
    memset(long_path, 'a', sizeof(long_path));
    assert_int_equal(ask(look, long_path, sizeof(long_path), &answer), EINVAL);
    buf_release(&answer);
    buf_init(&answer, LOOK_BYTES_MAX);
    assert_int_equal(mounts_look(mounts, 0, "x", 1, NULL, NULL, &answer), EINVAL);
    assert_int_equal(
        mounts_look(NULL, 0, (const char *)&look, sizeof(look), NULL, NULL, &answer), EINVAL);
    buf_release(&answer);
}

static void a_directory_that_is_not_there_is_named(void **state)
{
    static char name[] = "data", from[] = "/there/is/no/such/directory";
    struct document_mount mount = {.name = name, .from = from};
    struct document document = {.name = name, .mounts = &mount, .mounts_count = 1};
    struct mounts *none = NULL;
    struct vial_error err;

    (void)state;
    assert_int_equal(mounts_open(&document, &none, &err), VIAL_E_INVALID);
    assert_non_null(strstr(err.text, from));
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_inside_are_read),
        cmocka_unit_test(nothing_outside_is_reached),
        cmocka_unit_test(directories_are_listed_from_any_number_on),
        cmocka_unit_test(questions_that_are_none_are_refused),
        cmocka_unit_test(a_directory_that_is_not_there_is_named),
    };

    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
