/* tool_answer.h - what a call of a tool comes to, for every kind of tool that runs on the host.
 *
 * A call of a tool takes JSON and ends in one of three ways: 0, and the answer is JSON;
 * TOOL_FAILED, and the failure says why, for the guest; or a negative code, because the host could
 * not do its part. What the guest is told never has the address, the headers, the command or the
 * environment of a tool in it: those are the operator's, and guests are curious. */
#ifndef VIAL_HOST_TOOL_ANSWER_H
#define VIAL_HOST_TOOL_ANSWER_H

#include <stddef.h>

#include "base/buf.h"

enum {
    TOOL_FAILED = 1,
    /* What a server or a program said about its failure: enough for a message and its context. */
    TOOL_EXCERPT_BYTES_MAX = 4096,
    /* JSON makes up to six bytes of one, and there are a few more fields. */
    TOOL_FIELDS_BYTES_MAX = 6 * TOOL_EXCERPT_BYTES_MAX + 1024,
    /* As deep as the input of a run may be; deeper JSON is an attack on somebody's recursion. */
    TOOL_ANSWER_DEPTH_MAX = 512,
};

/* The names of failures, as guests see them in error.name. Those of HTTP and of programs carry
 * fields of their own. */
#define TOOL_ERROR_HTTP "HttpError"       /* the server answered with a status that is not 2xx */
#define TOOL_ERROR_EXEC "ExecError"       /* the program did not start, or ended badly */
#define TOOL_ERROR_NETWORK "NetworkError" /* there was no answer */
#define TOOL_ERROR_ANSWER "AnswerError"   /* the answer is not JSON, or too large */
#define TOOL_ERROR_TIMEOUT "TimeoutError" /* the deadline passed */
#define TOOL_ERROR_ABORT "AbortError"     /* cancelled */

struct tool_failure {
    char name[64];
    char message[512]; /* one sentence: UTF-8 without control characters */
    char detail[512];  /* for the log of the operator only: may name addresses; often empty */
    struct buf fields; /* a JSON object with own fields for the guest's error, or empty */
};

void tool_failure_init(struct tool_failure *failure);
void tool_failure_release(struct tool_failure *failure);

/* As after tool_failure_init, with the memory kept. */
void tool_failure_clear(struct tool_failure *failure);

/* Both cut what is too long, and replace what is not UTF-8 or a control character. The first
 * returns TOOL_FAILED. */
__attribute__((format(printf, 3, 4))) int tool_failure_set(
    struct tool_failure *failure, const char *name, const char *format, ...);
__attribute__((format(printf, 2, 3))) void tool_failure_detail(
    struct tool_failure *failure, const char *format, ...);

/* Is the answer one JSON value? 0, or TOOL_FAILED with the place. A byte order mark is taken off.
 */
int tool_answer_check(struct buf *answer, struct tool_failure *failure);

/* How many of the first max bytes of a text make whole characters. */
size_t tool_excerpt_len(const char *text, size_t len, size_t max);

#endif
