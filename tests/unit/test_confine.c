/* test_confine.c - the steps of confinement in the order a template and a cell take them, in
 * children without namespaces: what holds then is the basis that every kernel must give. With
 * namespaces the canary of each engine does the same (test_engine.c). */
#include "jail/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"

static void a_cell_has_processes_of_its_own_where_there_are_users(void **state)
{
    (void)state;
    assert_true(confine_cell_flags(0) == 0);
    assert_true(confine_cell_flags(1) == CLONE_NEWPID);
    assert_true(confine_cell_flags(4096) == CLONE_NEWPID);
}

static int confine_as_canary(void *user)
{
    static const unsigned basis[] = {
        LAYER_DESCRIPTORS, LAYER_NO_NEW_PRIVS, LAYER_CAPABILITIES, LAYER_RLIMITS, LAYER_SECCOMP};
    struct cell_spec spec = {.kind = CELL_CANARY, .open_files_max = 16, .uid = 1};
    struct layer_report report, proof;
    struct confine_cell_input in = {.spec = &spec, .template_report = &report};
    const char *step = NULL;
    struct namespace_names names;
    char byte;
    size_t i;
    int sv[2];

    (void)user;
    CHILD_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0);
    in.control_fd = sv[0];
    namespace_read(&names);
    if (confine_template(&names, 0, &report, &step) < 0) {
        helper_complain(__FILE__, __LINE__, step);
        return CHILD_FAILED;
    }
    CHILD_CHECK(report.entries[LAYER_USERNS].state == LAYER_OFF);
    CHILD_CHECK(report.entries[LAYER_NO_NEW_PRIVS].state == LAYER_PROVEN);
    if (confine_cell(&in, &proof, &step) < 0) {
        helper_complain(__FILE__, __LINE__, step);
        return CHILD_FAILED;
    }
    for (i = 0; i < sizeof(basis) / sizeof(basis[0]); i++) {
        if (proof.entries[basis[i]].state != LAYER_PROVEN) {
            helper_complain(__FILE__, __LINE__, layer_name(basis[i]));
            return CHILD_FAILED;
        }
    }
    CHILD_CHECK(proof.entries[LAYER_LANDLOCK].state != LAYER_BROKEN);
    CHILD_CHECK(syscall(SYS_openat, AT_FDCWD, "/", O_RDONLY) < 0 && errno == EPERM);
    CHILD_CHECK(read(3, &byte, 1) == 0); /* the control socket is there; its other end was closed */
    return CHILD_FINE;
}

static void without_namespaces_the_basis_is_proven(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(confine_as_canary, NULL), CHILD_FINE);
}

static int fail_at_the_cgroup(void *user)
{
    struct cell_spec spec = {.open_files_max = 16, .uid = 1};
    struct layer_report report;
    struct confine_cell_input in = {
        .spec = &spec, .template_report = &report, .cgroup_fds = {-1}, .cgroup_fds_count = 1};
    const char *step = NULL;

    (void)user;
    memset(&report, 0, sizeof(report));
    CHILD_CHECK(confine_cell(&in, NULL, &step) < 0);
    CHILD_CHECK(errno == EBADF);
    CHILD_CHECK(strcmp(step, "control group") == 0);
    return CHILD_FINE;
}

static void a_step_that_fails_is_named(void **state)
{
    (void)state;
    assert_int_equal(helper_in_child(fail_at_the_cgroup, NULL), CHILD_FINE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_processes_of_its_own_where_there_are_users),
        cmocka_unit_test(without_namespaces_the_basis_is_proven),
        cmocka_unit_test(a_step_that_fails_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
