/* test_stubs_search.c - which tools are found for which words. */
#include "schema/stubs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct stub_tool tools[] = {
    {.name = "crm.findCustomer",
        .description = "Looks a customer up by name or number.",
        .input = "{\"properties\":{\"taxNumber\":{\"type\":\"string\"}}}"},
    {.name = "crm.delete_customer", .description = "Removes a customer for good."},
    {.name = "mail.send",
        .description = "Sends an email message.",
        .input = "{\"properties\":{\"to\":{},\"attachments\":{\"items\":{\"properties\":{"
                 "\"filename\":{}}}}}}"},
    {.name = "weather.forecast", .description = "The weather of the next days in a city."},
    {.name = "broken", .description = NULL, .input = "{"}};

enum { TOOLS = sizeof(tools) / sizeof(tools[0]) };

/* The name of the best, or "". */
static const char *best(const char *query)
{
    size_t indices[TOOLS], count = 99;

    assert_int_equal(stubs_search(tools, TOOLS, query, TOOLS, indices, &count), 0);
    return count == 0 ? "" : tools[indices[0]].name;
}

static void words_beginnings_and_typing_errors_are_found(void **state)
{
    static const char *const rows[][2] = {{"find a customer", "crm.findCustomer"},
        {"FIND customers", "crm.findCustomer"}, {"delete customer", "crm.delete_customer"},
        {"remove", "crm.delete_customer"}, {"send mail", "mail.send"}, {"emial", "mail.send"},
        {"wether", "weather.forecast"}, {"forecast for a city", "weather.forecast"},
        {"crm.findCustomer", "crm.findCustomer"}, {"tax", "crm.findCustomer"},
        {"attachment", "mail.send"}, {"filename", "mail.send"}, {"broken", "broken"},
        {"the weather", "weather.forecast"}};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(best(rows[i][0]), rows[i][1]);
    }
}

static void what_has_nothing_to_do_with_it_is_not_found(void **state)
{
    (void)state;
    assert_string_equal(best(""), "");
    assert_string_equal(best("?!"), "");
    assert_string_equal(best("quantum chromodynamics"), "");
    assert_string_equal(best("xy"), "");
}

static void not_more_than_asked_for_and_best_first(void **state)
{
    size_t indices[TOOLS], count = 0;

    (void)state;
    assert_int_equal(stubs_search(tools, TOOLS, "delete the customer", TOOLS, indices, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(indices[0], 1);
    assert_int_equal(indices[1], 0);
    assert_int_equal(stubs_search(tools, TOOLS, "customer", 1, indices, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(stubs_search(tools, TOOLS, "customer", 0, indices, &count), 0);
    assert_int_equal(count, 0);
    assert_int_equal(stubs_search(tools, 0, "customer", 3, indices, &count), 0);
    assert_int_equal(count, 0);
}

static void endless_queries_are_cut(void **state)
{
    static char query[100000];

    (void)state;
    memset(query, 'a', sizeof(query) - 1);
    assert_string_equal(best(query), "");
    memset(query, ' ', sizeof(query) - 1);
    memcpy(query, "customer", 8);
    assert_string_equal(best(query), "crm.findCustomer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_beginnings_and_typing_errors_are_found),
        cmocka_unit_test(what_has_nothing_to_do_with_it_is_not_found),
        cmocka_unit_test(not_more_than_asked_for_and_best_first),
        cmocka_unit_test(endless_queries_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
