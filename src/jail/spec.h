/* spec.h - what kind of cell the host asks a template for. */
#ifndef VIAL_JAIL_SPEC_H
#define VIAL_JAIL_SPEC_H

#include <stdint.h>

enum cell_kind {
    CELL_GUEST = 0,
    CELL_CANARY = 1, /* violates the wall step by step and reports */
    CELL_ATTACK = 2, /* runs one raw attack; refused except in builds for the hostile suite */
    CELL_ORIGIN = 3, /* stays, and can be branched: the first member of a family */
};

struct cell_spec {
    uint32_t kind;    /* enum cell_kind */
    uint32_t uid;     /* inside the template's user namespace */
    uint32_t attack;  /* for CELL_ATTACK; for CELL_ORIGIN one more than that, 0: none */
    uint32_t hurry;   /* a run is waiting: no warm-up */
    uint32_t modules; /* runs with modules are likely: pages that those write to as well */
    uint32_t longer;  /* programs of some length are likely: pages that those write to */
    uint32_t scan;    /* runs that are scanned are likely: the template compiles the rules first */
    uint32_t open_files_max;
    uint32_t breed;           /* enum breed_number: of which template; the template does not look */
    uint32_t threads_max;     /* beside the first one; 0: the filter knows no threads */
    uint32_t groups;          /* bits by enum cgroup_controller: which control groups it joins */
    uint64_t attack_argument; /* what the attack is told */
};

#endif
