/* files.h - files that come with a run and files that it gives back, whatever the language.
 *
 * Both travel as FILE frames on the control socket, so that the host never touches the cell's tree.
 * Files come in before any guest code runs. They are collected after the guest's last instruction,
 * from a tree that the guest has made as nasty as it could. */
#ifndef VIAL_CELL_FILES_H
#define VIAL_CELL_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/name.h"
#include "wire/field.h"

/* Files on their way in. */
struct files_in {
    int root;                           /* the private directory */
    int fd;                             /* the file that was begun last; -1: none */
    int sys;                            /* errno of the first failure; later pieces are ignored */
    char name[FILE_NAME_BYTES_MAX + 1]; /* of the file that was begun last */
};

void files_in_init(struct files_in *in, int root);

/* Takes the payload of one FILE frame. 0, also when writing fails (see sys), or -1 when it is
 * malformed. */
int files_in_take(struct files_in *in, const char *payload, size_t len);

/* Closes what is open. */
void files_in_end(struct files_in *in);

/* Makes a directory beneath root, with those above it, and opens it. Its descriptor, or -1. */
int files_make_dir(int root, const char *name, size_t len);

/* What is to be given back. */
struct files_out {
    int root;
    const char *fields; /* fields, of which each FIELD_OUT is a pattern */
    size_t fields_len;
    uint64_t bytes_max;
    void (*send)(const char *payload, size_t len); /* one FILE frame */
};

/* Walks through the tree and sends the regular files that match, at most FILES_OUT_MAX. left
 * counts what matches and is not sent. Never follows a link, never waits, goes to a bounded depth.
 */
void files_collect(const struct files_out *out, uint32_t left[LEFT_COUNT]);

#endif
