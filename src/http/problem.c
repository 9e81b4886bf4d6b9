/* problem.c - see problem.h. */
#include "http/problem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

enum {
    DETAIL_BYTES_MAX = 1024,
    PROBLEM_BYTES_MAX = 16 << 20, /* a thousand faults of a document at worst */
    RETRY_S = 1, /* what is full empties in a second or so; who retries sooner only adds to it */
    RETRY_STORE_S = 5,
};

static const struct {
    const char *code, *title;
    unsigned status;
    int retry_s; /* 0: trying again does not help */
} ROWS[PROBLEM_COUNT] = {
    [PROBLEM_MALFORMED] = {"malformed_request", "The request is malformed", 400, 0},
    [PROBLEM_BAD_JSON] = {"bad_json", "The body is not the JSON that is wanted", 400, 0},
    [PROBLEM_UNAUTHORIZED] = {"unauthorized", "A valid key is needed", 401, 0},
    [PROBLEM_FORBIDDEN] = {"forbidden", "The key does not allow this", 403, 0},
    [PROBLEM_NOT_FOUND] = {"not_found", "There is no such thing", 404, 0},
    [PROBLEM_METHOD] = {"method_not_allowed", "This cannot be done there", 405, 0},
    [PROBLEM_CONFLICT] = {"conflict", "It is there already, or in use", 409, 0},
    [PROBLEM_BUSY] = {"busy", "It does something else at the moment", 409, RETRY_S},
    [PROBLEM_ENDED] = {"ended", "It is over", 410, 0},
    [PROBLEM_TOO_LARGE] = {"too_large", "The request is too large", 413, 0},
    [PROBLEM_MEDIA_TYPE] = {"unsupported_media_type", "This type is not taken", 415, 0},
    [PROBLEM_INVALID] = {"invalid", "The request cannot be done as it is", 422, 0},
    [PROBLEM_IDEMPOTENCY] = {"idempotency_mismatch", "The key was used for another request", 422,
        0},
    [PROBLEM_QUOTA] = {"quota", "The key has used up what it may use", 429, RETRY_S},
    [PROBLEM_INTERNAL] = {"internal", "The server failed", 500, 0},
    [PROBLEM_METHOD_UNKNOWN] = {"method_unknown", "The method is not known", 501, 0},
    [PROBLEM_OVERLOADED] = {"overloaded", "The server has too much to do", 503, RETRY_S},
    [PROBLEM_STOPPING] = {"stopping", "The server is stopping", 503, RETRY_STORE_S},
    [PROBLEM_STORE] = {"store", "The store cannot be used at the moment", 503, RETRY_STORE_S},
};

unsigned problem_status(enum problem problem)
{
    return ROWS[problem].status;
}

const char *problem_code(enum problem problem)
{
    return ROWS[problem].code;
}

int problem_write(enum problem problem, const char *instance, const char *detail,
    const char *errors, size_t errors_len, struct buf *out)
{
    char type[64];
    struct json_writer w;

    (void)snprintf(type, sizeof(type), "urn:vial:problem:%s", ROWS[problem].code);
    json_init(&w, out, NULL);
    json_begin_object(&w);
    json_key(&w, "type");
    json_text(&w, type);
    json_key(&w, "title");
    json_text(&w, ROWS[problem].title);
    json_key(&w, "status");
    json_u64(&w, ROWS[problem].status);
    json_key(&w, "detail");
    json_text(&w, detail);
    json_key(&w, "instance");
    json_text(&w, instance);
    json_key(&w, "code");
    json_text(&w, ROWS[problem].code);
    json_key(&w, "retryable");
    json_bool(&w, ROWS[problem].retry_s > 0);
    json_key(&w, "errors");
    json_raw(&w, errors != NULL ? errors : "[]", errors != NULL ? errors_len : 2);
    json_end_object(&w);
    return json_finish(&w);
}

void answer_problems(
    struct exchange *x, enum problem problem, const char *detail, const char *errors, size_t len)
{
    struct buf out;
    size_t i;

    buf_init(&out, PROBLEM_BYTES_MAX);
    (void)!problem_write(problem, x->path != NULL ? x->path : "", detail, errors, len, &out);
    answer_json(x, ROWS[problem].status, &out);
    buf_release(&out);
    x->answer.type = "application/problem+json";
    for (i = 0; i < x->answer.headers_count; i++) {
        if (strcmp(x->answer.headers[i].name, "Retry-After") == 0) {
            return;
        }
    }
    if (ROWS[problem].retry_s > 0) {
        answer_header(x, "Retry-After", "%d", ROWS[problem].retry_s);
    }
}

void answer_problem(struct exchange *x, enum problem problem, const char *format, ...)
{
    char detail[DETAIL_BYTES_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(detail, sizeof(detail), format, ap);
    va_end(ap);
    answer_problems(x, problem, detail, NULL, 0);
}

enum problem problem_of(const struct vial_error *err)
{
    switch (err->code) {
    case VIAL_E_INVALID:
        return err->sys == ENOENT   ? PROBLEM_NOT_FOUND
               : err->sys == EEXIST ? PROBLEM_CONFLICT
                                    : PROBLEM_INVALID;
    case VIAL_E_BUSY:
        return PROBLEM_OVERLOADED;
    case VIAL_E_GONE:
        return PROBLEM_ENDED;
    default:
        return PROBLEM_INTERNAL;
    }
}

void answer_error(struct exchange *x, const struct vial_error *err)
{
    answer_problem(x, problem_of(err), "%s", err->text);
}

void answer_written(struct exchange *x, unsigned status, struct json_writer *w, struct buf *out)
{
    if (json_finish(w) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, status, out);
    }
    buf_release(out);
}
