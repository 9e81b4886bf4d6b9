/* run_store.h - runs that can be asked for after they have ended, with their recordings, answers
 * that are given again to who asks again, and the CPU time that keys used: in the file runs.db of
 * the data directory.
 *
 *     run_store_open -> run_store_save, run_store_get, run_store_list, ... -> run_store_free
 *
 * A process that is killed loses nothing that was saved; a machine that loses its power may lose
 * the last moments (synchronous=NORMAL), because these are conveniences: what must last is in the
 * audit. A save takes about
 * 0.1 ms of CPU time and 0.5 ms of waiting alone, a quarter of that for each of many at once: not a
 * thing to do before a client is answered. A store may be used by several threads, a directory by
 * several processes, of which one is the server.
 *
 * Failures: what is not there is VIAL_E_INVALID with err->sys ENOENT; a database that is damaged,
 * full or of a newer vial VIAL_E_SYS. */
#ifndef VIAL_STORE_RUN_STORE_H
#define VIAL_STORE_RUN_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/quota_limits.h"
#include "vial.h"

enum {
    RUN_NAME_BYTES_MAX = 128, /* of key, environment, session, status, agent; cut */
    RUN_REQUEST_BYTES_MAX = 16 << 20,
    RUN_RESULT_BYTES_MAX = 64 << 20,
    RUN_RECORDING_BYTES_MAX = 512 << 20,
    RUN_PAGE_MAX = 200,
    RUN_SAVE_MAX = 256, /* of one run_store_save */
    IDEMPOTENCY_NAME_BYTES_MAX = 255,
    IDEMPOTENCY_BODY_BYTES_MAX = RUN_RESULT_BYTES_MAX,
};

#define RUN_PREFIX "run_"
#define IDEMPOTENCY_KEPT_US (UINT64_C(86400) * 1000000)

/* The statuses of runs that have not ended; all others are those of results. */
#define RUN_QUEUED "queued"
#define RUN_RUNNING "running"

/* One run. For run_store_save the pointers are the caller's; what run_store_get returns is given
 * back with stored_run_release. */
struct stored_run {
    char id[ID_BYTES_MAX + 1];
    char key[RUN_NAME_BYTES_MAX + 1]; /* "" for a local user */
    char agent[RUN_NAME_BYTES_MAX + 1];
    char environment[RUN_NAME_BYTES_MAX + 1]; /* name@version, or "" */
    char session[RUN_NAME_BYTES_MAX + 1];
    char status[RUN_NAME_BYTES_MAX + 1];
    uint64_t created_us, started_us, ended_us; /* since 1970; 0: not yet */
    uint64_t cpu_us;
    char *request; /* JSON without secrets, or NULL */
    size_t request_len;
    char *result; /* JSON, or NULL */
    size_t result_len;
    /* For run_store_save only, which keeps both in the place of what there is: its recording, or
     * why there is none although there should be. NULL and NULL: it was not recorded. */
    const char *recording;
    size_t recording_len;
    const char *recording_fault;
};

void stored_run_release(struct stored_run *run);

struct run_store;

VIAL_NODISCARD int run_store_open(
    const char *directory, struct run_store **ret, struct vial_error *err);
void run_store_free(struct run_store *store);

/* The same for who only wants to read: ENOENT when no server has kept runs there, and nothing is
 * made. */
VIAL_NODISCARD int run_store_open_there(
    const char *directory, struct run_store **ret, struct vial_error *err);

/* For the server, when it starts: runs that an earlier one left queued or running get the status
 * and the result given here, and requests that it left running become interrupted ones. *ret_count
 * is how many runs. */
VIAL_NODISCARD int run_store_recover(struct run_store *store, const char *status,
    const char *result, size_t result_len, uint64_t now_us, size_t *ret_count,
    struct vial_error *err);

/* Keeps runs, all or none, in one transaction: new ones, or anew those whose id is there. A request
 * or result of NULL leaves what is there. When ended_us is not 0 for the first time, cpu_us is
 * added to what the key used. */
VIAL_NODISCARD int run_store_save(
    struct run_store *store, const struct stored_run *runs, size_t count, struct vial_error *err);

VIAL_NODISCARD int run_store_get(
    struct run_store *store, const char *id, struct stored_run *ret, struct vial_error *err);

/* ---- recordings, which go with their run ---- */

/* How many bytes all of them may have, from now on; the oldest make room for new ones. Before this
 * there is no maximum. */
void run_store_set_recordings_max(struct run_store *store, uint64_t bytes_max);

/* The recording of a run, which belongs to the caller and ends in NUL. VIAL_E_INVALID with err->sys
 * ENOENT: there is no such run; ENODATA: it was not recorded; ESTALE: it was, and its recording is
 * not there, err->text says why. */
VIAL_NODISCARD int run_store_recording(
    struct run_store *store, const char *id, char **ret, size_t *ret_len, struct vial_error *err);

/* ---- lists ---- */

/* Every field may be NULL or 0. environment is "name@version", or "name" for all its versions. */
struct run_filter {
    const char *key, *environment, *session, *status;
    uint64_t from_us, until_us; /* by creation; until_us itself is not included */
};

/* Newest first, at most limit (up to RUN_PAGE_MAX), without requests and results. cursor is NULL
 * for the first page, then what was returned in ret_cursor, which is "" after the last; one that is
 * none of ours is VIAL_E_INVALID. The array belongs to the caller, who frees it. */
VIAL_NODISCARD int run_store_list(struct run_store *store, const struct run_filter *filter,
    const char *cursor, uint32_t limit, struct stored_run **ret, size_t *ret_count,
    char ret_cursor[ID_BYTES_MAX + 1], struct vial_error *err);

/* Removes runs that have ended and were made before the time, and the oldest of those while there
 * are more than count_max (0: any number), answers older than a day, and CPU time older than two;
 * some hundreds at a time: whoever gets other than 0 in *ret_removed calls again. */
VIAL_NODISCARD int run_store_retain(struct run_store *store, uint64_t now_us,
    uint64_t older_than_us, uint64_t count_max, uint64_t *ret_removed, struct vial_error *err);

/* What each key used in the last day, for quota_restore: calls on_use for each of its quarters of
 * an hour. */
VIAL_NODISCARD int run_store_usage(struct run_store *store, uint64_t now_us,
    void (*on_use)(const char *key, uint64_t then_us, uint64_t cpu_us, void *user), void *user,
    struct vial_error *err);

/* Adds CPU time that belongs to no run: evaluations in sessions. */
VIAL_NODISCARD int run_store_add_usage(struct run_store *store, const char *key, uint64_t now_us,
    uint64_t cpu_us, struct vial_error *err);

/* ---- requests that come twice (the Idempotency-Key header) ---- */

enum idempotency_state {
    IDEMPOTENCY_NEW,         /* it is this one's now: do it, then idempotency_end or _drop */
    IDEMPOTENCY_RUNNING,     /* the first one is still at it: 409 */
    IDEMPOTENCY_DONE,        /* here is what it was answered */
    IDEMPOTENCY_OTHER_BODY,  /* the same name with another request: 422 */
    IDEMPOTENCY_INTERRUPTED, /* the server ended in between; whether it was done is not known: 409
                              */
};

/* An answer. For idempotency_end the pointers are the caller's. */
struct idempotency_answer {
    uint32_t http_status;
    char run[ID_BYTES_MAX + 1]; /* the run that it began, or "" */
    char content_type[RUN_NAME_BYTES_MAX + 1];
    char *body;
    size_t body_len;
};
void idempotency_answer_release(struct idempotency_answer *answer);

/* What is known of a request that the key named so. The request is its method, path and body, any
 * bytes, of which only a hash is kept. For IDEMPOTENCY_DONE *ret_answer is filled, and given back
 * with the function above; for RUNNING and INTERRUPTED only its run may be. */
VIAL_NODISCARD int idempotency_begin(struct run_store *store, const char *key, const char *name,
    size_t name_len, const void *request, size_t request_len, uint64_t now_us,
    enum idempotency_state *ret, struct idempotency_answer *ret_answer, struct vial_error *err);

/* The run that the request began, as soon as it is known. */
VIAL_NODISCARD int idempotency_set_run(struct run_store *store, const char *key, const char *name,
    size_t name_len, const char *run, struct vial_error *err);

/* It was answered. */
VIAL_NODISCARD int idempotency_end(struct run_store *store, const char *key, const char *name,
    size_t name_len, const struct idempotency_answer *answer, struct vial_error *err);

/* It was refused before anything was done (a quota, an overload): it may come again. */
VIAL_NODISCARD int idempotency_drop(struct run_store *store, const char *key, const char *name,
    size_t name_len, struct vial_error *err);

#endif
