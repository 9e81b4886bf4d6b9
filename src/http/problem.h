/* problem.h - refusals and failures as RFC 9457 has them: application/problem+json with a machine
 * code, whether it makes sense to try again, and what is wrong where. */
#ifndef VIAL_HTTP_PROBLEM_H
#define VIAL_HTTP_PROBLEM_H

#include "base/buf.h"
#include "base/json.h"
#include "http/exchange.h"

/* What can be wrong. docs/api.md lists the codes; each has one status. */
enum problem {
    PROBLEM_MALFORMED,      /* 400 */
    PROBLEM_BAD_JSON,       /* 400 */
    PROBLEM_UNAUTHORIZED,   /* 401 */
    PROBLEM_FORBIDDEN,      /* 403 */
    PROBLEM_NOT_FOUND,      /* 404 */
    PROBLEM_METHOD,         /* 405 */
    PROBLEM_CONFLICT,       /* 409 */
    PROBLEM_BUSY,           /* 409: retryable */
    PROBLEM_ENDED,          /* 410 */
    PROBLEM_TOO_LARGE,      /* 413 */
    PROBLEM_MEDIA_TYPE,     /* 415 */
    PROBLEM_INVALID,        /* 422 */
    PROBLEM_IDEMPOTENCY,    /* 422: the same key with another body */
    PROBLEM_QUOTA,          /* 429 */
    PROBLEM_INTERNAL,       /* 500 */
    PROBLEM_METHOD_UNKNOWN, /* 501 */
    PROBLEM_OVERLOADED,     /* 503 */
    PROBLEM_STOPPING,       /* 503 */
    PROBLEM_STORE,          /* 503: the database is locked, full or of a newer vial */
    PROBLEM_COUNT,
};

/* Fills in the answer; the sentence says what to do about it. */
void answer_problem(struct exchange *x, enum problem problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a JSON array of {"path", "message"}. */
void answer_problems(
    struct exchange *x, enum problem problem, const char *detail, const char *errors, size_t len);

/* The same for what the library or the store said. */
void answer_error(struct exchange *x, const struct vial_error *err);

/* What w has written to out, which is released; or that there was no memory for it. */
void answer_written(struct exchange *x, unsigned status, struct json_writer *w, struct buf *out);

/* Which of them an error of the library is. */
enum problem problem_of(const struct vial_error *err);
unsigned problem_status(enum problem problem);
const char *problem_code(enum problem problem);

/* The object itself, added to out; errors may be NULL. 0, or negative without memory. */
VIAL_NODISCARD int problem_write(enum problem problem, const char *instance, const char *detail,
    const char *errors, size_t errors_len, struct buf *out);

#endif
