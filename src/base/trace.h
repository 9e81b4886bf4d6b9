/* trace.h - the W3C's trace context: who asks tells by one text which trace a request belongs to,
 * and whoever does a part of the work passes it on. */
#ifndef VIAL_BASE_TRACE_H
#define VIAL_BASE_TRACE_H

enum { TRACE_BYTES = 56 }; /* a traceparent of version 00 has 55, and a NUL is behind it */

/* Is this text, of any origin, a traceparent of version 00? Nothing but small hexadecimal digits
 * and hyphens is in one, so it can be put into a header or a variable as it is. */
int trace_is_valid(const char *text);

#endif
