/* meter.h - what a cell uses, seen from outside: the guest cannot lie about it. */
#ifndef VIAL_HOST_METER_H
#define VIAL_HOST_METER_H

#include "host/engine.h"

/* Notes what a cell has used up before any guest code is in it. */
void meter_base(struct vial_engine *engine, struct cell *cell);

/* Processor time since then. */
uint64_t meter_cpu_us(const struct cell *cell);

/* Memory beyond what a fresh cell has: the kernel's peak with a cgroup, else the present use. */
uint64_t meter_memory_bytes(const struct cell *cell);

/* Is there no cgroup, so that memory must be looked at again and again? */
int meter_polls(const struct cell *cell);

/* An evaluation begins in a cell that has run others: from now on its processor time counts. */
void meter_restart(struct cell *cell);

/* The memory that the cell has now beyond what a fresh one has. */
uint64_t meter_memory_now(const struct cell *cell);

#endif
