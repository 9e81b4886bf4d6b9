/* test_audit_verify.c - every way to tamper with the audit is found, at the first record that is
 * wrong; and what is not tampered with is said to be fine. */
#include <fcntl.h>

#include "audit_helper.h"
#include "base/fd.h"
#include "store/audit_inside.h"

enum { RECORDS = 20 };

static int make_records(void **state)
{
    struct audit *audit;
    int r = make_directory(state);

    if (r == 0) {
        audit = open_audit();
        add_runs(audit, RECORDS);
        close_audit(audit);
    }
    return r;
}

static void what_was_written_is_fine(void **state)
{
    struct audit_verdict verdict = verify_with(NULL);

    (void)state;
    assert_int_equal(verdict.fault, AUDIT_FINE);
    assert_int_equal(verdict.first_seq, 1);
    assert_int_equal(verdict.count, RECORDS);
    assert_int_equal(verdict.head.seq, RECORDS);
    assert_string_equal(verdict.text, "20 records, from 1 to 20, and nothing is wrong");
}

/* Every single byte of a record, and of each hash. */
static void a_changed_byte_is_found(void **state)
{
    char sql[256];
    int64_t len = ask("SELECT length(record) FROM audit WHERE seq = 7"), i;

    (void)state;
    for (i = 1; i <= len; i++) {
        (void)snprintf(sql, sizeof(sql),
            "UPDATE audit SET record = CAST(substr(record, 1, %d) || CASE WHEN substr(record, %d, "
            "1) = x'61' THEN x'62' ELSE x'61' END || substr(record, %d) AS BLOB) WHERE seq = 7",
            (int)i - 1, (int)i, (int)i + 1);
        change_file("CREATE TABLE IF NOT EXISTS kept AS SELECT * FROM audit WHERE seq = 7");
        change_file(sql);
        {
            struct audit_verdict verdict = verify_with(NULL);

            assert_true(verdict.fault == AUDIT_CHANGED || verdict.fault == AUDIT_TORN ||
                        verdict.fault == AUDIT_REORDERED);
            assert_int_equal(verdict.seq, 7);
        }
        change_file("UPDATE audit SET record = (SELECT record FROM kept) WHERE seq = 7");
    }
    expect_fine(RECORDS);
    change_file("UPDATE audit SET hash = zeroblob(32) WHERE seq = 9");
    expect_fault(AUDIT_CHANGED, 9);
}

static void a_changed_column_is_found(void **state)
{
    static const char *const columns[] = {"key", "agent", "environment", "status", "kind", "run"};
    char sql[128];
    size_t i;

    (void)state;
    change_file("CREATE TABLE kept AS SELECT * FROM audit");
    for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        (void)snprintf(sql, sizeof(sql), "UPDATE audit SET %s = 'x' WHERE seq = 5", columns[i]);
        change_file(sql);
        expect_fault(AUDIT_CHANGED, 5);
        change_file("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept");
    }
    change_file("UPDATE audit SET time_us = time_us + 1 WHERE seq = 5");
    expect_fault(AUDIT_CHANGED, 5);
    change_file("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept;"
                "UPDATE audit SET status = NULL WHERE seq = 5");
    expect_fault(AUDIT_CHANGED, 5);
    change_file("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept;"
                "UPDATE audit SET code_kept = 0 WHERE seq = 5");
    expect_fault(AUDIT_CHANGED, 5);
}

static void a_missing_record_is_found(void **state)
{
    (void)state;
    change_file("DELETE FROM audit WHERE seq = 11");
    expect_fault(AUDIT_MISSING, 11);
    change_file("DELETE FROM audit WHERE seq <= 3");
    expect_fault(AUDIT_MISSING, 1);
}

static void an_inserted_record_is_found(void **state)
{
    (void)state;
    /* The rest is renumbered to make room. */
    change_file("UPDATE audit SET seq = seq + 1000 WHERE seq >= 5;"
                "UPDATE audit SET seq = seq - 999 WHERE seq >= 1000;"
                "INSERT INTO audit SELECT 5, time_us, kind, key, agent, run, environment, status,"
                " code_hash, code_kept, previous, hash, record FROM audit WHERE seq = 4");
    expect_fault(AUDIT_REORDERED, 5);
}

static void records_in_another_order_are_found(void **state)
{
    (void)state;
    change_file("UPDATE audit SET seq = 1000 WHERE seq = 5; UPDATE audit SET seq = 5 WHERE seq = 6;"
                "UPDATE audit SET seq = 6 WHERE seq = 1000");
    expect_fault(AUDIT_REORDERED, 5);
}

/* Puts a record of our own, with a right hash, at a place. */
static void forge(uint64_t seq, const char *agent)
{
    struct audit_prefix prefix = {
        .seq = seq, .time_us = 5, .kind = "run", .columns = {NULL, agent}};
    unsigned char previous[AUDIT_HASH_BYTES], hash[AUDIT_HASH_BYTES];
    sqlite3_stmt *s = NULL;
    sqlite3 *db = NULL;
    struct buf text;

    assert_int_equal(sqlite3_open(path_of("audit.db"), &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT hash FROM audit WHERE seq = ?1 - 1", -1, &s, NULL), 0);
    (void)sqlite3_bind_int64(s, 1, (int64_t)seq);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    memcpy(previous, sqlite3_column_blob(s, 0), AUDIT_HASH_BYTES);
    (void)sqlite3_finalize(s);
    buf_init(&text, 4096);
    assert_int_equal(audit_put_prefix(&prefix, &text, &err), 0);
    assert_int_equal(buf_add_text(&text, "}", &err), 0);
    audit_hash(previous, text.data, text.len, hash);
    assert_int_equal(sqlite3_prepare_v2(db,
                         "INSERT OR REPLACE INTO audit (seq, time_us, kind, agent, previous, hash,"
                         " record) VALUES (?1, 5, 'run', ?2, ?3, ?4, ?5)",
                         -1, &s, NULL),
        0);
    (void)sqlite3_bind_int64(s, 1, (int64_t)seq);
    (void)sqlite3_bind_text(s, 2, agent, -1, SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 3, previous, sizeof(previous), SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 4, hash, sizeof(hash), SQLITE_STATIC);
    (void)sqlite3_bind_blob(s, 5, text.data, (int)text.len, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(s), SQLITE_DONE);
    (void)sqlite3_finalize(s);
    (void)sqlite3_close(db);
    buf_release(&text);
}

static void a_forged_record_is_found(void **state)
{
    struct audit_verdict verdict;
    struct audit_head kept = verify_with(NULL).head;
    unsigned i;

    (void)state;
    forge(8, "nobody");
    expect_fault(AUDIT_REPLACED, 9);
    for (i = 9; i <= RECORDS; i++) { /* a whole new chain: only the head is left to tell */
        forge(i, "nobody");
    }
    expect_fault(AUDIT_HEAD, RECORDS);
    forge(RECORDS + 1, "nobody");
    expect_fault(AUDIT_HEAD, RECORDS);
    assert_int_equal(unlink(path_of("audit.head")), 0);
    expect_fault(AUDIT_NO_HEAD, RECORDS + 1);
    verdict = verify_with(&kept); /* one that was copied elsewhere */
    assert_int_equal(verdict.fault, AUDIT_HEAD);
    assert_int_equal(verdict.seq, RECORDS);
}

static void a_cut_end_is_found(void **state)
{
    (void)state;
    change_file("DELETE FROM audit WHERE seq > 15");
    expect_fault(AUDIT_TRUNCATED, 16);
    change_file("DELETE FROM audit");
    expect_fault(AUDIT_TRUNCATED, 1);
    assert_int_equal(unlink(path_of("audit.db")), 0); /* all of it, and somebody begins anew */
    close_audit(open_audit());
    expect_fault(AUDIT_TRUNCATED, 1);
}

static void a_head_that_lags_is_fine(void **state)
{
    char before[1024];
    struct audit *audit;
    ssize_t n;
    int fd = open(path_of("audit.head"), O_RDONLY | O_CLOEXEC);

    (void)state;
    n = fd_read_up_to(fd, before, sizeof(before));
    assert_int_equal(n, 512);
    (void)close(fd);
    audit = open_audit();
    add_runs(audit, 5);
    close_audit(audit);
    fd = open(path_of("audit.head"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(fd_write_all(fd, before, (size_t)n), 0);
    (void)close(fd);
    expect_fine(RECORDS + 5);
}

static void one_torn_line_of_the_head_is_fine(void **state)
{
    struct audit *audit = open_audit();
    int fd, i;

    (void)state;
    for (i = 0; i < 4; i++) { /* each in a batch of its own */
        uint64_t ticket;
        const struct audit_record record = {.kind = AUDIT_SERVER};

        assert_int_equal(audit_add(audit, &record, &ticket, &err), 0);
        assert_int_equal(audit_wait(audit, ticket, 5000, &err), 0);
    }
    close_audit(audit);
    expect_fine(RECORDS + 4);
    for (i = 0; i < 2; i++) {
        fd = open(path_of("audit.head"), O_RDWR | O_CLOEXEC);
        assert_int_equal(pwrite(fd, "xx", 2, i * 256 + 100), 2);
        (void)close(fd);
        if (i == 0) {
            expect_fine(RECORDS + 4);
        } else {
            expect_fault(AUDIT_NO_HEAD, RECORDS + 4);
        }
    }
}

static void torn_records_are_found(void **state)
{
    (void)state;
    change_file("CREATE TABLE kept AS SELECT * FROM audit");
    change_file("UPDATE audit SET record = substr(record, 1, 40) WHERE seq = 13");
    expect_fault(AUDIT_TORN, 13);
    change_file("DELETE FROM audit; INSERT INTO audit SELECT * FROM kept;"
                "UPDATE audit SET hash = x'00' WHERE seq = 13");
    expect_fault(AUDIT_TORN, 13);
    change_file("UPDATE audit SET record = zeroblob(0) WHERE seq = 12");
    expect_fault(AUDIT_TORN, 12);
}

static void changed_code_is_found(void **state)
{
    (void)state;
    /* Records 3, 10 and 17 have it. */
    change_file("UPDATE code SET code = CAST('return 99' AS BLOB)"
                " WHERE hash = (SELECT code_hash FROM audit WHERE seq = 10)");
    expect_fault(AUDIT_CODE, 3);
    change_file("DELETE FROM code WHERE hash = (SELECT code_hash FROM audit WHERE seq = 2)");
    expect_fault(AUDIT_CODE, 2);
    change_file("UPDATE audit SET hash = zeroblob(32) WHERE seq = 1");
    expect_fault(AUDIT_CHANGED, 1);
}

/* ---- retention ---- */

static void what_is_left_after_removing_is_fine(void **state)
{
    struct audit *audit = open_audit();
    uint64_t removed = 77;
    int i;

    (void)state;
    assert_int_equal(audit_retain(audit, 0, 0, &removed, &err), 0);
    assert_int_equal(removed, 0);
    assert_int_equal(audit_retain(audit, 0, RECORDS, &removed, &err), 0);
    assert_int_equal(removed, 0);
    assert_int_equal(audit_retain(audit, 0, 8, &removed, &err), 0);
    assert_int_equal(removed, 13); /* 7 stay, and the record of it */
    expect_fine(8);
    assert_int_equal(verify_with(NULL).first_seq, 14);
    assert_int_equal(audit_retain(audit, 0, 8, &removed, &err), 0);
    assert_int_equal(removed, 0); /* and it comes to an end */
    add_runs(audit, 10);
    close_audit(audit);
    expect_fine(18);
    audit = open_audit();
    for (i = 0; i < 3; i++) { /* everything there is, with times in the future too */
        assert_int_equal(audit_retain(audit, UINT64_MAX, 0, &removed, &err), 0);
        expect_fine(1);
    }
    close_audit(audit);
    assert_int_equal(ask("SELECT count(*) FROM code"), 0);
}

static void code_stays_while_a_record_has_it(void **state)
{
    struct audit *audit = open_audit();
    uint64_t removed = 0;

    (void)state;
    assert_int_equal(ask("SELECT count(*) FROM code"), 7);
    assert_int_equal(audit_retain(audit, 0, 4, &removed, &err), 0); /* 18, 19, 20 stay */
    assert_int_equal(ask("SELECT count(*) FROM code"), 3);
    expect_fine(4);
    close_audit(audit);
}

static void removing_without_a_record_of_it_is_found(void **state)
{
    struct audit *audit = open_audit();
    uint64_t removed = 0;

    (void)state;
    change_file("INSERT INTO anchor SELECT 1, seq, hash FROM audit WHERE seq = 6;"
                "DELETE FROM audit WHERE seq <= 6");
    expect_fault(AUDIT_ANCHOR, 6);
    change_file("DELETE FROM anchor");
    expect_fault(AUDIT_MISSING, 1);
    change_file("INSERT INTO anchor VALUES (1, 6, zeroblob(32))");
    expect_fault(AUDIT_REPLACED, 7);
    assert_int_equal(audit_retain(audit, 0, 10, &removed, &err), 0);
    expect_fine(10);
    /* More is removed than that record says. */
    change_file("UPDATE anchor SET seq = seq + 2, hash = (SELECT hash FROM audit WHERE seq ="
                " (SELECT seq + 2 FROM anchor)); DELETE FROM audit WHERE seq <= (SELECT seq FROM"
                " anchor)");
    assert_int_equal(verify_with(NULL).fault, AUDIT_ANCHOR);
    close_audit(audit);
}

static void many_are_removed_in_steps(void **state)
{
    struct audit *audit = open_audit();
    uint64_t removed = 1, all = 0;
    unsigned steps = 0;

    (void)state;
    for (steps = 0; steps < 5; steps++) {
        add_runs(audit, 1000);
        wait_written(audit);
    }
    for (steps = 0; removed > 0; steps++) {
        assert_int_equal(audit_retain(audit, 0, 100, &removed, &err), 0);
        all += removed;
    }
    assert_int_equal(steps, 4); /* 2000, 2000, the rest, nothing */
    assert_true(all > 4900);
    expect_fine(100);
    close_audit(audit);
}

static void heads_are_text(void **state)
{
    static const char *const bad[] = {"", "1", "1:", ":00", "01:", "-1:", "1:zz"};
    struct audit_head head = verify_with(NULL).head, again;
    char text[AUDIT_HEAD_TEXT_BYTES];
    size_t i;

    (void)state;
    audit_head_text(&head, text);
    assert_int_equal(audit_head_parse(text, strlen(text), &again), 0);
    assert_int_equal(again.seq, head.seq);
    assert_memory_equal(again.hash, head.hash, sizeof(head.hash));
    for (i = 0; i < strlen(text); i++) {
        assert_int_equal(audit_head_parse(text, i, &again), -1);
    }
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(audit_head_parse(bad[i], strlen(bad[i]), &again), -1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_records, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_written_is_fine),
        TEST(a_changed_byte_is_found),
        TEST(a_changed_column_is_found),
        TEST(a_missing_record_is_found),
        TEST(an_inserted_record_is_found),
        TEST(records_in_another_order_are_found),
        TEST(a_forged_record_is_found),
        TEST(a_cut_end_is_found),
        TEST(a_head_that_lags_is_fine),
        TEST(one_torn_line_of_the_head_is_fine),
        TEST(torn_records_are_found),
        TEST(changed_code_is_found),
        TEST(what_is_left_after_removing_is_fine),
        TEST(code_stays_while_a_record_has_it),
        TEST(removing_without_a_record_of_it_is_found),
        TEST(many_are_removed_in_steps),
        TEST(heads_are_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
