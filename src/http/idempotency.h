/* idempotency.h - requests that come twice: the second gets the answer of the first. The store is
 * asked in a thread beside the loop. */
#ifndef VIAL_HTTP_IDEMPOTENCY_H
#define VIAL_HTTP_IDEMPOTENCY_H

#include "http/exchange.h"

struct run;

/* Remembers the name that the client gave the request, and the request. Before its body is taken
 * away. 0, or -1 with an answer. */
int idempotency_note(struct run *run, struct exchange *x, const char *name);

/* Asks what is known of it, and then begins the run or answers. Takes the reference to the run. */
void idempotency_ask(struct exchange *x, struct run *run, int is_stream);

/* Nothing was done after all. */
void idempotency_forget(struct run *run);

#endif
