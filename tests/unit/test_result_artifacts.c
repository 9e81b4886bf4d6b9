/* test_result_artifacts.c - artifacts from a cell that cannot be trusted, and what a result says of
 * them. */
#include "host/result_artifacts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/result.h"
#include "policy/limits.h"
#include "wire/field.h"

enum { FRAME_MAX = 1 << 20 };

static struct vial_result *new_result(void)
{
    struct vial_result *result = NULL;
    struct vial_limits limits;

    assert_int_equal(limits_resolve(NULL, &limits, NULL), 0);
    assert_int_equal(result_new(&limits, "{}", &result, NULL), 0);
    return result;
}

static enum artifacts_taken take(
    struct vial_result *result, uint8_t tag, const char *bytes, size_t len)
{
    enum artifacts_taken taken;
    struct buf frame;

    buf_init(&frame, (size_t)2 * ARTIFACTS_BYTES_MAX);
    assert_int_equal(field_add(&frame, tag, bytes, len, NULL), 0);
    taken = result_artifacts_take(&result->artifacts, frame.data, frame.len);
    buf_release(&frame);
    return taken;
}

/* A field with a text. */
static enum artifacts_taken give(struct vial_result *result, uint8_t tag, const char *text)
{
    return take(result, tag, text, strlen(text));
}

/* A whole artifact of one representation. */
static void show(
    struct vial_result *result, const char *name, const char *mime, const char *bytes, size_t len)
{
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, name), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, mime), ARTIFACTS_TAKEN);
    assert_int_equal(take(result, FIELD_ARTIFACT_BYTES, bytes, len), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_TAKEN);
}

static void they_are_had_from_the_result(void **state)
{
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    struct vial_representation part = VIAL_REPRESENTATION_INIT;
    struct vial_result *result = new_result();

    (void)state;
    assert_int_equal(vial_result_artifact_count(result), 0);
    assert_int_equal(vial_result_artifact(result, 0, &artifact), VIAL_E_INVALID);
    show(result, "", "text/plain", "text", 4);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, "chart"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "image/png"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_BYTES, "abc"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_BYTES, "def"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "text/html"), ARTIFACTS_TAKEN);
    assert_int_equal(vial_result_artifact_count(result), 1); /* it has not come to its end */
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_TAKEN);
    assert_int_equal(vial_result_artifact_count(result), 2);
    assert_int_equal(vial_result_artifact(result, 0, &artifact), 0);
    assert_null(artifact.name);
    assert_int_equal(vial_result_artifact(result, 1, &artifact), 0);
    assert_string_equal(artifact.name, "chart");
    assert_int_equal(artifact.representation_count, 2);
    assert_int_equal(vial_result_representation(result, 1, 0, &part), 0);
    assert_string_equal(part.mime, "image/png");
    assert_int_equal(part.len, 6);
    assert_memory_equal(part.bytes, "abcdef", 6);
    assert_int_equal(vial_result_representation(result, 1, 1, &part), 0);
    assert_int_equal(part.len, 0);
    assert_non_null(part.bytes);
    assert_int_equal(vial_result_representation(result, 1, 2, &part), VIAL_E_INVALID);
    assert_int_equal(vial_result_representation(result, 2, 0, &part), VIAL_E_INVALID);
    vial_result_free(result);
}

/* A caller that was compiled when the structs were shorter. */
static void an_older_caller_gets_what_it_has_room_for(void **state)
{
    struct vial_artifact artifact = {.size = 2 * sizeof(uint32_t), .name = "untouched"};
    struct vial_result *result = new_result();

    (void)state;
    show(result, "name", "text/plain", "", 0);
    assert_int_equal(vial_result_artifact(result, 0, &artifact), 0);
    assert_int_equal(artifact.representation_count, 1);
    assert_string_equal(artifact.name, "untouched");
    vial_result_free(result);
}

static void nonsense_is_refused(void **state)
{
    static const char *const types[] = {"", "text", "Text/plain", "text/\x1b[2J", "a/b/c"};
    static const char *const names[] = {"a/b", "..", ".", "\x1b[2J", "\xff", "/etc/passwd"};
    struct vial_result *result = new_result();
    size_t i;

    (void)state;
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "a/b"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_BYTES, "x"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_DROPPED, "x"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_VALUE, "1"), ARTIFACTS_MALFORMED);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(give(result, FIELD_ARTIFACT_NAME, names[i]), ARTIFACTS_MALFORMED);
    }
    assert_int_equal(take(result, FIELD_ARTIFACT_NAME, "a\0b", 3), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_BYTES, "x"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_DROPPED, ""), ARTIFACTS_MALFORMED);
    for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        assert_int_equal(give(result, FIELD_ARTIFACT_MIME, types[i]), ARTIFACTS_MALFORMED);
    }
    assert_int_equal(take(result, FIELD_ARTIFACT_MIME, "a/b\0", 4), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "a/b"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "a/b"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, "x"), ARTIFACTS_MALFORMED);
    assert_int_equal(vial_result_artifact_count(result), 0);
    vial_result_free(result); /* with one that is open */
}

static void counts_and_bytes_are_bounded(void **state)
{
    struct vial_result *result = new_result();
    char *bytes = calloc(1, ARTIFACTS_BYTES_MAX + 1);
    char mime[] = "x/a";
    int i;

    (void)state;
    assert_non_null(bytes);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_TAKEN);
    for (i = 0; i < ARTIFACT_PARTS_MAX; i++) {
        mime[2] = (char)('a' + i);
        assert_int_equal(give(result, FIELD_ARTIFACT_MIME, mime), ARTIFACTS_TAKEN);
    }
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "x/z"), ARTIFACTS_MALFORMED);
    assert_int_equal(
        take(result, FIELD_ARTIFACT_BYTES, bytes, ARTIFACTS_BYTES_MAX + 1), ARTIFACTS_MALFORMED);
    assert_int_equal(
        take(result, FIELD_ARTIFACT_BYTES, bytes, ARTIFACTS_BYTES_MAX), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_MIME, "x/a"), ARTIFACTS_TAKEN);
    assert_int_equal(give(result, FIELD_ARTIFACT_BYTES, "x"), ARTIFACTS_MALFORMED);
    assert_int_equal(give(result, FIELD_ARTIFACT_END, ""), ARTIFACTS_TAKEN);
    for (i = 2; i < ARTIFACTS_MAX; i++) {
        show(result, "", "text/plain", "", 0);
    }
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_MALFORMED);
    assert_int_equal(vial_result_artifact_count(result), ARTIFACTS_MAX);
    free(bytes);
    vial_result_free(result);
}

static void broken_frames_do_no_harm(void **state)
{
    struct vial_result *result;
    struct buf frame;
    size_t len;

    (void)state;
    buf_init(&frame, FRAME_MAX);
    assert_int_equal(field_add(&frame, FIELD_ARTIFACT_NAME, "n", 1, NULL), 0);
    assert_int_equal(field_add(&frame, FIELD_ARTIFACT_MIME, "a/b", 3, NULL), 0);
    assert_int_equal(field_add(&frame, FIELD_ARTIFACT_BYTES, "xyz", 3, NULL), 0);
    assert_int_equal(field_add(&frame, FIELD_ARTIFACT_END, "", 0, NULL), 0);
    for (len = 0; len < frame.len; len++) {
        result = new_result();
        (void)result_artifacts_take(&result->artifacts, frame.data, len);
        assert_int_equal(vial_result_artifact_count(result), 0);
        vial_result_free(result);
    }
    buf_release(&frame);
}

static void they_are_part_of_the_json(void **state)
{
    struct vial_result *result = new_result();
    const char *json;

    (void)state;
    show(result, "", "text/plain", "a\"\xc3\xa4", 4);
    show(result, "chart", "image/png", "\x89PNG", 4);
    show(result, "", "text/html", "\xff\x1b", 2); /* no UTF-8 */
    show(result, "", "image/gif", "", 0);
    assert_int_equal(give(result, FIELD_ARTIFACT_DROPPED, ""), ARTIFACTS_TAKEN);
    json = vial_result_json(result, NULL);
    assert_non_null(json);
    assert_non_null(
        strstr(json, "\"artifacts\":["
                     "{\"name\":null,\"representations\":[{\"mime\":\"text/plain\",\"bytes\":4,"
                     "\"text\":\"a\\\"\xc3\xa4\"}]},"
                     "{\"name\":\"chart\",\"representations\":[{\"mime\":\"image/png\",\"bytes\":4,"
                     "\"base64\":\"iVBORw==\"}]},"
                     "{\"name\":null,\"representations\":[{\"mime\":\"text/html\",\"bytes\":2,"
                     "\"base64\":\"/xs=\"}]},"
                     "{\"name\":null,\"representations\":[{\"mime\":\"image/gif\",\"bytes\":0,"
                     "\"base64\":\"\"}]}],\"artifacts_dropped\":1"));
    assert_int_equal(vial_result_artifacts_dropped(result), 1);
    vial_result_free(result);
}

/* Each byte of text may become six, and all of them have room. */
static void the_largest_become_json(void **state)
{
    struct vial_result *result = new_result();
    size_t len = (size_t)1024 * 1024, i;
    char *bytes = calloc(1, len + 1);
    const char *json;

    (void)state;
    assert_non_null(bytes);
    for (i = 0; i < 15; i++) {
        show(result, "", "text/plain", bytes, len);
    }
    show(result, "", "application/json", bytes, len - 1);
    json = vial_result_json(result, NULL);
    assert_non_null(json);
    assert_int_equal(json_check(json, strlen(json), 10, NULL), 0);
    vial_result_free(result);
    result = new_result();
    show(result, "", "text/plain", bytes, len + 1); /* longer text is base64 */
    json = vial_result_json(result, NULL);
    assert_non_null(json);
    assert_non_null(strstr(json, "\"bytes\":1048577,\"base64\":\"AAAA"));
    free(bytes);
    vial_result_free(result);
}

static void a_limit_leaves_what_was_shown(void **state)
{
    struct vial_result *result = new_result();

    (void)state;
    show(result, "", "text/plain", "x", 1);
    assert_int_equal(give(result, FIELD_ARTIFACT_NAME, ""), ARTIFACTS_TAKEN);
    result_state(result, VIAL_STATUS_WALL_LIMIT, "WallLimit", NULL, "late");
    assert_int_equal(vial_result_artifact_count(result), 1);
    vial_result_free(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_had_from_the_result),
        cmocka_unit_test(an_older_caller_gets_what_it_has_room_for),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(counts_and_bytes_are_bounded),
        cmocka_unit_test(broken_frames_do_no_harm),
        cmocka_unit_test(they_are_part_of_the_json),
        cmocka_unit_test(the_largest_become_json),
        cmocka_unit_test(a_limit_leaves_what_was_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
