/* outputs.h - the files and artifacts of runs that have ended, for those who ask when the run is
 * not in memory any more: in the directory outputs of the data directory, a file for each run.
 *
 *     outputs_open -> outputs_save, outputs_get, outputs_retain -> outputs_free
 *
 * All of a run's are kept or none. There is a maximum for one run and one for all; the oldest runs
 * make room for new ones. A file appears under its name when all of it is written, and says how
 * long it is, so nothing is ever given in parts. A store may be used by several threads; the
 * directory is one server's.
 *
 * Failures: a run of which nothing is kept is VIAL_E_INVALID with err->sys ENOENT, one that left
 * nothing of that name with ENODATA; a disk that is full or does not read VIAL_E_SYS. */
#ifndef VIAL_STORE_OUTPUTS_H
#define VIAL_STORE_OUTPUTS_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum {
    OUTPUTS_NAME_BYTES_MAX = 8192, /* of a path of a file of a cell, with room */
    OUTPUTS_TYPE_BYTES_MAX = 127,
    OUTPUTS_COUNT_MAX = 100000, /* of one run: more files than a cell may have */
};

/* One of them; what it points to is the caller's. */
struct output {
    const char *kind; /* what its name begins with: "files/" */
    const char *name; /* the rest of it; any text */
    const char *type; /* a MIME type, or "" */
    const char *bytes;
    size_t len;
};

struct outputs;

/* Makes the directory when it is missing, and removes what a server that was killed left half
 * written. */
VIAL_NODISCARD int outputs_open(const char *data_dir, struct outputs **ret, struct vial_error *err);
void outputs_free(struct outputs *outputs);

/* Bytes on the disk of one run and of all; from now on. 0: nothing is kept. */
void outputs_set_limits(struct outputs *outputs, uint64_t run_bytes_max, uint64_t bytes_max);

/* Keeps the outputs of a run under its id. 1 when they are more than one run may keep: then none
 * is. */
VIAL_NODISCARD int outputs_save(struct outputs *outputs, const char *run, const struct output *list,
    size_t count, struct vial_error *err);

/* One of them. bytes and type belong to the caller, who frees the former. */
struct output_found {
    char *bytes;
    size_t len;
    char type[OUTPUTS_TYPE_BYTES_MAX + 1];
};
VIAL_NODISCARD int outputs_get(struct outputs *outputs, const char *run, const char *name,
    struct output_found *ret, struct vial_error *err);

/* Removes those of runs that were made before the time, and the oldest while there are too many
 * bytes. */
void outputs_retain(struct outputs *outputs, uint64_t older_than_us);

/* How many bytes all of them take. */
uint64_t outputs_bytes(struct outputs *outputs);

#endif
