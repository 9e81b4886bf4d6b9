/* files.h - the files of Python programs: libc's functions for files, in memory.
 *
 * A cell may make no system call that has to do with files. CPython, its modules and the libraries
 * beneath them call libc's functions by name, and the files_*.c define those names in the program
 * itself, so that calls arrive here: open, stat, readdir, fopen, getpwuid and so on. Until a cell
 * begins its first program they do what libc does, for the template reads its library from the
 * disk; from then on they work on the run's memfs, and tell nothing about the host.
 *
 * What the cell itself calls by the same names goes to the kernel all the time: the program is
 * linked with --wrap for those (files_direct.c). */
#ifndef VIAL_CELL_PYTHON_FILES_H
#define VIAL_CELL_PYTHON_FILES_H

#include "cell/guest.h"

/* Before each program: from now on files are those of the run. In a session descriptors and the
 * place in standard input stay as the last program left them. furnish, which may be NULL, makes the
 * library in a tree for a run that has no files. */
void py_files_begin(const struct guest_start *start, int (*furnish)(struct memfs *fs));

/* After each program: what was changed through memory is in its files. */
void py_files_settle(void);

/* In a copy of the process, where no other thread is left: nobody holds a lock. */
void py_files_branched(void);

/* Back to the kernel: for tests. */
void py_files_end(void);

#endif
