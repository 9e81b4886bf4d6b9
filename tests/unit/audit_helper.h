/* audit_helper.h - what the tests of the audit share: a directory, a writer, records, a verdict. */
#ifndef VIAL_TESTS_AUDIT_HELPER_H
#define VIAL_TESTS_AUDIT_HELPER_H

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/audit.h"

static char directory[64];
static struct vial_error err;

static inline const char *path_of(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static inline int make_directory(void **state)
{
    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-audit-XXXXXX");
    return mkdtemp(directory) != NULL ? 0 : -1;
}

static inline int remove_directory(void **state)
{
    static const char *const names[] = {
        "audit.db", "audit.db-wal", "audit.db-shm", "audit.head", "in-use"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)unlink(path_of(names[i]));
    }
    return rmdir(directory);
}

static inline struct audit *open_with(const struct audit_options *options)
{
    struct audit_options o = *options;
    struct audit *audit = NULL;

    o.directory = directory;
    if (audit_open(&o, &audit, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return audit;
}

static inline struct audit *open_audit(void)
{
    const struct audit_options options = {.required = 0};

    return open_with(&options);
}

static inline void close_audit(struct audit *audit)
{
    uint64_t lost = 77;

    audit_free(audit, &lost);
    assert_int_equal(lost, 0);
}

static inline void add(struct audit *audit, const struct audit_record *record)
{
    if (audit_add(audit, record, NULL, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* Adds runs of one key: number 1, 2, ... is what they did. */
static inline void add_runs(struct audit *audit, unsigned count)
{
    char what[32], code[32];
    unsigned i;

    for (i = 1; i <= count; i++) {
        struct audit_record record = {.kind = AUDIT_RUN,
            .key = "k1",
            .agent = "tester",
            .environment = "crm@3",
            .status = i % 5 == 0 ? "exception" : "ok",
            .what = what,
            .code = code,
            .keep_code = 1,
            .usage = "{\"cpu_ms\":3}",
            .usage_len = 12};

        (void)snprintf(what, sizeof(what), "number %u", i);
        record.code_len = (size_t)snprintf(code, sizeof(code), "return %u", i % 7);
        add(audit, &record);
    }
}

/* Waits until all that was added is on the disk. */
static inline void wait_written(struct audit *audit)
{
    struct audit_stats stats;
    unsigned i;

    for (i = 0; i < 1000; i++) {
        audit_stats(audit, &stats);
        if (stats.queued == 0) {
            return;
        }
        (void)usleep(10000);
    }
    fail_msg("nothing was written for ten seconds: %s", stats.problem);
}

static inline struct audit_reader *open_reader(void)
{
    struct audit_reader *reader = NULL;

    if (audit_reader_open(directory, &reader, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return reader;
}

static inline struct audit_verdict verify_with(const struct audit_head *kept)
{
    struct audit_reader *reader = open_reader();
    struct audit_verdict verdict;

    if (audit_verify(reader, kept, &verdict, &err) < 0) {
        fail_msg("%s", err.text);
    }
    audit_reader_free(reader);
    return verdict;
}

static inline void expect_fine(uint64_t count)
{
    struct audit_verdict verdict = verify_with(NULL);

    if (verdict.fault != AUDIT_FINE) {
        fail_msg("%s", verdict.text);
    }
    assert_int_equal(verdict.count, count);
}

static inline void expect_fault(enum audit_fault fault, uint64_t seq)
{
    struct audit_verdict verdict = verify_with(NULL);

    if (verdict.fault != fault || verdict.seq != seq) {
        fail_msg("fault %d at %llu: %s", (int)verdict.fault, (unsigned long long)verdict.seq,
            verdict.text);
    }
}

static inline void change_file(const char *sql)
{
    sqlite3 *db = NULL;
    char *problem = NULL;

    assert_int_equal(sqlite3_open(path_of("audit.db"), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &problem) != SQLITE_OK) {
        fail_msg("%s", problem);
    }
    (void)sqlite3_close(db);
}

static inline int64_t ask(const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    int64_t answer;

    assert_int_equal(sqlite3_open(path_of("audit.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    answer = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    return answer;
}

#endif
