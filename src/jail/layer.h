/* layer.h - the names and states of the layers of the wall, as every part of vial speaks of them.
 *
 * This is only vocabulary: what a layer is, whether it holds, and how to say so. Template and cell
 * fill a report, the host completes it and attaches it to every result. */
#ifndef VIAL_JAIL_LAYER_H
#define VIAL_JAIL_LAYER_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "vial.h"

enum layer {
    LAYER_USERNS,
    LAYER_PRIVATE_UID,
    LAYER_PRIVATE_ROOT,
    LAYER_PIDNS,
    LAYER_NETNS,
    LAYER_IPCNS,
    LAYER_UTSNS,
    LAYER_CGROUPNS,
    LAYER_DESCRIPTORS,
    LAYER_NO_NEW_PRIVS,
    LAYER_CAPABILITIES,
    LAYER_LANDLOCK,
    LAYER_RLIMITS,
    LAYER_SECCOMP,
    LAYER_CGROUP_MEMORY,
    LAYER_CGROUP_PIDS,
    LAYER_COUNT
};

enum layer_state {
    LAYER_OFF = 0,
    LAYER_ON = 1,     /* applied */
    LAYER_PROVEN = 2, /* applied, and a violation of it was refused */
    LAYER_BROKEN = 3, /* applied, but a violation of it went through */
};

struct layer_entry {
    uint8_t state;   /* enum layer_state */
    uint8_t version; /* the Landlock ABI, the cgroup version; else 0 */
    uint16_t sys;    /* errno of why it is off, or of the refusal that proved it */
};

struct layer_report {
    struct layer_entry entries[LAYER_COUNT];
};

const char *layer_name(unsigned layer);

/* What holds because of the layer, in a few words. */
const char *layer_purpose(unsigned layer);

/* Writes {"level": ..., "memory": ..., "layers": [...]} as one value. */
void layer_report_write(const struct layer_report *report, struct json_writer *w);

/* "full", "rootless", "filtered", or NULL when even the basis does not hold. */
const char *layer_report_level(const struct layer_report *report);

/* Fails with VIAL_E_ISOLATION when a layer named in the comma-separated list (NULL: none) does not
 * hold or the basis is missing, with VIAL_E_INVALID when a word in it is unknown. "landlock>=N"
 * asks for an ABI; "full" and "rootless" stand for everything that level has. */
VIAL_NODISCARD int layer_report_require(
    const struct layer_report *report, const char *require, struct vial_error *err);

/* Fails with VIAL_E_ISOLATION when a layer that holds by the first report does not by the second: a
 * later template must be no worse than what was reported of the first one. */
VIAL_NODISCARD int layer_report_keeps(
    const struct layer_report *first, const struct layer_report *second, struct vial_error *err);

/* Are all words of the list known? Looks at no kernel. */
VIAL_NODISCARD int layer_require_check(const char *require, struct vial_error *err);

#endif
