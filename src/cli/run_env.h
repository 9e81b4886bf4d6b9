/* run_env.h - the options of `vial run` about environments and tools, and what they come to. */
#ifndef VIAL_CLI_RUN_ENV_H
#define VIAL_CLI_RUN_ENV_H

#include <stddef.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/permission_args.h"
#include "cli/secret_source.h"
#include "store/store.h"
#include "vial.h"

enum { RUN_ENV_SETS_MAX = 100 };

/* What was given, and from run_env_open on what it is. */
struct run_env {
    const char *name, *data_dir, *tools_file;
    const char *sets[RUN_ENV_SETS_MAX]; /* NAME=JSON */
    size_t sets_count;
    int record_calls, entry_is_main;
    struct permission_args permissions;
    const char *record; /* the file that the run is recorded in, or NULL */
    struct buf globals;
    int for_python; /* programs are in Python, as far as the caller knows */
    char *document;
    size_t document_len;
    struct store_use *use;
    struct vial_env *env;
    struct secret_source secrets;
};

/* The options, for help and for suggestions. */
extern const char RUN_ENV_HELP[];

/* Takes an option: 1 when it was none of these, else 0 or an exit code. */
int run_env_take(struct run_env *e, struct cli_args *a);

/* Reads what is to be read, before an engine is started. 0, or an exit code. */
int run_env_prepare(struct run_env *e);

/* Is there an environment, and is its language Python? After run_env_prepare. */
int run_env_is_python(const struct run_env *e);

/* Does the run need an engine for environments? */
int run_env_is_wanted(const struct run_env *e);

/* Gives the engine that is to be made the secrets of the data directory. */
void run_env_offer_secrets(struct run_env *e, struct vial_engine_options *options);

/* Makes the environment and fills in what the request has of it. 0, or an exit code. */
int run_env_open(struct run_env *e, struct vial_engine *engine, struct vial_request *request);
void run_env_close(struct run_env *e);   /* before the engine is freed */
void run_env_release(struct run_env *e); /* after it is */

#endif
