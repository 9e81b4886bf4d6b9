/* lock.h - who uses what of a store, in a form that ends with the process. For the inside of
 * src/store only.
 *
 * One file has a byte for every version of every environment; who uses a version holds a shared
 * lock on its byte, and who deletes it needs an exclusive one. The kernel lets go when the
 * descriptor is closed, however a process ends. The file stays empty: only its offsets matter. */
#ifndef VIAL_STORE_LOCK_H
#define VIAL_STORE_LOCK_H

#include <stdint.h>

#include "vial.h"

/* What is locked: one version, or all of an environment when version is 0. */
struct lock_place {
    /* its id; 0 with version 0 is the byte of whoever opens the store, 0 with version 1 that of
     * whoever uses the key of secrets */
    int64_t environment;
    uint32_t version;
};

enum lock_kind { LOCK_SHARED, LOCK_EXCLUSIVE };

/* Opens the file, which is made with mode 0600 when it is missing. A lock belongs to what is opened
 * here: two of these exclude each other, also in one process. */
VIAL_NODISCARD int lock_open(const char *path, int *ret_fd, struct vial_error *err);

/* Takes a lock, waiting for up to ms. VIAL_E_BUSY when somebody else holds it for longer. */
VIAL_NODISCARD int lock_take(int fd, const struct lock_place *place, enum lock_kind kind,
    uint32_t ms, struct vial_error *err);
void lock_drop(int fd, const struct lock_place *place);

#endif
