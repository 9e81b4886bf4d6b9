/* files.h - files that come with a run and files that it gives back, whatever the language.
 *
 * Both travel as FILE frames on the control socket. Files come in before any guest code runs. They
 * are collected after the guest's last instruction, from a tree that the guest has made as nasty as
 * it could. */
#ifndef VIAL_CELL_FILES_H
#define VIAL_CELL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/name.h"
#include "cell/memfs.h"
#include "wire/field.h"

/* Files on their way in. */
struct files_in {
    struct memfs *fs;
    struct memfs_node *file;            /* that was begun last; NULL: none */
    uint64_t at;                        /* so much of it has come */
    int sys;                            /* errno of the first failure; later pieces are ignored */
    char name[FILE_NAME_BYTES_MAX + 1]; /* of the file that was begun last */
};

void files_in_init(struct files_in *in, struct memfs *fs);

/* Takes the payload of one FILE frame. 0, also when writing fails (see sys), or -1 when it is
 * malformed. */
int files_in_take(struct files_in *in, const char *payload, size_t len);

/* Goes to a directory beneath /home/vial, which is made, with those above it. 0 or -errno. */
int files_enter(struct memfs *fs, const char *name, size_t len);

/* What is to be given back. */
struct files_out {
    struct memfs *fs;
    const char *fields; /* fields, of which each FIELD_OUT is a pattern */
    size_t fields_len;
    uint64_t bytes_max;
    void (*send)(const char *payload, size_t len); /* one FILE frame */
};

/* Walks through the tree and sends the regular files that match, at most FILES_OUT_MAX. left
 * counts what matches and is not sent. Never follows a link, goes to a bounded depth, and leaves
 * out directories that somebody else serves: whoever does has those files. */
void files_collect(const struct files_out *out, uint32_t left[LEFT_COUNT]);

#endif
