/* cli.h - what the commands of the program share: exit codes, reading arguments, reading files. */
#ifndef VIAL_CLI_CLI_H
#define VIAL_CLI_CLI_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

/* The exit codes, after the habits of timeout(1), shells and containers. docs/cli.md lists them. */
enum exit_code {
    EXIT_FINE = 0,
    EXIT_EXCEPTION = 1,
    EXIT_REFUSED = 1,  /* of `vial env`: no such environment, or it exists, or is in use */
    EXIT_FINDINGS = 1, /* of `vial scan`: at least one that is more than an information */
    EXIT_USAGE = 2,
    EXIT_DOCUMENT = 3,     /* the document of an environment breaks rules */
    EXIT_CONFIG = 3,       /* the configuration of the server does */
    EXIT_UNAVAILABLE = 69, /* the server cannot be started: EX_UNAVAILABLE */
    EXIT_CALL_LIMIT = 122,
    EXIT_DISK_LIMIT = 123,
    EXIT_WALL_LIMIT = 124,
    EXIT_OUR_FAILURE = 125,
    EXIT_DENIED = 126,
    EXIT_CANCELLED = 130,
    EXIT_CRASHED = 134,
    EXIT_MEMORY_LIMIT = 137,
    EXIT_CPU_LIMIT = 152,    /* 128 + SIGXCPU */
    EXIT_OUTPUT_LIMIT = 153, /* 128 + SIGXFSZ */
};

/* The commands: each parses what follows its name and returns an exit code. */
int cmd_run(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_env(int argc, char **argv);
int cmd_repl(int argc, char **argv);
int cmd_secret(int argc, char **argv);
int cmd_policy(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_scan(int argc, char **argv);
int cmd_key(int argc, char **argv);
int cmd_audit(int argc, char **argv);
int cmd_serve(int argc, char **argv);

/* One line on stderr, "vial: ...", with terminal codes in it made visible; returns code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for an error of the library. */
int cli_fail_library(const struct vial_error *err);

/* A whole number in plain digits; 0, or -1. */
int cli_number(const char *text, uint64_t *ret);

/* Walks through the arguments. Options are --name VALUE or --name=VALUE, or -x VALUE; "--" ends
 * them. */
struct cli_args {
    char **argv;
    int argc, at;
    const char
        *option;      /* the present one with its dashes, or NULL when the present one is a word */
    const char *word; /* the present word, or what followed the = of the option, or NULL */
    int only_words;   /* behind "--" */
    char name[64];    /* holds option when it was cut at its = */
};
void cli_args_init(struct cli_args *a, int argc, char **argv);

/* Moves on to the next; 0 at the end. */
int cli_args_next(struct cli_args *a);

/* The value of the present option; NULL, after a message, when there is none. */
const char *cli_args_value(struct cli_args *a, const char *command);

/* The present option takes no value: 0, or EXIT_USAGE after a message when it got one. */
int cli_args_plain(struct cli_args *a, const char *command);

/* A message for an option that a command does not have, with the nearest one that it has;
 * EXIT_USAGE. */
int cli_unknown_option(const char *command, const char *option, const char *const known[]);

/* Reads a file of at most max bytes whole, "-" for stdin. 0 with *ret owned by the caller, or an
 * exit code after a message that says what is wrong with it. */
int cli_read_file(const char *path, size_t max, const char *what, char **ret, size_t *ret_len);

#endif
