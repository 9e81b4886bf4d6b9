/* test_calls.c - calls of tools in the real cell program: arguments, answers, errors, limits,
 * approval, and functions that behave as badly as they can. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "helper.h"
#include "host/run.h"
#include "policy/limits.h"
#include "vial.h"

static struct vial_engine *engine; /* one for all: starting it is what takes time */

static uint64_t late_id;    /* of a call that is answered when the test says so */
static uint64_t asked_id;   /* of a call that waits for approval */
static unsigned call_count; /* atomic */

static int start_engine(void **state)
{
    (void)state;
    engine = helper_engine();
    return 0;
}

static int stop_engine(void **state)
{
    (void)state;
    vial_engine_free(engine);
    return 0;
}

/* ---- functions ---- */

static void echo(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    (void)__atomic_add_fetch(&call_count, 1, __ATOMIC_RELAXED);
    assert_int_equal(call->args_is_cbor
                         ? vial_call_answer_cbor(e, call->id, call->args, call->args_len, NULL)
                         : vial_call_answer(e, call->id, call->args, call->args_len, NULL),
        0);
}

/* Answers with what it got, whether that is right or not. */
static void careless(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_answer(e, call->id, call->args, call->args_len, NULL);
}

static void slow(struct vial_engine *e, const struct vial_call *call, void *user)
{
    helper_sleep_ms(50);
    echo(e, call, user);
}

static void nothing(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    assert_int_equal(vial_call_answer(e, call->id, NULL, 0, NULL), 0);
}

static void fails(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    assert_int_equal(vial_call_fail(e, call->id, "NotFound", "no such customer",
                         "{\"code\":404,\"stack\":\"host secrets\",\"tried\":[1,2]}", NULL),
        0);
}

static void never(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)e;
    (void)user;
    __atomic_store_n(&late_id, call->id, __ATOMIC_RELAXED);
}

static void twice(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    assert_int_equal(vial_call_answer(e, call->id, "1", 1, NULL), 0);
    assert_int_equal(vial_call_answer(e, call->id, "2", 1, NULL), VIAL_E_GONE);
    assert_int_equal(vial_call_fail(e, call->id, "Error", "x", NULL, NULL), VIAL_E_GONE);
}

static void no_json(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)user;
    assert_int_equal(vial_call_answer(e, call->id, "{nope", 5, NULL), VIAL_E_INVALID);
}

static void too_much(struct vial_engine *e, const struct vial_call *call, void *user)
{
    size_t len = (size_t)1 << 30;
    char *huge = calloc(1, len); /* pages that nobody touches */

    (void)user;
    assert_non_null(huge);
    assert_int_equal(vial_call_answer(e, call->id, huge, len, NULL), VIAL_E_INVALID);
    free(huge);
}

static void lines(struct vial_engine *e, const struct vial_call *call, void *user)
{
    static const char answer[] = "{\r\n  \"a\": \"b\\n\"\n}\n";

    (void)user;
    assert_int_equal(vial_call_answer(e, call->id, answer, strlen(answer), NULL), 0);
}

static int approve(struct vial_engine *e, const struct vial_call *call, void *user)
{
    (void)e;
    (void)user;
    if (strstr(call->args, "later") != NULL) {
        __atomic_store_n(&asked_id, call->id, __ATOMIC_RELEASE);
        return VIAL_APPROVAL_LATER;
    }
    return strstr(call->args, "yes") != NULL ? VIAL_APPROVAL_YES : VIAL_APPROVAL_NO;
}

#define TOOL(...)                                                                                  \
    {                                                                                              \
        .size = sizeof(struct vial_tool), __VA_ARGS__                                              \
    }

static const char SCHEMA[] = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},"
                             "\"name\":{\"type\":\"string\"}},\"required\":[\"id\"],"
                             "\"additionalProperties\":false}";

static const struct vial_tool TOOLS[] = {
    TOOL(.name = "echo", .call = echo, .flags = VIAL_TOOL_INLINE),
    TOOL(.name = "echoNow", .call = echo, .flags = VIAL_TOOL_INLINE, .mode = VIAL_TOOL_SYNC),
    TOOL(.name = "any", .call = echo, .flags = VIAL_TOOL_VALUES),
    TOOL(.name = "crm.find", .call = echo, .input_schema = SCHEMA),
    TOOL(.name = "crm.slow", .call = slow),
    TOOL(.name = "crm.slowNow", .call = slow, .mode = VIAL_TOOL_SYNC),
    TOOL(.name = "crm.fails", .call = fails),
    TOOL(.name = "crm.contacts.none", .call = nothing),
    TOOL(.name = "never", .call = never, .timeout_ms_max = 60),
    TOOL(.name = "twice", .call = twice),
    TOOL(.name = "noJson", .call = no_json),
    TOOL(.name = "tooMuch", .call = too_much),
    TOOL(.name = "promised", .call = careless, .output_schema = "{\"type\":\"string\"}"),
    TOOL(.name = "thrice", .call = echo, .calls_max = 3),
    TOOL(.name = "two", .call = slow, .concurrency_max = 2),
    TOOL(.name = "small", .call = echo, .input_bytes_max = 100),
    TOOL(.name = "lines", .call = lines),
    TOOL(.name = "danger", .call = echo, .flags = VIAL_TOOL_APPROVE),
};
enum { TOOLS_COUNT = sizeof(TOOLS) / sizeof(TOOLS[0]) };

/* ---- runs ---- */

static struct vial_result *run_with(
    const char *source, const struct vial_limits *limits, vial_approve_fn on_approve)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    request.source = source;
    request.source_len = strlen(source);
    request.limits = limits;
    request.tools = TOOLS;
    request.tools_count = TOOLS_COUNT;
    request.record_calls = 1;
    request.on_approve = on_approve;
    if (vial_run(engine, &request, &result, &err) < 0) {
        fail_msg("%s: %s", source, err.text);
    }
    return result;
}

static void expect(const char *source, const char *value)
{
    struct vial_result *result = run_with(source, NULL, approve);
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;

    vial_result_error(result, &e);
    if (vial_result_status(result) != VIAL_STATUS_OK) {
        fail_msg("%s: %s: %s", source, e.name, e.message);
    }
    assert_string_equal(vial_result_value(result, NULL), value);
    vial_result_free(result);
}

/* How the call with this number ended. */
static void expect_call(const struct vial_result *result, size_t index, uint32_t status,
    const char *name, const char *reason)
{
    struct vial_call_record record = VIAL_CALL_RECORD_INIT;

    assert_int_equal(vial_result_call(result, index, &record), 0);
    assert_string_equal(record.name, name);
    assert_string_equal(
        vial_call_status_name((int)record.status), vial_call_status_name((int)status));
    if (reason == NULL) {
        assert_null(record.reason);
    } else {
        assert_non_null(record.reason);
        assert_non_null(strstr(record.reason, reason));
    }
}

static void arguments_and_answers_cross_the_wall(void **state)
{
    (void)state;
    expect("await echo({a: [1, 'ü', null]})", "{\"a\":[1,\"ü\",null]}");
    expect("echoNow('x') + echoNow('y')", "\"xy\"");
    expect("await crm.contacts.none() === undefined", "true");
    expect("[await echo(), await echo(1, 2), await echo(undefined)]", "[null,[1,2],null]");
    expect("await echo({when: new Date(0), gone: undefined})",
        "{\"when\":\"1970-01-01T00:00:00.000Z\"}");
    expect("const m = await any(new Map([[1, 2n]])); [m instanceof Map, String(m.get(1))]",
        "[true,\"2\"]");
    expect("(await echo('x'.repeat(500000))).length", "500000");
}

static void a_result_is_one_line_whatever_tools_say(void **state)
{
    struct vial_result *result = run_with("await lines()", NULL, NULL);
    struct vial_call_record record = VIAL_CALL_RECORD_INIT;

    (void)state;
    assert_int_equal(vial_result_call(result, 0, &record), 0);
    assert_non_null(strstr(record.output, "\"a\": \"b\\n\""));
    assert_string_equal(vial_result_value(result, NULL), "{\"a\":\"b\\n\"}");
    assert_null(strchr(vial_result_json(result, NULL), '\n'));
    vial_result_free(result);
}

static void members_may_be_given_in_order(void **state)
{
    (void)state;
    expect("await crm.find(3)", "{\"id\":3}");
    expect("await crm.find(3, 'x')", "{\"id\":3,\"name\":\"x\"}");
    expect("await crm.find({id: 3})", "{\"id\":3}");
    expect("await crm.find(1, 'x', 2).catch(e => e instanceof TypeError)", "true");
}

static void what_json_cannot_say_is_refused(void **state)
{
    (void)state;
    expect("const bad = [1n, NaN, new Map(), () => 1, new Uint8Array(1), Promise.resolve(1)];"
           "const said = []; for (const x of bad) await echo({x}).catch(e => said.push(e.name));"
           "said.join()",
        "\"TypeError,TypeError,TypeError,TypeError,TypeError,TypeError\"");
}

static void arguments_are_checked_field_by_field(void **state)
{
    struct vial_result *result = run_with("await crm.find({id: 'x', nam: 1})", NULL, NULL);
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;
    unsigned before = call_count;

    (void)state;
    vial_result_error(result, &e);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_EXCEPTION);
    assert_string_equal(e.name, "TypeError");
    assert_non_null(strstr(e.message, "id: "));
    assert_non_null(strstr(e.message, "integer"));
    assert_non_null(strstr(e.message, "nam"));
    assert_int_equal(e.line, 1);
    assert_int_equal(call_count, before); /* the host never saw it */
    expect_call(result, 0, VIAL_CALL_INVALID, "crm.find", "id");
    vial_result_free(result);
    expect("await crm.find({}).catch(e => e.problems.length)", "1");
}

static void errors_of_the_host_can_be_caught(void **state)
{
    (void)state;
    expect("await crm.fails().catch(e => [e instanceof Error, e.name, e.message, e.code, e.tried,"
           " e.stack.includes('secrets'), Object.keys(e)])",
        "[true,\"NotFound\",\"no such customer\",404,[1,2],false,[\"code\",\"tried\"]]");
    expect("try { crm.slowNow(1n) } catch (e) { e.name }", "\"TypeError\"");
}

static void calls_run_in_parallel(void **state)
{
    struct vial_result *result = run_with(
        "(await Promise.all(Array.from({length: 20}, (_, i) => crm.slow(i)))).length", NULL, NULL);
    struct vial_usage usage = VIAL_USAGE_INIT;

    (void)state;
    vial_result_usage(result, &usage);
    assert_string_equal(vial_result_value(result, NULL), "20");
    assert_int_equal(vial_result_call_count(result), 20);
    assert_true(usage.wall_us < 500000); /* one after the other takes twice that */
    vial_result_free(result);
    expect("const a = crm.slow('a'); const b = crm.slowNow('b'); [await a, b]", "[\"a\",\"b\"]");
}

static void timers_go_on_while_a_tool_works(void **state)
{
    (void)state;
    /* A machine that is busy may need some more of them. */
    expect("let n = 0; const t = setInterval(() => n++, 5);"
           "for (let i = 0; i < 40 && n < 2; i++) await crm.slow(1); clearInterval(t); n > 1",
        "true");
}

static void a_name_that_is_not_there_gets_a_hint(void **state)
{
    struct vial_result_error e = VIAL_RESULT_ERROR_INIT;
    struct vial_result *result = run_with("crm.fnd({id: 1})", NULL, NULL);

    (void)state;
    vial_result_error(result, &e);
    assert_string_equal(e.name, "TypeError");
    assert_non_null(e.hint);
    assert_non_null(strstr(e.hint, "crm.find"));
    vial_result_free(result);
    result = run_with("ecko(1)", NULL, NULL);
    vial_result_error(result, &e);
    assert_string_equal(e.name, "ReferenceError");
    assert_non_null(e.hint);
    assert_non_null(strstr(e.hint, "echo"));
    vial_result_free(result);
}

static void functions_that_misbehave_are_told_so(void **state)
{
    struct vial_result *result;

    (void)state;
    expect("await twice()", "1");
    expect("await noJson().catch(e => e.name + (e.message.includes('JSON') ? '!' : ''))",
        "\"AnswerError!\"");
    expect("await tooMuch().catch(e => e.name)", "\"AnswerError\"");
    expect("await promised('x')", "\"x\"");
    expect("await promised(1).catch(e => e.name)", "\"AnswerError\"");
    result = run_with("await never().catch(e => e.name)", NULL, NULL);
    assert_string_equal(vial_result_value(result, NULL), "\"TimeoutError\"");
    expect_call(result, 0, VIAL_CALL_TIMEOUT, "never", "60 ms");
    vial_result_free(result);
    assert_int_equal(vial_call_answer(engine, late_id, "1", 1, NULL), VIAL_E_GONE);
    assert_int_equal(vial_call_answer(engine, 12345, "1", 1, NULL), VIAL_E_GONE);
}

static void a_run_that_is_over_wants_no_answers(void **state)
{
    struct vial_result *result = run_with("never(); __return(7)", NULL, NULL);

    (void)state;
    assert_string_equal(vial_result_value(result, NULL), "7");
    expect_call(result, 0, VIAL_CALL_CANCELLED, "never", "over");
    vial_result_free(result);
    helper_sleep_ms(10);
    assert_int_equal(vial_call_answer(engine, late_id, "1", 1, NULL), VIAL_E_GONE);
}

static void limits_of_calls_hold(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;

    (void)state;
    expect("let said = ''; for (let i = 0; i < 5; i++) said += await thrice(i).catch(e => 'x');"
           " said",
        "\"012xx\"");
    expect("(await Promise.allSettled([two(1), two(2), two(3)])).map(r => r.status[0]).join('')",
        "\"ffr\"");
    expect("await small('x'.repeat(200)).catch(e => e.name)", "\"LimitError\"");
    limits.calls_max = 2;
    limits.call_bytes_max = 1000;
    limits.calls_at_once_max = 1;
    result = run_with("const said = [];"
                      "for (const x of ['a', 'x'.repeat(2000), 'b'])"
                      "  said.push(await echo(x).catch(e => e.name)); said",
        &limits, NULL);
    assert_string_equal(vial_result_value(result, NULL), "[\"a\",\"LimitError\",\"LimitError\"]");
    expect_call(result, 1, VIAL_CALL_LIMIT, "echo", "2002 bytes");
    expect_call(result, 2, VIAL_CALL_LIMIT, "echo", "2 calls");
    vial_result_free(result);
    result = run_with(
        "(await Promise.allSettled([crm.slow(1), crm.slow(2)])).map(r => r.status[0]).join('')",
        &limits, NULL);
    assert_string_equal(vial_result_value(result, NULL), "\"fr\"");
    vial_result_free(result);
}

static void a_program_that_goes_on_calling_is_stopped(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;

    (void)state;
    limits.calls_max = 10;
    result = run_with("for (;;) try { echoNow(1) } catch {}", &limits, NULL);
    assert_int_equal(vial_result_status(result), VIAL_STATUS_CALL_LIMIT);
    vial_result_free(result);
}

/* ---- approval ---- */

static void approval_is_asked_for(void **state)
{
    struct vial_result *result;

    (void)state;
    expect("await danger('yes')", "\"yes\"");
    expect("await danger('no').catch(e => e.name)", "\"DeniedError\"");
    result = run_with("await danger('yes').catch(e => e.message)", NULL, NULL);
    assert_non_null(strstr(vial_result_value(result, NULL), "nobody is there"));
    expect_call(result, 0, VIAL_CALL_DENIED, "danger", "nobody");
    vial_result_free(result);
}

struct later {
    int yes;
    const char *reason;
    unsigned ms;
};

static void *approve_later(void *user)
{
    const struct later *later = user;
    uint64_t id;

    while ((id = __atomic_exchange_n(&asked_id, 0, __ATOMIC_ACQUIRE)) == 0) {
        helper_sleep_ms(1);
    }
    helper_sleep_ms(later->ms);
    if (vial_call_approve(engine, id, later->yes, later->reason, NULL) != 0) {
        return user;
    }
    return NULL;
}

static struct vial_result *run_later(const char *source, int yes, unsigned ms, uint32_t wall_ms)
{
    struct later later = {.yes = yes, .reason = "too dear", .ms = ms};
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;
    pthread_t thread;
    void *failed;

    limits.wall_ms_max = wall_ms;
    assert_int_equal(pthread_create(&thread, NULL, approve_later, &later), 0);
    result = run_with(source, &limits, approve);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    return result;
}

static void a_run_waits_for_approval_without_using_its_time(void **state)
{
    struct vial_usage usage = VIAL_USAGE_INIT;
    struct vial_result *result = run_later(
        "let n = 0; setInterval(() => n++, 1).unref(); await danger('later')", 1, 1500, 1000);

    (void)state;
    assert_int_equal(vial_result_status(result), VIAL_STATUS_OK);
    assert_string_equal(vial_result_value(result, NULL), "\"later\"");
    vial_result_usage(result, &usage);
    assert_true(usage.approval_us > 1000000);
    assert_true(usage.wall_us < 1000000);
    assert_true(usage.cpu_us < 500000); /* it stood still */
    vial_result_free(result);
}

static void a_refusal_reaches_the_guest_with_its_reason(void **state)
{
    struct vial_result *result =
        run_later("await danger('later').catch(e => e.message)", 0, 1, 5000);

    (void)state;
    assert_non_null(strstr(vial_result_value(result, NULL), "too dear"));
    vial_result_free(result);
}

static void an_approval_that_never_comes_is_a_denial(void **state)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_result *result;

    (void)state;
    limits.approval_ms_max = 50;
    result = run_with("await danger('later').catch(e => e.message)", &limits, approve);
    assert_non_null(strstr(vial_result_value(result, NULL), "in time"));
    vial_result_free(result);
    assert_int_equal(vial_call_approve(engine, asked_id, 1, NULL, NULL), VIAL_E_GONE);
    asked_id = 0;
}

/* ---- tools that are none ---- */

static void expect_refused(const struct vial_tool *tools, size_t count, const char *why)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err = {.code = 0};

    request.source = "1";
    request.source_len = 1;
    request.tools = tools;
    request.tools_count = count;
    assert_int_equal(vial_run(engine, &request, &result, &err), VIAL_E_INVALID);
    if (strstr(err.text, why) == NULL) {
        fail_msg("%s is not in: %s", why, err.text);
    }
}

/* A cell that was taken over calls with anything; the result that tells of it is JSON. */
static void arguments_that_are_no_json_are_not_recorded(void **state)
{
    static const char *const arguments[] = {"", "{nope", "\xff", "1 2"};
    static struct vial_engine table_only;
    const struct vial_tool tool = {
        .size = sizeof(tool), .name = "echo", .call = echo, .flags = VIAL_TOOL_INLINE};
    struct vial_run run = {.engine = &table_only, .pidfd = -1, .wake_fd = -1};
    struct call_head head = {.kind = CALL_JSON};
    struct frame f = {.type = FRAME_CALL};
    struct vial_result *result = NULL;
    struct tool_set *set = NULL;
    char payload[64];
    int pair[2];
    size_t i;

    (void)state;
    call_table_init(&table_only.calls, 1);
    assert_int_equal(limits_resolve(NULL, &run.limits, NULL), 0);
    assert_int_equal(tool_set_new(&tool, 1, &set, NULL), 0);
    assert_int_equal(result_new(&run.limits, "{}", &result, NULL), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    run.request.record_calls = 1;
    assert_int_equal(calls_open(&run, set, NULL, BREED_JS, NULL), 0);
    calls_begin(&run, pair[0], result);
    for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
        head.id = (uint32_t)i + 1;
        memcpy(payload, &head, sizeof(head));
        memcpy(payload + sizeof(head), arguments[i], strlen(arguments[i]));
        f.payload = payload;
        f.len = sizeof(head) + strlen(arguments[i]);
        assert_int_equal(calls_take(&run, &f), CALLS_TAKEN);
        assert_null(result->calls.items[i].input);
        assert_int_equal(result->calls.items[i].status, VIAL_CALL_INVALID);
    }
    calls_end(&run);
    calls_close(&run);
    assert_non_null(vial_result_json(result, NULL));
    vial_result_free(result);
    tool_set_unref(set);
    assert_int_equal(call_table_release(&table_only.calls), 0);
    (void)close(run.wake_fd);
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void tools_that_are_none_are_refused(void **state)
{
    static const char *const nothing_there[] = {"relative/path"};
    const struct vial_tool clash[] = {
        TOOL(.name = "a", .call = echo), TOOL(.name = "a.b", .call = echo)};
    const struct vial_tool bad[] = {
        TOOL(.name = "then", .call = echo),
        TOOL(.name = "x"),
        TOOL(.name = "x", .call = echo, .url = "http://localhost/"),
        TOOL(.name = "x", .call = echo, .input_schema = "{\"type\":\"strin\"}"),
        TOOL(.name = "x", .call = echo, .input_schema = "{"),
        TOOL(.name = "x", .url = "ftp://host/"),
        TOOL(.name = "x", .command = nothing_there, .command_count = 1),
        TOOL(.name = "x", .call = echo, .mode = 7),
        TOOL(.name = "x", .call = echo, .flags = 1U << 30),
    };
    static const char *const why[] = {
        "then", "exactly one", "exactly one", "schema", "schema", "http", "x", "mode", "flags"};
    size_t i;

    (void)state;
    expect_refused(clash, 2, "exclude each other");
    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_refused(&bad[i], 1, why[i]);
    }
    helper_expect(engine, "typeof echo", "\"undefined\""); /* and nothing is left of all that */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_and_answers_cross_the_wall),
        cmocka_unit_test(a_result_is_one_line_whatever_tools_say),
        cmocka_unit_test(members_may_be_given_in_order),
        cmocka_unit_test(what_json_cannot_say_is_refused),
        cmocka_unit_test(arguments_are_checked_field_by_field),
        cmocka_unit_test(errors_of_the_host_can_be_caught),
        cmocka_unit_test(calls_run_in_parallel),
        cmocka_unit_test(timers_go_on_while_a_tool_works),
        cmocka_unit_test(a_name_that_is_not_there_gets_a_hint),
        cmocka_unit_test(functions_that_misbehave_are_told_so),
        cmocka_unit_test(a_run_that_is_over_wants_no_answers),
        cmocka_unit_test(limits_of_calls_hold),
        cmocka_unit_test(a_program_that_goes_on_calling_is_stopped),
        cmocka_unit_test(approval_is_asked_for),
        cmocka_unit_test(a_run_waits_for_approval_without_using_its_time),
        cmocka_unit_test(a_refusal_reaches_the_guest_with_its_reason),
        cmocka_unit_test(an_approval_that_never_comes_is_a_denial),
        cmocka_unit_test(arguments_that_are_no_json_are_not_recorded),
        cmocka_unit_test(tools_that_are_none_are_refused),
    };

    return cmocka_run_group_tests(tests, start_engine, stop_engine);
}
