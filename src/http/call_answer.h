/* call_answer.h - what a client says to a call of a tool that it answers: JSON into the library. */
#ifndef VIAL_HTTP_CALL_ANSWER_H
#define VIAL_HTTP_CALL_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "vial.h"

enum { CALL_ANSWER_WRONG = 1 }; /* the answer is none; the call still waits */

/* {"value": ...}, {"error": {"name", "message", "fields"}} or, to an approval, {"approve": true,
 * "reason"}. 0, CALL_ANSWER_WRONG, or what the library said. */
VIAL_NODISCARD int call_answer_apply(struct vial_engine *engine, uint64_t call, int is_approval,
    const char *json, size_t len, struct vial_error *err);

#endif
