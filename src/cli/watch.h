/* watch.h - while a program runs for somebody at a terminal: Ctrl-C, a line that says that it still
 * runs, and its output passed on as it comes. */
#ifndef VIAL_CLI_WATCH_H
#define VIAL_CLI_WATCH_H

#include <stddef.h>

/* Signals are caught from here on, and the status line is shown after a second. */
void watch_begin(void);

/* No status line any more. */
void watch_end(void);

/* What Ctrl-C is to stop, from within a signal handler; NULL: nothing. A second Ctrl-C ends the
 * program. */
void watch_stops(void (*stop)(void *user), void *user);
int watch_interrupted(void);
void watch_forget_interrupt(void);

/* A vial_output_fn that passes output on. */
void watch_output(int stream, const char *bytes, size_t len, void *user);

/* Why the guest's output could not be passed on; 0: it could. */
int watch_output_errno(void);

/* Takes the status line away before something else is written. */
void watch_clear_status(void);

#endif
