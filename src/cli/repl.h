/* repl.h - what the parts of `vial repl` share.
 *
 * Programs are evaluated one after the other in a session. The session can be branched, and each
 * branch has a name; one of them is the present one. Before each input a copy of the session is put
 * aside, to go back to when the input ends the session, or when somebody wants it undone. */
#ifndef VIAL_CLI_REPL_H
#define VIAL_CLI_REPL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/run_env.h"
#include "vial.h"

enum {
    REPL_BRANCHES_MAX = 30,                        /* more cannot be kept apart by their names */
    REPL_SESSIONS_MAX = 2 * REPL_BRANCHES_MAX + 4, /* each with what it was before */
    REPL_NAME_BYTES_MAX = 32,
    REPL_INPUT_BYTES_MAX = 1 << 20,      /* typed or piped; what is longer is a file */
    REPL_TRANSCRIPT_BYTES_MAX = 8 << 20, /* what .save can save */
};

/* What was asked for on the command line. */
struct repl_options {
    struct vial_limits limits;
    struct run_env env;
    const char *language, *require;
    int json, no_jit, keep_going, no_checkpoints;
};

/* Reads the arguments. 0, or an exit code; -1 when only help was asked for. */
int repl_options_parse(struct repl_options *options, int argc, char **argv);

struct repl_branch {
    char name[REPL_NAME_BYTES_MAX + 1];
    char from[REPL_NAME_BYTES_MAX + 1]; /* the branch it was made of, or "" */
    struct vial_session *session;
    struct vial_session *before; /* its state before the last input, or NULL */
    struct buf transcript;       /* what was evaluated and went well */
    size_t transcript_before;    /* its length before the last input */
};

struct repl {
    const struct repl_options *options;
    struct vial_engine *engine;
    struct vial_session_options session_options;
    struct vial_request request; /* what all evaluations have in common */
    struct repl_branch branches[REPL_BRANCHES_MAX];
    size_t branches_count, present;
    struct vial_result *shown; /* the last one that has artifacts, for .artifacts; or NULL */
    int is_terminal;
    int is_python;
    int keeps_checkpoints;
    int is_mid_line; /* output has not ended its last line */
    int has_ended;   /* by .exit, or the program said so */
    int code;        /* what process.exit was given */
    int failure;     /* the exit code of the first thing that failed, or 0 */
};

/* One line for somebody at a terminal; nothing elsewhere. */
void repl_note(const struct repl *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- branches (repl_branches.c); 0, or an exit code after a message ---- */

struct repl_branch *repl_present(struct repl *r);

/* Starts the first session, called main. */
int repl_branches_open(struct repl *r);
void repl_branches_close(struct repl *r);

/* Makes a branch of the present state; name may be "". */
int repl_branch_make(struct repl *r, const char *name);
int repl_branch_use(struct repl *r, const char *name);
int repl_branch_drop(struct repl *r, const char *name);

/* Puts a copy of the session aside, when that is done. Without one an input is evaluated all the
 * same. */
void repl_checkpoint(struct repl *r);

/* Back to the state before the last input. */
int repl_undo(struct repl *r);

/* The session has ended, by what the sentence says: goes back to the copy, or starts anew. */
int repl_recover(struct repl *r, const char *by);

/* ---- evaluations (repl_eval.c) ---- */

/* Evaluates a program and prints what became of it. name is NULL for what was typed. The exit code
 * of a program that ends so. */
int repl_eval(struct repl *r, const char *source, size_t len, const char *name);

/* Evaluates something in a copy of the session, which leaves no trace. 0, or an exit code after a
 * message. */
int repl_ask(struct repl *r, const struct vial_request *request, struct vial_result **ret);

/* ---- commands (repl_commands.c) ---- */

/* Is this line a command? No statement begins with a dot. */
int repl_is_command(const char *line, size_t len);

/* Does it; 0, or an exit code after a message. */
int repl_command(struct repl *r, const char *line, size_t len);

/* A line_complete_fn: names of the session, commands, and branches behind some of these. */
size_t repl_complete(const char *line, size_t cursor, struct buf *words, void *user);

#endif
