/* request.h - is this a request that can be run? Asked before a cell is taken for it. */
#ifndef VIAL_HOST_REQUEST_H
#define VIAL_HOST_REQUEST_H

#include "vial.h"

/* VIAL_E_INVALID says what is wrong with it. The files and the process are process_check's. */
VIAL_NODISCARD int request_check(const struct vial_request *request, struct vial_error *err);

/* Large JSON is checked while the cell reads it: the engine's own parser refuses what is none, so
 * no program runs with it; ours only says better where it is wrong. The decoder of CBOR in the cell
 * relies on the check. */
int request_is_checked_late(const struct vial_request *request);
VIAL_NODISCARD int request_check_input(const struct vial_request *request, struct vial_error *err);

/* What stack traces call the source. */
const char *request_name(const struct vial_request *request);

/* Is that something the scanner can do, with these rules? Adds their bytes to *bytes. */
VIAL_NODISCARD int request_check_scan(uint32_t scan, const struct vial_scan_rules *rules,
    size_t count, size_t *bytes, struct vial_error *err);

#endif
