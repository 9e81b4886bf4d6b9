/* key.c - see key.h.
 *
 * The last uses are kept in memory and written down by key_flush, so that a request costs no write
 * to the disk. */
#include "store/key.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/utf8.h"
#include "store/database.h"
#include "store/seal.h"

enum {
    SCHEMA = 1, /* of the tables below, counted on its own */
    HASH_BYTES = crypto_hash_sha256_BYTES,
    ID_RANDOM_BYTES = 10,     /* of which 60 bits become the id */
    SECRET_RANDOM_BYTES = 35, /* of which 260 bits become the secret */
    USES_MAX =
        256, /* keys used since the last flush; when there are more, that is when one is due */
    LIST_FIRST_ALLOC = 16,
    SCOPES_COUNT = 4,
};

static const char PREFIX[] = "vial_";

static const char TABLES[] = "CREATE TABLE IF NOT EXISTS key_state ("
                             "  one INTEGER PRIMARY KEY CHECK (one = 1),"
                             "  schema INTEGER NOT NULL);"
                             "CREATE TABLE IF NOT EXISTS key ("
                             "  number INTEGER PRIMARY KEY AUTOINCREMENT,"
                             "  id TEXT NOT NULL UNIQUE CHECK (length(id) = 12),"
                             "  hash BLOB NOT NULL CHECK (length(hash) = 32),"
                             "  name TEXT NOT NULL,"
                             "  scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 15),"
                             "  concurrent INTEGER NOT NULL,"
                             "  runs_per_minute INTEGER NOT NULL,"
                             "  cpu_seconds_per_day INTEGER NOT NULL,"
                             "  sessions INTEGER NOT NULL,"
                             "  created_us INTEGER NOT NULL,"
                             "  used_us INTEGER NOT NULL DEFAULT 0,"
                             "  expires_us INTEGER NOT NULL DEFAULT 0,"
                             "  revoked_us INTEGER NOT NULL DEFAULT 0);"
                             "INSERT OR IGNORE INTO key_state (one, schema) VALUES (1, 1)";

struct use {
    char id[KEY_ID_BYTES + 1];
    uint64_t us;
};

struct key_store {
    sqlite3 *db;
    int lock_fd;
    sqlite3_stmt *find; /* what every request asks */
    pthread_mutex_t lock;
    struct use uses[USES_MAX];
    size_t uses_count;
};

static const struct {
    const char *name;
    uint32_t scope;
} SCOPES[SCOPES_COUNT] = {{"run", KEY_SCOPE_RUN}, {"session", KEY_SCOPE_SESSION},
    {"env", KEY_SCOPE_ENV}, {"admin", KEY_SCOPE_ADMIN}};

/* ---- scopes ---- */

uint32_t key_scope_named(const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < SCOPES_COUNT; i++) {
        if (strlen(SCOPES[i].name) == len && memcmp(SCOPES[i].name, name, len) == 0) {
            return SCOPES[i].scope;
        }
    }
    return 0;
}

int key_scopes_parse(const char *text, uint32_t *ret, struct vial_error *err)
{
    uint32_t scopes = 0, scope;
    const char *p = text;
    size_t len;

    for (;; p += len + 1) {
        len = strcspn(p, ",");
        scope = key_scope_named(p, len);
        if (scope == 0) {
            return vial__fail(err, VIAL_E_INVALID,
                "the scopes of a key are run, session, env and admin, with commas between several; "
                "\"%.*s\" is none",
                (int)(len < 32 ? len : 32), p);
        }
        scopes |= scope;
        if (p[len] == '\0') {
            *ret = scopes;
            return VIAL_OK;
        }
    }
}

void key_scopes_text(uint32_t scopes, char ret[KEY_SCOPES_TEXT_BYTES_MAX])
{
    size_t i, len = 0;

    ret[0] = '\0';
    for (i = 0; i < SCOPES_COUNT; i++) {
        if ((scopes & SCOPES[i].scope) != 0) {
            len += (size_t)snprintf(ret + len, KEY_SCOPES_TEXT_BYTES_MAX - len, "%s%s",
                len > 0 ? "," : "", SCOPES[i].name);
        }
    }
}

/* ---- opening ---- */

static int flush_locked(struct key_store *store, struct vial_error *err);

void key_store_free(struct key_store *store)
{
    if (store == NULL) {
        return;
    }
    if (store->uses_count > 0) {
        (void)flush_locked(store, NULL); /* a use that is not written down is no harm */
    }
    database_finalizep(&store->find);
    (void)sqlite3_close(store->db);
    fd_closep(&store->lock_fd);
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

/* Is there a table, and does this version understand it? Makes it when there is none. */
static int prepare_tables(sqlite3 *db, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int64_t schema;
    int r = database_prepare(db, "SELECT 1 FROM sqlite_schema WHERE name = 'key_state'", &s, err);

    r = r < 0 ? r : database_step(db, s, err);
    if (r < 0) {
        return r;
    }
    database_finalizep(&s);
    if (r == 0) {
        r = database_begin(db, err);
        return r < 0 ? r : database_end(db, database_run(db, TABLES, err), err);
    }
    r = database_prepare(db, "SELECT schema FROM key_state", &s, err);
    r = r < 0 ? r : database_step(db, s, err);
    if (r < 0) {
        return r;
    }
    schema = r > 0 ? sqlite3_column_int64(s, 0) : 0;
    if (schema > SCHEMA) {
        return vial__fail(err, VIAL_E_SYS,
            "the keys were written by a newer vial (their schema is %lld, this one knows %d); use "
            "that one, or another data directory",
            (long long)schema, SCHEMA);
    }
    return schema == SCHEMA ? VIAL_OK : vial__fail(err, VIAL_E_SYS, "the table of keys is damaged");
}

#define INFO_COLUMNS                                                                               \
    "SELECT id, name, scopes, concurrent, runs_per_minute, cpu_seconds_per_day, sessions,"         \
    " created_us, used_us, expires_us, revoked_us, hash FROM key"

int key_store_open(const char *directory, struct key_store **ret, struct vial_error *err)
{
    struct key_store *store;
    int r = seal_start(err);

    if (r < 0) {
        return r;
    }
    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store of keys");
    }
    store->lock_fd = -1;
    (void)pthread_mutex_init(&store->lock, NULL);
    r = database_open_in(directory, &DATABASE_STORE, &store->db, &store->lock_fd, err);
    r = r < 0 ? r : prepare_tables(store->db, err);
    r = r < 0 ? r : database_prepare(store->db, INFO_COLUMNS " WHERE id = ?1", &store->find, err);
    if (r < 0) {
        key_store_free(store);
        return r;
    }
    *ret = store;
    return VIAL_OK;
}

/* ---- rows ---- */

static void copy_text(sqlite3_stmt *s, int column, char *ret, size_t size)
{
    const unsigned char *text = sqlite3_column_text(s, column);

    (void)snprintf(ret, size, "%s", text != NULL ? (const char *)text : "");
}

static void read_info(sqlite3_stmt *s, struct key_info *ret)
{
    *ret = (struct key_info){.scopes = (uint32_t)sqlite3_column_int64(s, 2) & KEY_SCOPES_ALL,
        .quota = {(uint32_t)sqlite3_column_int64(s, 3), (uint32_t)sqlite3_column_int64(s, 4),
            (uint32_t)sqlite3_column_int64(s, 5), (uint32_t)sqlite3_column_int64(s, 6)},
        .created_us = (uint64_t)sqlite3_column_int64(s, 7),
        .used_us = (uint64_t)sqlite3_column_int64(s, 8),
        .expires_us = (uint64_t)sqlite3_column_int64(s, 9),
        .revoked_us = (uint64_t)sqlite3_column_int64(s, 10)};
    copy_text(s, 0, ret->id, sizeof(ret->id));
    copy_text(s, 1, ret->name, sizeof(ret->name));
}

static int fail_missing(struct vial_error *err, const char *id)
{
    (void)vial__fail(err, VIAL_E_INVALID, "there is no key %.12s", id);
    if (err != NULL) {
        err->sys = ENOENT;
    }
    return VIAL_E_INVALID;
}

/* Looks up a row, with the lock held: 1 with the info and the hash, 0 when there is none, or
 * negative. */
static int find_locked(struct key_store *store, const char *id, struct key_info *ret,
    unsigned char ret_hash[HASH_BYTES], struct vial_error *err)
{
    int r;

    (void)sqlite3_bind_text(store->find, 1, id, -1, SQLITE_STATIC);
    r = database_step(store->db, store->find, err);
    if (r > 0) {
        const void *hash = sqlite3_column_blob(store->find, 11);

        read_info(store->find, ret);
        if (hash == NULL || sqlite3_column_bytes(store->find, 11) != HASH_BYTES) {
            r = vial__fail(err, VIAL_E_SYS, "the record of the key %.12s is damaged", id);
        } else {
            memcpy(ret_hash, hash, HASH_BYTES);
        }
    }
    (void)sqlite3_reset(store->find); /* ends the reading, or checkpoints would wait for it */
    (void)sqlite3_clear_bindings(store->find);
    return r;
}

/* ---- tokens ---- */

/* The alphabet of id_text_lower. */
static int is_lower32(const char *text, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        char c = text[i];

        if (!((c >= '0' && c <= '9') ||
                (c >= 'a' && c <= 'z' && c != 'i' && c != 'l' && c != 'o' && c != 'u'))) {
            return 0;
        }
    }
    return 1;
}

int key_token_id(const char *token, size_t len, char ret[KEY_ID_BYTES + 1])
{
    const char *id = token + sizeof(PREFIX) - 1;

    if (len != KEY_TOKEN_BYTES || memcmp(token, PREFIX, sizeof(PREFIX) - 1) != 0 ||
        id[KEY_ID_BYTES] != '_' || !is_lower32(id, KEY_ID_BYTES) ||
        !is_lower32(id + KEY_ID_BYTES + 1, KEY_SECRET_CHARS)) {
        return -1;
    }
    memcpy(ret, id, KEY_ID_BYTES);
    ret[KEY_ID_BYTES] = '\0';
    return 0;
}

static void make_token(char ret[KEY_TOKEN_BYTES + 1], char ret_id[KEY_ID_BYTES + 1])
{
    unsigned char bytes[SECRET_RANDOM_BYTES];
    char text[SECRET_RANDOM_BYTES / 5 * 8 + 1];

    seal_random(bytes, ID_RANDOM_BYTES);
    id_text_lower(bytes, ID_RANDOM_BYTES, text);
    (void)snprintf(ret_id, KEY_ID_BYTES + 1, "%.*s", KEY_ID_BYTES, text);
    seal_random(bytes, sizeof(bytes));
    id_text_lower(bytes, sizeof(bytes), text);
    (void)snprintf(ret, KEY_TOKEN_BYTES + 1, "%s%s_%.*s", PREFIX, ret_id, KEY_SECRET_CHARS, text);
    explicit_bzero(bytes, sizeof(bytes));
    explicit_bzero(text, sizeof(text));
}

static void hash_token(const char *token, size_t len, unsigned char ret[HASH_BYTES])
{
    (void)crypto_hash_sha256(ret, (const unsigned char *)token, len);
}

/* ---- creating ---- */

static int check_options(const struct key_options *o, struct vial_error *err)
{
    const char *name = o->name != NULL ? o->name : "";
    const char *p;

    if (o->scopes == 0 || (o->scopes & ~(uint32_t)KEY_SCOPES_ALL) != 0) {
        return vial__fail(err, VIAL_E_INVALID, "a key has at least one scope");
    }
    if (strlen(name) > KEY_NAME_BYTES_MAX || !utf8_valid(name, strlen(name), NULL)) {
        return vial__fail(err, VIAL_E_INVALID, "the name of a key has up to %d bytes of UTF-8",
            KEY_NAME_BYTES_MAX);
    }
    for (p = name; *p != '\0'; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f ||
            ((unsigned char)*p == 0xc2 && (unsigned char)p[1] < 0xa0)) {
            return vial__fail(err, VIAL_E_INVALID, "the name of a key has no control characters");
        }
    }
    if (o->quota.concurrent > QUOTA_CONCURRENT_MAX ||
        o->quota.runs_per_minute > QUOTA_RUNS_PER_MINUTE_MAX ||
        o->quota.cpu_seconds_per_day > QUOTA_CPU_SECONDS_PER_DAY_MAX ||
        o->quota.sessions > QUOTA_SESSIONS_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a quota of the key is too large");
    }
    if (o->expires_us > INT64_MAX || (o->expires_us != 0 && o->expires_us <= id_now_us())) {
        return vial__fail(err, VIAL_E_INVALID, "a key expires in the future");
    }
    return VIAL_OK;
}

/* Inside of a transaction: room for one more. */
static int make_room(struct key_store *store, uint64_t now_us, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    sqlite3_stmt *count VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db,
        "DELETE FROM key WHERE (revoked_us != 0 AND revoked_us < ?1)"
        " OR (expires_us != 0 AND expires_us < ?1)",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_int64(s, 1, (int64_t)(now_us > KEY_FORGET_US ? now_us - KEY_FORGET_US : 0));
    r = database_step(store->db, s, err);
    r = r < 0 ? r : database_prepare(store->db, "SELECT count(*) FROM key", &count, err);
    r = r < 0 ? r : database_step(store->db, count, err);
    if (r > 0 && sqlite3_column_int64(count, 0) >= KEYS_MAX) {
        return vial__fail(
            err, VIAL_E_INVALID, "there are %d keys, which is all that are kept", KEYS_MAX);
    }
    return r < 0 ? r : VIAL_OK;
}

/* Inside of a transaction. */
static int insert_key(struct key_store *store, const struct key_info *info,
    const unsigned char hash[HASH_BYTES], struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    const int64_t numbers[] = {info->scopes, info->quota.concurrent, info->quota.runs_per_minute,
        info->quota.cpu_seconds_per_day, info->quota.sessions, (int64_t)info->created_us,
        (int64_t)info->expires_us};
    int r = make_room(store, info->created_us, err);
    int i;

    r = r < 0 ? r
              : database_prepare(store->db,
                    "INSERT INTO key (id, hash, name, scopes, concurrent, runs_per_minute,"
                    " cpu_seconds_per_day, sessions, created_us, expires_us)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                    &s, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, info->id, -1, SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 2, hash, HASH_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 3, info->name, -1, SQLITE_STATIC);
    for (i = 0; i < 7; i++) {
        (void)sqlite3_bind_int64(s, 4 + i, numbers[i]);
    }
    return database_step(store->db, s, err);
}

int key_create(struct key_store *store, const struct key_options *options, struct key_info *ret,
    char ret_token[KEY_TOKEN_BYTES + 1], struct vial_error *err)
{
    struct key_info info = {
        .scopes = options->scopes, .quota = options->quota, .expires_us = options->expires_us};
    unsigned char hash[HASH_BYTES];
    char token[KEY_TOKEN_BYTES + 1];
    int r = check_options(options, err);

    if (r < 0) {
        return r;
    }
    info.created_us = id_now_us();
    (void)snprintf(info.name, sizeof(info.name), "%s", options->name != NULL ? options->name : "");
    make_token(token, info.id);
    hash_token(token, KEY_TOKEN_BYTES, hash);
    (void)pthread_mutex_lock(&store->lock);
    r = database_begin(store->db, err);
    if (r == VIAL_OK) {
        r = insert_key(store, &info, hash, err);
        r = database_end(store->db, r, err);
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (r == VIAL_OK) {
        *ret = info;
        memcpy(ret_token, token, sizeof(token));
    }
    explicit_bzero(token, sizeof(token));
    return r;
}

/* ---- finding ---- */

/* With the lock held. */
static void note_use(struct key_store *store, const char *id, uint64_t now_us)
{
    size_t i;

    for (i = 0; i < store->uses_count; i++) {
        if (memcmp(store->uses[i].id, id, KEY_ID_BYTES) == 0) {
            store->uses[i].us = now_us;
            return;
        }
    }
    if (store->uses_count == USES_MAX && flush_locked(store, NULL) < 0) {
        return; /* the disk is full or the like: this use is not remembered */
    }
    memcpy(store->uses[store->uses_count].id, id, KEY_ID_BYTES + 1);
    store->uses[store->uses_count++].us = now_us;
}

static int reject(struct vial_error *err, int sys, const char *text)
{
    (void)vial__fail(err, VIAL_E_INVALID, "%s", text);
    if (err != NULL) {
        err->sys = sys;
    }
    return VIAL_E_INVALID;
}

int key_find(struct key_store *store, const char *token, size_t len, struct key_info *ret,
    struct vial_error *err)
{
    unsigned char hash[HASH_BYTES], stored[HASH_BYTES] = {0};
    char id[KEY_ID_BYTES + 1];
    struct key_info info;
    uint64_t now_us = id_now_us();
    int r, is_right;

    if (key_token_id(token, len, id) < 0) {
        return reject(err, EKEYREJECTED, "this is no key; one looks like vial_ID_SECRET");
    }
    hash_token(token, len, hash);
    (void)pthread_mutex_lock(&store->lock);
    r = find_locked(store, id, &info, stored, err);
    /* Compared also when there is no such key: nobody learns from the time which ids exist. */
    is_right = sodium_memcmp(hash, stored, HASH_BYTES) == 0 && r > 0;
    if (is_right && info.revoked_us == 0 && (info.expires_us == 0 || info.expires_us > now_us)) {
        note_use(store, id, now_us);
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (r < 0) {
        return r;
    }
    if (!is_right) {
        return reject(err, EKEYREJECTED, "there is no such key");
    }
    *ret = info;
    if (info.revoked_us != 0) {
        return reject(err, EKEYREVOKED, "this key was revoked");
    }
    if (info.expires_us != 0 && info.expires_us <= now_us) {
        return reject(err, EKEYEXPIRED, "this key has expired");
    }
    return VIAL_OK;
}

/* When a key was used since the last flush is newer than what the database has. */
static void add_use(const struct key_store *store, struct key_info *info)
{
    size_t i;

    for (i = 0; i < store->uses_count; i++) {
        if (strcmp(store->uses[i].id, info->id) == 0 && store->uses[i].us > info->used_us) {
            info->used_us = store->uses[i].us;
        }
    }
}

int key_get(struct key_store *store, const char *id, struct key_info *ret, struct vial_error *err)
{
    unsigned char hash[HASH_BYTES];
    struct key_info info;
    int r;

    if (strlen(id) != KEY_ID_BYTES || !is_lower32(id, KEY_ID_BYTES)) {
        return fail_missing(err, "of that name");
    }
    (void)pthread_mutex_lock(&store->lock);
    r = find_locked(store, id, &info, hash, err);
    if (r > 0) {
        add_use(store, &info);
        *ret = info;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return r > 0 ? VIAL_OK : r < 0 ? r : fail_missing(err, id);
}

static int list_locked(
    struct key_store *store, struct key_info **ret, size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    struct key_info *list = NULL, *grown;
    size_t count = 0, capacity = 0;
    int r = database_prepare(store->db, INFO_COLUMNS " ORDER BY number", &s, err);

    while (r >= 0 && (r = database_step(store->db, s, err)) > 0) {
        if (count == capacity) {
            capacity = capacity == 0 ? LIST_FIRST_ALLOC : 2 * capacity;
            grown = realloc(list, capacity * sizeof(*list));
            if (grown == NULL) {
                r = vial__fail(err, VIAL_E_NOMEM, "no memory for a list of %zu", capacity);
                break;
            }
            list = grown;
        }
        read_info(s, &list[count]);
        add_use(store, &list[count++]);
    }
    if (r < 0) {
        free(list);
        return r;
    }
    *ret = list;
    *ret_count = count;
    return VIAL_OK;
}

int key_list(
    struct key_store *store, struct key_info **ret, size_t *ret_count, struct vial_error *err)
{
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = list_locked(store, ret, ret_count, err);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

/* ---- revoking, last uses ---- */

static int revoke_locked(
    struct key_store *store, const char *id, uint64_t now_us, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(
        store->db, "UPDATE key SET revoked_us = ?2 WHERE id = ?1 AND revoked_us = 0", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, (int64_t)now_us);
    return database_step(store->db, s, err);
}

int key_revoke(
    struct key_store *store, const char *id, struct key_info *ret, struct vial_error *err)
{
    struct key_info info;
    int r = key_get(store, id, &info, err);

    if (r < 0) {
        return r;
    }
    (void)pthread_mutex_lock(&store->lock);
    r = revoke_locked(store, id, id_now_us(), err);
    (void)pthread_mutex_unlock(&store->lock);
    r = r < 0 ? r : key_get(store, id, &info, err);
    if (r == VIAL_OK && ret != NULL) {
        *ret = info;
    }
    return r;
}

/* With the lock held. */
static int flush_locked(struct key_store *store, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    size_t i;
    int r = database_prepare(
        store->db, "UPDATE key SET used_us = ?2 WHERE id = ?1 AND used_us < ?2", &s, err);

    r = r < 0 ? r : database_begin(store->db, err);
    if (r < 0) {
        return r;
    }
    for (i = 0; i < store->uses_count && r == VIAL_OK; i++) {
        (void)sqlite3_bind_text(s, 1, store->uses[i].id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(s, 2, (int64_t)store->uses[i].us);
        r = database_step(store->db, s, err);
        (void)sqlite3_reset(s);
    }
    r = database_end(store->db, r, err);
    if (r == VIAL_OK) {
        store->uses_count = 0;
    }
    return r;
}

int key_flush(struct key_store *store, struct vial_error *err)
{
    int r = VIAL_OK;

    (void)pthread_mutex_lock(&store->lock);
    if (store->uses_count > 0) {
        r = flush_locked(store, err);
    }
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}
