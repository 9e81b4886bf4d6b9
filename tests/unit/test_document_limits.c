/* test_document_limits.c - the limits of a document against the table of limits. */
#include "policy/document.h"

#include "documents.h"
#include "policy/limits.h"

static void what_is_given_holds_and_the_rest_is_ours(void **state)
{
    struct document *doc =
        documents_pass("{'name': 'a', 'limits': {'default': {'wall_ms_max': 2000},"
                       " 'max': {'wall_ms_max': 3000, 'cpu_ms_max': 100}}}");

    (void)state;
    assert_int_equal(doc->limits.wall_ms_max, 2000);
    assert_int_equal(doc->limits_max.wall_ms_max, 3000);
    /* Our own default of 5000 would be beyond the maximum, and nobody has asked for it. */
    assert_int_equal(doc->limits.cpu_ms_max, 100);
    assert_int_equal(doc->limits_max.cpu_ms_max, 100);
    assert_int_equal(doc->limits.memory_bytes_max, 128u << 20);
    assert_int_equal(doc->limits.size, sizeof(doc->limits));
    assert_int_equal(doc->limits_max.size, sizeof(doc->limits));
    document_free(doc);
}

static const char *limited(const char *side, const char *field, uint64_t value)
{
    static char text[256];

    (void)snprintf(text, sizeof(text), "{'name': 'a', 'limits': {'%s': {'%s': %llu}}}", side, field,
        (unsigned long long)value);
    return text;
}

static void every_limit_has_its_own_range_on_both_sides(void **state)
{
    static const char *const sides[] = {"default", "max"};
    size_t count = 0, i, side;
    const struct limit_row *rows = limits_table(&count);
    char path[128];

    (void)state;
    assert_true(count < 64); /* as document_limits.c expects */
    for (i = 0; i < 2 * count; i++) {
        const struct limit_row *row = &rows[i / 2];

        side = i % 2;
        (void)snprintf(path, sizeof(path), "/limits/%s/%s", sides[side], row->field);
        documents_accept(limited(sides[side], row->field, row->min));
        documents_accept(limited(sides[side], row->field, row->max));
        if (row->min > 0) {
            documents_refuse(limited(sides[side], row->field, row->min - 1), path, "number from");
        }
        documents_refuse(limited(sides[side], row->field, row->max + 1), path, "number from");
    }
}

static void a_default_beyond_the_maximum_is_refused(void **state)
{
    (void)state;
    documents_refuse("{'name': 'a', 'limits': {'default': {'timers_max': 11},"
                     " 'max': {'timers_max': 10}}}",
        "/limits/default/timers_max", "is 11, which is beyond the 10");
}

static void unknown_limits_are_refused(void **state)
{
    (void)state;
    documents_refuse(
        "{'name': 'a', 'limits': {'max': {'wall_ms': 5}}}", "/limits/max/wall_ms", "no such key");
    documents_refuse("{'name': 'a', 'limits': {'default': {'wal_ms_max': 5}}}",
        "/limits/default/wal_ms_max", "\\\"wall_ms_max\\\"");
    documents_refuse("{'name': 'a', 'limits': {'maximum': {}}}", "/limits/maximum", "no such key");
    documents_refuse("{'name': 'a', 'limits': {'max': 5}}", "/limits/max", "must be an object");
    documents_refuse("{'name': 'a', 'limits': []}", "/limits", "must be an object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_holds_and_the_rest_is_ours),
        cmocka_unit_test(every_limit_has_its_own_range_on_both_sides),
        cmocka_unit_test(a_default_beyond_the_maximum_is_refused),
        cmocka_unit_test(unknown_limits_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
