/* database.c - see database.h.
 *
 * The journal is a write-ahead log: readers do not wait for writers. synchronous=FULL makes every
 * commit wait for the disk, which is what "created" means to the one who asked for it; there are
 * few of them, or many share one. What is deleted is overwritten, since documents may have keys to
 * other services in them.
 */
#include "store/database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "store/lock.h"

static const char *const MIGRATIONS[] = {
    /* version_last is the largest number that was ever given out, and stays when all versions are
     * gone; the triggers keep whoever edits the file by hand from breaking that. */
    "CREATE TABLE environment ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  name TEXT NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 64),"
    "  version_last INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE version ("
    "  environment INTEGER NOT NULL REFERENCES environment (id),"
    "  number INTEGER NOT NULL CHECK (number BETWEEN 1 AND 2147483647),"
    "  created_us INTEGER NOT NULL,"
    "  document BLOB NOT NULL,"
    "  UNIQUE (environment, number));"
    "CREATE TRIGGER version_last_only_grows BEFORE UPDATE OF version_last ON environment"
    "  WHEN new.version_last <= old.version_last"
    "  BEGIN SELECT RAISE (ABORT, 'a version number would be used again'); END;"
    "CREATE TRIGGER environment_stays BEFORE DELETE ON environment"
    "  BEGIN SELECT RAISE (ABORT, 'the numbers of an environment would be forgotten'); END;",
};

const struct database_kind DATABASE_STORE = {.file = "store.db",
    .application = DATABASE_APPLICATION,
    .migrations = MIGRATIONS,
    .migrations_count = sizeof(MIGRATIONS) / sizeof(MIGRATIONS[0])};

int database_fail(sqlite3 *db, int rc, struct vial_error *err)
{
    int sys = sqlite3_system_errno(db);

    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return vial__fail(err, VIAL_E_BUSY,
            "another process has been changing the store for more than %d seconds",
            DATABASE_BUSY_MS / 1000);
    case SQLITE_NOMEM:
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store");
    case SQLITE_FULL:
        return vial__fail_sys(err, ENOSPC, "the disk of the store is full");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return vial__fail_sys(err, EBADMSG,
            "the store is damaged (%s); put a copy of it back, or move it away to begin anew",
            sqlite3_errmsg(db));
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        return vial__fail_sys(
            err, sys != 0 ? sys : EACCES, "the store cannot be written (%s)", sqlite3_errmsg(db));
    default:
        if (sys == ENOSPC) { /* no room for the index of the log, which readers need as well */
            return vial__fail_sys(err, ENOSPC, "the disk of the store is full");
        }
        return vial__fail_sys(
            err, sys != 0 ? sys : EIO, "the store failed (%s)", sqlite3_errmsg(db));
    }
}

int database_run(sqlite3 *db, const char *sql, struct vial_error *err)
{
    int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? VIAL_OK : database_fail(db, rc, err);
}

int database_begin(sqlite3 *db, struct vial_error *err)
{
    return database_run(db, "BEGIN IMMEDIATE", err);
}

int database_end(sqlite3 *db, int r, struct vial_error *err)
{
    if (r >= 0) {
        r = database_run(db, "COMMIT", err);
    }
    if (r < 0 && !sqlite3_get_autocommit(db)) { /* some failures have rolled back already */
        (void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
    return r;
}

int database_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct vial_error *err)
{
    int rc = sqlite3_prepare_v2(db, sql, -1, ret, NULL);

    return rc == SQLITE_OK ? VIAL_OK : database_fail(db, rc, err);
}

void database_finalizep(sqlite3_stmt **statement)
{
    (void)sqlite3_finalize(*statement); /* repeats the failure of the last step */
    *statement = NULL;
}

int database_step(sqlite3 *db, sqlite3_stmt *statement, struct vial_error *err)
{
    int rc = sqlite3_step(statement);

    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : database_fail(db, rc, err);
}

/* A pragma that answers with a number. */
static int get_number(sqlite3 *db, const char *sql, int64_t *ret, struct vial_error *err)
{
    sqlite3_stmt *statement VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(db, sql, &statement, err);

    r = r < 0 ? r : database_step(db, statement, err);
    if (r < 0) {
        return r;
    }
    *ret = r > 0 ? sqlite3_column_int64(statement, 0) : 0;
    return VIAL_OK;
}

/* Is this a store of ours that this version understands? *ret is how many migrations it has had. */
static int check_origin(
    sqlite3 *db, const struct database_kind *kind, int64_t *ret, struct vial_error *err)
{
    int64_t application = 0, version = 0, tables = 0;
    int r = get_number(db, "PRAGMA application_id", &application, err);

    r = r < 0 ? r : get_number(db, "PRAGMA user_version", &version, err);
    r = r < 0 ? r : get_number(db, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (r < 0) {
        return r;
    }
    if (application != kind->application && (application != 0 || version != 0 || tables != 0)) {
        return vial__fail(err, VIAL_E_SYS, "it is a database of another program");
    }
    if (version > kind->migrations_count || version < 0) {
        return vial__fail(err, VIAL_E_SYS,
            "it was written by a newer vial (its schema is %lld, this one knows %d); use that one, "
            "or another data directory",
            (long long)version, kind->migrations_count);
    }
    *ret = version;
    return VIAL_OK;
}

static int migrate(
    sqlite3 *db, const struct database_kind *kind, int64_t from, struct vial_error *err)
{
    char mark[96];
    int r = VIAL_OK;
    int64_t i;

    for (i = from; i < kind->migrations_count && r == VIAL_OK; i++) {
        (void)snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %d",
            (int)kind->application, (int)i + 1);
        r = database_begin(db, err);
        if (r == VIAL_OK) {
            r = database_run(db, kind->migrations[i], err);
            r = r < 0 ? r : database_run(db, mark, err);
            r = database_end(db, r, err);
        }
    }
    return r;
}

/* Looks before it changes anything: the file may be somebody else's. */
static int prepare_database(sqlite3 *db, const struct database_kind *kind, struct vial_error *err)
{
    int64_t version = 0;
    int r = sqlite3_busy_timeout(db, DATABASE_BUSY_MS);

    r = r != SQLITE_OK ? database_fail(db, r, err) : VIAL_OK;
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    r = r < 0 ? r : check_origin(db, kind, &version, err);
    /* Only a new file is told: the pragma writes, and a full disk should still be readable. */
    r = r < 0 || version != 0 ? r : database_run(db, "PRAGMA auto_vacuum = FULL", err);
    r = r < 0 ? r
              : database_run(db,
                    "PRAGMA journal_mode = WAL;"
                    "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
                    "PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON",
                    err);
    r = r < 0 || !kind->may_lose_last ? r : database_run(db, "PRAGMA synchronous = NORMAL", err);
    return r < 0 ? r : migrate(db, kind, version, err);
}

int database_open(
    const char *path, const struct database_kind *kind, sqlite3 **ret, struct vial_error *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(
        path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, NULL);
    int r;

    if (db == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the store");
    }
    r = rc == SQLITE_OK ? prepare_database(db, kind, err) : database_fail(db, rc, err);
    if (r < 0) {
        (void)sqlite3_close(db);
        return vial__wrap(err, r, "%s", path);
    }
    *ret = db;
    return VIAL_OK;
}

/* Two processes that open a new directory at once: one makes the database, the other finds it. */
static int open_locked(const char *path, const struct database_kind *kind, int lock_fd,
    sqlite3 **ret, struct vial_error *err)
{
    const struct lock_place opening = {.environment = 0};
    int r = lock_take(lock_fd, &opening, LOCK_EXCLUSIVE, DATABASE_BUSY_MS, err);

    if (r < 0) {
        return vial__wrap(err, r, "the store is being opened for too long");
    }
    r = directory_make_file(path, err);
    r = r < 0 ? r : database_open(path, kind, ret, err);
    lock_drop(lock_fd, &opening);
    return r;
}

int database_open_in(const char *directory, const struct database_kind *kind, sqlite3 **ret,
    int *ret_lock_fd, struct vial_error *err)
{
    char path[DATABASE_PATH_BYTES_MAX];
    int lock_fd = -1;
    int r = directory_make(directory, err);

    if (r < 0) {
        return r;
    }
    (void)snprintf(path, sizeof(path), "%s/in-use", directory);
    r = lock_open(path, &lock_fd, err);
    if (r < 0) {
        return r;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", directory, kind->file);
    r = open_locked(path, kind, lock_fd, ret, err);
    if (r < 0) {
        fd_closep(&lock_fd);
        return r;
    }
    *ret_lock_fd = lock_fd;
    return VIAL_OK;
}
