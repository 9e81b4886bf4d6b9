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

/* How many cells the pool should have now. */
unsigned place_wanted(const struct vial_engine *engine);

/* What a cell is ordered for: the pool, or one run that waits for just this kind. */
enum place_purpose { PLACE_POOL, PLACE_RUN };

/* Orders a cell from the current template. */
VIAL_NODISCARD int place_order(
    struct vial_engine *engine, const struct cell_spec *spec, enum place_purpose purpose);

/* The cell's process is gone: the place is free. Ends a retired template with its last cell. */
void place_clear(struct vial_engine *engine, struct cell *cell);

/* Kills a cell that no run has; the place is free when the template has seen its end. */
void place_drop(struct vial_engine *engine, struct cell *cell);

/* The cell is not ready any more. */
void place_unready(struct vial_engine *engine, uint32_t index);

#endif
