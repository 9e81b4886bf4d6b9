/* run_recording.c - the recordings of runs, in the store of runs: see run_store.h.
 *
 * A recording is saved in the transaction that saves its run and removed by the one that removes
 * it, so that neither a crash nor a full disk leaves one without the other. What had to make room
 * leaves the reason behind. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "store/database.h"
#include "store/run_store_inside.h"

enum { FAULT_BYTES_MAX = 400 };

static const char MADE_ROOM[] =
    "the recording is not kept any more: newer ones needed its room (recordings_max)";

void run_store_set_recordings_max(struct run_store *store, uint64_t bytes_max)
{
    (void)pthread_mutex_lock(&store->lock);
    store->recordings_bytes_max = bytes_max;
    (void)pthread_mutex_unlock(&store->lock);
}

/* ---- saving ---- */

/* How many bytes all of them have. */
static int count_bytes(sqlite3 *db, uint64_t *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r =
        database_prepare(db, "SELECT coalesce(sum(len), 0) FROM recording WHERE len > 0", &s, err);

    if (r < 0) {
        return r;
    }
    r = database_step(db, s, err);
    *ret = r > 0 ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
    return r < 0 ? r : VIAL_OK;
}

/* Takes the bytes of the oldest away; *ret_bytes 0: there is none. */
static int drop_oldest(sqlite3 *db, uint64_t *ret_bytes, struct vial_error *err)
{
    sqlite3_stmt *find VIAL_CLEANUP(database_finalizep) = NULL;
    sqlite3_stmt *drop VIAL_CLEANUP(database_finalizep) = NULL;
    char run[ID_BYTES_MAX + 1];
    int r = database_prepare(
        db, "SELECT run, len FROM recording WHERE len > 0 ORDER BY run LIMIT 1", &find, err);

    *ret_bytes = 0;
    r = r < 0 ? r : database_step(db, find, err);
    if (r <= 0) {
        return r;
    }
    run_store_copy_text(find, 0, run, sizeof(run));
    *ret_bytes = (uint64_t)sqlite3_column_int64(find, 1);
    r = database_prepare(
        db, "UPDATE recording SET bytes = NULL, len = 0, fault = ?2 WHERE run = ?1", &drop, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(drop, 1, run, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(drop, 2, MADE_ROOM, -1, SQLITE_STATIC);
    return database_step(db, drop, err);
}

static int make_room(struct run_store *store, struct vial_error *err)
{
    uint64_t bytes = 0, dropped = 1;
    int r =
        store->recordings_bytes_max != UINT64_MAX ? count_bytes(store->db, &bytes, err) : VIAL_OK;

    while (r == VIAL_OK && bytes > store->recordings_bytes_max && dropped > 0) {
        r = drop_oldest(store->db, &dropped, err);
        bytes -= dropped < bytes ? dropped : bytes;
    }
    return r;
}

int run_recording_save(
    struct run_store *store, const struct stored_run *run, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r;

    if (run->recording == NULL && run->recording_fault == NULL) {
        return VIAL_OK;
    }
    r = database_prepare(store->db,
        "INSERT INTO recording (run, len, fault, bytes) VALUES (?1, ?2, ?3, ?4)"
        " ON CONFLICT (run) DO UPDATE SET len = excluded.len, fault = excluded.fault,"
        " bytes = excluded.bytes",
        &s, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, run->id, -1, SQLITE_STATIC);
    if (run->recording != NULL) {
        (void)sqlite3_bind_int64(s, 2, (int64_t)run->recording_len);
        (void)sqlite3_bind_text(s, 3, "", -1, SQLITE_STATIC);
        (void)sqlite3_bind_blob(s, 4, run->recording, (int)run->recording_len, SQLITE_STATIC);
    } else {
        (void)sqlite3_bind_int64(s, 2, 0);
        (void)sqlite3_bind_text(s, 3, run->recording_fault, -1, SQLITE_STATIC);
    }
    r = database_step(store->db, s, err);
    return r < 0 ? r : make_room(store, err);
}

/* ---- reading ---- */

static int get_locked(
    struct run_store *store, const char *id, char **ret, size_t *ret_len, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    char fault[FAULT_BYTES_MAX];
    int r = database_prepare(store->db,
        "SELECT recording.fault, recording.len, recording.bytes FROM run"
        " LEFT JOIN recording ON recording.run = run.id WHERE run.id = ?1",
        &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_text(s, 1, id, -1, SQLITE_STATIC);
    r = database_step(store->db, s, err);
    if (r <= 0) {
        return r < 0 ? r : run_store_fail(err, ENOENT, "there is no such run");
    }
    if (sqlite3_column_type(s, 0) == SQLITE_NULL) {
        return run_store_fail(err, ENODATA, "the run was not recorded");
    }
    if (sqlite3_column_type(s, 2) == SQLITE_NULL) {
        run_store_copy_text(s, 0, fault, sizeof(fault));
        return run_store_fail(err, ESTALE, fault);
    }
    if (sqlite3_column_int64(s, 1) != sqlite3_column_bytes(s, 2)) {
        return vial__fail(err, VIAL_E_SYS, "the recording of %s is damaged", id);
    }
    return run_store_copy_bytes(s, 2, ret, ret_len, err);
}

int run_store_recording(
    struct run_store *store, const char *id, char **ret, size_t *ret_len, struct vial_error *err)
{
    int r;

    if (!id_is_valid(RUN_PREFIX, id, strlen(id))) {
        return run_store_fail(err, ENOENT, "there is no such run");
    }
    (void)pthread_mutex_lock(&store->lock);
    r = get_locked(store, id, ret, ret_len, err);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}
