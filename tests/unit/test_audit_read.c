/* test_audit_read.c - asking the audit by each of its fields, page by page, and lines of exports
 * that others can check. */
#include <inttypes.h>

#include "audit_helper.h"
#include "store/audit_inside.h"

enum { SEEN_MAX = 1200 };

struct seen {
    uint64_t seqs[SEEN_MAX];
    size_t count;
    int stop_at;
    char line[4096];
};

static int note(const struct audit_entry *entry, void *user)
{
    struct seen *seen = user;
    struct buf line;

    assert_true(seen->count < SEEN_MAX);
    seen->seqs[seen->count++] = entry->seq;
    buf_init(&line, sizeof(seen->line) - 1);
    assert_int_equal(audit_entry_line(entry, &line, NULL), 0);
    memcpy(seen->line, line.data, line.len + 1);
    buf_release(&line);
    return seen->stop_at != 0 && (int)seen->count == seen->stop_at ? VIAL_E_GONE : 0;
}

static int make_records(void **state)
{
    static const struct audit_record records[] = {
        {.kind = AUDIT_RUN,
            .time_us = 1000,
            .key = "k1",
            .agent = "a1",
            .environment = "crm@1",
            .status = "ok",
            .run = "run_1"},
        {.kind = AUDIT_CALL,
            .time_us = 2000,
            .key = "k1",
            .agent = "a2",
            .environment = "crm@2",
            .status = "denied",
            .run = "run_1"},
        {.kind = AUDIT_DENIAL, .time_us = 3000, .key = "k2", .environment = "crm-2@1"},
        {.kind = AUDIT_RUN,
            .time_us = 4000,
            .key = "k2",
            .environment = "crmA@1",
            .status = "exception",
            .code = "boom()",
            .code_len = 6,
            .keep_code = 1},
        {.kind = AUDIT_CHANGE, .time_us = 5000, .environment = "crm"},
    };
    struct audit *audit;
    size_t i;
    int r = make_directory(state);

    if (r == 0) {
        audit = open_audit();
        for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
            add(audit, &records[i]);
        }
        close_audit(audit);
    }
    return r;
}

/* The numbers of what matches, newest first, as "5 4 ". */
static const char *matches(struct audit_filter filter)
{
    static char text[128];
    struct audit_reader *reader = open_reader();
    char cursor[AUDIT_CURSOR_BYTES_MAX] = "kept";
    struct seen seen = {.count = 0};
    size_t i, len = 0;

    if (audit_list(reader, &filter, NULL, 100, 0, note, &seen, cursor, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(cursor, "");
    audit_reader_free(reader);
    text[0] = '\0';
    for (i = 0; i < seen.count; i++) {
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%" PRIu64 " ", seen.seqs[i]);
    }
    return text;
}

#define MATCHES(...) matches((struct audit_filter){__VA_ARGS__})

static void every_field_can_be_asked_for(void **state)
{
    (void)state;
    assert_string_equal(MATCHES(.key = NULL), "5 4 3 2 1 ");
    assert_string_equal(MATCHES(.key = "k1"), "2 1 ");
    assert_string_equal(MATCHES(.key = "k"), "");
    assert_string_equal(MATCHES(.agent = "a2"), "2 ");
    assert_string_equal(MATCHES(.run = "run_1"), "2 1 ");
    assert_string_equal(MATCHES(.status = "ok"), "1 ");
    assert_string_equal(MATCHES(.kind = "run"), "4 1 ");
    assert_string_equal(MATCHES(.environment = "crm@2"), "2 ");
    assert_string_equal(
        MATCHES(.environment = "crm"), "2 1 "); /* all versions, and no other name */
    assert_string_equal(MATCHES(.environment = "cr"), "");
    assert_string_equal(MATCHES(.from_us = 2000, .until_us = 4000), "3 2 ");
    assert_string_equal(MATCHES(.from_us = UINT64_MAX), "");
    assert_string_equal(MATCHES(.key = "k2", .kind = "run", .status = "exception"), "4 ");
    assert_string_equal(MATCHES(.key = "k1' OR '1'='1"), "");
    assert_string_equal(MATCHES(.key = "%"), "");
}

static void pages_follow_each_other(void **state)
{
    const struct audit_filter all = {.key = NULL};
    char cursor[AUDIT_CURSOR_BYTES_MAX] = "", given[AUDIT_CURSOR_BYTES_MAX];
    struct audit *audit = open_audit();
    struct audit_reader *reader = open_reader();
    struct seen seen = {.count = 0};
    unsigned pages = 0;

    (void)state;
    add_runs(audit, 995);
    wait_written(audit);
    do {
        memcpy(given, cursor, sizeof(cursor));
        assert_int_equal(audit_list(reader, &all, given[0] != '\0' ? given : NULL, 300, 0, note,
                             &seen, cursor, &err),
            0);
        pages++;
        add_runs(audit, 20); /* new ones do not disturb */
        wait_written(audit);
    } while (cursor[0] != '\0');
    assert_int_equal(pages, 4);
    assert_int_equal(seen.count, 1000);
    assert_int_equal(seen.seqs[0], 1000);
    assert_int_equal(seen.seqs[999], 1);
    close_audit(audit);
    audit_reader_free(reader);
}

static void other_cursors_are_none(void **state)
{
    static const char *const bad[] = {"", "a", "5", "b5", "a0", "a01", "a-1", "a1 ", "a1x",
        "a1234567890123456789", "a99999999999999999999999999999999999999999", "a\xff"};
    const struct audit_filter all = {.key = NULL};
    char cursor[AUDIT_CURSOR_BYTES_MAX];
    struct audit_reader *reader = open_reader();
    struct seen seen = {.count = 0};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(
            audit_list(reader, &all, bad[i], 10, 0, note, &seen, cursor, &err), VIAL_E_INVALID);
    }
    assert_int_equal(
        audit_list(reader, &all, NULL, 0, 0, note, &seen, cursor, &err), VIAL_E_INVALID);
    assert_int_equal(
        audit_list(reader, &all, NULL, AUDIT_PAGE_MAX + 1, 0, note, &seen, cursor, &err),
        VIAL_E_INVALID);
    assert_int_equal(seen.count, 0);
    audit_reader_free(reader);
}

static void an_export_is_in_order_and_can_be_checked(void **state)
{
    static const char begin[] = "\"record\":";
    const struct audit_filter all = {.key = NULL}, boom = {.status = "exception"};
    struct audit_reader *reader = open_reader();
    struct seen seen = {.count = 0};
    unsigned char previous[AUDIT_HASH_BYTES], hash[AUDIT_HASH_BYTES];
    char hex[2 * AUDIT_HASH_BYTES + 1];
    const char *record;
    size_t i;

    (void)state;
    assert_int_equal(audit_export(reader, &all, 0, note, &seen, &err), 0);
    assert_int_equal(seen.count, 5);
    for (i = 0; i < 5; i++) {
        assert_int_equal(seen.seqs[i], i + 1);
    }
    seen = (struct seen){.count = 0};
    assert_int_equal(audit_export(reader, &boom, 1, note, &seen, &err), 0);
    assert_int_equal(seen.count, 1);
    assert_non_null(strstr(seen.line, ",\"code\":\"boom()\",\"record\":{\"seq\":4,"));
    /* As somebody else would: from the line alone. */
    record = strstr(seen.line, begin) + sizeof(begin) - 1;
    for (i = 0; i < AUDIT_HASH_BYTES; i++) {
        unsigned byte = 0;

        assert_int_equal(sscanf(strstr(seen.line, "\"prev\":\"") + 8 + 2 * i, "%2x", &byte), 1);
        previous[i] = (unsigned char)byte;
    }
    audit_hash(previous, record, strlen(record) - 1, hash);
    audit_hex(hash, hex);
    assert_memory_equal(strstr(seen.line, "\"hash\":\"") + 8, hex, 64);
    seen = (struct seen){.stop_at = 3};
    assert_int_equal(audit_export(reader, &all, 0, note, &seen, &err), VIAL_E_GONE);
    assert_int_equal(seen.count, 3);
    audit_reader_free(reader);
}

static void a_reader_cannot_write(void **state)
{
    struct audit_reader *reader = open_reader();
    struct audit_head head;

    (void)state;
    assert_int_equal(audit_head(reader, &head, &err), 0);
    assert_int_equal(head.seq, 5);
    audit_reader_free(reader);
    change_file("UPDATE audit SET hash = x'00' WHERE seq = 5");
    reader = open_reader();
    assert_int_equal(audit_head(reader, &head, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "vial audit verify"));
    audit_reader_free(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_records, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_field_can_be_asked_for),
        TEST(pages_follow_each_other),
        TEST(other_cursors_are_none),
        TEST(an_export_is_in_order_and_can_be_checked),
        TEST(a_reader_cannot_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
