/* catalog.c - see catalog.h. */
#include "host/catalog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/specifier.h"
#include "schema/schema.h"

extern const char ENVIRONMENT_DATA[]; /* share/environments/data.json, put in by the build */

static int check_module_name(
    const char *name, size_t len, struct buf *full, char *why, size_t why_size)
{
    const char *fault = specifier_resolve_own(name, len, full);

    if (fault != NULL) {
        (void)snprintf(why, why_size, "%s", fault);
        return -1;
    }
    return 0;
}

static int check_schema(const char *json, size_t len, char *why, size_t why_size)
{
    struct vial_error err = {.code = 0};
    struct schema *schema = NULL;
    int r = schema_compile(json, len, &schema, &err);

    schema_free(schema);
    if (r < 0) {
        (void)snprintf(why, why_size, "%s", err.text);
    }
    return r < 0 ? -1 : 0;
}

int catalog_parse(
    const char *json, size_t len, struct document **ret, struct buf *report, struct vial_error *err)
{
    static const struct document_checks checks = {
        .module_name = check_module_name, .schema = check_schema};

    return document_parse(json, len, &checks, ret, report, err);
}

/* store_create or store_update. */
typedef int (*put_fn)(struct store *store, const char *name, const char *document, size_t len,
    uint32_t *ret_version, struct vial_error *err);

static int put(put_fn put_document, struct store *store, const char *json, size_t len,
    struct store_version *ret, struct buf *report, struct vial_error *err)
{
    struct document *doc = NULL;
    uint32_t version = 0;
    int r = catalog_parse(json, len, &doc, report, err);

    if (r < 0) {
        return r;
    }
    r = put_document(store, doc->name, json, len, &version, err);
    if (r == VIAL_OK) {
        *ret = (struct store_version){.version = version, .document_bytes = len};
        (void)snprintf(ret->name, sizeof(ret->name), "%s", doc->name);
    }
    document_free(doc);
    return r;
}

int catalog_create(struct store *store, const char *json, size_t len, struct store_version *ret,
    struct buf *report, struct vial_error *err)
{
    return put(store_create, store, json, len, ret, report, err);
}

int catalog_update(struct store *store, const char *json, size_t len, struct store_version *ret,
    struct buf *report, struct vial_error *err)
{
    return put(store_update, store, json, len, ret, report, err);
}

const char *catalog_shipped(const char *name, uint32_t version)
{
    return version <= 1 && strcmp(name, "data") == 0 ? ENVIRONMENT_DATA : NULL;
}

/* What is stored, or came with vial. */
static int get_text(struct store *store, const char *name, uint32_t version,
    struct store_version *ret, char **ret_json, struct vial_error *err)
{
    int r = store_get(store, name, version, ret, ret_json, err);
    const char *shipped = r < 0 && err->sys == ENOENT ? catalog_shipped(name, version) : NULL;

    if (shipped == NULL) {
        return r;
    }
    *ret_json = strdup(shipped);
    if (*ret_json == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory for the document of an environment");
    }
    *ret = (struct store_version){.version = 1, .document_bytes = strlen(shipped)};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name);
    return VIAL_OK;
}

int catalog_get(struct store *store, const char *name, uint32_t version, struct document **ret,
    struct store_version *ret_version, char **ret_json, struct vial_error *err)
{
    struct store_version found;
    char *json = NULL;
    struct buf report;
    struct vial_error own;
    int r = get_text(store, name, version, &found, &json, err != NULL ? err : &own);

    if (r < 0) {
        return r;
    }
    buf_init(&report, DOCUMENT_REPORT_BYTES_MAX);
    r = catalog_parse(json, found.document_bytes, ret, &report, err);
    buf_release(&report);
    if (r < 0) {
        free(json);
        return vial__wrap(err, r, "the stored environment %s@%u", found.name, found.version);
    }
    if (ret_version != NULL) {
        *ret_version = found;
    }
    if (ret_json != NULL) {
        *ret_json = json;
    } else {
        free(json);
    }
    return VIAL_OK;
}
