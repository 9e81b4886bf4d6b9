/* frame.h - frames between host and cell: who may send what, when, and how long it may be.
 *
 * A frame is eight bytes of header and a payload, on a stream socket. The cell's side of it is
 * written by a process that guest code may have taken over, so the host takes nothing from it but
 * what frame_accept allows in the phase the cell is in, and checks each length before it is used
 * for anything. */
#ifndef VIAL_WIRE_FRAME_H
#define VIAL_WIRE_FRAME_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What the host sends to a cell that stays, every few milliseconds, to have it stop its program.
 * Not SIGUSR1, which the engine keeps for itself. */
enum { FRAME_STOP_SIGNAL = SIGUSR2 };

enum frame_type {
    FRAME_START = 1,  /* host to cell: what to run */
    FRAME_READY = 2,  /* cell to host: confined and warm; the payload is empty */
    FRAME_FAILED = 3, /* cell to host: could not confine itself; fields STEP and ERRNO */
    FRAME_CANARY = 4, /* cell to host: what the canary found; struct layer_report */
    FRAME_STDOUT = 5, /* cell to host: bytes the guest printed */
    FRAME_STDERR = 6,
    FRAME_RESULT = 7, /* cell to host: how it ended, as fields */
    FRAME_CALL = 8,   /* cell to host: a call of a tool; struct call_head and the arguments */
    FRAME_ANSWER = 9, /* host to cell: struct answer_head and what the tool answered */
    /* Members of a family. */
    FRAME_BORN = 10,   /* member to host: here; the first one sends its listener along */
    FRAME_GO = 11,     /* host to member: it is on its account now; u32, not 0: warm up, be READY */
    FRAME_BRANCH = 12, /* host to member: clone; with the copy's socket and cgroup files */
    FRAME_UNBORN = 13, /* member to host: it could not */
    /* Both ways: a piece of a file, as fields. FILE_NAME begins one, FILE_BYTES is added to the one
     * that was begun last. The host sends them before START, the cell before RESULT. */
    FRAME_FILE = 20,
    /* Cell to host, while a program runs: a piece of what it shows beside its value, as fields. An
     * artifact goes from its ARTIFACT_NAME to its ARTIFACT_END, in as many frames as it needs. */
    FRAME_ARTIFACT = 21,
    /* Cell to host, while a program runs: a file operation was refused; struct denial_head and the
     * path. */
    FRAME_DENIED = 30,
    FRAME_FINDINGS = 22, /* cell to host, once, before a program: what the scanner has found */
};

/* What the host expects of a cell. */
enum frame_phase {
    PHASE_BORN,    /* forked, confining itself */
    PHASE_WAITING, /* ready in the pool, or at rest between programs: only UNBORN may come */
    PHASE_RUNNING, /* START was sent */
    PHASE_DONE,    /* RESULT or FAILED came: nothing may come */
    PHASE_FILES,   /* a FILE came: more of them, and the RESULT */
    PHASE_JOINING, /* a member of a family was BORN and is told to GO */
};

struct frame_header {
    uint32_t len; /* of the payload */
    uint8_t type;
    uint8_t zero[3];
};

enum {
    FRAME_HEADER_BYTES = sizeof(struct frame_header),
    /* The cell cuts its output into pieces, so that the host's buffer for a frame stays small. */
    FRAME_OUTPUT_BYTES_MAX = 65536,
    FRAME_SMALL_BYTES_MAX = 4096, /* FAILED and CANARY */
    FRAME_DENIED_BYTES_MAX = 4096 + 64,
    FRAME_FILE_PIECE_BYTES = 65536, /* the bytes in one FILE; the name and heads come on top */
    FRAME_FILE_BYTES_MAX = FRAME_FILE_PIECE_BYTES + 4096 + 64,
    FRAME_ARTIFACT_PIECE_BYTES = 65536, /* likewise the bytes of an artifact */
    FRAME_ARTIFACT_BYTES_MAX = FRAME_ARTIFACT_PIECE_BYTES + 4096,
    /* A hundred findings, each with texts of up to a thousand bytes. */
    FRAME_FINDINGS_BYTES_MAX = 160 * 1024,
    /* What a result may hold beside the value and its text: an error with its cut texts. */
    FRAME_RESULT_EXTRA_BYTES = 262144,
    /* A start message: source, input and the name. Larger programs are no programs. */
    FRAME_START_BYTES_MAX = 256 * 1024 * 1024,
};

/* How long frames may be whose length a run's limits decide. */
struct frame_limits {
    uint64_t value_bytes_max;
    uint64_t call_bytes_max;
};

/* Is this header allowed in this phase? Moves *phase on. 0, or -1. */
int frame_accept(
    enum frame_phase *phase, const struct frame_header *header, const struct frame_limits *limits);

/* One frame found in a buffer. */
struct frame {
    uint8_t type;
    const char *payload; /* inside of the buffer */
    size_t len;
};

/* Looks for a whole frame at offset *at of in. 1: found, *at is behind it; 0: not whole yet; -1:
 * refused. The phase only moves when the frame is whole, so calling again after more bytes came is
 * right. */
int frame_next(const struct buf *in, size_t *at, enum frame_phase *phase,
    const struct frame_limits *limits, struct frame *ret);

/* ---- branches ---- */

/* A whole frame BRANCH, and what answers it when there is no copy. */
struct branch_order {
    struct frame_header header;
    uint32_t cell; /* the host's number for the copy */
};

struct branch_refusal {
    struct frame_header header;
    uint32_t cell;
    uint32_t sys; /* errno */
};

/* ---- permissions ---- */

enum {
    DENIALS_MAX = 100, /* of a run that are told of; the rest is counted in its result */
    DENIAL_CWD = 4,    /* beside enum rule_op: to change the directory */
};

struct denial_head {
    uint32_t op;    /* enum rule_op, or DENIAL_CWD */
    uint32_t level; /* enum permission_level */
    uint32_t rule;  /* as policy/rules.h has it */
    uint32_t zero;
};

/* ---- calls of tools ---- */

enum call_kind {
    CALL_JSON = 0,
    CALL_CBOR = 1,
    CALL_LARGE = 2, /* the arguments are too large; instead of them their size as a uint64_t */
    CALL_BYTES = 3, /* of a fetch: wire/fetch.h */
};

struct call_head {
    uint32_t id; /* the cell's number for it: counts up */
    uint32_t tool;
    uint32_t kind; /* enum call_kind */
    uint32_t zero;
};

enum answer_kind {
    ANSWER_JSON = 0,
    ANSWER_CBOR = 1,
    ANSWER_UNDEFINED = 2,
    ANSWER_ERROR = 3, /* JSON: {"name", "message", "fields"} */
    ANSWER_BYTES = 4, /* of a look and a fetch: wire/look.h, wire/fetch.h */
    ANSWER_ERRNO = 5, /* of a look: u32 */
};

struct answer_head {
    uint32_t id;
    uint32_t kind; /* enum answer_kind */
};

enum {
    /* What an ANSWER may have beyond the limit of the run: an error with its texts. */
    ANSWER_EXTRA_BYTES = 65536,
};

#endif
