/* suite.h - what the parts of the harness share. */
#ifndef VIAL_ATTACKS_SUITE_H
#define VIAL_ATTACKS_SUITE_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "case.h"
#include "host/engine.h"

enum {
    WHY_BYTES = 600,
    WALL_MS = 5000,           /* of a case that names no limit: none of those waits for anything */
    GRACE_MS = 2000,          /* how much later than its limit a run may end on a busy machine */
    POOL = 3,                 /* cells kept ready: for the case, the benign run and the victim */
    RSS_GROWTH_MAX = 32 << 20 /* of the harness over the whole suite; the largest value is 16 MB */
};

/* The run that is alive while others attack, over and over in a thread of its own; see victim.c. */
struct victim {
    pthread_t thread;
    struct vial_engine *engine;
    int stop;            /* atomic */
    int python;          /* atomic: every other run is one in Python */
    unsigned runs_count; /* atomic */
    unsigned hurt_count; /* atomic */
    char why[WHY_BYTES]; /* of the first time; written before hurt_count */
};

struct suite {
    /* Options. */
    const char *level; /* full, rootless or filtered */
    const char *cell_path;
    const char *scripts_dir; /* with js and py in it */
    const char *only;        /* an id, or NULL */
    const char *self;        /* the program itself, to be started a second time */
    FILE *results;           /* a line for each case, or NULL */
    int quiet, list;

    struct attack *attacks; /* all cases: raw ones first, in the order of their table */
    unsigned attacks_count;
    unsigned raw_count;

    /* What the host offers to whoever can reach it. */
    int listen_fd, abstract_fd, shm_id;
    uint16_t port;

    struct vial_engine *engine; /* of the group of cases that runs now */
    int fds_base;               /* descriptors that are not the engine's */
    int group_fds_base;         /* descriptors of the engine's own groups */
    int slot_fds;               /* descriptors that each cell's group takes */
    struct victim victim;

    unsigned passed, failed, skipped;
    uint32_t seen; /* layers (bits) that a passed case looked at */
};

/* attacks.c: collects all cases. 0, or -1 with a reason on stderr. */
int attacks_load(struct suite *s);
const struct attack *attacks_find(const struct suite *s, const char *id);
int attacks_list_has(const char *list, const char *word);

/* looks.c, and what it has for Python in looks_python.c, about the network in looks_net.c */
extern const struct attack LOOKS[];
extern const unsigned LOOKS_COUNT;
extern const struct attack LOOKS_PYTHON[];
extern const unsigned LOOKS_PYTHON_COUNT;
extern const struct attack LOOKS_NET[];
extern const unsigned LOOKS_NET_COUNT;

/* looks_host.c: the second program of the case that kills a host. Never returns. */
_Noreturn void looks_hold(struct suite *s);

/* bait.c: opens what attacks try to reach, and closes it. 0, or -1 with a reason on stderr. */
int bait_open(struct suite *s);
void bait_close(struct suite *s);

/* runs.c: an engine without these layers (NULL: all are on); NULL with the reason in why. */
struct vial_engine *runs_engine(
    const struct suite *s, const char *without, unsigned pool, char *why, size_t size);

/* Runs a case in the suite's engine; 1 when it went as it should, else 0, or -1 when it could not
 * be run at all, with the reason. */
int runs_attack(struct suite *s, const struct attack *a, char *why, size_t size);

/* The limits of a case, and whether a result is what it should be: 1, or 0 with the reason. */
struct vial_limits runs_limits(const struct attack *a);
int runs_judge(const struct suite *s, const struct attack *a, struct vial_result *result, char *why,
    size_t size);

/* families.c: like runs_attack, for a case in a cell that stays. */
int families_attack(struct suite *s, const struct attack *a, char *why, size_t size);

/* A run that means no harm: 1 when it came to what it should, else 0 with the reason. */
int runs_benign(struct vial_engine *engine, int python, char *why, size_t size);

/* Runs source with a wall limit in ms and gives the result, or NULL with the reason. */
struct vial_result *runs_source(
    struct vial_engine *engine, const char *source, uint32_t wall_ms, char *why, size_t size);
struct vial_result *runs_python(
    struct vial_engine *engine, const char *source, uint32_t wall_ms, char *why, size_t size);

/* Starts a raw case; its result, or NULL with the reason. */
struct vial_result *runs_raw(struct suite *s, const struct attack *a, char *why, size_t size);

/* leftovers.c: notes what is open before anything happens; and whether everything of the runs that
 * ended is gone: 1, or 0 with the reason. Waits for what is just ending. */
void leftovers_base(struct suite *s);
int leftovers_none(struct suite *s, char *why, size_t size);
uint64_t leftovers_rss(void);

/* Processes below us, of any depth, that are not dead. */
int leftovers_descendants(void);

/* victim.c */
void victim_start(struct victim *v, struct vial_engine *engine);
void victim_speak_python(struct victim *v);
void victim_stop(struct victim *v);

/* mutation.c: switches off one layer after the other; 0 when each was noticed. */
int mutation_run(struct suite *s);

#endif
