/* secret.c - `vial secret`: finds the command and calls it; what a command line may say.
 *
 * Nothing of the command line is shown in a message unless it is known to be a name or an option of
 * ours: whoever types a value where none belongs should not find it in a log as well. */
#include "cli/secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "cli/cli.h"

/* Options that not every command takes. */
enum { TAKES_JSON = 1, TAKES_SOURCE = 2, TAKES_NEW_KEY = 4 };

struct secret_command {
    const char *name;
    const char *words; /* as the usage shows them */
    size_t words_count;
    unsigned takes;
    int (*run)(const struct secret_args *o);
    const char *help;
};

static const struct secret_command COMMANDS[] = {
    {"set", "NAME [--file FILE | --env VAR]", 1, TAKES_SOURCE, secret_do_set,
        "keep a value, from stdin if not said otherwise"},
    {"list", "[--json]", 0, TAKES_JSON, secret_do_list, "names, times and sizes; never values"},
    {"delete", "NAME", 1, 0, secret_do_delete, "forget one"},
    {"check", "", 0, 0, secret_do_check, "is the key right, and is every record whole?"},
    {"rotate", "[--new-key-file FILE]", 0, TAKES_NEW_KEY, secret_do_rotate,
        "encrypt all with a new key"},
};

enum { COMMANDS_COUNT = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

static void print_help(void)
{
    char words[64];
    size_t i;

    (void)printf(
        "usage: vial secret COMMAND [OPTION]...\n\n"
        "Keeps values that programs use without seeing them, encrypted. A value comes from stdin,\n"
        "a file or a variable, never from the command line, which others can read and shells\n"
        "write down; at a terminal it is asked for twice and not shown. One newline at its end\n"
        "is left out. NAME has letters, digits and _, a value up to 65536 bytes.\n\n");
    for (i = 0; i < COMMANDS_COUNT; i++) {
        (void)snprintf(words, sizeof(words), "%s %s", COMMANDS[i].name, COMMANDS[i].words);
        (void)printf("  %-38s %s\n", words, COMMANDS[i].help);
    }
    (void)printf(
        "\n"
        "  --data-dir DIR                         where they are kept, as for `vial env`\n"
        "  --key-file FILE                        the key: 32 bytes in a file that only we can\n"
        "                                         read; else $VIAL_SECRET_KEY_FILE; else vial.key\n"
        "                                         in $CREDENTIALS_DIRECTORY; else secret.key in\n"
        "                                         the data directory, made when it is needed\n\n"
        "Exit codes: 0 done, 1 there is no such secret, or check found a bad one, 2 usage, 125\n"
        "the store or its key failed, 130 interrupted. docs/secrets.md tells more.\n");
}

/* Takes one option; 0, or an exit code. */
static int take_option(struct secret_args *o, struct cli_args *a)
{
    const struct {
        const char *name;
        const char **value;
    } options[] = {{"--data-dir", &o->data_dir}, {"--key-file", &o->key_file},
        {"--new-key-file", &o->new_key_file}, {"--file", &o->file}, {"--env", &o->env}};
    size_t i;

    if (strcmp(a->option, "--json") == 0) {
        o->json = 1;
        return cli_args_plain(a, "secret");
    }
    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strcmp(a->option, options[i].name) == 0) {
            if (*options[i].value != NULL) {
                return cli_fail(EXIT_USAGE, "%s was given twice", options[i].name);
            }
            *options[i].value = cli_args_value(a, "secret");
            return *options[i].value != NULL ? 0 : EXIT_USAGE;
        }
    }
    return cli_fail(EXIT_USAGE, "there is no such option; see `vial secret --help`");
}

/* 0, or an exit code; -1 when only help was asked for. */
static int parse(struct secret_args *o, int argc, char **argv)
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
        } else if (o->words_count <= SECRET_WORDS_MAX) {
            o->words[o->words_count++] = a.word;
        } else {
            code = cli_fail(EXIT_USAGE,
                "a value is never taken from the command line, where others can read it: give it "
                "on stdin, or with --file or --env");
        }
    }
    return code;
}

static int check_args(const struct secret_command *command, const struct secret_args *o)
{
    const struct {
        int given;
        unsigned bit;
        const char *name;
    } options[] = {{o->json, TAKES_JSON, "--json"}, {o->file != NULL, TAKES_SOURCE, "--file"},
        {o->env != NULL, TAKES_SOURCE, "--env"},
        {o->new_key_file != NULL, TAKES_NEW_KEY, "--new-key-file"}};
    size_t i;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (options[i].given && (command->takes & options[i].bit) == 0) {
            return cli_fail(
                EXIT_USAGE, "vial secret %s takes no %s", command->name, options[i].name);
        }
    }
    if (o->words_count != command->words_count + 1) {
        return cli_fail(EXIT_USAGE, "usage: vial secret %s%s%s", command->name,
            command->words[0] != '\0' ? " " : "", command->words);
    }
    if (o->file != NULL && o->env != NULL) {
        return cli_fail(EXIT_USAGE, "a value comes from --file or --env, not from both");
    }
    if (o->words_count > 1 && secret_name_fault(o->words[1], strlen(o->words[1])) != NULL) {
        return cli_fail(EXIT_USAGE, "the name of a secret %s",
            secret_name_fault(o->words[1], strlen(o->words[1])));
    }
    return 0;
}

int cmd_secret(int argc, char **argv)
{
    struct secret_args o = {.words_count = 0};
    int code = parse(&o, argc, argv);
    size_t i;

    if (code != 0) {
        return code < 0 ? EXIT_FINE : code;
    }
    if (o.words_count == 0) {
        return cli_fail(EXIT_USAGE, "vial secret needs a command; `vial secret --help` lists them");
    }
    /* No core of this process is written, and no debugger of the same user gets into it. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    for (i = 0; i < COMMANDS_COUNT; i++) {
        if (strcmp(o.words[0], COMMANDS[i].name) == 0) {
            code = check_args(&COMMANDS[i], &o);
            code = code != 0 ? code : COMMANDS[i].run(&o);
            return fflush(stdout) == 0 || code != 0
                       ? code
                       : cli_fail(EXIT_OUR_FAILURE, "cannot write the answer: %s",
                             strerrordesc_np(errno));
        }
    }
    return cli_fail(EXIT_USAGE, "there is no such command; `vial secret --help` lists them");
}
