/* audit.c - `vial audit`: finds the command and calls it; what a command line may say. */
#include "cli/audit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* Options that not every command takes. */
enum {
    TAKES_FILTER = 1,
    TAKES_PAGE = 2,
    TAKES_CODE = 4,
    TAKES_HEAD = 8,
    TAKES_AGE = 16,
    TAKES_JSON = 32
};

static const struct {
    const char *name;
    unsigned takes;
    int (*run)(const struct audit_args *o);
} COMMANDS[] = {
    {"list", TAKES_FILTER | TAKES_PAGE | TAKES_JSON | TAKES_CODE, audit_do_list},
    {"export", TAKES_FILTER | TAKES_CODE, audit_do_export},
    {"verify", TAKES_HEAD | TAKES_JSON, audit_do_verify},
    {"head", 0, audit_do_head},
    {"prune", TAKES_AGE, audit_do_prune},
};

static const char HELP[] =
    "usage: vial audit COMMAND [OPTION]...\n\n"
    "Shows and checks what a server and its commands have recorded: runs, calls, denials, uses "
    "and\n"
    "changes of keys. Each record has the hash of the one before it.\n\n"
    "  list [FILTER]... [--limit N] [--cursor C] [--json]\n"
    "                       newest first; 50 if not said otherwise, up to 1000\n"
    "  export [FILTER]... [--code]\n"
    "                       all of them, oldest first, as JSON lines; --code with the programs\n"
    "  verify [--head HEAD] [--json]\n"
    "                       is every record what it was? Says the first that is wrong\n"
    "  head                 the last record's number and hash, to be kept elsewhere\n"
    "  prune --older 90d [--keep N]\n"
    "                       remove what is older, and more than N; the rest stays verifiable\n\n"
    "FILTER: --key ID  --agent NAME  --run ID  --environment NAME[@VERSION]  --status STATUS\n"
    "        --kind run_start|run|call|denial|session|key|change|server|lost|retention\n"
    "        --from TIME  --until TIME, like 2026-11-18, 2026-11-18T02:30:00Z, or 2h for the last\n"
    "        two hours\n\n"
    "  --data-dir DIR       where it is kept, as for `vial env`\n\n"
    "Exit codes: 0 done, 1 verify found something wrong, or nothing was ever recorded, 2 usage,\n"
    "125 the audit cannot be read. docs/audit.md tells more.\n";

static const struct option {
    const char *name;
    size_t at; /* in struct audit_args */
    unsigned takes;
    int is_flag;
} OPTIONS[] = {
    {"--data-dir", offsetof(struct audit_args, data_dir), 0, 0},
    {"--key", offsetof(struct audit_args, key), TAKES_FILTER, 0},
    {"--agent", offsetof(struct audit_args, agent), TAKES_FILTER, 0},
    {"--run", offsetof(struct audit_args, run), TAKES_FILTER, 0},
    {"--environment", offsetof(struct audit_args, environment), TAKES_FILTER, 0},
    {"--status", offsetof(struct audit_args, status), TAKES_FILTER, 0},
    {"--kind", offsetof(struct audit_args, kind), TAKES_FILTER, 0},
    {"--from", offsetof(struct audit_args, from), TAKES_FILTER, 0},
    {"--until", offsetof(struct audit_args, until), TAKES_FILTER, 0},
    {"--limit", offsetof(struct audit_args, limit), TAKES_PAGE, 0},
    {"--cursor", offsetof(struct audit_args, cursor), TAKES_PAGE, 0},
    {"--head", offsetof(struct audit_args, head), TAKES_HEAD, 0},
    {"--older", offsetof(struct audit_args, older), TAKES_AGE, 0},
    {"--keep", offsetof(struct audit_args, keep), TAKES_AGE, 0},
    {"--json", offsetof(struct audit_args, json), TAKES_JSON, 1},
    {"--code", offsetof(struct audit_args, code), TAKES_CODE, 1},
};

enum { OPTIONS_COUNT = sizeof(OPTIONS) / sizeof(OPTIONS[0]) };

/* Takes one option and adds what a command must take for it; 0, or an exit code. */
static int take_option(
    struct audit_args *o, struct cli_args *a, unsigned *needs, const char **needs_name)
{
    const char *known[OPTIONS_COUNT + 1];
    const char **value;
    size_t i;

    for (i = 0; i < OPTIONS_COUNT; i++) {
        known[i] = OPTIONS[i].name;
        if (strcmp(a->option, OPTIONS[i].name) != 0) {
            continue;
        }
        if (OPTIONS[i].takes != 0) {
            *needs |= OPTIONS[i].takes;
            *needs_name = OPTIONS[i].name;
        }
        if (OPTIONS[i].is_flag) {
            *(int *)(void *)((char *)o + OPTIONS[i].at) = 1;
            return cli_args_plain(a, "audit");
        }
        value = (const char **)(void *)((char *)o + OPTIONS[i].at);
        if (*value != NULL) {
            return cli_fail(EXIT_USAGE, "%s was given twice", OPTIONS[i].name);
        }
        *value = cli_args_value(a, "audit");
        return *value != NULL ? 0 : EXIT_USAGE;
    }
    known[OPTIONS_COUNT] = NULL;
    return cli_unknown_option("audit", a->option, known);
}

static int run_command(const struct audit_args *o, unsigned needs, const char *needs_name)
{
    size_t i;

    for (i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(o->command, COMMANDS[i].name) != 0) {
            continue;
        }
        return (needs & ~COMMANDS[i].takes) == 0
                   ? COMMANDS[i].run(o)
                   : cli_fail(EXIT_USAGE,
                         "vial audit %s does not take all of these options, like %s", o->command,
                         needs_name);
    }
    return cli_fail(
        EXIT_USAGE, "there is no command \"audit %s\"; `vial audit --help` lists them", o->command);
}

int cmd_audit(int argc, char **argv)
{
    struct audit_args o = {.command = NULL};
    const char *needs_name = NULL;
    unsigned needs = 0;
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option != NULL && (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0)) {
            (void)printf("%s", HELP);
            return EXIT_FINE;
        }
        if (a.option != NULL) {
            code = take_option(&o, &a, &needs, &needs_name);
        } else if (o.command == NULL) {
            o.command = a.word;
        } else {
            code = cli_fail(EXIT_USAGE, "there are too many words; see `vial audit --help`");
        }
    }
    if (code == 0 && o.command == NULL) {
        code = cli_fail(EXIT_USAGE, "vial audit needs a command; `vial audit --help` lists them");
    }
    if (code == 0 && o.command != NULL) {
        code = run_command(&o, needs, needs_name);
    }
    return fflush(stdout) == 0 || code != 0
               ? code
               : cli_fail(EXIT_OUR_FAILURE, "cannot write the answer: %s", strerrordesc_np(errno));
}
