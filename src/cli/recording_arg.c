/* recording_arg.c - see recording_arg.h.
 *
 * An id of a run could be the name of a file. What is there as a file is meant as one, so that a
 * recording that was downloaded under the name of its run is not looked for elsewhere. */
#include "cli/recording_arg.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/id.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "host/recording.h"
#include "store/run_store.h"

static int load_stored(const char *data_dir, const char *id, char **ret, size_t *ret_len)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct run_store *store = NULL;
    struct vial_error err;
    int r, code = env_data_dir(data_dir, directory, sizeof(directory));

    if (code != 0) {
        return code;
    }
    r = run_store_open_there(directory, &store, &err);
    if (r < 0) {
        return err.sys == ENOENT
                   ? cli_fail(EXIT_REFUSED, "there is no file %s, and %s; --data-dir says where",
                         id, err.text)
                   : env_fail(&err);
    }
    r = run_store_recording(store, id, ret, ret_len, &err);
    run_store_free(store);
    if (r == VIAL_OK) {
        return 0;
    }
    switch (err.sys) {
    case ENOENT:
        return cli_fail(EXIT_REFUSED,
            "there is no run %s in %s, nor a file of that name; --data-dir says where runs are", id,
            directory);
    case ENODATA:
        return cli_fail(EXIT_REFUSED,
            "%s was not recorded: a request to run needs \"record\": true for that", id);
    case ESTALE:
        return cli_fail(EXIT_REFUSED, "%s cannot be repeated: %s", id, err.text);
    default:
        return cli_fail_library(&err);
    }
}

int recording_arg_load(const char *data_dir, const char *source, char what[RECORDING_ARG_BYTES],
    char **ret, size_t *ret_len)
{
    int looks_like_id = strncmp(source, RUN_PREFIX, strlen(RUN_PREFIX)) == 0;
    struct stat st;

    if (looks_like_id && strchr(source, '/') == NULL && stat(source, &st) < 0) {
        if (!id_is_valid(RUN_PREFIX, source, strlen(source))) {
            return cli_fail(EXIT_USAGE, "\"%s\" is neither a file nor the id of a run", source);
        }
        (void)snprintf(what, RECORDING_ARG_BYTES, "the recording of %s", source);
        return load_stored(data_dir, source, ret, ret_len);
    }
    (void)snprintf(what, RECORDING_ARG_BYTES, "%s",
        strcmp(source, "-") == 0 ? "what came from standard input" : source);
    return cli_read_file(source, RECORDING_BYTES_MAX, "a recording", ret, ret_len);
}
