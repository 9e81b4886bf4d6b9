/* egress_ask.h - what a program asks of the network, read from the head of its call. */
#ifndef VIAL_HOST_EGRESS_ASK_H
#define VIAL_HOST_EGRESS_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    EGRESS_HEADERS_MAX = 100,       /* of a request; programs have a few */
    EGRESS_HEADER_BYTES_MAX = 8192, /* each: a large token fits */
};

enum egress_redirect { EGRESS_FOLLOW = 0, EGRESS_MANUAL = 1, EGRESS_ERROR = 2 };

struct egress_header {
    char *name;
    char *value; /* bytes as they are sent, without NUL in them */
};

struct egress_ask {
    char *url;
    int method;          /* enum net_method */
    int redirect;        /* enum egress_redirect */
    uint32_t timeout_ms; /* 0: the limit of the run */
    struct egress_header *headers;
    size_t headers_count;
};

/* 0 with *ret, which is the caller's to release; -1 with one sentence in why, and with what could
 * be read, so that it can be told. */
int egress_ask_parse(
    const char *json, size_t len, struct egress_ask *ret, char *why, size_t why_size);
void egress_ask_release(struct egress_ask *ask);

/* The value of a header that is asked for, whatever the case of its name; NULL: it is not there. */
const char *egress_ask_header(const struct egress_ask *ask, const char *name);

#endif
