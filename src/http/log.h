/* log.h - what the server says about itself: one JSON object a line on stderr, or plain text when
 * that is a terminal. No line has code, input, output or a secret of anybody in it: callers give
 * ids, counts and sentences of ours. */
#ifndef VIAL_HTTP_LOG_H
#define VIAL_HTTP_LOG_H

enum log_level { LOG_ERROR = 0, LOG_WARN = 1, LOG_INFO = 2, LOG_DEBUG = 3 };

/* Lines above this level are left out. as_text: 1, 0, or -1 for "when stderr is a terminal". */
void log_setup(enum log_level level, int as_text);

/* The level of that name, or -1. */
int log_level_of(const char *name);

/* One line: a sentence, then pairs of texts "name", value, ..., ended by NULL. A pair whose value
 * is NULL is left out. From any thread. */
void log_say(enum log_level level, const char *message, ...) __attribute__((sentinel));

#endif
