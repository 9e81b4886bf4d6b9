/* files.h - the calls of memfs as functions of the engine; surface/node/fs.js is made of them.
 *
 * Each takes plain values and gives a number, a string or an array of numbers; a negative number is
 * minus an errno. Nothing here throws, and nothing here makes a system call: descriptors are those
 * of memfs, and the cell's own are out of reach. */
#ifndef VIAL_CELL_JS_FILES_H
#define VIAL_CELL_JS_FILES_H

#include "cell/guest.h"
#include "cell/js/jsc.h"

/* Adds the object `files` to the object of native functions. */
void js_files_add(JSContextRef ctx, JSObjectRef native);

/* The run whose files these are from now on. */
void js_files_start(const struct guest_start *start);

#endif
