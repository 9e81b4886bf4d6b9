/* test_run_files.c - files to a cell and back from one that cannot be trusted. */
#include "host/run_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "policy/limits.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { FRAME_MAX = 1 << 20, DISK = 4096 };

static const char *const OUTS[] = {"out/*", "/home/vial/**/*.txt"};
static const struct vial_request REQUEST = {
    .size = sizeof(struct vial_request), .outs = OUTS, .outs_count = 2};

static struct vial_result *new_result(void)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;

    limits.disk_bytes_max = DISK;
    assert_int_equal(vial_limits_resolve(&limits, NULL), 0);
    assert_int_equal(result_new(&limits, "{}", &result, NULL), 0);
    return result;
}

/* One frame with a name (NULL: none) and so many bytes. */
static enum files_taken take(struct vial_result *result, const char *name, size_t len)
{
    static const char bytes[2 * DISK] = "bytes";
    enum files_taken taken;
    struct buf frame;

    buf_init(&frame, FRAME_MAX);
    if (name != NULL) {
        assert_int_equal(field_add(&frame, FIELD_FILE_NAME, name, strlen(name), NULL), 0);
        assert_int_equal(field_add_u32(&frame, FIELD_FILE_MODE, 0107755, NULL), 0);
    }
    assert_int_equal(field_add(&frame, FIELD_FILE_BYTES, bytes, len, NULL), 0);
    taken = files_take(result, &REQUEST, frame.data, frame.len);
    buf_release(&frame);
    return taken;
}

static void files_that_were_asked_for_are_kept_by_name(void **state)
{
    struct vial_result *result = new_result();
    struct vial_file file;

    (void)state;
    assert_int_equal(take(result, "out/b", 5), FILES_TAKEN);
    assert_int_equal(take(result, NULL, 3), FILES_TAKEN);
    assert_int_equal(take(result, "deep/er/x.txt", 0), FILES_TAKEN);
    files_sort(result);
    assert_int_equal(vial_result_file_count(result), 2);
    assert_int_equal(vial_result_file(result, 0, &file), 0);
    assert_string_equal(file.name, "deep/er/x.txt");
    assert_int_equal(file.len, 0);
    assert_non_null(file.bytes);
    assert_int_equal(vial_result_file(result, 1, &file), 0);
    assert_string_equal(file.name, "out/b");
    assert_int_equal(file.len, 8);
    assert_int_equal(file.mode, 0755);
    assert_int_equal(vial_result_file(result, 2, &file), VIAL_E_INVALID);
    vial_result_free(result);
}

static void what_nobody_asked_for_is_refused(void **state)
{
    static const char *const names[] = {"x", "out", "out/a/b", "../out/a", "/etc/x.txt",
        "a/../b.txt", "out/\x1b[2J", "out/..", "", "out/\xff"};
    struct vial_result *result = new_result();
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(take(result, names[i], 1), FILES_MALFORMED);
    }
    assert_int_equal(take(result, NULL, 1), FILES_MALFORMED); /* bytes of no file */
    assert_int_equal(vial_result_file_count(result), 0);
    assert_int_equal(take(result, "out/a", 1), FILES_TAKEN);
    assert_int_equal(take(result, "out/a", 1), FILES_MALFORMED); /* twice */
    vial_result_free(result);
}

static void bytes_and_counts_are_bounded(void **state)
{
    struct vial_result *result = new_result();
    char name[32];
    int i;

    (void)state;
    assert_int_equal(take(result, "out/a", DISK), FILES_TAKEN);
    assert_int_equal(take(result, NULL, 1), FILES_MALFORMED);
    assert_int_equal(take(result, "out/b", 1), FILES_MALFORMED);
    files_forget(result);
    for (i = 0; i < FILES_OUT_MAX; i++) {
        (void)snprintf(name, sizeof(name), "out/%d", i);
        assert_int_equal(take(result, name, 0), FILES_TAKEN);
    }
    assert_int_equal(take(result, "out/more", 0), FILES_MALFORMED);
    vial_result_free(result);
}

static void broken_frames_do_no_harm(void **state)
{
    struct vial_result *result = new_result();
    struct buf frame;
    size_t len;

    (void)state;
    buf_init(&frame, FRAME_MAX);
    assert_int_equal(field_add(&frame, FIELD_FILE_NAME, "out/a", 5, NULL), 0);
    assert_int_equal(field_add(&frame, FIELD_FILE_BYTES, "xyz", 3, NULL), 0);
    for (len = 0; len < frame.len; len++) {
        (void)files_take(result, &REQUEST, frame.data, len);
        files_forget(result);
    }
    buf_clear(&frame);
    assert_int_equal(field_add(&frame, FIELD_VALUE, "1", 1, NULL), 0);
    assert_int_equal(files_take(result, &REQUEST, frame.data, frame.len), FILES_MALFORMED);
    buf_release(&frame);
    vial_result_free(result);
}

static void a_run_that_did_not_end_by_itself_has_no_files(void **state)
{
    struct vial_result *result = new_result();

    (void)state;
    assert_int_equal(take(result, "out/a", 1), FILES_TAKEN);
    result_state(result, VIAL_STATUS_WALL_LIMIT, "WallLimit", NULL, "late");
    assert_int_equal(vial_result_file_count(result), 0);
    assert_int_equal(vial_result_exit_code(result), -1);
    vial_result_free(result);
}

static void files_are_sent_in_pieces(void **state)
{
    static char big[FRAME_FILE_PIECE_BYTES + 10];
    const struct vial_file files[] = {
        {.name = "/home/vial/a/b", .bytes = big, .len = sizeof(big)}, {.name = "empty"}};
    const struct vial_request q = {.files = files, .files_count = 2};
    static char payload[FRAME_FILE_BYTES_MAX];
    struct frame_header header;
    unsigned names = 0, frames = 0;
    size_t total = 0, at;
    struct field f;
    int sv[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
    assert_int_equal(files_send(&q, sv[0], UINT64_MAX), 0);
    (void)close(sv[0]);
    while (fd_read_up_to(sv[1], &header, sizeof(header)) == (ssize_t)sizeof(header)) {
        assert_int_equal(header.type, FRAME_FILE);
        assert_true(header.len <= sizeof(payload));
        assert_int_equal(fd_read_up_to(sv[1], payload, header.len), header.len);
        frames++;
        for (at = 0; field_next(payload, header.len, &at, &f) == 1;) {
            names += f.tag == FIELD_FILE_NAME ? 1 : 0;
            total += f.tag == FIELD_FILE_BYTES ? f.len : 0;
        }
        assert_int_equal(at, header.len);
    }
    assert_int_equal(frames, 3);
    assert_int_equal(names, 2);
    assert_int_equal(total, sizeof(big));
    (void)close(sv[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_that_were_asked_for_are_kept_by_name),
        cmocka_unit_test(what_nobody_asked_for_is_refused),
        cmocka_unit_test(bytes_and_counts_are_bounded),
        cmocka_unit_test(broken_frames_do_no_harm),
        cmocka_unit_test(a_run_that_did_not_end_by_itself_has_no_files),
        cmocka_unit_test(files_are_sent_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
