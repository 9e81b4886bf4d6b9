/* raw_wire.c - raw attacks on what a cell was born with: its descriptors, its memory, and above all
 * the control socket, on which it lies to the host. */
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

#include "raw.h"
#include "wire/field.h"
#include "wire/frame.h"

enum {
    CONTROL = 3,
    FDS = 1024,      /* what select can name, and far more than a cell may open */
    BIG = 512 * 1024 /* room for the largest forgery */
};

extern char **environ;

void raw_descriptors(uint64_t unused)
{
    struct pollfd p = {.fd = 0, .events = 0};
    int open_count = 0;
    int beyond = 0;
    char byte;
    int fd;

    (void)unused;
    for (fd = 0; fd < FDS; fd++) {
        p.fd = fd;
        p.revents = 0;
        if (poll(&p, 1, 0) < 0 || (p.revents & POLLNVAL) != 0) {
            continue;
        }
        open_count++;
        beyond += fd > CONTROL;
    }
    raw_note_yes("four descriptors are open", open_count == 4);
    raw_note_yes("none above the control socket", beyond == 0);
    for (fd = 4; fd < FDS; fd += 51) {
        raw_note("reading", read(fd, &byte, 1), "EBADF");
        raw_note("writing", write(fd, &byte, 0), "EBADF");
    }
    raw_note_yes("nothing comes from standard input", read(0, &byte, 1) == 0);
    RAW(fstat, "EPERM", CONTROL, RAW_NOWHERE);
    RAW(fchdir, "EPERM", CONTROL);
    RAW(dup, "EPERM", CONTROL);
    RAW(fcntl, "EPERM", CONTROL, 3, 0);
    RAW(lseek, "EPERM", CONTROL, 0, 0);
    RAW(pread64, "EPERM", CONTROL, RAW_NOWHERE, 1, 0);
}

/* Is the text one of those that every cell has? */
static int expected_variable(const char *text)
{
    static const char *const known[] = {
        "JSC_", "TZ=UTC", "LC_ALL=C.UTF-8", "HOME=/home/vial", "VIAL_WITHOUT="};
    size_t i;

    for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strncmp(text, known[i], strlen(known[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What a program is started with lies at the end of its stack: arguments, environment, its own
 * path. */
void raw_birth(uint64_t unused)
{
    uintptr_t path = getauxval(AT_EXECFN);
    const char *name;
    size_t i;
    int strange = 0;

    (void)unused;
    for (i = 0; environ != NULL && environ[i] != NULL; i++) {
        strange += !expected_variable(environ[i]);
    }
    raw_note_yes("only the cell's own variables", strange == 0);
    memcpy(&name, &path, sizeof(name));
    raw_note_yes("no path of the host in the vector of the kernel",
        name == NULL || strchr(name, '/') == NULL);
    raw_note_yes("the short name says nothing", strcmp(program_invocation_name, "vial-cell") == 0);
}

void raw_messages(uint64_t unused)
{
    (void)unused;
    RAW(sendmsg, "EPERM", CONTROL, RAW_NOWHERE, 0);
    RAW(sendmmsg, "EPERM", CONTROL, RAW_NOWHERE, 1, 0);
    RAW(recvmsg, "EPERM", CONTROL, RAW_NOWHERE, 0);
    RAW(recvmmsg, "EPERM", CONTROL, RAW_NOWHERE, 1, 0, 0);
    RAW(sendto, "EPERM", CONTROL, "x", 1, 0, 0, 0);
    RAW(recvfrom, "EPERM", CONTROL, RAW_NOWHERE, 1, 0, 0, 0);
    RAW(sendfile, "EPERM", CONTROL, 0, 0, 1);
    RAW(writev, "EPERM", CONTROL, RAW_NOWHERE, 1);
}

/* ---- forged frames ---- */

static char bytes[BIG];
static size_t bytes_len;

static void forge(const void *from, size_t len)
{
    memcpy(bytes + bytes_len, from, len);
    bytes_len += len;
}

static void forge_header(uint8_t type, uint32_t len)
{
    struct frame_header header = {.len = len, .type = type};

    forge(&header, sizeof(header));
}

static void forge_field(uint8_t tag, const void *value, uint32_t len)
{
    forge(&tag, 1);
    forge(&len, sizeof(len));
    forge(value, len);
}

/* A whole result with one JSON value. */
static void forge_result(const char *value, size_t len)
{
    uint32_t outcome = OUTCOME_OK;

    forge_header(FRAME_RESULT, (uint32_t)(2 * FIELD_HEAD_BYTES + sizeof(outcome) + len));
    forge_field(FIELD_OUTCOME, &outcome, sizeof(outcome));
    forge_field(FIELD_VALUE, value, (uint32_t)len);
}

static void send_forgery(void)
{
    size_t at = 0;
    ssize_t n;

    while (at < bytes_len) {
        n = write(CONTROL, bytes + at, bytes_len - at);
        if (n <= 0) {
            _exit(1);
        }
        at += (size_t)n;
    }
    bytes_len = 0;
}

static _Noreturn void stall(void)
{
    struct timespec long_time = {.tv_sec = 1000};

    for (;;) {
        (void)nanosleep(&long_time, NULL);
    }
}

/* Frames that are nonsense before anybody looks inside. */
static void forge_bad_frame(uint64_t how)
{
    struct frame_header odd = {.type = FRAME_STDOUT, .zero = {0, 1, 0}};

    switch (how) {
    case 0: /* a length that is all of memory */
        forge_header(FRAME_STDOUT, UINT32_MAX);
        break;
    case 1: /* output that is a byte too long */
        forge_header(FRAME_STDOUT, FRAME_OUTPUT_BYTES_MAX + 1);
        break;
    case 2: /* a message of another state */
        forge_header(FRAME_READY, 0);
        break;
    case 3: /* the host's own message */
        forge_header(FRAME_START, 0);
        break;
    case 4: /* the canary's report, that all is well */
        forge_header(FRAME_CANARY, 64);
        break;
    case 5: /* no known type */
        forge_header(255, 0);
        break;
    case 6: /* bytes that are kept zero */
        forge(&odd, sizeof(odd));
        break;
    case 7: /* two results */
        forge_result("1", 1);
        forge_result("2", 1);
        break;
    case 8: /* output behind the result */
        forge_result("1", 1);
        forge_header(FRAME_STDOUT, 0);
        break;
    default: /* a result that is longer than its limit */
        forge_header(FRAME_RESULT, UINT32_MAX);
        break;
    }
}

/* Results whose inside is nonsense. */
static void forge_bad_result(uint64_t how)
{
    static char deep[20000];
    uint32_t outcome = how == 16 ? 7 : OUTCOME_EXCEPTION;
    int i;

    memset(deep, '[', sizeof(deep));
    switch (how) {
    case 10: /* a value that is no JSON */
        forge_result("{\"a\":", 5);
        break;
    case 11: /* a value that is deeper than a host's stack */
        forge_result(deep, sizeof(deep));
        break;
    case 12: /* two values, as far as a careless reader sees */
        forge_result("1,2", 3);
        break;
    case 13: /* a value that is no UTF-8 */
        forge_result("\"\xff\xc0\x80\"", 5);
        break;
    case 14: /* a field longer than its frame */
        forge_header(FRAME_RESULT, 6);
        forge("\x11\xff\xff\xff\xff\x31", 6);
        break;
    case 15: /* a field nobody knows */
        forge_header(FRAME_RESULT, 5);
        forge("\xc8\0\0\0\0", 5);
        break;
    case 16: /* an end that is neither good nor bad; or, next, an error without a name */
    case 17:
        forge_header(FRAME_RESULT, 9);
        forge_field(FIELD_OUTCOME, &outcome, sizeof(outcome));
        break;
    case 18: /* more stack frames than there is room for */
        forge_header(FRAME_RESULT, 200 * FIELD_HEAD_BYTES);
        for (i = 0; i < 200; i++) {
            forge_field(FIELD_FRAME_FUNCTION, "", 0);
        }
        break;
    case 19: /* a line of a frame that has not begun */
        forge_header(FRAME_RESULT, 9);
        forge_field(FIELD_FRAME_LINE, &outcome, sizeof(outcome));
        break;
    default: /* an empty result */
        forge_header(FRAME_RESULT, 0);
        break;
    }
}

/* Nonsense of every kind; the host must end the run for each, and never believe any of it. */
void raw_forge(uint64_t how)
{
    if (how < 10) {
        forge_bad_frame(how);
    } else if (how <= 20) {
        forge_bad_result(how);
    } else { /* noise, whose type is none, so that it is never by chance something */
        bytes_len = getrandom(bytes, 4096, 0) == 4096 ? 4096 : 8;
        bytes[4] = 0;
    }
    send_forgery();
    stall();
}

static void forge_file(const char *name, uint32_t len)
{
    static const char nothing[FRAME_FILE_PIECE_BYTES];
    uint32_t name_len = (uint32_t)strlen(name);

    forge_header(FRAME_FILE, 2 * FIELD_HEAD_BYTES + name_len + len);
    forge_field(FIELD_FILE_NAME, name, name_len);
    forge_field(FIELD_FILE_BYTES, nothing, len);
}

/* Outputs that no collector of ours sends. The run asks for "*", unless how is 0. */
void raw_forge_files(uint64_t how)
{
    char name[16];
    unsigned i;

    switch (how) {
    case 0: /* of a run that has none */
        forge_file("x", 1);
        break;
    case 1: /* beside the directory they go to */
        forge_file("../../../../tmp/x", 1);
        break;
    case 2:
        forge_file("/etc/cron.d/x", 1);
        break;
    case 3: /* one that was not asked for */
        forge_file("a/b", 1);
        break;
    case 4: /* twice the same */
        forge_file("x", 1);
        forge_file("x", 1);
        break;
    case 5: /* more bytes than the disk could have */
        forge_file("x", FRAME_FILE_PIECE_BYTES);
        forge_file("y", FRAME_FILE_PIECE_BYTES);
        break;
    case 6: /* more files than anybody takes */
        for (i = 0; i <= FILES_OUT_MAX; i++) {
            (void)snprintf(name, sizeof(name), "f%u", i);
            forge_file(name, 0);
        }
        break;
    case 7: /* output behind them */
        forge_file("x", 1);
        forge_header(FRAME_STDOUT, 0);
        break;
    case 8: /* a name that drives a terminal */
        forge_file("\x1b[2J", 1);
        break;
    default: /* bytes of no file */
        forge_header(FRAME_FILE, FIELD_HEAD_BYTES + 1);
        forge_field(FIELD_FILE_BYTES, "x", 1);
        break;
    }
    send_forgery();
    stall();
}

/* One frame with one field. */
static void forge_piece(uint8_t tag, const char *text)
{
    uint32_t len = (uint32_t)strlen(text);

    forge_header(FRAME_ARTIFACT, FIELD_HEAD_BYTES + len);
    forge_field(tag, text, len);
}

/* Artifacts that no program can show. */
void raw_forge_artifacts(uint64_t how)
{
    static const char nothing[FRAME_ARTIFACT_PIECE_BYTES];
    unsigned i;

    if (how > 2) {
        forge_piece(FIELD_ARTIFACT_NAME, how == 3   ? "../../../../tmp/x"
                                         : how == 4 ? "\x1b[2J"
                                                    : "");
    }
    switch (how) {
    case 0: /* bytes of no artifact */
        forge_piece(FIELD_ARTIFACT_BYTES, "x");
        break;
    case 1: /* a frame that is a byte too long */
        forge_header(FRAME_ARTIFACT, FRAME_ARTIFACT_BYTES_MAX + 1);
        break;
    case 2: /* more of them than anybody takes */
        for (i = 0; i <= ARTIFACTS_MAX; i++) {
            forge_piece(FIELD_ARTIFACT_NAME, "");
            forge_piece(FIELD_ARTIFACT_MIME, "a/b");
            forge_piece(FIELD_ARTIFACT_END, "");
        }
        break;
    case 5: /* a type that would be lines of a header */
        forge_piece(FIELD_ARTIFACT_MIME, "a/b\r\nset-cookie: x");
        break;
    case 6: /* more representations than there is room for */
        for (i = 0; i <= ARTIFACT_PARTS_MAX; i++) {
            char mime[] = {'a', '/', (char)('a' + i), '\0'};

            forge_piece(FIELD_ARTIFACT_MIME, mime);
        }
        break;
    case 7: /* more bytes than all may have together */
        forge_piece(FIELD_ARTIFACT_MIME, "a/b");
        for (i = 0; i <= ARTIFACTS_BYTES_MAX / FRAME_ARTIFACT_PIECE_BYTES; i++) {
            forge_header(FRAME_ARTIFACT, FIELD_HEAD_BYTES + sizeof(nothing));
            forge_field(FIELD_ARTIFACT_BYTES, nothing, sizeof(nothing));
            send_forgery();
        }
        break;
    case 8: /* a result in the middle of one */
        forge_result("1", 1);
        break;
    default: /* a field nobody knows */
        forge_piece(FIELD_VALUE, "1");
        break;
    }
    send_forgery();
    stall();
}

/* A header and half of what it promises; then nothing. */
void raw_forge_partial(uint64_t unused)
{
    (void)unused;
    forge_header(FRAME_RESULT, 1000);
    forge("\x10", 1);
    send_forgery();
    stall();
}

/* A good result, and then, when the host has long turned away, more of everything. */
void raw_forge_late(uint64_t unused)
{
    static const char report[] = "[{\"call\":\"late\",\"got\":\"ok\",\"want\":\"ok\"}]";
    struct timespec moment = {.tv_nsec = 50 * 1000 * 1000};

    (void)unused;
    forge_result(report, sizeof(report) - 1);
    send_forgery();
    (void)nanosleep(&moment, NULL);
    for (;;) {
        forge_result("2", 1);
        send_forgery();
    }
}

/* An error whose every text is an attack on a terminal, a log or a reader of UTF-8. */
void raw_forge_error(uint64_t unused)
{
    static const char text[] = "\x1b]0;owned\x07\x1b[2J\r\n{\"status\":\"ok\"}\x00\xff\xfe";
    uint32_t outcome = OUTCOME_EXCEPTION;
    uint32_t line = UINT32_MAX;
    size_t start = bytes_len;
    uint32_t len;

    (void)unused;
    forge_header(FRAME_RESULT, 0);
    forge_field(FIELD_OUTCOME, &outcome, sizeof(outcome));
    forge_field(FIELD_ERROR_NAME, text, sizeof(text) - 1);
    forge_field(FIELD_ERROR_MESSAGE, text, sizeof(text) - 1);
    forge_field(FIELD_ERROR_STACK, text, sizeof(text) - 1);
    forge_field(FIELD_ERROR_HINT, text, sizeof(text) - 1);
    forge_field(FIELD_ERROR_LINE, &line, sizeof(line));
    forge_field(FIELD_ERROR_COLUMN, &line, sizeof(line));
    len = (uint32_t)(bytes_len - start - sizeof(struct frame_header));
    memcpy(bytes + start, &len, sizeof(len));
    send_forgery();
    stall();
}

/* Output without any bytes, as fast as it can: no limit on bytes will ever end this. */
void raw_empty_flood(uint64_t unused)
{
    int i;

    (void)unused;
    for (;;) {
        for (i = 0; i < 4096; i++) {
            forge_header(FRAME_STDOUT, 0);
        }
        send_forgery();
    }
}

/* Hangs up on the host and goes on living. */
void raw_hang_up(uint64_t spins)
{
    (void)close(0);
    (void)close(1);
    (void)close(2);
    (void)close(CONTROL);
    while (spins) {
    }
    stall();
}
