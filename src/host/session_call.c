/* session_call.c - what a session can be asked beside evaluating programs: to call a function that
 * it gave, to let go of one, how a name could go on. See vial.h and session.h. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "host/result.h"
#include "host/session.h"
#include "value/cbor.h"
#include "wire/field.h"

enum {
    ARGS_DEPTH_MAX = 512,
    TEXT_BYTES_MAX = 4096, /* of a name that is to go on */
};

/* A run that is no program; request may be NULL. */
static int new_run(struct vial_session *s, const struct vial_request *request, const char *source,
    size_t len, struct vial_run **ret, struct vial_error *err)
{
    struct vial_request q = VIAL_REQUEST_INIT;

    if (request != NULL) {
        if (request->size > sizeof(q)) {
            return vial__fail(err, VIAL_E_INVALID, "the request is newer than this library");
        }
        memcpy(&q, request, request->size);
        q.size = sizeof(q);
    }
    q.source = source;
    q.source_len = len;
    q.name = "host";
    return session_new_run(s, &q, ret, err);
}

static uint32_t number_of(uint64_t handle)
{
    return handle <= UINT32_MAX ? (uint32_t)handle : 0;
}

/* An array, as JSON or as CBOR. */
static int check_args(const char *args, size_t len, int is_cbor, struct vial_error *err)
{
    enum { MAJOR_ARRAY = 4 };
    struct json_fault fault;

    if (is_cbor) {
        if (len == 0 || (unsigned char)args[0] >> 5 != MAJOR_ARRAY) {
            return vial__fail(err, VIAL_E_INVALID, "the arguments of a call must be a CBOR array");
        }
        return value_cbor_check(args, len, err);
    }
    if (args[strspn(args, " \t\r\n")] != '[' || json_check(args, len, ARGS_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID, "the arguments of a call must be a JSON array");
    }
    return VIAL_OK;
}

int vial_session_call(struct vial_session *s, uint64_t handle, const char *args, size_t args_len,
    const struct vial_request *request, struct vial_result **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int is_cbor = args != NULL && request != NULL && request->input_is_cbor != 0;
    int r;

    if (s == NULL || ret == NULL || number_of(handle) == 0) {
        return vial__fail(
            err, VIAL_E_INVALID, "a call needs a session and the number of a function");
    }
    args = args != NULL ? args : "[]";
    args_len = args_len != 0 || is_cbor ? args_len : strlen(args);
    r = check_args(args, args_len, is_cbor, err);
    r = r < 0 ? r : new_run(s, request, "", 0, &run, err);
    if (r < 0) {
        return r;
    }
    run->request.input = args;
    run->request.input_len = args_len;
    run->request.input_is_cbor = (uint32_t)is_cbor;
    run->function = number_of(handle);
    r = session_enter_and_run(s, run, ret, err);
    vial_run_free(run);
    return r;
}

/* Runs it and takes its value, which may be NULL; an exception is VIAL_E_GONE. */
static int ask(struct vial_session *s, struct vial_run *run, char **ret, struct vial_error *err)
{
    struct vial_result *result = NULL;
    const char *value;
    int r = session_enter_and_run(s, run, &result, err);

    vial_run_free(run);
    if (r == VIAL_OK && result->status != VIAL_STATUS_OK) {
        r = vial__fail(err, VIAL_E_GONE, "%s", result->error.message);
    } else if (r == VIAL_OK && ret != NULL) {
        value = vial_result_value(result, NULL);
        *ret = strdup(value != NULL ? value : "[]");
        r = *ret != NULL ? VIAL_OK : vial__fail(err, VIAL_E_NOMEM, "no memory for an answer");
    }
    vial_result_free(result);
    return r;
}

int vial_session_release(struct vial_session *s, uint64_t handle, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int r;

    if (s == NULL || number_of(handle) == 0) {
        return vial__fail(err, VIAL_E_INVALID, "there is no such function");
    }
    r = new_run(s, NULL, "", 0, &run, err);
    if (r < 0) {
        return r;
    }
    run->release = number_of(handle);
    return ask(s, run, NULL, err);
}

int vial_session_complete(
    struct vial_session *s, const char *text, size_t len, char **ret, struct vial_error *err)
{
    struct vial_run *run = NULL;
    int r;

    if (s == NULL || text == NULL || ret == NULL || len > TEXT_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID, "there is nothing to complete");
    }
    r = new_run(s, NULL, text, len, &run, err);
    if (r < 0) {
        return r;
    }
    run->complete = 1;
    return ask(s, run, ret, err);
}
