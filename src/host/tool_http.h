/* tool_http.h - a tool that is a server: the arguments are POSTed to it, its answer is the answer.
 *
 * The operator says where it is and which headers it gets; guests see neither. The server is taken
 * to be as hostile as a guest: it may hang, drip, flood or lie. Redirects are not followed, for the
 * headers are meant for one server. Private addresses are allowed, because the operator gave them.
 *
 * A call is sent once at most: it is never repeated, not even on a kept connection that turns out
 * to be dead. */
#ifndef VIAL_HOST_TOOL_HTTP_H
#define VIAL_HOST_TOOL_HTTP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "host/tool_answer.h"

enum {
    TOOL_HTTP_URL_BYTES_MAX = 8192,          /* what servers take */
    TOOL_HTTP_HEADERS_MAX = 64,              /* likewise; real ones are two or three */
    TOOL_HTTP_HEADER_BYTES_MAX = 8192,       /* each: a large token fits */
    TOOL_HTTP_ANSWER_HEAD_BYTES_MAX = 65536, /* all headers of an answer; large ones have 8 KiB */
};

/* Everything is borrowed for the time of a call. */
struct tool_http {
    const char *url;
    const char *const *headers; /* header_count of "Name: value" */
    size_t header_count;
    const char *traceparent; /* sent when it is not NULL and no header says it; a valid one */
};

/* Is this a tool that can be called? VIAL_E_INVALID says what is wrong, without the values of
 * headers; VIAL_E_SYS when libcurl is not there. */
VIAL_NODISCARD int tool_http_check(const struct tool_http *tool, struct vial_error *err);

/* Calls a tool that passed tool_http_check with len bytes of JSON.
 *
 * 0: answer, which the caller has initialised, has the JSON and nothing else; a server without
 * anything to say (204, or no body) answers null. TOOL_FAILED: failure says why; it must have been
 * initialised too. With a status that is not 2xx its name is HttpError and its fields are
 * {"status": 404, "body": "the beginning"}, the body being there when it is text. Negative: the
 * host could not do its part.
 *
 * Blocks until deadline_us of clock_now_us at most. *cancelled, which is read atomically every 20
 * ms and may be NULL, ends it early when it is not 0. Each thread keeps its connections for a few
 * seconds and closes them when it ends. */
VIAL_NODISCARD int tool_http_call(const struct tool_http *tool, const char *args, size_t len,
    uint64_t deadline_us, size_t answer_bytes_max, const int *cancelled, struct buf *answer,
    struct tool_failure *failure, struct vial_error *err);

#endif
