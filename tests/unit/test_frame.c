/* test_frame.c - which frames a cell may send in which phase, how long they may be, and cutting
 * them out of a stream that arrives in pieces. */
#include "wire/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { VALUE_MAX = 1000, CALL_MAX = 500, STREAM_MAX = 1 << 20, TYPES_ALL = 256, PHASES = 6 };

static const struct frame_limits LIMITS = {
    .value_bytes_max = VALUE_MAX, .call_bytes_max = CALL_MAX};

/* The whole of what is allowed, written down a second time: the phase that follows, or -1. */
static int allowed(int phase, int type)
{
    switch (phase) {
    case PHASE_JOINING:
        return type == FRAME_READY ? PHASE_WAITING : -1;
    case PHASE_WAITING:
        return type == FRAME_UNBORN ? PHASE_WAITING : -1;
    case PHASE_BORN:
        return type == FRAME_READY                            ? PHASE_WAITING
               : type == FRAME_BORN                           ? PHASE_JOINING
               : type == FRAME_FAILED || type == FRAME_CANARY ? PHASE_DONE
                                                              : -1;
    case PHASE_RUNNING:
        return type == FRAME_RESULT ? PHASE_DONE
               : type == FRAME_STDOUT || type == FRAME_STDERR || type == FRAME_CALL ||
                       type == FRAME_ARTIFACT || type == FRAME_DENIED || type == FRAME_FINDINGS
                   ? PHASE_RUNNING
               : type == FRAME_FILE ? PHASE_FILES
                                    : -1;
    case PHASE_FILES:
        return type == FRAME_RESULT ? PHASE_DONE : type == FRAME_FILE ? PHASE_FILES : -1;
    default:
        return -1;
    }
}

static void only_what_the_phase_allows_is_accepted(void **state)
{
    struct frame_header header = {.len = 0};
    enum frame_phase phase;
    int p, t;

    (void)state;
    for (p = 0; p < PHASES; p++) {
        for (t = 0; t < TYPES_ALL; t++) {
            phase = (enum frame_phase)p;
            header.type = (uint8_t)t;
            if (allowed(p, t) < 0) {
                assert_int_equal(frame_accept(&phase, &header, &LIMITS), -1);
                assert_int_equal(phase, p); /* and the phase has not moved */
            } else {
                assert_int_equal(frame_accept(&phase, &header, &LIMITS), 0);
                assert_int_equal(phase, allowed(p, t));
            }
        }
    }
}

static void each_type_has_its_length(void **state)
{
    const struct {
        uint8_t phase, type;
        uint32_t len_max;
    } rows[] = {
        {PHASE_BORN, FRAME_READY, 0},
        {PHASE_BORN, FRAME_FAILED, FRAME_SMALL_BYTES_MAX},
        {PHASE_BORN, FRAME_CANARY, FRAME_SMALL_BYTES_MAX},
        {PHASE_RUNNING, FRAME_STDOUT, FRAME_OUTPUT_BYTES_MAX},
        {PHASE_RUNNING, FRAME_STDERR, FRAME_OUTPUT_BYTES_MAX},
        {PHASE_RUNNING, FRAME_FILE, FRAME_FILE_BYTES_MAX},
        {PHASE_RUNNING, FRAME_ARTIFACT, FRAME_ARTIFACT_BYTES_MAX},
        {PHASE_FILES, FRAME_FILE, FRAME_FILE_BYTES_MAX},
        {PHASE_FILES, FRAME_RESULT, 2 * VALUE_MAX + FRAME_RESULT_EXTRA_BYTES},
        {PHASE_RUNNING, FRAME_RESULT, 2 * VALUE_MAX + FRAME_RESULT_EXTRA_BYTES},
        {PHASE_BORN, FRAME_BORN, 0},
        {PHASE_WAITING, FRAME_UNBORN, 2 * sizeof(uint32_t)},
        {PHASE_RUNNING, FRAME_CALL, CALL_MAX + sizeof(struct call_head)},
    };
    struct frame_header header = {.len = 0};
    enum frame_phase phase;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        header.type = rows[i].type;
        phase = rows[i].phase;
        header.len = rows[i].len_max;
        assert_int_equal(frame_accept(&phase, &header, &LIMITS), 0);
        phase = rows[i].phase;
        header.len = rows[i].len_max + 1;
        assert_int_equal(frame_accept(&phase, &header, &LIMITS), -1);
        header.len = UINT32_MAX;
        assert_int_equal(frame_accept(&phase, &header, &LIMITS), -1);
        assert_int_equal(phase, rows[i].phase);
    }
}

static void the_unused_bytes_must_be_zero(void **state)
{
    struct frame_header header = {.type = FRAME_STDOUT};
    enum frame_phase phase = PHASE_RUNNING;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        memset(header.zero, 0, sizeof(header.zero));
        header.zero[i] = 1;
        assert_int_equal(frame_accept(&phase, &header, &LIMITS), -1);
    }
}

static void add_frame(struct buf *b, uint8_t type, const char *payload, uint32_t len)
{
    struct frame_header header = {.type = type, .len = len};

    assert_int_equal(buf_add(b, &header, sizeof(header), NULL), 0);
    assert_int_equal(buf_add(b, payload, len, NULL), 0);
}

static void finds_frames_one_after_another(void **state)
{
    enum frame_phase phase = PHASE_RUNNING;
    struct frame f;
    struct buf b;
    size_t at = 0;

    (void)state;
    buf_init(&b, STREAM_MAX);
    add_frame(&b, FRAME_STDOUT, "one", 3);
    add_frame(&b, FRAME_STDERR, "", 0);
    add_frame(&b, FRAME_RESULT, "result", 6);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), 1);
    assert_int_equal(f.type, FRAME_STDOUT);
    assert_int_equal(f.len, 3);
    assert_memory_equal(f.payload, "one", 3);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), 1);
    assert_int_equal(f.type, FRAME_STDERR);
    assert_int_equal(f.len, 0);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), 1);
    assert_int_equal(f.type, FRAME_RESULT);
    assert_memory_equal(f.payload, "result", 6);
    assert_int_equal(at, b.len);
    assert_int_equal(phase, PHASE_DONE);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), 0);
    buf_release(&b);
}

static void waits_for_every_missing_byte(void **state)
{
    struct buf whole, part;
    struct frame f;
    enum frame_phase phase;
    size_t at, n;

    (void)state;
    buf_init(&whole, STREAM_MAX);
    buf_init(&part, STREAM_MAX);
    add_frame(&whole, FRAME_RESULT, "0123456789", 10);
    for (n = 0; n < whole.len; n++) {
        phase = PHASE_RUNNING;
        at = 0;
        buf_clear(&part);
        assert_int_equal(buf_add(&part, whole.data, n, NULL), 0);
        assert_int_equal(frame_next(&part, &at, &phase, &LIMITS, &f), 0);
        assert_int_equal(at, 0);
        assert_int_equal(phase, PHASE_RUNNING);
    }
    buf_release(&whole);
    buf_release(&part);
}

/* The length is refused when the header is there, not when as much has been received. */
static void a_bad_header_is_refused_before_its_payload_comes(void **state)
{
    struct frame_header header = {.type = FRAME_STDOUT, .len = FRAME_OUTPUT_BYTES_MAX + 1};
    enum frame_phase phase = PHASE_RUNNING;
    struct frame f;
    struct buf b;
    size_t at = 0;

    (void)state;
    buf_init(&b, STREAM_MAX);
    assert_int_equal(buf_add(&b, &header, sizeof(header), NULL), 0);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), -1);
    assert_int_equal(at, 0);
    assert_int_equal(phase, PHASE_RUNNING);
    buf_release(&b);
}

static void nothing_may_follow_the_result(void **state)
{
    enum frame_phase phase = PHASE_RUNNING;
    struct frame f;
    struct buf b;
    size_t at = 0;

    (void)state;
    buf_init(&b, STREAM_MAX);
    add_frame(&b, FRAME_RESULT, "", 0);
    add_frame(&b, FRAME_STDOUT, "late", 4);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), 1);
    assert_int_equal(frame_next(&b, &at, &phase, &LIMITS, &f), -1);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_the_phase_allows_is_accepted),
        cmocka_unit_test(each_type_has_its_length),
        cmocka_unit_test(the_unused_bytes_must_be_zero),
        cmocka_unit_test(finds_frames_one_after_another),
        cmocka_unit_test(waits_for_every_missing_byte),
        cmocka_unit_test(a_bad_header_is_refused_before_its_payload_comes),
        cmocka_unit_test(nothing_may_follow_the_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
