/* calls.h - calls of tools on their way out of a cell, and answers on their way in, whatever the
 * language.
 *
 * Calls are gathered and sent when the cell has nothing else to do, so that many cost one system
 * call. While a program runs the host sends nothing but answers. */
#ifndef VIAL_CELL_CALLS_H
#define VIAL_CELL_CALLS_H

#include <stddef.h>
#include <stdint.h>

struct answer {
    uint32_t id;
    uint32_t kind;     /* enum answer_kind */
    const char *bytes; /* one more can be read; lives until the next answer is asked for */
    size_t len;
};

/* No answer is longer than this, and what its head and an error add. */
void calls_begin(uint32_t call_bytes_max);

/* This process stays between programs, and is told to stop one by a signal: waiting ends then. */
void calls_stay(void);

/* In a copy of this process: the socket is another one, and the answers are the original's. */
void calls_forget(void);

/* Adds a call and returns its number. kind is an enum call_kind. */
uint32_t calls_add(uint32_t tool, uint32_t kind, const char *bytes, size_t len);

/* Sends the calls that were added. */
void calls_flush(void);

/* The next answer: of those that calls_wait_for put aside, else from the host. Waits until the time
 * (clock_now_us) has come, for ever with UINT64_MAX. 1, or 0 when there is none yet, or when the
 * program is to stop. */
int calls_next(uint64_t until_us, struct answer *ret);

/* Can calls_next give an answer without asking the kernel? */
int calls_has_more(void);

/* Between two programs: forgets answers that nobody waits for, also one that is half here, whose
 * other half comes. */
void calls_rest(void);

/* Between two programs an ANSWER came: forgets its so many bytes. */
void calls_skip(uint32_t len);

/* Waits for the answer to this call; others are put aside. 1, or 0 when the program is to stop. */
int calls_wait_for(uint32_t id, struct answer *ret);

#endif
