/* test_files.c - files into and out of a directory, which may be as nasty as a guest can make it,
 * and a little nastier: here it may also hold what a cell cannot make. */
#include "cell/files.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fd.h"
#include "wire/frame.h"

enum { FIELDS_MAX = 1 << 20, DEEP = 3000 };

static char directory[64];
static int root;

/* What came out: names in the order they came, and all bytes. */
static char got_names[FILES_OUT_MAX + 1][FILE_NAME_BYTES_MAX + 1];
static unsigned got_count;
static struct buf got_bytes;
static uint32_t got_mode;
static uint32_t left[LEFT_COUNT];

static int open_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-files-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    buf_init(&got_bytes, FIELDS_MAX);
    return root >= 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[256];

    (void)state;
    (void)close(root);
    buf_release(&got_bytes);
    (void)snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s", directory, directory);
    return system(command); /* NOLINT(cert-env33-c): a tree that is deeper than any path */
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
    struct files_out out = {.root = root, .bytes_max = bytes_max, .send = receive};
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
    int fd = openat(root, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, bytes, strlen(bytes)), 0);
    (void)close(fd);
}

static void files_come_in_with_their_directories(void **state)
{
    struct files_in in;

    (void)state;
    files_in_init(&in, root);
    assert_int_equal(put(&in, "a/b/c.txt", "one "), 0);
    assert_int_equal(put(&in, NULL, "two"), 0);
    assert_int_equal(put(&in, "d", ""), 0);
    files_in_end(&in);
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
        files_in_init(&in, root);
        assert_int_equal(put(&in, names[i], "x"), -1);
        files_in_end(&in);
    }
    files_in_init(&in, root);
    assert_int_equal(put(&in, NULL, "bytes of no file"), -1);
}

static void a_file_that_cannot_be_made_is_remembered(void **state)
{
    struct files_in in;

    (void)state;
    assert_int_equal(symlinkat("/tmp", root, "link"), 0);
    files_in_init(&in, root);
    assert_int_equal(put(&in, "link/x", "x"), 0);
    assert_true(in.sys == ELOOP || in.sys == ENOTDIR);
    assert_string_equal(in.name, "link/x");
    assert_int_equal(put(&in, "later", "x"), 0); /* and nothing more is made */
    assert_int_equal(faccessat(root, "later", F_OK, 0), -1);
    files_in_end(&in);
    files_in_init(&in, root);
    assert_int_equal(symlinkat("/tmp/vial-files-target", root, "file"), 0);
    assert_int_equal(put(&in, "file", "x"), 0);
    assert_int_equal(in.sys, ELOOP);
    assert_int_equal(access("/tmp/vial-files-target", F_OK), -1);
    files_in_end(&in);
}

static void links_are_neither_followed_nor_taken(void **state)
{
    (void)state;
    make("real", "x");
    assert_int_equal(symlinkat("/etc/passwd", root, "passwd"), 0);
    assert_int_equal(symlinkat("/etc", root, "etc"), 0);
    assert_int_equal(symlinkat("..", root, "up"), 0);
    assert_int_equal(symlinkat(".", root, "loop"), 0);
    assert_int_equal(symlinkat("nowhere", root, "dangling"), 0);
    collect("**", 1 << 20);
    assert_int_equal(got_count, 1);
    assert_string_equal(got_names[0], "real");
    assert_int_equal(left[LEFT_SYMLINK], 5);
    collect("etc/passwd", 1 << 20);
    assert_int_equal(got_count, 0);
}

static void special_files_never_hold_it_up(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_int_equal(mkfifoat(root, "fifo", 0600), 0);
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
    assert_int_equal(bind(sock, (struct sockaddr *)&address, sizeof(address)), 0);
    make("real", "x");
    collect("*", 100);
    assert_int_equal(got_count, 1);
    assert_int_equal(left[LEFT_SPECIAL], 2);
    (void)close(sock);
}

static void a_tree_without_a_bottom_is_walked_to_its_depth(void **state)
{
    int at = dup(root), next;
    int i;

    (void)state;
    for (i = 0; i < DEEP; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(next >= 0);
        (void)close(at);
        at = next;
        if (i == 10) {
            next = openat(at, "found", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            (void)close(next);
        }
    }
    (void)close(at);
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
    int fd = openat(root, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    (void)close(fd);
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
    assert_int_equal(mkdirat(root, "dir\x01", 0700), 0);
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
    if (geteuid() == 0) {
        skip(); /* who may read everything */
    }
    make("secret", "x");
    assert_int_equal(fchmodat(root, "secret", 0, 0), 0);
    assert_int_equal(mkdirat(root, "closed", 0), 0);
    collect("**", 100);
    assert_int_equal(got_count, 0);
    assert_int_equal(left[LEFT_UNREADABLE], 2);
}

#define IN_DIRECTORY(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, open_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(files_come_in_with_their_directories),
        IN_DIRECTORY(names_that_lead_outside_end_the_cell),
        IN_DIRECTORY(a_file_that_cannot_be_made_is_remembered),
        IN_DIRECTORY(links_are_neither_followed_nor_taken),
        IN_DIRECTORY(special_files_never_hold_it_up),
        IN_DIRECTORY(a_tree_without_a_bottom_is_walked_to_its_depth),
        IN_DIRECTORY(counts_and_bytes_are_bounded),
        IN_DIRECTORY(a_hole_counts_with_its_size),
        IN_DIRECTORY(nasty_names_stay_where_they_are),
        IN_DIRECTORY(what_cannot_be_read_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
