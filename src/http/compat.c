/* compat.c - see compat.h. */
#include "http/compat.h"

#include <stdlib.h>

#include "base/error.h"
#include "http/handlers.h"
#include "http/problem.h"

struct compat {
    int unused;
};

int compat_new(struct server *server, struct compat **ret, struct vial_error *err)
{
    (void)server;
    *ret = calloc(1, sizeof(**ret));
    return *ret != NULL ? VIAL_OK : vial__fail(err, VIAL_E_NOMEM, "no memory");
}

void compat_free(struct compat *compat)
{
    free(compat);
}

void compat_create(struct exchange *x)
{
    answer_problem(x, PROBLEM_INTERNAL, "not yet");
}

void compat_delete(struct exchange *x)
{
    answer_problem(x, PROBLEM_INTERNAL, "not yet");
}

void compat_execute(struct exchange *x)
{
    answer_problem(x, PROBLEM_INTERNAL, "not yet");
}

void compat_audit(struct exchange *x)
{
    answer_problem(x, PROBLEM_INTERNAL, "not yet");
}
