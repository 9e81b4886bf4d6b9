/* libedit.h - libedit, loaded when somebody sits at a terminal.
 *
 * With it come three more libraries, which take 0.5 ms to load, a fifth of what this program takes
 * to start; and mostly nobody is at a terminal. So it is not linked but opened. */
#ifndef VIAL_CLI_LIBEDIT_H
#define VIAL_CLI_LIBEDIT_H

#include <histedit.h>

#include "vial.h"

/* The functions that are used, under the names of histedit.h. */
struct libedit {
    __typeof__(el_init) *el_init;
    __typeof__(el_end) *el_end;
    __typeof__(el_set) *el_set;
    __typeof__(el_wset) *el_wset;
    __typeof__(el_gets) *el_gets;
    __typeof__(el_line) *el_line;
    __typeof__(el_insertstr) *el_insertstr;
    __typeof__(el_resize) *el_resize;
    __typeof__(el_source) *el_source;
    __typeof__(history_init) *history_init;
    __typeof__(history_end) *history_end;
    __typeof__(history) *history;
};

/* Opens the library of this name, "libedit.so.2" elsewhere than in tests; it is never unloaded.
 * VIAL_E_SYS says what to install. */
VIAL_NODISCARD int libedit_load(const char *name, struct libedit *lib, struct vial_error *err);

#endif
