/* secret_source.c - see secret_source.h. */
#include "cli/secret_source.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/env.h"

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

int secret_source_key(
    const char *key_file, char path[SECRET_PATH_BYTES_MAX], struct secret_options *ret)
{
    const char *set = getenv("VIAL_SECRET_KEY_FILE");
    const char *credentials = getenv("CREDENTIALS_DIRECTORY");
    int n;

    ret->key_file = key_file != NULL ? key_file : set != NULL && set[0] != '\0' ? set : NULL;
    ret->credential = NULL;
    if (ret->key_file != NULL || credentials == NULL || credentials[0] != '/') {
        return 0;
    }
    n = snprintf(path, SECRET_PATH_BYTES_MAX, "%s/vial.key", credentials);
    if (n <= 0 || n >= SECRET_PATH_BYTES_MAX) {
        return cli_fail(EXIT_USAGE, "$CREDENTIALS_DIRECTORY is too long");
    }
    /* A service may have credentials for other things only. One that is there and cannot be read is
     * still meant: another key in its place would be a surprise. */
    if (access(path, F_OK) == 0 || errno != ENOENT) {
        ret->credential = path;
    }
    return 0;
}

static int open_store(struct secret_source *source, struct vial_error *err)
{
    char directory[ENV_PATH_BYTES_MAX], path[SECRET_PATH_BYTES_MAX];
    struct secret_options options = {.directory = directory};

    if (env_data_dir(source->data_dir, directory, sizeof(directory)) != 0 ||
        secret_source_key(NULL, path, &options) != 0) {
        return vial__fail(err, VIAL_E_SYS, "there is no store of secrets");
    }
    return secret_open(&options, &source->store, err);
}

static int get(const char *name, char *bytes, size_t *ret_len, struct vial_error *err, void *user)
{
    struct secret_source *source = user;
    struct secret_value value = {.len = 0};
    int r = VIAL_OK;

    (void)pthread_mutex_lock(&opening);
    if (source->store == NULL) {
        r = open_store(source, err);
    }
    (void)pthread_mutex_unlock(&opening);
    r = r < 0 ? r : secret_get(source->store, name, &value, err);
    if (r == VIAL_OK) {
        assert(value.len <= VIAL_SECRET_BYTES_MAX);
        memcpy(bytes, value.bytes, value.len);
        *ret_len = value.len;
    }
    secret_value_release(&value);
    return r;
}

void secret_source_offer(struct secret_source *source, struct vial_engine_options *options)
{
    options->on_secret = get;
    options->secret_user = source;
}

void secret_source_close(struct secret_source *source)
{
    secret_free(source->store);
    source->store = NULL;
}
