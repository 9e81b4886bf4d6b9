/* calls.h - calls of tools on their way out of a cell, and answers on their way in, whatever the
 * language.
 *
 * Calls are gathered and sent when the cell has nothing else to do, so that many cost one system
 * call. While a program runs the host sends nothing but answers. All of these may be called by
 * several threads, but for what happens between two programs. */
#ifndef VIAL_CELL_CALLS_H
#define VIAL_CELL_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct answer {
    uint32_t id;
    uint32_t kind;     /* enum answer_kind */
    const char *bytes; /* one more can be read; lives until this thread asks for the next one */
    size_t len;
};

/* No answer is longer than this, and what its head and an error add. */
void calls_begin(uint32_t call_bytes_max);

/* A program is told to stop by a signal, which ends the waiting then; or has threads, which wait
 * for different answers. */
void calls_poll(void);

/* From a handler of signals: a thread that waits for what another one reads goes on, too. */
void calls_interrupt(void);

/* In a copy of this process: the socket is another one, and the answers are the original's. */
void calls_forget(void);

/* Adds a call and returns its number. kind is an enum call_kind. */
uint32_t calls_add(uint32_t tool, uint32_t kind, const char *bytes, size_t len);

/* The same for one that calls_wait_for waits for, which must follow. */
uint32_t calls_add_claimed(uint32_t tool, uint32_t kind, const char *bytes, size_t len);

/* Sends the calls that were added. */
void calls_flush(void);

/* Sends a frame that is no call, after the calls that were added before. With the first FILE, or
 * the RESULT, the program is over: until calls_work what its threads still say or ask is lost. */
void calls_send(uint8_t type, const void *payload, size_t len);

/* The next answer to a call that is not claimed. Waits until the time (clock_now_us)
 * has come, for ever with UINT64_MAX. 1, or 0 when there is none yet, or when the program is to
 * stop.
 */
int calls_next(uint64_t until_us, struct answer *ret);

/* Can calls_next give an answer without asking the kernel? */
int calls_has_more(void);

/* Waits for the answer to this call. 1, or 0 when the program is to stop, or has ended. */
int calls_wait_for(uint32_t id, struct answer *ret);

/* Between two programs: forgets answers that nobody waits for, also one that is half here, whose
 * other half comes. From now on nobody but the caller reads from the socket. */
void calls_rest(void);

/* A program begins. */
void calls_work(void);

/* Between two programs an ANSWER came: forgets its so many bytes. */
void calls_skip(uint32_t len);

#endif
