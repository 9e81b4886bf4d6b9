/* name.h - names of files that cross the wall, relative to the cell's private directory.
 *
 * Both sides check them: the host what a caller asks for and what a cell sends, the cell what it is
 * about to make. A name that passed means one place beneath a directory, and can be shown to a
 * person. */
#ifndef VIAL_BASE_NAME_H
#define VIAL_BASE_NAME_H

#include <stddef.h>

/* The private directory, as programs in a cell see it. */
#define FILE_NAME_ROOT "/home/vial"

enum {
    FILE_NAME_BYTES_MAX = 4096, /* PATH_MAX */
    FILE_NAME_PART_BYTES_MAX = 255,
    FILE_NAME_PARTS_MAX = 64, /* as deep as a collector goes; no program means to nest deeper */
};

/* What is wrong with a name, as the end of the sentence "the name ..."; NULL when nothing is. Good
 * names have parts with one slash between them, none of which is empty, "." or "..", and are UTF-8
 * without control characters. */
const char *name_fault(const char *name, size_t len);

/* The same for a name that is one part: a file in a directory, the title of an artifact. */
const char *name_part_fault(const char *name, size_t len);

/* The part of a path behind the directory (which has no slash at its end), without "./" before it
 * and slashes behind it. A path that is not absolute is taken as relative to the directory. NULL
 * when the path is absolute and not inside; "" when it is the directory itself. */
const char *name_beneath(const char *path, size_t len, const char *directory, size_t *ret_len);

#endif
