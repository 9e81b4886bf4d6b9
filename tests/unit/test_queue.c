/* test_queue.c - nobody starves: floods, long runs, large runs, full lines. */
#include "policy/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS = 600 };

#define MIB (UINT64_C(1) << 20)

static struct queue q;
static struct queue_line lines[4];
static struct queue_item items[ITEMS];
static size_t items_count;

static void start(uint32_t running, uint32_t waiting, uint32_t waiting_key, uint64_t memory)
{
    const struct queue_limits limits = {running, waiting, waiting_key, memory};
    size_t i;

    queue_init(&q, &limits);
    memset(lines, 0, sizeof(lines));
    memset(items, 0, sizeof(items));
    items_count = 0;
    for (i = 0; i < 4; i++) {
        lines[i].running_max = 1000;
    }
}

static enum queue_answer add_size(unsigned key, uint64_t memory, struct queue_item **ret_out)
{
    struct queue_item *item = &items[items_count++];

    assert_true(items_count <= ITEMS);
    item->memory_bytes = memory;
    return queue_add(&q, &lines[key], item, 0, ret_out);
}

static void add(unsigned key, unsigned count)
{
    struct queue_item *out = NULL;

    while (count-- > 0) {
        assert_int_equal(add_size(key, MIB, &out), QUEUE_ADDED);
    }
}

static unsigned key_of(const struct queue_item *item)
{
    return (unsigned)(item->line - lines);
}

static void those_of_one_key_are_in_order(void **state)
{
    unsigned i;

    (void)state;
    start(100, 100, 100, 1000 * MIB);
    add(0, 5);
    for (i = 0; i < 5; i++) {
        assert_ptr_equal(queue_next(&q, 0), &items[i]);
    }
    assert_null(queue_next(&q, 0));
    assert_int_equal(q.running, 5);
    assert_int_equal(q.waiting, 0);
}

static void a_flood_does_not_hold_up_others(void **state)
{
    struct queue_item *running[2], *item;
    unsigned i, turns[3] = {0, 0, 0};

    (void)state;
    start(2, 500, 400, 1000 * MIB);
    add(0, 400); /* the flood is there first */
    running[0] = queue_next(&q, 0);
    running[1] = queue_next(&q, 0);
    assert_null(queue_next(&q, 0));
    add(1, 10);
    add(2, 10);
    for (i = 0; i < 30; i++) {
        queue_done(&q, running[i % 2], 1000);
        item = queue_next(&q, 1000);
        assert_non_null(item);
        turns[key_of(item)]++;
        running[i % 2] = item;
    }
    /* All of the others came through, while the flood had its third. */
    assert_int_equal(turns[1], 10);
    assert_int_equal(turns[2], 10);
    assert_int_equal(turns[0], 10);
}

/* A key whose runs are a hundred times as long has no more places than the other one. */
static void long_runs_do_not_take_all_places(void **state)
{
    struct queue_item *running[8], *item;
    uint64_t ends[8], now, place_us[2] = {0, 0};
    unsigned i, short_done = 0;

    (void)state;
    start(4, 590, 300, 1000 * MIB);
    add(0, 290); /* 100 ms each */
    add(1, 290); /* 1 ms each */
    memset(running, 0, sizeof(running));
    for (now = 0; now < 100; now++) {
        for (i = 0; i < 4; i++) {
            if (running[i] != NULL && ends[i] <= now) {
                short_done += key_of(running[i]) == 1;
                queue_done(&q, running[i], now);
                running[i] = NULL;
            }
        }
        for (i = 0; i < 4; i++) {
            if (running[i] == NULL && (item = queue_next(&q, now)) != NULL) {
                running[i] = item;
                ends[i] = now + (key_of(item) == 0 ? 100 : 1);
            }
            if (running[i] != NULL) {
                place_us[key_of(running[i])]++;
            }
        }
    }
    assert_true(place_us[0] <= 200 && place_us[1] >= 200); /* of 400 */
    assert_true(short_done >= 190);
}

static void a_key_has_at_most_its_own_number(void **state)
{
    (void)state;
    start(10, 100, 100, 1000 * MIB);
    lines[0].running_max = 2;
    add(0, 5);
    add(1, 1);
    assert_ptr_equal(queue_next(&q, 0), &items[0]);
    assert_ptr_equal(queue_next(&q, 0), &items[5]);
    assert_ptr_equal(queue_next(&q, 0), &items[1]);
    assert_null(queue_next(&q, 0));
    queue_done(&q, &items[0], 1);
    assert_ptr_equal(queue_next(&q, 0), &items[2]);
    lines[0].running_max = 4;
    assert_ptr_equal(queue_next(&q, 0), &items[3]);
}

static void lines_are_bounded(void **state)
{
    struct queue_item *out = NULL;

    (void)state;
    start(1, 10, 4, 1000 * MIB);
    add(0, 4);
    assert_int_equal(add_size(0, MIB, &out), QUEUE_FULL_KEY);
    add(1, 4);
    add(2, 2);
    /* All are full, and the line of 2 is the shortest: the last of the first longest goes. */
    assert_int_equal(add_size(2, MIB, &out), QUEUE_PUSHED_OUT);
    assert_ptr_equal(out, &items[3]);
    assert_int_equal(out->state, QUEUE_OUT);
    assert_int_equal(q.waiting, 10);
    /* 3, 4, 3: somebody new pushes out the longest; lines as long as the longest push nobody. */
    assert_int_equal(add_size(3, MIB, &out), QUEUE_PUSHED_OUT);
    assert_ptr_equal(out, &items[8]);
    assert_int_equal(add_size(0, MIB, &out), QUEUE_FULL);
    assert_int_equal(items[items_count - 1].state, QUEUE_OUT);
    assert_int_equal(q.waiting, 10);
}

/* A hostile key that adds all the time, and another one that comes now and then: each of its own is
 * let in and runs soon. */
static void a_flood_never_shuts_others_out(void **state)
{
    struct queue_item *out = NULL, *item, *running = NULL;
    struct queue_item good = {.memory_bytes = MIB};
    unsigned round, waited;

    (void)state;
    start(1, 8, 8, 1000 * MIB);
    for (round = 0; round < 100; round++) {
        enum queue_answer answer;

        items_count = 0;
        while (items_count < 20) { /* as many as it can */
            if (items[items_count].state == QUEUE_OUT) {
                (void)add_size(0, MIB, &out);
            } else {
                items_count++;
            }
        }
        answer = queue_add(&q, &lines[1], &good, 0, &out);
        assert_true(answer == QUEUE_ADDED || answer == QUEUE_PUSHED_OUT);
        for (waited = 0; good.state == QUEUE_WAITS; waited++) {
            assert_true(waited < 3);
            if (running != NULL) {
                queue_done(&q, running, 0);
            }
            item = queue_next(&q, 0);
            assert_non_null(item);
            running = item;
        }
        queue_done(&q, &good, 0);
        running = NULL;
    }
}

static void memory_is_a_budget(void **state)
{
    struct queue_item *out = NULL;

    (void)state;
    start(100, 100, 100, 100 * MIB);
    assert_int_equal(add_size(0, 101 * MIB, &out), QUEUE_TOO_LARGE);
    items_count = 0;
    assert_int_equal(add_size(0, 60 * MIB, &out), QUEUE_ADDED);
    assert_int_equal(add_size(1, 60 * MIB, &out), QUEUE_ADDED);
    assert_int_equal(add_size(2, 40 * MIB, &out), QUEUE_ADDED);
    assert_int_equal(add_size(3, 1 * MIB, &out), QUEUE_ADDED);
    assert_ptr_equal(queue_next(&q, 0), &items[0]);
    assert_ptr_equal(queue_next(&q, 0), &items[2]); /* passes the one of 60 */
    assert_null(queue_next(&q, 0));
    assert_int_equal(q.memory_bytes, 100 * MIB);
    queue_done(&q, &items[0], 0);
    assert_ptr_equal(queue_next(&q, 0), &items[1]);
    assert_null(queue_next(&q, 0));
    queue_done(&q, &items[1], 0);
    assert_ptr_equal(queue_next(&q, 0), &items[3]);
}

/* Small ones that come all the time must not keep a large one out for ever. */
static void a_large_one_does_not_starve(void **state)
{
    struct queue_item *out = NULL, *large, *small[10];
    unsigned started = 0, i;

    (void)state;
    start(100, 400, 400, 10 * MIB);
    for (i = 0; i < 10; i++) {
        assert_int_equal(add_size(0, MIB, &out), QUEUE_ADDED);
        small[i] = queue_next(&q, 0);
        assert_non_null(small[i]);
    }
    large = &items[items_count];
    assert_int_equal(add_size(1, 10 * MIB, &out), QUEUE_ADDED);
    for (i = 0; large->state != QUEUE_RUNS; i = (i + 1) % 10) {
        assert_true(started < 100);
        assert_int_equal(add_size(0, MIB, &out), QUEUE_ADDED);
        if (small[i] != NULL) {
            queue_done(&q, small[i], 0);
        }
        small[i] = queue_next(&q, 0);
        if (small[i] == large) {
            break;
        }
        started += small[i] != NULL;
    }
    assert_int_equal(started, QUEUE_PASSES_MAX);
}

static void who_leaves_is_gone(void **state)
{
    unsigned i;

    (void)state;
    start(1, 100, 100, 1000 * MIB);
    add(0, 3);
    add(1, 1);
    queue_remove(&q, &items[1]); /* in the middle, at the end, alone, at the beginning */
    queue_remove(&q, &items[2]);
    queue_remove(&q, &items[3]);
    assert_int_equal(q.waiting, 1);
    assert_ptr_equal(q.turn, &lines[0]);
    assert_ptr_equal(q.turn_last, &lines[0]);
    queue_remove(&q, &items[0]);
    assert_null(q.turn);
    assert_null(q.turn_last);
    assert_null(queue_next(&q, 0));
    add(2, 2);
    for (i = 4; i < 6; i++) {
        assert_ptr_equal(queue_next(&q, 0), &items[i]);
        queue_done(&q, &items[i], 0);
    }
}

static void estimates_follow_what_happens(void **state)
{
    unsigned i;

    (void)state;
    start(2, 500, 500, 1000 * MIB);
    assert_int_equal(queue_wait_us(&q), 1000000);
    add(0, 1);
    assert_non_null(queue_next(&q, 0));
    queue_done(&q, &items[0], 4000000);
    add(0, 4);
    add(1, 2);
    assert_int_equal(queue_wait_us(&q), 14000000); /* (6 + 1) * 4 s / 2 */
    assert_int_equal(queue_place(&q, &items[1]), 0);
    assert_int_equal(queue_place(&q, &items[3]), 4);
    assert_int_equal(queue_place(&q, &items[4]), 5);
    assert_int_equal(queue_place(&q, &items[6]), 2);
    add(1, 300);
    assert_int_equal(queue_wait_us(&q), 60000000);
    for (i = 0; i < 100; i++) {
        struct queue_item *item = queue_next(&q, 0);

        assert_non_null(item);
        queue_done(&q, item, 1);
    }
    assert_int_equal(queue_wait_us(&q), 1000000);
}

static void limits_may_change(void **state)
{
    const struct queue_limits less = {1, 2, 2, MIB}, more = {5, 10, 10, 100 * MIB};

    (void)state;
    start(3, 10, 10, 100 * MIB);
    add(0, 5);
    assert_non_null(queue_next(&q, 0));
    assert_non_null(queue_next(&q, 0));
    queue_set_limits(&q, &less); /* more run and wait than may: nothing is taken back */
    assert_null(queue_next(&q, 0));
    queue_done(&q, &items[0], 0);
    assert_null(queue_next(&q, 0));
    queue_done(&q, &items[1], 0);
    assert_ptr_equal(queue_next(&q, 0), &items[2]);
    queue_set_limits(&q, &more);
    assert_ptr_equal(queue_next(&q, 0), &items[3]);
    assert_ptr_equal(queue_next(&q, 0), &items[4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_of_one_key_are_in_order),
        cmocka_unit_test(a_flood_does_not_hold_up_others),
        cmocka_unit_test(long_runs_do_not_take_all_places),
        cmocka_unit_test(a_key_has_at_most_its_own_number),
        cmocka_unit_test(lines_are_bounded),
        cmocka_unit_test(a_flood_never_shuts_others_out),
        cmocka_unit_test(memory_is_a_budget),
        cmocka_unit_test(a_large_one_does_not_starve),
        cmocka_unit_test(who_leaves_is_gone),
        cmocka_unit_test(estimates_follow_what_happens),
        cmocka_unit_test(limits_may_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
