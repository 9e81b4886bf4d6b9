/* look.h - a cell that looks at a directory which the host serves: what is asked, and answered.
 *
 * A look is a CALL of the tool LOOK_TOOL, whose arguments are struct look and the path, relative
 * and without a NUL; its answer is ANSWER_BYTES, or ANSWER_ERRNO with a uint32_t. */
#ifndef VIAL_WIRE_LOOK_H
#define VIAL_WIRE_LOOK_H

#include <stdint.h>

enum {
    LOOK_TOOL = INT32_MAX,     /* no tool has this number */
    LOOK_BYTES_MAX = 60000,    /* of an answer: below ANSWER_EXTRA_BYTES */
    LOOK_PATH_BYTES_MAX = 4096 /* with what it is relative to it is longer than the kernel takes */
};

enum look_what {
    LOOK_STAT = 0, /* struct look_stat */
    LOOK_READ = 1, /* up to len bytes from offset on */
    LOOK_LIST =
        2, /* names from number offset on: a byte of enum look_type, a byte of length, the name */
};

enum look_type { LOOK_FILE = 0, LOOK_DIRECTORY = 1 };

struct look {
    uint32_t mount; /* its number */
    uint32_t what;  /* enum look_what */
    uint64_t offset;
    uint32_t len;
    uint32_t zero;
};

struct look_stat {
    uint32_t type; /* enum look_type */
    uint32_t mode; /* permissions */
    uint64_t size;
    int64_t mtime_s;
    uint32_t mtime_ns;
    uint32_t zero;
};

#endif
