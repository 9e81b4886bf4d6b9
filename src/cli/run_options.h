/* run_options.h - what `vial run` was asked for on the command line. */
#ifndef VIAL_CLI_RUN_OPTIONS_H
#define VIAL_CLI_RUN_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/glob.h"
#include "cli/net_args.h"
#include "cli/run_env.h"
#include "cli/scan_args.h"
#include "policy/process.h"
#include "vial.h"

enum { REQUIRE_BYTES_MAX = 512 };

struct run_options {
    const char *file, *code, *input, *input_file, *input_cbor;
    char require[REQUIRE_BYTES_MAX];
    struct vial_module *modules; /* names and sources are ours, see run_options_release */
    size_t module_count;
    uint32_t kind;
    struct vial_limits limits;
    int json, no_jit;
    /* Files and the process; the lists are as long as the library takes them. */
    const char *file_specs[PROCESS_STRINGS_MAX], *outs[GLOBS_MAX];
    const char *env[PROCESS_STRINGS_MAX], *args[PROCESS_STRINGS_MAX];
    size_t file_specs_count, outs_count, env_count, args_count;
    const char *cwd, *stdin_file, *out_dir;
    int force, files_mode;
    int out_fd; /* of out_dir, or of where outs go without it */
    const char *language;
    struct run_env env_options;
    struct scan_args scan;
    struct net_args net;
};

/* Reads the arguments. 0, or an exit code; -1 when only help was asked for. */
int run_options_parse(struct run_options *options, int argc, char **argv);

void run_options_help(void);

/* The library would find these as well, but with an engine running. 0, or an exit code. */
int run_options_check(const struct run_options *options, const struct vial_request *request);

/* The language that was asked for, or -1 when there is no such. */
int run_options_language(const struct run_options *options);

/* Does this name mean standard input? */
int run_options_is_stdin(const char *file);

void run_options_release(struct run_options *options);

#endif
