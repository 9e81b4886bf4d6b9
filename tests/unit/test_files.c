/* test_files.c - files into and out of a tree, which may be as nasty as a guest can make it. */
#include "cell/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/buf.h"
#include "wire/frame.h"

enum { FIELDS_MAX = 1 << 20, DEEP = 3000 };

static const struct memfs_limits LIMITS = {
    .bytes_max = UINT64_C(1) << 41, .files_max = 10000, .open_max = 16};
static struct memfs fs;

/* What came out: names in the order they came, and all bytes. */
static char got_names[FILES_OUT_MAX + 1][FILE_NAME_BYTES_MAX + 1];
static unsigned got_count;
static struct buf got_bytes;
static uint32_t got_mode;
static uint32_t left[LEFT_COUNT];

static int open_tree(void **state)
{
    (void)state;
    memfs_init(&fs, &LIMITS);
    buf_init(&got_bytes, FIELDS_MAX);
    return 0;
}

static int remove_tree(void **state)
{
    (void)state;
    memfs_release(&fs);
    buf_release(&got_bytes);
    return 0;
}

static void receive(const char *payload, size_t len)
{
    struct field f;
    size_t at = 0;
    int r;

    assert_true(len <= FRAME_FILE_BYTES_MAX);
    while ((r = field_next(payload, len, &at, &f)) == 1) {
        if (f.tag == FIELD_FILE_NAME) {
            assert_true(got_count <= FILES_OUT_MAX);
            assert_null(name_fault(f.bytes, f.len));
            memcpy(got_names[got_count], f.bytes, f.len);
            got_names[got_count++][f.len] = '\0';
        } else if (f.tag == FIELD_FILE_MODE) {
            assert_int_equal(field_u32(&f, &got_mode), 0);
        } else {
            assert_int_equal(f.tag, FIELD_FILE_BYTES);
            assert_int_equal(buf_add(&got_bytes, f.bytes, f.len, NULL), 0);
        }
    }
    assert_int_equal(r, 0);
}

static void collect(const char *pattern, uint64_t bytes_max)
{
    struct files_out out = {.fs = &fs, .bytes_max = bytes_max, .send = receive};
    struct buf fields;

    got_count = 0;
    buf_clear(&got_bytes);
    buf_init(&fields, FIELDS_MAX);
    assert_int_equal(field_add(&fields, FIELD_NAME, "x", 1, NULL), 0);
    assert_int_equal(field_add(&fields, FIELD_OUT, "no-such-file", 12, NULL), 0);
    assert_int_equal(field_add(&fields, FIELD_OUT, pattern, strlen(pattern), NULL), 0);
    out.fields = fields.data;
    out.fields_len = fields.len;
    files_collect(&out, left);
    buf_release(&fields);
}

static uint32_t left_sum(void)
{
    uint32_t sum = 0;
    unsigned i;

    for (i = 0; i < LEFT_COUNT; i++) {
        sum += left[i];
    }
    return sum;
}

static int put(struct files_in *in, const char *name, const char *bytes)
{
    struct buf frame;
    int r;

    buf_init(&frame, FRAME_FILE_BYTES_MAX);
    if (name != NULL) {
        assert_int_equal(field_add(&frame, FIELD_FILE_NAME, name, strlen(name), NULL), 0);
        assert_int_equal(field_add_u32(&frame, FIELD_FILE_MODE, 0750, NULL), 0);
    }
    assert_int_equal(field_add(&frame, FIELD_FILE_BYTES, bytes, strlen(bytes), NULL), 0);
    r = files_in_take(in, frame.data, frame.len);
    buf_release(&frame);
    return r;
}

static void make(const char *name, const char *bytes)
{
    int fd = memfs_open(&fs, name, O_WRONLY | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(memfs_write(&fs, fd, bytes, strlen(bytes), -1), strlen(bytes));
    assert_int_equal(memfs_close(&fs, fd), 0);
}

static void files_come_in_with_their_directories(void **state)
{
    struct files_in in;

    (void)state;
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "a/b/c.txt", "one "), 0);
    assert_int_equal(put(&in, NULL, "two"), 0);
    assert_int_equal(put(&in, "d", ""), 0);
    assert_int_equal(in.sys, 0);
    collect("**", 100);
    assert_int_equal(got_count, 2);
    assert_int_equal(got_bytes.len, 7);
    assert_string_equal(got_bytes.data, "one two");
    assert_int_equal(got_mode, 0750);
    assert_int_equal(left_sum(), 0);
}

static void names_that_lead_outside_end_the_cell(void **state)
{
    static const char *const names[] = {"../x", "/tmp/x", "a/../../x", "", "a//b", "."};
    struct files_in in;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        files_in_init(&in, &fs);
        assert_int_equal(put(&in, names[i], "x"), -1);
    }
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, NULL, "bytes of no file"), -1);
}

static void a_file_that_cannot_be_made_is_remembered(void **state)
{
    struct files_in in;

    (void)state;
    make("target", "mine");
    assert_int_equal(memfs_mkdir(&fs, "d", 0700), 0);
    assert_int_equal(memfs_symlink(&fs, "d", "link"), 0);
    assert_int_equal(memfs_symlink(&fs, "target", "file"), 0);
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "link/x", "x"), 0);
    assert_int_equal(in.sys, ELOOP);
    assert_string_equal(in.name, "link/x");
    assert_int_equal(put(&in, "later", "x"), 0); /* and nothing more is made */
    assert_int_equal(memfs_access(&fs, "later", 0), -ENOENT);
    assert_int_equal(memfs_access(&fs, "d/x", 0), -ENOENT);
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "file", "x"), 0);
    assert_int_equal(in.sys, ELOOP);
    collect("target", 100);
    assert_string_equal(got_bytes.data, "mine");
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "d", "x"), 0);
    assert_int_equal(in.sys, EISDIR);
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "target/x", "x"), 0);
    assert_int_equal(in.sys, ENOTDIR);
}

static void a_file_that_is_there_is_written_anew(void **state)
{
    struct files_in in;

    (void)state;
    make("f", "longer than what follows");
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "f", "short"), 0);
    assert_int_equal(in.sys, 0);
    collect("f", 100);
    assert_int_equal(got_bytes.len, 5);
}

static void files_without_room_are_refused(void **state)
{
    struct memfs_limits less = LIMITS;
    struct files_in in;

    (void)state;
    less.bytes_max = 4096;
    assert_int_equal(memfs_limit(&fs, &less), 0);
    files_in_init(&in, &fs);
    assert_int_equal(put(&in, "a", "x"), 0);
    assert_int_equal(put(&in, "b", ""), 0);
    assert_int_equal(in.sys, 0);
    assert_int_equal(put(&in, "c", "x"), 0);
    assert_int_equal(in.sys, ENOSPC);
}

static void a_run_begins_where_it_wants_to_be(void **state)
{
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(files_enter(&fs, "a/b", 3), 0);
    assert_int_equal(memfs_getcwd(&fs, path), 0);
    assert_string_equal(path, "/home/vial/a/b");
    assert_int_equal(files_enter(&fs, "../x", 4), -EINVAL);
    make("f", "");
    assert_int_equal(files_enter(&fs, "a/b/f", 5), -ENOTDIR);
}

static void links_are_neither_followed_nor_taken(void **state)
{
    (void)state;
    make("real", "x");
    assert_int_equal(memfs_mkdir(&fs, "d", 0700), 0);
    make("d/inside", "x");
    assert_int_equal(memfs_symlink(&fs, "/etc/passwd", "passwd"), 0);
    assert_int_equal(memfs_symlink(&fs, "d", "other"), 0);
    assert_int_equal(memfs_symlink(&fs, "..", "up"), 0);
    assert_int_equal(memfs_symlink(&fs, ".", "loop"), 0);
    assert_int_equal(memfs_symlink(&fs, "nowhere", "dangling"), 0);
    collect("**", 1 << 20);
    assert_int_equal(got_count, 2);
    assert_string_equal(got_names[0], "real");
    assert_string_equal(got_names[1], "d/inside");
    assert_int_equal(left[LEFT_SYMLINK], 5);
    collect("other/inside", 1 << 20);
    assert_int_equal(got_count, 0);
}

static int refuse_stat(void *user, const char *path, struct memfs_served_stat *ret)
{
    (void)path;
    (void)ret;
    ++*(unsigned *)user;
    return -EIO;
}

static void what_somebody_else_serves_is_left_alone(void **state)
{
    unsigned asked = 0;
    const struct memfs_served served = {.stat = refuse_stat, .user = &asked};

    (void)state;
    assert_int_equal(memfs_mount(&fs, "data", &served), 0);
    make("real", "x");
    collect("**", 100);
    assert_int_equal(got_count, 1);
    assert_int_equal(left_sum(), 0);
    assert_int_equal(asked, 0);
}

static void a_tree_that_nobody_used_has_nothing(void **state)
{
    (void)state;
    collect("**", 100);
    assert_int_equal(got_count, 0);
    assert_int_equal(left_sum(), 0);
    assert_null(fs.root); /* and is not made for that */
}

static void a_tree_without_a_bottom_is_walked_to_its_depth(void **state)
{
    int i;

    (void)state;
    for (i = 0; i < DEEP; i++) {
        assert_int_equal(memfs_mkdir(&fs, "d", 0700), 0);
        assert_int_equal(memfs_chdir(&fs, "d"), 0);
        if (i == 10) {
            make("found", "");
        }
    }
    collect("**", 100);
    assert_int_equal(got_count, 1);
    assert_int_equal(left[LEFT_DEEP], 1);
    collect("*/x", 100); /* what cannot match is not looked at, and not missing */
    assert_int_equal(left_sum(), 0);
}

static void counts_and_bytes_are_bounded(void **state)
{
    char name[32];
    int i;

    (void)state;
    for (i = 0; i < FILES_OUT_MAX + 5; i++) {
        (void)snprintf(name, sizeof(name), "f%d", i);
        make(name, "12345678");
    }
    collect("*", 1 << 20);
    assert_int_equal(got_count, FILES_OUT_MAX);
    assert_int_equal(left[LEFT_MANY], 5);
    collect("*", 80);
    assert_int_equal(got_count, 10);
    assert_int_equal(left[LEFT_LARGE], FILES_OUT_MAX - 5);
}

static void a_hole_counts_with_its_size(void **state)
{
    (void)state;
    make("sparse", "");
    assert_int_equal(memfs_truncate(&fs, "sparse", (int64_t)1 << 40), 0);
    collect("*", 1 << 20);
    assert_int_equal(got_count, 0);
    assert_int_equal(left[LEFT_LARGE], 1);
}

static void nasty_names_stay_where_they_are(void **state)
{
    (void)state;
    make("bad\nname", "x");
    make("\x1b[2J", "x");
    make("\xff\xfe", "x");
    assert_int_equal(memfs_mkdir(&fs, "dir\x01", 0700), 0);
    make("dir\x01/inside", "x");
    make("-rf", "x");
    make("*", "x");
    collect("**", 100);
    assert_int_equal(got_count, 2);
    assert_int_equal(left[LEFT_NAME], 4);
}

static void what_cannot_be_read_is_counted(void **state)
{
    (void)state;
    make("secret", "x");
    assert_int_equal(memfs_chmod(&fs, "secret", 0), 0);
    assert_int_equal(memfs_mkdir(&fs, "closed", 0), 0);
    collect("**", 100);
    assert_int_equal(got_count, 0);
    assert_int_equal(left[LEFT_UNREADABLE], 2);
    assert_int_equal(memfs_chmod(&fs, ".", 0), 0);
    collect("**", 100);
    assert_int_equal(left[LEFT_UNREADABLE], 1);
}

#define IN_TREE(function) cmocka_unit_test_setup_teardown(function, open_tree, remove_tree)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(files_come_in_with_their_directories),
        IN_TREE(names_that_lead_outside_end_the_cell),
        IN_TREE(a_file_that_cannot_be_made_is_remembered),
        IN_TREE(a_file_that_is_there_is_written_anew),
        IN_TREE(files_without_room_are_refused),
        IN_TREE(a_run_begins_where_it_wants_to_be),
        IN_TREE(links_are_neither_followed_nor_taken),
        IN_TREE(what_somebody_else_serves_is_left_alone),
        IN_TREE(a_tree_that_nobody_used_has_nothing),
        IN_TREE(a_tree_without_a_bottom_is_walked_to_its_depth),
        IN_TREE(counts_and_bytes_are_bounded),
        IN_TREE(a_hole_counts_with_its_size),
        IN_TREE(nasty_names_stay_where_they_are),
        IN_TREE(what_cannot_be_read_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
