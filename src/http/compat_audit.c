/* compat_audit.c - /api/Audit of JSCodeSandbox: runs by page number, read from the store of runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "http/compat_inside.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/server.h"
#include "schema/tree.h"

enum {
    PAGE_SIZE_MAX = 100,
    ROWS_MAX = 10000, /* that are counted; whoever has more asks /v1/runs */
    PAGE_BYTES_MAX = 256 << 20,
};

struct question {
    const char *agent; /* NULL: all */
    int error;         /* 1: only errors, 0: only others, -1: all */
    struct run_filter filter;
    unsigned page, size;
};

static unsigned number_of(const struct exchange *x, const char *name, unsigned by_default)
{
    const char *text = exchange_query(x, name);
    char *end = NULL;
    unsigned long n = text != NULL ? strtoul(text, &end, 10) : by_default;

    return text != NULL && (*text < '0' || *text > '9' || *end != '\0') ? 0
           : n > ROWS_MAX                                               ? ROWS_MAX
                                                                        : (unsigned)n;
}

/* The value of the run, or its error, as text. */
static void put_result(struct json_writer *w, const struct stored_run *run)
{
    uint32_t at;
    struct tree t;

    json_key(w, "executionResult");
    if (run->result == NULL || tree_read(&t, run->result, run->result_len, NULL) < 0) {
        json_text(w, run->status);
        return;
    }
    at = tree_member(&t, 0, "value");
    if (at == 0) {
        at = tree_member(&t, 0, "error");
        at = at != 0 ? tree_member(&t, at, "message") : 0;
    }
    json_write_string(w, at != 0 ? t.values[at].text : "", at != 0 ? t.values[at].len : 0);
    tree_release(&t);
}

static void put_code(struct json_writer *w, const struct stored_run *run)
{
    uint32_t at = 0;
    struct tree t;

    json_key(w, "codeToRun");
    if (run->request == NULL || tree_read(&t, run->request, run->request_len, NULL) < 0) {
        json_text(w, "");
        return;
    }
    at = tree_member(&t, 0, "code");
    json_write_string(w, at != 0 ? t.values[at].text : "", at != 0 ? t.values[at].len : 0);
    tree_release(&t);
}

static void put_run(struct json_writer *w, const struct stored_run *run)
{
    char at[RUN_TIME_BYTES], name[RUN_NAME_BYTES_MAX + 1], host[256] = "";

    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(name, sizeof(name), "%s", run->environment);
    name[strcspn(name, "@")] = '\0';
    json_begin_object(w);
    json_key(w, "id");
    json_text(w, run->id);
    run_time_text(run->started_us, at);
    json_key(w, "startedOnUTC");
    json_text(w, at);
    run_time_text(run->ended_us, at);
    json_key(w, "completedOnUTC");
    json_text(w, at);
    put_code(w, run);
    json_key(w, "userAgentId");
    json_text(w, run->agent);
    json_key(w, "environmentName");
    json_text(w, name);
    json_key(w, "isExecutionError");
    json_bool(w, strcmp(run->status, "ok") != 0);
    put_result(w, run);
    json_key(w, "hostname");
    json_text(w, host);
    json_end_object(w);
}

static int matches(const struct question *q, const struct stored_run *run)
{
    return (q->agent == NULL || strcmp(q->agent, run->agent) == 0) &&
           (q->error < 0 || (strcmp(run->status, "ok") != 0) == q->error);
}

/* Writes those of the page and counts all. 0, or negative. */
static int put_all(struct exchange *x, const struct question *q, struct json_writer *w,
    size_t *ret_count, struct vial_error *err)
{
    char cursor[ID_BYTES_MAX + 1] = "", next[ID_BYTES_MAX + 1] = "";
    size_t found = 0, rows = 0, count = 0, i;
    int r = VIAL_OK;

    do {
        struct stored_run *list = NULL;

        memcpy(cursor, next, sizeof(cursor));
        r = run_store_list(x->server->run_store, &q->filter, cursor[0] != '\0' ? cursor : NULL,
            RUN_PAGE_MAX, &list, &count, next, err);
        for (i = 0; r == VIAL_OK && i < count; i++) {
            struct stored_run whole = {.created_us = 0};

            rows++;
            if (!matches(q, &list[i])) {
                continue;
            }
            if (found >= (size_t)(q->page - 1) * q->size && found < (size_t)q->page * q->size &&
                run_store_get(x->server->run_store, list[i].id, &whole, err) == 0) {
                put_run(w, &whole);
                stored_run_release(&whole);
            }
            found++;
        }
        free(list);
    } while (r == VIAL_OK && next[0] != '\0' && rows < ROWS_MAX);
    *ret_count = found;
    return r;
}

static void answer_page(struct exchange *x, struct question *q)
{
    struct vial_error err;
    struct json_writer w;
    struct buf out;
    size_t count = 0;
    int r;

    q->page = number_of(x, "pageNumber", 1);
    q->size = number_of(x, "pageSize", 10);
    if (q->page < 1 || q->size < 1) {
        compat_refuse(x, "InvalidRequest", "pageNumber and pageSize are whole numbers from 1 on");
        return;
    }
    q->size = q->size < PAGE_SIZE_MAX ? q->size : PAGE_SIZE_MAX;
    buf_init(&out, PAGE_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    r = put_all(x, q, &w, &count, &err);
    json_end_array(&w);
    json_key(&w, "totalCount");
    json_u64(&w, count);
    json_key(&w, "pageNumber");
    json_u64(&w, q->page);
    json_key(&w, "pageSize");
    json_u64(&w, q->size);
    json_end_object(&w);
    if (r < 0) {
        answer_problem(x, PROBLEM_STORE, "%s", err.text);
    } else if (json_finish(&w) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 200, &out);
    }
    buf_release(&out);
}

void compat_audit(struct exchange *x)
{
    struct question q = {.error = -1};

    answer_page(x, &q);
}

void compat_audit_agent(struct exchange *x)
{
    struct question q = {.error = -1, .agent = x->params[0]};

    answer_page(x, &q);
}

void compat_audit_environment(struct exchange *x)
{
    char name[COMPAT_ENV_BYTES + 1];
    struct question q = {.error = -1, .filter = {.environment = name}};

    if (compat_name(x, x->params[0], strlen(x->params[0]), name) == 0) {
        answer_page(x, &q);
    }
}

void compat_audit_status(struct exchange *x)
{
    struct question q = {.error = strcmp(x->params[0], "true") == 0};

    if (!q.error && strcmp(x->params[0], "false") != 0) {
        compat_refuse(x, "InvalidRequest", "the status is true or false");
        return;
    }
    answer_page(x, &q);
}

void compat_audit_get(struct exchange *x)
{
    struct stored_run run = {.created_us = 0};
    struct vial_error err;
    struct json_writer w;
    struct buf out;

    if (!id_is_valid(RUN_PREFIX, x->params[0], strlen(x->params[0])) ||
        run_store_get(x->server->run_store, x->params[0], &run, &err) < 0) {
        answer_problem(x, PROBLEM_NOT_FOUND, "there is no such record");
        return;
    }
    buf_init(&out, PAGE_BYTES_MAX);
    json_init(&w, &out, NULL);
    put_run(&w, &run);
    answer_written(x, 200, &w, &out);
    stored_run_release(&run);
}
