/* run_store_inside.h - what the files of the store of runs share. For src/store only. */
#ifndef VIAL_STORE_RUN_STORE_INSIDE_H
#define VIAL_STORE_RUN_STORE_INSIDE_H

#include <pthread.h>
#include <sqlite3.h>

#include "store/run_store.h"

struct run_store {
    sqlite3 *db;
    int lock_fd;
    pthread_mutex_t lock; /* one thread at a time */
    uint64_t recordings_bytes_max;
};

/* VIAL_E_INVALID, with sys in err. */
int run_store_fail(struct vial_error *err, int sys, const char *text);

/* Copies the text of a column, cut to size. */
void run_store_copy_text(sqlite3_stmt *s, int column, char *ret, size_t size);

/* Copies the bytes of a column with a NUL behind them; NULL when it is NULL. */
VIAL_NODISCARD int run_store_copy_bytes(
    sqlite3_stmt *s, int column, char **ret, size_t *ret_len, struct vial_error *err);

/* Inside of a transaction: keeps what run has of a recording, and makes room for it. */
VIAL_NODISCARD int run_recording_save(
    struct run_store *store, const struct stored_run *run, struct vial_error *err);

/* Inside of a transaction: what recovery does with requests. */
VIAL_NODISCARD int idempotency_interrupt(sqlite3 *db, struct vial_error *err);

#endif
