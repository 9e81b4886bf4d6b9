/* run_files.h - the host's part of a run's files: sending them in, taking them back out of frames.
 *
 * What comes back was written by a process that guest code may have taken over. A name is checked,
 * must match what was asked for and may come once; counts and bytes are bounded. */
#ifndef VIAL_HOST_RUN_FILES_H
#define VIAL_HOST_RUN_FILES_H

#include "base/buf.h"
#include "host/result.h"
#include "vial.h"

/* Adds the fields of START that say what the process looks like to the guest, and how much of files
 * it may have. The standard input is not among them. */
VIAL_NODISCARD int files_add_fields(const struct vial_request *q, const struct vial_limits *limits,
    struct buf *fields, struct vial_error *err);

/* How many bytes those fields may have. */
size_t files_fields_bytes(const struct vial_request *q);

/* Sends the files of a request as FILE frames, until the time has come. 0, or -1 with errno. */
int files_send(const struct vial_request *q, int sock, uint64_t until_us);

enum files_taken { FILES_TAKEN = 0, FILES_MALFORMED = -1, FILES_NOMEM = -2 };

/* Takes the payload of one FILE frame into the result. */
enum files_taken files_take(
    struct vial_result *result, const struct vial_request *q, const char *payload, size_t len);

/* Orders the files by name: the run has ended. */
void files_sort(struct vial_result *result);

/* Forgets all of them: the run did not end by itself, or the result is given back. */
void files_forget(struct vial_result *result);

#endif
