/* audit_inside.h - what the files of the audit share: the record on its way, and the chain in the
 * database. For src/store/audit*.c only. */
#ifndef VIAL_STORE_AUDIT_INSIDE_H
#define VIAL_STORE_AUDIT_INSIDE_H

#include <sqlite3.h>

#include "store/audit.h"
#include "store/database.h"

/* The fields of a record that have columns of their own, to be asked for. The order is that of the
 * members in the record. */
enum audit_column {
    AUDIT_COLUMN_KEY,
    AUDIT_COLUMN_AGENT,
    AUDIT_COLUMN_RUN,
    AUDIT_COLUMN_ENVIRONMENT,
    AUDIT_COLUMN_STATUS,
    AUDIT_COLUMNS_COUNT,
};
extern const char *const AUDIT_COLUMN_NAMES[AUDIT_COLUMNS_COUNT];

/* A record whose place in the chain is not known yet. */
struct audit_item {
    struct audit_item *next;
    uint64_t ticket; /* 0: of the chain's own */
    size_t bytes;    /* what it counts for in the queue */
    enum audit_kind kind;
    uint64_t time_us;
    const char *columns[AUDIT_COLUMNS_COUNT]; /* UTF-8, in data; NULL when it has none */
    char *data;                               /* owned: the texts of the columns */
    char *tail; /* owned: the members behind the columns, each with its comma before it */
    size_t tail_len;
    char *code; /* owned, or NULL */
    size_t code_len;
    int keep_code;
};

VIAL_NODISCARD int audit_item_new(
    const struct audit_record *record, struct audit_item **ret, struct vial_error *err);
void audit_item_free(struct audit_item *item);

/* What a row says of itself: the record begins with exactly this. */
struct audit_prefix {
    uint64_t seq, time_us;
    const char *kind;
    const char *columns[AUDIT_COLUMNS_COUNT];
    const unsigned char *code_hash; /* AUDIT_HASH_BYTES, or NULL */
    int code_kept;
};
VIAL_NODISCARD int audit_put_prefix(
    const struct audit_prefix *prefix, struct buf *out, struct vial_error *err);

void audit_hash(const unsigned char previous[AUDIT_HASH_BYTES], const char *record, size_t len,
    unsigned char ret[AUDIT_HASH_BYTES]);
void audit_sha256(const void *bytes, size_t len, unsigned char ret[AUDIT_HASH_BYTES]);
void audit_hex(const unsigned char hash[AUDIT_HASH_BYTES], char ret[2 * AUDIT_HASH_BYTES + 1]);

/* ---- the database ---- */

/* Opens audit.db, which is made when it is missing. */
VIAL_NODISCARD int audit_database_open(
    const char *directory, sqlite3 **ret, int *ret_lock_fd, struct vial_error *err);

/* The last record that was removed, or seq 0 with zeros. */
VIAL_NODISCARD int audit_anchor(sqlite3 *db, struct audit_head *ret, struct vial_error *err);
/* The last record, or the anchor when there is none. */
VIAL_NODISCARD int audit_last(sqlite3 *db, struct audit_head *ret, struct vial_error *err);

/* Appends the items, a list, in one transaction; *ret is the new head. */
VIAL_NODISCARD int audit_append(
    sqlite3 *db, const struct audit_item *items, struct audit_head *ret, struct vial_error *err);

/* Removes records and appends one that says so; *ret_removed may be 0, and then nothing was done
 * and *ret is not written. */
VIAL_NODISCARD int audit_remove(sqlite3 *db, uint64_t older_than_us, uint64_t count_max,
    uint64_t *ret_removed, struct audit_head *ret, struct vial_error *err);

/* The members of the record that says so. */
enum { AUDIT_ANCHOR_TEXT_BYTES_MAX = 192 };
void audit_anchor_text(const struct audit_head *anchor, char ret[AUDIT_ANCHOR_TEXT_BYTES_MAX]);

/* ---- the file of the head ---- */

VIAL_NODISCARD int audit_head_open(const char *directory, int *ret_fd, struct vial_error *err);

/* Puts the head into the file, unless a newer one is there. */
VIAL_NODISCARD int audit_head_put(int fd, const struct audit_head *head, struct vial_error *err);

/* 1 with the newest head in the file, 0 when there is no whole one. */
int audit_head_read(int fd, struct audit_head *ret);

#endif
