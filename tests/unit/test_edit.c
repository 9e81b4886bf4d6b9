/* test_edit.c - two lists of insertions become one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/edit.h"

/* Composes first and second and compares with expected. */
static void assert_composes(const struct edit *first, size_t first_count, const struct edit *second,
    size_t second_count, const struct edit *expected, size_t expected_count)
{
    struct buf rows, out;

    buf_init(&rows, 65536);
    buf_init(&out, 65536);
    assert_int_equal(buf_add(&rows, first, first_count * sizeof(*first), NULL), 0);
    assert_int_equal(edits_compose(&rows, second, second_count, &out, NULL), 0);
    assert_int_equal(out.len, expected_count * sizeof(*expected));
    for (size_t i = 0; i < expected_count; i++) {
        struct edit row;

        memcpy(&row, out.data + i * sizeof(row), sizeof(row));
        assert_int_equal(row.line, expected[i].line);
        assert_int_equal(row.column, expected[i].column);
        assert_int_equal(row.len, expected[i].len);
    }
    buf_release(&rows);
    buf_release(&out);
}

static void one_list_stays_as_it_is(void **state)
{
    static const struct edit rows[] = {{1, 5, 2}, {1, 9, 3}, {4, 1, 7}};

    (void)state;
    assert_composes(rows, 3, NULL, 0, rows, 3);
    assert_composes(rows, 0, rows, 3, rows, 3);
    assert_composes(rows, 0, rows, 0, rows, 0);
}

static void what_is_inserted_in_front_moves_the_others_of_its_line(void **state)
{
    static const struct edit first[] = {{1, 5, 2}, {2, 5, 2}};
    static const struct edit second[] = {{1, 1, 10}};
    static const struct edit expected[] = {{1, 1, 10}, {1, 15, 2}, {2, 5, 2}};

    (void)state;
    assert_composes(first, 2, second, 1, expected, 3);
}

static void what_is_inserted_behind_moves_nothing(void **state)
{
    static const struct edit first[] = {{2, 5, 2}};
    static const struct edit second[] = {{1, 1, 3}, {2, 20, 3}, {3, 1, 3}};
    static const struct edit expected[] = {{1, 1, 3}, {2, 5, 2}, {2, 20, 3}, {3, 1, 3}};

    (void)state;
    assert_composes(first, 1, second, 3, expected, 4);
}

/* abXXXXc becomes abXYYYXXXc: the X are two pieces. */
static void an_insertion_inside_of_another_cuts_it(void **state)
{
    static const struct edit first[] = {{1, 3, 4}, {1, 9, 1}};
    static const struct edit second[] = {{1, 4, 3}};
    static const struct edit expected[] = {{1, 3, 1}, {1, 4, 3}, {1, 7, 3}, {1, 12, 1}};

    (void)state;
    assert_composes(first, 2, second, 1, expected, 4);
}

static void several_in_one_line_add_up(void **state)
{
    static const struct edit first[] = {{1, 5, 1}, {1, 10, 1}};
    /* In the text between, these are at 2 and 8. */
    static const struct edit second[] = {{1, 2, 2}, {1, 10, 2}};
    static const struct edit expected[] = {{1, 2, 2}, {1, 7, 1}, {1, 10, 2}, {1, 14, 1}};

    (void)state;
    assert_composes(first, 2, second, 2, expected, 4);
}

static void too_many_are_an_error(void **state)
{
    static const struct edit rows[] = {{1, 5, 2}, {1, 9, 3}};
    struct buf none, out;

    (void)state;
    buf_init(&none, 16);
    buf_init(&out, sizeof(struct edit));
    assert_true(edits_compose(&none, rows, 2, &out, NULL) < 0);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_list_stays_as_it_is),
        cmocka_unit_test(what_is_inserted_in_front_moves_the_others_of_its_line),
        cmocka_unit_test(what_is_inserted_behind_moves_nothing),
        cmocka_unit_test(an_insertion_inside_of_another_cuts_it),
        cmocka_unit_test(several_in_one_line_add_up),
        cmocka_unit_test(too_many_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
