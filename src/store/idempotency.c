/* idempotency.c - requests that come twice, as run_store.h has them. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/database.h"
#include "store/run_store_inside.h"

enum { STATE_RUNNING, STATE_DONE, STATE_INTERRUPTED, HASH_BYTES = crypto_hash_sha256_BYTES };

void idempotency_answer_release(struct idempotency_answer *answer)
{
    free(answer->body);
    answer->body = NULL;
    answer->body_len = 0;
}

int idempotency_interrupt(sqlite3 *db, struct vial_error *err)
{
    char sql[96];

    (void)snprintf(sql, sizeof(sql), "UPDATE request SET state = %d WHERE state = %d",
        STATE_INTERRUPTED, STATE_RUNNING);
    return database_run(db, sql, err);
}

static int check_name(size_t name_len, struct vial_error *err)
{
    return name_len > 0 && name_len <= IDEMPOTENCY_NAME_BYTES_MAX
               ? VIAL_OK
               : vial__fail(err, VIAL_E_INVALID, "an idempotency key has 1 to %d bytes",
                     IDEMPOTENCY_NAME_BYTES_MAX);
}

/* A statement whose first two parameters are the key and the name. */
static int prepare(struct run_store *store, const char *sql, const char *key, const char *name,
    size_t name_len, sqlite3_stmt **ret, struct vial_error *err)
{
    int r = database_prepare(store->db, sql, ret, err);

    if (r == VIAL_OK) {
        (void)sqlite3_bind_text(*ret, 1, key, -1, SQLITE_STATIC);
        (void)sqlite3_bind_blob(*ret, 2, name, (int)name_len, SQLITE_STATIC);
    }
    return r;
}

/* Reads a row of hash, state, run, http_status, content_type, body. */
static int read_answer(sqlite3_stmt *s, const unsigned char hash[HASH_BYTES],
    enum idempotency_state *ret, struct idempotency_answer *answer, struct vial_error *err)
{
    const void *stored = sqlite3_column_blob(s, 0);

    if (stored == NULL || sqlite3_column_bytes(s, 0) != HASH_BYTES ||
        memcmp(stored, hash, HASH_BYTES) != 0) {
        *ret = IDEMPOTENCY_OTHER_BODY;
        return VIAL_OK;
    }
    run_store_copy_text(s, 2, answer->run, sizeof(answer->run));
    if (sqlite3_column_int(s, 1) != STATE_DONE) {
        *ret = sqlite3_column_int(s, 1) == STATE_RUNNING ? IDEMPOTENCY_RUNNING
                                                         : IDEMPOTENCY_INTERRUPTED;
        return VIAL_OK;
    }
    *ret = IDEMPOTENCY_DONE;
    answer->http_status = (uint32_t)sqlite3_column_int64(s, 3);
    run_store_copy_text(s, 4, answer->content_type, sizeof(answer->content_type));
    return run_store_copy_bytes(s, 5, &answer->body, &answer->body_len, err);
}

/* Inside of a transaction, so that of two at once one is the first. */
static int begin_inside(struct run_store *store, const char *key, const char *name, size_t name_len,
    const unsigned char hash[HASH_BYTES], uint64_t now_us, enum idempotency_state *ret,
    struct idempotency_answer *answer, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int64_t oldest = now_us > IDEMPOTENCY_KEPT_US ? (int64_t)(now_us - IDEMPOTENCY_KEPT_US) : 0;
    int r = prepare(store,
        "SELECT hash, state, run, http_status, content_type, body FROM request"
        " WHERE key = ?1 AND name = ?2 AND created_us >= ?3",
        key, name, name_len, &s, err);

    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_int64(s, 3, oldest);
    r = database_step(store->db, s, err);
    if (r != 0) {
        return r < 0 ? r : read_answer(s, hash, ret, answer, err);
    }
    database_finalizep(&s);
    *ret = IDEMPOTENCY_NEW;
    r = prepare(store,
        "INSERT OR REPLACE INTO request (key, name, hash, state, created_us, run, http_status,"
        " content_type) VALUES (?1, ?2, ?3, 0, ?4, '', 0, '')",
        key, name, name_len, &s, err);
    if (r < 0) {
        return r;
    }
    (void)sqlite3_bind_blob(s, 3, hash, HASH_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 4, (int64_t)now_us);
    return database_step(store->db, s, err);
}

int idempotency_begin(struct run_store *store, const char *key, const char *name, size_t name_len,
    const void *request, size_t request_len, uint64_t now_us, enum idempotency_state *ret,
    struct idempotency_answer *ret_answer, struct vial_error *err)
{
    struct idempotency_answer answer = {.http_status = 0};
    enum idempotency_state state = IDEMPOTENCY_NEW;
    unsigned char hash[HASH_BYTES];
    int r = check_name(name_len, err);

    if (r < 0) {
        return r;
    }
    (void)crypto_hash_sha256(hash, request, request_len);
    (void)pthread_mutex_lock(&store->lock);
    r = database_begin(store->db, err);
    if (r == VIAL_OK) {
        r = begin_inside(store, key, name, name_len, hash, now_us, &state, &answer, err);
        r = database_end(store->db, r, err);
    }
    (void)pthread_mutex_unlock(&store->lock);
    if (r < 0) {
        idempotency_answer_release(&answer);
        return r;
    }
    *ret = state;
    *ret_answer = answer;
    return VIAL_OK;
}

/* Does a step that must have changed a row, with the lock held. */
static int finish(struct run_store *store, sqlite3_stmt *s, struct vial_error *err)
{
    int r = database_step(store->db, s, err);

    if (r == VIAL_OK && sqlite3_changes(store->db) == 0) {
        (void)vial__fail(err, VIAL_E_INVALID, "there is no such request that runs");
        if (err != NULL) {
            err->sys = ENOENT;
        }
        return VIAL_E_INVALID;
    }
    return r;
}

int idempotency_set_run(struct run_store *store, const char *key, const char *name, size_t name_len,
    const char *run, struct vial_error *err)
{
    sqlite3_stmt *s = NULL;
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = prepare(store, "UPDATE request SET run = ?3 WHERE key = ?1 AND name = ?2 AND state = 0",
        key, name, name_len, &s, err);
    if (r == VIAL_OK) {
        (void)sqlite3_bind_text(s, 3, run, -1, SQLITE_STATIC);
        r = finish(store, s, err);
    }
    database_finalizep(&s);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

int idempotency_end(struct run_store *store, const char *key, const char *name, size_t name_len,
    const struct idempotency_answer *answer, struct vial_error *err)
{
    sqlite3_stmt *s = NULL;
    int r;

    if (answer->body_len > IDEMPOTENCY_BODY_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "an answer is kept with up to %d bytes",
            IDEMPOTENCY_BODY_BYTES_MAX);
    }
    (void)pthread_mutex_lock(&store->lock);
    r = prepare(store,
        "UPDATE request SET state = 1, run = ?3, http_status = ?4, content_type = ?5, body = ?6"
        " WHERE key = ?1 AND name = ?2 AND state = 0",
        key, name, name_len, &s, err);
    if (r == VIAL_OK) {
        (void)sqlite3_bind_text(s, 3, answer->run, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(s, 4, answer->http_status);
        (void)sqlite3_bind_text(s, 5, answer->content_type, -1, SQLITE_STATIC);
        (void)sqlite3_bind_blob(
            s, 6, answer->body_len > 0 ? answer->body : "", (int)answer->body_len, SQLITE_STATIC);
        r = finish(store, s, err);
    }
    database_finalizep(&s);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}

int idempotency_drop(struct run_store *store, const char *key, const char *name, size_t name_len,
    struct vial_error *err)
{
    sqlite3_stmt *s = NULL;
    int r;

    (void)pthread_mutex_lock(&store->lock);
    r = prepare(store, "DELETE FROM request WHERE key = ?1 AND name = ?2 AND state = 0", key, name,
        name_len, &s, err);
    r = r < 0 ? r : finish(store, s, err);
    database_finalizep(&s);
    (void)pthread_mutex_unlock(&store->lock);
    return r;
}
