/* test_state_alloc.c - fails the n-th allocation of the stores of keys, runs and the audit, of
 * redaction and of metrics, for every n, until everything goes well again.
 *
 * As in test_secret_alloc.c. The thread of the audit is left out: it does what audit_append does
 * here, and tries again. */
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

#include "base/metrics.h"
#include "policy/audit_rules.h"
#include "store/audit_inside.h"
#include "store/key.h"
#include "store/run_store.h"

enum { SWEEP_MAX = 3000 };

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int left = -1; /* allocations that still succeed; below 0 all do */
static int refused, refused_sqlite;
static sqlite3_mem_methods sqlite_memory;
static char directory[64];
static struct key_store *keys;
static struct run_store *runs;
static sqlite3 *audit_db;
static int audit_lock_fd, audit_head_fd;
static char token[KEY_TOKEN_BYTES + 1];

static int refuse(void)
{
    if (left < 0 || left-- != 0) {
        return 0;
    }
    refused = 1;
    return 1;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return refuse() ? NULL : __real_realloc(old, size);
}

static void *sqlite_malloc(int size)
{
    if (refuse()) {
        refused_sqlite = 1;
        return NULL;
    }
    return sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *old, int size)
{
    if (refuse()) {
        refused_sqlite = 1;
        return NULL;
    }
    return sqlite_memory.xRealloc(old, size);
}

/* Does the step once without trouble and then with each of its allocations failing. */
static void sweep(int (*step)(struct vial_error *err))
{
    struct vial_error err = {.code = 0};
    int n, r;

    if (step(&err) < 0) {
        fail_msg("%s", err.text);
    }
    for (n = 0; n < SWEEP_MAX; n++) {
        err = (struct vial_error){.code = 0};
        refused = refused_sqlite = 0;
        left = n;
        r = step(&err);
        left = -1;
        if (!refused) {
            assert_true(r >= 0);
            break;
        }
        if (r != VIAL_E_NOMEM && !(refused_sqlite && r >= 0)) {
            fail_msg("allocation %d: %d, %s", n, r, err.text);
        }
    }
    assert_true(n > 0 && n < SWEEP_MAX);
}

/* ---- keys ---- */

static int key_open_step(struct vial_error *err)
{
    struct key_store *other = NULL;
    int r = key_store_open(directory, &other, err);

    key_store_free(other);
    return r;
}

static int key_create_step(struct vial_error *err)
{
    const struct key_options options = {.scopes = 1, .quota = QUOTA_DEFAULT};
    struct key_info info;

    return key_create(keys, &options, &info, token, err);
}

/* Without memory it says so, and never lets in. */
static int key_find_step(struct vial_error *err)
{
    struct key_info info = {.scopes = 0};
    int r = key_find(keys, token, KEY_TOKEN_BYTES, &info, err);

    assert_int_equal(r == VIAL_OK, info.scopes != 0);
    return r;
}

static int key_list_step(struct vial_error *err)
{
    struct key_info *list = NULL;
    size_t count = 0;
    int r = key_list(keys, &list, &count, err);

    free(list);
    return r;
}

static int key_flush_step(struct vial_error *err)
{
    return key_flush(keys, err);
}

/* ---- runs ---- */

static int run_open_step(struct vial_error *err)
{
    struct run_store *other = NULL;
    int r = run_store_open(directory, &other, err);

    run_store_free(other);
    return r;
}

static struct stored_run make_run(void)
{
    static char result[] = "{}";
    struct stored_run run = {.id = "run_01ARYZ6S410000000000000000",
        .key = "k",
        .status = "ok",
        .created_us = 1,
        .ended_us = 2,
        .cpu_us = 3,
        .result = result,
        .result_len = 2};

    return run;
}

static int run_save_step(struct vial_error *err)
{
    struct stored_run run = make_run();

    return run_store_save(runs, &run, 1, err);
}

static int run_get_step(struct vial_error *err)
{
    struct stored_run found = {.created_us = 0};
    int r = run_store_get(runs, "run_01ARYZ6S410000000000000000", &found, err);

    stored_run_release(&found);
    return r;
}

static int run_list_step(struct vial_error *err)
{
    const struct run_filter filter = {.environment = "crm"};
    char cursor[ID_BYTES_MAX + 1];
    struct stored_run *list = NULL;
    size_t count = 0;
    int r = run_store_list(runs, &filter, NULL, 10, &list, &count, cursor, err);

    free(list);
    return r;
}

static int run_retain_step(struct vial_error *err)
{
    uint64_t removed = 0;

    return run_store_retain(runs, 5, 0, 5, &removed, err);
}

static int idempotency_step(struct vial_error *err)
{
    struct idempotency_answer answer = {.http_status = 0};
    enum idempotency_state state;
    int r = idempotency_begin(runs, "k", "n", 1, "x", 1, 5, &state, &answer, err);

    idempotency_answer_release(&answer);
    return r;
}

/* ---- the audit ---- */

static int audit_append_step(struct vial_error *err)
{
    const struct audit_record record = {.kind = AUDIT_RUN,
        .key = "k",
        .code = "1",
        .code_len = 1,
        .keep_code = 1,
        .input = "{}",
        .input_len = 2};
    struct audit_item *item = NULL;
    struct audit_head head;
    int r = audit_item_new(&record, &item, err);

    r = r < 0 ? r : audit_append(audit_db, item, &head, err);
    r = r < 0 ? r : audit_head_put(audit_head_fd, &head, err);
    audit_item_free(item);
    return r;
}

static int audit_remove_step(struct vial_error *err)
{
    struct audit_head head;
    uint64_t removed = 0;
    int r = audit_remove(audit_db, 0, 20, &removed, &head, err);

    return r < 0 || removed == 0 ? r : audit_head_put(audit_head_fd, &head, err);
}

static int ignore_entry(const struct audit_entry *entry, void *user)
{
    (void)user;
    return entry->record != NULL ? 0 : VIAL_E_SYS;
}

static int audit_read_step(struct vial_error *err)
{
    const struct audit_filter filter = {.environment = "crm", .key = "k"}, all = {.key = NULL};
    char cursor[AUDIT_CURSOR_BYTES_MAX];
    struct audit_reader *reader = NULL;
    int r = audit_reader_open(directory, &reader, err);

    r = r < 0 ? r : audit_list(reader, &filter, NULL, 5, 1, ignore_entry, NULL, cursor, err);
    r = r < 0 ? r : audit_export(reader, &all, 1, ignore_entry, NULL, err);
    audit_reader_free(reader);
    return r;
}

/* No memory is no verdict. */
static int audit_verify_step(struct vial_error *err)
{
    struct audit_reader *reader = NULL;
    struct audit_verdict verdict = {.fault = AUDIT_FINE};
    int r = audit_reader_open(directory, &reader, err);

    r = r < 0 ? r : audit_verify(reader, NULL, &verdict, err);
    if (verdict.fault != AUDIT_FINE) {
        fail_msg("%s", verdict.text);
    }
    audit_reader_free(reader);
    return r;
}

static int redact_step(struct vial_error *err)
{
    static const char json[] = "{\"password\":\"hunter2\",\"a\":[1,2,3]}";
    char pattern[] = "password", *patterns[] = {pattern};
    const struct audit_rules rules = {.redact = patterns, .redact_count = 1};
    struct buf out;
    int r;

    buf_init(&out, 1000);
    r = audit_redact(&rules, json, sizeof(json) - 1, &out, err);
    assert_true(out.len == 0 || strstr(out.data, "hunter2") == NULL);
    buf_release(&out);
    return r;
}

/* ---- metrics ---- */

/* A series for which there is no memory is counted with all others. */
static int metrics_step(struct vial_error *err)
{
    static const struct metric_info info = {
        .name = "x_total", .help = "X.", .kind = METRIC_COUNTER, .labels = {"a"}};
    static const char *const values[] = {"v"};
    struct metrics *m = NULL;
    struct metric *metric = NULL;
    struct buf out;
    int before, r = metrics_new(&m, err);

    buf_init(&out, 10000);
    r = r < 0 ? r : metrics_add(m, &info, &metric, err);
    if (r == VIAL_OK) {
        before = refused;
        series_add(metric_series(metric, values), 1);
        r = metrics_write(m, &out, err);
        if (refused && !before && r == VIAL_OK) {
            assert_non_null(strstr(out.data, "x_total{a=\"other\"} 1\n"));
            r = VIAL_E_NOMEM; /* what the sweep wants to hear */
        }
    }
    buf_release(&out);
    metrics_free(m);
    return r;
}

/* ---- */

static int make_stores(void **state)
{
    struct vial_error err;

    (void)state;
    (void)snprintf(directory, sizeof(directory), "/tmp/vial-state-XXXXXX");
    if (mkdtemp(directory) == NULL || key_store_open(directory, &keys, &err) < 0 ||
        run_store_open(directory, &runs, &err) < 0 ||
        audit_database_open(directory, &audit_db, &audit_lock_fd, &err) < 0 ||
        audit_head_open(directory, &audit_head_fd, &err) < 0) {
        return -1;
    }
    return 0;
}

static int remove_stores(void **state)
{
    static const char *const names[] = {"store.db", "store.db-wal", "store.db-shm", "runs.db",
        "runs.db-wal", "runs.db-shm", "audit.db", "audit.db-wal", "audit.db-shm", "audit.head",
        "in-use"};
    char path[128];
    size_t i;

    (void)state;
    key_store_free(keys);
    run_store_free(runs);
    (void)sqlite3_close(audit_db);
    (void)close(audit_lock_fd);
    (void)close(audit_head_fd);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    return rmdir(directory);
}

static void keys_without_memory(void **state)
{
    (void)state;
    sweep(key_open_step);
    sweep(key_create_step);
    sweep(key_find_step);
    sweep(key_list_step);
    assert_int_equal(key_flush_step(NULL), 0);
}

static void runs_without_memory(void **state)
{
    (void)state;
    sweep(run_open_step);
    sweep(run_save_step);
    sweep(run_get_step);
    sweep(run_list_step);
    sweep(run_retain_step);
    sweep(idempotency_step);
}

static void the_audit_without_memory(void **state)
{
    (void)state;
    sweep(audit_append_step);
    sweep(audit_remove_step);
    sweep(audit_read_step);
    sweep(audit_verify_step);
    sweep(redact_step);
}

static void metrics_without_memory(void **state)
{
    (void)state;
    sweep(metrics_step);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_stores, remove_stores)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_without_memory),
        TEST(runs_without_memory),
        TEST(the_audit_without_memory),
        cmocka_unit_test(metrics_without_memory),
    };
    sqlite3_mem_methods ours;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory) != SQLITE_OK) {
        return 1;
    }
    ours = sqlite_memory;
    ours.xMalloc = sqlite_malloc;
    ours.xRealloc = sqlite_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) != SQLITE_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
