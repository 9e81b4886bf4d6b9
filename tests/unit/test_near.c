/* test_near.c - which names are offered for a misspelt one, and which are not. */
#include "base/near.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const tools[] = {"crm.find", "crm.findCustomer", "crm.delete", "files.read",
    "files.write", "weather", "mail.send_all"};

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

/* The name that is offered first for a word, or "". */
static const char *first(const char *word)
{
    size_t index;

    return near_names(word, tools, TOOLS, &index, 1) == 1 ? tools[index] : "";
}

static void typing_errors_are_forgiven(void **state)
{
    static const char *const rows[][2] = {{"crm.fnid", "crm.find"},
        {"crm.findCustmer", "crm.findCustomer"}, {"file.read", "files.read"}, {"weathr", "weather"},
        {"wether", "weather"}, {"Weather", "weather"}, {"mail.sendAll", "mail.send_all"},
        {"files_write", "files.write"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(first(rows[i][0]), rows[i][1]);
    }
}

static void parts_that_are_missing_or_elsewhere_are_found(void **state)
{
    (void)state;
    assert_string_equal(first("find"), "crm.find");
    assert_string_equal(first("sales.delete"), "crm.delete");
    assert_string_equal(first("tools.files.reed"), "files.read");
    assert_string_equal(first("crm.xyzzy"), "crm.find");
}

static void what_has_nothing_in_common_is_not_offered(void **state)
{
    static const char *const rows[] = {"", "x", "zzzzzzzz", "we", "...", "banana"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(first(rows[i]), "");
    }
}

static void the_nearest_come_first_and_not_more_than_asked_for(void **state)
{
    size_t indices[TOOLS];
    size_t n;

    (void)state;
    n = near_names("crm.find", tools, TOOLS, indices, 2);
    assert_int_equal(n, 2);
    assert_int_equal(indices[0], 0);
    assert_int_equal(indices[1], 1);
    assert_int_equal(near_names("crm.find", tools, TOOLS, indices, 0), 0);
    assert_int_equal(near_names("crm.find", tools, 0, indices, 2), 0);
}

static void distances_count_swaps_once_and_ignore_case(void **state)
{
    (void)state;
    assert_int_equal(near_distance("abc", 3, "acb", 3, 5), 1);
    assert_int_equal(near_distance("ABC", 3, "abc", 3, 5), 0);
    assert_int_equal(near_distance("", 0, "abc", 3, 5), 3);
    assert_int_equal(near_distance("kitten", 6, "sitting", 7, 5), 3);
    assert_int_equal(near_distance("kitten", 6, "sitting", 7, 2), 3); /* max + 1 */
}

static void long_names_are_not_compared(void **state)
{
    char word[NEAR_BYTES_MAX + 2];
    const char *names[] = {word};
    size_t index;

    (void)state;
    memset(word, 'a', sizeof(word));
    word[NEAR_BYTES_MAX + 1] = '\0';
    assert_int_equal(near_names(word, names, 1, &index, 1), 0);
    word[NEAR_BYTES_MAX] = '\0';
    assert_int_equal(near_names(word, names, 1, &index, 1), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typing_errors_are_forgiven),
        cmocka_unit_test(parts_that_are_missing_or_elsewhere_are_found),
        cmocka_unit_test(what_has_nothing_in_common_is_not_offered),
        cmocka_unit_test(the_nearest_come_first_and_not_more_than_asked_for),
        cmocka_unit_test(distances_count_swaps_once_and_ignore_case),
        cmocka_unit_test(long_names_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
