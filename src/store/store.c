/* store.c - see store.h. */
#include "store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/database.h"
#include "store/lock.h"

enum {
    USE_TRIES_MAX = 10, /* the newest version was deleted each time between two looks */
    LIST_FIRST_ALLOC = 16,
};

struct store {
    sqlite3 *db;
    int lock_fd; /* what deletions hold */
    char lock_path[DATABASE_PATH_BYTES_MAX];
};

struct store_use {
    int fd; /* holds the lock until it is closed */
    uint32_t version;
};

/* ---- opening ---- */

void store_free(struct store *store)
{
    if (store == NULL) {
        return;
    }
    (void)sqlite3_close(store->db);
    fd_closep(&store->lock_fd);
    free(store);
}

int store_open(const char *directory, struct store **ret, struct vial_error *err)
{
    struct store *store = calloc(1, sizeof(*store));
    int r;

    if (store == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store");
    }
    store->lock_fd = -1;
    r = database_open_in(directory, &DATABASE_STORE, &store->db, &store->lock_fd, err);
    if (r < 0) {
        store_free(store);
        return r;
    }
    (void)snprintf(store->lock_path, sizeof(store->lock_path), "%s/in-use", directory);
    *ret = store;
    return VIAL_OK;
}

/* ---- finding ---- */

/* "what name@version", with an errno that tells a program what a person reads. */
static int fail_with(
    struct vial_error *err, int sys, const char *what, const char *name, uint32_t version)
{
    char ref[STORE_NAME_BYTES_MAX + 16];

    if (version != 0) {
        (void)snprintf(ref, sizeof(ref), "%.64s@%" PRIu32, name, version);
    } else {
        (void)snprintf(ref, sizeof(ref), "%.64s", name);
    }
    (void)vial__fail(err, VIAL_E_INVALID, "%s %s", what, ref);
    if (err != NULL) {
        err->sys = sys;
    }
    return VIAL_E_INVALID;
}

/* What is known of a name. */
struct found {
    int64_t id; /* 0 when the name was never used */
    int64_t version_last;
    int64_t newest; /* 0 when no version is left */
    int64_t count;  /* of the versions that are left */
};

static int find(struct store *store, const char *name, struct found *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db,
        "SELECT e.id, e.version_last, max(v.number), count(v.number) FROM environment e"
        " LEFT JOIN version v ON v.environment = e.id WHERE e.name = ?1 GROUP BY e.id",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    *ret = (struct found){.id = 0};
    if (r > 0) {
        *ret = (struct found){.id = sqlite3_column_int64(s, 0),
            .version_last = sqlite3_column_int64(s, 1),
            .newest = sqlite3_column_int64(s, 2),
            .count = sqlite3_column_int64(s, 3)};
    }
    return r < 0 ? r : VIAL_OK;
}

/* Reads a row of name, number, count, created_us, bytes. */
static void read_version(sqlite3_stmt *s, struct store_version *ret)
{
    const unsigned char *name = sqlite3_column_text(s, 0);

    *ret = (struct store_version){.version = (uint32_t)sqlite3_column_int64(s, 1),
        .versions_count = (uint32_t)sqlite3_column_int64(s, 2),
        .created_us = (uint64_t)sqlite3_column_int64(s, 3),
        .document_bytes = (uint64_t)sqlite3_column_int64(s, 4)};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name != NULL ? (const char *)name : "");
}

#define VERSION_COLUMNS                                                                            \
    "SELECT e.name, v.number, (SELECT count(*) FROM version WHERE environment = e.id),"            \
    " v.created_us, length(v.document)"

static int copy_document(sqlite3_stmt *s, int column, char **ret, struct vial_error *err)
{
    const void *bytes = sqlite3_column_blob(s, column);
    size_t len = (size_t)sqlite3_column_bytes(s, column);
    char *copy = malloc(len + 1);

    if (copy == NULL || (bytes == NULL && len > 0)) {
        free(copy);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a document of %zu bytes", len);
    }
    if (len > 0) {
        memcpy(copy, bytes, len);
    }
    copy[len] = '\0';
    *ret = copy;
    return VIAL_OK;
}

int store_get(struct store *store, const char *name, uint32_t version, struct store_version *ret,
    char **ret_document, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db,
        VERSION_COLUMNS ", v.document FROM environment e JOIN version v ON v.environment = e.id"
                        " WHERE e.name = ?1 AND (?2 = 0 OR v.number = ?2)"
                        " ORDER BY v.number DESC LIMIT 1",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, version);
    r = database_step(store->db, s, err);
    if (r == 0) {
        return fail_with(err, ENOENT, "there is no environment", name, version);
    }
    if (r > 0 && ret_document != NULL) {
        r = copy_document(s, 5, ret_document, err);
    }
    if (r >= 0 && ret != NULL) {
        read_version(s, ret);
    }
    return r < 0 ? r : VIAL_OK;
}

/* All rows of a statement. */
static int collect(struct store *store, sqlite3_stmt *s, struct store_version **ret,
    size_t *ret_count, struct vial_error *err)
{
    struct store_version *list = NULL, *grown;
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
        read_version(s, &list[count++]);
    }
    if (r < 0) {
        free(list);
        return r;
    }
    *ret = list;
    *ret_count = count;
    return VIAL_OK;
}

int store_list(
    struct store *store, struct store_version **ret, size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db,
        VERSION_COLUMNS " FROM environment e JOIN version v ON v.environment = e.id WHERE v.number"
                        " = (SELECT max(number) FROM version WHERE environment = e.id)"
                        " ORDER BY e.name",
        &s, err);

    return r < 0 ? r : collect(store, s, ret, ret_count, err);
}

int store_versions(struct store *store, const char *name, struct store_version **ret,
    size_t *ret_count, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    struct store_version *list = NULL;
    size_t count = 0;
    int r = database_prepare(store->db,
        VERSION_COLUMNS " FROM environment e JOIN version v ON v.environment = e.id"
                        " WHERE e.name = ?1 ORDER BY v.number DESC",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
    r = collect(store, s, &list, &count, err);
    if (r == VIAL_OK && count == 0) {
        free(list);
        return fail_with(err, ENOENT, "there is no environment", name, 0);
    }
    if (r == VIAL_OK) {
        *ret = list;
        *ret_count = count;
    }
    return r;
}

/* ---- changing ---- */

static int64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Runs a statement with up to two parameters that gives no rows. text is not NULL or number is
 * used. */
static int change(struct store *store, const char *sql, const char *text, int64_t number,
    int64_t second, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db, sql, &s, err);

    if (r < 0) {
        return r;
    }
    if (text != NULL) {
        (void)sqlite3_bind_text(s, 1, text, -1, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_int64(s, 1, number);
    }
    if (sqlite3_bind_parameter_count(s) > 1) {
        (void)sqlite3_bind_int64(s, 2, second);
    }
    return database_step(store->db, s, err);
}

static int add_name(
    struct store *store, const char *name, struct found *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(store->db, "SELECT count(*) FROM environment", &s, err);

    r = r < 0 ? r : database_step(store->db, s, err);
    if (r > 0 && sqlite3_column_int64(s, 0) >= STORE_NAMES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "the store has had %d names of environments, which is all that it takes",
            STORE_NAMES_MAX);
    }
    r = r < 0 ? r : change(store, "INSERT INTO environment (name) VALUES (?1)", name, 0, 0, err);
    if (r == VIAL_OK) {
        *ret = (struct found){.id = sqlite3_last_insert_rowid(store->db)};
    }
    return r;
}

static int add_version(struct store *store, const struct found *found, const char *document,
    size_t len, uint32_t *ret_version, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int64_t number = found->version_last + 1;
    int r;

    if (number > INT32_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the versions of this environment are used up");
    }
    r = change(store, "UPDATE environment SET version_last = ?2 WHERE id = ?1", NULL, found->id,
        number, err);
    r = r < 0 ? r
              : database_prepare(store->db,
                    "INSERT INTO version (environment, number, created_us, document)"
                    " VALUES (?1, ?2, ?3, ?4)",
                    &s, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_int64(s, 1, found->id);
    (void)sqlite3_bind_int64(s, 2, number);
    (void)sqlite3_bind_int64(s, 3, now_us());
    (void)sqlite3_bind_blob(s, 4, len > 0 ? document : "", (int)len, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    if (r == VIAL_OK) {
        *ret_version = (uint32_t)number;
    }
    return r;
}

/* Inside of a transaction. must_exist tells an update from a creation. */
static int put(struct store *store, const char *name, int must_exist, const char *document,
    size_t len, uint32_t *ret_version, struct vial_error *err)
{
    struct found found;
    int r = find(store, name, &found, err);

    if (r < 0) {
        return r;
    }
    if (must_exist && found.count == 0) {
        return fail_with(err, ENOENT, "there is no environment", name, 0);
    }
    if (!must_exist && found.count > 0) {
        return fail_with(err, EEXIST, "there is already an environment", name, 0);
    }
    if (found.count >= STORE_VERSIONS_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "%.64s has %d versions, which is all that are kept; delete old ones", name,
            STORE_VERSIONS_MAX);
    }
    r = found.id == 0 ? add_name(store, name, &found, err) : VIAL_OK;
    return r < 0 ? r : add_version(store, &found, document, len, ret_version, err);
}

static int put_whole(struct store *store, const char *name, int must_exist, const char *document,
    size_t len, uint32_t *ret_version, struct vial_error *err)
{
    uint32_t version = 0;
    int r;

    if (name[0] == '\0' || strlen(name) > STORE_NAME_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "the name of an environment has 1 to %d bytes",
            STORE_NAME_BYTES_MAX);
    }
    if (len > STORE_DOCUMENT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "a document has %zu bytes; it may have up to %d",
            len, STORE_DOCUMENT_BYTES_MAX);
    }
    r = database_begin(store->db, err);
    if (r < 0) {
        return r;
    }
    r = put(store, name, must_exist, document, len, &version, err);
    r = database_end(store->db, r, err);
    if (r == VIAL_OK) {
        *ret_version = version;
    }
    return r;
}

int store_create(struct store *store, const char *name, const char *document, size_t len,
    uint32_t *ret_version, struct vial_error *err)
{
    return put_whole(store, name, 0, document, len, ret_version, err);
}

int store_update(struct store *store, const char *name, const char *document, size_t len,
    uint32_t *ret_version, struct vial_error *err)
{
    return put_whole(store, name, 1, document, len, ret_version, err);
}

/* ---- deleting and using ---- */

/* Inside of a transaction. */
static int delete_rows(
    struct store *store, const char *name, int64_t id, uint32_t version, struct vial_error *err)
{
    int r = change(store, "DELETE FROM version WHERE environment = ?1 AND (?2 = 0 OR number = ?2)",
        NULL, id, version, err);

    if (r == VIAL_OK && sqlite3_changes(store->db) == 0) {
        return fail_with(err, ENOENT, "there is no environment", name, version);
    }
    return r;
}

int store_delete(
    struct store *store, const char *name, uint32_t version, int force, struct vial_error *err)
{
    struct lock_place place = {.version = version};
    struct found found;
    int r = find(store, name, &found, err);

    if (r < 0) {
        return r;
    }
    if (found.count == 0) {
        return fail_with(err, ENOENT, "there is no environment", name, version);
    }
    place.environment = found.id;
    if (!force) {
        r = lock_take(store->lock_fd, &place, LOCK_EXCLUSIVE, 0, err);
    }
    if (r == VIAL_E_BUSY) {
        return vial__fail(err, VIAL_E_BUSY,
            "%.64s is in use; end what runs in it, or delete it all the same with --force", name);
    }
    r = r < 0 ? r : database_begin(store->db, err);
    if (r == VIAL_OK) {
        r = delete_rows(store, name, found.id, version, err);
        r = database_end(store->db, r, err);
    }
    if (!force) {
        lock_drop(store->lock_fd, &place);
    }
    return r;
}

/* Locks first and looks again then: whoever deletes holds the lock while the version goes. *ret is
 * 1 when it is there, 0 when it has gone in between. */
static int lock_version(struct store *store, int fd, const char *name, struct lock_place *place,
    int *ret, struct vial_error *err)
{
    int r = lock_take(fd, place, LOCK_SHARED, DATABASE_BUSY_MS, err);

    if (r < 0) {
        return vial__wrap(err, r, "%.64s is being deleted", name);
    }
    r = store_get(store, name, place->version, NULL, NULL, err);
    *ret = r == VIAL_OK;
    if (!*ret) {
        lock_drop(fd, place);
    }
    return r == VIAL_E_INVALID ? VIAL_OK : r;
}

int store_use(struct store *store, const char *name, uint32_t version, struct store_use **ret,
    struct vial_error *err)
{
    struct store_use *use = calloc(1, sizeof(*use));
    struct found found;
    int r, there = 0;
    unsigned tries;

    if (use == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the use of an environment");
    }
    use->fd = -1;
    r = lock_open(store->lock_path, &use->fd, err);
    for (tries = 0; r == VIAL_OK && !there && tries < USE_TRIES_MAX; tries++) {
        r = find(store, name, &found, err);
        if (r == VIAL_OK && (found.count == 0 || (tries > 0 && version != 0))) {
            r = fail_with(err, ENOENT, "there is no environment", name, version);
        }
        if (r == VIAL_OK) {
            struct lock_place place = {found.id, version != 0 ? version : (uint32_t)found.newest};

            use->version = place.version;
            r = lock_version(store, use->fd, name, &place, &there, err);
        }
    }
    if (r == VIAL_OK && !there) {
        r = vial__fail(err, VIAL_E_BUSY, "%.64s changes all the time", name);
    }
    if (r < 0) {
        store_use_free(use);
        return r;
    }
    *ret = use;
    return VIAL_OK;
}

uint32_t store_use_version(const struct store_use *use)
{
    return use->version;
}

void store_use_free(struct store_use *use)
{
    if (use != NULL) {
        fd_closep(&use->fd);
        free(use);
    }
}
