/* confine.h - the steps that turn a warm process into a template, and its copies into cells.
 *
 * Each step is a row of a table: what it does, which layer it makes, and how to violate that layer.
 * A cell only does; the canary, a cell that never sees guest code, also violates after each step,
 * while the layers above are not yet there to refuse in its place. */
#ifndef VIAL_JAIL_CONFINE_H
#define VIAL_JAIL_CONFINE_H

#include "jail/layer.h"
#include "jail/namespace.h"
#include "jail/spec.h"

enum { CONFINE_CGROUP_FDS_MAX = 4 };

/* Template: everything that cells inherit. names are those of the namespaces before; users as
 * mapped by the host, 0 without a user namespace. The report tells what holds. 0, or -1 with errno
 * and *ret_step. */
int confine_template(const struct namespace_names *before, uint32_t users,
    struct layer_report *report, const char **ret_step);

/* Cell: what a step needs to know. */
struct confine_cell_input {
    const struct cell_spec *spec;
    const struct layer_report *template_report;
    int control_fd;
    int family_fd; /* of CELL_ORIGIN */
    int cgroup_fds[CONFINE_CGROUP_FDS_MAX];
    unsigned cgroup_fds_count;
    uint32_t users; /* as above */
};

/* Which CLONE_NEW* flags a cell is cloned with. */
uint64_t confine_cell_flags(uint32_t users);

/* Cell: confines this process for ever; the control socket is descriptor 3 afterwards, and 0 to 2
 * are what they were. proof is NULL, or where the canary notes what it found. 0, or -1 with errno
 * and *ret_step: then the process must end. */
int confine_cell(
    const struct confine_cell_input *in, struct layer_report *proof, const char **ret_step);

/* A family: after confine_cell the first process of a CELL_ORIGIN clones itself. The copy is the
 * origin: it takes two more steps, between which it gives the listener, at which the host consents
 * to clones, to the host; -1 is none. The first process only reaps, and tells the host at
 * descriptor CONFINE_FAMILY_FD. 0, or -1 with errno. */
enum { CONFINE_FAMILY_FD = 5 };
int confine_origin(int threads, int *ret_listener);
/* First of all in a branch: what a copy does not inherit. 0, or -1 with errno. */
int confine_branch(void);
int confine_origin_end(void);
int confine_init(void);

#endif
