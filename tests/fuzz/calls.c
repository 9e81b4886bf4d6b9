/* calls.c - calls of tools as the host takes them from a cell that says anything: each one is
 * answered once or ends the run, tools see only what they take, and answers are well formed.
 *
 * The input is calls: which tool, how the arguments are encoded, how the number goes on, and the
 * arguments with their length in front. */
#include "host/calls.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "fuzz.h"
#include "host/mounts.h"
#include "host/run.h"
#include "policy/limits.h"
#include "value/cbor.h"
#include "wire/look.h"

enum { CALLS_IN_ONE_INPUT = 60, ANSWERS_MAX = 8 << 20 };

static unsigned done;

static void check_args(const struct vial_call *call)
{
    done++;
    FUZZ_CHECK(call->args != NULL, "a call without arguments");
    if (call->args_is_cbor) {
        FUZZ_CHECK(strcmp(call->name, "values") == 0, "%s gets CBOR", call->name);
        FUZZ_CHECK(value_cbor_check(call->args, call->args_len, NULL) == 0, "it is no CBOR");
    } else {
        FUZZ_CHECK(json_check(call->args, call->args_len, 512, NULL) == 0, "it is no JSON");
    }
}

/* Gives back what it got. */
static void echo(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    check_args(call);
    if (call->args_is_cbor) {
        (void)!vial_call_answer_cbor(engine, call->id, call->args, call->args_len, NULL);
    } else {
        (void)!vial_call_answer(engine, call->id, call->args, call->args_len, NULL);
    }
}

/* Fails, and answers once more, which nobody must hear. */
static void fail_twice(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    check_args(call);
    (void)!vial_call_fail(engine, call->id, "Oops", call->args, call->args, NULL);
    FUZZ_CHECK(vial_call_answer(engine, call->id, "1", 1, NULL) == VIAL_E_GONE, "a second answer");
}

/* Says nothing at all. */
static void forget(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)engine;
    (void)user;
    check_args(call);
}

static int approve(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)engine;
    (void)user;
    check_args(call);
    return call->args_len % 2 == 0 ? VIAL_APPROVAL_YES : VIAL_APPROVAL_NO;
}

static const struct vial_tool TOOLS[] = {
    {.size = sizeof(struct vial_tool), .name = "echo", .call = echo, .flags = VIAL_TOOL_INLINE},
    {.size = sizeof(struct vial_tool),
        .name = "values",
        .call = echo,
        .flags = VIAL_TOOL_INLINE | VIAL_TOOL_VALUES},
    {.size = sizeof(struct vial_tool),
        .name = "strict.fail",
        .call = fail_twice,
        .input_schema = "{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":"
                        "{\"type\":\"integer\",\"minimum\":3}},\"additionalProperties\":false}",
        .flags = VIAL_TOOL_INLINE},
    {.size = sizeof(struct vial_tool),
        .name = "forget",
        .call = forget,
        .calls_max = 10,
        .concurrency_max = 3,
        .input_bytes_max = 100,
        .flags = VIAL_TOOL_INLINE},
    {.size = sizeof(struct vial_tool),
        .name = "ask",
        .call = echo,
        .flags = VIAL_TOOL_INLINE | VIAL_TOOL_APPROVE},
};
enum { TOOLS_COUNT = sizeof(TOOLS) / sizeof(TOOLS[0]) };

/* What there is once, and only read by the calls but for its table. */
static struct vial_engine engine;
static struct tool_set *tools;
static struct mounts *mounts;

static void begin_once(void)
{
    static char name[] = "headers", from[] = "/usr/include/linux", environment[] = "fuzz";
    struct document_mount mount = {.name = name, .from = from};
    const struct document d = {.name = environment, .mounts = &mount, .mounts_count = 1};

    if (tools != NULL) {
        return;
    }
    call_table_init(&engine.calls, 1);
    FUZZ_CHECK(tool_set_new(TOOLS, TOOLS_COUNT, &tools, NULL) == 0, "the tools");
    FUZZ_CHECK(mounts_open(&d, &mounts, NULL) == 0, "the mount");
}

/* Reads one call from the input, in a frame. */
static void next_call(struct fuzz_input *in, uint32_t *id, struct buf *ret)
{
    unsigned which = fuzz_byte(in);
    struct call_head head = {.tool = which % 8, .kind = fuzz_byte(in) % 4};
    size_t len = fuzz_byte(in) * (size_t)(which >= 128 ? 17 : 1);

    *id += fuzz_byte(in) % 3; /* one that does not go on is nonsense */
    head.id = *id;
    head.tool = head.tool == 7 ? LOOK_TOOL : head.tool;
    len = len < in->left ? len : in->left;
    buf_clear(ret);
    FUZZ_CHECK(buf_add(ret, &head, sizeof(head), NULL) == 0 &&
                   (len == 0 || buf_add(ret, in->at, len, NULL) == 0),
        "there is no memory");
    in->at += len;
    in->left -= len;
}

/* Takes what was answered out of the socket; the number of answers. */
static unsigned read_answers(int sock, struct buf *all, size_t *at)
{
    struct frame_header header;
    struct answer_head head;
    const char *bytes;
    unsigned count = 0;
    ssize_t n = 1;
    size_t len;

    while (n > 0) {
        FUZZ_CHECK(buf_reserve(all, 1 << 16, NULL) == 0, "the answers are too long");
        n = recv(sock, all->data + all->len, 1 << 16, MSG_DONTWAIT);
        all->len += n > 0 ? (size_t)n : 0;
    }
    while (all->len - *at >= sizeof(header) + sizeof(head)) {
        memcpy(&header, all->data + *at, sizeof(header));
        memcpy(&head, all->data + *at + sizeof(header), sizeof(head));
        FUZZ_CHECK(header.type == FRAME_ANSWER && header.len >= sizeof(head), "no answer");
        if (all->len - *at - sizeof(header) < header.len) {
            break;
        }
        bytes = all->data + *at + sizeof(header) + sizeof(head);
        len = header.len - sizeof(head);
        FUZZ_CHECK((head.kind != ANSWER_JSON && head.kind != ANSWER_ERROR) ||
                       json_check(bytes, len, 1024, NULL) == 0,
            "an answer is no JSON: %.*s", (int)len, bytes);
        FUZZ_CHECK(head.kind != ANSWER_CBOR || value_cbor_check(bytes, len, NULL) == 0,
            "an answer is no CBOR");
        FUZZ_CHECK(head.kind != ANSWER_BYTES || len <= LOOK_BYTES_MAX, "a look is too long");
        *at += sizeof(header) + header.len;
        count++;
    }
    return count;
}

static void make_calls(struct vial_run *run, struct fuzz_input *in, int sock)
{
    unsigned taken = 0, answered = 0, count = 0;
    struct buf payload, answers;
    enum calls_taken r = CALLS_TAKEN;
    struct frame f = {.type = FRAME_CALL};
    uint32_t id = 0;
    size_t at = 0;

    buf_init(&payload, 1 << 16);
    buf_init(&answers, ANSWERS_MAX);
    while (in->left > 0 && count++ < CALLS_IN_ONE_INPUT && r == CALLS_TAKEN) {
        next_call(in, &id, &payload);
        f.payload = payload.data;
        f.len = payload.len;
        r = calls_take(run, &f);
        taken += r == CALLS_NONSENSE ? 0 : 1;
        calls_serve(run, 1);
        answered += read_answers(sock, &answers, &at);
        FUZZ_CHECK(answered + run->calls.pending_count == taken,
            "%u calls, %u answers and %u that wait", taken, answered, run->calls.pending_count);
    }
    calls_end(run);
    answered += read_answers(sock, &answers, &at);
    FUZZ_CHECK(answered <= taken, "%u calls and %u answers", taken, answered);
    buf_release(&payload);
    buf_release(&answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = fuzz_input(data, size);
    struct vial_run run = {.engine = &engine, .pidfd = -1, .wake_fd = -1, .id = 1};
    struct vial_limits given = VIAL_LIMITS_INIT;
    struct vial_result *result = NULL;
    const char *json;
    size_t len = 0;
    int pair[2];

    begin_once();
    given.calls_max = 30;
    given.calls_at_once_max = 5;
    given.call_bytes_max = 2000;
    FUZZ_CHECK(limits_resolve(&given, &run.limits, NULL) == 0, "the limits");
    run.request = (struct vial_request)VIAL_REQUEST_INIT;
    run.request.record_calls = fuzz_byte(&in) % 2;
    run.request.on_approve = approve;
    FUZZ_CHECK(result_new(&run.limits, "{}", &result, NULL) == 0, "there is no memory");
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0, "no socket");
    FUZZ_CHECK(calls_open(&run, tools, mounts, BREED_JS, NULL) == 0, "the calls");
    calls_begin(&run, pair[0], result);
    make_calls(&run, &in, pair[1]);
    calls_close(&run);
    (void)close(run.wake_fd);
    json = vial_result_json(result, &len);
    FUZZ_CHECK(json != NULL && json_check(json, len, 1024, NULL) == 0, "the result is no JSON");
    vial_result_free(result);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return 0;
}
