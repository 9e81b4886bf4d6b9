/* engine.h - what the parts of the host library share: the engine, its templates and its cells.
 *
 * Who does what: a thread that waits for a run talks to its own cell and to nobody else. One
 * background thread, the keeper (keeper.c), talks to the templates: it orders cells, learns of
 * their ends, and replaces templates. The lock guards everything they share; no system call that
 * can wait is made under it. */
#ifndef VIAL_HOST_ENGINE_H
#define VIAL_HOST_ENGINE_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "host/calls.h"
#include "jail/cgroup.h"
#include "jail/layer.h"
#include "jail/spec.h"
#include "vial.h"
#include "wire/frame.h"

enum {
    TEMPLATES_MAX = 16, /* two of a kind in use, the others waiting for their last cells to end */
    CELLS_EXTRA = 16,   /* cells that are ending while others begin */
    CELLS_LIMIT = 3500, /* with the families below the users of a range (namespace.h) */
    FAMILIES_LIMIT = 512,
    PYTHON_THREADS = 16, /* beside the first one: enough for a program that waits for several
                          * things, and no load for the host */
    FAMILY_NONE = UINT16_MAX,
    CELL_NONE = UINT32_MAX,
};

/* Kinds of templates: a language, and what of its libraries is there at once. */
enum breed_number {
    BREED_JS,
    BREED_PYTHON,
    BREED_DATA, /* Python with numpy, pandas and matplotlib */
    BREEDS,
};

enum cell_state {
    CELL_FREE = 0,
    CELL_FORKING, /* ordered from the template */
    CELL_BORN,    /* forked, confining itself */
    CELL_READY,   /* in the pool */
    CELL_TAKEN,   /* a run has it */
    CELL_ENDING,  /* killed, or its run is over: waiting for the template to say that it is gone */
};

/* What a cell is made for. */
enum cell_purpose {
    PURPOSE_POOL,   /* the next run that comes */
    PURPOSE_WAITER, /* one that waits for just this kind */
    PURPOSE_ENV,    /* the next run in an environment */
};

struct template
{
    int sock; /* -1: not in use */
    int pidfd;
    pid_t pid;
    unsigned cells_count; /* not yet gone */
    uint64_t forks_count;
    uint64_t started_us;
    int retired;          /* no further forks; ends with its last cell */
    int stays;            /* its cells can stay: programs in them can be stopped softly */
    unsigned breed;       /* enum breed_number */
    uint32_t image_pages; /* of a file that its cells have in common (cell/image.h) */
};

/* The templates of one kind, and the cells that wait for runs. Only what was asked for is started.
 */
struct breed {
    char *cell_path;   /* the program; NULL: not looked for yet */
    int current;       /* index of the template that forks cells for runs, or -1 */
    int current_stays; /* likewise for families; the same one when the engine is for sessions */
    int wanted;        /* somebody wants a run */
    int stays_wanted;  /* somebody wants a family */
    int rotate;        /* a new template is wanted */
    unsigned failures_count; /* templates or cells that failed to start, in a row */
    uint64_t retry_us;       /* no new template before this time */
    uint32_t *ready;         /* indices of ready cells, a stack */
    unsigned ready_count;
    unsigned coming_count; /* ordered for the pool and not yet ready */
};

struct cell {
    uint8_t state;        /* enum cell_state */
    uint8_t custom;       /* made for one waiting run, not for the pool */
    uint8_t gone;         /* the template has reported its end */
    uint8_t has_slot;     /* cgroups is open */
    uint8_t branches;     /* of it that are on order and have no consent yet */
    uint8_t unborn;       /* of it that are on order and not there yet */
    uint16_t family;      /* FAMILY_NONE for all but members of one */
    pid_t family_pid;     /* its number inside of the family */
    uint32_t origin;      /* the member it is a branch of, or CELL_NONE */
    uint32_t warm;        /* what GO will say to it */
    struct vial_env *env; /* whose pool it is made for, or NULL */
    int sock;             /* to the cell; -1 */
    int pidfd;            /* -1 before it is forked, and once a run has taken it */
    int statm_fd;         /* its page counts where there is no memory cgroup; -1 */
    pid_t pid;            /* in our namespace */
    enum frame_phase phase;
    unsigned template_index;
    int exit_status; /* as from wait, when gone */
    uint64_t exit_cpu_us;
    uint64_t born_us;         /* when it was ordered */
    uint64_t cpu_us_base;     /* used up when it became ready */
    uint64_t pages_base;      /* anonymous pages it had then */
    uint64_t image_pages;     /* of its template's image, which it may find at any time */
    uint64_t data_bytes_base; /* memory it could write to then; 0: that cannot be limited */
    struct cell_spec spec;
    struct cgroup_slot cgroups;
    uint64_t slot_owner; /* serial of the family whose members know cgroups; 0: no guest does */
    struct buf in;       /* bytes received from it, kept for the next cell in this place */
};

struct family {
    int sock;     /* its first process tells of ends here; -1: not in use */
    int pidfd;    /* of its first process; -1 before it is forked */
    int listener; /* where its clones ask for consent; -1: it cannot be branched */
    unsigned template_index;
    unsigned members_count; /* places */
    unsigned orders_count;  /* branches on order that have no consent yet */
    int hung_up;            /* its first process has ended */
    pid_t pid;              /* of its first process */
    uint64_t serial;        /* never used twice */
    int doomed;             /* all of it is ended, whoever there is */
    uint64_t strays_us;     /* until then it is looked for processes that nobody knows; 0: not */
    uint32_t uid;
};

/* What kind of cell is wanted. */
struct cell_want {
    struct cell_spec spec;
    uint32_t origin;      /* a branch of this one; CELL_NONE: from the template */
    struct vial_env *env; /* from the pool of this environment */
    int stays;            /* for a session: not counted among the runs */
};

/* A run that waits for a cell. Lives on the stack of the waiting thread. */
struct waiter {
    struct waiter *next;
    struct cell_want want;
    int custom;    /* needs a cell of its own making */
    int ordered;   /* and that is on its way */
    int failed;    /* it will not come: see the engine's failure */
    uint32_t cell; /* given to it, or CELL_NONE */
};

struct vial_engine {
    /* Set at the start, then only read. */
    uint32_t pool_count, runs_max, queue_count_max, queue_ms_max, sessions_max;
    int host_pidfd;
    uint64_t env_bytes_max;
    int no_jit;
    int quick;
    int for_sessions;         /* its one template is for cells that stay, too */
    unsigned first;           /* enum breed_number: the one that is started with the engine */
    char *cell_path;          /* the program that was asked for, or NULL */
    vial_secret_fn on_secret; /* see secrets.h; NULL: there are none */
    void *secret_user;
    char *require;
    struct cell_spec spec_default;
    struct layer_report report;
    char *isolation_json;
    const char *level;
    cpu_set_t cpus; /* where the host may run */
    struct cgroup_base cgroups;
    uint64_t memory_default;
    int has_no_standins; /* the engine needs the libraries that others stand in for; template.c */
    struct call_table calls; /* has a lock of its own */
    uint64_t run_id;         /* the last one given out; atomic */

    /* Guarded by lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a cell is ready or gone, a template failed */
    int has_changed;        /* the keeper says so when it lets go of the lock */
    pthread_t keeper;
    int keeper_runs;
    int stopping;
    int wake_fd; /* wakes the keeper */
    struct template templates[TEMPLATES_MAX];
    struct breed breeds[BREEDS];
    struct vial_error failure; /* why the last template or cell failed */
    struct cell *cells;
    unsigned cells_count;
    unsigned template_count;
    uint64_t modules_until_us; /* so long runs with modules are likely; atomic */
    uint64_t longer_until_us;  /* so long programs of some length are likely; atomic */
    int scans; /* there was a run that was scanned, so cells are prepared for more; atomic */
    unsigned busy_count;
    struct waiter *waiters;
    struct family *families;
    unsigned families_count;
    unsigned queue_count;
    uint64_t family_serial;        /* the last one given out */
    struct vial_env *envs;         /* all of them; env.h */
    struct vial_session *sessions; /* all of them; session.h */
    unsigned sessions_count;
    uint64_t session_id; /* the last one given out */
    uint64_t run_count;
    uint64_t taken_us; /* when a cell was last taken */
    uint64_t pace_us;  /* the mean time between two runs */
};

/* template.c: starts a template, waits until it is confined, and proves it with a canary. Takes the
 * lock for nothing; on success *ret is filled in and, the first time, report is completed. */
VIAL_NODISCARD int template_start(struct vial_engine *engine, unsigned breed, int stays,
    struct template *ret, struct layer_report *report, struct vial_error *err);
void template_release(struct template *t);

/* engine.c: finds the program of a kind: the one that was asked for, else beside that, beside the
 * library, or as installed. Does nothing when it is known. */
VIAL_NODISCARD int engine_find_program(
    struct vial_engine *engine, unsigned breed, struct vial_error *err);

/* Makes it a cell of this kind. */
void engine_set_breed(struct cell_spec *spec, unsigned breed);

/* Of which kind a program in this language is; name helps when nobody said which it is. */
unsigned engine_breed_of(uint32_t language, const char *name);

/* keeper.c: starts and ends the thread, and with it everything that was made. */
VIAL_NODISCARD int keeper_start(struct vial_engine *engine, struct vial_error *err);
void keeper_stop(struct vial_engine *engine);

/* pool.c */
enum { POOL_FAILURES_MAX = 3 }; /* cells or templates in a row, before waiting runs are told */
void pool_wake_keeper(struct vial_engine *engine);

/* Takes a ready cell. wait 0: only if there is one at once (VIAL_E_BUSY else). cancelled may end
 * the waiting early, with VIAL_OK and CELL_NONE. The cell's process descriptor becomes the
 * caller's. */
VIAL_NODISCARD int pool_take(struct vial_engine *engine, const struct cell_want *want, int wait,
    const int *cancelled, uint32_t *ret_cell, int *ret_pidfd, struct vial_error *err);

/* The run is over and the cell's process was killed or has ended. */
void pool_give_back(struct vial_engine *engine, uint32_t cell, int suspicious);

/* The same for a cell that stayed. */
void pool_give_back_member(struct vial_engine *engine, uint32_t cell, int suspicious);

/* run.c: like vial_run_start, in a cell of this kind; its limits come from the request. */
VIAL_NODISCARD int run_start_in(struct vial_engine *engine, const struct vial_request *request,
    const struct cell_spec *wanted, struct vial_run **ret, struct vial_error *err);

/* Waits until the cell is gone, for at most ms. 1 when it is, and then its exit status is known. */
int pool_wait_gone(struct vial_engine *engine, uint32_t cell, uint32_t ms);

#endif
