/* history_file.h - what was typed in, from one start of the program to the next.
 *
 * One input is one line of the file; line ends inside of it are written as \n, a backslash as \\.
 * Several programs may add to the file at once. What is typed at a prompt can be a secret, so
 * nobody else may read the file. */
#ifndef VIAL_CLI_HISTORY_FILE_H
#define VIAL_CLI_HISTORY_FILE_H

#include <stddef.h>

#include "vial.h"

enum {
    HISTORY_ENTRIES_MAX = 1000,       /* that are kept: some weeks of work */
    HISTORY_ENTRY_BYTES_MAX = 65536,  /* of one: a longer one was pasted, not typed */
    HISTORY_FILE_BYTES_MAX = 4 << 20, /* beyond this the file is not ours and is left alone */
    HISTORY_PATH_BYTES_MAX = 4096,
};

struct history_file {
    char path[HISTORY_PATH_BYTES_MAX]; /* "" when there is none */
};

/* Finds the place: beneath $XDG_STATE_HOME, or ~/.local/state. Missing directories are made with
 * mode 0700. Without a place nothing is kept, and nothing fails. */
void history_file_init(struct history_file *file);

/* Gives the entries to each, the oldest first. Where there are many more than are kept, the file is
 * made anew with those that are. */
void history_file_load(const struct history_file *file,
    void (*each)(const char *entry, size_t len, void *user), void *user);

/* Adds one. 0, or -1 when it cannot be written or is too long. */
int history_file_add(const struct history_file *file, const char *entry, size_t len);

#endif
