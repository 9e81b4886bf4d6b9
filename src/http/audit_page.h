/* audit_page.h - a page of the audit as an answer. */
#ifndef VIAL_HTTP_AUDIT_PAGE_H
#define VIAL_HTTP_AUDIT_PAGE_H

#include "http/exchange.h"
#include "store/audit.h"

/* Those that match, with limit, cursor, from, until and code of the query. Blocks. */
void audit_page(struct exchange *x, struct audit_filter *filter);

#endif
