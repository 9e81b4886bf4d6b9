/* cell.h - the single-use process that one run happens in, from its birth on. */
#ifndef VIAL_CELL_CELL_H
#define VIAL_CELL_CELL_H

#include "jail/confine.h"

/* What a fresh copy of the template does, to its end. Never returns. */
_Noreturn void cell_main(const struct confine_cell_input *in);

/* In a copy of the template that is thrown away: goes the whole way of a cell with one small run,
 * but for confining itself. */
void cell_rehearse(void);

#endif
