/* env.h - environments: a document, the template made of it, and the cells that wait in it.
 *
 * The template of an environment is the first member of a family, in which the prefix was
 * evaluated; a run in the environment is in a branch of it. */
#ifndef VIAL_HOST_ENV_H
#define VIAL_HOST_ENV_H

#include "host/engine.h"
#include "host/run.h"
#include "host/tool.h"
#include "policy/document.h"

enum { ENV_READY_MAX = 8 }; /* cells kept ready in one environment */

enum env_state { ENV_COLD, ENV_STARTING, ENV_UP };

struct vial_env {
    struct vial_engine *engine;
    struct document *document;
    struct vial_tool *specs; /* of the document's tools, pointing into it */
    struct tool_set *tools;  /* or NULL */
    struct mounts *mounts;   /* or NULL */
    char *defaults;          /* of the globals, as a JSON object, or NULL */

    /* Guarded by the engine's lock. */
    struct vial_env *next;
    int state;                   /* enum env_state */
    struct vial_session *origin; /* while it is up; ours alone */
    uint32_t ready[ENV_READY_MAX];
    unsigned ready_count, coming_count, wanted_count;
    uint64_t used_us, started_us, shrunk_us;
    int failed; /* the last branch could not be made, see the engine's failure */
};

/* ---- for runs and sessions; without the engine's lock ---- */

/* Of which kind its templates are: enum breed_number. */
unsigned env_breed(const struct vial_env *env);

/* Starts the template when there is none. Blocks for as long as the prefix takes. */
VIAL_NODISCARD int env_start(struct vial_env *env, struct vial_error *err);

/* Takes a cell as pool_take does, waiting for it, and starts the template of want->env when there
 * is one: also anew, when it dies or is put down while somebody waits for it. */
VIAL_NODISCARD int env_take_cell(struct vial_engine *engine, const struct cell_want *want,
    const int *cancelled, uint32_t *ret_cell, int *ret_pidfd, struct vial_error *err);

/* Gives a run the limits and the rest of what the environment says, and checks what the request may
 * not say. */
VIAL_NODISCARD int env_apply(struct vial_env *env, struct vial_run *run, struct vial_error *err);

/* The limits that hold when these are asked for; NULL: the environment's. */
VIAL_NODISCARD int env_limits(struct vial_env *env, const struct vial_limits *asked,
    struct vial_limits *ret, struct vial_error *err);

/* The environment's tools, with those of a request in the place of others of the same name. The
 * caller lets go of *ret, which is NULL when there are none. */
VIAL_NODISCARD int env_tools(struct vial_env *env, const struct vial_tool *tools, size_t count,
    struct tool_set **ret, struct vial_error *err);

/* Are these all declared by the environment? globals may be NULL. */
VIAL_NODISCARD int env_check_globals(
    struct vial_env *env, const char *globals, size_t len, struct vial_error *err);

/* ---- for the keeper and the pool; with the engine's lock ---- */

/* A ready cell, or CELL_NONE. */
uint32_t env_take(struct vial_env *env);
int env_is_up(const struct vial_env *env);

/* A cell for it is on order, will not come, is ready, is not any more. */
void env_coming(struct vial_env *env);
void env_not_coming(struct vial_env *env);
void env_ready(struct vial_env *env, uint32_t cell);
void env_unready(struct vial_env *env, uint32_t cell);
void env_failed(struct vial_env *env, const struct vial_error *why);

/* Is this the template of an environment, and has it died? */
void env_origin_gone(struct vial_engine *engine, uint32_t cell);

/* Nothing new comes from its template, and what waits goes. The template, to be freed without the
 * lock, or NULL. */
struct vial_session *env_put_down(struct vial_env *env);

/* Orders the cells that environments want. */
void env_order_missing(struct vial_engine *engine);

#endif
