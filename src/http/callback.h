/* callback.h - results that are sent to an address that the client gave: signed, and tried three
 * times. */
#ifndef VIAL_HTTP_CALLBACK_H
#define VIAL_HTTP_CALLBACK_H

#include "vial.h"

struct server;
struct run;
struct callbacks;

VIAL_NODISCARD int callbacks_new(
    struct server *server, struct callbacks **ret, struct vial_error *err);

/* What was not sent by now is not sent. */
void callbacks_free(struct callbacks *callbacks);

/* What is wrong with a URL for callbacks, as a sentence, or NULL. */
const char *callback_fault(const struct server *server, const char *url);

/* Sends the result of a run that has ended. In the loop. */
void callback_send(struct run *run, const char *url, const char *secret);

#endif
