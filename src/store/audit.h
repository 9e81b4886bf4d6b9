/* audit.h - what happened, in records that nobody can change unseen: written in the background,
 * chained by hashes, in the file audit.db of the data directory.
 *
 *     audit_open -> audit_add ... -> audit_free                     (the writer: a server, a
 * command) audit_reader_open -> audit_list, audit_verify, audit_export -> audit_reader_free
 *
 * A record is a JSON object on one line, and its hash is SHA-256 of "vial-audit-1\n", the hash of
 * the record before it in hexadecimal, "\n", and the bytes of the record. The first has 64 zeros
 * before it. docs/audit.md has all of it, so that others can check an export.
 *
 * Writing. audit_add copies the record into a bounded queue and returns; a thread writes what is
 * there in one transaction, which is on the disk (synchronous=FULL) when it counts as written. A
 * process that is killed leaves whole records only, and loses what was still in the queue: who
 * must not, waits with audit_wait before it answers.
 *
 * When writing fails (the disk is full, another process holds the database), the queue is kept and
 * the thread tries again, for ever. What then happens is the operator's choice:
 *   required     audit_add refuses from the first failed write on until one succeeds, and when the
 *                queue is full: the caller must refuse what it was about to do.
 *   not required audit_add takes records until the queue is full. Then it counts them as lost; the
 *                next record that can be written says how many, from when to when. The count is
 *                also in audit_stats, for /metrics and logs.
 * Either way no record vanishes unseen.
 *
 * Several processes may write to a directory at the same time: the chain is one. Readers do not
 * wait for writers. A writer may be used by many threads, a reader by one at a time.
 *
 * The head: behind each commit the number and the hash of the last record go into the file
 * audit.head as well, so that records cut off at the end are missed. Who can write both files can
 * write a new chain; only a head that was copied elsewhere (`vial audit head`) shows that. */
#ifndef VIAL_STORE_AUDIT_H
#define VIAL_STORE_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vial.h"

enum {
    AUDIT_HASH_BYTES = 32,
    AUDIT_NAME_BYTES_MAX = 256,       /* of agent, what, environment and the like; cut */
    AUDIT_TEXT_BYTES_MAX = 1024,      /* of detail; cut */
    AUDIT_CODE_BYTES_MAX = 1 << 20,   /* longer code is kept as its hash only */
    AUDIT_JSON_BYTES_MAX = 65536,     /* of input, output and usage each: audit_rules.h cuts them */
    AUDIT_RECORD_BYTES_MAX = 1 << 20, /* what all of these can make */
    AUDIT_BATCH_MAX = 256,            /* records of one transaction */
    AUDIT_PAGE_MAX = 1000,            /* records of one audit_list */
    AUDIT_CURSOR_BYTES_MAX = 32,
};

/* Each has a name, which the record has: "run", "call", ... */
enum audit_kind {
    AUDIT_RUN_START, /* "run_start": it was let in */
    AUDIT_RUN,       /* "run": it has ended */
    AUDIT_CALL,      /* "call": a tool was called; what is the tool */
    AUDIT_DENIAL,    /* "denial": a rule said no; what is the rule */
    AUDIT_SESSION,   /* "session": begun, branched or ended; what says which */
    AUDIT_KEY,       /* "key": a key was used, or refused */
    AUDIT_CHANGE, /* "change": of keys, environments, secrets; what is "key.create" and the like */
    AUDIT_SERVER, /* "server": started, stopped, configuration read anew */
    AUDIT_LOST,   /* "lost": records that could not be written; made here */
    AUDIT_RETENTION, /* "retention": old records were removed; made here */
    AUDIT_KINDS_COUNT,
};
const char *audit_kind_name(enum audit_kind kind);
/* -1 when there is no such kind. */
int audit_kind_named(const char *name, size_t len);

/* One record, as it is given. What is NULL is left out of it. Strings need not be UTF-8. */
struct audit_record {
    enum audit_kind kind;
    uint64_t time_us;  /* since 1970; 0 is now */
    const char *key;   /* the id; NULL for a local user without one */
    const char *agent; /* what the client calls itself */
    const char *from;  /* where it is: an address, or "uid 1000" */
    const char *trace; /* the trace id of its traceparent */
    const char *run;   /* ids */
    const char *session;
    const char *environment; /* name@version */
    const char *what;
    const char *status; /* how it ended: a run's status, "allowed", "denied", "failed" */
    const char *detail; /* one sentence */
    const char *code;   /* its hash is recorded in any case, the code if keep_code */
    size_t code_len;
    int keep_code;
    const char *input, *output, *usage; /* JSON, as audit_redact made it */
    size_t input_len, output_len, usage_len;
    int can_wait; /* writing begins with the next record that cannot, or with audit_nudge */
};

struct audit_options {
    const char *directory;    /* made when missing */
    int required;             /* see above */
    uint32_t queue_max;       /* records; 0 is 4096 */
    uint64_t queue_bytes_max; /* 0 is 64 MiB */
    /* Called by the writing thread, which holds no lock then, when records were written and when
     * writing begins to fail or works again. May be NULL. */
    void (*on_change)(void *user);
    void *user;
};

struct audit;

VIAL_NODISCARD int audit_open(
    const struct audit_options *options, struct audit **ret, struct vial_error *err);
/* Writes what is queued, for up to five seconds. What is left then is in *ret_lost, which may be
 * NULL: whoever ends a server says so in its log. */
void audit_free(struct audit *audit, uint64_t *ret_lost);

/* Queues a record. *ret_ticket, which may be NULL, is for audit_wait. VIAL_E_BUSY when the queue is
 * full, VIAL_E_SYS with the reason when writing fails, both only if required; when not required the
 * record is counted as lost and this is 0. VIAL_E_NOMEM always. */
VIAL_NODISCARD int audit_add(struct audit *audit, const struct audit_record *record,
    uint64_t *ret_ticket, struct vial_error *err);

/* Has what can wait written now: waking the thread that writes takes time that whoever adds a
 * record may not have at that moment. */
void audit_nudge(struct audit *audit);

/* Waits until the record of a ticket, and all before it, are on the disk; for up to ms. VIAL_E_BUSY
 * when they are not by then, with the reason. ms may be 0. */
VIAL_NODISCARD int audit_wait(
    struct audit *audit, uint64_t ticket, uint32_t ms, struct vial_error *err);

struct audit_stats {
    uint64_t written; /* records, by this handle */
    uint64_t lost;    /* that could not be queued, in all; 0 if required */
    uint64_t refused; /* by audit_add, if required */
    uint32_t queued;
    uint64_t ticket_written; /* all tickets up to this one are on the disk */
    int failing;             /* the last attempt to write failed: */
    char problem[360];       /* why; "" else */
};
void audit_stats(struct audit *audit, struct audit_stats *ret);

/* Removes records older than the time, and the oldest while there are more than count_max (0: any
 * number), a few thousand at a time: *ret_removed says how many, and whoever gets other than 0
 * calls again. The rest stays verifiable: a record of the removal is part of the chain and has the
 * hash of the last record removed. */
VIAL_NODISCARD int audit_retain(struct audit *audit, uint64_t older_than_us, uint64_t count_max,
    uint64_t *ret_removed, struct vial_error *err);

/* ---- reading ---- */

struct audit_reader;

/* VIAL_E_INVALID with err->sys ENOENT when nothing was ever recorded there. */
VIAL_NODISCARD int audit_reader_open(
    const char *directory, struct audit_reader **ret, struct vial_error *err);
void audit_reader_free(struct audit_reader *reader);

/* Every field may be NULL or 0. environment is "name@version", or "name" for all its versions. */
struct audit_filter {
    const char *key, *agent, *run, *environment, *status;
    const char *kind;
    uint64_t from_us, until_us; /* until_us itself is not included */
};

/* One record, as it is stored. Pointers are good until the callback returns. */
struct audit_entry {
    uint64_t seq;
    uint64_t time_us;
    char previous[2 * AUDIT_HASH_BYTES + 1], hash[2 * AUDIT_HASH_BYTES + 1]; /* hexadecimal */
    const char *record;                                                      /* JSON */
    size_t record_len;
    const char *code; /* NULL when it was not kept, or not asked for */
    size_t code_len;
};

/* Returns 0 to go on, or a negative code, with which the reading then ends. */
typedef int audit_on_entry(const struct audit_entry *entry, void *user);

/* Newest first, at most limit (up to AUDIT_PAGE_MAX) of those that match. cursor is NULL for the
 * first page, then what was returned in ret_cursor, which is "" after the last. A cursor that is
 * none of ours is VIAL_E_INVALID. */
VIAL_NODISCARD int audit_list(struct audit_reader *reader, const struct audit_filter *filter,
    const char *cursor, uint32_t limit, int with_code, audit_on_entry *on_entry, void *user,
    char ret_cursor[AUDIT_CURSOR_BYTES_MAX], struct vial_error *err);

/* All that match, oldest first, however many: one snapshot. */
VIAL_NODISCARD int audit_export(struct audit_reader *reader, const struct audit_filter *filter,
    int with_code, audit_on_entry *on_entry, void *user, struct vial_error *err);

enum audit_fault {
    AUDIT_FINE,
    AUDIT_CHANGED,   /* a record is not what its hash says */
    AUDIT_MISSING,   /* a number is not there */
    AUDIT_REORDERED, /* a record is at another place than it says */
    AUDIT_REPLACED,  /* a record does not follow the one before it */
    AUDIT_TORN,      /* a record is incomplete */
    AUDIT_CODE,      /* the code of a record is not what its hash says, or is gone */
    AUDIT_TRUNCATED, /* the chain ends before the head */
    AUDIT_ANCHOR,    /* the oldest were removed without a record of it */
    AUDIT_HEAD,      /* the head has another hash than that record */
    AUDIT_NO_HEAD,   /* the file of the head is gone or damaged */
};

struct audit_head {
    uint64_t seq; /* 0: nothing was recorded yet */
    unsigned char hash[AUDIT_HASH_BYTES];
};

struct audit_verdict {
    enum audit_fault fault;
    uint64_t seq;       /* of the first record that is wrong */
    char text[240];     /* one sentence; what was found when nothing is wrong, too */
    uint64_t first_seq; /* of what is there */
    uint64_t count;
    struct audit_head head; /* of what is there */
};

/* Looks at every record from the oldest to the newest and stops at the first that is wrong. kept is
 * a head that was copied elsewhere, or NULL; the file of the head is looked at in any case. 0 when
 * it could look, whatever it found. */
VIAL_NODISCARD int audit_verify(struct audit_reader *reader, const struct audit_head *kept,
    struct audit_verdict *ret, struct vial_error *err);

/* The last record that is there. */
VIAL_NODISCARD int audit_head(
    struct audit_reader *reader, struct audit_head *ret, struct vial_error *err);

/* "123:9f86d0..." and the reverse; 0, or -1 when it is not one. */
enum { AUDIT_HEAD_TEXT_BYTES = 20 + 1 + 2 * AUDIT_HASH_BYTES + 1 };
void audit_head_text(const struct audit_head *head, char ret[AUDIT_HEAD_TEXT_BYTES]);
int audit_head_parse(const char *text, size_t len, struct audit_head *ret);

/* The line of an export: {"seq":1,"prev":"...","hash":"...","record":{...}} with "code" before
 * "record" when it was asked for, without a newline. */
VIAL_NODISCARD int audit_entry_line(
    const struct audit_entry *entry, struct buf *out, struct vial_error *err);

#endif
