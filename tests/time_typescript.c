/* time_typescript.c - how long typescript_erase takes: time-typescript FILE...
 *
 * For each file the median of many times, the first of all (with cold caches), and the median for a
 * KiB. A measurement, not a test: docs/typescript.md has its numbers. */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "code/typescript.h"

enum { TIMES = 2001, SOURCE_BYTES_MAX = 4 << 20, BATCH = 20 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static int erase_once(const char *source, size_t len)
{
    struct vial_error err;
    struct buf out, edits;
    uint32_t line = 0;
    int has_types = 0;
    int r;

    buf_init(&out, 16 * len + 65536);
    buf_init(&edits, 16 * len + 65536);
    r = typescript_erase(source, len, &out, &edits, &has_types, &line, &err);
    if (r < 0) {
        (void)fprintf(stderr, "%s\n", err.text);
    }
    buf_release(&out);
    buf_release(&edits);
    return r;
}

/* Times a batch, since the clock counts whole microseconds. */
static double time_batch(const char *source, size_t len, int count)
{
    uint64_t start = clock_now_us();

    for (int i = 0; i < count; i++) {
        if (erase_once(source, len) < 0) {
            exit(1);
        }
    }
    return (double)(clock_now_us() - start) / count;
}

static int measure(const char *path)
{
    static char source[SOURCE_BYTES_MAX];
    static double times[TIMES / BATCH];
    FILE *file = fopen(path, "re");
    size_t len;
    double first, median;

    if (file == NULL) {
        perror(path);
        return 1;
    }
    len = fread(source, 1, sizeof(source), file);
    (void)fclose(file);
    first = time_batch(source, len, 1);
    for (size_t i = 0; i < TIMES / BATCH; i++) {
        times[i] = time_batch(source, len, BATCH);
    }
    qsort(times, TIMES / BATCH, sizeof(times[0]), compare);
    median = times[TIMES / BATCH / 2];
    (void)printf("%s: %zu bytes, first %.0f us, median %.1f us, %.1f us for a KiB\n", path, len,
        first, median, len > 0 ? median * 1024 / (double)len : 0);
    return 0;
}

int main(int argc, char **argv)
{
    int code = 0;

    for (int i = 1; i < argc; i++) {
        code |= measure(argv[i]);
    }
    return code;
}
