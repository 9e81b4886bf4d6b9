/* bench.c - the C side of python -m vial.bench: the same work over vial.h with nothing of Python.
 *
 * bench DOCUMENT_FILE reads letters and prints for each how many microseconds it took: s, a fresh
 * session in the environment with 1+1 in it; r, a fresh run; i and t, a run with 1,000 calls of a
 * tool, inline or in a thread. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "vial.h"

enum { DOCUMENT_BYTES_MAX = 1 << 20, SETTLE_MS = 1000 };

static double now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void answer(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_answer(engine, call->id, call->args, call->args_len, NULL);
}

static int run_once(struct vial_engine *engine, const char *source, const struct vial_tool *tool)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    int status;

    limits.calls_max = 2000;
    limits.wall_ms_max = 60000;
    q.limits = &limits;
    q.source = source;
    q.source_len = strlen(source);
    q.tools = tool;
    q.tools_count = tool != NULL;
    if (vial_run(engine, &q, &result, &err) < 0) {
        (void)fprintf(stderr, "bench: %s\n", err.text);
        return -1;
    }
    status = vial_result_status(result);
    vial_result_free(result);
    return status == VIAL_STATUS_OK ? 0 : -1;
}

static int session_once(struct vial_engine *engine, struct vial_env *env)
{
    struct vial_session_options o = VIAL_SESSION_OPTIONS_INIT;
    struct vial_request q = VIAL_REQUEST_INIT;
    struct vial_session *session = NULL;
    struct vial_result *result = NULL;
    struct vial_error err;
    int r;

    o.environment = env;
    q.source = "1+1";
    q.source_len = 3;
    r = vial_session_new(engine, &o, &session, &err);
    r = r < 0 ? r : vial_session_eval(session, &q, &result, &err);
    if (r < 0) {
        (void)fprintf(stderr, "bench: %s\n", err.text);
    }
    vial_result_free(result);
    vial_session_free(session);
    return r;
}

/* 1,000 calls of a tool. */
static int calls_once(struct vial_engine *engine, uint32_t flags)
{
    static const char source[] = "for (let i = 0; i < 1000; i++) echo(i); 1";
    struct vial_tool tool = VIAL_TOOL_INIT;

    tool.name = "echo";
    tool.call = answer;
    tool.mode = VIAL_TOOL_SYNC;
    tool.flags = flags;
    return run_once(engine, source, &tool);
}

/* One measurement for each letter that comes: s, r, i, t. */
static int serve(struct vial_engine *engine, struct vial_env *env)
{
    int r = 0;
    int letter;

    while (r == 0 && (letter = getchar()) != EOF) {
        double began = now_us();

        switch (letter) {
        case 's':
            r = session_once(engine, env);
            break;
        case 'r':
            r = run_once(engine, "1+1", NULL);
            break;
        case 'i':
            r = calls_once(engine, VIAL_TOOL_INLINE);
            break;
        case 't':
            r = calls_once(engine, 0);
            break;
        default:
            continue;
        }
        (void)printf("%.1f\n", now_us() - began);
        (void)fflush(stdout);
    }
    return r;
}

int main(int argc, char **argv)
{
    static char document[DOCUMENT_BYTES_MAX];
    struct vial_engine_options o = VIAL_ENGINE_OPTIONS_INIT;
    struct vial_engine *engine = NULL;
    struct vial_env *env = NULL;
    struct vial_error err = {.code = 0};
    FILE *file = argc == 2 ? fopen(argv[1], "re") : NULL;
    size_t len = file != NULL ? fread(document, 1, sizeof(document), file) : 0;
    int r;

    if (file != NULL) {
        (void)fclose(file);
    }
    if (len == 0) {
        (void)fprintf(stderr, "usage: bench DOCUMENT_FILE\n");
        return 2;
    }
    o.for_sessions = 1;
    r = vial_engine_new(&o, &engine, &err);
    r = r < 0 ? r : vial_env_new(engine, document, len, NULL, 0, &env, &err);
    if (r < 0) {
        (void)fprintf(stderr, "bench: %s\n", err.text);
    } else {
        vial_engine_settle(engine, SETTLE_MS);
        (void)session_once(engine, env);
        r = serve(engine, env);
    }
    vial_env_free(env);
    vial_engine_free(engine);
    return r < 0;
}
