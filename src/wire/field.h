/* field.h - the inside of START, RESULT and FAILED: a row of tagged, length-prefixed fields.
 *
 * Five bytes of head (tag, length) and the bytes. A reader skips nothing: an unknown tag is an
 * error, since both ends come from one build. */
#ifndef VIAL_WIRE_FIELD_H
#define VIAL_WIRE_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum field_tag {
    /* START */
    FIELD_NAME = 1,           /* of the source, for stack traces */
    FIELD_SOURCE = 2,         /* UTF-8 */
    FIELD_INPUT = 3,          /* JSON */
    FIELD_WANT_TEXT = 4,      /* u32, enum want */
    FIELD_TIMERS_MAX = 5,     /* u32 */
    FIELD_VALUE_MAX = 6,      /* u32, bytes */
    FIELD_INPUT_CBOR = 7,     /* instead of INPUT */
    FIELD_LANGUAGE = 8,       /* u32, enum vial_language */
    FIELD_KIND = 10,          /* u32, enum vial_kind */
    FIELD_MODULE_NAME = 11,   /* starts a module; its SOURCE follows */
    FIELD_MODULE_SOURCE = 12, /* UTF-8 */
    /* RESULT */
    FIELD_OUTCOME = 16, /* u32, enum outcome */
    FIELD_VALUE = 17,   /* JSON */
    FIELD_TEXT = 18,    /* the value as a REPL would print it */
    FIELD_ERROR_NAME = 19,
    FIELD_ERROR_MESSAGE = 20,
    FIELD_ERROR_STACK = 21,
    FIELD_ERROR_LINE = 22,   /* u32 */
    FIELD_ERROR_COLUMN = 23, /* u32 */
    FIELD_ERROR_HINT = 24,
    FIELD_FRAME_FUNCTION = 25, /* starts a stack frame; LINE and COLUMN follow */
    FIELD_FRAME_LINE = 26,     /* u32 */
    FIELD_FRAME_COLUMN = 27,   /* u32 */
    FIELD_VALUE_CBOR = 28,     /* instead of VALUE */
    FIELD_ERROR_FILE = 32,     /* the module it is in; empty for the program itself */
    FIELD_FRAME_FILE = 33,     /* likewise */
    /* START: the process as the guest sees it */
    FIELD_ENV = 60,   /* one variable, "NAME=value" */
    FIELD_ARG = 61,   /* one argument */
    FIELD_CWD = 62,   /* a name beneath the private directory */
    FIELD_STDIN = 63, /* bytes */
    FIELD_OUT = 64,   /* one pattern of files to give back */
    /* START: tools, in the order of their numbers */
    FIELD_TOOL =
        100, /* u32 of enum tool_bits, the name, and the names of its parameters, each with a NUL */
    FIELD_CALL_BYTES_MAX = 101, /* u32 */
    FIELD_MOUNT = 108,          /* the name of a directory that the host serves, in their order */
    FIELD_SESSION = 102,        /* u32, enum session_kind */
    FIELD_GLOBALS = 103,        /* a JSON object */
    FIELD_ENTRY_MAIN = 104,     /* u32: the value is what main() returns */
    FIELD_FUNCTION =
        105, /* u32: instead of a program, a call of this handle; INPUT has the arguments */
    FIELD_RELEASE = 106,  /* u32: this handle is not needed any more */
    FIELD_COMPLETE = 107, /* u32: not a program but the beginning of a name in it */
    /* RESULT */
    FIELD_EXIT_CODE = 70,     /* u32 */
    FIELD_ENDED = 72,         /* u32: the process ends with this program, though it need not */
    FIELD_SESSION_FILES = 73, /* two uint64_t: files there are now, and their bytes */
    FIELD_LEFT_OUT =
        71, /* u32 for each of enum left_out: files that match and are not given back */
    /* FILE */
    FIELD_FILE_NAME = 80,
    FIELD_FILE_MODE = 81, /* u32, permission bits; behind the name */
    FIELD_FILE_BYTES = 82,
    /* START: how much the run may have of files; without FILES_MAX it has none */
    FIELD_FILES_MAX = 90,      /* u32 */
    FIELD_DISK_MAX = 91,       /* u64, bytes */
    FIELD_OPEN_FILES_MAX = 92, /* u32 */
    /* FAILED */
    FIELD_STEP = 40,  /* which step of the confinement */
    FIELD_ERRNO = 41, /* u32 */
};

/* What is left of earlier programs in this process. */
enum session_kind {
    SESSION_NONE = 0, /* nothing: the program is the first and the last */
    SESSION_EVAL = 1, /* everything stays, before and after */
    SESSION_ENV = 2,  /* a run that begins with what the prefix of its environment left */
};

/* What is wanted of the value: as data, as text, nothing at all. */
enum want { WANT_VALUE = 0, WANT_TEXT = 1, WANT_NOTHING = 2 };

/* What a cell must know about a tool. */
enum tool_bits {
    TOOL_BIT_SYNC = 1,
    TOOL_BIT_VALUES = 2, /* takes CBOR */
    TOOL_BIT_OBJECT = 4, /* takes an object, so other arguments are its members in order */
};

enum outcome { OUTCOME_OK = 0, OUTCOME_EXCEPTION = 1, OUTCOME_INTERRUPTED = 2 };

/* Why the cell did not give a file back. */
enum left_out {
    LEFT_SYMLINK,    /* never followed, never taken */
    LEFT_SPECIAL,    /* neither a file nor a directory */
    LEFT_NAME,       /* a name that must not leave the cell, see base/name.h */
    LEFT_DEEP,       /* more levels of directories than anybody means to have */
    LEFT_MANY,       /* beyond the number of files or directories that are taken */
    LEFT_LARGE,      /* beyond the bytes that are taken */
    LEFT_UNREADABLE, /* the program took the right to read it away, or there is no memory for it */
    LEFT_COUNT
};

enum { FILES_OUT_MAX = 1000 }; /* given back by one run; the bytes are at most disk_bytes_max */

enum { FIELD_HEAD_BYTES = 5 };

/* Writes the head of a field whose len bytes the caller sends behind it. */
void field_head(char head[FIELD_HEAD_BYTES], uint8_t tag, uint32_t len);

VIAL_NODISCARD int field_add(
    struct buf *b, uint8_t tag, const void *bytes, size_t len, struct vial_error *err);
VIAL_NODISCARD int field_add_u32(struct buf *b, uint8_t tag, uint32_t v, struct vial_error *err);
VIAL_NODISCARD int field_add_u64(struct buf *b, uint8_t tag, uint64_t v, struct vial_error *err);

struct field {
    uint8_t tag;
    const char *bytes;
    size_t len;
};

/* The field at *at: 1 with *at moved behind it, 0 at the end, -1 when the bytes are malformed. */
int field_next(const char *bytes, size_t len, size_t *at, struct field *ret);

/* The value of a u32 field: 0, or -1 when it is not four bytes long. */
int field_u32(const struct field *f, uint32_t *ret);

/* The value of a u64 field: 0, or -1 when it is not eight bytes long. */
int field_u64(const struct field *f, uint64_t *ret);

#endif
