/* run_spec.h - what a client asks to be run, read from the JSON of its request.
 *
 * The body has passed its schema when it comes here; what a schema cannot say (base64, names of
 * files, ranges of limits) is checked here and by the library. The spec owns the body and
 * everything that its request points to. */
#ifndef VIAL_HTTP_RUN_SPEC_H
#define VIAL_HTTP_RUN_SPEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "schema/tree.h"
#include "vial.h"

enum {
    SPEC_AGENT_BYTES_MAX = 128,
    SPEC_TOOLS_MAX = 256, /* declared by one request; larger sets belong into an environment */
    SPEC_URL_BYTES_MAX = 2048,
};

struct spec_block;

struct run_spec {
    struct vial_request request;
    struct vial_limits limits;
    struct vial_tool *tools; /* declared by the client, who answers them; call is not set */
    size_t tools_count;
    char *environment; /* "name" or "name@3", or NULL */
    char *agent;       /* what the client calls itself, or NULL */
    char *callback_url, *callback_secret;
    int detach, stream, record;
    char *body; /* owned; the rest points into it */
    size_t body_len;
    struct tree tree;
    struct spec_block *blocks; /* owned: copies */
};

/* Which members are about what: a request to run, to make a session, to evaluate in one. */
enum spec_kind { SPEC_RUN, SPEC_SESSION, SPEC_EVAL };

/* Takes the body. VIAL_E_INVALID with the path of what is wrong. On failure, too, the caller calls
 * run_spec_release. */
VIAL_NODISCARD int run_spec_read(
    struct run_spec *spec, char *body, size_t len, struct vial_error *err);
void run_spec_release(struct run_spec *spec);

/* Adds a file that came beside the JSON; takes bytes. */
VIAL_NODISCARD int run_spec_add_file(struct run_spec *spec, const char *name, size_t name_len,
    char *bytes, size_t len, struct vial_error *err);

/* Memory that lives as long as the spec; NULL without. */
void *run_spec_alloc(struct run_spec *spec, size_t size);

#endif
