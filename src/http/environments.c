/* environments.c - /v1/environments: documents and their versions. All of it works on the store, in
 * threads beside the loop. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "host/catalog.h"
#include "http/change.h"
#include "http/environments.h"
#include "http/envs.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"
#include "policy/document_name.h"
#include "schema/stubs.h"

enum { LIST_BYTES_MAX = 32 << 20, TEXT_BYTES_MAX = 64 << 20, PAGE_MAX = 200 };

/* ---- helpers ---- */

static void fail(struct exchange *x, const struct vial_error *err)
{
    if (err->code == VIAL_E_BUSY) {
        answer_problem(x, PROBLEM_CONFLICT, "%s", err->text);
    } else if (err->code == VIAL_E_SYS) {
        answer_problem(x, PROBLEM_STORE, "%s", err->text);
    } else {
        answer_error(x, err);
    }
}

/* The name and the version of the path. 0, or -1 with an answer. */
static int take_ref(struct exchange *x, char name[DOCUMENT_NAME_BYTES_MAX + 1], uint32_t *version)
{
    struct vial_error err;

    if (environment_ref_parse(x->params[0], name, version, &err) < 0) {
        answer_problem(x, PROBLEM_NOT_FOUND, "%s", err.text);
        return -1;
    }
    return 0;
}

static void put_version(struct json_writer *w, const struct store_version *v)
{
    char at[RUN_TIME_BYTES];

    json_begin_object(w);
    json_key(w, "name");
    json_text(w, v->name);
    json_key(w, "version");
    json_u64(w, v->version);
    json_key(w, "versions");
    json_u64(w, v->versions_count);
    run_time_text(v->created_us, at);
    json_key(w, "created_at");
    json_text(w, at);
    json_key(w, "bytes");
    json_u64(w, v->document_bytes);
    json_end_object(w);
}

/* ---- create, update ---- */

/* What reaches the host's own files, programs and network is for those who run the host. */
static int needs_admin(const struct document *doc)
{
    size_t i;

    for (i = 0; i < doc->tools_count; i++) {
        if (doc->tools[i].executor != DOCUMENT_BY_HOST) {
            return 1;
        }
    }
    return doc->mounts_count > 0;
}

/* 0, or -1 with an answer. */
static int check_document(struct exchange *x, const char *name)
{
    struct document *doc = NULL;
    struct vial_error err;
    struct buf report;
    int r;

    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    r = catalog_parse(x->body.data != NULL ? x->body.data : "", x->body.len, &doc, &report, &err);
    if (r < 0) {
        answer_problems(
            x, PROBLEM_INVALID, err.text, report.len > 0 ? report.data : NULL, report.len);
    } else if (name != NULL && strcmp(doc->name, name) != 0) {
        answer_problem(
            x, PROBLEM_INVALID, "/name: is \"%s\"; the path says \"%s\"", doc->name, name);
        r = -1;
    } else if (needs_admin(doc) && (x->caller.scopes & KEY_SCOPE_ADMIN) == 0) {
        answer_problem(x, PROBLEM_FORBIDDEN,
            "tools with http or exec and mounts reach the host itself; they need the scope admin");
        r = -1;
    }
    document_free(doc);
    buf_release(&report);
    return r < 0 ? -1 : 0;
}

static void put(struct exchange *x, const char *name, unsigned status, const char *what,
    int (*put_document)(struct store *store, const char *json, size_t len,
        struct store_version *ret, struct buf *report, struct vial_error *err))
{
    struct store_version made;
    struct vial_error err;
    struct buf report, out;
    char ref[96];
    int r;

    if (check_document(x, name) < 0 || change_may_begin(x) < 0) {
        return;
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    (void)pthread_mutex_lock(&x->server->store_lock);
    r = put_document(x->server->store, x->body.data, x->body.len, &made, &report, &err);
    if (r == VIAL_OK) {
        r = store_get(x->server->store, made.name, made.version, &made, NULL, &err);
    }
    (void)pthread_mutex_unlock(&x->server->store_lock);
    buf_release(&report);
    if (r < 0) {
        fail(x, &err);
        return;
    }
    (void)snprintf(ref, sizeof(ref), "%s@%u", made.name, made.version);
    change_was_made(x, what, ref, NULL);
    buf_init(&out, LIST_BYTES_MAX);
    {
        struct json_writer w;

        json_init(&w, &out, NULL);
        put_version(&w, &made);
        (void)!json_finish(&w);
    }
    answer_json(x, status, &out);
    answer_header(x, "Location", "/v1/environments/%s", ref);
}

void environments_create(struct exchange *x)
{
    put(x, NULL, 201, "environment.create", catalog_create);
}

void environments_update(struct exchange *x)
{
    put(x, x->params[0], 200, "environment.update", catalog_update);
}

/* ---- list, versions ---- */

/* One page of a list by name: what is behind the cursor. */
static void answer_page(
    struct exchange *x, const struct store_version *list, size_t count, int by_version)
{
    const char *cursor = exchange_query(x, "cursor");
    uint32_t limit, given = 0;
    struct json_writer w;
    struct buf out;
    char next[80] = "";
    size_t i;

    if (runs_page_limit(x, PAGE_MAX, &limit) < 0) {
        return;
    }
    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        char own[80];

        if (by_version) {
            (void)snprintf(own, sizeof(own), "%010u", list[i].version);
        } else {
            (void)snprintf(own, sizeof(own), "%s", list[i].name);
        }
        if (cursor != NULL && (by_version ? strcmp(own, cursor) >= 0 : strcmp(own, cursor) <= 0)) {
            continue;
        }
        if (given == limit) {
            break;
        }
        put_version(&w, &list[i]);
        given++;
        (void)snprintf(next, sizeof(next), "%s", own);
    }
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_text(&w, i < count ? next : NULL);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
}

void environments_list(struct exchange *x)
{
    struct store_version *list = NULL;
    struct vial_error err;
    size_t count = 0;
    int r;

    (void)pthread_mutex_lock(&x->server->store_lock);
    r = store_list(x->server->store, &list, &count, &err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    if (r < 0) {
        fail(x, &err);
    } else {
        answer_page(x, list, count, 0);
    }
    free(list);
}

void environments_versions(struct exchange *x)
{
    struct store_version *list = NULL;
    struct vial_error err;
    size_t count = 0;
    int r;

    (void)pthread_mutex_lock(&x->server->store_lock);
    r = store_versions(x->server->store, x->params[0], &list, &count, &err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    if (r < 0) {
        fail(x, &err);
    } else {
        answer_page(x, list, count, 1);
    }
    free(list);
}

/* ---- one ---- */

int environments_load(struct exchange *x, const char *ref, struct document **ret_doc,
    struct store_version *ret_version, char **ret_json)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    struct vial_error err;
    uint32_t version = 0;
    int r = environment_ref_parse(ref, name, &version, &err);

    if (r < 0) {
        answer_problem(x, PROBLEM_NOT_FOUND, "%s", err.text);
        return -1;
    }
    (void)pthread_mutex_lock(&x->server->store_lock);
    r = catalog_get(x->server->store, name, version, ret_doc, ret_version, ret_json, &err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    if (r < 0) {
        fail(x, &err);
        return -1;
    }
    return 0;
}

void environments_get(struct exchange *x)
{
    struct store_version version;
    struct document *doc = NULL;
    char *json = NULL;

    if (environments_load(x, x->params[0], &doc, &version, &json) < 0) {
        return;
    }
    document_free(doc);
    answer_bytes(x, 200, "application/json", json, version.document_bytes);
    answer_header(x, "Vial-Environment", "%s@%u", version.name, version.version);
}

void environments_delete(struct exchange *x)
{
    char name[DOCUMENT_NAME_BYTES_MAX + 1];
    const char *force = exchange_query(x, "force");
    struct vial_error err;
    uint32_t version = 0;
    int r;

    if (take_ref(x, name, &version) < 0 || change_may_begin(x) < 0) {
        return;
    }
    envs_drop(x->server, name, version);
    (void)pthread_mutex_lock(&x->server->store_lock);
    r = store_delete(
        x->server->store, name, version, force != NULL && strcmp(force, "true") == 0, &err);
    (void)pthread_mutex_unlock(&x->server->store_lock);
    if (r < 0) {
        fail(x, &err);
        return;
    }
    change_was_made(x, "environment.delete", x->params[0], NULL);
    answer_empty(x, 204);
}

/* ---- types, test ---- */

int environments_stubs(const struct document *doc, struct stub_tool **ret, size_t *ret_count)
{
    struct stub_tool *tools = calloc(doc->tools_count + 1, sizeof(*tools));
    size_t i, count = 0;

    if (tools == NULL) {
        return -1;
    }
    for (i = 0; i < doc->tools_count; i++) {
        const struct document_tool *tool = &doc->tools[i];

        if (document_allows_tool(doc, tool->name)) {
            tools[count++] = (struct stub_tool){.name = tool->name,
                .description = tool->description,
                .input = tool->input,
                .output = tool->output,
                .sync = tool->sync,
                .approve = tool->approve};
        }
    }
    *ret = tools;
    *ret_count = count;
    return 0;
}

void environments_types(struct exchange *x)
{
    const char *lang = exchange_query(x, "lang");
    enum stub_language language =
        lang != NULL && (strcmp(lang, "python") == 0 || strcmp(lang, "py") == 0) ? STUB_PYTHON
                                                                                 : STUB_TYPESCRIPT;
    struct stub_tool *tools = NULL;
    struct document *doc = NULL;
    struct vial_error err;
    size_t count = 0;
    struct buf out;

    if (environments_load(x, x->params[0], &doc, NULL, NULL) < 0) {
        return;
    }
    if (lang == NULL && doc->language == VIAL_LANGUAGE_PYTHON) {
        language = STUB_PYTHON;
    }
    buf_init(&out, TEXT_BYTES_MAX);
    if (environments_stubs(doc, &tools, &count) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else if (stubs_write(tools, count, language, &out, &err) < 0) {
        answer_error(x, &err);
    } else {
        answer_json(x, 200, &out);
        x->answer.type = "text/plain; charset=utf-8";
    }
    buf_release(&out);
    free(tools);
    document_free(doc);
}

void environments_test(struct exchange *x)
{
    struct env_entry *entry = NULL;
    struct vial_result *result = NULL;
    struct vial_error err;
    const char *json;
    char *copy;
    size_t len = 0;

    if (envs_acquire(x->server, x->params[0], &entry, &err) < 0) {
        fail(x, &err);
        return;
    }
    if (vial_env_start(entry->env, &result, &err) < 0) {
        answer_error(x, &err);
    } else {
        json = vial_result_json(result, &len);
        copy = json != NULL ? malloc(len + 1) : NULL;
        if (copy == NULL) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        } else {
            memcpy(copy, json, len);
            answer_bytes(x, 200, "application/json", copy, len);
        }
    }
    vial_result_free(result);
    envs_release(x->server, entry);
}
