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
};

/* Copies the text of a column, cut to size. */
void run_store_copy_text(sqlite3_stmt *s, int column, char *ret, size_t size);

/* Copies the bytes of a column with a NUL behind them; NULL when it is NULL. */
VIAL_NODISCARD int run_store_copy_bytes(
    sqlite3_stmt *s, int column, char **ret, size_t *ret_len, struct vial_error *err);

/* Inside of a transaction: what recovery does with requests. */
VIAL_NODISCARD int idempotency_interrupt(sqlite3 *db, struct vial_error *err);

#endif
