/* test_artifacts.c - what a cell sends of what its program shows: what the host takes, and no more.
 */
#include "cell/artifacts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cell/guest.h"
#include "host/result_artifacts.h"
#include "wire/field.h"
#include "wire/frame.h"

static struct result_artifacts host; /* at the other end */
static unsigned frames_count;

void cell_send_artifact(const char *payload, size_t len)
{
    assert_in_range(len, 1, FRAME_ARTIFACT_BYTES_MAX);
    assert_int_equal(result_artifacts_take(&host, payload, len), ARTIFACTS_TAKEN);
    frames_count++;
}

static int begin(void **state)
{
    (void)state;
    artifacts_begin();
    frames_count = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    result_artifacts_release(&host);
    return 0;
}

static struct artifact_part part(const char *mime, const char *bytes, size_t len)
{
    return (struct artifact_part){
        .mime = mime, .mime_len = strlen(mime), .bytes = bytes, .len = len};
}

static void show(const char *name, const struct artifact_part *parts, unsigned count)
{
    const char *why = NULL;

    assert_int_equal(cell_artifact(name, strlen(name), parts, count, &why), 0);
    assert_null(why);
    assert_false(host.is_open);
}

static void a_small_artifact_is_one_frame(void **state)
{
    const struct artifact_part parts[] = {part("text/html", "<b>", 3), part("text/plain", NULL, 0)};

    (void)state;
    show("chart", parts, 2);
    show("", parts, 1);
    assert_int_equal(frames_count, 2);
    assert_int_equal(host.count, 2);
    assert_string_equal(host.items[0].name, "chart");
    assert_null(host.items[1].name);
    assert_int_equal(host.items[0].parts_count, 2);
    assert_string_equal(host.items[0].parts[0].mime, "text/html");
    assert_memory_equal(host.items[0].parts[0].bytes.data, "<b>", 3);
    assert_int_equal(host.items[0].parts[1].bytes.len, 0);
}

static void a_large_one_comes_in_pieces(void **state)
{
    size_t len = 3 * FRAME_ARTIFACT_PIECE_BYTES + 7, i;
    char *bytes = malloc(len);
    struct artifact_part parts[2];

    (void)state;
    assert_non_null(bytes);
    for (i = 0; i < len; i++) {
        bytes[i] = (char)(i * 7 % 251);
    }
    parts[0] = part("image/png", bytes, len);
    parts[1] = part("text/plain", bytes, FRAME_ARTIFACT_PIECE_BYTES);
    show("", parts, 2);
    assert_in_range(frames_count, 4, 6);
    assert_int_equal(host.items[0].parts[0].bytes.len, len);
    assert_memory_equal(host.items[0].parts[0].bytes.data, bytes, len);
    assert_int_equal(host.items[0].parts[1].bytes.len, FRAME_ARTIFACT_PIECE_BYTES);
    free(bytes);
}

static void the_longest_heads_fit(void **state)
{
    static char names[ARTIFACT_PARTS_MAX][128];
    struct artifact_part parts[ARTIFACT_PARTS_MAX];
    char name[256];
    unsigned i;

    (void)state;
    memset(name, 'n', 255);
    name[255] = '\0';
    for (i = 0; i < ARTIFACT_PARTS_MAX; i++) {
        memset(names[i], 'x', 127);
        names[i][1] = '/';
        names[i][2] = (char)('a' + i);
        parts[i] = part(names[i], "y", 1);
    }
    show(name, parts, ARTIFACT_PARTS_MAX);
    assert_int_equal(frames_count, 1);
    assert_int_equal(host.items[0].parts_count, ARTIFACT_PARTS_MAX);
}

static void what_is_beyond_the_limits_is_counted(void **state)
{
    size_t len = ARTIFACTS_BYTES_MAX;
    char *bytes = calloc(1, len + 1);
    struct artifact_part whole = part("a/b", bytes, len), more = part("a/b", bytes, len + 1);
    struct artifact_part one = part("a/b", "x", 1), none = part("a/b", "", 0);
    const struct artifact_part sum[] = {part("a/b", bytes, len), part("a/c", "x", 1)};
    int i;

    (void)state;
    assert_non_null(bytes);
    show("", &more, 1);
    show("", sum, 2);
    assert_int_equal(host.dropped, 2);
    show("", &whole, 1);
    assert_int_equal(host.count, 1);
    show("", &one, 1); /* there is no room for a byte, but for nothing */
    show("", &none, 1);
    assert_int_equal(host.dropped, 3);
    assert_int_equal(host.count, 2);
    for (i = 2; i < ARTIFACTS_MAX + 5; i++) {
        show("", &none, 1);
    }
    assert_int_equal(host.count, ARTIFACTS_MAX);
    assert_int_equal(host.dropped, 3 + 5);
    result_artifacts_release(&host);
    artifacts_begin(); /* the next evaluation of a session */
    show("", &one, 1);
    assert_int_equal(host.count, 1);
    free(bytes);
}

static void what_is_malformed_is_refused_with_a_sentence(void **state)
{
    const struct artifact_part good = part("a/b", "", 0), bad = part("A/b", "", 0);
    const struct artifact_part twice[] = {part("a/b", "", 0), part("a/b", "", 0)};
    struct artifact_part hostile = part("", "", 0);
    char name[300];
    const char *why = "";

    (void)state;
    memset(name, 'x', sizeof(name));
    assert_int_equal(cell_artifact("", 0, &bad, 1, &why), -1);
    assert_string_equal(why, "the MIME type \"A/b\" is not in lower case");
    assert_int_equal(cell_artifact("", 0, twice, 2, &why), -1);
    assert_string_equal(why, "the MIME type \"a/b\" is there twice");
    hostile.mime = name;
    hostile.mime_len = sizeof(name);
    assert_int_equal(cell_artifact("", 0, &hostile, 1, &why), -1);
    assert_non_null(strstr(why, "127 bytes"));
    assert_int_equal(cell_artifact("", 0, &good, 0, &why), -1);
    assert_int_equal(cell_artifact("", 0, &good, ARTIFACT_PARTS_MAX + 1, &why), -1);
    assert_string_equal(why, "an artifact has 1 to 8 representations");
    assert_int_equal(cell_artifact("a/b", 3, &good, 1, &why), -1);
    assert_string_equal(why, "the name of an artifact has a slash");
    assert_int_equal(cell_artifact(name, 256, &good, 1, &why), -1);
    assert_int_equal(cell_artifact("\x1b", 1, &good, 1, &why), -1);
    assert_int_equal(cell_artifact("a\0b", 3, &good, 1, &why), -1);
    assert_int_equal(cell_artifact("\xff", 1, &good, 1, &why), -1);
    assert_int_equal(frames_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_small_artifact_is_one_frame, begin, end),
        cmocka_unit_test_setup_teardown(a_large_one_comes_in_pieces, begin, end),
        cmocka_unit_test_setup_teardown(the_longest_heads_fit, begin, end),
        cmocka_unit_test_setup_teardown(what_is_beyond_the_limits_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(what_is_malformed_is_refused_with_a_sentence, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
