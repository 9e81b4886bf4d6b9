/* inject.h - one system call of a program and of everything that it starts is made to fail, or is
 * the moment at which its process is killed.
 *
 * The kernel asks us about every call of one number (a seccomp user notification), in whichever
 * process it is made; we let all go on but the n-th. The program runs as it is: nothing in it knows
 * of this. */
#ifndef VIAL_FAULTS_INJECT_H
#define VIAL_FAULTS_INJECT_H

#include <stdint.h>
#include <sys/types.h>

enum { WHY_MAX = 600 };

/* What is done to the call. */
struct fault {
    const char *name; /* of the call */
    int nr;
    unsigned n; /* which one of them, from 1 on */
    int sys;    /* errno, or 0: the process that calls is killed */
};

/* Memory that the program under test and we have in common. */
struct inject_shared {
    int listener; /* -1 until the filter is there; atomic */
    int taken;    /* we have the listener; atomic */
    int armed;    /* calls are counted; atomic */
    /* What the program says of itself. */
    int good;
    int has_engine;
    char level[16];
    char why[WHY_MAX];
};

/* What happened. */
struct inject_outcome {
    unsigned calls;   /* that were counted */
    int hit;          /* the fault happened */
    int hit_host;     /* to the program itself and not to what it started */
    int killed_host;  /* it died of that */
    int hung;         /* it did not end in time, and was ended */
    int status;       /* as from wait */
    int left;         /* processes that were there a second after its end */
    unsigned gone_ms; /* how long it took them to be gone */
};

/* Runs the function in a process of its own, with a fault. 0, or -1 when the kernel has no such
 * notifications (and nothing was run). The caller is a subreaper: whoever is left becomes its
 * child. */
int inject_run(const struct fault *fault, void (*program)(struct inject_shared *shared, void *user),
    void *user, struct inject_shared *shared, struct inject_outcome *ret);

/* For the program: from now on calls are counted, and not any more. */
void inject_arm(struct inject_shared *shared, int on);

#endif
