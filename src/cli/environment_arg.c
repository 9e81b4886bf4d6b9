/* environment_arg.c - see environment_arg.h. */
#include "cli/environment_arg.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "host/catalog.h"
#include "policy/document_name.h"

int environment_arg_load(const char *data_dir, const char *name, char **ret_document,
    size_t *ret_len, struct store_use **ret_use)
{
    struct env_options o = {.data_dir = data_dir};
    char base[DOCUMENT_NAME_BYTES_MAX + 1];
    struct document *parsed = NULL;
    struct store *store = NULL;
    const char *shipped;
    char *document = NULL;
    struct vial_error err;
    uint32_t version = 0;
    int r, code;

    if (environment_ref_parse(name, base, &version, &err) < 0) {
        return cli_fail_library(&err);
    }
    code = env_open(&o, &store);
    if (code != 0) {
        return code;
    }
    r = store_use(store, base, version, ret_use, &err);
    shipped = r < 0 && err.sys == ENOENT ? catalog_shipped(base, version) : NULL;
    if (shipped != NULL) {
        document = strdup(shipped);
        r = document != NULL ? VIAL_OK : vial__fail(&err, VIAL_E_NOMEM, "no memory");
    } else if (r == VIAL_OK) {
        r = catalog_get(store, base, store_use_version(*ret_use), &parsed, NULL, &document, &err);
        document_free(parsed);
        if (r < 0) {
            store_use_free(*ret_use);
            *ret_use = NULL; /* the caller frees what it has */
        }
    }
    store_free(store);
    if (r < 0 || document == NULL) {
        return env_fail(&err);
    }
    *ret_document = document;
    *ret_len = strlen(document);
    return 0;
}
