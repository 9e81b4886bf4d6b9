/* cell.c - see cell.h.
 *
 * Nothing of the host is in this process, and after confine_cell nothing of the kernel either that
 * the filter does not list. A failure of the cell itself ends it; the host sees the end of the
 * socket. */
#include "cell/cell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "cell/artifacts.h"
#include "cell/attack.h"
#include "cell/calls.h"
#include "cell/family.h"
#include "cell/files.h"
#include "cell/guest.h"
#include "cell/memfs.h"
#include "cell/mounts.h"
#include "cell/permissions.h"
#include "cell/scan_program.h"
#include "cell/slim.h"
#include "cell/start.h"
#include "jail/fork.h"
#include "wire/field.h"
#include "wire/frame.h"

enum {
    CELL_CONTROL_FD = FORK_CONTROL_FD,
    /* The value twice (JSON and text) and the error texts; the host checks the real limit. */
    CELL_RESULT_BYTES_MAX = 768 * 1024 * 1024,
};

/* The run of this process. */
static struct guest_start cell_start;
static const struct cell_spec *cell_spec;

/* Its files. They come before the run's own limits, and until then have the largest that there are
 * (policy/limits.c). */
static struct memfs cell_files;
static const struct memfs_limits LIMITS_FIRST = {
    .bytes_max = 16ULL << 30, .files_max = 1000000, .open_max = 1024};

static _Noreturn void cell_die(void)
{
    _exit(1);
}

void cell_output(int stream, const char *bytes, size_t len)
{
    uint8_t type = stream == VIAL_STDERR ? FRAME_STDERR : FRAME_STDOUT;
    size_t piece;

    while (len > 0) {
        piece = len < FRAME_OUTPUT_BYTES_MAX ? len : FRAME_OUTPUT_BYTES_MAX;
        calls_send(type, bytes, piece);
        bytes += piece;
        len -= piece;
    }
}

void cell_send_artifact(const char *payload, size_t len)
{
    calls_send(FRAME_ARTIFACT, payload, len);
}

static void cell_failed(const char *step, int sys)
{
    struct buf fields;

    buf_init(&fields, FRAME_SMALL_BYTES_MAX);
    if (field_add(&fields, FIELD_STEP, step, strlen(step), NULL) == 0 &&
        field_add_u32(&fields, FIELD_ERRNO, (uint32_t)sys, NULL) == 0) {
        calls_send(FRAME_FAILED, fields.data, fields.len);
    }
    cell_die();
}

static void cell_receive_file(struct files_in *in, uint32_t len)
{
    static char payload[FRAME_FILE_BYTES_MAX];

    if (len > sizeof(payload) || fd_read_up_to(CELL_CONTROL_FD, payload, len) != (ssize_t)len ||
        files_in_take(in, payload, len) < 0) {
        cell_die();
    }
}

/* Reads the start message into memory that lives as long as the cell, and makes the files that come
 * before it. */
static char *cell_receive_start(struct files_in *in, size_t *ret_len)
{
    struct frame_header header;
    char *payload;

    for (;;) {
        if (fd_read_up_to(CELL_CONTROL_FD, &header, sizeof(header)) != (ssize_t)sizeof(header)) {
            _exit(0); /* the host let go of a cell it did not need */
        }
        if (header.type != FRAME_FILE) {
            break;
        }
        cell_receive_file(in, header.len);
    }
    if (header.type != FRAME_START || header.len > FRAME_START_BYTES_MAX) {
        cell_die();
    }
    payload = malloc((size_t)header.len + 1);
    if (payload == NULL) {
        cell_die();
    }
    buf_will_fill(payload, header.len);
    if (fd_read_up_to(CELL_CONTROL_FD, payload, header.len) != (ssize_t)header.len) {
        cell_die();
    }
    *ret_len = header.len;
    return payload;
}

/* The first field of a kind, or NULL. */
static const struct field *cell_find_field(uint8_t tag, struct field *f)
{
    size_t at = 0;

    while (field_next(cell_start.fields, cell_start.fields_len, &at, f) == 1) {
        if (f->tag == tag) {
            return f;
        }
    }
    return NULL;
}

/* What the run asked for before its first instruction could not be had. */
static _Noreturn void cell_refuse(struct buf *result, const char *what, const char *name, int sys)
{
    static const char hint[] =
        "--disk-mb (disk_bytes_max) and --file-count (files_max) say how much "
        "room a run has for files";
    char text[FILE_NAME_BYTES_MAX + 256];
    int n = snprintf(text, sizeof(text), "%s: %s, %s '%s'", strerrorname_np(sys),
        strerrordesc_np(sys), what, name);

    if (field_add_u32(result, FIELD_OUTCOME, OUTCOME_EXCEPTION, NULL) < 0 ||
        field_add(result, FIELD_ERROR_NAME, "FilesError", 10, NULL) < 0 ||
        field_add(result, FIELD_ERROR_MESSAGE, text, (size_t)n, NULL) < 0 ||
        (sys == ENOSPC && field_add(result, FIELD_ERROR_HINT, hint, sizeof(hint) - 1, NULL) < 0)) {
        cell_die();
    }
    cell_finish(result);
}

/* With all files in place: do they fit, and can the run be where it wants to be? */
static void cell_settle_files(
    const struct files_in *in, const struct memfs_limits *limits, struct buf *result)
{
    char name[FILE_NAME_BYTES_MAX + 1];
    struct field f;
    int r;

    if (cell_start.files == NULL) {
        return;
    }
    if (in->sys != 0) {
        cell_refuse(result, "making the file", in->name, in->sys);
    }
    r = mounts_make(&cell_files, &cell_start);
    if (r < 0) {
        cell_refuse(result, "making the directories of", "mounts", -r);
    }
    if (memfs_limit(&cell_files, limits) < 0) {
        cell_refuse(result, "making the files up to", in->name, ENOSPC);
    }
    if (cell_find_field(FIELD_CWD, &f) != NULL) {
        r = files_enter(&cell_files, f.bytes, f.len);
        if (r < 0) {
            (void)snprintf(name, sizeof(name), "%.*s", (int)f.len, f.bytes);
            cell_refuse(result, "entering the directory", name, -r);
        }
    }
}

static void cell_send_file(const char *payload, size_t len)
{
    calls_send(FRAME_FILE, payload, len);
}

/* Gives back the files that the run was asked for, and notes what it left out. */
static void cell_collect(struct buf *result)
{
    struct files_out out = {.fs = &cell_files,
        .fields = cell_start.fields,
        .fields_len = cell_start.fields_len,
        .bytes_max = cell_files.limits.bytes_max,
        .send = cell_send_file};
    uint32_t left[LEFT_COUNT] = {0};
    struct field f;

    if (cell_start.files == NULL || cell_find_field(FIELD_OUT, &f) == NULL) {
        return;
    }
    files_collect(&out, left);
    if (field_add(result, FIELD_LEFT_OUT, left, sizeof(left), NULL) < 0) {
        cell_die();
    }
}

static void cell_send_result(struct buf *result)
{
    uint64_t files[2] = {cell_files.files_count, cell_files.pages_count * MEMFS_PAGE};
    struct timespec used;

    cell_collect(result);
    if (permissions_end(result) < 0) {
        cell_die();
    }
    if (cell_start.session == SESSION_EVAL &&
        field_add(result, FIELD_SESSION_FILES, files, sizeof(files), NULL) < 0) {
        cell_die();
    }
    /* Asked for by its owner only, the kernel brings the account of a running process up to date;
     * the host would read what was written at the last tick. That of a thread: with a limit on
     * processor time the account of the process is kept elsewhere, and is only read. */
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    calls_send(FRAME_RESULT, result->data, result->len);
}

_Noreturn void cell_finish(struct buf *result)
{
    char byte;

    if (cell_start.session == SESSION_EVAL && field_add_u32(result, FIELD_ENDED, 1, NULL) < 0) {
        cell_die();
    }
    cell_send_result(result);
    /* The host looks at what this process has used, and then ends it. */
    (void)fd_read_up_to(CELL_CONTROL_FD, &byte, 1);
    _exit(0);
}

/* Random numbers of its own for this process. */
static void cell_reseed(void)
{
    uint64_t seed[4];

    if (syscall(SYS_getrandom, seed, sizeof(seed), 0) != (long)sizeof(seed) ||
        GUEST.reseed(seed) < 0) {
        cell_failed("random numbers", EIO);
    }
}

static void cell_init_files(struct files_in *in)
{
    memfs_init(&cell_files, &LIMITS_FIRST);
    cell_files.on_begin = GUEST.furnish;
    files_in_init(in, &cell_files);
}

/* What every cell does before it can take a program. */
static void cell_prepare(const struct cell_spec *spec, struct files_in *in)
{
    int hurry = spec->hurry != 0;

    slim_cell(
        hurry, (struct slim_likely){.longer = spec->longer != 0, .modules = spec->modules != 0});
    cell_reseed();
    if (!hurry) {
        GUEST.touch();
        if (spec->scan != 0) {
            scan_touch();
        }
    }
    cell_init_files(in);
}

/* The program, or what the hostile suite has in the place of it. */
static void cell_evaluate(struct buf *result)
{
    const char *report;
    size_t len;

    artifacts_begin();
    if (permissions_begin(&cell_start, &cell_files) < 0) {
        cell_die();
    }
    if (!attack_report(&report, &len)) {
        if (!scan_program(&cell_start, result)) {
            GUEST.run(&cell_start, result);
            scan_done();
        }
    } else if (field_add_u32(result, FIELD_OUTCOME, OUTCOME_OK, NULL) < 0 ||
               field_add(result, FIELD_VALUE, report, len, NULL) < 0) {
        cell_die();
    }
}

static _Noreturn void cell_guest(const struct cell_spec *spec)
{
    struct memfs_limits limits = LIMITS_FIRST;
    static struct files_in in;
    static struct buf result; /* static: the guest may end the run from far below */
    size_t len = 0;
    const char *payload;

    cell_prepare(spec, &in);
    calls_send(FRAME_READY, NULL, 0);
    payload = cell_receive_start(&in, &len);
    if (start_parse(payload, len, &cell_files, &cell_start, &limits) < 0) {
        cell_die();
    }
    buf_init(&result, CELL_RESULT_BYTES_MAX);
    cell_settle_files(&in, &limits, &result);
    cell_evaluate(&result);
    cell_finish(&result);
}

/* ---- the rehearsal ---- */

/* The message by which a host starts a small run. */
static int rehearse_send(int sock)
{
    static const char name[] = "main", source[] = "1+1";
    struct frame_header header = {.type = FRAME_START};
    struct buf fields;
    int r;

    buf_init(&fields, FRAME_SMALL_BYTES_MAX);
    r = field_add(&fields, FIELD_NAME, name, sizeof(name) - 1, NULL);
    r = r < 0 ? r : field_add_u32(&fields, FIELD_FILES_MAX, 1024, NULL);
    r = r < 0 ? r : field_add(&fields, FIELD_SOURCE, source, sizeof(source) - 1, NULL);
    header.len = (uint32_t)fields.len;
    if (r == 0) {
        r = fd_write_all(sock, &header, sizeof(header));
        r = r < 0 ? r : fd_write_all(sock, fields.data, fields.len);
    }
    buf_release(&fields);
    return r;
}

void cell_rehearse(void)
{
    const struct cell_spec spec = {.hurry = 1};
    struct memfs_limits limits = LIMITS_FIRST;
    static struct files_in in;
    static struct buf result;
    const char *payload;
    size_t len = 0;
    int sv[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0 || rehearse_send(sv[1]) < 0 ||
        dup2(sv[0], CELL_CONTROL_FD) < 0) {
        _exit(1);
    }
    cell_prepare(&spec, &in);
    calls_send(FRAME_READY, NULL, 0);
    payload = cell_receive_start(&in, &len);
    if (start_parse(payload, len, &cell_files, &cell_start, &limits) < 0) {
        cell_die();
    }
    buf_init(&result, CELL_RESULT_BYTES_MAX);
    cell_settle_files(&in, &limits, &result);
    artifacts_begin();
    if (permissions_begin(&cell_start, &cell_files) < 0) {
        cell_die();
    }
    GUEST.rehearse();
    cell_send_result(&result);
}

/* ---- members of families ---- */

static struct files_in member_files;

/* A program for a member. What its start message holds is given back with the next one, unless
 * something may still point to it. */
static void member_run(uint32_t len)
{
    static struct buf result;
    static char *before;
    static unsigned count;
    struct memfs_limits limits = cell_files.limits;
    char *payload = malloc((size_t)len + 1);

    if (payload == NULL || fd_read_up_to(CELL_CONTROL_FD, payload, len) != (ssize_t)len) {
        cell_die();
    }
    free(before);
    before = NULL;
    if (start_parse(payload, len, &cell_files, &cell_start, &limits) < 0) {
        cell_die();
    }
    /* The first one has the arguments and variables of all that follow. */
    if (count++ > 0 && cell_start.input_is_cbor == 0 && cell_start.module_count == 0 &&
        cell_start.stdin_bytes == NULL) {
        before = payload;
    }
    buf_release(&result);
    buf_init(&result, CELL_RESULT_BYTES_MAX);
    calls_work();
    cell_settle_files(&member_files, &limits, &result);
    cell_evaluate(&result);
    if (cell_start.session != SESSION_EVAL) {
        cell_finish(&result);
    }
    cell_send_result(&result);
}

/* GO: the host has this process on its books. */
static void member_go(uint32_t len)
{
    uint32_t warm = 0;

    if (len != sizeof(warm) || fd_read_up_to(CELL_CONTROL_FD, &warm, len) != (ssize_t)len) {
        cell_die();
    }
    cell_reseed();
    if (warm != 0) {
        slim_member(warm > 1);
        if (warm == 1) {
            GUEST.touch();
        }
        calls_send(FRAME_READY, NULL, 0);
    }
}

static void member_branch(uint32_t len, const int *fds, unsigned fds_count)
{
    uint32_t refusal[2]; /* the host's number for the copy, and errno */
    int r;

    if (fds_count == 0 || len != sizeof(refusal[0]) ||
        fd_read_up_to(CELL_CONTROL_FD, &refusal[0], len) != (ssize_t)len) {
        cell_die();
    }
    r = attack_on_branch(refusal[0], fds, fds_count);
    if (r != 0) {
        return;
    }
    errno = GUEST.may_branch != NULL ? GUEST.may_branch() : 0;
    r = errno == 0 ? family_branch(fds, fds_count) : -1;
    if (r > 0) {
        GUEST.branched();
        return;
    }
    if (r < 0) {
        refusal[1] = (uint32_t)errno;
        calls_send(FRAME_UNBORN, refusal, sizeof(refusal));
    }
    family_let_go(fds, fds_count);
}

/* The life of a member: it rests until the host has something for it. */
static _Noreturn void cell_member(void)
{
    struct frame_header header;
    int fds[FAMILY_FDS_MAX];
    unsigned fds_count;

    for (;;) {
        calls_rest();
        if (family_read(&header, sizeof(header), fds, &fds_count) < 0) {
            _exit(0);
        }
        if (fds_count != 0 && header.type != FRAME_BRANCH) {
            cell_die();
        }
        if (header.type == FRAME_ANSWER) {
            calls_skip(header.len); /* to a program that did not wait for it */
        } else if (header.type == FRAME_BRANCH) {
            member_branch(header.len, fds, fds_count);
        } else if (header.type == FRAME_FILE) {
            cell_receive_file(&member_files, header.len);
        } else if (header.type == FRAME_GO) {
            member_go(header.len);
        } else if (header.type == FRAME_START && header.len <= FRAME_START_BYTES_MAX) {
            member_run(header.len);
        } else {
            cell_die();
        }
    }
}

_Noreturn void cell_main(const struct confine_cell_input *in)
{
    const char *step = "";
    struct layer_report proof;
    int canary = in->spec->kind == CELL_CANARY;

    if (in->spec->kind == CELL_ATTACK || (in->spec->kind == CELL_ORIGIN && in->spec->attack != 0)) {
        attack_arm(in->spec);
    }
    if (confine_cell(in, canary ? &proof : NULL, &step) < 0) {
        int sys = errno;

        if (in->control_fd != CELL_CONTROL_FD) {
            (void)dup2(in->control_fd, CELL_CONTROL_FD);
        }
        cell_failed(step, sys);
    }
    if (canary) {
        calls_send(FRAME_CANARY, &proof, sizeof(proof));
        _exit(0);
    }
    cell_spec = in->spec;
    if (in->spec->kind == CELL_ORIGIN) {
        family_split(in->spec->threads_max > 0, cell_failed);
        cell_init_files(&member_files);
        GUEST.stay();
        cell_member();
    }
    cell_guest(in->spec);
}
