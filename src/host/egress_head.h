/* egress_head.h - the head of an answer: its lines as they come, and what a program is told of
 * them. For the inside of egress only. */
#ifndef VIAL_HOST_EGRESS_HEAD_H
#define VIAL_HOST_EGRESS_HEAD_H

#include "host/egress_exchange.h"
#include "wire/fetch.h"

/* Takes a line with its line end. 0, or -1 with x->stop. */
int egress_head_line(struct egress_exchange *x, const char *line, size_t len);

/* Writes the head as wire/fetch.h has it; negative when it is too long. */
VIAL_NODISCARD int egress_head_write(struct egress_exchange *x, struct buf *json);

#endif
