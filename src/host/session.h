/* session.h - a cell that stays between programs, as the host sees it. */
#ifndef VIAL_HOST_SESSION_H
#define VIAL_HOST_SESSION_H

#include "host/engine.h"
#include "host/run.h"
#include "host/tool.h"

struct vial_session {
    /* Set at the start, then only read. */
    struct vial_engine *engine;
    uint64_t id, parent_id;
    uint64_t created_us;
    uint64_t idle_us_max, life_us_max;
    struct vial_limits limits;
    struct vial_env *env;        /* NULL: none */
    struct tool_set *tools;      /* a reference, or NULL */
    const struct mounts *mounts; /* the environment's, or NULL */
    char name[64];
    unsigned breed;                           /* enum breed_number */
    const struct permission *env_permissions; /* of its environment, or NULL */
    struct permission *permissions;           /* of the session itself, or NULL; owned */
    char *permissions_json;                   /* the same as text, for branches */
    int has_variables;                        /* it was given some */
    int seeded;                               /* its random numbers are what its policy says */
    int wake_fd;
    int cancelled; /* atomic: what is in progress is to stop; it may be set from anywhere, and means
                      nothing when nothing is */

    /* Guarded by the engine's lock. */
    struct vial_session *next; /* of all of the engine */
    uint32_t state;            /* enum vial_session_state */
    uint32_t cell;             /* CELL_NONE when it has ended */
    int pidfd;
    uint64_t used_us;
    uint64_t rest_cpu_us; /* what its last program had used when it was over */
    uint64_t eval_count;
    uint32_t branch_count;
    uint32_t file_count;
    uint64_t file_bytes;
    int introduced; /* the cell knows the tools */
    char ended[160];
};

/* A session of a cell that has been taken, which it owns from now on. Takes a reference to tools,
 * which may be NULL. A hidden one is not among the engine's, and never expires. */
VIAL_NODISCARD int session_adopt(struct vial_engine *engine, uint32_t cell, int pidfd,
    const struct vial_limits *limits, struct tool_set *tools, int hidden, struct vial_session **ret,
    struct vial_error *err);

/* With the engine's lock held. */
void session_fill_info(struct vial_session *session, struct vial_session_info *info);

/* A run for this session that has been checked and has not begun. */
VIAL_NODISCARD int session_new_run(struct vial_session *session, const struct vial_request *request,
    struct vial_run **ret, struct vial_error *err);

/* Makes the session BUSY, runs it, and makes it IDLE again. */
VIAL_NODISCARD int session_enter_and_run(struct vial_session *session, struct vial_run *run,
    struct vial_result **ret, struct vial_error *err);

/* An evaluation of any kind, by who made the session BUSY or has it alone. */
VIAL_NODISCARD int session_run(struct vial_session *session, struct vial_run *run,
    struct vial_result **ret, struct vial_error *err);

/* Called by the keeper now and then, with the lock held: ends what is too old or too long unused.
 */
void session_expire(struct vial_engine *engine, uint64_t now_us);

#endif
