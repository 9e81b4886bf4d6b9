/* environments.h - what other handlers share with those of environments. */
#ifndef VIAL_HTTP_ENVIRONMENTS_H
#define VIAL_HTTP_ENVIRONMENTS_H

#include "http/exchange.h"
#include "policy/document.h"
#include "schema/stubs.h"
#include "store/store.h"

/* A stored environment, parsed; each of the last two may be NULL. 0, or -1 with an answer. */
int environments_load(struct exchange *x, const char *ref, struct document **ret_doc,
    struct store_version *ret_version, char **ret_json);

/* The tools of it that programs may call; the caller frees the array. 0, or -1 without memory. */
int environments_stubs(const struct document *doc, struct stub_tool **ret, size_t *ret_count);

#endif
