/* metrics.h - numbers about a server for Prometheus: counters, gauges and histograms with labels.
 *
 *     m = metrics_new -> metrics_add(m, &RUNS) -> metric_series(runs, values) -> series_add ...
 *                     -> metrics_write(m, &out) -> metrics_free
 *
 * Values are whole numbers in a raw unit, and a metric says how many of them make one of the base
 * unit: microseconds are written as seconds. Adding is one atomic instruction, from any thread;
 * finding a series by its labels takes a lock and a look at a table, so whoever counts often keeps
 * the series. Series live as long as the metrics.
 *
 * Label values may be anything; they are escaped. Their number is bounded: when a metric has
 * series_max of them, all further ones are counted together as the series whose values are all
 * "other", so no client can fill the memory by inventing names. */
#ifndef VIAL_BASE_METRICS_H
#define VIAL_BASE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    METRICS_MAX = 64, /* metrics of one server; there are about 30 */
    METRIC_LABELS_MAX = 4,
    METRIC_LABEL_BYTES_MAX = 64, /* of a value; longer ones are cut */
    METRIC_SERIES_MAX = 512,     /* the largest series_max */
    METRIC_BUCKETS_MAX = 20,
    METRICS_TEXT_BYTES_MAX = 8 << 20, /* of metrics_write; what all of the above can need */
};

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* What a metric is: a constant of the caller's that outlives the metrics. */
struct metric_info {
    const char *name; /* "vial_runs_total": letters, digits and _ */
    const char *help; /* one sentence */
    enum metric_kind kind;
    const char *labels[METRIC_LABELS_MAX]; /* their names; NULL ends them early */
    uint32_t per_unit;   /* raw values in one base unit, a power of ten up to 1000000; 0 is 1 */
    uint32_t series_max; /* 0 is 64 */
    uint32_t buckets_count;
    uint64_t buckets[METRIC_BUCKETS_MAX]; /* upper bounds in raw units, growing; +Inf is implied */
};

struct metrics;
struct metric;
struct series;

/* Buckets for times in microseconds, from 100 microseconds to 60 seconds. */
#define METRIC_BUCKETS_US                                                                          \
    .per_unit = 1000000, .buckets_count = 16,                                                      \
    .buckets = {100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000,      \
        1000000, 5000000, 15000000, 60000000}

VIAL_NODISCARD int metrics_new(struct metrics **ret, struct vial_error *err);
void metrics_free(struct metrics *m);

/* Makes one. A metric without labels has its series at once, with the value 0. Asserts that info is
 * well-formed and the name is new: these are in our source. */
VIAL_NODISCARD int metrics_add(
    struct metrics *m, const struct metric_info *info, struct metric **ret, struct vial_error *err);

/* The series with these values of the labels, as many as the metric has; made when it is missing.
 * Never NULL: when there are too many, or no memory, it is the one that counts all others. */
struct series *metric_series(struct metric *metric, const char *const *values);

/* The one series of a metric without labels. */
struct series *metric_only(struct metric *metric);

/* Of counters and gauges; a gauge may be lowered. */
void series_add(struct series *series, int64_t raw);
/* Of gauges. */
void series_set(struct series *series, int64_t raw);
/* Of histograms. */
void series_observe(struct series *series, uint64_t raw);
/* What a counter or gauge has now; of a histogram how many were observed. For tests and logs. */
int64_t series_value(const struct series *series);

/* Adds everything in the text format 0.0.4, metrics in the order they were made in, series in the
 * order of their first use. */
VIAL_NODISCARD int metrics_write(struct metrics *m, struct buf *out, struct vial_error *err);

/* Adds what is known of this process (process_cpu_seconds_total, process_resident_memory_bytes,
 * process_virtual_memory_bytes, process_open_fds, process_max_fds, process_threads,
 * process_start_time_seconds) from /proc; what cannot be read is left out. */
VIAL_NODISCARD int metrics_write_process(struct buf *out, struct vial_error *err);

#endif
