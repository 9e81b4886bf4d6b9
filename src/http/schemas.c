/* schemas.c - see schemas.h. */
#include "http/schemas.h"

#include <string.h>

#include "base/error.h"
#include "http/router.h"
#include "schema/tree.h"

enum { TEXT_BYTES_MAX = SCHEMA_BYTES_MAX };

/* One schema of the document, with all others where its references look for them. */
static int compile(const struct tree *t, uint32_t components, const char *name, struct schema **ret,
    struct vial_error *err)
{
    const struct tree_value *v = &t->values[components];
    struct buf text;
    int r;

    buf_init(&text, TEXT_BYTES_MAX);
    r = buf_add_text(&text, "{\"$ref\":\"#/components/schemas/", err);
    r = r < 0 ? r : buf_add_text(&text, name, err);
    r = r < 0 ? r : buf_add_text(&text, "\",\"components\":", err);
    r = r < 0 ? r : buf_add(&text, v->text, v->len, err);
    r = r < 0 ? r : buf_add_text(&text, "}", err);
    r = r < 0 ? r : schema_compile(text.data, text.len, ret, err);
    buf_release(&text);
    return r < 0 ? vial__wrap(err, r, "the schema %s of share/openapi.json", name) : r;
}

static int is_there(const struct schemas *schemas, const char *name)
{
    size_t i;

    for (i = 0; i < schemas->count; i++) {
        if (strcmp(schemas->rows[i].name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

int schemas_init(struct schemas *schemas, struct vial_error *err)
{
    const struct route *route;
    struct tree t;
    uint32_t components;
    int r = tree_read(&t, OPENAPI, strlen(OPENAPI), err);

    if (r < 0) {
        return vial__wrap(err, r, "share/openapi.json");
    }
    components = tree_member(&t, 0, "components");
    for (route = ROUTES; route->method != NULL && r == VIAL_OK; route++) {
        if (route->body == NULL || is_there(schemas, route->body)) {
            continue;
        }
        if (schemas->count == SCHEMAS_MAX || components == 0) {
            r = vial__fail(
                err, VIAL_E_INVALID, "share/openapi.json has no room for %s", route->body);
            break;
        }
        schemas->rows[schemas->count].name = route->body;
        r = compile(&t, components, route->body, &schemas->rows[schemas->count].schema, err);
        schemas->count += r == VIAL_OK;
    }
    tree_release(&t);
    return r;
}

void schemas_release(struct schemas *schemas)
{
    size_t i;

    for (i = 0; i < schemas->count; i++) {
        schema_free(schemas->rows[i].schema);
    }
    schemas->count = 0;
}

int schemas_check(const struct schemas *schemas, const char *name, const char *json, size_t len,
    struct buf *report, struct vial_error *err)
{
    size_t i;

    for (i = 0; i < schemas->count; i++) {
        if (strcmp(schemas->rows[i].name, name) == 0) {
            return schema_check(schemas->rows[i].schema, json, len, report, err);
        }
    }
    return vial__fail(err, VIAL_E_SYS, "there is no schema %s", name);
}
