/* main.c - the program: finds the command and calls it. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
};

static const struct command COMMANDS[] = {
    {"run", cmd_run, "run a program in a confined process of its own"},
    {"scan", cmd_scan, "look for dangerous patterns in programs, without running them"},
    {"repl", cmd_repl, "evaluate what is typed in or piped in, in a session that can be branched"},
    {"env", cmd_env, "keep environments: named, versioned descriptions of what programs run in"},
    {"secret", cmd_secret, "keep values that programs use without seeing them, encrypted"},
    {"key", cmd_key, "keep the keys with which clients use a server"},
    {"audit", cmd_audit, "show and check what was recorded, in records chained by hashes"},
    {"policy", cmd_policy, "explain what an environment allows, and by which rule"},
    {"replay", cmd_replay, "repeat a run that was recorded, and say where it first differs"},
    {"serve", cmd_serve, "serve all of this over HTTP"},
    {"doctor", cmd_doctor, "show which layers of the wall hold on this kernel, by violating them"},
    {"bench", cmd_bench,
        "measure start-up, latency, throughput, memory and computing on this machine"},
};

static void print_help(FILE *to)
{
    size_t i;

    (void)fprintf(to, "usage: vial COMMAND [OPTION]...\n\n"
                      "Runs code that a language model just wrote, behind a kernel wall.\n\n");
    for (i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        (void)fprintf(to, "  %-8s %s\n", COMMANDS[i].name, COMMANDS[i].help);
    }
    (void)fprintf(to, "\n  vial COMMAND --help tells more, vial --version which one this is.\n\n"
                      "  vial run -e '[1, 2, 3].map(x => x * x)'\n");
}

/* Whoever closes a standard descriptor would have the next thing that is opened take its number,
 * and the output of guests go there. Opened the wrong way round, a use of them fails as it did. */
static int hold_standard_descriptors(void)
{
    int fd;

    for (fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd) {
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t i;

    if (hold_standard_descriptors() < 0) {
        return EXIT_OUR_FAILURE;
    }
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
        (void)printf("vial %s\n", vial_version());
        return EXIT_FINE;
    }
    for (i = 0; i < sizeof(COMMANDS) / sizeof(COMMANDS[0]); i++) {
        if (strcmp(argv[1], COMMANDS[i].name) == 0) {
            return COMMANDS[i].run(argc - 2, argv + 2);
        }
    }
    return cli_fail(EXIT_USAGE, "there is no command \"%s\"; `vial --help` lists them", argv[1]);
}
