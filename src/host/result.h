/* result.h - what happened in a run, owned in one piece. */
#ifndef VIAL_HOST_RESULT_H
#define VIAL_HOST_RESULT_H

#include <stdint.h>

#include "base/buf.h"
#include "host/result_artifacts.h"
#include "host/result_calls.h"
#include "host/result_findings.h"
#include "vial.h"
#include "wire/field.h"

enum { RESULT_FRAMES_MAX = 50 }; /* as many as a cell sends */

struct result_frame {
    const char *function;
    const char *file; /* empty: the program itself */
    uint32_t line, column;
};

/* A file that the run gave back. */
struct result_file {
    char *name;
    struct buf bytes;
    uint32_t mode;
};

struct vial_result {
    int status;                /* enum vial_status */
    int exit_code;             /* -1: the run did not end by itself */
    int interrupted;           /* the cell says that it stopped the program when it was asked to */
    uint64_t session_files[2]; /* files of the session, and their bytes */
    int ended;                 /* the cell says that it ends though it was to stay */
    int session_lives;         /* the session that this was evaluated in can be used further */
    /* The payload of the RESULT frame with NULs put behind its fields; what follows points into it.
     */
    char *payload;
    size_t payload_len;
    const char *value, *cbor, *text; /* of value and cbor at most one came */
    size_t value_len, cbor_len, text_len;
    char *tagged; /* cbor as JSON, once asked for */
    size_t tagged_len;
    struct vial_result_error error;
    struct result_frame frames[RESULT_FRAMES_MAX];
    unsigned frames_count;
    char own_message[400]; /* of errors that the host states */
    char own_source_line[256];
    char source_name[1025];    /* of the program, when an error or a frame is in it */
    struct buf output[2];      /* stdout, stderr */
    struct result_file *files; /* run_files.c looks after these */
    unsigned files_count;
    uint64_t files_bytes;
    uint32_t left[LEFT_COUNT]; /* files that match and were not given back, by the reason */
    uint64_t dropped[2];
    struct result_artifacts artifacts;
    struct result_calls calls;
    struct result_findings findings;
    int refused; /* the scanner did not let the program be evaluated; its process lives */
    struct vial_usage usage;
    struct vial_limits limits;
    char *isolation_json;
    char *json; /* the whole as text, once asked for */
    size_t json_len;
};

/* An empty result with its limits and a copy of the isolation report. */
VIAL_NODISCARD int result_new(const struct vial_limits *limits, const char *isolation_json,
    struct vial_result **ret, struct vial_error *err);

/* Takes over the payload of a RESULT frame, which a hostile process may have written. 0, or -1 when
 * it is malformed; then the result is as it was. */
int result_read(struct vial_result *result, char *payload, size_t len);

/* States an error of the host's own: a limit, a crash. */
void result_state(struct vial_result *result, int status, const char *name, const char *hint,
    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Notes the text of the line that the error is in. */
void result_find_line(struct vial_result *result, const char *source, size_t len);

/* Gives the program's name to an error and to frames that are in it. */
void result_name_files(struct vial_result *result, const char *name);

/* Keeps what fits of a piece of output, counts the rest; how many bytes were kept. */
size_t result_output(struct vial_result *result, int stream, const char *bytes, size_t len);

#endif
