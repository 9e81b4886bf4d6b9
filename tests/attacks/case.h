/* case.h - what one case of the hostile suite is, for the harness and for the cells it attacks
 * from.
 *
 * There are three kinds. A script is a file under js/ or py/, run like any guest. A raw case is C
 * code that a cell runs in place of guest code, or in the middle of its own confinement; the
 * harness knows it by its index in raw_table.inc, which both sides are compiled from; it can be in
 * the cell of a session instead of that of a run. A look is C code of the harness itself, which
 * does something to an engine and looks at the cells from outside. */
#ifndef VIAL_ATTACKS_CASE_H
#define VIAL_ATTACKS_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    AT_FULL = 1,
    AT_ROOTLESS = 2,
    AT_FILTERED = 4,
    AT_NAMESPACES = AT_FULL | AT_ROOTLESS,
    AT_POLLING = AT_ROOTLESS | AT_FILTERED, /* where no control group counts */
    AT_ALL = AT_FULL | AT_ROOTLESS | AT_FILTERED,
};

/* What a raw case is told by the harness, beside its index. */
enum argument {
    ARGUMENT_NUMBER,   /* attack.number as it is */
    ARGUMENT_PORT,     /* where on the host's loopback the harness listens */
    ARGUMENT_SHM_KEY,  /* of a shared memory segment of the harness */
    ARGUMENT_HOST_PID, /* of the harness; also the name of its abstract socket */
};

/* What a cell that stays does when it is ordered to branch, see raw_family.c. */
enum branch_deed {
    BRANCH_AS_IT_SHOULD,
    BRANCH_SILENT,
    BRANCH_REFUSE_AND_CLONE,
    BRANCH_CLONE_AND_REFUSE,
    BRANCH_SPEAK_FOR_IT,
    BRANCH_WRONG_NUMBER,
    BRANCH_NOT_JOINING,
    BRANCH_TALKATIVE,
};

#define STATUS(name) (1U << VIAL_STATUS_##name)

struct suite;

struct attack {
    /* One of these three is what happens. */
    void (*raw)(uint64_t argument);                       /* only set in a cell */
    int (*look)(struct suite *s, char *why, size_t size); /* 1: contained; 0 with the reason */
    const char *source;                                   /* of a script */
    size_t source_len;
    const char *expectation; /* of a script: its first line; value, name and message lie in it */

    const char *id;     /* as in docs/attacks.md */
    const char *what;   /* the attacker tries to ... */
    const char *answer; /* denied, killed:LIMIT, error:CODE, refused or contained */
    const char *stage;  /* after which step of the confinement; NULL: in the place of a guest */
    uint32_t levels;    /* where the wall promises this; 0: everywhere */
    uint32_t status;    /* set of STATUS(); 0: ok */
    uint32_t argument;
    uint32_t python; /* not 0: in a cell for Python; else in one for JavaScript */
    uint64_t number;
    uint32_t origin; /* not 0: in a cell that stays */
    uint32_t rests;  /* not 0: it is left alone then, and must be ended for what it does */
    uint32_t again;  /* not 0: a large program follows, and ends like this: set of STATUS() */
    uint32_t
        branch; /* enum branch_deed: it is branched then, which must fail but for the last one */
    const char
        *without;     /* layers switched off to look behind them, separated by commas; NULL: none */
    const char *sees; /* layers whose absence this case must notice, separated by commas; or NULL */

    /* Limits of the run, 0: the harness's default. */
    uint32_t wall_ms, cpu_ms, memory_mb, files, open_files, timers;
    uint64_t disk_bytes, stdout_bytes, value_bytes;

    /* What a script must come to; NULL: anything. */
    const char *value, *name, *message;
    int dropped; /* output must have been dropped */

    /* Files that a script must give back, and no others. */
    unsigned outputs;  /* how many; 0: any number */
    const char *out;   /* the pattern it is asked for; NULL: none */
    const char *names; /* separated by commas, in their order; NULL: any */
};

/* In mutate.c. Replaces the list of layers that are switched off, for engines made from now on. */
void mutate_set(const char *list);

/* In mutate.c, set by a cell that is armed: called after each step of the confinement. */
extern void (*mutate_step)(const char *step);

#endif
