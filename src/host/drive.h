/* drive.h - a run from its start message to its end: listens to the cell and keeps its limits. */
#ifndef VIAL_HOST_DRIVE_H
#define VIAL_HOST_DRIVE_H

#include "host/result.h"
#include "host/run.h"

/* How a sleep ends: something can be read, or a limit has been reached. */
enum drive_event { EVENT_READ, EVENT_WALL, EVENT_CPU, EVENT_MEMORY, EVENT_CANCEL };

/* A wake-up across processors costs some 50 us here, a switch on one processor 8 us. So the cell is
 * put beside us while the run is young: short runs never wake the other processor, and a run that
 * turns out to be long is let go again. */
void drive_sit_together(struct vial_run *run);

/* Listens until the run is over one way or another; for every end but a plain result the cell's
 * process is then dead. */
VIAL_NODISCARD int drive_run(
    struct vial_run *run, struct vial_result *result, struct vial_error *err);

/* Hears what the cell has said, without waiting. 1 when the run is over with a plain result; 0 when
 * it goes on, or when drive_run has to look at how it ended: then drive_can_try is 0. */
VIAL_NODISCARD int drive_try(struct vial_run *run, struct vial_result *result);
int drive_can_try(const struct vial_run *run);

/* What the run used, read while its process can still be asked. */
void drive_usage(struct vial_run *run, struct vial_result *result);

/* Signals the cell's process to die. */
void drive_kill(struct vial_run *run);

/* The same, and waits until it is really gone. */
void drive_end(struct vial_run *run);

#endif
