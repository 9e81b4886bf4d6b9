/* catalog.h - environments from the outside: documents with all their checks, and the store.
 *
 * The rules of documents, the names of modules and the schemas of tools are judged by parts of vial
 * that do not know each other; this is where they meet. Whatever creates or reads environments
 * comes by here, so no document that breaks a rule gets into the store. */
#ifndef VIAL_HOST_CATALOG_H
#define VIAL_HOST_CATALOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "policy/document.h"
#include "store/store.h"
#include "vial.h"

/* document_parse with all checks. */
VIAL_NODISCARD int catalog_parse(const char *json, size_t len, struct document **ret,
    struct buf *report, struct vial_error *err);

/* Checks a document and stores it, as a new environment or as a new version of the one that it
 * names. *ret has its name, version and size. When the document breaks rules, report has them as
 * document_parse leaves them, and nothing has changed; in all other cases report is "[]". */
VIAL_NODISCARD int catalog_create(struct store *store, const char *json, size_t len,
    struct store_version *ret, struct buf *report, struct vial_error *err);
VIAL_NODISCARD int catalog_update(struct store *store, const char *json, size_t len,
    struct store_version *ret, struct buf *report, struct vial_error *err);

/* A stored environment, parsed. Each of ret_version and ret_json may be NULL; the document is freed
 * by document_free and the text by free. A document that was stored by another version of vial and
 * breaks a rule of this one is refused. */
VIAL_NODISCARD int catalog_get(struct store *store, const char *name, uint32_t version,
    struct document **ret, struct store_version *ret_version, char **ret_json,
    struct vial_error *err);

/* The document of an environment that comes with vial, which is there unless somebody stores one of
 * the same name; NULL when there is none. It has one version. */
const char *catalog_shipped(const char *name, uint32_t version);

#endif
