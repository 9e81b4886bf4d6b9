/* test_change.c - changes keep lines and columns, or say by how much they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "code/change.h"

static struct changes changes;
static struct rewrite rewrite;

static int begin(void **state)
{
    (void)state;
    changes_init(&changes, 10);
    rewrite_init(&rewrite, 1000);
    return 0;
}

static int end(void **state)
{
    (void)state;
    changes_release(&changes);
    rewrite_release(&rewrite);
    return 0;
}

static void assert_becomes(const char *source, const char *expected)
{
    assert_int_equal(
        changes_apply(&changes, source, strlen(source), "", "", &rewrite, NULL), VIAL_OK);
    assert_string_equal(rewrite.text.data, expected);
}

static void assert_edit(size_t index, uint32_t line, uint32_t column, uint32_t len)
{
    const struct edit *edits = (const struct edit *)(const void *)rewrite.edits.data;

    assert_true(index < rewrite_edit_count(&rewrite));
    assert_int_equal(edits[index].line, line);
    assert_int_equal(edits[index].column, column);
    assert_int_equal(edits[index].len, len);
}

static void they_are_made_in_the_order_of_the_text(void **state)
{
    (void)state;
    changes_insert(&changes, 4, "XY");
    changes_replace(&changes, 0, "AB");
    changes_blank(&changes, 5, 6, ' ');
    assert_becomes("abc\ndef", "ABc\nXYd f");
    assert_int_equal(rewrite_edit_count(&rewrite), 1);
    assert_edit(0, 2, 1, 2);
    assert_int_equal(rewrite.line_count, 2);
    assert_int_equal(rewrite.last_column_max, 6);
}

static void of_two_at_one_place_the_first_comes_first(void **state)
{
    (void)state;
    changes_insert(&changes, 1, "1");
    changes_insert(&changes, 1, "2");
    changes_replace(&changes, 1, "B");
    assert_becomes("ab", "a12B");
    assert_edit(0, 1, 2, 1);
    assert_edit(1, 1, 3, 1);
}

static void head_and_tail_go_around(void **state)
{
    (void)state;
    changes_insert(&changes, 0, "x");
    assert_int_equal(changes_apply(&changes, "a\n", 2, "head", "\ntail", &rewrite, NULL), VIAL_OK);
    assert_string_equal(rewrite.text.data, "headxa\n\ntail");
    assert_edit(0, 1, 1, 4);
    assert_edit(1, 1, 5, 1);
}

static void blanking_keeps_line_breaks_and_columns(void **state)
{
    /* Letters of two and three bytes take one column, of four bytes two. */
    static const char source[] = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\r\nb\xe2\x80\xa8"
                                 "c\rd;e";

    (void)state;
    changes_blank(&changes, 0, sizeof(source) - 2, ';');
    changes_insert(&changes, sizeof(source) - 2, "!");
    assert_becomes(source, ";    \r\n \xe2\x80\xa8 \r  !e");
    assert_edit(0, 4, 3, 1);
}

static void insertions_are_counted_in_utf16_units(void **state)
{
    (void)state;
    changes_insert(&changes, 1, "\xc3\xbc\xf0\x9f\x98\x80");
    assert_becomes("ab", "a\xc3\xbc\xf0\x9f\x98\x80"
                         "b");
    assert_edit(0, 1, 2, 3);
    assert_int_equal(rewrite.last_column_max, 6);
}

static void overlapping_changes_are_an_error(void **state)
{
    (void)state;
    changes_blank(&changes, 0, 3, ' ');
    changes_replace(&changes, 2, "x");
    assert_int_equal(changes_apply(&changes, "abcd", 4, "", "", &rewrite, NULL), VIAL_E_CELL);
}

static void a_change_behind_the_end_is_an_error(void **state)
{
    (void)state;
    changes_replace(&changes, 3, "xy");
    assert_int_equal(changes_apply(&changes, "abcd", 4, "", "", &rewrite, NULL), VIAL_E_CELL);
}

static void too_many_changes_are_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++) {
        changes_insert(&changes, 0, "x");
    }
    assert_int_equal(changes_apply(&changes, "abcd", 4, "", "", &rewrite, NULL), VIAL_E_NOMEM);
    assert_int_equal(rewrite.text.len, 0);
}

static void positions_are_counted_as_the_engine_does(void **state)
{
    static const char source[] = "a\xf0\x9f\x98\x80"
                                 "b\nc\r\nd\re";
    uint32_t line, column;
    struct place place = PLACE_START;

    (void)state;
    source_position(source, sizeof(source) - 1, 5, &line, &column);
    assert_int_equal(line, 1);
    assert_int_equal(column, 4);
    source_position(source, sizeof(source) - 1, sizeof(source) - 2, &line, &column);
    assert_int_equal(line, 4);
    assert_int_equal(column, 1);
    place_move(&place, source, sizeof(source) - 1, 7);
    assert_int_equal(place.line, 2);
    place_move(&place, source, sizeof(source) - 1, 1);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.column, 2);
    source_position("ab", 2, 99, &line, &column);
    assert_int_equal(column, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(they_are_made_in_the_order_of_the_text, begin, end),
        cmocka_unit_test_setup_teardown(of_two_at_one_place_the_first_comes_first, begin, end),
        cmocka_unit_test_setup_teardown(head_and_tail_go_around, begin, end),
        cmocka_unit_test_setup_teardown(blanking_keeps_line_breaks_and_columns, begin, end),
        cmocka_unit_test_setup_teardown(insertions_are_counted_in_utf16_units, begin, end),
        cmocka_unit_test_setup_teardown(overlapping_changes_are_an_error, begin, end),
        cmocka_unit_test_setup_teardown(a_change_behind_the_end_is_an_error, begin, end),
        cmocka_unit_test_setup_teardown(too_many_changes_are_an_error, begin, end),
        cmocka_unit_test(positions_are_counted_as_the_engine_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
