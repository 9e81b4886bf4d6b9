/* place.h - a place for a cell: a slot that a cell is ordered for, lives in, and leaves again.
 *
 * All of it is called with the engine's lock held, and nothing in it waits. */
#ifndef VIAL_HOST_PLACE_H
#define VIAL_HOST_PLACE_H

#include "host/engine.h"

/* How far apart runs must come for cells to be warmed up; a warm-up takes as long, and from the
 * runs themselves. */
enum { PLACE_HURRY_US = 1000 };

/* Are cells of one kind as good as those of the other? */
int place_spec_equal(const struct cell_spec *a, const struct cell_spec *b);

/* How many cells of this kind the pool should have now. */
unsigned place_wanted(const struct vial_engine *engine, const struct breed *breed);

/* A place with a socket pair and a control group for a cell of this kind, which is FORKING; the
 * other end of the pair is for the cell. owner is the serial of its family, or 0. */
VIAL_NODISCARD int place_begin(struct vial_engine *engine, const struct cell_spec *spec,
    enum cell_purpose purpose, unsigned processes, uint64_t owner, uint32_t *ret_index,
    int *ret_sock);

/* Orders a cell from the current template. */
VIAL_NODISCARD int place_order(
    struct vial_engine *engine, const struct cell_spec *spec, enum cell_purpose purpose);

/* Is this the kind of cell that the waiter wants? */
int place_suits(
    const struct vial_engine *engine, const struct waiter *waiter, const struct cell *cell);

/* The cell that a waiter waits for will not come: failed tells it so, else another one is ordered.
 */
void place_disappoint(struct vial_engine *engine, const struct cell *cell, int failed);

/* The cell's process is gone: the place is free. Ends a retired template with its last cell. */
void place_clear(struct vial_engine *engine, struct cell *cell);

/* Kills a cell that no run has; the place is free when the template has seen its end. */
void place_drop(struct vial_engine *engine, struct cell *cell);

/* The cell is not ready any more. */
void place_unready(struct vial_engine *engine, uint32_t index);

/* The environment is no more. */
void place_forget_env(struct vial_engine *engine, const struct vial_env *env);

#endif
