/* slim.h - making copies of the template cheap.
 *
 * What a cell costs is mostly what the kernel does with its memory: copying the list of mappings,
 * breaking the sharing of one page after the other, finding the pages of the libraries again. A
 * template that will make many cells prepares for that once. Nothing here changes what a program
 * can see or do. */
#ifndef VIAL_CELL_SLIM_H
#define VIAL_CELL_SLIM_H

#include "cell/guest.h"

/* Template, while /proc is still visible: does all of it. touch is what a cell does before its run
 * arrives; the rehearsals go the way of a run in the guest's context, and only copies that are
 * thrown away do it. */
void slim_template(const struct guest_ops *ops);

/* What is likely to come. */
struct slim_likely {
    int longer;  /* programs as long as most are, else short ones */
    int modules; /* programs with modules */
};

/* Cell, first thing: gets its own copy of the pages that every run writes to, at once, unless it
 * was born with them; not in a hurry: also of those that the warm-up writes to, and if wanted of
 * those that modules do. */
void slim_cell(int hurry, struct slim_likely likely);

/* The same for a branch, which is a copy of a cell and was born with nothing of its own. */
void slim_member(int hurry);

#endif
