/* fetch.h - a program that asks the network, by way of the host: what is asked, and answered.
 *
 * A request is a CALL of the tool FETCH_TOOL, of kind CALL_BYTES: struct fetch_ask, a head of JSON
 * and the bytes of a body. The number of the call that opens a request is the number of its stream.
 *
 * FETCH_OPEN has the head {"url", "method", "headers": [[name, value]], "redirect", "timeout_ms"}
 * and the body. Its answer is ANSWER_BYTES: struct fetch_reply, a head of JSON {"status", "reason",
 * "url", "redirected", "headers"}, and what there is of the body so far. FETCH_READ asks for more
 * of it; its answer has no head. FETCH_CLOSE is for who wants no more, and is not answered.
 *
 * With FETCH_STREAMED the body of the request comes by FETCH_SEND, in pieces of at most
 * FETCH_PIECE_BYTES, the last one with FETCH_END. Each is answered by a struct fetch_reply alone,
 * when there is room for another piece; with FETCH_END when nobody wants one. */
#ifndef VIAL_WIRE_FETCH_H
#define VIAL_WIRE_FETCH_H

#include <stdint.h>

enum {
    FETCH_TOOL = INT32_MAX - 1,    /* no tool has this number */
    FETCH_HEAD_BYTES_MAX = 60000,  /* of JSON: below ANSWER_EXTRA_BYTES */
    FETCH_PIECE_BYTES = 256 * 1024 /* of a body in one answer */
};

enum fetch_op { FETCH_OPEN = 0, FETCH_READ = 1, FETCH_CLOSE = 2, FETCH_SEND = 3 };

struct fetch_ask {
    uint32_t op;     /* enum fetch_op */
    uint32_t stream; /* of READ, CLOSE and SEND */
    uint32_t head_len;
    uint32_t flags; /* FETCH_STREAMED of OPEN, FETCH_END of SEND */
};

enum {
    FETCH_END = 1, /* the body ends with this piece, and so does the stream */
    FETCH_STREAMED = 2,
};

struct fetch_reply {
    uint32_t head_len;
    uint32_t flags;
};

#endif
