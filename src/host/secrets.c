/* secrets.c - see secrets.h. */
#include "host/secrets.h"

#include <string.h>

#include "base/error.h"
#include "base/secret_name.h"
#include "host/engine.h"

_Static_assert(VIAL_SECRET_BYTES_MAX == SECRET_VALUE_BYTES_MAX, "what a secret may have");

int secrets_lookup(void *user, const char *name, struct buf *ret, struct vial_error *err)
{
    const struct vial_engine *e = user;
    const char *fault = secret_name_fault(name, strlen(name));
    struct vial_error why = {.code = 0};
    size_t len = 0, before = ret->len;
    int r;

    if (fault != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "the name of a secret %s", fault);
    }
    if (e->on_secret == NULL) {
        return vial__fail(
            err, VIAL_E_INVALID, "there is no secret %s: the host has given none", name);
    }
    r = buf_reserve(ret, VIAL_SECRET_BYTES_MAX, err);
    if (r < 0) {
        return r;
    }
    r = e->on_secret(name, ret->data + before, &len, &why, e->secret_user);
    if (r >= 0 && len > 0 && len <= VIAL_SECRET_BYTES_MAX) {
        ret->len += len;
        ret->data[ret->len] = '\0';
        return VIAL_OK;
    }
    explicit_bzero(ret->data + before, VIAL_SECRET_BYTES_MAX);
    if (r >= 0) {
        return vial__fail(err, VIAL_E_INVALID, "the secret %s has %zu bytes; it may have 1 to %d",
            name, len, VIAL_SECRET_BYTES_MAX);
    }
    why.text[sizeof(why.text) - 1] = '\0';
    (void)vial__fail(err, r, "%s", why.text[0] != '\0' ? why.text : "the host gave no secret");
    if (err != NULL) {
        err->sys = why.sys;
    }
    return r;
}
