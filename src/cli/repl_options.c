/* repl_options.c - what `vial repl` was asked for on the command line. See repl.h. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/limit_args.h"
#include "cli/repl.h"

static const char *const KNOWN[] = {"--in", "--data-dir", "--tools", "--set", "--approve", "--lang",
    "--json", "--keep-going", "--no-checkpoints", "--no-jit", "--require", "--help", "--wall-ms",
    "--cpu-ms", "--timers", "--memory-mb", "--stdout-bytes", "--stderr-bytes", "--value-bytes",
    "--disk-mb", "--file-count", "--open-files", "--calls", "--calls-at-once", "--call-bytes",
    "--approval-ms", "--permissions", "--clock", "--seed", NULL};

static void print_help(void)
{
    (void)printf(
        "usage: vial repl [OPTION]...\n\n"
        "Evaluates JavaScript, TypeScript or Python as it is typed in, in one confined process "
        "that\n"
        "keeps what it has between inputs. `await` works at the top level. At a terminal Tab "
        "completes\n"
        "names, the arrow keys bring back earlier inputs, Ctrl-C stops what runs or clears the\n"
        "line, and Ctrl-D ends. Lines that begin with a dot are commands; .help lists them:\n"
        "a live session can be branched (.branch NAME, .use NAME) and an input undone (.undo).\n\n"
        "From a pipe or a file each statement is evaluated when it is complete, and its value\n"
        "printed on a line of its own. The first uncaught error ends it with that exit code.\n\n"
        "  --keep-going        go on after errors; the exit code is that of the first one\n"
        "  --json              print one result object for each input instead of values\n"
        "  --lang js|ts|python what the inputs are written in; else TypeScript is known by its "
        "types\n"
        "  --no-checkpoints    keep no copy of the session from before each input\n"
        "  --in NAME[@VERSION] in a stored environment; `vial env` keeps them\n"
        "  --data-dir DIR      where they are kept, as for `vial env`\n"
        "  --tools FILE        tools, as a JSON array of what an environment has\n"
        "  --set NAME=JSON     the value of a global that the environment declares; may be "
        "repeated\n"
        "  --approve MODE      for calls that need approval: ask (at the terminal), yes or no\n"
        "  --permissions JSON  what programs may do, or @FILE (docs/permissions.md)\n"
        "  --clock TIME        the time stands at this one, such as 2026-01-01T00:00:00Z\n"
        "  --seed NUMBER       random numbers are the same in each session with this one\n"
        "  --require LAYERS    refuse to start unless these hold, separated by commas\n"
        "  --no-jit            interpret only: a smaller surface at a tenth of the speed\n\n"
        "Limits are always on: those of time, output, calls and values hold for each input, those\n"
        "of memory and files for all of the session. Defaults and ranges:\n\n");
    limit_args_help();
    (void)printf("\nExit codes are those of `vial run`; 0 when everything went well.\n");
}

static int take_word_option(struct repl_options *o, struct cli_args *a, const char **value)
{
    (void)o;
    if (*value != NULL) {
        return cli_fail(EXIT_USAGE, "%s was given twice", a->option);
    }
    *value = cli_args_value(a, "repl");
    return *value != NULL ? 0 : EXIT_USAGE;
}

static int take_option(struct repl_options *o, struct cli_args *a)
{
    const struct {
        const char *name;
        int *flag;
    } flags[] = {{"--json", &o->json}, {"--no-jit", &o->no_jit}, {"--keep-going", &o->keep_going},
        {"--no-checkpoints", &o->no_checkpoints}};
    size_t i;
    int r;

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (strcmp(a->option, flags[i].name) == 0) {
            *flags[i].flag = 1;
            return cli_args_plain(a, "repl");
        }
    }
    if (strcmp(a->option, "--lang") == 0) {
        return take_word_option(o, a, &o->language);
    }
    if (strcmp(a->option, "--require") == 0) {
        return take_word_option(o, a, &o->require);
    }
    r = strcmp(a->option, "--main") != 0 && strcmp(a->option, "--record-calls") != 0 &&
                strcmp(a->option, "--record") != 0
            ? run_env_take(&o->env, a)
            : 1; /* these are about a run */
    if (r != 1) {
        return r;
    }
    r = limit_args_take(&o->limits, a, "repl");
    return r == 0 ? cli_unknown_option("repl", a->option, KNOWN) : r > 0 ? 0 : -r;
}

int repl_options_parse(struct repl_options *o, int argc, char **argv)
{
    struct cli_args a;
    int code = 0;

    cli_args_init(&a, argc, argv);
    while (code == 0 && cli_args_next(&a)) {
        if (a.option == NULL) {
            code = cli_fail(EXIT_USAGE,
                "vial repl takes no program; `vial run %s` runs it, and `vial repl < %s` "
                "evaluates it statement by statement",
                a.word, a.word);
        } else if (strcmp(a.option, "--help") == 0 || strcmp(a.option, "-h") == 0) {
            print_help();
            return -1;
        } else {
            code = take_option(o, &a);
        }
    }
    if (code == 0 && o->language != NULL && strcmp(o->language, "js") != 0 &&
        strcmp(o->language, "ts") != 0 && strcmp(o->language, "python") != 0 &&
        strcmp(o->language, "py") != 0) {
        code = cli_fail(EXIT_USAGE, "--lang takes js, ts or python, not \"%s\"", o->language);
    }
    return code;
}
