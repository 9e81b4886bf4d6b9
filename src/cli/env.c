/* env.c - `vial env`: finds the command and calls it; what a command line may say. */
#include "cli/env.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* Options that not every command takes. */
enum { TAKES_JSON = 1, TAKES_FORCE = 2, TAKES_LANG = 4 };

struct env_command {
    const char *name;
    const char *words; /* as the usage shows them */
    size_t words_count;
    unsigned takes;
    int (*run)(const struct env_options *o);
    const char *help;
};

static const struct env_command COMMANDS[] = {
    {"create", "FILE", 1, 0, env_create, "store a new environment; prints NAME@VERSION"},
    {"update", "FILE", 1, 0, env_update, "store a new version of one that is there"},
    {"list", "[--json]", 0, TAKES_JSON, env_list, "all environments"},
    {"show", "NAME[@V] [--json]", 1, TAKES_JSON, env_show,
        "what is in one; with --json the document as it was stored"},
    {"versions", "NAME [--json]", 1, TAKES_JSON, env_versions, "its versions, the newest first"},
    {"delete", "NAME[@V] [--force]", 1, TAKES_FORCE, env_delete,
        "delete it or one version; --force also when it is in use"},
    {"types", "NAME[@V] [--lang ts|python]", 1, TAKES_LANG, env_types,
        "its tools as types, for the prompt of a model"},
    {"search", "NAME[@V] QUERY", 2, 0, env_search, "tools that have to do with something"},
    {"describe", "NAME[@V] TOOL [--lang ts|python]", 2, TAKES_LANG, env_describe,
        "all that is known of one tool"},
    {"test", "NAME[@V]", 1, 0, env_test, "start it once; says what its prefix takes"},
    {"schema", "", 0, 0, env_schema, "the JSON Schema of documents"},
};

enum { COMMANDS_COUNT = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

static void print_help(void)
{
    char words[64];
    size_t i;

    (void)printf("usage: vial env COMMAND [OPTION]...\n\n"
                 "Keeps environments: named, versioned descriptions of what programs run in. FILE "
                 "is a JSON\n"
                 "document, - for stdin; docs/environments.md has its keys.\n\n");
    for (i = 0; i < COMMANDS_COUNT; i++) {
        (void)snprintf(words, sizeof(words), "%s %s", COMMANDS[i].name, COMMANDS[i].words);
        (void)printf("  %-41s %s\n", words, COMMANDS[i].help);
    }
    (void)printf(
        "\n"
        "  --data-dir DIR                            where they are kept; else $VIAL_DATA_DIR;\n"
        "                                            else $XDG_DATA_HOME/vial or\n"
        "                                            ~/.local/share/vial, and /var/lib/vial for\n"
        "                                            root\n\n"
        "Exit codes: 0 done, 1 there is no such environment, or there is one already, or it is in\n"
        "use, 2 usage, 3 the document breaks rules (each is listed as path: message), 125 the "
        "store\n"
        "failed.\n");
}

/* Takes one option; 0, or an exit code. */
static int take_option(struct env_options *o, struct cli_args *a)
{
    static const char *const known[] = {
        "--data-dir", "--json", "--force", "--lang", "--help", NULL};
    const char **value = strcmp(a->option, "--data-dir") == 0 ? &o->data_dir
                         : strcmp(a->option, "--lang") == 0   ? &o->lang
                                                              : NULL;
    int *flag = strcmp(a->option, "--json") == 0    ? &o->json
                : strcmp(a->option, "--force") == 0 ? &o->force
                                                    : NULL;

    if (flag != NULL) {
        *flag = 1;
        return cli_args_plain(a, "env");
    }
    if (value == NULL) {
        return cli_unknown_option("env", a->option, known);
    }
    if (*value != NULL) {
        return cli_fail(EXIT_USAGE, "%s was given twice", a->option);
    }
    *value = cli_args_value(a, "env");
    return *value != NULL ? 0 : EXIT_USAGE;
}

/* 0, or an exit code; -1 when only help was asked for. */
static int parse(struct env_options *o, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option != NULL && (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0)) {
            print_help();
            return -1;
        }
        if (a.option != NULL) {
            code = take_option(o, &a);
        } else if (o->words_count <= ENV_WORDS_MAX) {
            o->words[o->words_count++] = a.word;
        } else {
            code = cli_fail(EXIT_USAGE, "vial env takes no \"%s\" here", a.word);
        }
    }
    return code;
}

static int check_options(const struct env_command *command, const struct env_options *o)
{
    const struct {
        int given;
        unsigned bit;
        const char *name;
    } options[] = {{o->json, TAKES_JSON, "--json"}, {o->force, TAKES_FORCE, "--force"},
        {o->lang != NULL, TAKES_LANG, "--lang"}};
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (options[i].given && (command->takes & options[i].bit) == 0) {
            return cli_fail(EXIT_USAGE, "vial env %s takes no %s", command->name, options[i].name);
        }
    }
    if (o->words_count != command->words_count + 1) {
        return cli_fail(EXIT_USAGE, "usage: vial env %s%s%s", command->name,
            command->words[0] != '\0' ? " " : "", command->words);
    }
    return 0;
}

int cmd_env(int argc, char **argv)
{
    struct env_options o = {.words_count = 0};
    int code = parse(&o, argc, argv);
    size_t i;

    if (code != 0) {
        return code < 0 ? EXIT_FINE : code;
    }
    if (o.words_count == 0) {
        return cli_fail(EXIT_USAGE, "vial env needs a command; `vial env --help` lists them");
    }
    for (i = 0; i < COMMANDS_COUNT; i++) {
        if (strcmp(o.words[0], COMMANDS[i].name) == 0) {
            code = check_options(&COMMANDS[i], &o);
            code = code != 0 ? code : COMMANDS[i].run(&o);
            return fflush(stdout) == 0 || code != 0
                       ? code
                       : cli_fail(EXIT_OUR_FAILURE, "cannot write the answer: %s",
                             strerrordesc_np(errno));
        }
    }
    return cli_fail(
        EXIT_USAGE, "there is no command \"env %s\"; `vial env --help` lists them", o.words[0]);
}
