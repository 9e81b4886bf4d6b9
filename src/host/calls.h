/* calls.h - calls of tools on the host: checked, done by somebody, answered.
 *
 * A call has two owners: its run, until the run is over or the call is answered, and whoever does
 * it, until they are done. It is known to the world by a number that is never used twice, so an
 * answer that comes late or twice finds nothing. One lock guards all calls of an engine and the
 * parts of runs that are about calls; nothing that can wait is done under it. */
#ifndef VIAL_HOST_CALLS_H
#define VIAL_HOST_CALLS_H

#include <pthread.h>
#include <stdint.h>

#include "base/buf.h"
#include "host/result.h"
#include "host/tool.h"
#include "vial.h"
#include "wire/frame.h"

struct call;
struct fetches;
struct mounts;
struct workers;

/* All calls of an engine. */
struct call_table {
    pthread_mutex_t lock;
    struct call **slots; /* by the low bits of the number */
    unsigned slots_count;
    uint64_t generation;
    struct workers *workers; /* made when first needed */
    unsigned threads_max;
    unsigned held_count; /* calls that somebody does and looks at */
};

/* What a run has of calls. Guarded by the table's lock while calls are under way. */
struct run_calls {
    struct tool_set *tools;      /* NULL: none */
    const struct mounts *mounts; /* NULL: none */
    unsigned library_count;      /* directories of LIBRARY_PYTHON that the cell may look at */
    int is_open;                 /* there are some */
    struct call *first;          /* those without an answer */
    unsigned pending_count;
    unsigned approvals_count; /* of them wait for approval */
    uint32_t last_id;         /* of the cell's numbers */
    size_t looks_bytes;       /* of answers to looks since the cell had taken all there were */
    uint64_t count;
    uint32_t *tool_counts;  /* calls so far, and those without an answer, for each tool */
    struct buf out;         /* answers that the socket had no room for */
    int sock;               /* of the cell */
    uint64_t paused_us;     /* since when the wall clock stands; 0: it runs */
    uint64_t paused_us_sum; /* how long it stood before */
    struct vial_result *result;
    struct fetches *fetches; /* what it has of the network, or NULL */
};

void call_table_init(struct call_table *table, unsigned threads_max);

/* Waits a while for functions that are still at it. 0, or -1 when some are: then what they use must
 * not be given back, ever. */
VIAL_NODISCARD int call_table_release(struct call_table *table);

struct vial_run;

/* Before the start message: what the run needs to take calls. Each of tools and mounts may be
 * NULL. breed is that of its cell, and says which library it may look at. */
VIAL_NODISCARD int calls_open(struct vial_run *run, struct tool_set *tools,
    const struct mounts *mounts, unsigned breed, struct vial_error *err);

/* With a cell: answers go here from now on. */
void calls_begin(struct vial_run *run, int sock, struct vial_result *result);

enum calls_taken { CALLS_TAKEN, CALLS_NONSENSE, CALLS_FLOOD };

/* Takes a CALL frame. */
enum calls_taken calls_take(struct vial_run *run, const struct frame *f);

/* When the run's thread must look again at the latest, and looking: sends what waits, ends calls
 * that are late, does what was approved meanwhile. */
uint64_t calls_deadline_us(struct vial_run *run);
void calls_serve(struct vial_run *run, uint64_t now_us);

/* Not 0: the socket has no room; wait until it has. */
int calls_wants_to_write(struct vial_run *run);

/* Sends an answer to the cell, or puts it off; takes the table's lock. */
void calls_answer(
    struct vial_run *run, uint32_t cell_id, uint32_t kind, const char *bytes, size_t len);

/* Without memory for what the cell wants it is ended. */
void calls_give_up(struct vial_run *run);

/* The threads for what waits; NULL with *err. */
struct workers *calls_workers(struct call_table *table, struct vial_error *err);

/* The run is over: what was not answered never will be. */
void calls_end(struct vial_run *run);

/* Gives back what calls_open took. */
void calls_close(struct vial_run *run);

#endif
