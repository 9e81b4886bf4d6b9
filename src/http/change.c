/* change.c - see change.h. */
#include "http/change.h"

#include "http/auth.h"
#include "http/problem.h"
#include "http/server.h"

int change_may_begin(struct exchange *x)
{
    struct audit_stats stats;

    if (!x->server->options->audit_required) {
        return 0;
    }
    audit_stats(x->server->audit, &stats);
    if (!stats.failing) {
        return 0;
    }
    answer_problem(x, PROBLEM_STORE,
        "the audit cannot be written, and what cannot be recorded is not changed: %s",
        stats.problem);
    return -1;
}

void change_was_made(
    struct exchange *x, const char *what, const char *environment, const char *detail)
{
    char from[64];
    struct audit_record record = {.kind = AUDIT_CHANGE,
        .what = what,
        .environment = environment,
        .detail = detail,
        .key = x->caller.id[0] != '\0' ? x->caller.id : NULL,
        .agent = exchange_header(x, "User-Agent"),
        .from = from,
        .trace = x->traceparent[0] != '\0' ? x->traceparent : NULL,
        .status = "ok"};

    auth_from(x, from, sizeof(from));
    (void)!server_record(x->server, &record, NULL);
}
