/* envs.h - environments that are ready to be run in: each version is made once and kept while it is
 * used. From any thread. */
#ifndef VIAL_HTTP_ENVS_H
#define VIAL_HTTP_ENVS_H

#include <stddef.h>
#include <stdint.h>

#include "policy/document.h"
#include "store/store.h"
#include "vial.h"

struct server;
struct envs;

struct env_entry {
    struct env_entry *next;
    char name[STORE_NAME_BYTES_MAX + 1];
    uint32_t version;
    struct vial_env *env;
    struct document *document;
    struct store_use *use; /* NULL when nobody has used it for a while */
    uint32_t refs;
    uint64_t used_us;
    int is_dropped; /* freed when its last use ends */
};

VIAL_NODISCARD int envs_new(struct server *server, struct envs **ret, struct vial_error *err);
void envs_free(struct envs *envs);

/* The environment that "name" or "name@3" means, for use until envs_release. May block. */
VIAL_NODISCARD int envs_acquire(
    struct server *server, const char *ref, struct env_entry **ret, struct vial_error *err);
void envs_release(struct server *server, struct env_entry *entry);

/* Lets go of this name and version (0: all of them), before it is deleted. name NULL: only of the
 * marks "in use" of those that were not used lately. */
void envs_drop(struct server *server, const char *name, uint32_t version);

#endif
