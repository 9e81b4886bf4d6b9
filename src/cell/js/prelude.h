/* prelude.h - the guest's prelude, one JavaScript program as text; made by tools/embed.c. */
#ifndef VIAL_CELL_JS_PRELUDE_H
#define VIAL_CELL_JS_PRELUDE_H

extern const char PRELUDE[];

#endif
