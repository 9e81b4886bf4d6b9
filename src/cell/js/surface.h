/* surface.h - the native half of the guest's web and Node surface.
 *
 * The surface is JavaScript that is bundled at build time, one text for each module
 * (cell/js/surface/). A text is read by the engine when a program first asks for its module; until
 * then it is only bytes of this program's file. */
#ifndef VIAL_CELL_JS_SURFACE_H
#define VIAL_CELL_JS_SURFACE_H

#include <stddef.h>

#include "cell/js/jsc.h"

/* One bundled module: its name ("web/url") and its ASCII text. Made by tools/embed-texts.c. */
struct surface_text {
    const char *name;
    const char *text;
    size_t len;
};

extern const struct surface_text SURFACE_TEXTS[];
extern const size_t SURFACE_TEXTS_COUNT;

/* Adds the functions that the surface calls to the object of natives: evaluate, encode, decode,
 * write, byteLength, random, domainToASCII, domainToUnicode. 0, or -1 with a reason (for a
 * developer: this engine keeps its arrays in another way). */
int surface_add_natives(JSContextRef ctx, JSObjectRef natives, const char **ret_why);

#endif
