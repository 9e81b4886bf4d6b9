/* audit_record.c - the bytes of a record, and of what is told about it.
 *
 * A record is {"seq":1,"time":"...","kind":"..."} with further members in a fixed order. Those that
 * have a column in the database come first, so that whoever verifies can make the beginning of a
 * record from its row, compare bytes, and needs no parser. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "store/audit_inside.h"

enum {
    TIME_BYTES_MAX = 40,
    JSON_DEPTH_MAX = 1024, /* of inputs and outputs; deeper ones are left out */
    COLUMN_BYTES_MAX = 3 * AUDIT_NAME_BYTES_MAX + 1, /* when each byte becomes U+FFFD */
};

const char *const AUDIT_COLUMN_NAMES[AUDIT_COLUMNS_COUNT] = {
    "key", "agent", "run", "environment", "status"};

static const char *const KINDS[AUDIT_KINDS_COUNT] = {"run_start", "run", "call", "denial",
    "session", "key", "change", "server", "lost", "retention"};

const char *audit_kind_name(enum audit_kind kind)
{
    return KINDS[kind];
}

int audit_kind_named(const char *name, size_t len)
{
    int i;

    for (i = 0; i < AUDIT_KINDS_COUNT; i++) {
        if (strlen(KINDS[i]) == len && memcmp(KINDS[i], name, len) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---- hashes ---- */

void audit_sha256(const void *bytes, size_t len, unsigned char ret[AUDIT_HASH_BYTES])
{
    _Static_assert(AUDIT_HASH_BYTES == crypto_hash_sha256_BYTES, "SHA-256");
    (void)crypto_hash_sha256(ret, bytes, len);
}

void audit_hex(const unsigned char hash[AUDIT_HASH_BYTES], char ret[2 * AUDIT_HASH_BYTES + 1])
{
    (void)sodium_bin2hex(ret, 2 * AUDIT_HASH_BYTES + 1, hash, AUDIT_HASH_BYTES);
}

void audit_hash(const unsigned char previous[AUDIT_HASH_BYTES], const char *record, size_t len,
    unsigned char ret[AUDIT_HASH_BYTES])
{
    static const char format[] = "vial-audit-1\n";
    char hex[2 * AUDIT_HASH_BYTES + 1];
    crypto_hash_sha256_state state;

    audit_hex(previous, hex);
    hex[sizeof(hex) - 1] = '\n';
    (void)crypto_hash_sha256_init(&state);
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)format, sizeof(format) - 1);
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)hex, sizeof(hex));
    (void)crypto_hash_sha256_update(&state, (const unsigned char *)record, len);
    (void)crypto_hash_sha256_final(&state, ret);
}

void audit_head_text(const struct audit_head *head, char ret[AUDIT_HEAD_TEXT_BYTES])
{
    char hex[2 * AUDIT_HASH_BYTES + 1];

    audit_hex(head->hash, hex);
    (void)snprintf(ret, AUDIT_HEAD_TEXT_BYTES, "%" PRIu64 ":%s", head->seq, hex);
}

int audit_head_parse(const char *text, size_t len, struct audit_head *ret)
{
    struct audit_head head = {.seq = 0};
    size_t i, bytes = 0;

    for (i = 0; i < len && text[i] >= '0' && text[i] <= '9'; i++) {
        if (i >= 18 || (i > 0 && head.seq == 0)) { /* below INT64_MAX, and one form each */
            return -1;
        }
        head.seq = head.seq * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0 || i >= len || text[i] != ':' || len - i - 1 != 2 * (size_t)AUDIT_HASH_BYTES ||
        sodium_hex2bin(head.hash, AUDIT_HASH_BYTES, text + i + 1, len - i - 1, NULL, &bytes, NULL) <
            0 ||
        bytes != AUDIT_HASH_BYTES) {
        return -1;
    }
    *ret = head;
    return 0;
}

/* ---- the beginning of a record ---- */

static void put_time(uint64_t us, char ret[TIME_BYTES_MAX])
{
    time_t seconds = (time_t)(us / 1000000);
    struct tm parts;
    size_t n = gmtime_r(&seconds, &parts) != NULL
                   ? strftime(ret, TIME_BYTES_MAX, "%Y-%m-%dT%H:%M:%S", &parts)
                   : 0;

    (void)snprintf(ret + n, TIME_BYTES_MAX - n, ".%06uZ", (unsigned)(us % 1000000));
}

int audit_put_prefix(const struct audit_prefix *p, struct buf *out, struct vial_error *err)
{
    char time_text[TIME_BYTES_MAX], hex[2 * AUDIT_HASH_BYTES + 1];
    struct json_writer w;
    size_t i;
    int r;

    put_time(p->time_us, time_text);
    json_init(&w, out, err);
    json_begin_object(&w);
    json_key(&w, "seq");
    json_u64(&w, p->seq);
    json_key(&w, "time");
    json_text(&w, time_text);
    json_key(&w, "kind");
    json_text(&w, p->kind);
    for (i = 0; i < AUDIT_COLUMNS_COUNT; i++) {
        if (p->columns[i] != NULL) {
            json_key(&w, AUDIT_COLUMN_NAMES[i]);
            json_text(&w, p->columns[i]);
        }
    }
    if (p->code_hash != NULL) {
        audit_hex(p->code_hash, hex);
        json_key(&w, "code_sha256");
        json_text(&w, hex);
        json_key(&w, "code_kept");
        json_bool(&w, p->code_kept);
    }
    json_end_object(&w);
    r = json_finish(&w);
    if (r == VIAL_OK) {
        out->len--; /* the record goes on */
    }
    return r;
}

/* ---- items ---- */

/* Copies text as UTF-8, cut at AUDIT_NAME_BYTES_MAX bytes of it; the end of what was written. */
static char *copy_utf8(const char *text, char *out)
{
    size_t len = strnlen(text, AUDIT_NAME_BYTES_MAX), i = 0;

    while (i < len) {
        int n = utf8_sequence(text + i, len - i);

        if (n < 0) {
            out += utf8_put(out, 0xfffd);
            i += (size_t)-n;
        } else {
            memcpy(out, text + i, (size_t)n);
            out += n;
            i += (size_t)n;
        }
    }
    *out++ = '\0';
    return out;
}

/* A member that is text, cut. */
static void put_member(struct json_writer *w, const char *name, const char *text, size_t max)
{
    if (text != NULL) {
        json_key(w, name);
        json_write_string(w, text, strnlen(text, max));
    }
}

/* A member that is JSON. What is none, or too long, is left out, and the record says so: it must
 * stay JSON whatever a caller hands in. */
static void put_json(struct json_writer *w, const char *name, const char *json, size_t len)
{
    if (json == NULL) {
        return;
    }
    json_key(w, name);
    if (len <= AUDIT_JSON_BYTES_MAX && json_check(json, len, JSON_DEPTH_MAX, NULL) == 0 &&
        memchr(json, '\n', len) == NULL && memchr(json, '\r', len) == NULL) {
        json_raw(w, json, len);
    } else {
        json_begin_object(w);
        json_key(w, "cut");
        json_bool(w, 1);
        json_key(w, "bytes");
        json_u64(w, len);
        json_end_object(w);
    }
}

/* The members behind the columns, as "{...}" of which the first byte becomes a comma. */
static int make_tail(
    const struct audit_record *record, struct audit_item *item, struct vial_error *err)
{
    struct json_writer w;
    struct buf out;
    int r;

    buf_init(&out, AUDIT_RECORD_BYTES_MAX);
    json_init(&w, &out, err);
    json_begin_object(&w);
    if (record->code != NULL) {
        json_key(&w, "code_bytes");
        json_u64(&w, record->code_len);
    }
    put_member(&w, "what", record->what, AUDIT_NAME_BYTES_MAX);
    put_member(&w, "session", record->session, AUDIT_NAME_BYTES_MAX);
    put_member(&w, "from", record->from, AUDIT_NAME_BYTES_MAX);
    put_member(&w, "trace", record->trace, AUDIT_NAME_BYTES_MAX);
    put_member(&w, "detail", record->detail, AUDIT_TEXT_BYTES_MAX);
    put_json(&w, "usage", record->usage, record->usage_len);
    put_json(&w, "input", record->input, record->input_len);
    put_json(&w, "output", record->output, record->output_len);
    json_end_object(&w);
    r = json_finish(&w);
    r = r < 0 ? r : buf_take(&out, &item->tail, &item->tail_len, err);
    if (r == VIAL_OK && item->tail_len > 2) {
        item->tail[0] = ',';
    } else if (r == VIAL_OK) {
        memmove(item->tail, item->tail + 1, item->tail_len--); /* "}" alone */
    }
    buf_release(&out);
    return r;
}

int audit_item_new(
    const struct audit_record *record, struct audit_item **ret, struct vial_error *err)
{
    const char *const texts[AUDIT_COLUMNS_COUNT] = {
        record->key, record->agent, record->run, record->environment, record->status};
    struct audit_item *item = calloc(1, sizeof(*item));
    char *p;
    size_t i;
    int r;

    if (item == NULL ||
        (item->data = malloc((size_t)AUDIT_COLUMNS_COUNT * COLUMN_BYTES_MAX)) == NULL ||
        (record->code != NULL && (item->code = malloc(record->code_len + 1)) == NULL)) {
        audit_item_free(item);
        return vial__fail(err, VIAL_E_NOMEM, "no memory for a record of the audit");
    }
    item->kind = record->kind;
    item->time_us = record->time_us != 0 ? record->time_us : id_now_us();
    for (i = 0, p = item->data; i < AUDIT_COLUMNS_COUNT; i++) {
        if (texts[i] != NULL) {
            item->columns[i] = p;
            p = copy_utf8(texts[i], p);
        }
    }
    if (record->code != NULL) {
        memcpy(item->code, record->code, record->code_len);
        item->code_len = record->code_len;
        item->keep_code = record->keep_code && record->code_len <= AUDIT_CODE_BYTES_MAX;
    }
    r = make_tail(record, item, err);
    if (r < 0) {
        audit_item_free(item);
        return r;
    }
    item->bytes = sizeof(*item) + (size_t)AUDIT_COLUMNS_COUNT * COLUMN_BYTES_MAX + item->tail_len +
                  item->code_len;
    *ret = item;
    return VIAL_OK;
}

void audit_item_free(struct audit_item *item)
{
    if (item != NULL) {
        free(item->data);
        free(item->tail);
        free(item->code);
        free(item);
    }
}

int audit_entry_line(const struct audit_entry *entry, struct buf *out, struct vial_error *err)
{
    struct json_writer w;

    json_init(&w, out, err);
    json_begin_object(&w);
    json_key(&w, "seq");
    json_u64(&w, entry->seq);
    json_key(&w, "prev");
    json_text(&w, entry->previous);
    json_key(&w, "hash");
    json_text(&w, entry->hash);
    if (entry->code != NULL) {
        json_key(&w, "code");
        json_write_string(&w, entry->code, entry->code_len);
    }
    json_key(&w, "record");
    json_raw(&w, entry->record, entry->record_len);
    json_end_object(&w);
    return json_finish(&w);
}
