/* start.c - see start.h. */
#include "host/start.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "host/env.h"
#include "host/modules.h"
#include "host/mounts.h"
#include "host/request.h"
#include "host/run_files.h"
#include "host/session.h"
#include "wire/field.h"
#include "wire/frame.h"

static struct iovec iov_of(const void *bytes, size_t len)
{
    struct iovec v = {.iov_len = len};

    memcpy(&v.iov_base, &bytes, sizeof(bytes)); /* sendmsg does not write to it */
    return v;
}

/* How it is scanned, and by which rules beside ours. */
static int add_scan_fields(const struct vial_run *run, struct buf *fields)
{
    int r = field_add_u32(fields, FIELD_SCAN, run->scan, NULL);
    size_t i;

    for (i = 0; i < run->introduce_rules_count && r == VIAL_OK; i++) {
        const struct vial_scan_rules *rules = &run->introduce_rules[i];

        r = field_add(fields, FIELD_SCAN_RULES_NAME, rules->name, strlen(rules->name), NULL);
        r = r < 0 ? r : field_add(fields, FIELD_SCAN_RULES, rules->text, rules->len, NULL);
    }
    return r;
}

/* What a cell of a family must know beside. */
static int add_session_fields(const struct vial_run *run, struct buf *fields)
{
    const struct vial_request *q = &run->request;
    const struct vial_env *env = q->environment != NULL ? q->environment
                                 : run->session != NULL ? run->session->env
                                                        : NULL;
    size_t i;
    int r = VIAL_OK;

    if (run->session_kind != 0) {
        r = field_add_u32(fields, FIELD_SESSION, run->session_kind, NULL);
    }
    if (run->calls.tools != NULL) {
        r = r < 0 ? r
                  : field_add_u32(
                        fields, FIELD_CALL_BYTES_MAX, (uint32_t)run->limits.call_bytes_max, NULL);
    }
    if (run->calls.fetches != NULL) {
        r = r < 0 ? r
                  : field_add_u32(fields, FIELD_NET, (uint32_t)run->limits.request_bytes_max, NULL);
    }
    if (run->introduce != NULL) {
        r = r < 0 ? r : tool_set_add_fields(run->introduce, fields, NULL);
    }
    if (run->introduce_mounts != NULL) {
        r = r < 0 ? r : mounts_add_fields(run->introduce_mounts, fields, NULL);
    }
    if (q->globals != NULL) {
        r = r < 0 ? r : field_add(fields, FIELD_GLOBALS, q->globals, q->globals_len, NULL);
    }
    if (run->function != 0) {
        r = r < 0 ? r : field_add_u32(fields, FIELD_FUNCTION, run->function, NULL);
    }
    if (run->release != 0) {
        r = r < 0 ? r : field_add_u32(fields, FIELD_RELEASE, run->release, NULL);
    }
    if (run->complete != 0) {
        r = r < 0 ? r : field_add_u32(fields, FIELD_COMPLETE, 1, NULL);
    }
    for (i = 0; env != NULL && env->document->imports_restricted &&
                i <= env->document->allowed_imports.count;
         i++) {
        /* The first one is empty: it says that there are rules. */
        const char *name = i > 0 ? env->document->allowed_imports.items[i - 1] : "";

        r = r < 0 ? r : field_add(fields, FIELD_ALLOWED_IMPORT, name, strlen(name), NULL);
    }
    if (run->scan != SCAN_OFF && run->function == 0 && run->release == 0 && run->complete == 0) {
        r = r < 0 ? r : add_scan_fields(run, fields);
    }
    if (q->entry_is_main != 0) {
        r = r < 0 ? r : field_add_u32(fields, FIELD_ENTRY_MAIN, 1, NULL);
    }
    return r;
}

/* Everything but the long texts. */
static int add_fields(const struct vial_run *run, struct buf *fields)
{
    const struct vial_request *q = &run->request;
    const struct vial_limits *limits = &run->limits;
    const char *name = request_name(q);
    int r;

    r = field_add(fields, FIELD_NAME, name, strlen(name), NULL);
    r = r < 0 ? r
              : field_add_u32(fields, FIELD_WANT_TEXT,
                    q->want_text == WANT_NOTHING ? WANT_NOTHING : q->want_text != 0, NULL);
    r = r < 0 ? r : field_add_u32(fields, FIELD_LANGUAGE, q->language, NULL);
    r = r < 0 ? r : field_add_u32(fields, FIELD_TIMERS_MAX, limits->timers_max, NULL);
    r = r < 0 ? r : field_add_u32(fields, FIELD_VALUE_MAX, (uint32_t)limits->value_bytes_max, NULL);
    r = r < 0 ? r : files_add_fields(q, limits, fields, NULL);
    if (q->kind != VIAL_KIND_AUTO) {
        r = r < 0 ? r : field_add_u32(fields, FIELD_KIND, q->kind, NULL);
    }
    r = r < 0 ? r : modules_add(q, fields, NULL);
    r = r < 0 ? r : permit_add_fields(run, fields);
    return r < 0 ? r : add_session_fields(run, fields);
}

int start_send(const struct vial_run *run, int sock, uint64_t until_us)
{
    const struct vial_request *q = &run->request;
    char source_head[FIELD_HEAD_BYTES], input_head[FIELD_HEAD_BYTES], stdin_head[FIELD_HEAD_BYTES];
    struct frame_header header = {.type = FRAME_START};
    struct iovec iov[8];
    size_t count = 0;
    struct buf fields;
    size_t i;
    int r;

    buf_init(&fields, FRAME_START_BYTES_MAX);
    if (add_fields(run, &fields) < 0) {
        buf_release(&fields);
        errno = ENOMEM;
        return -1;
    }
    field_head(source_head, FIELD_SOURCE, (uint32_t)q->source_len);
    iov[count++] = iov_of(&header, sizeof(header));
    iov[count++] = iov_of(fields.data, fields.len);
    iov[count++] = iov_of(source_head, sizeof(source_head));
    iov[count++] = iov_of(q->source, q->source_len);
    if (q->input != NULL) {
        field_head(input_head, q->input_is_cbor != 0 ? FIELD_INPUT_CBOR : FIELD_INPUT,
            (uint32_t)q->input_len);
        iov[count++] = iov_of(input_head, sizeof(input_head));
        iov[count++] = iov_of(q->input, q->input_len);
    }
    if (q->stdin_bytes != NULL) {
        field_head(stdin_head, FIELD_STDIN, (uint32_t)q->stdin_len);
        iov[count++] = iov_of(stdin_head, sizeof(stdin_head));
        iov[count++] = iov_of(q->stdin_bytes, q->stdin_len);
    }
    for (i = 1; i < count; i++) {
        header.len += (uint32_t)iov[i].iov_len;
    }
    r = fd_send_until(sock, iov, count, until_us);
    buf_release(&fields);
    return r;
}
