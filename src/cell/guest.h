/* guest.h - what a language must offer to be run in a cell. Everything else about cells is common.
 *
 * The order of calls: warm in the first process, which may have threads; then, in each cell,
 * reseed, touch and at most one run, or the evaluations of one session, each of which is a call of
 * run. */
#ifndef VIAL_CELL_GUEST_H
#define VIAL_CELL_GUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct memfs;

/* A module that came with the run. */
struct guest_module {
    const char *name;
    const char *source;
    size_t name_len, source_len;
};

/* The start message, borrowed from its buffer. */
struct guest_start {
    const char *name;
    const char *source;
    const char *input; /* JSON or CBOR; NULL: none */
    size_t name_len, source_len, input_len;
    uint32_t input_is_cbor;
    uint32_t want_text;
    uint32_t timers_max;
    uint32_t value_bytes_max;
    struct memfs *files; /* NULL: the run has none */
    const char *stdin_bytes;
    size_t stdin_len;
    const char *fields; /* the whole message, for what comes more than once: ENV, ARG */
    size_t fields_len;
    uint32_t kind; /* enum vial_kind */
    const struct guest_module *modules;
    size_t module_count;
    uint32_t language; /* enum vial_language */
    uint32_t tools_count;
    uint32_t call_bytes_max;    /* of the arguments of a call */
    uint32_t request_bytes_max; /* of the body of a request to the network; 0: there is none */
    /* enum session_kind. In a session name may be empty; input stays as it was when there is none.
     * Arguments, variables and standard input are those of the first evaluation, and modules add to
     * those that came before: what they point to must live as long as the session, the rest as long
     * as the evaluation. */
    uint32_t session;
    uint32_t entry_is_main;
    uint32_t function, release, complete; /* see the fields of these names; 0: none */
    uint32_t scan;                        /* enum scan_mode */
    const char *globals;                  /* a JSON object, or NULL */
    size_t globals_len;
};

/* What a template is to be good for. */
struct guest_warmth {
    int jit;   /* programs may be compiled */
    int quick; /* it is for one run, soon; else it goes the ways that runs go, for what they need */
    int stays; /* cells will run several programs, which can be stopped one by one */
    int data;  /* with the packages for data that the language has */
};

struct guest_ops {
    /* Libraries that the engine brings along and never calls, as the beginnings of their names, up
     * to a NULL. */
    const char *const *unused_libraries;

    /* Starts the engine and evaluates everything of ours. 0, or -1 with a reason. */
    int (*warm)(const struct guest_warmth *warmth, const char **ret_why);

    /* Puts into a new tree of files what every program finds there; NULL: nothing. 0, or -errno. */
    int (*furnish)(struct memfs *fs);

    /* May this process be copied now? 0, or an errno; NULL: always. */
    int (*may_branch)(void);

    /* Gives this cell random numbers of its own. 0, or -1. */
    int (*reseed)(const uint64_t seed[4]);

    /* Goes the way of a run once, in a context that guest code never sees, so that the pages it
     * needs are there before a run arrives. */
    void (*touch)(void);

    /* Goes it in the guest's context: for copies that will never have a run. */
    void (*rehearse)(void);

    /* The same for a program as long as most are. */
    void (*rehearse_longer)(void);

    /* The same for a program with modules. */
    void (*rehearse_modules)(void);

    /* In a cell that stays, before its first program: from now on it can be stopped. */
    void (*stay)(void);

    /* In a copy of a process that has run programs: nothing of what is under way is this one's. */
    void (*branched)(void);

    /* Runs guest code and adds the fields of the RESULT to result. May also end the run itself, by
     * cell_finish. */
    void (*run)(const struct guest_start *start, struct buf *result);
};

/* Each language program defines the one it has. */
extern const struct guest_ops GUEST;

/* For the languages: sends output of the guest to the host at once. */
void cell_output(int stream, const char *bytes, size_t len);

/* For cell/artifacts.c: sends one frame of an artifact. */
void cell_send_artifact(const char *payload, size_t len);

/* For the languages: ends the run with this result, from wherever it is. Nothing of the guest's
 * runs after this. */
_Noreturn void cell_finish(struct buf *result);

#endif
