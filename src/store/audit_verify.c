/* audit_verify.c - is the chain whole? Looks at every record once, in one state of the database.
 *
 * The file of the head is read first: what it names was in the database before, so it must be in
 * what is looked at afterwards. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "store/audit_inside.h"
#include "store/audit_reader.h"

enum { RECORD_DEPTH_MAX = 1100 };

/* Where the looking has come to. */
struct look {
    sqlite3 *db;
    struct audit_verdict *verdict;
    struct audit_head anchor, file, kept;
    int has_file, has_kept;
    struct audit_head last;    /* the record before the present one */
    struct audit_head removal; /* what the newest record of a removal says */
    struct buf prefix;
};

__attribute__((format(printf, 4, 5))) static int find_fault(
    struct look *l, enum audit_fault fault, uint64_t seq, const char *format, ...)
{
    va_list ap;

    l->verdict->fault = fault;
    l->verdict->seq = seq;
    va_start(ap, format);
    (void)vsnprintf(l->verdict->text, sizeof(l->verdict->text), format, ap);
    va_end(ap);
    return VIAL_OK;
}

/* One row, as far as it can be trusted to have the right types. */
struct row {
    struct audit_prefix prefix;
    const unsigned char *previous, *hash;
    const char *record;
    size_t record_len;
};

static const void *hash_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_bytes(s, column) == AUDIT_HASH_BYTES ? sqlite3_column_blob(s, column)
                                                               : NULL;
}

/* 0, or -1 when something is missing. */
static int read_row(sqlite3_stmt *s, struct row *ret)
{
    int i;

    *ret = (struct row){.prefix = {.seq = (uint64_t)sqlite3_column_int64(s, 0),
                            .time_us = (uint64_t)sqlite3_column_int64(s, 1),
                            .kind = (const char *)sqlite3_column_text(s, 2),
                            .code_kept = sqlite3_column_int(s, 9)}};
    for (i = 0; i < AUDIT_COLUMNS_COUNT; i++) {
        ret->prefix.columns[i] = (const char *)sqlite3_column_text(s, 3 + i);
    }
    ret->prefix.code_hash = hash_at(s, 8);
    ret->previous = hash_at(s, 10);
    ret->hash = hash_at(s, 11);
    ret->record = sqlite3_column_blob(s, 12);
    ret->record_len = (size_t)sqlite3_column_bytes(s, 12);
    return ret->prefix.kind != NULL && ret->previous != NULL && ret->hash != NULL &&
                   ret->record != NULL &&
                   json_check(ret->record, ret->record_len, RECORD_DEPTH_MAX, NULL) == 0
               ? 0
               : -1;
}

/* The number that a record gives itself; 0 when it has none. */
static uint64_t own_seq(const struct row *row)
{
    static const char begin[] = "{\"seq\":";
    size_t i = sizeof(begin) - 1;
    uint64_t seq = 0;

    if (row->record_len < i || memcmp(row->record, begin, i) != 0) {
        return 0;
    }
    for (; i < row->record_len && row->record[i] >= '0' && row->record[i] <= '9' &&
           seq < UINT64_MAX / 20;
         i++) {
        seq = seq * 10 + (uint64_t)(row->record[i] - '0');
    }
    return seq;
}

/* Does the record begin as its row says? Then the columns, which are asked for, are what was
 * recorded. */
static int check_prefix(struct look *l, const struct row *row, int *ret, struct vial_error *err)
{
    int r;

    buf_clear(&l->prefix);
    r = audit_put_prefix(&row->prefix, &l->prefix, err);
    if (r < 0) {
        return r;
    }
    *ret = row->record_len > l->prefix.len &&
           memcmp(row->record, l->prefix.data, l->prefix.len) == 0 &&
           (row->record[l->prefix.len] == ',' || row->record[l->prefix.len] == '}');
    return VIAL_OK;
}

/* The two heads that were kept apart from the chain. */
static int check_heads(struct look *l, uint64_t seq, const unsigned char *hash)
{
    if (l->has_file && l->file.seq == seq && memcmp(l->file.hash, hash, AUDIT_HASH_BYTES) != 0) {
        return find_fault(l, AUDIT_HEAD, seq,
            "record %" PRIu64 " is not the one that audit.head remembers: the chain was written "
            "anew",
            seq);
    }
    if (l->has_kept && l->kept.seq == seq && memcmp(l->kept.hash, hash, AUDIT_HASH_BYTES) != 0) {
        return find_fault(l, AUDIT_HEAD, seq,
            "record %" PRIu64 " is not the one that was kept: the chain was written anew", seq);
    }
    return VIAL_OK;
}

static void note_removal(struct look *l, const struct row *row)
{
    char text[AUDIT_ANCHOR_TEXT_BYTES_MAX];
    size_t len;

    audit_anchor_text(&l->anchor, text);
    len = strlen(text);
    if (strcmp(row->prefix.kind, audit_kind_name(AUDIT_RETENTION)) == 0) {
        l->removal =
            row->record_len > len && memcmp(row->record + row->record_len - len, text, len) == 0
                ? l->anchor
                : (struct audit_head){.seq = 0};
    }
}

static int check_row(struct look *l, sqlite3_stmt *s, struct vial_error *err)
{
    uint64_t seq = (uint64_t)sqlite3_column_int64(s, 0), expected = l->last.seq + 1;
    unsigned char hash[AUDIT_HASH_BYTES];
    struct row row;
    int r, is_same = 0;

    if (seq != expected) {
        return find_fault(l, AUDIT_MISSING, expected,
            "record %" PRIu64 " is missing; the next one that is there is %" PRIu64, expected, seq);
    }
    if (read_row(s, &row) < 0) {
        return find_fault(l, AUDIT_TORN, seq, "record %" PRIu64 " is incomplete", seq);
    }
    if (own_seq(&row) != seq) {
        return find_fault(l, AUDIT_REORDERED, seq,
            "at the place of record %" PRIu64 " is one that says it is %" PRIu64, seq,
            own_seq(&row));
    }
    audit_hash(row.previous, row.record, row.record_len, hash);
    if (memcmp(hash, row.hash, sizeof(hash)) != 0) {
        return find_fault(
            l, AUDIT_CHANGED, seq, "record %" PRIu64 " was changed: its hash is another one", seq);
    }
    if (memcmp(row.previous, l->last.hash, AUDIT_HASH_BYTES) != 0) {
        return find_fault(l, AUDIT_REPLACED, seq,
            "record %" PRIu64 " does not follow the one before it: one of the two was replaced",
            seq);
    }
    r = check_prefix(l, &row, &is_same, err);
    if (r < 0 || !is_same) {
        return r < 0
                   ? r
                   : find_fault(l, AUDIT_CHANGED, seq,
                         "record %" PRIu64 " was changed: its row does not say what it says", seq);
    }
    note_removal(l, &row);
    l->last.seq = seq;
    memcpy(l->last.hash, row.hash, AUDIT_HASH_BYTES);
    l->verdict->first_seq = l->verdict->count == 0 ? seq : l->verdict->first_seq;
    l->verdict->count++;
    return check_heads(l, seq, row.hash);
}

static int check_chain(struct look *l, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(l->db,
        "SELECT seq, time_us, kind, key, agent, run, environment, status, code_hash, code_kept,"
        " previous, hash, record FROM audit ORDER BY seq",
        &s, err);

    while (r >= 0 && l->verdict->fault == AUDIT_FINE && (r = database_step(l->db, s, err)) > 0) {
        r = check_row(l, s, err);
    }
    return r < 0 ? r : VIAL_OK;
}

/* What only the end of the looking shows. */
static int check_ends(struct look *l)
{
    if (l->has_file && l->last.seq < l->file.seq) {
        return find_fault(l, AUDIT_TRUNCATED, l->last.seq + 1,
            "record %" PRIu64 " and all behind it are missing: audit.head remembers %" PRIu64,
            l->last.seq + 1, l->file.seq);
    }
    if (l->has_kept && l->last.seq < l->kept.seq) {
        return find_fault(l, AUDIT_TRUNCATED, l->last.seq + 1,
            "record %" PRIu64 " and all behind it are missing: the head that was kept is %" PRIu64,
            l->last.seq + 1, l->kept.seq);
    }
    if (l->anchor.seq != 0 && l->removal.seq != l->anchor.seq) {
        return find_fault(l, AUDIT_ANCHOR, l->anchor.seq,
            "records up to %" PRIu64 " were removed, and no record says so", l->anchor.seq);
    }
    if (!l->has_file && l->last.seq != 0) {
        return find_fault(l, AUDIT_NO_HEAD, l->last.seq,
            "audit.head is missing or damaged: records behind %" PRIu64 " may have been cut off",
            l->last.seq);
    }
    return VIAL_OK;
}

/* The first record whose code is wrong, if it is before any other fault. */
static int note_code(struct look *l, int64_t seq, const char *what)
{
    if (seq == 0 || (l->verdict->fault != AUDIT_FINE && l->verdict->seq <= (uint64_t)seq)) {
        return VIAL_OK;
    }
    return find_fault(
        l, AUDIT_CODE, (uint64_t)seq, "the code of record %lld %s", (long long)seq, what);
}

static int first_with_code(
    struct look *l, sqlite3_value *hash, const char *sql, int64_t *ret, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    int r = database_prepare(l->db, sql, &s, err);

    if (r == VIAL_OK && hash != NULL) {
        (void)sqlite3_bind_value(s, 1, hash);
    }
    r = r < 0 ? r : database_step(l->db, s, err);
    *ret = r > 0 ? sqlite3_column_int64(s, 0) : 0;
    return r < 0 ? r : VIAL_OK;
}

static int check_code(struct look *l, struct vial_error *err)
{
    sqlite3_stmt *s VIAL_CLEANUP(database_finalizep) = NULL;
    unsigned char hash[AUDIT_HASH_BYTES];
    int64_t seq = 0;
    int r = database_prepare(l->db, "SELECT hash, code FROM code", &s, err);

    while (r >= 0 && (r = database_step(l->db, s, err)) > 0) {
        const void *code = sqlite3_column_blob(s, 1), *said = hash_at(s, 0);

        audit_sha256(code != NULL ? code : "", (size_t)sqlite3_column_bytes(s, 1), hash);
        if (said != NULL && memcmp(said, hash, sizeof(hash)) == 0) {
            continue;
        }
        r = first_with_code(l, sqlite3_column_value(s, 0),
            "SELECT min(seq) FROM audit WHERE code_kept AND code_hash = ?1", &seq, err);
        r = r < 0 ? r : note_code(l, seq, "was changed");
    }
    r = r < 0 ? r
              : first_with_code(l, NULL,
                    "SELECT min(seq) FROM audit a WHERE code_kept AND NOT EXISTS"
                    " (SELECT 1 FROM code WHERE hash = a.code_hash)",
                    &seq, err);
    return r < 0 ? r : note_code(l, seq, "is missing");
}

int audit_verify(struct audit_reader *reader, const struct audit_head *kept,
    struct audit_verdict *ret, struct vial_error *err)
{
    struct audit_verdict verdict = {.fault = AUDIT_FINE};
    struct look l = {.db = reader->db, .verdict = &verdict};
    int r;

    l.has_file = audit_head_read(reader->head_fd, &l.file);
    l.has_kept = kept != NULL;
    l.kept = kept != NULL ? *kept : l.kept;
    r = database_run(reader->db, "BEGIN", err);
    if (r < 0) {
        return r;
    }
    buf_init(&l.prefix, AUDIT_RECORD_BYTES_MAX);
    r = audit_anchor(reader->db, &l.anchor, err);
    l.last = l.anchor;
    r = r < 0 ? r : check_chain(&l, err);
    if (r == VIAL_OK && verdict.fault == AUDIT_FINE) {
        r = check_ends(&l);
    }
    r = r < 0 ? r : check_code(&l, err);
    buf_release(&l.prefix);
    (void)sqlite3_exec(reader->db, "ROLLBACK", NULL, NULL, NULL); /* nothing was changed */
    if (r == VIAL_OK && verdict.fault == AUDIT_FINE) {
        (void)snprintf(verdict.text, sizeof(verdict.text),
            "%" PRIu64 " record%s, from %" PRIu64 " to %" PRIu64 ", and nothing is wrong",
            verdict.count, verdict.count == 1 ? "" : "s", verdict.first_seq, l.last.seq);
    }
    verdict.head = l.last;
    if (r == VIAL_OK) {
        *ret = verdict;
    }
    return r;
}
