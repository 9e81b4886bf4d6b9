/* namespace.h - the namespaces of a template, and the users in them. */
#ifndef VIAL_JAIL_NAMESPACE_H
#define VIAL_JAIL_NAMESPACE_H

#include <stdint.h>
#include <sys/types.h>

#include "jail/layer.h"

/* The CLONE_NEW* flags of a template. */
uint64_t namespace_flags(void);

/* What the namespaces of a process are called, to see afterwards that they are other ones. */
struct namespace_names {
    char link[7][40];
};
void namespace_read(struct namespace_names *names);

/* Template, while the host's /proc is still visible: which of the namespaces really differ from
 * before. Fills the entries of the report. */
void namespace_compare(const struct namespace_names *before, struct layer_report *report);

/* Template, once its users are mapped: becomes user 0 inside, forbids further user namespaces below
 * it, takes a name of its own. 0, or -1 with errno. range: are there more users than one? */
int namespace_settle(int range);

/* How many users a map with a range has: one for the template and one a slot. */
enum { NAMESPACE_USERS = 4096 };

/* Host: writes the user and group maps of a template that waits for them. With privilege it maps a
 * range of users that nobody else has, else only the caller. 0 with *ret_users set, or -1 with
 * errno. */
int namespace_map(pid_t pid, uint32_t *ret_users);

/* Whether user 0 of the namespace that we were started in is another user outside: then there is
 * nothing to gain by staying it. Reads /proc; 0 when that is not to be had. */
int namespace_zero_is_plain(void);

#endif
