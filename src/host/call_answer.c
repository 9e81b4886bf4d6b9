/* call_answer.c - the public functions that answer a call of a tool; see vial.h and call.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "host/call.h"
#include "value/cbor.h"

enum {
    ANSWER_DEPTH_MAX = 512, /* as deep as the input of a run */
    NAME_BYTES_MAX = 64,    /* of an error */
    MESSAGE_BYTES_MAX = 8192,
    FIELDS_BYTES_MAX = 32768,
    REASON_BYTES_MAX = 1024,
};

static int gone(struct vial_error *err)
{
    return vial__fail(err, VIAL_E_GONE,
        "the call is over: it was answered, it was too late, or its run has ended");
}

/* The tool of a call that still wants an answer, with a reference to its set; NULL when it is
 * over. */
static struct tool_set *find_tool(
    struct vial_engine *engine, uint64_t id, const struct tool **ret_tool, size_t *ret_bytes_max)
{
    struct tool_set *set = NULL;
    const struct call *call;

    (void)pthread_mutex_lock(&engine->calls.lock);
    call = call_find(&engine->calls, id);
    if (call != NULL) {
        set = tool_set_ref(call->tools);
        *ret_tool = call->tool;
        *ret_bytes_max = call->output_bytes_max;
    }
    (void)pthread_mutex_unlock(&engine->calls.lock);
    return set;
}

/* Why the answer cannot be given on, in *err; 0 when it can. */
static int check_answer(const struct tool *tool, size_t bytes_max, const char *bytes, size_t len,
    int is_cbor, struct vial_error *err)
{
    struct json_fault fault;
    struct buf report, text;
    int r = 0;

    if (len > bytes_max) {
        return vial__fail(err, VIAL_E_INVALID,
            "%s answered with %zu bytes; an answer may have up to %zu", tool->spec.name, len,
            bytes_max);
    }
    if (is_cbor) {
        if ((tool->spec.flags & VIAL_TOOL_VALUES) == 0) {
            return vial__fail(err, VIAL_E_INVALID, "%s answers in JSON", tool->spec.name);
        }
        r = value_cbor_check(bytes, len, err);
        return r < 0 ? vial__wrap(err, r, "the answer of %s", tool->spec.name) : VIAL_OK;
    }
    if (bytes != NULL && json_check(bytes, len, ANSWER_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "%s answered with something that is not JSON: %s at line %u, column %u",
            tool->spec.name, fault.why, fault.line, fault.column);
    }
    if (tool->output == NULL) {
        return VIAL_OK;
    }
    buf_init(&report, SCHEMA_REPORT_BYTES_MAX);
    buf_init(&text, SCHEMA_REPORT_BYTES_MAX);
    r = schema_check(
        tool->output, bytes != NULL ? bytes : "null", bytes != NULL ? len : 4, &report, err);
    if (r > 0) {
        (void)!schema_report_text(report.data, report.len, &text, NULL);
        r = vial__fail(err, VIAL_E_INVALID, "%s answered against its own schema: %.200s",
            tool->spec.name, text.len > 0 ? text.data : "?");
    }
    buf_release(&report);
    buf_release(&text);
    return r;
}

static int answer(struct vial_engine *engine, uint64_t id, const char *bytes, size_t len,
    int is_cbor, struct vial_error *err)
{
    const struct tool *tool = NULL;
    struct vial_error why = {.code = 0};
    struct tool_set *set;
    struct call *call;
    size_t bytes_max = 0;
    int r;

    if (engine == NULL || (bytes == NULL && (len != 0 || is_cbor))) {
        return vial__fail(err, VIAL_E_INVALID, "an answer needs an engine and bytes");
    }
    set = find_tool(engine, id, &tool, &bytes_max);
    if (set == NULL) {
        return gone(err);
    }
    r = check_answer(
        tool, bytes_max, bytes, len, is_cbor, &why); /* without the lock: it may take long */
    (void)pthread_mutex_lock(&engine->calls.lock);
    call = call_find(&engine->calls, id);
    if (call == NULL || call->state != CALL_UNDERWAY) {
        r = gone(err);
    } else if (r < 0) {
        call_finish_error(call, VIAL_CALL_INVALID,
            &(struct call_error){.name = "AnswerError", .message = why.text});
        if (err != NULL) {
            *err = why;
        }
    } else {
        call_finish(call, VIAL_CALL_OK, NULL,
            bytes == NULL ? ANSWER_UNDEFINED
            : is_cbor     ? ANSWER_CBOR
                          : ANSWER_JSON,
            bytes, len);
    }
    (void)pthread_mutex_unlock(&engine->calls.lock);
    tool_set_unref(set);
    return r;
}

int vial_call_answer(struct vial_engine *engine, uint64_t call_id, const char *json, size_t len,
    struct vial_error *err)
{
    return answer(engine, call_id, json, len, 0, err);
}

int vial_call_answer_cbor(struct vial_engine *engine, uint64_t call_id, const char *cbor,
    size_t len, struct vial_error *err)
{
    return answer(engine, call_id, cbor, len, 1, err);
}

static int check_error(
    const char *name, const char *message, const char *fields, struct vial_error *err)
{
    struct json_fault fault;

    if (strlen(name) > NAME_BYTES_MAX || !utf8_valid(name, strlen(name), NULL) ||
        !utf8_valid(message, strlen(message), NULL)) {
        return vial__fail(err, VIAL_E_INVALID,
            "an error needs a name of up to %d bytes and a message, both UTF-8", NAME_BYTES_MAX);
    }
    if (fields == NULL) {
        return VIAL_OK;
    }
    if (strlen(fields) > FIELDS_BYTES_MAX || fields[strspn(fields, " \t\r\n")] != '{' ||
        json_check(fields, strlen(fields), ANSWER_DEPTH_MAX, &fault) < 0) {
        return vial__fail(err, VIAL_E_INVALID,
            "the fields of an error must be a JSON object of up to %d bytes", FIELDS_BYTES_MAX);
    }
    return VIAL_OK;
}

int vial_call_fail(struct vial_engine *engine, uint64_t call_id, const char *name,
    const char *message, const char *fields, struct vial_error *err)
{
    char cut[MESSAGE_BYTES_MAX + 1];
    struct call *call;
    size_t len;
    int r;

    if (engine == NULL) {
        return vial__fail(err, VIAL_E_INVALID, "an answer needs an engine");
    }
    name = name != NULL && name[0] != '\0' ? name : "Error";
    message = message != NULL ? message : "the tool failed";
    r = check_error(name, message, fields, err);
    if (r < 0) {
        name = "Error";
        message = "the tool failed, and its error cannot be shown";
        fields = NULL;
    }
    len = strlen(message) < MESSAGE_BYTES_MAX ? strlen(message) : MESSAGE_BYTES_MAX;
    while (len > 0 && ((unsigned char)message[len] & 0xc0) == 0x80) {
        len--; /* not in the middle of a character */
    }
    memcpy(cut, message, len);
    cut[len] = '\0';
    (void)pthread_mutex_lock(&engine->calls.lock);
    call = call_find(&engine->calls, call_id);
    if (call == NULL || call->state != CALL_UNDERWAY) {
        r = gone(err);
    } else {
        call_finish_error(call, VIAL_CALL_FAILED,
            &(struct call_error){.name = name, .message = cut, .fields = fields});
    }
    (void)pthread_mutex_unlock(&engine->calls.lock);
    return r;
}

int vial_call_approve(struct vial_engine *engine, uint64_t call_id, int yes, const char *reason,
    struct vial_error *err)
{
    struct call *call;
    uint64_t one = 1;
    int r = VIAL_OK;

    if (engine == NULL || (reason != NULL && (strlen(reason) > REASON_BYTES_MAX ||
                                                 !utf8_valid(reason, strlen(reason), NULL)))) {
        return vial__fail(err, VIAL_E_INVALID,
            "an approval needs an engine, and a reason of up to %d bytes of UTF-8",
            REASON_BYTES_MAX);
    }
    (void)pthread_mutex_lock(&engine->calls.lock);
    call = call_find(&engine->calls, call_id);
    if (call == NULL || call->state != CALL_WAITING) {
        r = gone(err);
    } else {
        call->reason = reason != NULL ? strdup(reason) : NULL;
        call->state = yes != 0 ? CALL_APPROVED : CALL_REFUSED;
        (void)!write(call->run->wake_fd, &one, sizeof(one)); /* short counts handled */
    }
    (void)pthread_mutex_unlock(&engine->calls.lock);
    return r;
}
