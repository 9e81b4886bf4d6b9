/* test_layer.c - levels, what --require asks for, and the report as text. */
#include "jail/layer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const unsigned ROOTLESS[] = {LAYER_USERNS, LAYER_PRIVATE_ROOT, LAYER_PIDNS, LAYER_NETNS,
    LAYER_IPCNS, LAYER_UTSNS, LAYER_CGROUPNS};
static const unsigned FULL[] = {LAYER_PRIVATE_UID, LAYER_CGROUP_MEMORY, LAYER_CGROUP_PIDS};
static const unsigned BASIS[] = {
    LAYER_DESCRIPTORS, LAYER_NO_NEW_PRIVS, LAYER_CAPABILITIES, LAYER_RLIMITS, LAYER_SECCOMP};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct layer_report everything(void)
{
    struct layer_report report;
    unsigned i;

    for (i = 0; i < LAYER_COUNT; i++) {
        report.entries[i] = (struct layer_entry){.state = LAYER_PROVEN};
    }
    report.entries[LAYER_LANDLOCK].version = 3;
    return report;
}

static void every_layer_has_a_name_and_a_purpose(void **state)
{
    unsigned i, j;

    (void)state;
    for (i = 0; i < LAYER_COUNT; i++) {
        assert_true(strlen(layer_name(i)) > 0);
        assert_true(strlen(layer_purpose(i)) > 0);
        for (j = 0; j < i; j++) {
            assert_string_not_equal(layer_name(i), layer_name(j));
        }
    }
    assert_string_equal(layer_name(LAYER_COUNT), "?");
    assert_string_equal(layer_purpose(LAYER_COUNT), "?");
}

static void a_level_is_lost_with_each_of_its_layers(void **state)
{
    static const uint8_t lost[] = {LAYER_OFF, LAYER_BROKEN};
    struct layer_report report = everything();
    size_t i, s;

    (void)state;
    assert_string_equal(layer_report_level(&report), "full");
    for (s = 0; s < COUNT(lost); s++) {
        for (i = 0; i < COUNT(FULL); i++) {
            report = everything();
            report.entries[FULL[i]].state = lost[s];
            assert_string_equal(layer_report_level(&report), "rootless");
        }
        for (i = 0; i < COUNT(ROOTLESS); i++) {
            report = everything();
            report.entries[ROOTLESS[i]].state = lost[s];
            assert_string_equal(layer_report_level(&report), "filtered");
        }
        for (i = 0; i < COUNT(BASIS); i++) {
            report = everything();
            report.entries[BASIS[i]].state = lost[s];
            assert_null(layer_report_level(&report));
        }
    }
}

static void landlock_is_a_must_only_without_namespaces(void **state)
{
    struct layer_report report = everything();

    (void)state;
    report.entries[LAYER_LANDLOCK].state = LAYER_OFF;
    assert_string_equal(layer_report_level(&report), "full");
    report.entries[LAYER_PRIVATE_UID].state = LAYER_OFF;
    assert_string_equal(layer_report_level(&report), "rootless");
    report.entries[LAYER_USERNS].state = LAYER_OFF;
    assert_null(layer_report_level(&report));
}

static void a_second_report_must_keep_what_the_first_one_has(void **state)
{
    struct layer_report first = everything(), second;
    struct vial_error err;
    unsigned i;

    (void)state;
    for (i = 0; i < LAYER_COUNT; i++) {
        second = everything();
        assert_int_equal(layer_report_keeps(&first, &second, NULL), 0);
        second.entries[i].state = LAYER_BROKEN;
        assert_int_equal(layer_report_keeps(&first, &second, &err), VIAL_E_ISOLATION);
        assert_non_null(strstr(err.text, layer_name(i)));
        second.entries[i].state = LAYER_OFF;
        assert_int_equal(layer_report_keeps(&first, &second, NULL), VIAL_E_ISOLATION);
        assert_int_equal(layer_report_keeps(&second, &first, NULL), 0); /* more is welcome */
        assert_int_equal(layer_report_keeps(&second, &second, NULL), 0);
    }
}

static void applied_is_as_good_as_proven(void **state)
{
    struct layer_report report = everything();
    unsigned i;

    (void)state;
    for (i = 0; i < LAYER_COUNT; i++) {
        report.entries[i].state = LAYER_ON;
    }
    assert_string_equal(layer_report_level(&report), "full");
    assert_int_equal(layer_report_require(&report, "full,seccomp", NULL), 0);
}

static void each_layer_can_be_required(void **state)
{
    struct layer_report report;
    struct vial_error err;
    unsigned i;

    (void)state;
    for (i = 0; i < LAYER_COUNT; i++) {
        report = everything();
        assert_int_equal(layer_report_require(&report, layer_name(i), &err), 0);
        report.entries[i] = (struct layer_entry){.state = LAYER_OFF, .sys = ENOSYS};
        assert_int_equal(layer_report_require(&report, layer_name(i), &err), VIAL_E_ISOLATION);
        assert_non_null(strstr(err.text, layer_name(i)));
        assert_non_null(strstr(err.text, "ENOSYS"));
        report.entries[i] = (struct layer_entry){.state = LAYER_BROKEN};
        assert_int_equal(layer_report_require(&report, layer_name(i), &err), VIAL_E_ISOLATION);
        assert_non_null(strstr(err.text, "broken"));
    }
}

static void the_basis_is_required_by_everyone(void **state)
{
    struct layer_report report;
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(BASIS); i++) {
        report = everything();
        report.entries[BASIS[i]].state = LAYER_OFF;
        assert_int_equal(layer_report_require(&report, NULL, NULL), VIAL_E_ISOLATION);
        assert_int_equal(layer_report_require(&report, "", NULL), VIAL_E_ISOLATION);
    }
}

static void levels_can_be_required(void **state)
{
    struct layer_report report = everything();
    struct vial_error err;

    (void)state;
    assert_int_equal(layer_report_require(&report, "full,rootless,filtered", &err), 0);
    report.entries[LAYER_CGROUP_MEMORY].state = LAYER_OFF;
    assert_int_equal(layer_report_require(&report, "full", &err), VIAL_E_ISOLATION);
    assert_non_null(strstr(err.text, "rootless"));
    assert_int_equal(layer_report_require(&report, "rootless", &err), 0);
    report.entries[LAYER_NETNS].state = LAYER_OFF;
    assert_int_equal(layer_report_require(&report, "netns", &err), VIAL_E_ISOLATION);
    assert_int_equal(layer_report_require(&report, "rootless", &err), VIAL_E_ISOLATION);
    assert_int_equal(layer_report_require(&report, "filtered", &err), 0);
}

static void a_version_can_be_required(void **state)
{
    struct layer_report report = everything();
    struct vial_error err;

    (void)state;
    assert_int_equal(layer_report_require(&report, "landlock>=1", &err), 0);
    assert_int_equal(layer_report_require(&report, "seccomp,landlock>=3,full", &err), 0);
    assert_int_equal(layer_report_require(&report, "landlock>=4", &err), VIAL_E_ISOLATION);
    assert_non_null(strstr(err.text, "version 4"));
    assert_non_null(strstr(err.text, "version 3"));
}

static void words_that_mean_nothing_are_the_callers_mistake(void **state)
{
    static const char *const lists[] = {"foo", "Full", "seccomp,", "full,", ",", ",seccomp",
        "seccomp,,netns", "seccomp,,", "seccomp ", " seccomp", "landlock>",
        "landlock>=", "landlock>=x", "landlock>=3x", "landlock>=-1", "landlock>= 1", "landlock>=+1",
        "landlock=3", "landlock>3", ">=3", "full>=2", "landlock>=300",
        "0123456789012345678901234567890123456789012345678901234567890123456789"};
    struct vial_error err;
    size_t i;

    (void)state;
    for (i = 0; i < COUNT(lists); i++) {
        err.text[0] = '\0';
        assert_int_equal(layer_require_check(lists[i], &err), VIAL_E_INVALID);
        assert_int_equal(err.code, VIAL_E_INVALID);
        assert_true(strlen(err.text) > 10);
    }
    assert_int_equal(layer_require_check(NULL, &err), 0);
    assert_int_equal(layer_require_check("", &err), 0);
    assert_int_equal(layer_require_check("full,landlock>=99", &err), 0);
}

static char *written(const struct layer_report *report)
{
    struct json_writer w;
    struct buf out;
    char *text = NULL;
    size_t len = 0;

    buf_init(&out, 65536);
    json_init(&w, &out, NULL);
    layer_report_write(report, &w);
    assert_int_equal(json_finish(&w), 0);
    assert_int_equal(json_check(out.data, out.len, 10, NULL), 0);
    assert_int_equal(buf_take(&out, &text, &len, NULL), 0);
    return text;
}

static void the_report_names_states_versions_and_reasons(void **state)
{
    struct layer_report report = everything();
    char *text;

    (void)state;
    report.entries[LAYER_CGROUP_MEMORY].version = 2;
    report.entries[LAYER_CGROUP_PIDS] = (struct layer_entry){.state = LAYER_OFF, .sys = EACCES};
    report.entries[LAYER_UTSNS].state = LAYER_BROKEN;
    report.entries[LAYER_RLIMITS].state = LAYER_ON;
    text = written(&report);
    assert_non_null(strstr(text, "\"level\":\"filtered\""));
    assert_non_null(strstr(text, "\"memory\":\"cgroup-v2\""));
    assert_non_null(strstr(text, "{\"name\":\"landlock\",\"state\":\"proven\",\"version\":3}"));
    assert_non_null(
        strstr(text, "{\"name\":\"cgroup.pids\",\"state\":\"off\",\"errno\":\"EACCES\"}"));
    assert_non_null(strstr(text, "{\"name\":\"utsns\",\"state\":\"broken\"}"));
    assert_non_null(strstr(text, "{\"name\":\"rlimits\",\"state\":\"on\"}"));
    free(text);
}

static void the_report_says_how_memory_is_counted(void **state)
{
    struct layer_report report = everything();
    char *text;

    (void)state;
    report.entries[LAYER_CGROUP_MEMORY].version = 1;
    text = written(&report);
    assert_non_null(strstr(text, "\"memory\":\"cgroup-v1\""));
    free(text);
    memset(&report, 0, sizeof(report));
    text = written(&report);
    assert_non_null(strstr(text, "\"level\":\"none\",\"memory\":\"polling\""));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layer_has_a_name_and_a_purpose),
        cmocka_unit_test(a_level_is_lost_with_each_of_its_layers),
        cmocka_unit_test(landlock_is_a_must_only_without_namespaces),
        cmocka_unit_test(a_second_report_must_keep_what_the_first_one_has),
        cmocka_unit_test(applied_is_as_good_as_proven),
        cmocka_unit_test(each_layer_can_be_required),
        cmocka_unit_test(the_basis_is_required_by_everyone),
        cmocka_unit_test(levels_can_be_required),
        cmocka_unit_test(a_version_can_be_required),
        cmocka_unit_test(words_that_mean_nothing_are_the_callers_mistake),
        cmocka_unit_test(the_report_names_states_versions_and_reasons),
        cmocka_unit_test(the_report_says_how_memory_is_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
