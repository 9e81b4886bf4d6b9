/* run_options.c - see run_options.h. */
#include "cli/run_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/limit_args.h"
#include "code/specifier.h"
#include "jail/layer.h"

enum {
    /* As the library has them. */
    SOURCE_BYTES_MAX = 64 * 1024 * 1024,
    INPUT_DEPTH_MAX = 512,
    NAME_BYTES_MAX = 1024,
};

static const char *const KNOWN[] = {"-e", "--eval", "--input", "--input-cbor", "--input-file",
    "--json", "--no-jit", "--module", "--script", "--module-file", "--require", "--lang", "--help",
    "--wall-ms", "--cpu-ms", "--timers", "--memory-mb", "--stdout-bytes", "--stderr-bytes",
    "--value-bytes", "--disk-mb", "--file-count", "--open-files", "--file", "--out", "--out-dir",
    "--force", "--env", "--cwd", "--stdin", "--files", "--no-files", "--in", "--data-dir",
    "--tools", "--set", "--approve", "--record-calls", "--main", "--calls", "--calls-at-once",
    "--call-bytes", "--approval-ms", "--permissions", "--clock", "--seed", "--record", "--scan",
    "--rules", "--net", "--net-address", "--requests", "--requests-at-once", "--request-ms",
    "--redirects", "--request-bytes", "--response-bytes", "--decoded-bytes", NULL};

static int add_require(struct run_options *o, const char *layers)
{
    size_t used = strlen(o->require);
    int n =
        snprintf(o->require + used, sizeof(o->require) - used, "%s%s", used > 0 ? "," : "", layers);

    return n > 0 && (size_t)n < sizeof(o->require) - used
               ? 0
               : cli_fail(EXIT_USAGE, "--require takes up to %d characters", REQUIRE_BYTES_MAX - 1);
}

/* Adds to a list that a flag may be repeated for. */
static int add_word(
    const char *what, const char *word, const char **list, size_t *count, size_t max)
{
    if (word == NULL) {
        return EXIT_USAGE;
    }
    if (*count == max) {
        return cli_fail(EXIT_USAGE, "%s may be given up to %zu times", what, max);
    }
    list[(*count)++] = word;
    return 0;
}

static int take_word(struct run_options *o, const char *word, int behind_dashes)
{
    if (behind_dashes && (o->file != NULL || o->code != NULL)) {
        return add_word("an argument", word, o->args, &o->args_count, PROCESS_STRINGS_MAX);
    }
    if (o->file != NULL) {
        return cli_fail(
            EXIT_USAGE, "one program at a time: both %s and %s were given", o->file, word);
    }
    o->file = word;
    return 0;
}

/* An option about files or the process: 1 when it was none of those, else 0 or an exit code. */
static int take_process_option(struct run_options *o, struct cli_args *a)
{
    const struct {
        const char *flag, **list;
        size_t *count, max;
    } lists[] = {
        {"--file", o->file_specs, &o->file_specs_count, PROCESS_STRINGS_MAX},
        {"--out", o->outs, &o->outs_count, GLOBS_MAX},
        {"--env", o->env, &o->env_count, PROCESS_STRINGS_MAX},
        {"--net", o->net.rules, &o->net.rules_count, NET_ARGS_MAX},
        {"--net-address", o->net.addresses, &o->net.addresses_count, NET_ARGS_MAX},
    };
    const struct {
        const char *flag;
        int *word, value;
    } words[] = {
        {"--force", &o->force, 1},
        {"--files", &o->files_mode, VIAL_FILES_ON},
        {"--no-files", &o->files_mode, VIAL_FILES_OFF},
    };
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        if (strcmp(a->option, lists[i].flag) == 0) {
            return add_word(lists[i].flag, cli_args_value(a, "run"), lists[i].list, lists[i].count,
                lists[i].max);
        }
    }
    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(a->option, words[i].flag) != 0) {
            continue;
        }
        if (words[i].word == &o->files_mode && o->files_mode + words[i].value == 3) {
            return cli_fail(EXIT_USAGE, "give either --files or --no-files, not both");
        }
        *words[i].word = words[i].value;
        return cli_args_plain(a, "run");
    }
    return 1;
}

static int take_kind(struct run_options *o, struct cli_args *a)
{
    uint32_t kind = strcmp(a->option, "--module") == 0 ? VIAL_KIND_MODULE : VIAL_KIND_SCRIPT;

    if (o->kind != VIAL_KIND_AUTO && o->kind != kind) {
        return cli_fail(EXIT_USAGE, "give either --module or --script, not both");
    }
    o->kind = kind;
    return cli_args_plain(a, "run");
}

void run_options_release(struct run_options *o)
{
    for (size_t i = 0; i < o->module_count; i++) {
        free((void *)(uintptr_t)o->modules[i].name);
        free((void *)(uintptr_t)o->modules[i].source);
    }
    free(o->modules);
    scan_args_release(&o->scan);
}

/* 0, or an exit code when that is no name for a module. */
static int check_module_name(const char *name)
{
    struct buf full;
    const char *why;

    buf_init(&full, (size_t)4 * SPECIFIER_BYTES_MAX);
    why = specifier_resolve_own(name, strlen(name), &full);
    buf_release(&full);
    return why == NULL ? 0
                       : cli_fail(EXIT_USAGE, "the name of module \"%.80s\" %s",
                             utf8_valid(name, strlen(name), NULL) ? name : "", why);
}

/* NAME=FILE. The name goes up to the first equals sign: files have them, modules do not. */
static int take_module(struct run_options *o, struct cli_args *a)
{
    const char *value = cli_args_value(a, "run");
    const char *equals = value != NULL ? strchr(value, '=') : NULL;
    struct vial_module *module;
    char *name, *source = NULL;
    int code;

    if (value == NULL) {
        return EXIT_USAGE;
    }
    if (equals == NULL || equals[1] == '\0') {
        return cli_fail(EXIT_USAGE, "--module-file takes NAME=FILE, such as ./lib.js=src/lib.js");
    }
    if (o->module_count == VIAL_MODULES_MAX) {
        return cli_fail(EXIT_USAGE, "a run may have up to %d modules", VIAL_MODULES_MAX);
    }
    if (o->modules == NULL) {
        o->modules = calloc(VIAL_MODULES_MAX, sizeof(*o->modules));
    }
    name = o->modules != NULL ? strndup(value, (size_t)(equals - value)) : NULL;
    if (name == NULL) {
        return cli_fail(EXIT_OUR_FAILURE, "no memory for a module");
    }
    module = &o->modules[o->module_count++];
    module->name = name;
    code = check_module_name(name);
    if (code != 0) {
        return code;
    }
    code = cli_read_file(equals + 1, SOURCE_BYTES_MAX, "a module", &source, &module->source_len);
    module->source = source;
    return code;
}

static int take_option(struct run_options *o, struct cli_args *a)
{
    const char **value = NULL;
    int r = take_process_option(o, a);

    if (r != 1) {
        return r;
    }
    if (strcmp(a->option, "-e") == 0 || strcmp(a->option, "--eval") == 0) {
        value = &o->code;
    } else if (strcmp(a->option, "--lang") == 0) {
        value = &o->language;
    } else if (strcmp(a->option, "--input") == 0) {
        value = &o->input;
    } else if (strcmp(a->option, "--input-file") == 0) {
        value = &o->input_file;
    } else if (strcmp(a->option, "--input-cbor") == 0) {
        value = &o->input_cbor;
    } else if (strcmp(a->option, "--cwd") == 0) {
        value = &o->cwd;
    } else if (strcmp(a->option, "--stdin") == 0) {
        value = &o->stdin_file;
    } else if (strcmp(a->option, "--out-dir") == 0) {
        value = &o->out_dir;
    } else if (strcmp(a->option, "--json") == 0) {
        o->json = 1;
        return cli_args_plain(a, "run");
    } else if (strcmp(a->option, "--no-jit") == 0) {
        o->no_jit = 1;
        return cli_args_plain(a, "run");
    } else if (strcmp(a->option, "--module") == 0 || strcmp(a->option, "--script") == 0) {
        return take_kind(o, a);
    } else if (strcmp(a->option, "--module-file") == 0) {
        return take_module(o, a);
    } else if (strcmp(a->option, "--require") == 0) {
        const char *layers = cli_args_value(a, "run");

        return layers != NULL ? add_require(o, layers) : EXIT_USAGE;
    }
    if (value != NULL) {
        if (*value != NULL) {
            return cli_fail(EXIT_USAGE, "%s was given twice", a->option);
        }
        *value = cli_args_value(a, "run");
        return *value != NULL ? 0 : EXIT_USAGE;
    }
    r = run_env_take(&o->env_options, a);
    if (r != 1) {
        return r;
    }
    r = scan_args_take(&o->scan, a, "run");
    if (r != 1) {
        return r;
    }
    r = limit_args_take(&o->limits, a, "run");
    if (r != 0) {
        return r > 0 ? 0 : -r;
    }
    return cli_unknown_option("run", a->option, KNOWN);
}

/* The language that was asked for, or -1 when there is no such. */
static int language_of(const char *name)
{
    static const struct {
        const char *name;
        int language;
    } rows[] = {{"js", VIAL_LANGUAGE_JAVASCRIPT}, {"javascript", VIAL_LANGUAGE_JAVASCRIPT},
        {"ts", VIAL_LANGUAGE_TYPESCRIPT}, {"typescript", VIAL_LANGUAGE_TYPESCRIPT},
        {"py", VIAL_LANGUAGE_PYTHON}, {"python", VIAL_LANGUAGE_PYTHON}};
    size_t i;

    if (name == NULL) {
        return VIAL_LANGUAGE_AUTO;
    }
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(name, rows[i].name) == 0) {
            return rows[i].language;
        }
    }
    return -1;
}

int run_options_is_stdin(const char *file)
{
    return file != NULL && strcmp(file, "-") == 0;
}

int run_options_parse(struct run_options *o, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            code = take_word(o, a.word, a.only_words);
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            run_options_help();
            return -1;
        } else {
            code = take_option(o, &a);
        }
    }
    if (code != 0) {
        return code;
    }
    if ((o->file == NULL) == (o->code == NULL)) {
        return cli_fail(EXIT_USAGE,
            o->file == NULL ? "give a program: vial run FILE, vial run -e CODE, or vial run -"
                            : "give either a file or -e CODE, not both");
    }
    if ((o->input != NULL) + (o->input_file != NULL) + (o->input_cbor != NULL) > 1) {
        return cli_fail(EXIT_USAGE, "give one of --input, --input-file and --input-cbor");
    }
    if (language_of(o->language) < 0) {
        return cli_fail(EXIT_USAGE, "--lang takes js, ts or python, not \"%s\"", o->language);
    }
    if (run_options_is_stdin(o->file) + run_options_is_stdin(o->input_file) +
            run_options_is_stdin(o->input_cbor) + run_options_is_stdin(o->stdin_file) >
        1) {
        return cli_fail(EXIT_USAGE, "only one of program, input and --stdin can come from stdin");
    }
    if (o->scan.count > 0 && o->scan.mode == VIAL_SCAN_AUTO) {
        return cli_fail(EXIT_USAGE, "--rules says nothing without --scan");
    }
    if (o->outs_count == 0 && o->out_dir == NULL && o->force) {
        return cli_fail(EXIT_USAGE, "--force says nothing without --out or --out-dir");
    }
    return 0;
}

int run_options_language(const struct run_options *o)
{
    return language_of(o->language);
}

/* What a message calls a text: by its file when it has one. */
static const char *called(const char *file, const char *otherwise)
{
    return file != NULL && !run_options_is_stdin(file) ? file : otherwise;
}

int run_options_check(const struct run_options *o, const struct vial_request *request)
{
    struct vial_limits limits = o->limits;
    struct json_fault fault;
    struct vial_error err;
    size_t bad;

    if (vial_limits_resolve(&limits, &err) < 0 || process_check(request, &limits, &err) < 0) {
        return cli_fail_library(&err);
    }
    if (layer_require_check(o->require, &err) < 0) {
        return cli_fail_library(&err);
    }
    if (!utf8_valid(request->source, request->source_len, &bad)) {
        return cli_fail(
            EXIT_USAGE, "%s is not UTF-8 (at byte %zu)", called(o->file, "the source"), bad);
    }
    if (strlen(request->name) > NAME_BYTES_MAX ||
        !utf8_valid(request->name, strlen(request->name), NULL)) {
        return cli_fail(
            EXIT_USAGE, "the name of the source must be UTF-8 of up to %d bytes", NAME_BYTES_MAX);
    }
    if (request->input != NULL && o->input_cbor == NULL &&
        json_check(request->input, request->input_len, INPUT_DEPTH_MAX, &fault) < 0) {
        return cli_fail(EXIT_USAGE, "%s is not JSON: %s at line %u, column %u",
            called(o->input_file, "the input"), fault.why, fault.line, fault.column);
    }
    return 0;
}
