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
    FIELD_NET = 132,     /* u32: the program may ask the network; bytes of the body of a request */
    FIELD_MOUNT = 108,   /* the name of a directory that the host serves, in their order */
    FIELD_SESSION = 102, /* u32, enum session_kind */
    FIELD_GLOBALS = 103, /* a JSON object */
    FIELD_ENTRY_MAIN = 104, /* u32: the value is what main() returns */
    FIELD_FUNCTION =
        105, /* u32: instead of a program, a call of this handle; INPUT has the arguments */
    FIELD_RELEASE = 106,  /* u32: this handle is not needed any more */
    FIELD_COMPLETE = 107, /* u32: not a program but the beginning of a name in it */
    FIELD_ALLOWED_IMPORT =
        109, /* what programs may import; the first one is empty and says that they may no more */
    /* START: permissions */
    FIELD_FS_RULES = 120, /* three u32: the level, enum rules_word, how many rules follow */
    FIELD_FS_RULE =
        121, /* u32 of enum rule_op and FS_RULE_ALLOWS, the name and the pattern, each with a NUL */
    FIELD_CWD_DENIED = 122,    /* two u32: the level and the rule that keep it where it is */
    FIELD_CWD_DENIED_BY = 123, /* the same in words */
    FIELD_ENV_GONE = 124,      /* the name of a variable that may be there and must not */
    FIELD_CLOCK = 125,         /* struct field_clock */
    FIELD_RANDOM = 126,        /* struct field_random */
    /* START: the scanner */
    FIELD_SCAN = 110,            /* u32, enum scan_mode */
    FIELD_SCAN_RULES_NAME = 111, /* of a file of rules; its text follows */
    FIELD_SCAN_RULES = 112,
    /* FINDINGS: each begins with its ID */
    FIELD_FINDING_ID = 113,
    FIELD_FINDING_SEVERITY = 114, /* u32, enum vial_severity */
    FIELD_FINDING_LINE = 115,     /* u32 */
    FIELD_FINDING_COLUMN = 116,   /* u32 */
    FIELD_FINDING_FILE = 117,     /* the module it is in; empty for the program itself */
    FIELD_FINDING_TEXT = 118,
    FIELD_FINDING_MESSAGE = 119,
    FIELD_FINDING_ADVICE = 130,
    FIELD_FINDINGS_MORE = 131, /* u32: how many are left out */
    /* RESULT */
    FIELD_DENIALS = 127,      /* u32: operations that were refused and not told of */
    FIELD_EXIT_CODE = 70,     /* u32 */
    FIELD_ENDED = 72,         /* u32: the process ends with this program, though it need not */
    FIELD_SESSION_FILES = 73, /* two uint64_t: files there are now, and their bytes */
    FIELD_LEFT_OUT =
        71, /* u32 for each of enum left_out: files that match and are not given back */
    /* FILE */
    FIELD_FILE_NAME = 80,
    FIELD_FILE_MODE = 81, /* u32, permission bits; behind the name */
    FIELD_FILE_BYTES = 82,
    /* ARTIFACT: the first begins one, each MIME begins a representation of it, BYTES are added to
     * the representation that was begun last, END makes it count. */
    FIELD_ARTIFACT_NAME = 83, /* empty: it has none */
    FIELD_ARTIFACT_MIME = 84,
    FIELD_ARTIFACT_BYTES = 85,
    FIELD_ARTIFACT_END = 86,     /* empty */
    FIELD_ARTIFACT_DROPPED = 87, /* empty, between artifacts: one was beyond what is taken */
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

/* What is done about the scanner before a program is evaluated. */
enum scan_mode {
    SCAN_OFF = 0,
    SCAN_WARN = 1,    /* tells what it finds */
    SCAN_BLOCK = 2,   /* and refuses programs with findings that say so */
    SCAN_ONLY = 3,    /* tells, and nothing is evaluated */
    SCAN_PREPARE = 4, /* compiles rules for the programs that will be, and scans nothing */
};

enum { SCAN_FINDINGS_MAX = 100 }; /* that a cell tells of one program */

/* The name of an error about rules and not about the program. */
#define SCAN_RULES_ERROR "ScanRulesError"

/* What is wanted of the value: as data, as text, nothing at all. */
enum want { WANT_VALUE = 0, WANT_TEXT = 1, WANT_NOTHING = 2 };

/* What a cell must know about a tool. */
enum tool_bits {
    TOOL_BIT_SYNC = 1,
    TOOL_BIT_VALUES = 2,  /* takes CBOR */
    TOOL_BIT_OBJECT = 4,  /* takes an object, so other arguments are its members in order */
    TOOL_BIT_MODULES = 8, /* is asked for modules */
};

enum outcome {
    OUTCOME_OK = 0,
    OUTCOME_EXCEPTION = 1,
    OUTCOME_INTERRUPTED = 2,
    OUTCOME_MEMORY = 3,  /* an exception that says that there is no more memory */
    OUTCOME_REFUSED = 4, /* nothing was evaluated, because of what the scanner has found */
};

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

enum { FS_RULE_ALLOWS = 1 << 16 };

struct field_clock {
    int64_t at_us; /* since 1970 */
    uint32_t runs; /* not 0: from then on; 0: it stands */
    uint32_t zero;
};

struct field_random {
    uint64_t seed;
    uint32_t is_denied; /* not 0: no other random numbers either */
    uint32_t is_kept;   /* not 0: seeded before, go on */
};

enum { FILES_OUT_MAX = 1000 }; /* given back by one run; the bytes are at most disk_bytes_max */

/* What one program may show. The cell drops what is beyond and says so; of a cell that sends more
 * the host takes nothing. */
enum {
    ARTIFACTS_MAX = 100,    /* more is a loop that shows its steps, which nobody looks at */
    ARTIFACT_PARTS_MAX = 8, /* text, HTML, an image and some more of the same thing */
    ARTIFACTS_BYTES_MAX =
        16 * 1024 * 1024, /* in all: the host keeps them in memory for the result */
};

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
