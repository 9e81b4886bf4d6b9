/* secret_source.h - the store of secrets behind an engine: opened when a rule first wants one. */
#ifndef VIAL_CLI_SECRET_SOURCE_H
#define VIAL_CLI_SECRET_SOURCE_H

#include <pthread.h>
#include <stddef.h>

#include "store/secret.h"
#include "vial.h"

enum { SECRET_PATH_BYTES_MAX = 4096 };

/* Where the key is, in this order: the file that was given, $VIAL_SECRET_KEY_FILE, vial.key among
 * the credentials of the service manager, the store's own. Writes to path, which must live as long
 * as *ret. 0, or an exit code after a message. */
int secret_source_key(
    const char *key_file, char path[SECRET_PATH_BYTES_MAX], struct secret_options *ret);

/* Zeros are one that was not used yet; data_dir may be NULL. */
struct secret_source {
    const char *data_dir;
    struct secret_store *store;
};

/* Gives an engine its secrets; source must outlive the engine. */
void secret_source_offer(struct secret_source *source, struct vial_engine_options *options);
void secret_source_close(struct secret_source *source);

#endif
