/* files.h - system calls for files as functions of the engine; surface/node/fs.js is made of them.
 *
 * Each takes plain values and gives a number, a string or an array of numbers; a negative number is
 * minus an errno. Nothing here throws, and nothing reaches the descriptors 0 to 3: those are the
 * cell's own. */
#ifndef VIAL_CELL_JS_FILES_H
#define VIAL_CELL_JS_FILES_H

#include "cell/js/jsc.h"

/* Adds the object `files` to the object of native functions. */
void js_files_add(JSContextRef ctx, JSObjectRef native);

#endif
