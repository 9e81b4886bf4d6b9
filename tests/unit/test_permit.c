/* test_permit.c - what a run may do as the host keeps it, and what a hostile cell may say about it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/mounts.h"
#include "host/permit.h"
#include "host/run.h"
#include "wire/field.h"
#include "wire/frame.h"
#include "wire/look.h"

static const char POLICY[] =
    "{\"fs\": [{\"effect\": \"allow\", \"match\": \"/home/vial/**\"},"
    " {\"effect\": \"deny\", \"match\": \"/home/vial/m/secret\", \"name\": \"no secrets\"}],"
    " \"env\": [{\"effect\": \"allow\", \"match\": \"A*\"}],"
    " \"tools\": [{\"effect\": \"allow\", \"match\": \"crm.*\"}],"
    " \"process\": [{\"effect\": \"allow\", \"match\": \"stdin\"}]}";

static const char *const VARIABLES[] = {"A=1", "B=2", "AB=3"};
static const char *const ARGS[] = {"x"};

static struct vial_run run;
static struct vial_result result;

static int begin(void **state)
{
    struct vial_error err;

    (void)state;
    memset(&run, 0, sizeof(run));
    memset(&result, 0, sizeof(result));
    run.request.permissions = POLICY;
    run.request.permissions_len = sizeof(POLICY) - 1;
    run.request.env = VARIABLES;
    run.request.env_count = 3;
    run.request.args = ARGS;
    run.request.args_count = 1;
    run.request.stdin_bytes = "in";
    run.request.stdin_len = 2;
    assert_int_equal(permit_open(&run, NULL, NULL, &err), VIAL_OK);
    return 0;
}

static int end(void **state)
{
    (void)state;
    permit_close(&run);
    result_calls_release(&result.calls);
    return 0;
}

static void what_it_may_not_have_is_left_out_and_noted(void **state)
{
    (void)state;
    assert_int_equal(run.request.env_count, 2);
    assert_string_equal(run.request.env[0], "A=1");
    assert_string_equal(run.request.env[1], "AB=3");
    assert_int_equal(run.request.args_count, 0);
    assert_int_equal(run.request.stdin_len, 2);
    permit_note(&run, &result);
    assert_int_equal(result.calls.count, 2);
    assert_string_equal(result.calls.items[0].name, "env.read");
    assert_string_equal(result.calls.items[0].reason,
        "B: denied by the env rules of the run, of which none matches");
    assert_int_equal(result.calls.items[0].status, VIAL_CALL_DENIED);
    assert_string_equal(result.calls.items[1].name, "process.args");
}

static void tools_are_judged_by_their_names(void **state)
{
    char by[RULE_TEXT_BYTES];

    (void)state;
    assert_true(permit_tool(&run, "crm.find", by));
    assert_false(permit_tool(&run, "mail", by));
    assert_string_equal(by, "the tools rules of the run, of which none matches");
}

/* The cell has asked the same rules; one that was taken over would not. */
static void directories_of_the_host_are_judged_here_as_well(void **state)
{
    (void)state;
    assert_int_equal(permit_look(&run, "m", "open"), 0);
    assert_int_equal(permit_look(&run, "m", ""), 0);
    assert_int_equal(permit_look(&run, "m", "secret"), EACCES);
    assert_int_equal(permit_look(&run, "m", "./secret"), EINVAL);
    assert_int_equal(permit_look(&run, "m", "x/../secret"), EINVAL);
    assert_int_equal(permit_look(&run, "m", "/secret"), EINVAL);
    assert_int_equal(permit_look(&run, "m", "x//secret"), EINVAL);
}

/* What the host answers to a look of a cell: 0 or an errno. */
static uint32_t look_at(const char *path)
{
    static char name[] = "m", from[] = "/usr/include";
    struct document_mount mount = {.name = name, .from = from};
    struct document document = {.name = name, .mounts = &mount, .mounts_count = 1};
    struct call_head head = {.id = run.calls.last_id + 1, .tool = LOOK_TOOL};
    struct look look = {.what = LOOK_STAT};
    struct frame frame = {.type = FRAME_CALL, .len = sizeof(head) + sizeof(look) + strlen(path)};
    char payload[256], answer[512];
    struct answer_head said;
    struct mounts *mounts = NULL;
    uint32_t sys = 0;
    int pair[2];

    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), &look, sizeof(look));
    memcpy(payload + sizeof(head) + sizeof(look), path, strlen(path));
    frame.payload = payload;
    assert_int_equal(mounts_open(&document, &mounts, NULL), VIAL_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(calls_open(&run, NULL, mounts, BREED_JS, NULL), VIAL_OK);
    run.calls.sock = pair[0];
    assert_int_equal(calls_take(&run, &frame), CALLS_TAKEN);
    assert_true(recv(pair[1], answer, sizeof(answer), 0) >
                (ssize_t)(FRAME_HEADER_BYTES + sizeof(said) + sizeof(sys) - 1));
    memcpy(&said, answer + FRAME_HEADER_BYTES, sizeof(said));
    if (said.kind == ANSWER_ERRNO) {
        memcpy(&sys, answer + FRAME_HEADER_BYTES + sizeof(said), sizeof(sys));
    }
    calls_close(&run);
    mounts_free(mounts);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return sys;
}

static void a_cell_that_does_not_ask_its_rules_gets_no_more(void **state)
{
    struct vial_engine *engine = calloc(1, sizeof(*engine));

    (void)state;
    assert_non_null(engine);
    call_table_init(&engine->calls, 1);
    run.engine = engine;
    run.wake_fd = -1;
    assert_int_equal(look_at("stdio.h"), 0);
    assert_int_equal(look_at("secret"), EACCES); /* and not ENOENT: nobody looked */
    assert_int_equal(look_at("x/../secret"), EINVAL);
    (void)close(run.wake_fd);
    assert_int_equal(call_table_release(&engine->calls), 0);
    free(engine);
}

static int say(uint32_t op, uint32_t level, uint32_t rule, const char *path, size_t len)
{
    struct denial_head head = {.op = op, .level = level, .rule = rule};
    char payload[sizeof(head) + 8192];

    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), path, len);
    return permit_take_denial(&run, &result, payload, sizeof(head) + len);
}

static void a_refusal_is_recorded_in_our_words(void **state)
{
    (void)state;
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, "/home/vial/m/secret", 19), 0);
    assert_int_equal(say(RULE_WRITE, PERMISSION_RUN, RULE_NONE, "/\xff", 2), 0);
    assert_int_equal(say(DENIAL_CWD, PERMISSION_RUN, RULE_NONE, "/home", 5), 0);
    assert_int_equal(result.calls.count, 3);
    assert_string_equal(result.calls.items[0].name, "fs.read");
    assert_string_equal(result.calls.items[0].reason,
        "/home/vial/m/secret: denied by \"no secrets\" (fs rule 2 of the run)");
    assert_string_equal(result.calls.items[1].name, "fs.write");
    assert_string_equal(result.calls.items[2].name, "process.cwd");
}

static void a_cell_cannot_say_what_cannot_be(void **state)
{
    char path[5000];
    unsigned i;

    (void)state;
    memset(path, 'a', sizeof(path));
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 0, "/a", 2), -1); /* that one allows */
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 2, "/a", 2), -1);
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, RULE_WORD, "/a", 2), -1);
    assert_int_equal(say(RULE_READ, PERMISSION_ENVIRONMENT, RULE_NONE, "/a", 2), -1);
    assert_int_equal(say(RULE_READ, 7, RULE_NONE, "/a", 2), -1);
    assert_int_equal(say(3, PERMISSION_RUN, 1, "/a", 2), -1);
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, "", 0), -1);
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, "/a\0b", 4), -1);
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, path, sizeof(path)), -1);
    assert_int_equal(permit_take_denial(&run, &result, path, 3), -1);
    assert_int_equal(result.calls.count, 0);
    for (i = 0; i < DENIALS_MAX; i++) {
        assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, "/a", 2), 0);
    }
    assert_int_equal(say(RULE_READ, PERMISSION_RUN, 1, "/a", 2), -1);
}

static void the_cell_is_told_the_rules_about_files(void **state)
{
    unsigned rules = 0, lists = 0, gone = 0, cwd = 0;
    struct buf fields;
    struct field f;
    size_t at = 0;

    (void)state;
    buf_init(&fields, 65536);
    assert_int_equal(permit_add_fields(&run, &fields), 0);
    while (field_next(fields.data, fields.len, &at, &f) == 1) {
        lists += f.tag == FIELD_FS_RULES;
        rules += f.tag == FIELD_FS_RULE;
        gone += f.tag == FIELD_ENV_GONE;
        cwd += f.tag == FIELD_CWD_DENIED;
    }
    assert_true(lists == 1 && rules == 2 && gone == 1 && cwd == 1);
    buf_release(&fields);
}

static void a_run_without_rules_is_told_nothing(void **state)
{
    struct vial_run plain = {.engine = NULL};
    struct vial_error err;
    struct buf fields;

    (void)state;
    assert_int_equal(permit_open(&plain, NULL, NULL, &err), VIAL_OK);
    buf_init(&fields, 65536);
    assert_int_equal(permit_add_fields(&plain, &fields), 0);
    assert_int_equal(fields.len, 0);
    assert_int_equal(permit_look(&plain, "m", "x"), 0);
    permit_close(&plain);
}

#define WITH_RUN(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_RUN(what_it_may_not_have_is_left_out_and_noted),
        WITH_RUN(tools_are_judged_by_their_names),
        WITH_RUN(directories_of_the_host_are_judged_here_as_well),
        WITH_RUN(a_cell_that_does_not_ask_its_rules_gets_no_more),
        WITH_RUN(a_refusal_is_recorded_in_our_words),
        WITH_RUN(a_cell_cannot_say_what_cannot_be),
        WITH_RUN(the_cell_is_told_the_rules_about_files),
        cmocka_unit_test(a_run_without_rules_is_told_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
