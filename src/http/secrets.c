/* secrets.c - /v1/secrets: values that go in and never come out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/secret_name.h"
#include "http/change.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/server.h"
#include "schema/tree.h"
#include "store/secret.h"

enum { LIST_BYTES_MAX = 1 << 20 };

static void fail(struct exchange *x, const struct vial_error *err)
{
    if (err->code == VIAL_E_SYS) {
        answer_problem(x, PROBLEM_STORE, "%s", err->text);
    } else {
        answer_error(x, err);
    }
}

static void put_info(struct json_writer *w, const struct secret_info *info)
{
    char at[RUN_TIME_BYTES];

    json_begin_object(w);
    json_key(w, "name");
    json_text(w, info->name);
    json_key(w, "version");
    json_u64(w, info->version);
    run_time_text(info->created_us, at);
    json_key(w, "created_at");
    json_text(w, at);
    run_time_text(info->changed_us, at);
    json_key(w, "changed_at");
    json_text(w, at);
    json_end_object(w);
}

void secrets_list(struct exchange *x)
{
    struct secret_info *list = NULL;
    struct vial_error err;
    struct json_writer w;
    size_t count = 0, i;
    struct buf out;

    if (secret_list(x->server->secrets, &list, &count, &err) < 0) {
        fail(x, &err);
        return;
    }
    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        put_info(&w, &list[i]);
    }
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_write_null(&w);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
    free(list);
}

void secrets_put(struct exchange *x)
{
    struct secret_info info = {.version = 0};
    struct vial_error err;
    struct json_writer w;
    struct buf out;
    struct tree t;
    uint32_t value;
    int r;

    if (change_may_begin(x) < 0) {
        explicit_bzero(x->body.data, x->body.len);
        return;
    }
    r = tree_read(&t, x->body.data, x->body.len, &err);
    if (r == VIAL_OK) {
        value = tree_member(&t, 0, "value");
        r = secret_set(x->server->secrets, x->params[0], t.values[value].text, t.values[value].len,
            &info, &err);
        if (t.strings != NULL) {
            explicit_bzero(t.strings, t.strings_len);
        }
        tree_release(&t);
    }
    explicit_bzero(x->body.data, x->body.len);
    if (r < 0) {
        fail(x, &err);
        return;
    }
    change_was_made(x, "secret.set", NULL, x->params[0]);
    buf_init(&out, LIST_BYTES_MAX);
    json_init(&w, &out, NULL);
    put_info(&w, &info);
    (void)!json_finish(&w);
    answer_json(x, 200, &out);
}

void secrets_delete(struct exchange *x)
{
    struct vial_error err;

    if (change_may_begin(x) < 0) {
        return;
    }
    if (secret_delete(x->server->secrets, x->params[0], &err) < 0) {
        fail(x, &err);
        return;
    }
    change_was_made(x, "secret.delete", NULL, x->params[0]);
    answer_empty(x, 204);
}
