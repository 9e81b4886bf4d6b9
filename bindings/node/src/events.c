/* events.c - what happens in threads, told to JavaScript: dispatch(kind, number, ...). */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

struct event *event_new(enum event_kind kind, uint64_t number, const char *bytes, size_t len)
{
    struct event *e = calloc(1, sizeof(*e) + len + 1);

    if (e == NULL) {
        return NULL;
    }
    e->kind = kind;
    e->number = number;
    e->len = len;
    if (len > 0 && bytes != NULL) {
        memcpy(e->bytes, bytes, len);
    }
    return e;
}

/* There is no maximum of events that wait, but for what makes them: the limits of runs on output,
 * and on calls under way. */
int post(struct instance *in, struct event *e)
{
    int r = -1;

    pthread_mutex_lock(&in->lock);
    if (!in->is_closed &&
        napi_call_threadsafe_function(in->calls, e, napi_tsfn_nonblocking) == napi_ok) {
        r = 0;
    }
    pthread_mutex_unlock(&in->lock);
    if (r < 0) {
        free(e);
    }
    return r;
}

void output_came(int stream, const char *bytes, size_t len, void *user)
{
    struct job *job = user;
    struct event *e = event_new(EVENT_OUTPUT, job->number, bytes, len);

    job->has_posted = 1;
    if (e != NULL) {
        e->flag = stream;
        (void)post(job->instance, e);
    }
}

/* ---- tools ---- */

void *tool_user(const struct instance *in, uint32_t number)
{
    return (void *)(uintptr_t)(((uint64_t)in->id << 32) | number);
}

/* The library may call a tool when its run is over and all that belonged to it is gone, so a number
 * is looked up here and not a pointer followed. */
void tool_called(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    uint64_t number = (uint64_t)(uintptr_t)user;
    struct instance *in = instance_of((uint32_t)(number >> 32));
    struct event *e = NULL;
    struct vial_error err;

    if (in != NULL) {
        e = event_new(EVENT_CALL, number & UINT32_MAX, call->args, call->args_len);
        if (e != NULL) {
            e->flag = call->args_is_cbor != 0;
            e->call_id = call->id;
            e->run_id = call->run_id;
        }
    }
    if (e == NULL || post(in, e) < 0) {
        (void)!vial_call_fail(engine, call->id, "AbortError", "the host is ending", NULL, &err);
    }
    instance_drop(in);
}

int tool_needs_approval(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct job *job = user;
    size_t name_len = strlen(call->name);
    struct event *e = event_new(EVENT_APPROVE, job->number, NULL, call->args_len + name_len + 1);

    (void)engine;
    if (e == NULL) {
        return VIAL_APPROVAL_NO;
    }
    if (call->args_len > 0) {
        memcpy(e->bytes, call->args, call->args_len);
    }
    memcpy(e->bytes + call->args_len, call->name, name_len + 1);
    e->len = call->args_len;
    e->flag = call->args_is_cbor != 0;
    e->call_id = call->id;
    return post(job->instance, e) == 0 ? VIAL_APPROVAL_LATER : VIAL_APPROVAL_NO;
}

/* ---- in Node's thread ---- */

static napi_value text_of(napi_env env, const char *bytes, size_t len)
{
    napi_value value = NULL;

    return bytes != NULL && napi_create_string_utf8(env, bytes, len, &value) == napi_ok ? value
                                                                                        : NULL;
}

static napi_value bytes_of(napi_env env, const char *bytes, size_t len)
{
    napi_value value = NULL;

    return napi_create_buffer_copy(env, len, bytes, NULL, &value) == napi_ok ? value : NULL;
}

static void set(napi_env env, napi_value object, const char *name, napi_value value)
{
    if (value != NULL) {
        napi_set_named_property(env, object, name, value);
    }
}

static napi_value number_of(napi_env env, double number)
{
    napi_value value = NULL;

    return napi_create_double(env, number, &value) == napi_ok ? value : NULL;
}

static napi_value files_of(napi_env env, const struct vial_result *result)
{
    size_t count = vial_result_file_count(result);
    napi_value list = NULL;

    if (napi_create_array_with_length(env, 2 * count, &list) != napi_ok) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        struct vial_file file;
        napi_value name, bytes;

        if (vial_result_file(result, i, &file) < 0) {
            continue;
        }
        name = text_of(env, file.name, NAPI_AUTO_LENGTH);
        bytes = bytes_of(env, file.bytes, file.len);
        if (name != NULL && bytes != NULL) {
            napi_set_element(env, list, (uint32_t)(2 * i), name);
            napi_set_element(env, list, (uint32_t)(2 * i + 1), bytes);
        }
    }
    return list;
}

static void free_result(napi_env env, void *data, void *hint)
{
    int64_t now = 0;

    napi_adjust_external_memory(env, -(int64_t)(intptr_t)hint, &now);
    vial_result_free(data);
}

static void set_number(napi_env env, napi_value object, const char *name, double number)
{
    if (number != 0) {
        set(env, object, name, number_of(env, number));
    }
}

/* {value?, cbor?, text?, stdout?, stderr?, exitCode?, files?, filesLeftOut?, sessionLives?,
 * status?, rest}: what is used of every result, without what is empty, 0 or "ok", and the rest as
 * an external, which details() reads. */
static napi_value result_of(napi_env env, struct vial_result *result)
{
    napi_value object = NULL, rest = NULL;
    size_t len = 0, total = 4096;
    const char *bytes;
    int64_t now = 0;

    if (napi_create_object(env, &object) != napi_ok) {
        vial_result_free(result);
        return NULL;
    }
    if (vial_result_status(result) != VIAL_STATUS_OK) {
        set(env, object, "status",
            text_of(env, vial_status_name(vial_result_status(result)), NAPI_AUTO_LENGTH));
    }
    bytes = vial_result_cbor(result, &len);
    if (bytes != NULL) {
        set(env, object, "cbor", bytes_of(env, bytes, len));
        total += len;
    } else if ((bytes = vial_result_value(result, &len)) != NULL) {
        set(env, object, "value", text_of(env, bytes, len));
        total += len;
    }
    bytes = vial_result_text(result, &len);
    set(env, object, "text", text_of(env, bytes, len));
    for (int stream = VIAL_STDOUT; stream <= VIAL_STDERR; stream++) {
        uint64_t dropped = 0;

        len = 0;
        bytes = vial_result_output(result, stream, &len, &dropped);
        if (len > 0) {
            set(env, object, stream == VIAL_STDOUT ? "stdout" : "stderr", text_of(env, bytes, len));
        }
        total += len;
    }
    set_number(env, object, "exitCode", vial_result_exit_code(result));
    set_number(env, object, "sessionLives", vial_result_session_lives(result) != 0);
    if (vial_result_file_count(result) > 0) {
        set(env, object, "files", files_of(env, result));
    }
    set_number(env, object, "filesLeftOut", (double)vial_result_files_left_out(result));
    napi_adjust_external_memory(env, (int64_t)total, &now);
    if (napi_create_external(env, result, free_result, (void *)(intptr_t)total, &rest) != napi_ok) {
        free_result(env, result, (void *)(intptr_t)total);
    }
    set(env, object, "rest", rest);
    return object;
}

/* [code, text, sys] of a failure; else a result, a handle, handles, or null. */
napi_value job_outcome(napi_env env, struct job *job)
{
    napi_value outcome = NULL;

    if (job->code < 0) {
        const char *text = job->err.text[0] != '\0' ? job->err.text : "there is no memory";

        if (napi_create_array_with_length(env, 3, &outcome) == napi_ok) {
            napi_set_element(env, outcome, 0, number_of(env, job->code));
            napi_set_element(env, outcome, 1, text_of(env, text, NAPI_AUTO_LENGTH));
            napi_set_element(env, outcome, 2, number_of(env, job->err.sys));
        }
        return outcome;
    }
    if (job->result != NULL) {
        outcome = result_of(env, job->result);
        job->result = NULL;
    } else if (job->made != NULL) {
        outcome = handle_value(env, job->made);
        job->made = NULL;
    } else if (job->branches != NULL &&
               napi_create_array_with_length(env, job->count, &outcome) == napi_ok) {
        for (size_t i = 0; i < job->count; i++) {
            napi_value value = handle_value(env, job->branches[i]);

            job->branches[i] = NULL;
            if (value != NULL) {
                napi_set_element(env, outcome, (uint32_t)i, value);
            }
        }
    }
    return outcome;
}

static void fill_args(napi_env env, struct event *e, napi_value argv[5])
{
    argv[0] = number_of(env, e->kind);
    argv[1] = number_of(env, (double)e->number);
    switch (e->kind) {
    case EVENT_OUTPUT:
        argv[2] = number_of(env, e->flag);
        argv[3] = bytes_of(env, e->bytes, e->len);
        break;
    case EVENT_CALL:
    case EVENT_APPROVE:
        napi_create_bigint_uint64(env, e->call_id, &argv[2]);
        argv[3] = e->flag ? bytes_of(env, e->bytes, e->len) : text_of(env, e->bytes, e->len);
        if (e->kind == EVENT_CALL) {
            napi_create_bigint_uint64(env, e->run_id, &argv[4]);
        } else {
            argv[4] = text_of(env, e->bytes + e->len, NAPI_AUTO_LENGTH);
        }
        break;
    case EVENT_DONE:
        argv[2] = number_of(env, e->job->code);
        argv[3] = job_outcome(env, e->job);
        break;
    }
}

void call_dispatch(napi_env env, napi_value unused, void *context, void *data)
{
    struct instance *in = context;
    struct event *e = data;
    napi_value argv[5] = {NULL}, function = NULL, receiver = NULL, problem = NULL;
    bool is_pending = false;

    (void)unused;
    if (env != NULL && napi_get_undefined(env, &receiver) == napi_ok) {
        fill_args(env, e, argv);
        for (int i = 0; i < 5; i++) {
            argv[i] = argv[i] != NULL ? argv[i] : receiver;
        }
        if (napi_get_reference_value(env, in->dispatch, &function) == napi_ok) {
            napi_call_function(env, receiver, function, 5, argv, NULL);
        }
        if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending &&
            napi_get_and_clear_last_exception(env, &problem) == napi_ok) {
            napi_fatal_exception(env, problem);
        }
    }
    if (e->kind == EVENT_DONE) {
        job_free(e->job);
    }
    free(e);
}
