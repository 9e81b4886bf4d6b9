/* test_audit.c - writing the audit: nothing is torn by a crash, nothing is lost unseen when the
 * disk is full or the database locked, and who must not go on without it is told. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "audit_helper.h"
#include "base/fd.h"
#include "helper.h"

static const struct audit_record PLAIN = {.kind = AUDIT_SERVER, .what = "start"};

/* ---- what is written ---- */

static int copy_record(const struct audit_entry *entry, void *user)
{
    (void)snprintf(user, 4096, "%.*s", (int)entry->record_len, entry->record);
    return 0;
}

static const char *newest_record(void)
{
    static char text[4096];
    const struct audit_filter all = {.key = NULL};
    struct audit_reader *reader = open_reader();
    char cursor[AUDIT_CURSOR_BYTES_MAX];

    assert_int_equal(audit_list(reader, &all, NULL, 1, 0, copy_record, text, cursor, &err), 0);
    audit_reader_free(reader);
    return text;
}

static void a_record_has_its_fields_in_order(void **state)
{
    const struct audit_record record = {.kind = AUDIT_RUN,
        .time_us = UINT64_C(1800000000123456),
        .key = "abc",
        .agent = "a \"b\"",
        .from = "127.0.0.1",
        .trace = "4bf9",
        .run = "run_1",
        .session = "ses_1",
        .environment = "crm@3",
        .what = "w",
        .status = "ok",
        .detail = "d\n",
        .code = "1+1",
        .code_len = 3,
        .input = "{\"a\":1e400}",
        .input_len = 11,
        .output = "not json",
        .output_len = 8,
        .usage = "[]",
        .usage_len = 2};
    struct audit *audit = open_audit();

    (void)state;
    add(audit, &record);
    close_audit(audit);
    assert_string_equal(newest_record(),
        "{\"seq\":1,\"time\":\"2027-01-15T08:00:00.123456Z\",\"kind\":\"run\",\"key\":\"abc\","
        "\"agent\":\"a \\\"b\\\"\",\"run\":\"run_1\",\"environment\":\"crm@3\",\"status\":\"ok\","
        "\"code_sha256\":\"4a1b21d876ae00c8ed5c4d1cde09c61f8a61b50fe370a801b10c339831f370ab\","
        "\"code_kept\":false,\"code_bytes\":3,\"what\":\"w\",\"session\":\"ses_1\","
        "\"from\":\"127.0.0.1\",\"trace\":\"4bf9\",\"detail\":\"d\\n\",\"usage\":[],"
        "\"input\":{\"a\":1e400},\"output\":{\"cut\":true,\"bytes\":8}}");
    expect_fine(1);
}

static void hostile_texts_stay_texts(void **state)
{
    char longer[2000], code[] = "a\0b";
    struct audit_record record = {.kind = AUDIT_DENIAL,
        .key = "\xff\xfe",
        .agent = longer,
        .status = "\"},{\"\x01\xe2\x80",
        .what = longer,
        .detail = longer,
        .code = code,
        .code_len = 3,
        .keep_code = 1,
        .input = "1\n",
        .input_len = 2};
    struct audit *audit = open_audit();

    (void)state;
    memset(longer, 0xc3, sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    add(audit, &record);
    memset(longer, '"', sizeof(longer) - 1);
    add(audit, &record);
    record = (struct audit_record){.kind = AUDIT_CALL, .code = "", .keep_code = 1};
    add(audit, &record);
    close_audit(audit);
    expect_fine(3);
}

static void code_that_is_too_long_is_kept_as_its_hash(void **state)
{
    char *code = calloc(1, AUDIT_CODE_BYTES_MAX + 1);
    struct audit_record record = {.kind = AUDIT_RUN, .code = code, .keep_code = 1};
    struct audit *audit = open_audit();

    (void)state;
    assert_non_null(code);
    record.code_len = AUDIT_CODE_BYTES_MAX;
    add(audit, &record);
    record.code_len = AUDIT_CODE_BYTES_MAX + 1;
    add(audit, &record);
    close_audit(audit);
    assert_int_equal(ask("SELECT count(*) FROM code"), 1);
    assert_int_equal(ask("SELECT count(*) FROM audit WHERE code_hash IS NOT NULL"), 2);
    expect_fine(2);
    free(code);
}

static void waiting_means_it_is_on_the_disk(void **state)
{
    struct audit *audit = open_audit();
    struct audit_stats stats;
    uint64_t ticket = 0;

    (void)state;
    assert_int_equal(audit_wait(audit, 0, 0, &err), 0);
    assert_int_equal(audit_wait(audit, 1, 1, &err), VIAL_E_BUSY); /* there is no such thing yet */
    assert_int_equal(audit_add(audit, &PLAIN, &ticket, &err), 0);
    assert_int_equal(ticket, 1);
    assert_int_equal(audit_wait(audit, ticket, 5000, &err), 0);
    assert_int_equal(ask("SELECT count(*) FROM audit"), 1);
    audit_stats(audit, &stats);
    assert_int_equal(stats.written, 1);
    assert_int_equal(stats.queued, 0);
    assert_int_equal(stats.ticket_written, 1);
    assert_int_equal(stats.failing, 0);
    close_audit(audit);
}

/* ---- threads and processes ---- */

enum { THREADS = 4, EACH = 500 };

static void *add_many(void *user)
{
    int i;

    for (i = 0; i < EACH; i++) {
        if (audit_add(user, &PLAIN, NULL, NULL) < 0) {
            return user;
        }
    }
    return NULL;
}

static void threads_and_readers_at_once(void **state)
{
    struct audit *audit = open_audit();
    pthread_t threads[THREADS];
    void *bad;
    int i;

    (void)state;
    for (i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, audit), 0);
    }
    for (i = 0; i < 10; i++) {
        assert_int_equal(verify_with(NULL).fault, AUDIT_FINE);
    }
    for (i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &bad), 0);
        assert_null(bad);
    }
    close_audit(audit);
    expect_fine((uint64_t)THREADS * EACH);
}

static int write_some(void)
{
    const struct audit_options options = {.directory = directory};
    struct audit *audit = NULL;
    uint64_t ticket, lost;
    int i;

    if (audit_open(&options, &audit, &err) < 0) {
        return 1;
    }
    for (i = 0; i < 50; i++) {
        if (audit_add(audit, &PLAIN, &ticket, &err) < 0 ||
            (i % 3 == 0 && audit_wait(audit, ticket, 20000, &err) < 0)) {
            return 1;
        }
    }
    audit_free(audit, &lost);
    return lost == 0 ? 0 : 1;
}

static void processes_write_one_chain(void **state)
{
    pid_t pids[4];
    int status;
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(write_some());
        }
    }
    for (i = 0; i < 4; i++) {
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    expect_fine(200);
}

/* ---- crashes ---- */

enum { CRASHES = 60 };

/* Writes without end, removes now and then, and tells how many are promised. */
static int write_for_ever(int promised, unsigned seed)
{
    const struct audit_options options = {.directory = directory};
    struct audit *audit = NULL;
    uint64_t ticket, removed, count = 0;
    char code[300];

    if (audit_open(&options, &audit, &err) < 0) {
        return 1;
    }
    memset(code, 'x', sizeof(code));
    for (;; seed = seed * 1103515245U + 12345U) {
        struct audit_record record = {.kind = AUDIT_RUN,
            .key = "k",
            .status = "ok",
            .code = code,
            .code_len = (seed >> 8) % sizeof(code),
            .keep_code = 1};

        if (audit_add(audit, &record, &ticket, &err) < 0) {
            return 1;
        }
        count++;
        if ((seed >> 16) % 8 == 0) {
            if (audit_wait(audit, ticket, 20000, &err) < 0 ||
                fd_write_all(promised, &count, sizeof(count)) < 0) {
                return 1;
            }
            count = 0;
        }
        if ((seed >> 12) % 64 == 0 && audit_retain(audit, 0, 300, &removed, &err) < 0) {
            return 1;
        }
    }
}

static void a_crash_at_any_moment_tears_nothing(void **state)
{
    uint64_t promised = 0, count, last;
    unsigned seed = (unsigned)getpid();
    int pipes[2], status, round;
    pid_t pid;

    (void)state;
    for (round = 0; round < CRASHES; round++) {
        assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
        pid = fork();
        if (pid == 0) {
            _exit(write_for_ever(pipes[1], seed));
        }
        (void)close(pipes[1]);
        seed = seed * 1103515245U + 12345U;
        (void)usleep((seed >> 8) % 40000);
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        while (fd_read_up_to(pipes[0], &count, sizeof(count)) == sizeof(count)) {
            promised += count;
        }
        (void)close(pipes[0]);
        if (access(path_of("audit.db"), F_OK) < 0) {
            continue; /* it was not even opened */
        }
        {
            struct audit_verdict verdict = verify_with(NULL);

            if (verdict.fault != AUDIT_FINE) {
                fail_msg("round %d: %s", round, verdict.text);
            }
            last = verdict.head.seq;
        }
        assert_true(last >= promised); /* what was waited for is there, each with a number */
        assert_int_equal(ask("SELECT integrity_check = 'ok' FROM pragma_integrity_check"), 1);
    }
    assert_true(promised > 50); /* the loop did something */
}

/* ---- a locked database ---- */

static sqlite3 *lock_database(void)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path_of("audit.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static atomic_int changes;

static void count_change(void *user)
{
    (void)user;
    changes++;
}

static void a_lock_delays_and_loses_nothing_that_fits(void **state)
{
    const struct audit_options options = {.queue_max = 10, .on_change = count_change};
    struct audit *audit = open_with(&options);
    struct audit_stats stats;
    sqlite3 *db = lock_database();
    uint64_t ticket = 0;
    int i;

    (void)state;
    changes = 0;
    for (i = 0; i < 10; i++) {
        assert_int_equal(audit_add(audit, &PLAIN, &ticket, &err), 0);
    }
    assert_int_equal(audit_wait(audit, ticket, 1500, &err), VIAL_E_BUSY); /* busy for 1 s */
    audit_stats(audit, &stats);
    assert_int_equal(stats.failing, 1);
    assert_true(stats.problem[0] != '\0');
    assert_int_equal(stats.queued, 10);
    assert_int_equal(changes, 1);
    for (i = 0; i < 7; i++) { /* no room: lost, and counted */
        assert_int_equal(audit_add(audit, &PLAIN, NULL, &err), 0);
    }
    audit_stats(audit, &stats);
    assert_int_equal(stats.lost, 7);
    (void)sqlite3_close(db);
    assert_int_equal(audit_wait(audit, ticket, 10000, &err), 0);
    audit_stats(audit, &stats);
    assert_int_equal(stats.failing, 0);
    assert_string_equal(stats.problem, "");
    close_audit(audit);
    expect_fine(11); /* ten, and the one that says that seven are lost */
    assert_non_null(strstr(newest_record(), "\"kind\":\"lost\""));
    assert_non_null(strstr(newest_record(), "7 records were lost between "));
}

static void who_requires_it_is_refused(void **state)
{
    const struct audit_options options = {.queue_max = 4, .required = 1};
    struct audit *audit = open_with(&options);
    struct audit_stats stats;
    sqlite3 *db = lock_database();
    uint64_t ticket = 0;
    int i, r = 0;

    (void)state;
    for (i = 0; i < 4; i++) {
        assert_int_equal(audit_add(audit, &PLAIN, &ticket, &err), 0);
    }
    assert_int_equal(audit_add(audit, &PLAIN, NULL, &err), VIAL_E_BUSY); /* the queue is full */
    /* The writer gives the lock a while before it says that writing fails. */
    for (i = 0; i < 20; i++) {
        assert_int_equal(audit_wait(audit, ticket, 500, &err), VIAL_E_BUSY);
        audit_stats(audit, &stats);
        if (stats.failing) {
            break;
        }
    }
    r = audit_add(audit, &PLAIN, NULL, &err);
    assert_int_equal(r, VIAL_E_SYS);
    assert_non_null(strstr(err.text, "the audit cannot be written"));
    (void)sqlite3_close(db);
    assert_int_equal(audit_wait(audit, ticket, 10000, &err), 0);
    r = audit_add(audit, &PLAIN, NULL, &err);
    assert_int_equal(r, 0); /* it works again */
    audit_stats(audit, &stats);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.lost, 0);
    close_audit(audit);
    expect_fine(5);
}

static void what_cannot_be_written_at_the_end_is_told(void **state)
{
    struct audit *audit = open_audit();
    sqlite3 *db = lock_database();
    uint64_t lost = 0;

    (void)state;
    add(audit, &PLAIN);
    add(audit, &PLAIN);
    audit_free(audit, &lost);
    assert_int_equal(lost, 2);
    (void)sqlite3_close(db);
    audit_free(NULL, NULL);
}

static void large_records_fill_the_queue_by_their_bytes(void **state)
{
    const struct audit_options options = {.queue_bytes_max = 1 << 20, .required = 1};
    char *code = calloc(1, 300000);
    const struct audit_record record = {.kind = AUDIT_RUN, .code = code, .code_len = 300000};
    struct audit *audit = open_with(&options);
    sqlite3 *db = lock_database();
    int i;

    (void)state;
    assert_non_null(code);
    for (i = 0; i < 3; i++) {
        add(audit, &record);
    }
    assert_int_equal(audit_add(audit, &record, NULL, &err), VIAL_E_BUSY);
    (void)sqlite3_close(db);
    close_audit(audit);
    free(code);
}

/* ---- a full disk ---- */

static int fill(const char *name)
{
    static char block[65536];
    int fd = open(path_of(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    size_t size = sizeof(block);

    while (size > 0) { /* to the last byte */
        ssize_t n = write(fd, block, size);

        size = n <= 0 ? size / 2 : size;
    }
    return close(fd);
}

static int on_a_small_disk(void *user)
{
    struct audit_options options = {.directory = directory, .queue_max = 20};
    struct audit_stats stats;
    struct audit *audit = NULL;
    uint64_t ticket = 0, lost = 0;
    struct audit_reader *reader = NULL;
    struct audit_verdict verdict;
    int i;

    (void)user;
    if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", directory, "tmpfs", MS_NOSUID | MS_NODEV, "size=2m,mode=0700") < 0) {
        return CHILD_SKIPPED;
    }
    CHILD_CHECK(audit_open(&options, &audit, &err) == 0);
    CHILD_CHECK(audit_add(audit, &PLAIN, &ticket, &err) == 0);
    CHILD_CHECK(audit_wait(audit, ticket, 5000, &err) == 0);
    CHILD_CHECK(fill("filler") == 0);
    for (i = 0; i < 2000; i++) { /* until the log of the database has no room in its last page */
        CHILD_CHECK(audit_add(audit, &PLAIN, &ticket, &err) == 0);
        audit_stats(audit, &stats);
        if (stats.failing) {
            break;
        }
        (void)usleep(1000);
    }
    CHILD_CHECK(stats.failing);
    CHILD_CHECK(strstr(stats.problem, "disk of the store is full") != NULL);
    for (i = 0; i < 40; i++) {
        CHILD_CHECK(audit_add(audit, &PLAIN, &ticket, &err) == 0);
    }
    audit_stats(audit, &stats);
    CHILD_CHECK(stats.lost > 0);
    CHILD_CHECK(audit_reader_open(directory, &reader, &err) == 0); /* readable all the same */
    CHILD_CHECK(audit_verify(reader, NULL, &verdict, &err) == 0 && verdict.fault == AUDIT_FINE);
    CHILD_CHECK(unlink(path_of("filler")) == 0);
    CHILD_CHECK(audit_wait(audit, ticket, 10000, &err) == 0);
    audit_free(audit, &lost);
    CHILD_CHECK(lost == 0);
    CHILD_CHECK(audit_verify(reader, NULL, &verdict, &err) == 0 && verdict.fault == AUDIT_FINE);
    /* Every record that was not lost, and one that says how many were. */
    CHILD_CHECK(verdict.count == stats.ticket_written + stats.queued + 1);
    audit_reader_free(reader);
    CHILD_CHECK(strstr(newest_record(), "records were lost between ") != NULL);
    return CHILD_FINE;
}

static void a_full_disk_loses_nothing_unseen(void **state)
{
    int r = helper_in_child(on_a_small_disk, NULL);

    (void)state;
    if (r == CHILD_SKIPPED) {
        helper_say_skip("no mount of a tmpfs is allowed here");
        skip();
    }
    assert_int_equal(r, CHILD_FINE);
}

/* ---- files ---- */

static void an_audit_of_a_newer_vial_is_left_alone(void **state)
{
    const struct audit_options options = {.directory = directory};
    struct audit_reader *reader = NULL;
    struct audit *audit = NULL;

    (void)state;
    close_audit(open_audit());
    change_file("PRAGMA user_version = 9");
    assert_int_equal(audit_open(&options, &audit, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "newer vial (its schema is 9, this one knows 1)"));
    assert_int_equal(audit_reader_open(directory, &reader, &err), VIAL_E_SYS);
    change_file("PRAGMA user_version = 1; PRAGMA application_id = 1986617708"); /* of a store */
    assert_int_equal(audit_open(&options, &audit, &err), VIAL_E_SYS);
    assert_non_null(strstr(err.text, "another program"));
}

static void reading_nothing_makes_nothing(void **state)
{
    struct audit_reader *reader = NULL;

    (void)state;
    assert_int_equal(audit_reader_open(directory, &reader, &err), VIAL_E_INVALID);
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(access(path_of("audit.db"), F_OK), -1);
    close_audit(open_audit());
    expect_fine(0);
}

static void only_we_can_read_it(void **state)
{
    static const char *const names[] = {"audit.db", "audit.db-wal", "audit.head"};
    mode_t before = umask(0);
    struct audit *audit = open_audit();
    struct stat st;
    size_t i;

    (void)state;
    (void)umask(before);
    add(audit, &PLAIN);
    wait_written(audit);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_int_equal(stat(path_of(names[i]), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
    }
    close_audit(audit);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_record_has_its_fields_in_order),
        TEST(hostile_texts_stay_texts),
        TEST(code_that_is_too_long_is_kept_as_its_hash),
        TEST(waiting_means_it_is_on_the_disk),
        TEST(threads_and_readers_at_once),
        TEST(processes_write_one_chain),
        TEST(a_crash_at_any_moment_tears_nothing),
        TEST(a_lock_delays_and_loses_nothing_that_fits),
        TEST(who_requires_it_is_refused),
        TEST(what_cannot_be_written_at_the_end_is_told),
        TEST(large_records_fill_the_queue_by_their_bytes),
        TEST(a_full_disk_loses_nothing_unseen),
        TEST(an_audit_of_a_newer_vial_is_left_alone),
        TEST(reading_nothing_makes_nothing),
        TEST(only_we_can_read_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
