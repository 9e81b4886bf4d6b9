/* test_template.c - starting one template without a pool: its report, its processes, its end. */
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
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "helper.h"
#include "host/engine.h"

/* As much of an engine as a template needs. */
static void make_engine(struct vial_engine *e, const char *cell_path)
{
    unsigned i;

    memset(e, 0, sizeof(*e));
    e->quick = 1;
    e->breeds[BREED_JS].cell_path =
        strdup(cell_path != NULL ? cell_path : helper_options().cell_path);
    assert_non_null(e->breeds[BREED_JS].cell_path);
    e->spec_default = (struct cell_spec){.open_files_max = 32};
    e->host_pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    assert_true(e->host_pidfd >= 0);
    while (e->host_pidfd < 16) { /* as the engine has it: out of the way of the child's numbers */
        e->host_pidfd = dup(e->host_pidfd);
    }
    for (i = 0; i < CGROUP_CONTROLLERS; i++) {
        e->cgroups.controllers[i].dir_fd = -1;
    }
}

/* Has this process something of a file with this in its name mapped? */
static int maps_have(pid_t pid, const char *name)
{
    static char text[256 * 1024];
    char path[64];

    (void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    if (fd_get_text(AT_FDCWD, path, text, sizeof(text)) < 0) {
        helper_say_skip("only root can look at the mappings of a template");
        return 0;
    }
    assert_non_null(strstr(text, "libjavascriptcoregtk"));
    return strstr(text, name) != NULL;
}

static void remove_engine(struct vial_engine *e)
{
    free(e->breeds[BREED_JS].cell_path);
    (void)syscall(SYS_close_range, 3U, ~0U, 0); /* the copies of host_pidfd too */
}

static void a_template_is_confined_and_proven(void **state)
{
    static struct vial_engine e;
    struct template t = {.sock = -1, .pidfd = -1};
    struct layer_report report;
    struct vial_error err = {.text = ""};
    pid_t pid;

    (void)state;
    make_engine(&e, NULL);
    memset(&report, 0, sizeof(report));
    if (template_start(&e, BREED_JS, 0, &t, &report, &err) < 0) {
        fail_msg("template_start: %s", err.text);
    }
    pid = t.pid;
    assert_true(pid > 0 && t.sock >= 0 && t.pidfd >= 0);
    assert_int_equal(kill(pid, 0), 0);
    assert_int_equal(report.entries[LAYER_SECCOMP].state, LAYER_PROVEN);
    assert_int_equal(report.entries[LAYER_CAPABILITIES].state, LAYER_PROVEN);
    assert_int_equal(report.entries[LAYER_DESCRIPTORS].state, LAYER_PROVEN);
    assert_false(e.has_no_standins);
    assert_false(maps_have(pid, "libgcrypt")); /* which the true libsystemd brings along */
    template_release(&t);
    assert_int_equal(t.sock, -1);
    assert_int_equal(t.pidfd, -1);
    assert_int_equal(kill(pid, 0), -1);
    assert_true(helper_has_no_children());
    template_release(&t); /* once more does no harm */
    remove_engine(&e);
}

static void programs_that_do_not_answer_as_they_should(void **state)
{
    static const char *const programs[] = {"/bin/true", "/bin/false", "/bin/ls"};
    static struct vial_engine e;
    struct template t = {.sock = -1, .pidfd = -1};
    struct layer_report report;
    struct vial_error err;
    unsigned before;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        make_engine(&e, programs[i]);
        before = helper_fds_count();
        err.text[0] = '\0';
        assert_int_equal(template_start(&e, BREED_JS, 0, &t, &report, &err), VIAL_E_CELL);
        assert_non_null(strstr(err.text, "ended while it was starting"));
        assert_true(helper_has_no_children());
        assert_int_equal(helper_fds_count(), before);
        remove_engine(&e);
    }
}

/* Starts a shell script as if it were the cell program, which fails: with this code. */
static int start_script(const char *script, struct vial_error *err)
{
    char path[] = "/tmp/vial-test-XXXXXX";
    static struct vial_engine e;
    struct template t = {.sock = -1, .pidfd = -1};
    struct layer_report report;
    int fd = mkstemp(path);
    int r;

    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, script, strlen(script)), 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    (void)close(fd);
    make_engine(&e, path);
    r = template_start(&e, BREED_JS, 0, &t, &report, err);
    assert_true(helper_has_no_children()); /* whoever was left was killed and reaped */
    remove_engine(&e);
    (void)unlink(path);
    return r;
}

/* A linker that finds too little in the stand-ins gives up. Then the true libraries are tried. */
static void without_stand_ins_it_is_tried_again(void **state)
{
    static const char script[] = "#!/bin/sh\n[ -n \"$LD_LIBRARY_PATH\" ] && exit 127\nexit 3\n";
    char directory[] = "/tmp/vial-test-XXXXXX";
    char path[64], standins[64];
    static struct vial_engine e;
    struct template t = {.sock = -1, .pidfd = -1};
    struct layer_report report;
    struct vial_error err;
    int fd;

    (void)state;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof(path), "%s/cell", directory);
    (void)snprintf(standins, sizeof(standins), "%s/standins", directory);
    assert_int_equal(mkdir(standins, 0700), 0);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_all(fd, script, sizeof(script) - 1), 0);
    (void)close(fd);
    make_engine(&e, path);
    assert_int_equal(template_start(&e, BREED_JS, 0, &t, &report, &err), VIAL_E_CELL);
    assert_true(e.has_no_standins);
    assert_true(helper_has_no_children());
    remove_engine(&e);
    (void)unlink(path);
    (void)rmdir(standins);
    (void)rmdir(directory);
}

/* A program that says something else than a template does: it writes to the control socket what is
 * no message. */
static void a_program_that_talks_nonsense_is_refused(void **state)
{
    struct vial_error err = {.text = ""};

    (void)state;
    assert_int_equal(
        start_script("#!/bin/sh\necho nonsense >&3\nexec /bin/sleep 100\n", &err), VIAL_E_SYS);
    assert_int_equal(err.sys, EPROTO);
}

/* One that ends before it has told of its copy, which waits at the other end of the socket: the
 * host does not wait for it as long as for a machine in trouble. */
static void a_copy_that_nobody_told_of_is_not_waited_for(void **state)
{
    struct vial_error err = {.text = ""};

    (void)state;
    assert_int_equal(
        start_script("#!/bin/sh\n/bin/cat <&3 >/dev/null &\nexit 0\n", &err), VIAL_E_CELL);
    assert_non_null(strstr(err.text, "ended while it was starting"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_template_is_confined_and_proven),
        cmocka_unit_test(without_stand_ins_it_is_tried_again),
        cmocka_unit_test(programs_that_do_not_answer_as_they_should),
        cmocka_unit_test(a_program_that_talks_nonsense_is_refused),
        cmocka_unit_test(a_copy_that_nobody_told_of_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
