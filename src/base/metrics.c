/* metrics.c - see metrics.h.
 *
 * A metric's series are an array of pointers that only grows, with its room given at the beginning:
 * whoever writes them out reads the count with acquire order and needs no lock. The lock is for
 * making new ones, and for finding one by its labels, which compares hashes first. */
#include "base/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

enum { SERIES_MAX_DEFAULT = 64, LINE_BYTES_MAX = 128, PER_UNIT_MAX = 1000000 };

static const char *const OTHERS[METRIC_LABELS_MAX] = {"other", "other", "other", "other"};

struct series {
    const struct metric_info *info;
    uint64_t hash;
    _Atomic int64_t value; /* of a histogram the sum */
    _Atomic uint64_t
        buckets[METRIC_BUCKETS_MAX + 1]; /* each without those below it; last is +Inf */
    char values[METRIC_LABELS_MAX][METRIC_LABEL_BYTES_MAX + 1];
};

struct metric {
    const struct metric_info *info;
    unsigned labels_count;
    uint32_t series_max;
    pthread_mutex_t lock;
    _Atomic uint32_t series_count;
    struct series **series; /* room for series_max of them */
    struct series other;    /* counts all that do not fit; the only one when there are no labels */
    _Atomic int other_used;
};

struct metrics {
    struct metric *list[METRICS_MAX];
    size_t count;
};

/* ---- labels ---- */

struct labels {
    uint64_t hash;
    size_t lens[METRIC_LABELS_MAX];
};

/* Where a value is cut: at the beginning of a character, should it be too long. */
static size_t cut_len(const char *value)
{
    size_t len = strnlen(value, METRIC_LABEL_BYTES_MAX + 1);

    if (len > METRIC_LABEL_BYTES_MAX) {
        len = METRIC_LABEL_BYTES_MAX;
        while (len > 0 && ((unsigned char)value[len] & 0xc0) == 0x80) {
            len--;
        }
    }
    return len;
}

/* FNV-1a, with a byte between the values that is in none. Only speed depends on it. */
static struct labels measure(const struct metric *metric, const char *const *values)
{
    struct labels labels = {.hash = UINT64_C(14695981039346656037)};
    unsigned i;
    size_t j;

    for (i = 0; i < metric->labels_count; i++) {
        labels.lens[i] = cut_len(values[i]);
        for (j = 0; j <= labels.lens[i]; j++) {
            unsigned char c = j < labels.lens[i] ? (unsigned char)values[i][j] : 0;

            labels.hash = (labels.hash ^ c) * UINT64_C(1099511628211);
        }
    }
    return labels;
}

/* ---- making ---- */

int metrics_new(struct metrics **ret, struct vial_error *err)
{
    struct metrics *m = calloc(1, sizeof(*m));

    if (m == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for metrics");
    }
    *ret = m;
    return VIAL_OK;
}

static void metric_free(struct metric *metric)
{
    uint32_t i;

    for (i = 0; metric->series != NULL && i < metric->series_count; i++) {
        free(metric->series[i]);
    }
    free(metric->series);
    (void)pthread_mutex_destroy(&metric->lock);
    free(metric);
}

void metrics_free(struct metrics *m)
{
    size_t i;

    for (i = 0; m != NULL && i < m->count; i++) {
        metric_free(m->list[i]);
    }
    free(m);
}

static void check_info(const struct metrics *m, const struct metric_info *info)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    uint32_t per = info->per_unit, i;

    assert(m->count < METRICS_MAX);
    assert(info->name[0] != '\0' && info->name[strspn(info->name, letters)] == '\0');
    while (per >= 10 && per % 10 == 0) {
        per /= 10;
    }
    assert(per <= 1 && info->per_unit <= PER_UNIT_MAX);
    assert(info->series_max <= METRIC_SERIES_MAX && info->buckets_count <= METRIC_BUCKETS_MAX);
    assert((info->kind == METRIC_HISTOGRAM) == (info->buckets_count > 0));
    for (i = 1; i < info->buckets_count; i++) {
        assert(info->buckets[i] > info->buckets[i - 1]);
    }
    for (i = 0; i < m->count; i++) {
        assert(strcmp(m->list[i]->info->name, info->name) != 0);
    }
}

int metrics_add(
    struct metrics *m, const struct metric_info *info, struct metric **ret, struct vial_error *err)
{
    struct metric *metric;
    unsigned i;

    check_info(m, info);
    metric = calloc(1, sizeof(*metric));
    if (metric == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for metrics");
    }
    (void)pthread_mutex_init(&metric->lock, NULL);
    metric->info = info;
    metric->series_max = info->series_max != 0 ? info->series_max : SERIES_MAX_DEFAULT;
    while (metric->labels_count < METRIC_LABELS_MAX && info->labels[metric->labels_count] != NULL) {
        metric->labels_count++;
    }
    metric->series = calloc(metric->series_max, sizeof(struct series *));
    if (metric->series == NULL) {
        metric_free(metric);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for metrics");
    }
    metric->other.info = info;
    for (i = 0; i < metric->labels_count; i++) {
        (void)snprintf(metric->other.values[i], sizeof(metric->other.values[i]), "other");
    }
    metric->other.hash = measure(metric, OTHERS).hash;
    metric->other_used = metric->labels_count == 0;
    m->list[m->count++] = metric;
    *ret = metric;
    return VIAL_OK;
}

/* ---- finding ---- */

static int is_same(const struct metric *metric, const struct series *series,
    const struct labels *labels, const char *const *values)
{
    unsigned i;

    if (series->hash != labels->hash) {
        return 0;
    }
    for (i = 0; i < metric->labels_count; i++) {
        if (strncmp(series->values[i], values[i], labels->lens[i]) != 0 ||
            series->values[i][labels->lens[i]] != '\0') {
            return 0;
        }
    }
    return 1;
}

/* With the lock held. */
static struct series *find_or_make(
    struct metric *metric, const struct labels *labels, const char *const *values)
{
    uint32_t count = metric->series_count, i;
    struct series *series;

    for (i = 0; i < count; i++) {
        if (is_same(metric, metric->series[i], labels, values)) {
            return metric->series[i];
        }
    }
    series = count < metric->series_max && !is_same(metric, &metric->other, labels, values)
                 ? calloc(1, sizeof(*series))
                 : NULL;
    if (series == NULL) {
        metric->other_used = 1;
        return &metric->other;
    }
    series->info = metric->info;
    series->hash = labels->hash;
    for (i = 0; i < metric->labels_count; i++) {
        memcpy(series->values[i], values[i], labels->lens[i]);
    }
    metric->series[count] = series;
    atomic_store_explicit(&metric->series_count, count + 1, memory_order_release);
    return series;
}

struct series *metric_series(struct metric *metric, const char *const *values)
{
    struct labels labels;
    struct series *series;

    assert(metric->labels_count > 0);
    labels = measure(metric, values);
    (void)pthread_mutex_lock(&metric->lock);
    series = find_or_make(metric, &labels, values);
    (void)pthread_mutex_unlock(&metric->lock);
    return series;
}

struct series *metric_only(struct metric *metric)
{
    assert(metric->labels_count == 0);
    return &metric->other;
}

/* ---- counting ---- */

void series_add(struct series *series, int64_t raw)
{
    assert(
        series->info->kind == METRIC_GAUGE || (series->info->kind == METRIC_COUNTER && raw >= 0));
    (void)atomic_fetch_add_explicit(&series->value, raw, memory_order_relaxed);
}

void series_set(struct series *series, int64_t raw)
{
    assert(series->info->kind == METRIC_GAUGE);
    atomic_store_explicit(&series->value, raw, memory_order_relaxed);
}

void series_observe(struct series *series, uint64_t raw)
{
    const struct metric_info *info = series->info;
    uint32_t i = 0;

    assert(info->kind == METRIC_HISTOGRAM);
    while (i < info->buckets_count && raw > info->buckets[i]) {
        i++;
    }
    (void)atomic_fetch_add_explicit(&series->buckets[i], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(
        &series->value, raw < INT64_MAX ? (int64_t)raw : INT64_MAX, memory_order_relaxed);
}

int64_t series_value(const struct series *series)
{
    uint64_t count = 0;
    uint32_t i;

    if (series->info->kind != METRIC_HISTOGRAM) {
        return atomic_load_explicit(&series->value, memory_order_relaxed);
    }
    for (i = 0; i <= series->info->buckets_count; i++) {
        count += atomic_load_explicit(&series->buckets[i], memory_order_relaxed);
    }
    return (int64_t)count;
}

/* ---- writing ---- */

/* The text that is being made; the first failure stays. */
struct writer {
    struct buf *out;
    struct vial_error *err;
    int r;
};

static void put(struct writer *w, const char *text)
{
    w->r = w->r < 0 ? w->r : buf_add_text(w->out, text, w->err);
}

/* Escapes what the format wants escaped; quote is 0 in help texts. What is no UTF-8 becomes U+FFFD:
 * Prometheus would refuse the whole text for it. */
static void put_escaped(struct writer *w, const char *text, int quote)
{
    const char *p = text, *end = text + strlen(text);
    int n;

    for (; p < end && w->r >= 0; p += n < 0 ? -n : n) {
        n = utf8_sequence(p, (size_t)(end - p));
        if (n < 0) {
            put(w, "\xef\xbf\xbd");
        } else if (*p == '\n') {
            put(w, "\\n");
        } else if (*p == '\\') {
            put(w, "\\\\");
        } else if (*p == '"' && quote) {
            put(w, "\\\"");
        } else {
            w->r = buf_add(w->out, p, (size_t)n, w->err);
        }
    }
}

/* A raw value in base units, exactly: no floating point, no locale. */
static void put_value(struct writer *w, uint32_t per_unit, int64_t raw)
{
    char text[LINE_BYTES_MAX];
    uint64_t size = raw < 0 ? 0 - (uint64_t)raw : (uint64_t)raw;
    uint64_t per = per_unit != 0 ? per_unit : 1;
    size_t len;

    (void)snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64, raw < 0 ? "-" : "", size / per,
        size % per * (PER_UNIT_MAX / per));
    len = strlen(text);
    while (text[len - 1] == '0') {
        text[--len] = '\0';
    }
    if (text[len - 1] == '.') {
        text[--len] = '\0';
    }
    put(w, text);
}

/* {label="value",...,le="bound"}; le may be NULL. */
static void put_labels(
    struct writer *w, const struct metric *metric, const struct series *series, const char *le)
{
    unsigned i;

    if (metric->labels_count == 0 && le == NULL) {
        return;
    }
    put(w, "{");
    for (i = 0; i < metric->labels_count; i++) {
        put(w, i > 0 ? "," : "");
        put(w, metric->info->labels[i]);
        put(w, "=\"");
        put_escaped(w, series->values[i], 1);
        put(w, "\"");
    }
    if (le != NULL) {
        put(w, i > 0 ? ",le=\"" : "le=\"");
        put(w, le);
        put(w, "\"");
    }
    put(w, "}");
}

static void put_line(struct writer *w, const struct metric *metric, const struct series *series,
    const char *ending, uint32_t per_unit, int64_t raw)
{
    put(w, metric->info->name);
    put(w, ending);
    put_labels(w, metric, series, NULL);
    put(w, " ");
    put_value(w, per_unit, raw);
    put(w, "\n");
}

/* The count is the sum of the buckets that were read, so the text agrees with itself. */
static void put_histogram(
    struct writer *w, const struct metric *metric, const struct series *series)
{
    const struct metric_info *info = metric->info;
    char bound_bytes[LINE_BYTES_MAX];
    uint64_t count = 0;
    uint32_t i;

    for (i = 0; i <= info->buckets_count; i++) {
        struct buf bound;
        struct writer b = {&bound, w->err, VIAL_OK};

        count += atomic_load_explicit(&series->buckets[i], memory_order_relaxed);
        buf_init(&bound, sizeof(bound_bytes) - 1);
        if (i < info->buckets_count) {
            put_value(&b, info->per_unit, (int64_t)info->buckets[i]);
        } else {
            put(&b, "+Inf");
        }
        w->r = w->r < 0 ? w->r : b.r;
        (void)snprintf(bound_bytes, sizeof(bound_bytes), "%s", b.r < 0 ? "" : bound.data);
        buf_release(&bound);
        put(w, info->name);
        put(w, "_bucket");
        put_labels(w, metric, series, bound_bytes);
        put(w, " ");
        put_value(w, 1, (int64_t)count);
        put(w, "\n");
    }
    put_line(w, metric, series, "_sum", info->per_unit,
        atomic_load_explicit(&series->value, memory_order_relaxed));
    put_line(w, metric, series, "_count", 1, (int64_t)count);
}

static void put_series(struct writer *w, const struct metric *metric, const struct series *series)
{
    if (metric->info->kind == METRIC_HISTOGRAM) {
        put_histogram(w, metric, series);
    } else {
        put_line(w, metric, series, "", metric->info->per_unit, series_value(series));
    }
}

static void put_head(struct writer *w, const char *name, const char *help, const char *kind)
{
    put(w, "# HELP ");
    put(w, name);
    put(w, " ");
    put_escaped(w, help, 0);
    put(w, "\n# TYPE ");
    put(w, name);
    put(w, " ");
    put(w, kind);
    put(w, "\n");
}

int metrics_write(struct metrics *m, struct buf *out, struct vial_error *err)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    struct writer w = {out, err, VIAL_OK};
    size_t before = out->len, i;
    uint32_t count, j;

    for (i = 0; i < m->count && w.r >= 0; i++) {
        struct metric *metric = m->list[i];

        put_head(&w, metric->info->name, metric->info->help, kinds[metric->info->kind]);
        count = atomic_load_explicit(&metric->series_count, memory_order_acquire);
        for (j = 0; j < count && w.r >= 0; j++) {
            put_series(&w, metric, metric->series[j]);
        }
        if (atomic_load(&metric->other_used)) {
            put_series(&w, metric, &metric->other);
        }
    }
    if (w.r < 0) {
        out->len = before;
    }
    return w.r;
}
