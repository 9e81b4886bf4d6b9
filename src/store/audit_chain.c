/* audit_chain.c - the chain in the database: appending to its end, and removing from its beginning.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id.h"
#include "store/audit_inside.h"

enum {
    REMOVE_MAX = 2000, /* at a time, so that writers do not wait long */
    BUSY_MS = 1000,    /* the writing thread tries again by itself, and must be able to end */
};

/* code has each program once, and the last record that has it. */
static const char *const MIGRATIONS[] = {
    "CREATE TABLE audit ("
    "  seq INTEGER PRIMARY KEY CHECK (seq >= 1),"
    "  time_us INTEGER NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  key TEXT, agent TEXT, run TEXT, environment TEXT, status TEXT,"
    "  code_hash BLOB, code_kept INTEGER NOT NULL DEFAULT 0,"
    "  previous BLOB NOT NULL, hash BLOB NOT NULL, record BLOB NOT NULL);"
    "CREATE INDEX audit_time ON audit (time_us);"
    "CREATE INDEX audit_kind ON audit (kind);"
    "CREATE INDEX audit_key ON audit (key) WHERE key IS NOT NULL;"
    "CREATE INDEX audit_agent ON audit (agent) WHERE agent IS NOT NULL;"
    "CREATE INDEX audit_run ON audit (run) WHERE run IS NOT NULL;"
    "CREATE INDEX audit_environment ON audit (environment) WHERE environment IS NOT NULL;"
    "CREATE INDEX audit_status ON audit (status) WHERE status IS NOT NULL;"
    "CREATE TABLE code ("
    "  hash BLOB PRIMARY KEY, last_seq INTEGER NOT NULL, code BLOB NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX code_last ON code (last_seq);"
    "CREATE TABLE anchor (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL,"
    "  hash BLOB NOT NULL);",
};

static const struct database_kind AUDIT_DATABASE = {.file = "audit.db",
    .application = 0x76616c61, /* "vala" */
    .migrations = MIGRATIONS,
    .migrations_count = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0])};

int audit_database_open(
    const char *directory, sqlite3 **ret, int *ret_lock_fd, struct vial_error *err)
{
    int r = database_open_in(directory, &AUDIT_DATABASE, ret, ret_lock_fd, err);

    if (r == VIAL_OK) {
        (void)sqlite3_busy_timeout(*ret, BUSY_MS);
    }
    return r;
}

/* ---- looking ---- */

/* A statement that gives at most one row of seq and hash. */
static int get_head(sqlite3 *db, const char *sql, struct audit_head *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    const void *hash;
    int r = database_prepare(db, sql, &s, err);

    r = r < 0 ? r : database_step(db, s, err);
    if (r <= 0) {
        return r;
    }
    hash = sqlite3_column_blob(s, 1);
    if (hash == NULL || sqlite3_column_bytes(s, 1) != AUDIT_HASH_BYTES) {
        return vial__fail(err, VIAL_E_SYS,
            "the audit is damaged: its end has no hash; `vial audit verify` says more");
    }
    ret->seq = (uint64_t)sqlite3_column_int64(s, 0);
    memcpy(ret->hash, hash, AUDIT_HASH_BYTES);
    return 1;
}

int audit_anchor(sqlite3 *db, struct audit_head *ret, struct vial_error *err)
{
    int r;

    *ret = (struct audit_head){.seq = 0};
    r = get_head(db, "SELECT seq, hash FROM anchor", ret, err);
    return r < 0 ? r : VIAL_OK;
}

int audit_last(sqlite3 *db, struct audit_head *ret, struct vial_error *err)
{
    int r = get_head(db, "SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", ret, err);

    return r > 0 ? VIAL_OK : r < 0 ? r : audit_anchor(db, ret, err);
}

/* ---- appending ---- */

/* The statements of one transaction. */
struct append {
    sqlite3 *db;
    sqlite3_stmt *record, *code;
    struct buf text;
    struct audit_head head;
};

static int keep_code(struct append *a, const struct audit_item *item,
    const unsigned char hash[AUDIT_HASH_BYTES], struct vial_error *err)
{
    int r;

    (void)sqlite3_bind_blob(a->code, 1, hash, AUDIT_HASH_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_int64(a->code, 2, (int64_t)a->head.seq + 1);
    (void)sqlite3_bind_blob(
        a->code, 3, item->code_len > 0 ? item->code : "", (int)item->code_len, SQLITE_STATIC);
    r = database_step(a->db, a->code, err);
    (void)sqlite3_reset(a->code);
    return r;
}

static int insert_record(struct append *a, const struct audit_item *item,
    const struct audit_prefix *prefix, const unsigned char hash[AUDIT_HASH_BYTES],
    struct vial_error *err)
{
    sqlite3_stmt *s = a->record;
    int i, r;

    (void)sqlite3_bind_int64(s, 1, (int64_t)prefix->seq);
    (void)sqlite3_bind_int64(s, 2, (int64_t)prefix->time_us);
    (void)sqlite3_bind_text(s, 3, prefix->kind, -1, SQLITE_STATIC);
    for (i = 0; i < AUDIT_COLUMNS_COUNT; i++) { /* NULL binds NULL */
        (void)sqlite3_bind_text(s, 4 + i, item->columns[i], -1, SQLITE_STATIC);
    }
    if (prefix->code_hash != NULL) {
        (void)sqlite3_bind_blob(s, 9, prefix->code_hash, AUDIT_HASH_BYTES, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_null(s, 9);
    }
    (void)sqlite3_bind_int(s, 10, prefix->code_kept);
    (void)sqlite3_bind_blob(s, 11, a->head.hash, AUDIT_HASH_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 12, hash, AUDIT_HASH_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 13, a->text.data, (int)a->text.len, SQLITE_STATIC);
    r = database_step(a->db, s, err);
    (void)sqlite3_reset(s);
    return r;
}

static int append_one(struct append *a, const struct audit_item *item, struct vial_error *err)
{
    unsigned char hash[AUDIT_HASH_BYTES], code_hash[AUDIT_HASH_BYTES];
    struct audit_prefix prefix = {.seq = a->head.seq + 1,
        .time_us = item->time_us,
        .kind = audit_kind_name(item->kind),
        .code_kept = item->keep_code};
    int r = VIAL_OK;

    memcpy(prefix.columns, item->columns, sizeof(prefix.columns));
    if (item->code != NULL) {
        audit_sha256(item->code, item->code_len, code_hash);
        prefix.code_hash = code_hash;
    }
    if (item->keep_code) {
        r = keep_code(a, item, code_hash, err);
    }
    buf_clear(&a->text);
    r = r < 0 ? r : audit_put_prefix(&prefix, &a->text, err);
    r = r < 0 ? r : buf_add(&a->text, item->tail, item->tail_len, err);
    if (r < 0) {
        return r;
    }
    audit_hash(a->head.hash, a->text.data, a->text.len, hash);
    r = insert_record(a, item, &prefix, hash, err);
    if (r == VIAL_OK) {
        a->head.seq++;
        memcpy(a->head.hash, hash, sizeof(hash));
    }
    return r;
}

/* Inside of a transaction. */
static int append_all(
    sqlite3 *db, const struct audit_item *items, struct audit_head *ret, struct vial_error *err)
{
    struct append a = {.db = db};
    const struct audit_item *item;
    int r = audit_last(db, &a.head, err);

    buf_init(&a.text, AUDIT_RECORD_BYTES_MAX);
    r = r < 0 ? r
              : database_prepare(db,
                    "INSERT INTO audit (seq, time_us, kind, key, agent, run, environment, status,"
                    " code_hash, code_kept, previous, hash, record)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                    &a.record, err);
    r = r < 0 ? r
              : database_prepare(db,
                    "INSERT INTO code (hash, last_seq, code) VALUES (?1, ?2, ?3)"
                    " ON CONFLICT (hash) DO UPDATE SET last_seq = excluded.last_seq",
                    &a.code, err);
    for (item = items; item != NULL && r == VIAL_OK; item = item->next) {
        r = append_one(&a, item, err);
    }
    database_finalizep(&a.record);
    database_finalizep(&a.code);
    buf_release(&a.text);
    if (r == VIAL_OK) {
        *ret = a.head;
    }
    return r;
}

int audit_append(
    sqlite3 *db, const struct audit_item *items, struct audit_head *ret, struct vial_error *err)
{
    struct audit_head head;
    int r = database_begin(db, err);

    if (r < 0) {
        return r;
    }
    r = append_all(db, items, &head, err);
    r = database_end(db, r, err);
    if (r == VIAL_OK) {
        *ret = head;
    }
    return r;
}

/* ---- removing ---- */

void audit_anchor_text(const struct audit_head *anchor, char ret[AUDIT_ANCHOR_TEXT_BYTES_MAX])
{
    char hex[2 * AUDIT_HASH_BYTES + 1];

    audit_hex(anchor->hash, hex);
    (void)snprintf(ret, AUDIT_ANCHOR_TEXT_BYTES_MAX,
        ",\"what\":\"audit.remove\",\"removed_until\":%" PRIu64 ",\"removed_sha256\":\"%s\"}",
        anchor->seq, hex);
}

/* A number from a statement with one parameter; *ret is 0 when there is no row. */
static int get_number(
    sqlite3 *db, const char *sql, int64_t parameter, int64_t *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db, sql, &s, err);

    if (r < 0) {
        return r;
    }
    if (sqlite3_bind_parameter_count(s) > 0) {
        (void)sqlite3_bind_int64(s, 1, parameter);
    }
    r = database_step(db, s, err);
    *ret = r > 0 ? sqlite3_column_int64(s, 0) : 0;
    return r < 0 ? r : VIAL_OK;
}

static int run_with(
    sqlite3 *db, const char *sql, int64_t seq, const unsigned char *hash, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db, sql, &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_int64(s, 1, seq);
    if (hash != NULL) {
        (void)sqlite3_bind_blob(s, 2, hash, AUDIT_HASH_BYTES, SQLITE_STATIC);
    }
    return database_step(db, s, err);
}

/* The last record that goes; 0 when none does. What is kept begins at the first record that is new
 * enough, and with the record of the removal there are at most count_max. */
static int find_cut(sqlite3 *db, uint64_t older_than_us, uint64_t count_max, int64_t *ret_first,
    int64_t *ret_cut, struct vial_error *err)
{
    int64_t first = 0, last = 0, young = 0, cut, least;
    int r = get_number(db, "SELECT seq FROM audit ORDER BY seq LIMIT 1", 0, &first, err);

    r = r < 0 ? r
              : get_number(db, "SELECT seq FROM audit ORDER BY seq DESC LIMIT 1", 0, &last, err);
    r = r < 0 ? r
              : get_number(db, "SELECT seq FROM audit WHERE +time_us >= ?1 ORDER BY seq LIMIT 1",
                    older_than_us < INT64_MAX ? (int64_t)older_than_us : INT64_MAX, &young, err);
    if (r < 0 || first == 0) {
        *ret_cut = 0;
        return r;
    }
    cut = young != 0 ? young - 1 : last;
    if (count_max > 0 && (uint64_t)(last - first) + 1 > count_max) {
        least = last - (int64_t)count_max + 1;
        cut = least > cut ? least : cut;
    }
    cut = cut > first - 1 + REMOVE_MAX ? first - 1 + REMOVE_MAX : cut;
    *ret_first = first;
    *ret_cut = cut < first ? 0 : cut;
    return VIAL_OK;
}

/* Inside of a transaction. */
static int remove_until(sqlite3 *db, int64_t cut, struct audit_head *ret, struct vial_error *err)
{
    char text[AUDIT_ANCHOR_TEXT_BYTES_MAX], sql[96];
    struct audit_head anchor = {.seq = 0};
    struct audit_item item = {.kind = AUDIT_RETENTION, .time_us = id_now_us(), .tail = text};
    int r;

    (void)snprintf(
        sql, sizeof(sql), "SELECT seq, hash FROM audit WHERE seq = %lld", (long long)cut);
    r = get_head(db, sql, &anchor, err);
    if (r <= 0) {
        return r < 0 ? r : vial__fail(err, VIAL_E_SYS, "the audit is damaged: a record is missing");
    }
    audit_anchor_text(&anchor, text);
    item.tail_len = strlen(text);
    /* First, while the end of the chain is there for certain. */
    r = append_all(db, &item, ret, err);
    r = r < 0 ? r : run_with(db, "DELETE FROM audit WHERE seq <= ?1", cut, NULL, err);
    r = r < 0 ? r : run_with(db, "DELETE FROM code WHERE last_seq <= ?1", cut, NULL, err);
    return r < 0 ? r
                 : run_with(db,
                       "INSERT INTO anchor (one, seq, hash) VALUES (1, ?1, ?2)"
                       " ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
                       cut, anchor.hash, err);
}

int audit_remove(sqlite3 *db, uint64_t older_than_us, uint64_t count_max, uint64_t *ret_removed,
    struct audit_head *ret, struct vial_error *err)
{
    struct audit_head head;
    int64_t first = 0, cut = 0;
    int r = database_begin(db, err);

    if (r < 0) {
        return r;
    }
    r = find_cut(db, older_than_us, count_max, &first, &cut, err);
    if (r == VIAL_OK && cut != 0) {
        r = remove_until(db, cut, &head, err);
    }
    r = database_end(db, r, err);
    if (r == VIAL_OK) {
        *ret_removed = cut != 0 ? (uint64_t)(cut - first + 1) : 0;
    }
    if (r == VIAL_OK && cut != 0) {
        *ret = head;
    }
    return r;
}
