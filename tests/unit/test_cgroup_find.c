/* test_cgroup_find.c - where control groups can be made, from the texts of many kinds of machine.
 */
#include "jail/cgroup_find.h"

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

static struct cgroup_place places[CGROUP_PLACES_MAX];

static void assert_place(unsigned i, int version, const char *path)
{
    assert_int_equal(places[i].version, version);
    assert_string_equal(places[i].path, path);
}

static void version_2_offers_our_group_and_then_the_top(void **state)
{
    const char *mounts = "proc /proc proc rw 0 0\n"
                         "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime 0 0\n";

    (void)state;
    assert_int_equal(
        cgroup_find_in(mounts, "0::/user.slice/user-1000.slice\n", "memory", places), 2);
    assert_place(0, 2, "/sys/fs/cgroup/user.slice/user-1000.slice");
    assert_place(1, 2, "/sys/fs/cgroup");
}

static void who_was_moved_down_is_offered_the_group_above(void **state)
{
    const char *mounts = "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n";

    (void)state;
    assert_int_equal(cgroup_find_in(mounts, "0::/s.service/vial.host\n", "memory", places), 2);
    assert_place(0, 2, "/sys/fs/cgroup/s.service");
    assert_int_equal(cgroup_find_in(mounts, "0::/vial.host\n", "memory", places), 1);
    assert_place(0, 2, "/sys/fs/cgroup");
    assert_int_equal(cgroup_find_in(mounts, "0::/s/myvial.host\n", "memory", places), 2);
    assert_place(0, 2, "/sys/fs/cgroup/s/myvial.host");
}

static void at_the_top_of_version_2_there_is_one_place(void **state)
{
    (void)state;
    assert_int_equal(
        cgroup_find_in("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "0::/", "pids", places), 1);
    assert_place(0, 2, "/sys/fs/cgroup");
}

static void version_1_is_found_by_controller(void **state)
{
    const char *mounts = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n"
                         "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0\n"
                         "cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0\n";
    const char *groups = "8:pids:/\n4:memory:/process/a:b\n2:cpu,cpuacct:/\n1:name=systemd:/init\n";

    (void)state;
    assert_int_equal(cgroup_find_in(mounts, groups, "memory", places), 1);
    assert_place(0, 1, "/sys/fs/cgroup/memory/process/a:b");
    assert_int_equal(cgroup_find_in(mounts, groups, "pids", places), 1);
    assert_place(0, 1, "/sys/fs/cgroup/pids");
    assert_int_equal(cgroup_find_in(mounts, groups, "cpuacct", places), 1);
    assert_place(0, 1, "/sys/fs/cgroup/cpu,cpuacct");
    assert_int_equal(cgroup_find_in(mounts, groups, "hugetlb", places), 0);
}

static void a_mixed_machine_offers_both(void **state)
{
    const char *mounts = "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n"
                         "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
    const char *groups = "4:memory:/x\n0::/y\n";

    (void)state;
    assert_int_equal(cgroup_find_in(mounts, groups, "memory", places), 3);
    assert_place(0, 1, "/sys/fs/cgroup/memory/x");
    assert_place(1, 2, "/sys/fs/cgroup/unified/y");
    assert_place(2, 2, "/sys/fs/cgroup/unified");
    assert_int_equal(cgroup_find_in(mounts, groups, "pids", places), 2);
    assert_place(0, 2, "/sys/fs/cgroup/unified/y");
}

static void parts_of_words_are_no_words(void **state)
{
    (void)state;
    assert_int_equal(
        cgroup_find_in("c /a cgroup rw,memoryx,xmemory 0 0\n", "1:memory:/\n", "memory", places),
        0);
    assert_int_equal(
        cgroup_find_in("c /a cgroup rw,memory 0 0\n", "1:memoryx:/\n2:mem:/\n", "memory", places),
        0);
    assert_int_equal(cgroup_find_in("c /a cgroupx rw,memory 0 0\nc /b cgrou rw,memory 0 0\n",
                         "1:memory:/\n0::/\n", "memory", places),
        0);
}

static void odd_texts_find_nothing_and_harm_nothing(void **state)
{
    static const char *const texts[] = {"", "\n", "\n\n\n", " ", "a", "a b", "a b cgroup",
        "a b cgroup2", "a b cgroup2 ", ":", "::", "0:", "0::", "0", ":::\n",
        "cgroup2 /x cgroup2 rw", "cgroup /x cgroup memory", "1:memory:", "0::\n", "   \n   \n"};
    size_t i, j;

    (void)state;
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
            assert_true(cgroup_find_in(texts[i], texts[j], "memory", places) <= CGROUP_PLACES_MAX);
        }
    }
    assert_int_equal(cgroup_find_in("a b cgroup2", "0::/", "memory", places), 0);
    assert_int_equal(cgroup_find_in("", "0::/", "memory", places), 0);
    assert_int_equal(cgroup_find_in("c /x cgroup2 rw 0 0", "", "memory", places), 0);
}

static void more_places_than_there_is_room_for_are_left_out(void **state)
{
    const char *mounts = "c /a cgroup2 rw 0 0\nc /b cgroup2 rw 0 0\nc /c cgroup2 rw 0 0\n";

    (void)state;
    assert_int_equal(cgroup_find_in(mounts, "0::/g\n", "memory", places), CGROUP_PLACES_MAX);
    assert_place(0, 2, "/a/g");
    assert_place(2, 2, "/b/g");
}

static void a_path_that_is_too_long_is_passed_over(void **state)
{
    char groups[CGROUP_PLACE_BYTES * 2];
    char mounts[CGROUP_PLACE_BYTES * 2];

    (void)state;
    memset(groups, 'g', sizeof(groups));
    memcpy(groups, "0::/", 4);
    groups[CGROUP_PLACE_BYTES] = '\0';
    assert_int_equal(cgroup_find_in("c /mount cgroup2 rw 0 0\n", groups, "memory", places), 1);
    assert_place(0, 2, "/mount"); /* the top is short enough */
    groups[sizeof(groups) - 1] = '\0';
    memset(groups + CGROUP_PLACE_BYTES, 'g', CGROUP_PLACE_BYTES - 1);
    assert_int_equal(cgroup_find_in("c /m cgroup2 rw 0 0\n", groups, "memory", places), 0);
    memset(mounts, 'm', sizeof(mounts));
    memcpy(mounts, "c /", 3);
    memcpy(mounts + CGROUP_PLACE_BYTES + 10, " cgroup2 rw 0 0\n", 17);
    assert_int_equal(cgroup_find_in(mounts, "0::/\n", "memory", places), 0);
}

static void children_without_processes_are_removed(void **state)
{
    char dir[] = "/tmp/vial-test-XXXXXX";
    int fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(mkdirat(fd, "0", 0700), 0);
    assert_int_equal(mkdirat(fd, "template", 0700), 0);
    assert_int_equal(mkdirat(fd, "busy", 0700), 0);
    assert_int_equal(mkdirat(fd, "busy/inner", 0700), 0);
    cgroup_remove_children(fd);
    assert_int_equal(faccessat(fd, "0", F_OK, 0), -1);
    assert_int_equal(faccessat(fd, "template", F_OK, 0), -1);
    assert_int_equal(faccessat(fd, "busy", F_OK, 0), 0);
    cgroup_remove_children(-1);
    (void)unlinkat(fd, "busy/inner", AT_REMOVEDIR);
    (void)unlinkat(fd, "busy", AT_REMOVEDIR);
    (void)close(fd);
    assert_int_equal(rmdir(dir), 0);
}

static void this_machine_has_no_more_places_than_there_can_be(void **state)
{
    unsigned i, count = cgroup_find("memory", places);

    (void)state;
    assert_in_range(count, 0, CGROUP_PLACES_MAX);
    for (i = 0; i < count; i++) {
        assert_in_range(places[i].version, 1, 2);
        assert_int_equal(places[i].path[0], '/');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_2_offers_our_group_and_then_the_top),
        cmocka_unit_test(who_was_moved_down_is_offered_the_group_above),
        cmocka_unit_test(at_the_top_of_version_2_there_is_one_place),
        cmocka_unit_test(version_1_is_found_by_controller),
        cmocka_unit_test(a_mixed_machine_offers_both),
        cmocka_unit_test(parts_of_words_are_no_words),
        cmocka_unit_test(odd_texts_find_nothing_and_harm_nothing),
        cmocka_unit_test(more_places_than_there_is_room_for_are_left_out),
        cmocka_unit_test(a_path_that_is_too_long_is_passed_over),
        cmocka_unit_test(children_without_processes_are_removed),
        cmocka_unit_test(this_machine_has_no_more_places_than_there_can_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
