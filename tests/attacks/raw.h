/* raw.h - what raw attacks in a cell write their findings with.
 *
 * An attack does something, and notes what came of it beside what should have. The harness
 * compares; an attack that notes nothing has not happened. */
#ifndef VIAL_ATTACKS_RAW_H
#define VIAL_ATTACKS_RAW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "case.h"

/* Notes the result of a call: errno's name when r is -1, else "ok". want is one or more such names
 * with single spaces between them. Neither text may hold quotes or backslashes. */
void raw_note(const char *call, long r, const char *want);

/* Notes a text. What is not a plain character of it becomes a question mark. */
void raw_note_text(const char *what, const char *got, const char *want);

/* Notes "yes" or "no", where yes is wanted. */
void raw_note_yes(const char *what, int yes);

/* A call by number with all arguments given, noted under its name. */
#define RAW(name, want, ...) raw_note(#name, syscall(SYS_##name, __VA_ARGS__), want)

/* A call that newer kernels have and our headers do not. */
#define RAW_NUMBER(number, name, want, ...) raw_note(name, syscall(number, __VA_ARGS__), want)

/* An address that is never mapped, for calls whose other arguments should be looked at first. */
#define RAW_NOWHERE ((void *)(uintptr_t)1)

/* What the armed attack does with an order to branch: enum branch_deed. */
unsigned attack_branch_number(void);

/* The functions of raw_table.inc. */
#define ATTACK(function, ...) void function(uint64_t argument);
#include "raw_table.inc"
#undef ATTACK

#endif
