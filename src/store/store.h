/* store.h - what lasts: environments and their versions, in one SQLite database in one directory.
 *
 *     store_open -> store_create, store_update, store_get, ... -> store_free
 *
 * Documents are bytes here: whoever puts one in has checked it. Many processes may use a directory
 * at the same time. Each change is one transaction that is on the disk when the call returns; a
 * process or a machine that dies leaves everything as it was before or after it.
 *
 * A version number belongs to one document for ever: it is not given out again, not even after its
 * environment was deleted and made anew. So "name@3" never means something else later.
 *
 * Failures: a thing that is not there, or is there already, is VIAL_E_INVALID with err->sys ENOENT
 * or EEXIST; one that is in use VIAL_E_BUSY; a database that is damaged, full or of a newer vial
 * VIAL_E_SYS. A store is used by one thread at a time. */
#ifndef VIAL_STORE_STORE_H
#define VIAL_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    /* Names stay after a deletion, for the sake of their numbers; a thousand deployments a year
     * make this many in a lifetime. */
    STORE_NAMES_MAX = 100000,
    /* Of one environment, kept at once: each may have 16 MiB. Old ones can be deleted. */
    STORE_VERSIONS_MAX = 1000,
    STORE_NAME_BYTES_MAX = 64,
    STORE_DOCUMENT_BYTES_MAX = 16 << 20,
};

struct store;
struct store_use;

/* One version of one environment. */
struct store_version {
    char name[STORE_NAME_BYTES_MAX + 1];
    uint32_t version;
    uint32_t versions_count; /* of that environment at that time */
    uint64_t created_us;     /* since 1970 */
    uint64_t document_bytes;
};

/* Opens the store in a directory, which is made with mode 0700 when it is missing, and so are its
 * parents. A directory that others may write to is refused: they could put
 * code of theirs into environments. */
VIAL_NODISCARD int store_open(const char *directory, struct store **ret, struct vial_error *err);
void store_free(struct store *store);

/* A new environment: there must be none of that name. */
VIAL_NODISCARD int store_create(struct store *store, const char *name, const char *document,
    size_t len, uint32_t *ret_version, struct vial_error *err);

/* A new version of one that is there. */
VIAL_NODISCARD int store_update(struct store *store, const char *name, const char *document,
    size_t len, uint32_t *ret_version, struct vial_error *err);

/* A version, or the newest when version is 0. Each of ret and ret_document may be NULL; the
 * document is ended by a NUL and belongs to the caller, who frees it. */
VIAL_NODISCARD int store_get(struct store *store, const char *name, uint32_t version,
    struct store_version *ret, char **ret_document, struct vial_error *err);

/* The newest version of each environment by name, or all versions of one from the newest on. The
 * array belongs to the caller, who frees it. */
VIAL_NODISCARD int store_list(
    struct store *store, struct store_version **ret, size_t *ret_count, struct vial_error *err);
VIAL_NODISCARD int store_versions(struct store *store, const char *name, struct store_version **ret,
    size_t *ret_count, struct vial_error *err);

/* Deletes one version, or all of them when version is 0. Refused while a store_use of what would go
 * is held anywhere, unless force is not 0; what runs then goes on with what it has. */
VIAL_NODISCARD int store_delete(
    struct store *store, const char *name, uint32_t version, int force, struct vial_error *err);

/* Marks a version, or the newest when version is 0, as in use until store_use_free, or until the
 * process has ended in whatever way. The version is there, and stays there unless somebody forces a
 * deletion. Independent of the store, which may be freed before. */
VIAL_NODISCARD int store_use(struct store *store, const char *name, uint32_t version,
    struct store_use **ret, struct vial_error *err);
uint32_t store_use_version(const struct store_use *use);
void store_use_free(struct store_use *use);

#endif
