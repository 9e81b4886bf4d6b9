/* schemas.h - the OpenAPI document, and the schemas of request bodies that are taken from it. */
#ifndef VIAL_HTTP_SCHEMAS_H
#define VIAL_HTTP_SCHEMAS_H

#include <stddef.h>

#include "base/buf.h"
#include "schema/schema.h"
#include "vial.h"

enum { SCHEMAS_MAX = 32 };

struct schemas {
    struct {
        const char *name; /* of a route's body; borrowed */
        struct schema *schema;
    } rows[SCHEMAS_MAX];
    size_t count;
};

/* The document itself; share/openapi.json, put in by the build. */
extern const char OPENAPI[];

/* Compiles the schemas of all bodies that the routes name. */
VIAL_NODISCARD int schemas_init(struct schemas *schemas, struct vial_error *err);
void schemas_release(struct schemas *schemas);

/* As schema_check; name is one of a route. */
VIAL_NODISCARD int schemas_check(const struct schemas *schemas, const char *name, const char *json,
    size_t len, struct buf *report, struct vial_error *err);

#endif
