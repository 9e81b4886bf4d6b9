/* report.h - what became of a program, for a person. */
#ifndef VIAL_CLI_REPORT_H
#define VIAL_CLI_REPORT_H

#include <stdio.h>

#include "vial.h"

/* The exit code for a status. */
int report_exit_code(int status);

/* Guest text on our stderr: control characters other than line ends and tabs become visible. Those
 * from U+0080 to U+009F, which drive terminals too, are two bytes. */
void report_safe(const char *text);
void report_safe_to(FILE *to, const char *text); /* the same elsewhere */

/* The error of a result on stderr, with the line it is in; nothing when it has none. name is what
 * the program is called. */
void report_error(const struct vial_result *result, const char *name);

/* The same without the hint. */
void report_error_only(const struct vial_result *result, const char *name);

/* That output was cut, when it was. */
void report_dropped(const struct vial_result *result);

/* What the scanner has found. */
void report_findings(FILE *to, const struct vial_result *result);

/* Is the error one of the rules for the scanner, and not of the program? */
int report_is_about_rules(const struct vial_result *result);

#endif
