/* traps.h - the engine's own switches for ending what it evaluates.
 *
 * Between any two turns of a loop, and on every call, the engine looks at a word of bits; one of
 * them makes it throw an exception that guest code cannot catch. Other programs have that bit set
 * from a thread, which a cell must not have, by a function that the library does not export. So the
 * bit is set from here, and with it the three bytes that the engine would have set along with it.
 * Where they lie differs between versions of the library; traps_find asks the library itself. */
#ifndef VIAL_CELL_JS_TRAPS_H
#define VIAL_CELL_JS_TRAPS_H

#include <stdint.h>

#include "cell/js/jsc.h"

/* The bit for the end of whatever is evaluated, in every version since 2021; traps_find tries it.
 */
enum { TRAPS_TERMINATE = 2 };

struct traps {
    void *vm;          /* the engine */
    uint32_t *bits;    /* what the engine looks at */
    uint8_t *stopping; /* a bit was set from outside: the engine insists on it when it clears one */
    uint8_t *requested; /* an end was asked for: the engine insists on it when it puts one off */
    uint8_t *forbidden; /* promises that would go on are dropped instead */
};

/* Finds and tries the switches, all in a copy of this process, which a wrong guess may kill. Takes
 * some milliseconds. 0, or -1 when this library has them not, or not like this. fork_prepare must
 * have been called, and this must be the only thread. */
int traps_find(JSGlobalContextRef ctx, struct traps *ret);

/* Async-signal-safe, at any moment. */
static inline void traps_set(const struct traps *t)
{
    __atomic_store_n(t->stopping, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(t->requested, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(t->forbidden, 1, __ATOMIC_SEQ_CST);
    (void)__atomic_fetch_or(t->bits, TRAPS_TERMINATE, __ATOMIC_SEQ_CST);
}

/* In a function that the engine has called: makes the engine see a request now, so that not one
 * instruction of its caller follows. */
void traps_take(const struct traps *t);

/* Forgets a request, met or not; promises stay forbidden. Only while the engine evaluates nothing.
 */
static inline void traps_clear(const struct traps *t)
{
    (void)__atomic_fetch_and(t->bits, ~(uint32_t)TRAPS_TERMINATE, __ATOMIC_SEQ_CST);
    __atomic_store_n(t->requested, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(t->stopping, 0, __ATOMIC_SEQ_CST);
}

/* Promises may go on again. */
static inline void traps_allow(const struct traps *t)
{
    __atomic_store_n(t->forbidden, 0, __ATOMIC_SEQ_CST);
}

#endif
