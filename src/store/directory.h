/* directory.h - the directory of a store: made when missing, and nobody else's. For the inside of
 * src/store only. */
#ifndef VIAL_STORE_DIRECTORY_H
#define VIAL_STORE_DIRECTORY_H

#include "vial.h"

/* Longer ones are no paths: PATH_MAX, less the names of files in it. */
enum { DIRECTORY_BYTES_MAX = 4000 };

/* Makes the directory and its missing parents with mode 0700, and sees to it that only its owner,
 * who is us or root, can write to it. */
VIAL_NODISCARD int directory_make(const char *path, struct vial_error *err);

/* Makes an empty file with mode 0600 unless it is there, and takes everything from others that it
 * gives them. Never opens a file that is there: SQLite's locks end when any descriptor of the file
 * is closed. */
VIAL_NODISCARD int directory_make_file(const char *path, struct vial_error *err);

#endif
