/* change.c - see change.h. */
#include "cli/change.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/env.h"

enum { WAIT_MS = 5000 }; /* for a disk that is busy */

int change_open(const char *directory, struct audit **ret)
{
    const struct audit_options options = {.directory = directory, .required = 1};
    struct vial_error err;

    return audit_open(&options, ret, &err) < 0 ? env_fail(&err) : 0;
}

int change_note(struct audit *audit, const struct change *change, struct vial_error *err)
{
    char from[32];
    const struct audit_record record = {.kind = AUDIT_CHANGE,
        .key = change->key,
        .agent = change->agent,
        .from = from,
        .what = change->what,
        .environment = change->environment,
        .status = "ok",
        .detail = change->detail};
    uint64_t ticket = 0;
    int r;

    (void)snprintf(from, sizeof(from), "uid %u", (unsigned)getuid());
    r = audit_add(audit, &record, &ticket, err);
    return r < 0 ? r : audit_wait(audit, ticket, WAIT_MS, err);
}

int change_note_or_say(struct audit *audit, const struct change *change)
{
    struct vial_error err;

    return change_note(audit, change, &err) < 0
               ? cli_fail(EXIT_OUR_FAILURE, "it was done, but could not be recorded: %s", err.text)
               : 0;
}
