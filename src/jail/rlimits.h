/* rlimits.h - the classic per-process limits of a cell: what the other layers do not count. */
#ifndef VIAL_JAIL_RLIMITS_H
#define VIAL_JAIL_RLIMITS_H

#include <stdint.h>

/* Lowers the hard limits of this process for ever; 0, or -1 with errno. */
int rlimits_apply(uint32_t open_files_max, uint32_t processes_max);

#endif
