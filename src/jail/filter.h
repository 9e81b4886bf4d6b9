/* filter.h - the system calls a template and its cells may make, as BPF programs.
 *
 * The programs are generated at build time by tools/gen-filter.c from the one table in
 * filter_table.inc: a large one for the template, which every cell inherits at no cost, and one
 * small program a kind of cell that it adds last and that takes away what only the set-up needed.
 */
#ifndef VIAL_JAIL_FILTER_H
#define VIAL_JAIL_FILTER_H

#include <linux/filter.h>

extern const struct sock_fprog filter_template;
extern const struct sock_fprog filter_compute;
extern const struct sock_fprog filter_threads; /* compute, and threads */
extern const struct sock_fprog filter_origin;  /* compute, and what a branch takes */
extern const struct sock_fprog filter_init;    /* the first process of a family */

#ifdef VIAL_MUTATION
extern const struct sock_fprog filter_template_shares;    /* memory, with whom it likes */
extern const struct sock_fprog filter_template_any_clone; /* whatever the flags are */
extern const struct sock_fprog filter_threads_any_clone;  /* as far as the template's goes */
#endif

/* Adds a program to this process for ever. Needs no-new-privs or CAP_SYS_ADMIN. 0, or -1 with
 * errno. */
int filter_load(const struct sock_fprog *program);

/* The filter of members of a family, which goes before filter_origin. From now on each clone of
 * this process and its copies waits until somebody answers at *ret_listener; that is -1, and each
 * clone is refused, when the kernel has no such thing or somebody else uses it on us already.
 * What prctl may do is to die with the parent. Threads are made without asking anybody, or not at
 * all. 0, or -1 with errno. */
int filter_hold_clone(int threads, int *ret_listener);

#endif
