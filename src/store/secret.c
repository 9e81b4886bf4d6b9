/* secret.c - see secret.h.
 *
 * Whoever uses the key holds a lock on it, in the file of the store's locks: shared for looking,
 * exclusive for changing. So the key that the database names is the one in the file, except after a
 * crash, for which secret_key.h has the rules. */
#include "store/secret.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/database.h"
#include "store/lock.h"
#include "store/secret_key.h"

enum {
    SCHEMA = 1,       /* of the tables below, counted on its own */
    LABEL_FORMAT = 1, /* of what is sealed: see make_label */
    LABEL_BYTES_MAX = 32 + SECRET_NAME_BYTES_MAX,
    LIST_FIRST_ALLOC = 16,
    SEALED_BYTES_MAX = SECRET_VALUE_BYTES_MAX + SEAL_EXTRA_BYTES,
};

/* The one row of secret_state says which schema the table has and with which key its values are
 * sealed. */
static const char TABLES[] = "CREATE TABLE IF NOT EXISTS secret_state ("
                             "  one INTEGER PRIMARY KEY CHECK (one = 1),"
                             "  schema INTEGER NOT NULL,"
                             "  key_id BLOB);"
                             "CREATE TABLE IF NOT EXISTS secret ("
                             "  name TEXT PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 64),"
                             "  version INTEGER NOT NULL CHECK (version >= 1),"
                             "  created_us INTEGER NOT NULL,"
                             "  changed_us INTEGER NOT NULL,"
                             "  sealed BLOB NOT NULL);"
                             "INSERT OR IGNORE INTO secret_state (one, schema) VALUES (1, 1)";

static const struct lock_place KEY_LOCK = {.environment = 0, .version = 1};

struct secret_store {
    sqlite3 *db;
    int lock_fd;
    pthread_mutex_t lock; /* one thread at a time */
    struct secret_key_place key_place;
    char key_path[DATABASE_PATH_BYTES_MAX];
    struct secret_key key; /* the last one that was needed */
};

/* One record, as it is in the database. */
struct record {
    struct secret_info info;
    unsigned char *sealed; /* owned */
    size_t sealed_len;
};

/* ---- opening ---- */

void secret_value_release(struct secret_value *value)
{
    if (value->bytes != NULL) {
        explicit_bzero(value->bytes, value->len);
        free(value->bytes);
    }
    *value = (struct secret_value){.len = 0};
}

void secret_free(struct secret_store *store)
{
    if (store == NULL) {
        return;
    }
    (void)sqlite3_close(store->db);
    fd_closep(&store->lock_fd);
    (void)pthread_mutex_destroy(&store->lock);
    explicit_bzero(store, sizeof(*store));
    free(store);
}

/* Is there a table, and does this version understand it? Makes it when there is none. */
static int prepare_tables(struct secret_store *store, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int64_t schema;
    int r = database_prepare(
        store->db, "SELECT 1 FROM sqlite_schema WHERE name = 'secret_state'", &s, err);

    r = r < 0 ? r : database_step(store->db, s, err);
    if (r < 0) {
        return r;
    }
    if (r == 0) {
        r = database_begin(store->db, err);
        return r < 0 ? r : database_end(store->db, database_run(store->db, TABLES, err), err);
    }
    database_finalizep(&s);
    r = database_prepare(store->db, "SELECT schema FROM secret_state", &s, err);
    r = r < 0 ? r : database_step(store->db, s, err);
    if (r < 0) {
        return r;
    }
    schema = r > 0 ? sqlite3_column_int64(s, 0) : 0;
    if (schema > SCHEMA) {
        return vial__fail(err, VIAL_E_SYS,
            "the secrets were written by a newer vial (their schema is %lld, this one knows %d); "
            "use that one, or another data directory",
            (long long)schema, SCHEMA);
    }
    return schema == SCHEMA ? VIAL_OK
                            : vial__fail(err, VIAL_E_SYS, "the table of secrets is damaged");
}

static int set_key_place(
    struct secret_store *store, const struct secret_options *o, struct vial_error *err)
{
    int n;

    if (o->key_file != NULL && o->credential != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "secrets have one key: a file or a credential");
    }
    if (o->key_file == NULL && o->credential == NULL) {
        n = snprintf(store->key_path, sizeof(store->key_path), "%s/secret.key", o->directory);
    } else {
        n = snprintf(store->key_path, sizeof(store->key_path), "%s",
            o->key_file != NULL ? o->key_file : o->credential);
    }
    if (n <= 0 || (size_t)n >= sizeof(store->key_path)) {
        return vial__fail(err, VIAL_E_INVALID, "the path of a key file has 1 to %zu bytes",
            sizeof(store->key_path) - 1);
    }
    store->key_place.path = store->key_path;
    store->key_place.kind = o->key_file != NULL     ? SECRET_KEY_FILE
                            : o->credential != NULL ? SECRET_KEY_CREDENTIAL
                                                    : SECRET_KEY_OWN;
    return VIAL_OK;
}

/* Lets this thread alone use the store, and holds the lock on the key. */
static int enter(struct secret_store *store, enum lock_kind kind, struct vial_error *err)
{
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = lock_take(store->lock_fd, &KEY_LOCK, kind, DATABASE_BUSY_MS, err);
    if (r < 0) {
        (void)pthread_mutex_unlock(&store->lock);
        return vial__wrap(err, r, "the secrets have been in use for more than %d seconds",
            DATABASE_BUSY_MS / 1000);
    }
    return VIAL_OK;
}

static int leave(struct secret_store *store, int r)
{
    lock_drop(store->lock_fd, &KEY_LOCK);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

int secret_open(
    const struct secret_options *options, struct secret_store **ret, struct vial_error *err)
{
    struct secret_store *store;
    int r = seal_start(err);

    if (r < 0) {
        return r;
    }
    store = calloc(1, sizeof(*store));
    if (store == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store of secrets");
    }
    store->lock_fd = -1;
    (void)pthread_mutex_init(&store->lock, NULL);
    r = set_key_place(store, options, err);
    r = r < 0 ? r
              : database_open_in(
                    options->directory, &DATABASE_STORE, &store->db, &store->lock_fd, err);
    r = r < 0 ? r : enter(store, LOCK_EXCLUSIVE, err);
    if (r == VIAL_OK) {
        r = leave(store, prepare_tables(store, err));
    }
    if (r < 0) {
        secret_free(store);
        return r;
    }
    *ret = store;
    return VIAL_OK;
}

/* ---- records ---- */

static int fail_missing(struct vial_error *err, const char *name)
{
    (void)vial__fail(err, VIAL_E_INVALID, "there is no secret %.64s", name);
    if (err != NULL) {
        err->sys = ENOENT;
    }
    return VIAL_E_INVALID;
}

/* Checked before a name is shown to anybody. */
static int check_name(const char *name, struct vial_error *err)
{
    const char *fault = secret_name_fault(name, strlen(name));

    return fault == NULL ? VIAL_OK
                         : vial__fail(err, VIAL_E_INVALID, "the name of a secret %s", fault);
}

static void record_release(struct record *record)
{
    free(record->sealed);
    *record = (struct record){.sealed_len = 0};
}

/* Reads name, version, created_us, changed_us, length(sealed). */
static void read_info(sqlite3_stmt *s, struct secret_info *ret)
{
    const unsigned char *name = sqlite3_column_text(s, 0);
    int64_t sealed_len = sqlite3_column_int64(s, 4);

    *ret = (struct secret_info){.version = (uint64_t)sqlite3_column_int64(s, 1),
        .created_us = (uint64_t)sqlite3_column_int64(s, 2),
        .changed_us = (uint64_t)sqlite3_column_int64(s, 3),
        .value_bytes = sealed_len > SEAL_EXTRA_BYTES ? (uint64_t)sealed_len - SEAL_EXTRA_BYTES : 0};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name != NULL ? (const char *)name : "");
}

#define INFO_COLUMNS "SELECT name, version, created_us, changed_us, length(sealed)"

/* *ret_there is 0 when there is no such record. */
static int read_record(struct secret_store *store, const char *name, struct record *ret,
    int *ret_there, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    const void *bytes;
    int r =
        database_prepare(store->db, INFO_COLUMNS ", sealed FROM secret WHERE name = ?1", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    if (r <= 0) {
        *ret_there = 0;
        return r;
    }
    *ret = (struct record){.sealed_len = 0};
    read_info(s, &ret->info);
    bytes = sqlite3_column_blob(s, 5);
    ret->sealed_len = (size_t)sqlite3_column_bytes(s, 5);
    ret->sealed = malloc(ret->sealed_len + 1);
    if (ret->sealed == NULL || (bytes == NULL && ret->sealed_len > 0)) {
        record_release(ret);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a secret");
    }
    if (ret->sealed_len > 0) {
        memcpy(ret->sealed, bytes, ret->sealed_len);
    }
    *ret_there = 1;
    return VIAL_OK;
}

/* What a value is bound to: the kind and the format of the record, the version and the name. Each
 * has a fixed place, so that no two records have the same label. */
static size_t make_label(const struct secret_info *info, char ret[LABEL_BYTES_MAX])
{
    int n = snprintf(ret, LABEL_BYTES_MAX, "vial-%d %020llu %s", LABEL_FORMAT,
        (unsigned long long)info->version, info->name);

    return (size_t)n;
}

/* The value of a record, or VIAL_E_SYS when it does not open. */
static int open_record(const struct secret_key *key, const struct record *record,
    struct secret_value *ret, struct vial_error *err)
{
    char label[LABEL_BYTES_MAX];
    size_t label_len = make_label(&record->info, label);
    struct secret_value value = {.len = 0};

    if (record->sealed_len > SEAL_EXTRA_BYTES && record->sealed_len <= SEALED_BYTES_MAX) {
        value.len = record->sealed_len - SEAL_EXTRA_BYTES;
        value.bytes = malloc(value.len + 1);
        if (value.bytes == NULL) {
            return vial__fail(err, VIAL_E_NOMEM, "no memory for a secret");
        }
        value.bytes[value.len] = '\0';
        if (seal_open(key->bytes, label, label_len, record->sealed, record->sealed_len,
                value.bytes) == 0) {
            *ret = value;
            return VIAL_OK;
        }
        secret_value_release(&value);
    }
    return vial__fail(err, VIAL_E_SYS,
        "the record of the secret %s is damaged, or it is that of another secret; set it anew",
        record->info.name);
}

/* Seals the value and writes the record, inside of a transaction. */
static int write_record(struct secret_store *store, const struct secret_key *key,
    const struct secret_info *info, const void *bytes, size_t len, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    char label[LABEL_BYTES_MAX];
    size_t label_len = make_label(info, label);
    unsigned char *sealed VIAL_CLEANUP(vial__freep) = malloc(len + SEAL_EXTRA_BYTES);
    int r;

    if (sealed == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a secret");
    }
    seal_close(key->bytes, label, label_len, bytes, len, sealed);
    r = database_prepare(store->db,
        "INSERT OR REPLACE INTO secret (name, version, created_us, changed_us, sealed)"
        " VALUES (?1, ?2, ?3, ?4, ?5)",
        &s, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, info->name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, (int64_t)info->version);
    (void)sqlite3_bind_int64(s, 3, (int64_t)info->created_us);
    (void)sqlite3_bind_int64(s, 4, (int64_t)info->changed_us);
    (void)sqlite3_bind_blob(s, 5, sealed, (int)(len + SEAL_EXTRA_BYTES), SQLITE_STATIC);
    return database_step(store->db, s, err);
}

/* ---- the key ---- */

/* The id of the key that the values are sealed with, and how many there are. */
static int read_state(struct secret_store *store, unsigned char ret_id[SEAL_ID_BYTES],
    int64_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(
        store->db, "SELECT (SELECT count(*) FROM secret), key_id FROM secret_state", &s, err);

    r = r < 0 ? r : database_step(store->db, s, err);
    if (r < 0) {
        return r;
    }
    *ret_count = r > 0 ? sqlite3_column_int64(s, 0) : 0;
    if (*ret_count > 0) {
        const void *id = sqlite3_column_blob(s, 1);

        if (id == NULL || sqlite3_column_bytes(s, 1) != SEAL_ID_BYTES) {
            return vial__fail(err, VIAL_E_SYS, "the table of secrets is damaged");
        }
        memcpy(ret_id, id, SEAL_ID_BYTES);
    }
    return VIAL_OK;
}

static int write_state(
    struct secret_store *store, const struct secret_key *key, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db, "UPDATE secret_state SET key_id = ?1", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_blob(s, 1, key->id, SEAL_ID_BYTES, SQLITE_STATIC);
    return database_step(store->db, s, err);
}

/* The key for what is there, in store->key. Who holds the lock alone also ends what a process that
 * died has begun. */
static int need_key(struct secret_store *store, const unsigned char id[SEAL_ID_BYTES],
    enum lock_kind held, struct vial_error *err)
{
    int staged = 0;
    int r;

    if (held == LOCK_SHARED && store->key.is_set && memcmp(store->key.id, id, SEAL_ID_BYTES) == 0) {
        return VIAL_OK;
    }
    secret_key_wipe(&store->key);
    r = secret_key_find(&store->key_place, id, &store->key, &staged, err);
    return r == VIAL_OK && staged && held == LOCK_EXCLUSIVE
               ? secret_key_unstage(&store->key_place, err)
               : r;
}

/* The key for the first secret: the one that is there, or a new one. */
static int need_first_key(struct secret_store *store, struct vial_error *err)
{
    struct vial_error why = {.code = 0};
    int r;

    secret_key_wipe(&store->key);
    r = secret_key_read(&store->key_place, &store->key, &why);
    if (r < 0 && why.sys == ENOENT && store->key_place.kind == SECRET_KEY_OWN) {
        secret_key_new(&store->key);
        r = secret_key_make(&store->key_place, &store->key, &why);
    } else if (r < 0 && why.sys == ENOENT) {
        r = vial__fail(&why, VIAL_E_SYS,
            "there is no key file %s; (umask 077; head -c %d /dev/urandom > FILE) makes one",
            store->key_path, SEAL_KEY_BYTES);
    }
    if (r < 0) {
        secret_key_wipe(&store->key);
        if (err != NULL) {
            *err = why;
        }
    }
    return r;
}

/* ---- looking ---- */

/* Under the shared lock. */
static int get_locked(
    struct secret_store *store, const char *name, struct secret_value *ret, struct vial_error *err)
{
    unsigned char id[SEAL_ID_BYTES];
    struct record record;
    int64_t count = 0;
    int there = 0;
    int r = read_record(store, name, &record, &there, err);

    if (r < 0) {
        return r;
    }
    if (!there) {
        return fail_missing(err, name);
    }
    r = read_state(store, id, &count, err);
    r = r < 0 ? r : need_key(store, id, LOCK_SHARED, err);
    r = r < 0 ? r : open_record(&store->key, &record, ret, err);
    record_release(&record);
    return r;
}

int secret_get(
    struct secret_store *store, const char *name, struct secret_value *ret, struct vial_error *err)
{
    int r = check_name(name, err);

    r = r < 0 ? r : enter(store, LOCK_SHARED, err);
    return r < 0 ? r : leave(store, get_locked(store, name, ret, err));
}

int secret_lookup(void *user, const char *name, struct buf *ret, struct vial_error *err)
{
    struct secret_value value = {.len = 0};
    int r = secret_get(user, name, &value, err);

    r = r < 0 ? r : buf_add(ret, value.bytes, value.len, err);
    secret_value_release(&value);
    return r;
}

/* All rows of a statement with INFO_COLUMNS. */
static int collect(struct secret_store *store, sqlite3_stmt *s, struct secret_info **ret,
    size_t *ret_count, struct vial_error *err)
{
    struct secret_info *list = NULL, *grown;
    size_t count = 0, capacity = 0;
    int r;

    while ((r = database_step(store->db, s, err)) > 0) {
        if (count == capacity) {
            capacity = capacity == 0 ? LIST_FIRST_ALLOC : 2 * capacity;
            grown = realloc(list, capacity * sizeof(*list));
            if (grown == NULL) {
                r = vial__fail(err, VIAL_E_NOMEM, "no memory for a list of %zu", capacity);
                break;
            }
            list = grown;
        }
        read_info(s, &list[count++]);
    }
    if (r < 0) {
        free(list);
        return r;
    }
    *ret = list;
    *ret_count = count;
    return VIAL_OK;
}

static int list_locked(
    struct secret_store *store, struct secret_info **ret, size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db, INFO_COLUMNS " FROM secret ORDER BY name", &s, err);

    return r < 0 ? r : collect(store, s, ret, ret_count, err);
}

int secret_list(
    struct secret_store *store, struct secret_info **ret, size_t *ret_count, struct vial_error *err)
{
    int r = enter(store, LOCK_SHARED, err);

    return r < 0 ? r : leave(store, list_locked(store, ret, ret_count, err));
}

/* Is this record fine? *ret_value may be NULL, and is a value of the caller's otherwise. */
static int open_named(struct secret_store *store, const struct secret_key *key, const char *name,
    struct record *ret, struct secret_value *ret_value, struct vial_error *err)
{
    int there = 0;
    int r = read_record(store, name, ret, &there, err);

    if (r == VIAL_OK && !there) {
        return fail_missing(err, name); /* a name that is not what was listed */
    }
    if (r == VIAL_OK) {
        r = open_record(key, ret, ret_value, err);
        record_release(ret);
    }
    return r;
}

static int check_locked(struct secret_store *store, void (*on_bad)(const char *name, void *user),
    void *user, size_t *ret_count, struct vial_error *err)
{
    struct secret_info *list VIAL_CLEANUP(vial__freep) = NULL;
    unsigned char id[SEAL_ID_BYTES];
    size_t count = 0, fine = 0, i;
    int64_t rows = 0;
    int r = read_state(store, id, &rows, err);

    if (r == VIAL_OK && rows > 0) {
        secret_key_wipe(&store->key); /* the file is looked at anew */
        r = need_key(store, id, LOCK_SHARED, err);
    }
    r = r < 0 ? r : list_locked(store, &list, &count, err);
    for (i = 0; r == VIAL_OK && i < count; i++) {
        struct secret_value value = {.len = 0};
        struct record record;

        r = open_named(store, &store->key, list[i].name, &record, &value, err);
        secret_value_release(&value);
        if (r == VIAL_OK) {
            fine++;
        } else if (r != VIAL_E_NOMEM) {
            on_bad(list[i].name, user);
            r = VIAL_OK;
        }
    }
    if (r == VIAL_OK) {
        *ret_count = fine;
    }
    return r;
}

int secret_check(struct secret_store *store, void (*on_bad)(const char *name, void *user),
    void *user, size_t *ret_count, struct vial_error *err)
{
    int r = enter(store, LOCK_SHARED, err);

    return r < 0 ? r : leave(store, check_locked(store, on_bad, user, ret_count, err));
}

/* ---- changing ---- */

static uint64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* Inside of a transaction. */
static int set_inside(struct secret_store *store, const char *name, const void *bytes, size_t len,
    struct secret_info *ret, struct vial_error *err)
{
    struct secret_info info = {.version = 1, .value_bytes = len};
    unsigned char id[SEAL_ID_BYTES];
    struct record record;
    int64_t count = 0;
    int there = 0;
    int r = read_state(store, id, &count, err);

    r = r < 0        ? r
        : count == 0 ? need_first_key(store, err)
                     : need_key(store, id, LOCK_EXCLUSIVE, err);
    r = r < 0 ? r : read_record(store, name, &record, &there, err);
    if (r < 0) {
        return r;
    }
    info.changed_us = info.created_us = now_us();
    if (there) {
        info.version = record.info.version + 1;
        info.created_us = record.info.created_us;
        record_release(&record);
    } else if (count >= SECRETS_MAX) {
        return vial__fail(
            err, VIAL_E_INVALID, "there are %d secrets, which is all that are kept", SECRETS_MAX);
    }
    (void)snprintf(info.name, sizeof(info.name), "%s", name);
    r = write_record(store, &store->key, &info, bytes, len, err);
    r = r < 0 ? r : write_state(store, &store->key, err);
    if (r == VIAL_OK && ret != NULL) {
        *ret = info;
    }
    return r;
}

int secret_set(struct secret_store *store, const char *name, const void *bytes, size_t len,
    struct secret_info *ret, struct vial_error *err)
{
    struct secret_info info;
    int r = check_name(name, err);

    if (r == VIAL_OK && (len == 0 || len > SECRET_VALUE_BYTES_MAX)) {
        r = vial__fail(err, VIAL_E_INVALID, "a secret has 1 to %d bytes, and this one %zu",
            SECRET_VALUE_BYTES_MAX, len);
    }
    r = r < 0 ? r : enter(store, LOCK_EXCLUSIVE, err);
    if (r < 0) {
        return r;
    }
    r = database_begin(store->db, err);
    if (r == VIAL_OK) {
        r = set_inside(store, name, bytes, len, &info, err);
        r = database_end(store->db, r, err);
    }
    if (r == VIAL_OK && ret != NULL) {
        *ret = info;
    }
    return leave(store, r);
}

static int delete_locked(struct secret_store *store, const char *name, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db, "DELETE FROM secret WHERE name = ?1", &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    return r == VIAL_OK && sqlite3_changes(store->db) == 0 ? fail_missing(err, name) : r;
}

int secret_delete(struct secret_store *store, const char *name, struct vial_error *err)
{
    int r = check_name(name, err);

    r = r < 0 ? r : enter(store, LOCK_EXCLUSIVE, err);
    return r < 0 ? r : leave(store, delete_locked(store, name, err));
}

/* ---- a new key ---- */

/* Inside of a transaction: everything with the new key, and its id. */
static int reseal_all(struct secret_store *store, const struct secret_key *key, size_t *ret_count,
    struct vial_error *err)
{
    struct secret_info *list VIAL_CLEANUP(vial__freep) = NULL;
    size_t count = 0, i;
    int r = list_locked(store, &list, &count, err);

    for (i = 0; r == VIAL_OK && i < count; i++) {
        struct secret_value value = {.len = 0};
        struct record record;

        r = open_named(store, &store->key, list[i].name, &record, &value, err);
        r = r < 0 ? r : write_record(store, key, &list[i], value.bytes, value.len, err);
        secret_value_release(&value);
    }
    r = r < 0 ? r : write_state(store, key, err);
    if (r == VIAL_OK) {
        *ret_count = count;
    }
    return r;
}

/* The new key: from the operator's file, or made and staged beside the old one. */
static int get_new_key(struct secret_store *store, const char *new_key_file, struct secret_key *ret,
    struct vial_error *err)
{
    const struct secret_key_place place = {new_key_file, SECRET_KEY_FILE};
    int r;

    if (new_key_file == NULL && store->key_place.kind == SECRET_KEY_CREDENTIAL) {
        return vial__fail(err, VIAL_E_INVALID,
            "the key is a credential of the service manager, which is not ours to replace; give "
            "the new one as a file");
    }
    if (new_key_file == NULL) {
        secret_key_new(ret);
        return secret_key_stage(&store->key_place, ret, err);
    }
    r = secret_key_read(&place, ret, err);
    if (r == VIAL_OK && store->key.is_set && memcmp(store->key.id, ret->id, SEAL_ID_BYTES) == 0) {
        return vial__fail(
            err, VIAL_E_INVALID, "%s has the key that is in use already", new_key_file);
    }
    return r;
}

static int rotate_locked(
    struct secret_store *store, const char *new_key_file, size_t *ret_count, struct vial_error *err)
{
    struct secret_key key = {.is_set = 0};
    unsigned char id[SEAL_ID_BYTES];
    size_t resealed = 0;
    int64_t count = 0;
    int r = read_state(store, id, &count, err);

    r = r < 0 || count == 0 ? r : need_key(store, id, LOCK_EXCLUSIVE, err);
    r = r < 0 ? r : get_new_key(store, new_key_file, &key, err);
    r = r < 0 ? r : database_begin(store->db, err);
    if (r == VIAL_OK) {
        r = reseal_all(store, &key, &resealed, err);
        r = database_end(store->db, r, err);
        r = r < 0 || new_key_file != NULL ? r : secret_key_unstage(&store->key_place, err);
    }
    if (r == VIAL_OK) {
        store->key = key;
        *ret_count = resealed;
        /* What was sealed with the old key leaves the log, as far as nobody reads there. */
        (void)sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    secret_key_wipe(&key);
    return r;
}

int secret_rotate(
    struct secret_store *store, const char *new_key_file, size_t *ret_count, struct vial_error *err)
{
    int r = enter(store, LOCK_EXCLUSIVE, err);

    return r < 0 ? r : leave(store, rotate_locked(store, new_key_file, ret_count, err));
}
