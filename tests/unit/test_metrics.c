/* test_metrics.c - the text that Prometheus reads: exact numbers, escaping, bounds, threads. */
#include "base/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vial_error err;
static struct metrics *m;

static int make(void **state)
{
    (void)state;
    return metrics_new(&m, &err);
}

static int unmake(void **state)
{
    (void)state;
    metrics_free(m);
    return 0;
}

static struct metric *add(const struct metric_info *info)
{
    struct metric *metric = NULL;

    assert_int_equal(metrics_add(m, info, &metric, &err), 0);
    return metric;
}

static void expect(const char *text)
{
    struct buf out;

    buf_init(&out, METRICS_TEXT_BYTES_MAX);
    assert_int_equal(metrics_write(m, &out, &err), 0);
    assert_string_equal(out.data, text);
    buf_release(&out);
}

static void counters_and_gauges_are_written(void **state)
{
    static const struct metric_info runs = {.name = "vial_runs_total",
        .help = "Runs that have ended.",
        .kind = METRIC_COUNTER,
        .labels = {"language", "status"}};
    static const struct metric_info cpu = {.name = "vial_run_cpu_seconds_total",
        .help = "CPU time.",
        .kind = METRIC_COUNTER,
        .per_unit = 1000000};
    static const struct metric_info workers = {
        .name = "vial_workers", .help = "Workers.", .kind = METRIC_GAUGE, .labels = {"state"}};
    static const char *const js_ok[] = {"javascript", "ok"}, *const py_ok[] = {"python", "ok"};
    static const char *const warm[] = {"warm"};
    struct metric *r = add(&runs), *c = add(&cpu), *w = add(&workers);

    (void)state;
    series_add(metric_series(r, js_ok), 1);
    series_add(metric_series(r, py_ok), 41);
    series_add(metric_series(r, js_ok), 2);
    assert_ptr_equal(metric_series(r, js_ok), metric_series(r, js_ok));
    series_add(metric_only(c), 1500000);
    series_add(metric_only(c), 1);
    series_set(metric_series(w, warm), 5);
    series_add(metric_series(w, warm), -7);
    assert_int_equal(series_value(metric_series(w, warm)), -2);
    expect("# HELP vial_runs_total Runs that have ended.\n"
           "# TYPE vial_runs_total counter\n"
           "vial_runs_total{language=\"javascript\",status=\"ok\"} 3\n"
           "vial_runs_total{language=\"python\",status=\"ok\"} 41\n"
           "# HELP vial_run_cpu_seconds_total CPU time.\n"
           "# TYPE vial_run_cpu_seconds_total counter\n"
           "vial_run_cpu_seconds_total 1.500001\n"
           "# HELP vial_workers Workers.\n"
           "# TYPE vial_workers gauge\n"
           "vial_workers{state=\"warm\"} -2\n");
}

static void numbers_are_exact(void **state)
{
    static const struct metric_info info = {
        .name = "x_seconds", .help = "X.", .kind = METRIC_GAUGE, .per_unit = 1000000};
    static const struct {
        int64_t raw;
        const char *text;
    } cases[] = {{0, "0"}, {1, "0.000001"}, {10, "0.00001"}, {1000000, "1"}, {1200000, "1.2"},
        {-1, "-0.000001"}, {-1500000, "-1.5"}, {INT64_MAX, "9223372036854.775807"},
        {INT64_MIN, "-9223372036854.775808"}};
    struct metric *metric = add(&info);
    char text[128];
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        series_set(metric_only(metric), cases[i].raw);
        (void)snprintf(text, sizeof(text),
            "# HELP x_seconds X.\n# TYPE x_seconds gauge\nx_seconds %s\n", cases[i].text);
        expect(text);
    }
}

static void histograms_are_cumulative(void **state)
{
    static const struct metric_info info = {.name = "vial_run_duration_seconds",
        .help = "How long.",
        .kind = METRIC_HISTOGRAM,
        .labels = {"language"},
        .per_unit = 1000000,
        .buckets_count = 3,
        .buckets = {1000, 50000, 1000000}};
    static const char *const js[] = {"javascript"};
    struct series *series = metric_series(add(&info), js);

    (void)state;
    series_observe(series, 1000); /* a bound belongs to what is below it */
    series_observe(series, 1001);
    series_observe(series, 0);
    series_observe(series, 2000000);
    assert_int_equal(series_value(series), 4);
    expect("# HELP vial_run_duration_seconds How long.\n"
           "# TYPE vial_run_duration_seconds histogram\n"
           "vial_run_duration_seconds_bucket{language=\"javascript\",le=\"0.001\"} 2\n"
           "vial_run_duration_seconds_bucket{language=\"javascript\",le=\"0.05\"} 3\n"
           "vial_run_duration_seconds_bucket{language=\"javascript\",le=\"1\"} 3\n"
           "vial_run_duration_seconds_bucket{language=\"javascript\",le=\"+Inf\"} 4\n"
           "vial_run_duration_seconds_sum{language=\"javascript\"} 2.002001\n"
           "vial_run_duration_seconds_count{language=\"javascript\"} 4\n");
}

static void a_histogram_without_labels_is_there_at_once(void **state)
{
    static const struct metric_info info = {
        .name = "w_seconds", .help = "W.", .kind = METRIC_HISTOGRAM, METRIC_BUCKETS_US};
    struct metric *metric = add(&info);
    struct buf out;

    (void)state;
    series_observe(metric_only(metric), 30000000);
    buf_init(&out, METRICS_TEXT_BYTES_MAX);
    assert_int_equal(metrics_write(m, &out, &err), 0);
    assert_non_null(strstr(out.data, "\nw_seconds_bucket{le=\"0.0001\"} 0\n"));
    assert_non_null(strstr(out.data, "\nw_seconds_bucket{le=\"60\"} 1\n"));
    assert_non_null(strstr(out.data, "\nw_seconds_sum 30\nw_seconds_count 1\n"));
    buf_release(&out);
}

static void values_are_escaped_and_cut(void **state)
{
    static const struct metric_info info = {.name = "x_total",
        .help = "A \\ and a\nline \"quoted\".",
        .kind = METRIC_COUNTER,
        .labels = {"rule"}};
    struct metric *metric = add(&info);
    char longer[100], expected[400];
    const char *const hostile[] = {"a\"} 1\nb\\"}, *const bytes[] = {"\xff-\xc3\xa9-\xe2\x82"};
    const char *const cut[] = {longer};

    (void)state;
    series_add(metric_series(metric, hostile), 1);
    series_add(metric_series(metric, bytes), 2);
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    memcpy(longer + 63, "\xc3\xa9", 2); /* not cut in the middle of a character */
    series_add(metric_series(metric, cut), 3);
    (void)snprintf(expected, sizeof(expected),
        "# HELP x_total A \\\\ and a\\nline \"quoted\".\n# TYPE x_total counter\n"
        "x_total{rule=\"a\\\"} 1\\nb\\\\\"} 1\n"
        "x_total{rule=\"\xef\xbf\xbd-\xc3\xa9-\xef\xbf\xbd\"} 2\n"
        "x_total{rule=\"%.63s\"} 3\n",
        longer);
    expect(expected);
}

static void too_many_labels_are_counted_together(void **state)
{
    static const struct metric_info info = {.name = "x_total",
        .help = "X.",
        .kind = METRIC_COUNTER,
        .labels = {"a", "b"},
        .series_max = 2};
    struct metric *metric = add(&info);
    char text[16];
    const char *values[] = {text, "y"};
    const char *const other[] = {"other", "other"};
    int i;

    (void)state;
    series_add(metric_series(metric, other), 1); /* one that a client made up is the same */
    for (i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof(text), "v%d", i);
        series_add(metric_series(metric, values), 1);
    }
    expect("# HELP x_total X.\n# TYPE x_total counter\n"
           "x_total{a=\"v0\",b=\"y\"} 1\nx_total{a=\"v1\",b=\"y\"} 1\n"
           "x_total{a=\"other\",b=\"other\"} 999\n");
}

/* "a", "bc" is not "ab", "c", and neither is cut from the other. */
static void values_are_not_confused(void **state)
{
    static const struct metric_info info = {
        .name = "x_total", .help = "X.", .kind = METRIC_COUNTER, .labels = {"a", "b"}};
    static const char *const one[] = {"a", "bc"}, *const two[] = {"ab", "c"},
                             *const three[] = {"a", "b"};
    struct metric *metric = add(&info);

    (void)state;
    series_add(metric_series(metric, one), 1);
    series_add(metric_series(metric, two), 2);
    series_add(metric_series(metric, three), 4);
    assert_int_equal(series_value(metric_series(metric, one)), 1);
    assert_int_equal(series_value(metric_series(metric, two)), 2);
    assert_int_equal(series_value(metric_series(metric, three)), 4);
}

enum { THREADS = 4, ROUNDS = 20000 };
static struct metric *shared, *shared_histogram;

static void *count_much(void *user)
{
    char text[16];
    const char *values[] = {text};
    int i;

    (void)user;
    for (i = 0; i < ROUNDS; i++) {
        (void)snprintf(text, sizeof(text), "v%d", i % 50);
        series_add(metric_series(shared, values), 1);
        series_observe(metric_only(shared_histogram), (uint64_t)i);
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    static const struct metric_info info = {
        .name = "x_total", .help = "X.", .kind = METRIC_COUNTER, .labels = {"a"}};
    static const struct metric_info h = {
        .name = "h_seconds", .help = "H.", .kind = METRIC_HISTOGRAM, METRIC_BUCKETS_US};
    pthread_t threads[THREADS];
    char text[16];
    const char *values[] = {text};
    int64_t sum = 0;
    struct buf out;
    int i;

    (void)state;
    shared = add(&info);
    shared_histogram = add(&h);
    for (i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_much, NULL), 0);
    }
    buf_init(&out, METRICS_TEXT_BYTES_MAX);
    for (i = 0; i < 50; i++) { /* a reader beside them */
        buf_clear(&out);
        assert_int_equal(metrics_write(m, &out, &err), 0);
    }
    buf_release(&out);
    for (i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (i = 0; i < 50; i++) {
        (void)snprintf(text, sizeof(text), "v%d", i);
        sum += series_value(metric_series(shared, values));
    }
    assert_int_equal(sum, THREADS * ROUNDS);
    assert_int_equal(series_value(metric_only(shared_histogram)), THREADS * ROUNDS);
}

static void a_text_that_does_not_fit_changes_nothing(void **state)
{
    static const struct metric_info info = {
        .name = "x_total", .help = "X.", .kind = METRIC_COUNTER};
    struct buf out;

    (void)state;
    (void)add(&info);
    buf_init(&out, 20);
    assert_int_equal(buf_add_text(&out, "before", &err), 0);
    assert_true(metrics_write(m, &out, &err) < 0);
    assert_int_equal(out.len, 6);
    buf_release(&out);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(counters_and_gauges_are_written),
        TEST(numbers_are_exact),
        TEST(histograms_are_cumulative),
        TEST(a_histogram_without_labels_is_there_at_once),
        TEST(values_are_escaped_and_cut),
        TEST(too_many_labels_are_counted_together),
        TEST(values_are_not_confused),
        TEST(threads_lose_nothing),
        TEST(a_text_that_does_not_fit_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
