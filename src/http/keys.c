/* keys.c - /v1/keys: who may use the server, and how much. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/change.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/server.h"
#include "schema/tree.h"

enum { LIST_BYTES_MAX = 16 << 20 };

static void fail(struct exchange *x, const struct vial_error *err)
{
    if (err->code == VIAL_E_SYS) {
        answer_problem(x, PROBLEM_STORE, "%s", err->text);
    } else {
        answer_error(x, err);
    }
}

static void put_time(struct json_writer *w, const char *key, uint64_t us)
{
    char at[RUN_TIME_BYTES];

    run_time_text(us, at);
    json_key(w, key);
    json_text(w, us != 0 ? at : NULL);
}

static void put_key(struct json_writer *w, const struct key_info *info, const char *token)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } scopes[] = {{KEY_SCOPE_RUN, "run"}, {KEY_SCOPE_SESSION, "session"}, {KEY_SCOPE_ENV, "env"},
        {KEY_SCOPE_ADMIN, "admin"}};
    const struct {
        const char *name;
        uint32_t value;
    } quota[] = {{"concurrent", info->quota.concurrent},
        {"runs_per_minute", info->quota.runs_per_minute},
        {"cpu_seconds_per_day", info->quota.cpu_seconds_per_day},
        {"sessions", info->quota.sessions}};
    size_t i;

    json_begin_object(w);
    json_key(w, "id");
    json_text(w, info->id);
    json_key(w, "name");
    json_text(w, info->name[0] != '\0' ? info->name : NULL);
    json_key(w, "scopes");
    json_begin_array(w);
    for (i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        if ((info->scopes & scopes[i].bit) != 0) {
            json_text(w, scopes[i].name);
        }
    }
    json_end_array(w);
    json_key(w, "quota");
    json_begin_object(w);
    for (i = 0; i < sizeof(quota) / sizeof(quota[0]); i++) {
        json_key(w, quota[i].name);
        json_u64(w, quota[i].value);
    }
    json_end_object(w);
    put_time(w, "created_at", info->created_us);
    put_time(w, "used_at", info->used_us);
    put_time(w, "expires_at", info->expires_us);
    put_time(w, "revoked_at", info->revoked_us);
    if (token != NULL) {
        json_key(w, "token");
        json_text(w, token);
    }
    json_end_object(w);
}

static void answer_key(
    struct exchange *x, unsigned status, const struct key_info *info, const char *token)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    put_key(&w, info, token);
    answer_written(x, status, &w, &out);
}

/* The body, which has passed its schema. 0 or negative. */
static int read_options(
    const struct tree *t, struct key_options *o, char *name, size_t size, struct vial_error *err)
{
    uint32_t at = tree_member(t, 0, "name"), scopes = tree_member(t, 0, "scopes"), i;
    uint32_t quota = tree_member(t, 0, "quota"), expires = tree_member(t, 0, "expires_s");
    int r = VIAL_OK;

    if (at != 0) {
        (void)snprintf(name, size, "%.*s", (int)t->values[at].len, t->values[at].text);
        o->name = name;
    }
    for (i = tree_first(scopes); i != tree_end(t, scopes); i = tree_next(t, i)) {
        o->scopes |= key_scope_named(t->values[i].text, t->values[i].len);
    }
    for (i = quota != 0 ? tree_first(quota) : 0; quota != 0 && i != tree_end(t, quota) && r == 0;
         i = tree_next(t, tree_next(t, i))) {
        const struct tree_value *v = &t->values[tree_next(t, i)];

        r = quota_set(
            &o->quota, t->values[i].text, t->values[i].len, strtoull(v->text, NULL, 10), err);
    }
    if (expires != 0) {
        o->expires_us =
            id_now_us() + strtoull(t->values[expires].text, NULL, 10) * UINT64_C(1000000);
    }
    return r;
}

void keys_create(struct exchange *x)
{
    struct key_options o = {.quota = QUOTA_DEFAULT};
    char name[KEY_NAME_BYTES_MAX * 4 + 1], token[KEY_TOKEN_BYTES + 1];
    struct key_info info;
    struct vial_error err;
    struct tree t;
    int r;

    if (change_may_begin(x) < 0) {
        return;
    }
    r = tree_read(&t, x->body.data, x->body.len, &err);
    if (r == VIAL_OK) {
        r = read_options(&t, &o, name, sizeof(name), &err);
        tree_release(&t);
    }
    r = r < 0 ? r : key_create(x->server->keys, &o, &info, token, &err);
    if (r < 0) {
        fail(x, &err);
        return;
    }
    change_was_made(x, "key.create", NULL, info.id);
    answer_key(x, 201, &info, token);
    answer_header(x, "Location", "/v1/keys/%s", info.id);
    explicit_bzero(token, sizeof(token));
}

void keys_list(struct exchange *x)
{
    struct key_info *list = NULL;
    struct vial_error err;
    struct json_writer w;
    size_t count = 0, i;
    struct buf out;

    if (key_list(x->server->keys, &list, &count, &err) < 0) {
        fail(x, &err);
        return;
    }
    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        put_key(&w, &list[i], NULL);
    }
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_write_null(&w);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
    free(list);
}

void keys_get(struct exchange *x)
{
    struct key_info info;
    struct vial_error err;

    if (key_get(x->server->keys, x->params[0], &info, &err) < 0) {
        fail(x, &err);
    } else {
        answer_key(x, 200, &info, NULL);
    }
}

void keys_delete(struct exchange *x)
{
    struct key_info info;
    struct vial_error err;

    if (key_revoke(x->server->keys, x->params[0], &info, &err) < 0) {
        fail(x, &err);
        return;
    }
    change_was_made(x, "key.revoke", NULL, info.id);
    answer_key(x, 200, &info, NULL);
}
