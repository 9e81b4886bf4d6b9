/* display.h - the native half of display(), see prelude/display.js. */
#ifndef VIAL_CELL_JS_DISPLAY_H
#define VIAL_CELL_JS_DISPLAY_H

#include "cell/js/jsc.h"

/* Puts the function `display` into the object that the prelude gets. */
void js_display_add(JSContextRef ctx, JSObjectRef native);

#endif
