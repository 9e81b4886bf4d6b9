/* audit_read.c - asking the audit: pages, and everything in order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/audit_inside.h"
#include "store/audit_reader.h"
#include "store/seal.h"

enum {
    SQL_BYTES_MAX = 1024,
    CONDITIONS_MAX = 10,
    RANGE_BYTES_MAX = AUDIT_NAME_BYTES_MAX + 2,
};

void audit_reader_free(struct audit_reader *reader)
{
    if (reader != NULL) {
        (void)sqlite3_close(reader->db);
        fd_closep(&reader->lock_fd);
        fd_closep(&reader->head_fd);
        free(reader);
    }
}

/* Asked before anything is made: looking at nothing should not leave files behind. */
static int check_there(const char *directory, struct vial_error *err)
{
    char path[DATABASE_PATH_BYTES_MAX];

    if (strlen(directory) > DIRECTORY_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the path of the data directory is too long");
    }
    (void)snprintf(path, sizeof(path), "%s/audit.db", directory);
    if (access(path, F_OK) < 0) {
        (void)vial__fail(err, VIAL_E_INVALID, "nothing was recorded in %.180s", directory);
        if (err != NULL) {
            err->sys = ENOENT;
        }
        return VIAL_E_INVALID;
    }
    return VIAL_OK;
}

int audit_reader_open(const char *directory, struct audit_reader **ret, struct vial_error *err)
{
    struct audit_reader *reader;
    int r = check_there(directory, err);

    r = r < 0 ? r : seal_start(err);
    if (r < 0) {
        return r;
    }
    reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the audit");
    }
    reader->lock_fd = reader->head_fd = -1;
    r = audit_database_open(directory, &reader->db, &reader->lock_fd, err);
    r = r < 0 ? r : database_run(reader->db, "PRAGMA query_only = ON", err);
    r = r < 0 ? r : audit_head_open(directory, &reader->head_fd, err);
    if (r < 0) {
        audit_reader_free(reader);
        return r;
    }
    *ret = reader;
    return VIAL_OK;
}

/* ---- conditions ---- */

/* What a filter becomes: text with ? in it, and what is bound to those. */
struct query {
    char sql[SQL_BYTES_MAX];
    size_t len;
    struct {
        const char *text; /* or NULL and a number */
        int64_t number;
    } values[CONDITIONS_MAX];
    int count;
    char from[RANGE_BYTES_MAX], until[RANGE_BYTES_MAX];
};

static void put(struct query *q, const char *sql)
{
    size_t len = strlen(sql);

    /* The texts are all in this file; the longest query has half of the room. */
    if (q->len + len < sizeof(q->sql)) {
        memcpy(q->sql + q->len, sql, len + 1);
        q->len += len;
    }
}

static void where_text(struct query *q, const char *sql, const char *text)
{
    if (text != NULL) {
        put(q, sql);
        q->values[q->count++].text = text;
    }
}

static void where_number(struct query *q, const char *sql, uint64_t number)
{
    if (number != 0) {
        put(q, sql);
        q->values[q->count++].number = number < INT64_MAX ? (int64_t)number : INT64_MAX;
    }
}

/* A name without a version stands for all of them: "name@" and whatever comes before "nameA". */
static void where_environment(struct query *q, const char *name)
{
    if (name == NULL || strchr(name, '@') != NULL) {
        where_text(q, " AND environment = ?", name);
        return;
    }
    (void)snprintf(q->from, sizeof(q->from), "%.*s@", AUDIT_NAME_BYTES_MAX, name);
    (void)snprintf(q->until, sizeof(q->until), "%.*sA", AUDIT_NAME_BYTES_MAX, name);
    where_text(q, " AND environment >= ?", q->from);
    where_text(q, " AND environment < ?", q->until);
}

static void make_query(
    struct query *q, const struct audit_filter *f, uint64_t before_seq, const char *order)
{
    put(q, "SELECT seq, time_us, previous, hash, record,"
           " CASE WHEN code_kept THEN code_hash END FROM audit WHERE 1");
    where_text(q, " AND key = ?", f->key);
    where_text(q, " AND agent = ?", f->agent);
    where_text(q, " AND run = ?", f->run);
    where_environment(q, f->environment);
    where_text(q, " AND status = ?", f->status);
    where_text(q, " AND kind = ?", f->kind);
    where_number(q, " AND time_us >= ?", f->from_us);
    where_number(q, " AND time_us < ?", f->until_us);
    where_number(q, " AND seq < ?", before_seq);
    put(q, order);
}

static int prepare(
    struct audit_reader *reader, const struct query *q, sqlite3_stmt **ret, struct vial_error *err)
{
    int r = database_prepare(reader->db, q->sql, ret, err);
    int i;

    for (i = 0; r == VIAL_OK && i < q->count; i++) {
        if (q->values[i].text != NULL) {
            (void)sqlite3_bind_text(*ret, i + 1, q->values[i].text, -1, SQLITE_STATIC);
        } else {
            (void)sqlite3_bind_int64(*ret, i + 1, q->values[i].number);
        }
    }
    return r;
}

/* ---- rows ---- */

static int copy_hash(sqlite3_stmt *s, int column, char ret[2 * AUDIT_HASH_BYTES + 1])
{
    const void *hash = sqlite3_column_blob(s, column);

    if (hash == NULL || sqlite3_column_bytes(s, column) != AUDIT_HASH_BYTES) {
        return -1;
    }
    audit_hex(hash, ret);
    return 0;
}

/* The code with the hash in that column; s_code holds it. */
static int find_code(struct audit_reader *reader, sqlite3_stmt *s, sqlite3_stmt *s_code,
    struct audit_entry *entry, struct vial_error *err)
{
    int r;

    if (sqlite3_column_type(s, 5) == SQLITE_NULL) {
        return VIAL_OK;
    }
    (void)sqlite3_reset(s_code);
    (void)sqlite3_bind_value(s_code, 1, sqlite3_column_value(s, 5));
    r = database_step(reader->db, s_code, err);
    if (r > 0) {
        entry->code_len = (size_t)sqlite3_column_bytes(s_code, 0);
        entry->code = entry->code_len > 0 ? sqlite3_column_blob(s_code, 0) : "";
    }
    return r < 0 ? r : VIAL_OK;
}

static int give(struct audit_reader *reader, sqlite3_stmt *s, sqlite3_stmt *s_code,
    audit_on_entry *on_entry, void *user, struct vial_error *err)
{
    struct audit_entry entry = {.seq = (uint64_t)sqlite3_column_int64(s, 0),
        .time_us = (uint64_t)sqlite3_column_int64(s, 1),
        .record = sqlite3_column_blob(s, 4),
        .record_len = (size_t)sqlite3_column_bytes(s, 4)};
    int r = VIAL_OK;

    if (entry.record == NULL || copy_hash(s, 2, entry.previous) < 0 ||
        copy_hash(s, 3, entry.hash) < 0) {
        return vial__fail(err, VIAL_E_SYS,
            "record %" PRIu64 " of the audit is damaged; `vial audit verify` says more", entry.seq);
    }
    if (s_code != NULL) {
        r = find_code(reader, s, s_code, &entry, err);
    }
    return r < 0 ? r : on_entry(&entry, user);
}

static int prepare_code(
    struct audit_reader *reader, int with_code, sqlite3_stmt **ret, struct vial_error *err)
{
    return with_code
               ? database_prepare(reader->db, "SELECT code FROM code WHERE hash = ?1", ret, err)
               : VIAL_OK;
}

/* ---- what is asked ---- */

/* "a" and the number of the last record that was given. 0, or -1. */
static int parse_cursor(const char *cursor, uint64_t *ret)
{
    uint64_t seq = 0;
    size_t i;

    if (cursor[0] != 'a' || cursor[1] < '1' || cursor[1] > '9') {
        return -1;
    }
    for (i = 1; cursor[i] != '\0'; i++) {
        if (cursor[i] < '0' || cursor[i] > '9' || i > 18) {
            return -1;
        }
        seq = seq * 10 + (uint64_t)(cursor[i] - '0');
    }
    *ret = seq;
    return 0;
}

int audit_list(struct audit_reader *reader, const struct audit_filter *filter, const char *cursor,
    uint32_t limit, int with_code, audit_on_entry *on_entry, void *user,
    char ret_cursor[AUDIT_CURSOR_BYTES_MAX], struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    sqlite3_stmt *s_code VIAL_CLEANUP(database_finalizep) = NULL;
    struct query q = {.len = 0};
    uint64_t before = 0, last = 0;
    uint32_t count = 0;
    int r;

    if (limit == 0 || limit > AUDIT_PAGE_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a page has 1 to %d records", AUDIT_PAGE_MAX);
    }
    if (cursor != NULL && parse_cursor(cursor, &before) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "this is no cursor of a list of records");
    }
    make_query(&q, filter, before, " ORDER BY seq DESC");
    r = prepare(reader, &q, &s, err);
    r = r < 0 ? r : prepare_code(reader, with_code, &s_code, err);
    while (r >= 0 && (r = database_step(reader->db, s, err)) > 0) {
        if (count == limit) { /* there is one more: the next page begins behind the last */
            break;
        }
        last = (uint64_t)sqlite3_column_int64(s, 0);
        r = give(reader, s, s_code, on_entry, user, err);
        count++;
    }
    if (r < 0) {
        return r;
    }
    if (r > 0) {
        (void)snprintf(ret_cursor, AUDIT_CURSOR_BYTES_MAX, "a%" PRIu64, last);
    } else {
        ret_cursor[0] = '\0';
    }
    return VIAL_OK;
}

int audit_export(struct audit_reader *reader, const struct audit_filter *filter, int with_code,
    audit_on_entry *on_entry, void *user, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    sqlite3_stmt *s_code VIAL_CLEANUP(database_finalizep) = NULL;
    struct query q = {.len = 0};
    int r;

    make_query(&q, filter, 0, " ORDER BY seq");
    r = prepare(reader, &q, &s, err); /* one statement sees one state of the database */
    r = r < 0 ? r : prepare_code(reader, with_code, &s_code, err);
    while (r >= 0 && (r = database_step(reader->db, s, err)) > 0) {
        r = give(reader, s, s_code, on_entry, user, err);
    }
    return r < 0 ? r : VIAL_OK;
}

int audit_head(struct audit_reader *reader, struct audit_head *ret, struct vial_error *err)
{
    return audit_last(reader->db, ret, err);
}
