/* compat.h - the API of JSCodeSandbox, for people who come from it. */
#ifndef VIAL_HTTP_COMPAT_H
#define VIAL_HTTP_COMPAT_H

#include "http/exchange.h"
#include "vial.h"

struct server;
struct compat;

VIAL_NODISCARD int compat_new(struct server *server, struct compat **ret, struct vial_error *err);
void compat_free(struct compat *compat);

#endif
