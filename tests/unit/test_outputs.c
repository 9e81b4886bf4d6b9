/* test_outputs.c - files and artifacts of runs on the disk: found again, bounded, whole or not
 * there. */
#include "store/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
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

#include "base/id.h"

#define START UINT64_C(1800000000000000)

static char directory[64];
static struct vial_error err;
static struct outputs *outputs;

static void open_store(void)
{
    if (outputs_open(directory, &outputs, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-outputs-XXXXXX");
    if (mkdtemp(directory) == NULL) {
        return -1;
    }
    open_store();
    return 0;
}

static int tear_down(void **state)
{
    char path[128];

    (void)state;
    outputs_set_limits(outputs, 0, 0); /* which removes all */
    outputs_free(outputs);
    outputs = NULL;
    (void)snprintf(path, sizeof(path), "%s/outputs", directory);
    return rmdir(path) == 0 ? rmdir(directory) : -1;
}

/* The name of the run of that second. */
static const char *run_of(unsigned second)
{
    static char ids[4][ID_BYTES_MAX + 1];
    static unsigned next;
    char *id = ids[next++ % 4];

    id_first("run_", START + second * UINT64_C(1000000), id);
    return id;
}

static void save(unsigned second, size_t len)
{
    char *bytes = calloc(1, len + 1);
    struct output one = {"files/", "a", "", bytes, len};

    assert_non_null(bytes);
    assert_int_equal(outputs_save(outputs, run_of(second), &one, 1, &err), 0);
    free(bytes);
}

static int has(unsigned second)
{
    struct output_found found;

    if (outputs_get(outputs, run_of(second), "files/a", &found, &err) < 0) {
        assert_int_equal(err.sys, ENOENT);
        return 0;
    }
    free(found.bytes);
    return 1;
}

static void expect(const char *name, const char *type, const char *bytes, size_t len)
{
    struct output_found found;

    if (outputs_get(outputs, run_of(1), name, &found, &err) < 0) {
        fail_msg("%s: %s", name, err.text);
    }
    assert_int_equal(found.len, len);
    assert_memory_equal(found.bytes, bytes, len);
    assert_string_equal(found.type, type);
    free(found.bytes);
}

static void what_was_saved_is_found_after_a_restart(void **state)
{
    const struct output list[] = {{"files/", "data/a.csv", "", "x,y\n", 4},
        {"files/", "data/b.bin", "", "\0\1\2", 3}, {"files/", "empty", "", "", 0},
        {"artifacts/", "0/0", "image/png", "PNG", 3}, {"artifacts/", "0/1", "text/plain", "p", 1}};
    struct output_found found;

    (void)state;
    assert_int_equal(outputs_save(outputs, run_of(1), list, 5, &err), 0);
    outputs_free(outputs);
    open_store();
    expect("files/data/a.csv", "", "x,y\n", 4);
    expect("files/data/b.bin", "", "\0\1\2", 3);
    expect("files/empty", "", "", 0);
    expect("artifacts/0/0", "image/png", "PNG", 3);
    expect("artifacts/0/1", "text/plain", "p", 1);
    assert_int_equal(outputs_get(outputs, run_of(1), "files/data", &found, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENODATA);
    assert_int_equal(outputs_get(outputs, run_of(2), "files/a", &found, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(outputs_get(outputs, "../x", "files/a", &found, &err), VIAL_E_INVALID);
    assert_true(outputs_save(outputs, "../run_x", list, 5, &err) < 0);
}

static void the_oldest_make_room(void **state)
{
    static char many[3000];
    struct output large = {"files/", "a", "", many, sizeof(many)};

    (void)state;
    outputs_set_limits(outputs, 2000, 5000);
    save(3, 1500); /* not in their order */
    save(1, 1500);
    save(2, 1500);
    assert_true(has(1) && has(2) && has(3));
    save(4, 1500);
    assert_true(!has(1) && has(2) && has(3) && has(4));
    assert_true(outputs_bytes(outputs) <= 5000);
    assert_int_equal(outputs_save(outputs, run_of(5), &large, 1, &err), 1); /* too large for one */
    assert_true(!has(5) && has(2));
    outputs_set_limits(outputs, 2000, 2000);
    assert_true(!has(2) && !has(3) && has(4));
}

static void what_is_too_old_goes(void **state)
{
    (void)state;
    save(10, 10);
    save(20, 10);
    outputs_retain(outputs, START + UINT64_C(15000000));
    assert_true(!has(10) && has(20));
}

/* A file that lost its end, or has other bytes than it says, gives nothing rather than a part. */
static void damaged_files_give_nothing(void **state)
{
    struct output_found found;
    char path[160];
    off_t size;
    int fd;

    (void)state;
    save(1, 1000);
    (void)snprintf(path, sizeof(path), "%s/outputs/%s", directory, run_of(1));
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    size = lseek(fd, 0, SEEK_END);
    assert_int_equal(ftruncate(fd, size - 1), 0);
    assert_int_equal(outputs_get(outputs, run_of(1), "files/a", &found, &err), VIAL_E_SYS);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 24), 8); /* its length */
    assert_int_equal(outputs_get(outputs, run_of(1), "files/a", &found, &err), VIAL_E_SYS);
    assert_int_equal(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 16), 8); /* how many */
    assert_int_equal(outputs_get(outputs, run_of(1), "files/a", &found, &err), VIAL_E_SYS);
    assert_int_equal(ftruncate(fd, 3), 0);
    assert_int_equal(outputs_get(outputs, run_of(1), "files/a", &found, &err), VIAL_E_SYS);
    (void)close(fd);
}

/* A disk that is full: an error, and nothing half written is left or found. */
static void a_full_disk_leaves_nothing(void **state)
{
    char path[160];
    pid_t child;
    int status = 0;

    (void)state;
    save(1, 100);
    child = fork();
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 65536, .rlim_max = 65536};
        char *bytes = calloc(1, 1 << 20);
        struct output one = {"files/", "a", "", bytes, 1 << 20};
        int is_right;

        (void)signal(SIGXFSZ, SIG_IGN);
        (void)setrlimit(RLIMIT_FSIZE, &limit);
        is_right = bytes != NULL && outputs_save(outputs, run_of(2), &one, 1, &err) == VIAL_E_SYS &&
                   err.sys == EFBIG;
        _exit(is_right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)snprintf(path, sizeof(path), "%s/outputs/%s.new", directory, run_of(2));
    assert_int_equal(access(path, F_OK), -1);
    assert_true(has(1) && !has(2));
    /* What a killed server left half written goes when the next one starts. */
    status = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(status >= 0);
    (void)close(status);
    outputs_free(outputs);
    open_store();
    assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_saved_is_found_after_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_make_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_old_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_give_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
