/* database.h - the SQLite database of a store: opened safely, brought up to date, asked. For the
 * inside of src/store only. */
#ifndef VIAL_STORE_DATABASE_H
#define VIAL_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdint.h>

#include "store/directory.h"
#include "vial.h"

enum {
    /* "vial" as a number, in the file's header: a database of something else is left alone. */
    DATABASE_APPLICATION = 0x7669616c,
    DATABASE_PATH_BYTES_MAX = DIRECTORY_BYTES_MAX + 32, /* of the files in the directory */
    /* How long a change waits for another process's. Each takes a few milliseconds, so after this
     * long something else is wrong. */
    DATABASE_BUSY_MS = 10000,
};

/* What a file of a data directory is: constants. */
struct database_kind {
    const char *file;    /* its name in the directory */
    int32_t application; /* in the file's header: a database of something else is left alone */
    /* The schema as the steps that lead to it. A step that was released is never changed;
     * user_version in the file's header counts those that were made. */
    const char *const *migrations;
    int migrations_count;
    int may_lose_last; /* commits do not wait for the disk: a loss of power may take the last ones
                        */
};

/* Environments, and whatever has tables of its own beside them. */
extern const struct database_kind DATABASE_STORE;

/* Opens the file, makes it when it is missing, and runs the migrations that it lacks. One process
 * at a time may do this: the caller holds a lock. */
VIAL_NODISCARD int database_open(
    const char *path, const struct database_kind *kind, sqlite3 **ret, struct vial_error *err);

/* Opens a database of a data directory, which is made when it is missing, and the file of its
 * locks. Both belong to the caller on success only. Waits while somebody else does this. */
VIAL_NODISCARD int database_open_in(const char *directory, const struct database_kind *kind,
    sqlite3 **ret, int *ret_lock_fd, struct vial_error *err);

/* Runs statements without parameters or results. */
VIAL_NODISCARD int database_run(sqlite3 *db, const char *sql, struct vial_error *err);

/* Begins and ends a change. begin waits for other writers. end commits when r is 0, and takes
 * everything back when it is not or when the commit fails; it returns r, or the commit's failure.
 */
VIAL_NODISCARD int database_begin(sqlite3 *db, struct vial_error *err);
VIAL_NODISCARD int database_end(sqlite3 *db, int r, struct vial_error *err);

/* A statement, to be finalized by database_finalizep. */
VIAL_NODISCARD int database_prepare(
    sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct vial_error *err);
void database_finalizep(sqlite3_stmt **statement);

/* One step: 1 with a row, 0 at the end, or negative. */
VIAL_NODISCARD int database_step(sqlite3 *db, sqlite3_stmt *statement, struct vial_error *err);

/* The sentence for what SQLite just said about this database. */
int database_fail(sqlite3 *db, int rc, struct vial_error *err);

#endif
