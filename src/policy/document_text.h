/* document_text.h - the JSON of documents and of their reports as text. For the inside of
 * policy/document only.
 *
 * The library that documents are read with has functions by the same names as base/json.h, so no
 * file includes both: those that read a document write by way of this one. */
#ifndef VIAL_POLICY_DOCUMENT_TEXT_H
#define VIAL_POLICY_DOCUMENT_TEXT_H

#include <stddef.h>

#include "base/buf.h"

/* Is it a JSON value, not nested too deep and not made of too many values? 0, or -1 with what is
 * wrong in why, as a sentence about the document. */
int document_text_check(const char *json, size_t len, char *why, size_t why_size);

/* A report is an array: begun, one element for each fault, ended. 0, or negative without memory. */
VIAL_NODISCARD int report_begin(struct buf *report);
VIAL_NODISCARD int report_add(struct buf *report, const char *path, const char *message);
VIAL_NODISCARD int report_end(struct buf *report);

/* A text as a JSON string. */
VIAL_NODISCARD int document_text_quote(const char *text, size_t len, struct buf *out);

#endif
