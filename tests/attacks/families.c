/* families.c - runs raw cases in cells that stay, and has them branched. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "host/session.h"
#include "suite.h"

enum {
    GONE_MS = 3000, /* until nothing of a family may be left */
    PAUSE_US = 2000,
    LARGE_BYTES = 8 << 20,
    RESTLESS_MS = 4000, /* a host looks once a second */
    LATER_MS = 2000,    /* until a member that waits has done what it waits with */
};

static void echo(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    (void)user;
    (void)!vial_call_answer(engine, call->id, call->args, call->args_len, NULL);
}

/* A session whose cell is armed; NULL with the reason. */
static struct vial_session *open_armed(struct suite *s, const struct attack *a,
    const struct vial_limits *limits, char *why, size_t size)
{
    const struct vial_tool tool = {.size = sizeof(tool), .name = "echo", .call = echo};
    struct cell_want want = {.spec = s->engine->spec_default, .origin = CELL_NONE, .stays = 1};
    struct vial_session *session = NULL;
    struct vial_error err = {.code = 0};
    struct vial_limits resolved = *limits;
    struct tool_set *tools = NULL;
    uint32_t cell = CELL_NONE;
    int pidfd = -1;
    int never = 0;
    int r;

    engine_set_breed(&want.spec, a->python ? BREED_PYTHON : BREED_JS);
    want.spec.kind = CELL_ORIGIN;
    want.spec.attack = 1 + (uint32_t)(a - s->attacks);
    want.spec.attack_argument = a->number;
    r = vial_limits_resolve(&resolved, &err);
    want.spec.open_files_max = resolved.open_files_max;
    r = r < 0 ? r : tool_set_new(&tool, 1, &tools, &err);
    r = r < 0 ? r : pool_take(s->engine, &want, 1, &never, &cell, &pidfd, &err);
    r = r < 0 ? r : session_adopt(s->engine, cell, pidfd, &resolved, tools, 0, &session, &err);
    tool_set_unref(tools);
    if (r < 0) {
        (void)snprintf(why, size, "it did not start: %.300s", err.text);
        if (cell != CELL_NONE) {
            (void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
            fd_closep(&pidfd);
            pool_give_back_member(s->engine, cell, 0);
        }
    }
    return session;
}

static struct vial_result *evaluate(
    struct vial_session *session, const struct vial_limits *limits, char *why, size_t size)
{
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;

    request.source = "6 * 7";
    request.source_len = strlen(request.source);
    request.limits = limits;
    if (vial_session_eval(session, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "it did not run: %.300s", err.text);
    }
    return result;
}

/* One more program, larger than any socket's buffer. */
static int evaluate_again(const struct attack *a, struct vial_session *session,
    const struct vial_limits *limits, char *why, size_t size)
{
    static char source[LARGE_BYTES];
    struct vial_request request = VIAL_REQUEST_INIT;
    struct vial_result *result = NULL;
    struct vial_error err;
    int status;

    memset(source, ' ', sizeof(source));
    request.source = source;
    request.source_len = sizeof(source);
    request.limits = limits;
    if (vial_session_eval(session, &request, &result, &err) < 0) {
        (void)snprintf(why, size, "the next program did not run: %.300s", err.text);
        return 0;
    }
    status = vial_result_status(result);
    vial_result_free(result);
    (void)snprintf(why, size, "the next program ended with %s", vial_status_name(status));
    return (a->again & 1U << status) != 0;
}

/* Waits until the host has ended a session that does not rest. */
static int is_ended_at_rest(struct vial_session *session, char *why, size_t size)
{
    struct vial_engine *e = session->engine;
    uint64_t until = clock_now_us() + RESTLESS_MS * 1000ULL;
    int over;

    do {
        (void)usleep(PAUSE_US);
        (void)pthread_mutex_lock(&e->lock);
        over = session->state == VIAL_SESSION_ENDED || e->cells[session->cell].gone;
        (void)pthread_mutex_unlock(&e->lock);
    } while (!over && clock_now_us() < until);
    (void)snprintf(why, size, "nobody ended it");
    return over;
}

/* Orders a branch of a member that does something else. 1 when the host was not fooled. */
static int branch(const struct attack *a, struct vial_session *session,
    const struct vial_limits *limits, char *why, size_t size)
{
    struct vial_session *copy = NULL;
    struct vial_result *result;
    struct vial_error err;
    char ignored[WHY_BYTES];
    int r = vial_session_branch(session, 1, &copy, &err);

    if (r == 0) { /* what it comes to in there is its own affair, as long as it comes to an end */
        result = evaluate(copy, limits, ignored, sizeof(ignored));
        vial_result_free(result);
        vial_session_free(copy);
    }
    if (a->branch == BRANCH_REFUSE_AND_CLONE) {
        (void)usleep(LATER_MS * 1000);
    }
    (void)snprintf(why, size, "the branch was made");
    return r < 0 || a->branch == BRANCH_TALKATIVE;
}

/* Waits until there is no family any more. */
static int all_gone(struct vial_engine *e, char *why, size_t size)
{
    uint64_t until = clock_now_us() + GONE_MS * 1000ULL;
    unsigned i, left;

    do {
        (void)usleep(PAUSE_US);
        left = 0;
        (void)pthread_mutex_lock(&e->lock);
        for (i = 0; i < e->families_count; i++) {
            left += e->families[i].sock >= 0;
        }
        (void)pthread_mutex_unlock(&e->lock);
    } while (left > 0 && clock_now_us() < until);
    (void)snprintf(why, size, "a process of the family lives on");
    return left == 0;
}

/* A session that means no harm: it is made, branched, and both come to what they should. */
static int benign(struct vial_engine *engine, char *why, size_t size)
{
    struct vial_limits limits = VIAL_LIMITS_INIT;
    struct vial_session *both[2] = {NULL, NULL};
    struct vial_result *result;
    struct vial_error err = {.code = 0};
    const char *value;
    int good = 1;
    int i;

    if (vial_session_new(engine, NULL, &both[0], &err) < 0 ||
        vial_session_branch(both[0], 1, &both[1], &err) < 0) {
        (void)snprintf(why, size, "there is no session after it: %.300s", err.text);
        good = 0;
    }
    for (i = 0; i < 2 && good; i++) {
        result = evaluate(both[i], &limits, why, size);
        value = result != NULL ? vial_result_value(result, NULL) : NULL;
        good = value != NULL && strcmp(value, "42") == 0;
        vial_result_free(result);
    }
    vial_session_free(both[0]);
    vial_session_free(both[1]);
    return good;
}

int families_attack(struct suite *s, const struct attack *a, char *why, size_t size)
{
    struct vial_limits limits = runs_limits(a);
    struct vial_session *session = open_armed(s, a, &limits, why, size);
    struct vial_result *result;
    int good;

    if (session == NULL) {
        return -1;
    }
    result = evaluate(session, &limits, why, size);
    good = result != NULL && runs_judge(s, a, result, why, size);
    vial_result_free(result);
    if (good && a->rests != 0) {
        good = is_ended_at_rest(session, why, size);
    }
    if (good && a->again != 0) {
        good = evaluate_again(a, session, &limits, why, size);
    }
    if (good && a->branch != BRANCH_AS_IT_SHOULD) {
        good = branch(a, session, &limits, why, size);
    }
    vial_session_free(session);
    good = good && all_gone(s->engine, why, size);
    return good && benign(s->engine, why, size) && all_gone(s->engine, why, size);
}
