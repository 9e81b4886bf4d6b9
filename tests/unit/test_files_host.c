/* test_files_host.c - who and where a program is told to be. */
#include "python_files.h"

#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>

static void before_a_program_they_are_libcs(void **state)
{
    struct utsname name;
    cpu_set_t set;

    (void)state;
    assert_int_equal(uname(&name), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_true(CPU_COUNT(&set) >= 1);
    assert_true(sysconf(_SC_PHYS_PAGES) > 0);
    assert_true(getppid() > 0);
}

static void the_machine_is_nobodys(void **state)
{
    struct utsname name;
    double load[3] = {1, 1, 1};
    char text[16];
    cpu_set_t set;

    (void)state;
    assert_int_equal(uname(&name), 0);
    assert_string_equal(name.sysname, "Linux");
    assert_string_equal(name.nodename, "vial");
    assert_string_equal(name.release, "6.1.0");
    assert_int_equal(gethostname(text, sizeof(text)), 0);
    assert_string_equal(text, "vial");
    assert_fails(gethostname(text, 2), ENAMETOOLONG);
    assert_int_equal(sysconf(_SC_NPROCESSORS_ONLN), 1);
    assert_int_equal(sysconf(_SC_OPEN_MAX), LIMITS.open_max);
    assert_int_equal(sysconf(_SC_PAGESIZE), 4096);
    assert_int_equal(getloadavg(load, 3), 3);
    assert_true(load[0] == 0 && load[2] == 0);
    assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
    assert_int_equal(CPU_COUNT(&set), 1);
    assert_int_equal(getppid(), 0);
}

static void the_user_is_vial(void **state)
{
    struct passwd user, *found;
    struct group group, *found_group;
    uid_t ids[3];
    gid_t list[2];
    int count = 2;
    char text[256];

    (void)state;
    assert_int_equal(getuid(), 1000);
    assert_int_equal(getegid(), 1000);
    assert_int_equal(getresuid(&ids[0], &ids[1], &ids[2]), 0);
    assert_int_equal(ids[2], 1000);
    assert_int_equal(getgroups(2, list), 1);
    assert_int_equal(getgrouplist("vial", 1000, list, &count), 1);
    assert_string_equal(getlogin(), "vial");
    assert_int_equal(getpwuid_r(1000, &user, text, sizeof(text), &found), 0);
    assert_string_equal(found->pw_dir, "/home/vial");
    assert_int_equal(getpwuid_r(0, &user, text, sizeof(text), &found), 0);
    assert_null(found);
    assert_int_equal(getpwnam_r("root", &user, text, sizeof(text), &found), 0);
    assert_null(found);
    assert_int_equal(getgrnam_r("vial", &group, text, sizeof(text), &found_group), 0);
    assert_int_equal(found_group->gr_gid, 1000);
    assert_int_equal(getgrgid_r(0, &group, text, sizeof(text), &found_group), 0);
    assert_null(found_group);
    setpwent();
    assert_string_equal(getpwent()->pw_name, "vial");
    assert_null(getpwent());
    endpwent();
    setgrent();
    assert_string_equal(getgrent()->gr_name, "vial");
    assert_null(getgrent());
    endgrent();
    assert_string_equal(getpwnam("vial")->pw_shell, "/bin/sh");
    assert_null(getpwuid(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_program_they_are_libcs),
        WITH_FILES(the_machine_is_nobodys),
        WITH_FILES(the_user_is_vial),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
