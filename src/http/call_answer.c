/* call_answer.c - see call_answer.h. */
#include "http/call_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "schema/tree.h"

static int wrong(struct vial_error *err, const char *why)
{
    (void)vial__fail(err, VIAL_E_INVALID, "%s", why);
    return CALL_ANSWER_WRONG;
}

/* A copy that ends in NUL, or NULL. */
static char *copy(const struct tree *t, uint32_t at)
{
    return at != 0 ? strndup(t->values[at].text, t->values[at].len) : NULL;
}

static int fail_call(struct vial_engine *engine, uint64_t call, const struct tree *t,
    uint32_t error, struct vial_error *err)
{
    char *name = copy(t, tree_member(t, error, "name"));
    char *message = copy(t, tree_member(t, error, "message"));
    char *fields = copy(t, tree_member(t, error, "fields"));
    int r = vial_call_fail(engine, call, name != NULL ? name : "ToolError",
        message != NULL ? message : "the tool failed", fields, err);

    free(name);
    free(message);
    free(fields);
    return r;
}

/* Strings are decoded in the tree, so they are written anew. */
static int answer_value(
    struct vial_engine *engine, uint64_t call, const struct tree_value *v, struct vial_error *err)
{
    struct json_writer w;
    struct buf out;
    int r;

    if (v->kind != TREE_STRING) {
        return vial_call_answer(engine, call, v->text, v->len, err);
    }
    buf_init(&out, (size_t)v->len * 6 + 16);
    json_init(&w, &out, err);
    json_write_string(&w, v->text, v->len);
    r = json_finish(&w);
    r = r < 0 ? r : vial_call_answer(engine, call, out.data, out.len, err);
    buf_release(&out);
    return r;
}

static int apply(struct vial_engine *engine, uint64_t call, int is_approval, const struct tree *t,
    struct vial_error *err)
{
    uint32_t value = tree_member(t, 0, "value"), error = tree_member(t, 0, "error");
    uint32_t approve = tree_member(t, 0, "approve");

    if (is_approval) {
        char *reason;
        int r;

        if (approve == 0) {
            return wrong(err, "this call waits for approval; answer {\"approve\": true} or false");
        }
        reason = copy(t, tree_member(t, 0, "reason"));
        r = vial_call_approve(engine, call, t->values[approve].kind == TREE_TRUE, reason, err);
        free(reason);
        return r;
    }
    if (approve != 0 || (value != 0) == (error != 0)) {
        return wrong(err, "answer with one of {\"value\": ...} and {\"error\": {...}}");
    }
    return error != 0 ? fail_call(engine, call, t, error, err)
                      : answer_value(engine, call, &t->values[value], err);
}

int call_answer_apply(struct vial_engine *engine, uint64_t call, int is_approval, const char *json,
    size_t len, struct vial_error *err)
{
    struct tree t;
    int r = tree_read(&t, json, len, err);

    if (r < 0) {
        return CALL_ANSWER_WRONG;
    }
    r = apply(engine, call, is_approval, &t, err);
    tree_release(&t);
    return r;
}
