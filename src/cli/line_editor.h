/* line_editor.h - reading lines from somebody at a terminal: editing, history, completion by Tab.
 *
 * While a line is read Ctrl-C and the signals that end a program are the editor's; before and after
 * they are whose they were. Without libedit lines can still be read, as the terminal edits them.
 *
 * There is one terminal, so there is one editor. */
#ifndef VIAL_CLI_LINE_EDITOR_H
#define VIAL_CLI_LINE_EDITOR_H

#include <stddef.h>

#include "base/buf.h"

enum line_event {
    LINE_TEXT,
    LINE_INTERRUPTED, /* Ctrl-C: what was typed is gone, and was so long */
    LINE_END,         /* Ctrl-D on an empty line, or the terminal has gone */
    LINE_TERMINATED,  /* SIGTERM or SIGHUP */
};

/* Adds what the text before the cursor could go on as to words (completion.h) and says where the
 * word begins; the cursor means that there is no word, and Tab then indents. */
typedef size_t (*line_complete_fn)(const char *line, size_t cursor, struct buf *words, void *user);

/* Not 0 when there is no libedit; a message has been given then. */
int line_editor_open(line_complete_fn complete, void *user);
void line_editor_close(void);

/* Reads one line, without its end. *ret lives until the next call. */
enum line_event line_editor_read(const char *prompt, const char **ret, size_t *ret_len);

/* Something that was typed in, which the arrow keys bring back, now and the next time. */
void line_editor_remember(const char *entry, size_t len);

#endif
