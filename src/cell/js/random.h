/* random.h - random numbers that differ between cells, although all are copies of one template.
 *
 * The engine seeds Math.random once per global, so every copy would draw the same numbers. Its
 * generator is xorshift128+, two words inside the global object; random_find looks for the two
 * words that predict what Math.random says next, which cannot be anything else. */
#ifndef VIAL_CELL_JS_RANDOM_H
#define VIAL_CELL_JS_RANDOM_H

#include <stdint.h>

#include "cell/js/jsc.h"

/* The generator's two words, or NULL when they are not where this engine version has them. */
uint64_t *random_find(JSGlobalContextRef ctx);

#endif
