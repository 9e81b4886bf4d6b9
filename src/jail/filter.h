/* filter.h - the system calls a template and its cells may make, as BPF programs.
 *
 * The programs are generated at build time by tools/gen-filter.c from the one table in
 * filter_table.inc: a large one for the template, which every cell inherits at no cost, and one
 * small program a profile that a cell adds last and that takes away what only the set-up needed. */
#ifndef VIAL_JAIL_FILTER_H
#define VIAL_JAIL_FILTER_H

#include <linux/filter.h>

/* What a cell may do with the kernel. */
enum jail_profile {
    PROFILE_COMPUTE = 0, /* no paths at all */
    PROFILE_POSIX = 1,   /* path calls, onto the cell's private tree */
};

extern const struct sock_fprog filter_template;
extern const struct sock_fprog filter_compute;
extern const struct sock_fprog filter_posix;
extern const struct sock_fprog filter_origin; /* compute, and what a branch takes */
extern const struct sock_fprog filter_init;   /* the first process of a family */

/* Adds a program to this process for ever. Needs no-new-privs or CAP_SYS_ADMIN. 0, or -1 with
 * errno. */
int filter_load(const struct sock_fprog *program);

/* From now on each clone of this process and its copies waits until somebody answers at the
 * descriptor that is returned. -1 with errno when the kernel has no such thing, or somebody else
 * uses it on us already. */
int filter_hold_clone(void);

#endif
