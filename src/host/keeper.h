/* keeper.h - what the keeper's thread does with a cell, for the files it shares its work with. All
 * of it is called with the engine's lock held. */
#ifndef VIAL_HOST_KEEPER_H
#define VIAL_HOST_KEEPER_H

#include "host/engine.h"

/* The cell's process has ended. */
void keeper_cell_gone(struct vial_engine *engine, struct cell *cell, int status, uint64_t cpu_us);

/* A cell that prepares itself has said something. */
void keeper_hear_ready(struct vial_engine *engine, uint32_t index);

/* The cell can be used: a waiter or a pool gets it. */
void keeper_ready(struct vial_engine *engine, uint32_t index);

#endif
