/* mounts.h - directories of the host that cells of an environment can read, through us.
 *
 * A cell has no file system of the kernel's; when its program looks into such a directory it asks,
 * and the host looks for it: never out of the directory, whatever links are in it, and at nothing
 * but files and directories. */
#ifndef VIAL_HOST_MOUNTS_H
#define VIAL_HOST_MOUNTS_H

#include "base/buf.h"
#include "policy/document.h"
#include "vial.h"

struct mounts;

/* Opens the directories of a document; *ret is NULL when it has none. VIAL_E_INVALID names the one
 * that is not there. */
VIAL_NODISCARD int mounts_open(
    const struct document *document, struct mounts **ret, struct vial_error *err);
void mounts_free(struct mounts *mounts);

/* Adds what a cell must know to its start message. */
VIAL_NODISCARD int mounts_add_fields(
    const struct mounts *mounts, struct buf *fields, struct vial_error *err);

/* Answers a look (wire/look.h), which a hostile cell may have made, into one of mounts, which may
 * be NULL, or of the first library_count directories of LIBRARY_PYTHON: 0 with the answer, or an
 * errno. may, which may be NULL, is asked about looks into mounts: 0, or an errno. */
int mounts_look(const struct mounts *mounts, unsigned library_count, const char *question,
    size_t len, int (*may)(const char *name, const char *path, const void *user), const void *user,
    struct buf *answer);

#endif
