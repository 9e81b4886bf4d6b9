/* tools.c - a host program with two tools: one that is quick, and one that needs somebody's
 * approval, which is given at once for one call and refused later for another.
 *
 * cc tools.c $(pkg-config --cflags --libs vial) -pthread -o tools */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vial.h>

static const char PROGRAM[] =
    "const failed = e => `${e.name}: ${e.message}`;\n"
    "const names = await Promise.all([1, 2, 'x'].map(id => crm.find(id).catch(failed)));\n"
    "const refunds = [];\n"
    "for (const order of ['A-1', 'B-2'])\n"
    "    refunds.push(await crm.refund({ order, cents: 995 }).catch(failed));\n"
    "({ names, refunds })";

/* Finds a customer. It waits for nothing, so it may be called in the thread that waits for the run
 * (VIAL_TOOL_INLINE). The arguments are valid by the schema; a host with a JSON library uses that.
 */
static void find(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct vial_error err;
    int id = 0;
    int r;

    (void)user;
    if (sscanf(call->args, "{\"id\":%d}", &id) == 1 && id == 1) {
        r = vial_call_answer(engine, call->id, "\"Ada\"", 5, &err);
    } else {
        r = vial_call_fail(
            engine, call->id, "NotFound", "there is no such customer", "{\"code\":404}", &err);
    }
    if (r < 0) { /* it came too late: nobody waits for it any more */
        fprintf(stderr, "%s\n", err.text);
    }
}

/* Pays money back. A thread of the engine does it, so it may take its time. */
static void refund(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct vial_error err;

    (void)user;
    usleep(1000);
    if (vial_call_answer(engine, call->id, "{\"paid\":true}", 13, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
    }
}

struct question {
    struct vial_engine *engine;
    uint64_t call_id;
};

/* Somebody who thinks about it for a while. */
static void *think(void *user)
{
    const struct question *question = user;
    struct vial_error err;

    usleep(100 * 1000);
    if (vial_call_approve(question->engine, question->call_id, 0, "too old", &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
    }
    return NULL;
}

static int ask(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    static struct question question; /* of the one call that is put off here */
    pthread_t thread;

    (void)user;
    printf("may it call %s with %.*s?\n", call->name, (int)call->args_len, call->args);
    if (strstr(call->args, "A-1") != NULL) {
        return VIAL_APPROVAL_YES;
    }
    question = (struct question){.engine = engine, .call_id = call->id};
    if (pthread_create(&thread, NULL, think, &question) != 0) {
        return VIAL_APPROVAL_NO;
    }
    pthread_detach(thread);
    return VIAL_APPROVAL_LATER;
}

static const struct vial_tool TOOLS[] = {
    {.size = sizeof(struct vial_tool),
        .name = "crm.find",
        .description = "Finds a customer by number.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"}},"
                        "\"required\":[\"id\"]}",
        .output_schema = "{\"type\":\"string\"}",
        .call = find,
        .flags = VIAL_TOOL_INLINE},
    {.size = sizeof(struct vial_tool),
        .name = "crm.refund",
        .description = "Pays an order back.",
        .input_schema = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"string\"},"
                        "\"cents\":{\"type\":\"integer\"}},\"required\":[\"order\",\"cents\"]}",
        .call = refund,
        .flags = VIAL_TOOL_APPROVE,
        .timeout_ms_max = 5000},
};

static void show(struct vial_result *result)
{
    struct vial_call_record call = VIAL_CALL_RECORD_INIT;
    struct vial_usage usage = VIAL_USAGE_INIT;
    size_t i;

    printf(
        "%s %s\n", vial_status_name(vial_result_status(result)), vial_result_value(result, NULL));
    for (i = 0; i < vial_result_call_count(result); i++) {
        if (vial_result_call(result, i, &call) == 0) {
            printf("%-10s %-7s %s\n", call.name, vial_call_status_name((int)call.status),
                call.reason != NULL ? call.reason : call.output);
        }
    }
    vial_result_usage(result, &usage);
    printf("waited for approval: %llu ms\n", (unsigned long long)usage.approval_us / 1000);
}

int main(void)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_engine *engine;
    struct vial_result *result;
    struct vial_error err;

    if (vial_engine_new(NULL, &engine, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    request.source = PROGRAM;
    request.source_len = strlen(PROGRAM);
    request.tools = TOOLS;
    request.tools_count = sizeof(TOOLS) / sizeof(TOOLS[0]);
    request.on_approve = ask;
    request.record_calls = 1;
    if (vial_run(engine, &request, &result, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        vial_engine_free(engine);
        return 1;
    }
    show(result);
    vial_result_free(result);
    vial_engine_free(engine);
    return 0;
}
