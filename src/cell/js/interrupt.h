/* interrupt.h - ends one evaluation from outside and keeps the process, its heap and its code.
 *
 * The host sends FRAME_STOP_SIGNAL to the cell, and repeats it every few milliseconds until the
 * cell answers or its patience ends. The evaluation ends with an exception that nothing of the
 * guest's can catch: no catch and no finally runs. Promises that were to go on are dropped for
 * good.
 *
 * What the engine does in one piece is not interrupted before it is done: one match of a regular
 * expression, which may take minutes, one call of a library function that never comes back to guest
 * code (filling or copying a huge array, normalizing a huge string: seconds), one compilation. That
 * is for the host to kill when its patience ends.
 *
 * The prelude is JavaScript as well: an interruption may leave its lists of timers, groups and
 * modules half changed, so it must be made to forget them (HOOK_START does) before the next
 * evaluation. */
#ifndef VIAL_CELL_JS_INTERRUPT_H
#define VIAL_CELL_JS_INTERRUPT_H

#include "cell/js/jsc.h"
#include "wire/frame.h"

/* Finds what is needed. 0, or -1 when evaluations cannot be ended softly with this library. Called
 * once, in the first process; see traps_find for what it needs. Code that is compiled well is only
 * interrupted when the engine was started with JSC_usePollingTraps=1. */
int interrupt_prepare(JSGlobalContextRef ctx);

/* Makes FRAME_STOP_SIGNAL call interrupt_now, in a cell that is kept. Reading and writing go on
 * after it; a sleep ends. */
void interrupt_listen(void);

/* Async-signal-safe, and as often as you like: what the engine evaluates now, or next before
 * interrupt_end, ends soon. Nothing happens outside of interrupt_begin and interrupt_end. */
void interrupt_now(void);

/* Around everything that belongs to one evaluation. */
void interrupt_begin(void);

/* Was this evaluation interrupted? Then nothing more should be asked of the engine before
 * interrupt_end: the request has been met, and whatever ran now would not be interrupted before the
 * host's next signal. */
int interrupt_happened(void);

/* For functions that the engine calls, as the last thing they do after they have evaluated
 * something themselves: an interruption that ended only that is passed on to whoever called.
 * exception is what the function got; whatever was stored there does not matter any more. */
void interrupt_pass_on(JSValueRef *exception);

/* 1 when the evaluation was interrupted; then the engine is made ready for the next one: what came
 * too late is forgotten, and callbacks for rejections that nobody handled are called now. */
int interrupt_end(void);

#endif
