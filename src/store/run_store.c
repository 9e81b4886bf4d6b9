/* run_store.c - see run_store.h. Runs are in the order of their ids, which is that of time. */
#include "store/run_store.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/database.h"
#include "store/run_store_inside.h"
#include "store/seal.h"

enum {
    REMOVE_MAX = 500, /* of a kind at a time, so that others do not wait long */
    CONDITIONS_MAX = 8,
    SQL_BYTES_MAX = 1024,
    RANGE_BYTES_MAX = RUN_NAME_BYTES_MAX + 2,
};

#define USAGE_KEPT_US (UINT64_C(2) * 86400 * 1000000)

static const char *const MIGRATIONS[] = {
    "CREATE TABLE run ("
    "  id TEXT PRIMARY KEY,"
    "  key TEXT NOT NULL, agent TEXT NOT NULL, environment TEXT NOT NULL, session TEXT NOT NULL,"
    "  status TEXT NOT NULL,"
    "  created_us INTEGER NOT NULL, started_us INTEGER NOT NULL, ended_us INTEGER NOT NULL,"
    "  cpu_us INTEGER NOT NULL, request BLOB, result BLOB);"
    "CREATE INDEX run_key ON run (key, id);"
    "CREATE INDEX run_environment ON run (environment, id);"
    "CREATE INDEX run_status ON run (status, id);"
    "CREATE INDEX run_session ON run (session, id) WHERE session != '';"
    "CREATE INDEX run_unended ON run (id) WHERE ended_us = 0;"
    "CREATE TABLE usage (key TEXT NOT NULL, slot INTEGER NOT NULL, cpu_us INTEGER NOT NULL,"
    "  PRIMARY KEY (key, slot)) WITHOUT ROWID;"
    "CREATE INDEX usage_slot ON usage (slot);"
    /* state: 0 running, 1 done, 2 interrupted */
    "CREATE TABLE request (key TEXT NOT NULL, name BLOB NOT NULL, hash BLOB NOT NULL,"
    "  state INTEGER NOT NULL, created_us INTEGER NOT NULL, run TEXT NOT NULL,"
    "  http_status INTEGER NOT NULL, content_type TEXT NOT NULL, body BLOB,"
    "  UNIQUE (key, name));"
    "CREATE INDEX request_created ON request (created_us);",
    /* bytes NULL: there is none, and fault says why. In a table of its own, so that those who go
     * through runs do not go through recordings. */
    "CREATE TABLE recording (run TEXT PRIMARY KEY, len INTEGER NOT NULL, fault TEXT NOT NULL,"
    "  bytes BLOB);"
    "CREATE INDEX recording_kept ON recording (run, len) WHERE len > 0;"
    "CREATE TRIGGER recording_goes AFTER DELETE ON run BEGIN"
    "  DELETE FROM recording WHERE run = old.id;"
    " END;",
};

static const struct database_kind RUNS = {.file = "runs.db",
    .application = 0x76616c72, /* "valr" */
    .migrations = MIGRATIONS,
    .migrations_count = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0]),
    .may_lose_last = 1};

/* ---- opening ---- */

void run_store_free(struct run_store *store)
{
    if (store != NULL) {
        (void)sqlite3_close(store->db);
        fd_closep(&store->lock_fd);
        (void)pthread_mutex_destroy(&store->lock);
        free(store);
    }
}

int run_store_open(const char *directory, struct run_store **ret, struct vial_error *err)
{
    struct run_store *store;
    int r = seal_start(err);

    if (r < 0) {
        return r;
    }
    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store of runs");
    }
    store->lock_fd = -1;
    store->recordings_bytes_max = UINT64_MAX;
    (void)pthread_mutex_init(&store->lock, NULL);
    r = database_open_in(directory, &RUNS, &store->db, &store->lock_fd, err);
    if (r < 0) {
        run_store_free(store);
        return r;
    }
    *ret = store;
    return VIAL_OK;
}

int run_store_open_there(const char *directory, struct run_store **ret, struct vial_error *err)
{
    char path[DATABASE_PATH_BYTES_MAX];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/%s", directory, RUNS.file);
    if (stat(path, &st) < 0 && errno == ENOENT) {
        (void)vial__fail(err, VIAL_E_INVALID, "no server has kept runs in %s", directory);
        if (err != NULL) {
            err->sys = ENOENT;
        }
        return VIAL_E_INVALID;
    }
    return run_store_open(directory, ret, err);
}

/* Begins a change by this thread alone. */
static int enter(struct run_store *store, struct vial_error *err)
{
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = database_begin(store->db, err);
    if (r < 0) {
        (void)pthread_mutex_unlock(&store->lock);
    }
    return r;
}

static int leave(struct run_store *store, int r, struct vial_error *err)
{
    r = database_end(store->db, r, err);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

/* ---- columns ---- */

void run_store_copy_text(sqlite3_stmt *s, int column, char *ret, size_t size)
{
    const unsigned char *text = sqlite3_column_text(s, column);

    (void)snprintf(ret, size, "%s", text != NULL ? (const char *)text : "");
}

int run_store_copy_bytes(
    sqlite3_stmt *s, int column, char **ret, size_t *ret_len, struct vial_error *err)
{
    size_t len = (size_t)sqlite3_column_bytes(s, column);
    const void *bytes = sqlite3_column_blob(s, column);
    char *copy;

    if (sqlite3_column_type(s, column) == SQLITE_NULL) {
        *ret = NULL;
        *ret_len = 0;
        return VIAL_OK;
    }
    copy = malloc(len + 1);
    if (copy == NULL || (bytes == NULL && len > 0)) {
        free(copy);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for %zu bytes of a run", len);
    }
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    copy[len] = '\0';
    *ret = copy;
    *ret_len = len;
    return VIAL_OK;
}

void stored_run_release(struct stored_run *run)
{
    free(run->request);
    free(run->result);
    run->request = run->result = NULL;
    run->request_len = run->result_len = 0;
}

#define RUN_COLUMNS                                                                                \
    "SELECT id, key, agent, environment, session, status, created_us, started_us, ended_us, "      \
    "cpu_us"

static void read_run(sqlite3_stmt *s, struct stored_run *ret)
{
    *ret = (struct stored_run){.created_us = (uint64_t)sqlite3_column_int64(s, 6),
        .started_us = (uint64_t)sqlite3_column_int64(s, 7),
        .ended_us = (uint64_t)sqlite3_column_int64(s, 8),
        .cpu_us = (uint64_t)sqlite3_column_int64(s, 9)};
    run_store_copy_text(s, 0, ret->id, sizeof(ret->id));
    run_store_copy_text(s, 1, ret->key, sizeof(ret->key));
    run_store_copy_text(s, 2, ret->agent, sizeof(ret->agent));
    run_store_copy_text(s, 3, ret->environment, sizeof(ret->environment));
    run_store_copy_text(s, 4, ret->session, sizeof(ret->session));
    run_store_copy_text(s, 5, ret->status, sizeof(ret->status));
}

int run_store_fail(struct vial_error *err, int sys, const char *text)
{
    (void)vial__fail(err, VIAL_E_INVALID, "%s", text);
    if (err != NULL) {
        err->sys = sys;
    }
    return VIAL_E_INVALID;
}

static int fail_missing(struct vial_error *err)
{
    return run_store_fail(err, ENOENT, "there is no such run");
}

/* ---- saving ---- */

static int bind_bytes(sqlite3_stmt *s, int at, const char *bytes, size_t len)
{
    return bytes == NULL ? sqlite3_bind_null(s, at)
                         : sqlite3_bind_blob(s, at, len > 0 ? bytes : "", (int)len, SQLITE_STATIC);
}

/* A number that a client may have had a hand in, as the database can have it. */
static int64_t bounded(uint64_t number)
{
    return number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

/* Inside of a transaction. */
static int add_usage(
    sqlite3 *db, const char *key, uint64_t then_us, uint64_t cpu_us, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db,
        "INSERT INTO usage (key, slot, cpu_us) VALUES (?1, ?2, ?3)"
        " ON CONFLICT (key, slot) DO UPDATE SET cpu_us = min(cpu_us + excluded.cpu_us, 1 << 60)",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, (int64_t)(then_us / QUOTA_CPU_SLOT_US));
    (void)sqlite3_bind_int64(s, 3, bounded(cpu_us < (UINT64_C(1) << 60) ? cpu_us : 1ULL << 60));
    return database_step(db, s, err);
}

/* Has it ended already? 0 also when it is not there. */
static int has_ended(sqlite3 *db, const char *id, int *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db, "SELECT ended_us != 0 FROM run WHERE id = ?1", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    r = database_step(db, s, err);
    *ret = r > 0 && sqlite3_column_int(s, 0);
    return r < 0 ? r : VIAL_OK;
}

static int save_one(
    struct run_store *store, sqlite3_stmt *s, const struct stored_run *run, struct vial_error *err)
{
    sqlite3 *db = store->db;
    const char *const texts[] = {
        run->id, run->key, run->agent, run->environment, run->session, run->status};
    const uint64_t numbers[] = {run->created_us, run->started_us, run->ended_us, run->cpu_us};
    int i, r, before = 0;

    r = run->ended_us != 0 ? has_ended(db, run->id, &before, err) : VIAL_OK;
    if (r < 0) {
        return r;
    }
    for (i = 0; i < 6; i++) {
        (void)sqlite3_bind_text(s, i + 1, texts[i], -1, SQLITE_STATIC);
    }
    for (i = 0; i < 4; i++) {
        (void)sqlite3_bind_int64(s, i + 7, bounded(numbers[i]));
    }
    (void)bind_bytes(s, 11, run->request, run->request_len);
    (void)bind_bytes(s, 12, run->result, run->result_len);
    r = database_step(db, s, err);
    (void)sqlite3_reset(s);
    if (r == VIAL_OK && run->ended_us != 0 && !before && run->cpu_us > 0) {
        r = add_usage(db, run->key, run->ended_us, run->cpu_us, err);
    }
    return r < 0 ? r : run_recording_save(store, run, err);
}

static int check_run(const struct stored_run *run, struct vial_error *err)
{
    if (!id_is_valid(RUN_PREFIX, run->id, strlen(run->id))) {
        return vial__fail(err, VIAL_E_INVALID, "a run has an id of its own kind");
    }
    if (run->request_len > RUN_REQUEST_BYTES_MAX || run->result_len > RUN_RESULT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "a run is kept with up to %d bytes of request and %d of result", RUN_REQUEST_BYTES_MAX,
            RUN_RESULT_BYTES_MAX);
    }
    if (run->recording_len > RUN_RECORDING_BYTES_MAX) {
        return vial__fail(
            err, VIAL_E_INVALID, "a recording has up to %d bytes", RUN_RECORDING_BYTES_MAX);
    }
    return VIAL_OK;
}

int run_store_save(
    struct run_store *store, const struct stored_run *runs, size_t count, struct vial_error *err)
{
    sqlite3_stmt *s = NULL;
    int r = VIAL_OK;
    size_t i;

    assert(count <= RUN_SAVE_MAX);
    for (i = 0; i < count && r == VIAL_OK; i++) {
        r = check_run(&runs[i], err);
    }
    r = r < 0 ? r : enter(store, err);
    if (r < 0) {
        return r;
    }
    r = database_prepare(store->db,
        "INSERT INTO run (id, key, agent, environment, session, status, created_us, started_us,"
        " ended_us, cpu_us, request, result)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
        " ON CONFLICT (id) DO UPDATE SET status = excluded.status,"
        " environment = excluded.environment, session = excluded.session,"
        " started_us = excluded.started_us, ended_us = excluded.ended_us,"
        " cpu_us = excluded.cpu_us, request = coalesce(excluded.request, request),"
        " result = coalesce(excluded.result, result)",
        &s, err);
    for (i = 0; i < count && r == VIAL_OK; i++) {
        r = save_one(store, s, &runs[i], err);
    }
    database_finalizep(&s);
    return leave(store, r, err);
}

static int recover_inside(struct run_store *store, const char *status, const char *result,
    size_t result_len, uint64_t now_us, size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db,
        "UPDATE run SET status = ?1, result = ?2, ended_us = ?3 WHERE ended_us = 0", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, status, -1, SQLITE_STATIC);
    (void)bind_bytes(s, 2, result, result_len);
    (void)sqlite3_bind_int64(s, 3, bounded(now_us));
    r = database_step(store->db, s, err);
    *ret_count = r == VIAL_OK ? (size_t)sqlite3_changes(store->db) : 0;
    return r < 0 ? r : idempotency_interrupt(store->db, err);
}

int run_store_recover(struct run_store *store, const char *status, const char *result,
    size_t result_len, uint64_t now_us, size_t *ret_count, struct vial_error *err)
{
    size_t count = 0;
    int r = enter(store, err);

    if (r < 0) {
        return r;
    }
    r = recover_inside(store, status, result, result_len, now_us, &count, err);
    r = leave(store, r, err);
    if (r == VIAL_OK) {
        *ret_count = count;
    }
    return r;
}

/* ---- finding ---- */

static int get_locked(
    struct run_store *store, const char *id, struct stored_run *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    struct stored_run run;
    int r = database_prepare(
        store->db, RUN_COLUMNS ", request, result FROM run WHERE id = ?1", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    if (r <= 0) {
        return r < 0 ? r : fail_missing(err);
    }
    read_run(s, &run);
    r = run_store_copy_bytes(s, 10, &run.request, &run.request_len, err);
    r = r < 0 ? r : run_store_copy_bytes(s, 11, &run.result, &run.result_len, err);
    if (r < 0) {
        stored_run_release(&run);
        return r;
    }
    *ret = run;
    return VIAL_OK;
}

int run_store_get(
    struct run_store *store, const char *id, struct stored_run *ret, struct vial_error *err)
{
    int r;

    if (!id_is_valid(RUN_PREFIX, id, strlen(id))) {
        return fail_missing(err);
    }
    (void)pthread_mutex_lock(&store->lock);
    r = get_locked(store, id, ret, err);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

/* What a filter becomes: text with ? in it, and what is bound to those. */
struct query {
    char sql[SQL_BYTES_MAX];
    size_t len;
    const char *values[CONDITIONS_MAX];
    int count;
    char from[RANGE_BYTES_MAX], until[RANGE_BYTES_MAX];
    char from_id[ID_BYTES_MAX + 1], until_id[ID_BYTES_MAX + 1];
};

static void where(struct query *q, const char *sql, const char *value)
{
    size_t len = strlen(sql);

    assert(q->len + len < sizeof(q->sql) && q->count < CONDITIONS_MAX); /* both are in this file */
    memcpy(q->sql + q->len, sql, len + 1);
    q->len += len;
    if (value != NULL) {
        q->values[q->count++] = value;
    }
}

static void where_given(struct query *q, const char *sql, const char *value)
{
    if (value != NULL) {
        where(q, sql, value);
    }
}

/* A name without a version stands for all of them: "name@" and whatever comes before "nameA". */
static void where_environment(struct query *q, const char *name)
{
    if (name == NULL || strchr(name, '@') != NULL) {
        where_given(q, " AND environment = ?", name);
        return;
    }
    (void)snprintf(q->from, sizeof(q->from), "%.*s@", RUN_NAME_BYTES_MAX, name);
    (void)snprintf(q->until, sizeof(q->until), "%.*sA", RUN_NAME_BYTES_MAX, name);
    where(q, " AND environment >= ?", q->from);
    where(q, " AND environment < ?", q->until);
}

/* Times become ids: those have the order, and the milliseconds. */
static void make_query(struct query *q, const struct run_filter *f, const char *cursor)
{
    where(q, RUN_COLUMNS " FROM run WHERE 1", NULL);
    where_given(q, " AND key = ?", f->key);
    where_environment(q, f->environment);
    where_given(q, " AND session = ?", f->session);
    where_given(q, " AND status = ?", f->status);
    if (f->from_us != 0) {
        id_first(RUN_PREFIX, f->from_us, q->from_id);
        where(q, " AND id >= ?", q->from_id);
    }
    if (cursor != NULL) {
        where(q, " AND id < ?", cursor);
    }
    if (f->until_us != 0) {
        id_first(RUN_PREFIX, f->until_us, q->until_id);
        where(q, " AND id < ?", q->until_id);
    }
    where(q, " ORDER BY id DESC LIMIT ?", NULL);
}

static int list_locked(struct run_store *store, const struct query *q, uint32_t limit,
    struct stored_run *list, size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    size_t count = 0;
    int i, r = database_prepare(store->db, q->sql, &s, err);

    if (r < 0) {
        return r;
    }
    for (i = 0; i < q->count; i++) {
        (void)sqlite3_bind_text(s, i + 1, q->values[i], -1, SQLITE_STATIC);
    }
    (void)sqlite3_bind_int64(s, q->count + 1, limit);
    while ((r = database_step(store->db, s, err)) > 0) {
        read_run(s, &list[count++]);
    }
    *ret_count = count;
    return r;
}

int run_store_list(struct run_store *store, const struct run_filter *filter, const char *cursor,
    uint32_t limit, struct stored_run **ret, size_t *ret_count, char ret_cursor[ID_BYTES_MAX + 1],
    struct vial_error *err)
{
    struct query q = {.len = 0};
    struct stored_run *list;
    size_t count = 0;
    int r;

    if (limit == 0 || limit > RUN_PAGE_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a page has 1 to %d runs", RUN_PAGE_MAX);
    }
    if (cursor != NULL && !id_is_valid(RUN_PREFIX, cursor, strlen(cursor))) {
        return vial__fail(err, VIAL_E_INVALID, "this is no cursor of a list of runs");
    }
    list = calloc(limit + 1, sizeof(*list)); /* one more: is there another page? */
    if (list == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a list of %u runs", (unsigned)limit);
    }
    make_query(&q, filter, cursor);
    (void)pthread_mutex_lock(&store->lock);
    r = list_locked(store, &q, limit + 1, list, &count, err);
    (void)pthread_mutex_unlock(&store->lock);
    if (r < 0) {
        free(list);
        return r;
    }
    (void)snprintf(ret_cursor, ID_BYTES_MAX + 1, "%s", count > limit ? list[limit - 1].id : "");
    *ret = list;
    *ret_count = count > limit ? limit : count;
    return VIAL_OK;
}

/* ---- removing ---- */

/* Runs a deletion with one parameter, or two; adds how many rows went. */
static int remove_rows(sqlite3 *db, const char *sql, const char *text, int64_t number,
    uint64_t *removed, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db, sql, &s, err);

    if (r < 0) {
        return r;
    }
    if (text != NULL) {
        (void)sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_int64(s, 1, number);
    }
    (void)sqlite3_bind_int64(s, 2, REMOVE_MAX);
    r = database_step(db, s, err);
    *removed += r == VIAL_OK ? (uint64_t)sqlite3_changes(db) : 0;
    return r;
}

static int64_t back(uint64_t now_us, uint64_t by_us)
{
    return bounded(now_us > by_us ? now_us - by_us : 0);
}

/* Inside of a transaction. */
static int retain_inside(sqlite3 *db, uint64_t now_us, uint64_t older_than_us, uint64_t count_max,
    uint64_t *removed, struct vial_error *err)
{
    char id[ID_BYTES_MAX + 1];
    int r;

    id_first(RUN_PREFIX, older_than_us, id);
    r = remove_rows(db,
        "DELETE FROM run WHERE id IN"
        " (SELECT id FROM run WHERE id < ?1 AND ended_us != 0 ORDER BY id LIMIT ?2)",
        id, 0, removed, err);
    if (r == VIAL_OK && count_max > 0) {
        r = remove_rows(db,
            "DELETE FROM run WHERE id IN (SELECT id FROM run WHERE ended_us != 0 ORDER BY id"
            " LIMIT min(?2, max(0, (SELECT count(*) FROM run) - ?1)))",
            NULL, bounded(count_max), removed, err);
    }
    r = r < 0 ? r
              : remove_rows(db,
                    "DELETE FROM request WHERE rowid IN (SELECT rowid FROM request"
                    " WHERE created_us < ?1 LIMIT ?2)",
                    NULL, back(now_us, IDEMPOTENCY_KEPT_US), removed, err);
    return r < 0
               ? r
               : remove_rows(db,
                     "DELETE FROM usage WHERE (key, slot) IN"
                     " (SELECT key, slot FROM usage WHERE slot < ?1 LIMIT ?2)",
                     NULL, back(now_us, USAGE_KEPT_US) / (int64_t)QUOTA_CPU_SLOT_US, removed, err);
}

int run_store_retain(struct run_store *store, uint64_t now_us, uint64_t older_than_us,
    uint64_t count_max, uint64_t *ret_removed, struct vial_error *err)
{
    uint64_t removed = 0;
    int r = enter(store, err);

    if (r < 0) {
        return r;
    }
    r = retain_inside(store->db, now_us, older_than_us, count_max, &removed, err);
    r = leave(store, r, err);
    if (r == VIAL_OK) {
        *ret_removed = removed;
    }
    return r;
}

/* ---- CPU time ---- */

int run_store_add_usage(struct run_store *store, const char *key, uint64_t now_us, uint64_t cpu_us,
    struct vial_error *err)
{
    int r = enter(store, err);

    return r < 0 ? r : leave(store, add_usage(store->db, key, now_us, cpu_us, err), err);
}

int run_store_usage(struct run_store *store, uint64_t now_us,
    void (*on_use)(const char *key, uint64_t then_us, uint64_t cpu_us, void *user), void *user,
    struct vial_error *err)
{
    sqlite3_stmt *s = NULL;
    char key[RUN_NAME_BYTES_MAX + 1];
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = database_prepare(store->db, "SELECT key, slot, cpu_us FROM usage WHERE slot > ?1", &s, err);
    if (r == VIAL_OK) {
        (void)sqlite3_bind_int64(
            s, 1, (int64_t)(now_us / QUOTA_CPU_SLOT_US) - (int64_t)QUOTA_CPU_SLOTS);
    }
    while (r >= 0 && (r = database_step(store->db, s, err)) > 0) {
        run_store_copy_text(s, 0, key, sizeof(key));
        on_use(key, (uint64_t)sqlite3_column_int64(s, 1) * QUOTA_CPU_SLOT_US,
            (uint64_t)sqlite3_column_int64(s, 2), user);
    }
    database_finalizep(&s);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}
