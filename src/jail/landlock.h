/* landlock.h - the second lock on files, network and signals, kept by the kernel for this process.
 */
#ifndef VIAL_JAIL_LANDLOCK_H
#define VIAL_JAIL_LANDLOCK_H

/* The kernel's version of the interface, or -1 with errno when there is none. */
int landlock_abi(void);

/* A ruleset that handles every right the kernel knows and allows nothing at all. A descriptor, or
 * -1 with errno. */
int landlock_ruleset(void);

/* Puts this process under the ruleset for ever; 0, or -1 with errno. Needs no-new-privs. */
int landlock_enter(int ruleset_fd);

#endif
