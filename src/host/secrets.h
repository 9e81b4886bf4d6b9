/* secrets.h - the values of secrets, which the host of an engine keeps and rules of environments
 * name. Only what talks to others on behalf of a guest asks for them. */
#ifndef VIAL_HOST_SECRETS_H
#define VIAL_HOST_SECRETS_H

#include "base/buf.h"
#include "vial.h"

/* Adds the value of a secret to *ret, which the caller gives back with buf_wipe; user is the
 * engine. From any thread. VIAL_E_INVALID when there is no secret of that name, and whatever
 * on_secret says; *err never has anything of a value in it. */
VIAL_NODISCARD int secrets_lookup(
    void *user, const char *name, struct buf *ret, struct vial_error *err);

#endif
