/* audit.c - see audit.h: the queue and the thread that writes it.
 *
 * Two locks: one for the queue and the numbers, held for moments; one for the database, held while
 * something is written. Never both the other way round. */
#include "store/audit.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/id.h"
#include "store/audit_inside.h"
#include "store/seal.h"

enum {
    QUEUE_MAX_DEFAULT = 4096,
    BATCH_BYTES_MAX = 8 << 20, /* of one transaction: the log of the database grows by this */
    RETRY_MS_MIN = 50,         /* after the first failure, then twice as long each time */
    RETRY_MS_MAX = 2000,
    FREE_MS = 5000,     /* how long audit_free tries */
    GATHER_MS = 10,     /* what a record waits for others, unless somebody waits for it */
    GATHER_COUNT = 256, /* so many are enough */
};

#define QUEUE_BYTES_MAX_DEFAULT (UINT64_C(64) << 20)

struct audit {
    struct audit_options options;
    sqlite3 *db;
    int lock_fd, head_fd;
    pthread_mutex_t db_lock;
    pthread_t thread;
    int has_thread;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work, written;
    struct audit_item *first, *last;
    uint64_t queued_bytes;
    uint64_t tickets; /* given out */
    int is_idle;      /* the thread waits for a record */
    unsigned waiters; /* of audit_wait */
    int stopping;
    uint64_t stop_us;
    uint64_t lost_unsaid; /* lost, and not yet in a record */
    uint64_t lost_from_us, lost_until_us;
    struct audit_stats stats;
};

static void deadline_after(uint32_t ms, struct timespec *ret)
{
    uint64_t us = clock_now_us() + (uint64_t)ms * 1000;

    ret->tv_sec = (time_t)(us / 1000000);
    ret->tv_nsec = (long)(us % 1000000) * 1000;
}

/* ---- the thread ---- */

/* A record of what was lost, or NULL when nothing was. With the lock held. */
static struct audit_item *make_lost(struct audit *audit, uint64_t *ret_count)
{
    struct audit_record record = {.kind = AUDIT_LOST, .status = "failed", .what = "audit.lost"};
    struct audit_item *item = NULL;
    char detail[AUDIT_TEXT_BYTES_MAX];

    *ret_count = audit->lost_unsaid;
    if (audit->lost_unsaid == 0) {
        return NULL;
    }
    (void)snprintf(detail, sizeof(detail),
        "%" PRIu64 " records were lost between %" PRIu64 " and %" PRIu64
        " (microseconds since 1970): the queue was full%s%s",
        audit->lost_unsaid, audit->lost_from_us, audit->lost_until_us,
        audit->stats.problem[0] != '\0' ? "; " : "", audit->stats.problem);
    record.detail = detail;
    if (audit_item_new(&record, &item, NULL) < 0) {
        *ret_count = 0; /* no memory: the next batch says it */
        return NULL;
    }
    return item;
}

/* Takes the beginning of the queue, with the lock held. The items still count as queued. */
static struct audit_item *take_batch(struct audit *audit, struct audit_item **ret_last)
{
    struct audit_item *first = audit->first, *last = NULL, *item = first;
    uint64_t bytes = 0;
    unsigned count = 0;

    while (item != NULL && count < AUDIT_BATCH_MAX && (count == 0 || bytes < BATCH_BYTES_MAX)) {
        bytes += item->bytes;
        count++;
        last = item;
        item = item->next;
    }
    if (last != NULL) {
        last->next = NULL;
    }
    audit->first = item;
    audit->last = item != NULL ? audit->last : NULL;
    *ret_last = last;
    return first;
}

static void put_back(struct audit *audit, struct audit_item *first, struct audit_item *last)
{
    if (last == NULL) {
        return;
    }
    last->next = audit->first;
    audit->last = audit->first != NULL ? audit->last : last;
    audit->first = first;
}

/* A batch is on the disk, with the lock held. */
static void count_written(struct audit *audit, struct audit_item *first)
{
    struct audit_item *next;

    for (; first != NULL; first = next) {
        next = first->next;
        if (first->ticket != 0) {
            audit->queued_bytes -= first->bytes;
            audit->stats.queued--;
            audit->stats.ticket_written = first->ticket;
        }
        audit->stats.written++;
        audit_item_free(first);
    }
}

static int write_batch(struct audit *audit, const struct audit_item *first, struct vial_error *err)
{
    struct audit_head head;
    struct vial_error head_err;
    int r;

    (void)pthread_mutex_lock(&audit->db_lock);
    r = audit_append(audit->db, first, &head, err);
    if (r == VIAL_OK && audit_head_put(audit->head_fd, &head, &head_err) < 0) {
        /* The records are there. That the head lags behind is what a crash does as well; the next
         * batch puts it right, or says the same. */
    }
    (void)pthread_mutex_unlock(&audit->db_lock);
    return r;
}

/* Writes what is queued once, with the lock held at the beginning and at the end. */
static int work_once(struct audit *audit)
{
    struct vial_error err = {.code = 0};
    struct audit_item *last = NULL, *lost, *first = take_batch(audit, &last);
    uint64_t lost_count = 0;
    int r, was_failing = audit->stats.failing;

    lost = make_lost(audit, &lost_count);
    if (lost != NULL && last != NULL) {
        last->next = lost;
    }
    (void)pthread_mutex_unlock(&audit->lock);
    r = first != NULL || lost != NULL ? write_batch(audit, first != NULL ? first : lost, &err) : 0;
    (void)pthread_mutex_lock(&audit->lock);
    if (r == VIAL_OK) {
        count_written(audit, first != NULL ? first : lost);
        audit->lost_unsaid -= lost_count;
        audit->stats.failing = 0;
        audit->stats.problem[0] = '\0';
        (void)pthread_cond_broadcast(&audit->written);
    } else {
        if (last != NULL) {
            last->next = NULL;
        }
        audit_item_free(lost);
        put_back(audit, first, last);
        audit->stats.failing = 1;
        (void)snprintf(audit->stats.problem, sizeof(audit->stats.problem), "%s", err.text);
    }
    if (audit->options.on_change != NULL && (r == VIAL_OK || !was_failing)) {
        (void)pthread_mutex_unlock(&audit->lock);
        audit->options.on_change(audit->options.user);
        (void)pthread_mutex_lock(&audit->lock);
    }
    return r;
}

/* With the lock held: is it time to write, also because there is not much room left? */
static int has_enough(const struct audit *audit)
{
    return audit->stats.queued >= GATHER_COUNT ||
           audit->stats.queued * 2 >= audit->options.queue_max ||
           audit->queued_bytes * 2 >= audit->options.queue_bytes_max;
}

/* With the lock held: lets a few more come. A record on its way to the disk takes a processor from
 * what it tells of, and several of them go there at the price of one. */
static void gather(struct audit *audit)
{
    struct timespec until;
    int sys = 0;

    deadline_after(GATHER_MS, &until);
    while (audit->waiters == 0 && !audit->stopping && !has_enough(audit) && sys == 0) {
        sys = pthread_cond_timedwait(&audit->work, &audit->lock, &until);
    }
}

static void *write_for_ever(void *user)
{
    struct audit *audit = user;
    uint32_t retry_ms = RETRY_MS_MIN;
    struct timespec until;

    (void)pthread_mutex_lock(&audit->lock);
    for (;;) {
        while (audit->first == NULL && audit->lost_unsaid == 0 && !audit->stopping) {
            audit->is_idle = 1;
            (void)pthread_cond_wait(&audit->work, &audit->lock);
            audit->is_idle = 0;
        }
        if (audit->first == NULL && audit->lost_unsaid == 0) {
            break;
        }
        gather(audit);
        if (work_once(audit) == VIAL_OK) {
            retry_ms = RETRY_MS_MIN;
            continue;
        }
        if (audit->stopping && clock_now_us() >= audit->stop_us) {
            break;
        }
        deadline_after(retry_ms, &until);
        (void)pthread_cond_timedwait(&audit->work, &audit->lock, &until);
        retry_ms = audit->stopping               ? RETRY_MS_MIN
                   : retry_ms < RETRY_MS_MAX / 2 ? 2 * retry_ms
                                                 : RETRY_MS_MAX;
    }
    (void)pthread_mutex_unlock(&audit->lock);
    return NULL;
}

/* Signals are for the threads of the program. */
static int start_thread(struct audit *audit, struct vial_error *err)
{
    sigset_t all, before;
    int sys;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    sys = pthread_create(&audit->thread, NULL, write_for_ever, audit);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    audit->has_thread = sys == 0;
    return sys == 0 ? VIAL_OK : vial__fail_sys(err, sys, "cannot start the thread of the audit");
}

/* ---- opening and ending ---- */

static void release(struct audit *audit)
{
    struct audit_item *next;

    for (; audit->first != NULL; audit->first = next) {
        next = audit->first->next;
        audit_item_free(audit->first);
    }
    (void)sqlite3_close(audit->db);
    fd_closep(&audit->lock_fd);
    fd_closep(&audit->head_fd);
    (void)pthread_mutex_destroy(&audit->db_lock);
    (void)pthread_mutex_destroy(&audit->lock);
    (void)pthread_cond_destroy(&audit->work);
    (void)pthread_cond_destroy(&audit->written);
    free(audit);
}

/* The head file of a database that had none: or a crash before the first would look like a loss. */
static int start_head(struct audit *audit, struct vial_error *err)
{
    struct audit_head last, there;
    int r;

    if (audit_head_read(audit->head_fd, &there)) {
        return VIAL_OK;
    }
    r = audit_last(audit->db, &last, err);
    return r < 0 || last.seq != 0 ? r : audit_head_put(audit->head_fd, &last, err);
}

int audit_open(const struct audit_options *options, struct audit **ret, struct vial_error *err)
{
    pthread_condattr_t attributes;
    struct audit *audit;
    int r = seal_start(err);

    if (r < 0) {
        return r;
    }
    audit = calloc(1, sizeof(*audit));
    if (audit == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the audit");
    }
    audit->options = *options;
    audit->options.directory = NULL; /* the caller's, and used below only */
    if (audit->options.queue_max == 0) {
        audit->options.queue_max = QUEUE_MAX_DEFAULT;
    }
    if (audit->options.queue_bytes_max == 0) {
        audit->options.queue_bytes_max = QUEUE_BYTES_MAX_DEFAULT;
    }
    audit->lock_fd = audit->head_fd = -1;
    (void)pthread_mutex_init(&audit->lock, NULL);
    (void)pthread_mutex_init(&audit->db_lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&audit->work, &attributes);
    (void)pthread_cond_init(&audit->written, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    r = audit_database_open(options->directory, &audit->db, &audit->lock_fd, err);
    r = r < 0 ? r : audit_head_open(options->directory, &audit->head_fd, err);
    r = r < 0 ? r : start_head(audit, err);
    r = r < 0 ? r : start_thread(audit, err);
    if (r < 0) {
        release(audit);
        return r;
    }
    *ret = audit;
    return VIAL_OK;
}

void audit_free(struct audit *audit, uint64_t *ret_lost)
{
    if (audit == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&audit->lock);
    audit->stopping = 1;
    audit->stop_us = clock_now_us() + (uint64_t)FREE_MS * 1000;
    (void)pthread_cond_signal(&audit->work);
    (void)pthread_mutex_unlock(&audit->lock);
    (void)pthread_join(audit->thread, NULL);
    if (ret_lost != NULL) {
        *ret_lost = audit->stats.queued + audit->lost_unsaid;
    }
    release(audit);
}

/* ---- adding ---- */

/* With the lock held: may it be queued? 0, or a negative code if required; 1 when it is lost. */
static int judge(struct audit *audit, size_t bytes, struct vial_error *err)
{
    int is_full = audit->stats.queued >= audit->options.queue_max ||
                  audit->queued_bytes + bytes > audit->options.queue_bytes_max;

    if (audit->options.required && audit->stats.failing) {
        audit->stats.refused++;
        return vial__fail(err, VIAL_E_SYS, "the audit cannot be written: %s", audit->stats.problem);
    }
    if (audit->options.required && is_full) {
        audit->stats.refused++;
        return vial__fail(err, VIAL_E_BUSY, "the audit is not written as fast as it grows");
    }
    return is_full;
}

static void count_lost(struct audit *audit, uint64_t time_us)
{
    audit->lost_from_us = audit->lost_unsaid == 0 ? time_us : audit->lost_from_us;
    audit->lost_until_us = time_us;
    audit->lost_unsaid++;
    audit->stats.lost++;
}

int audit_add(struct audit *audit, const struct audit_record *record, uint64_t *ret_ticket,
    struct vial_error *err)
{
    struct audit_item *item = NULL;
    int r = audit_item_new(record, &item, err);

    if (r < 0) {
        return r;
    }
    (void)pthread_mutex_lock(&audit->lock);
    r = judge(audit, item->bytes, err);
    if (r == 0) {
        item->ticket = ++audit->tickets;
        if (audit->last != NULL) {
            audit->last->next = item;
        } else {
            audit->first = item;
        }
        audit->last = item;
        audit->queued_bytes += item->bytes;
        audit->stats.queued++;
    } else if (r > 0) {
        count_lost(audit, item->time_us);
    }
    if (r >= 0 && ret_ticket != NULL) {
        *ret_ticket = audit->tickets;
    }
    if ((audit->is_idle && !record->can_wait) || has_enough(audit)) {
        (void)pthread_cond_signal(&audit->work);
    }
    (void)pthread_mutex_unlock(&audit->lock);
    if (r != 0) {
        audit_item_free(item);
    }
    return r < 0 ? r : VIAL_OK;
}

void audit_nudge(struct audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    if (audit->is_idle) {
        (void)pthread_cond_signal(&audit->work);
    }
    (void)pthread_mutex_unlock(&audit->lock);
}

int audit_wait(struct audit *audit, uint64_t ticket, uint32_t ms, struct vial_error *err)
{
    struct timespec until;
    int r = VIAL_OK, sys = 0;

    deadline_after(ms, &until);
    (void)pthread_mutex_lock(&audit->lock);
    audit->waiters++;
    (void)pthread_cond_signal(&audit->work);
    while (audit->stats.ticket_written < ticket && sys == 0) {
        sys = pthread_cond_timedwait(&audit->written, &audit->lock, &until);
    }
    audit->waiters--;
    if (audit->stats.ticket_written < ticket) {
        r = vial__fail(err, VIAL_E_BUSY, "the record is not written yet%s%s",
            audit->stats.problem[0] != '\0' ? ": " : "", audit->stats.problem);
    }
    (void)pthread_mutex_unlock(&audit->lock);
    return r;
}

void audit_stats(struct audit *audit, struct audit_stats *ret)
{
    (void)pthread_mutex_lock(&audit->lock);
    *ret = audit->stats;
    (void)pthread_mutex_unlock(&audit->lock);
}

int audit_retain(struct audit *audit, uint64_t older_than_us, uint64_t count_max,
    uint64_t *ret_removed, struct vial_error *err)
{
    uint64_t now_us = id_now_us();
    struct audit_head head;
    int r;

    /* The record of the removal is never older than what is removed. */
    older_than_us = older_than_us < now_us ? older_than_us : now_us;
    (void)pthread_mutex_lock(&audit->db_lock);
    r = audit_remove(audit->db, older_than_us, count_max, ret_removed, &head, err);
    if (r == VIAL_OK && *ret_removed > 0) {
        r = audit_head_put(audit->head_fd, &head, err);
    }
    (void)pthread_mutex_unlock(&audit->db_lock);
    return r;
}
