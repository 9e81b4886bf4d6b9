/* cell.c - see cell.h.
 *
 * Nothing of the host is in this process, and after confine_cell nothing of the kernel either that
 * the filter does not list. A failure of the cell itself ends it; the host sees the end of the
 * socket. */
#include "cell/cell.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cell/attack.h"
#include "cell/files.h"
#include "cell/guest.h"
#include "cell/memfs.h"
#include "cell/slim.h"
#include "jail/filter.h"
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

static void cell_send(uint8_t type, const void *payload, size_t len)
{
    struct frame_header header = {.len = (uint32_t)len, .type = type};
    char small[FRAME_HEADER_BYTES + 1024];

    if (len <= sizeof(small) - sizeof(header)) { /* one call for all short frames */
        memcpy(small, &header, sizeof(header));
        if (len > 0) {
            memcpy(small + sizeof(header), payload, len);
        }
        if (fd_write_all(CELL_CONTROL_FD, small, sizeof(header) + len) < 0) {
            cell_die();
        }
        return;
    }
    if (fd_write_all(CELL_CONTROL_FD, &header, sizeof(header)) < 0 ||
        fd_write_all(CELL_CONTROL_FD, payload, len) < 0) {
        cell_die();
    }
}

void cell_output(int stream, const char *bytes, size_t len)
{
    uint8_t type = stream == VIAL_STDERR ? FRAME_STDERR : FRAME_STDOUT;
    size_t piece;

    while (len > 0) {
        piece = len < FRAME_OUTPUT_BYTES_MAX ? len : FRAME_OUTPUT_BYTES_MAX;
        cell_send(type, bytes, piece);
        bytes += piece;
        len -= piece;
    }
}

void cell_sleep_until(uint64_t us)
{
    struct pollfd fd = {.fd = CELL_CONTROL_FD, .events = POLLIN};
    struct timespec left;
    uint64_t now = clock_now_us();

    if (us <= now) {
        return;
    }
    left.tv_sec = (time_t)((us - now) / 1000000);
    left.tv_nsec = (long)((us - now) % 1000000) * 1000;
    if (ppoll(&fd, 1, &left, NULL) > 0) {
        cell_die(); /* the host says nothing during a run but by closing the socket */
    }
}

static void cell_failed(const char *step, int sys)
{
    struct buf fields;

    buf_init(&fields, FRAME_SMALL_BYTES_MAX);
    if (field_add(&fields, FIELD_STEP, step, strlen(step), NULL) == 0 &&
        field_add_u32(&fields, FIELD_ERRNO, (uint32_t)sys, NULL) == 0) {
        cell_send(FRAME_FAILED, fields.data, fields.len);
    }
    cell_die();
}

/* For a cell with a tree of the kernel's: as programs expect it. */
static void cell_prepare_tree(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    (void)umask(022);
    (void)sigaction(SIGXFSZ, &ignore, NULL); /* a file that would be too large is an error, EFBIG */
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
    if (payload == NULL ||
        fd_read_up_to(CELL_CONTROL_FD, payload, header.len) != (ssize_t)header.len) {
        cell_die();
    }
    *ret_len = header.len;
    return payload;
}

static struct guest_module cell_modules[VIAL_MODULES_MAX];

/* A module's name or its source, which come one behind the other. */
static int cell_parse_module(const struct field *f, struct guest_start *start)
{
    struct guest_module *module;

    if (f->tag == FIELD_MODULE_NAME) {
        if (start->module_count == VIAL_MODULES_MAX) {
            return -1;
        }
        cell_modules[start->module_count++] =
            (struct guest_module){.name = f->bytes, .name_len = f->len};
        start->modules = cell_modules;
        return 0;
    }
    if (start->module_count == 0) {
        return -1;
    }
    module = &cell_modules[start->module_count - 1];
    module->source = f->bytes;
    module->source_len = f->len;
    return 0;
}

/* How much the run may have of files; that it may have any is said by the number of them. -1 when
 * the field is none of these. */
static int cell_parse_limit(
    const struct field *f, struct guest_start *start, struct memfs_limits *limits)
{
    switch (f->tag) {
    case FIELD_FILES_MAX:
        start->files = &cell_files;
        return field_u32(f, &limits->files_max);
    case FIELD_DISK_MAX:
        return field_u64(f, &limits->bytes_max);
    case FIELD_OPEN_FILES_MAX:
        return field_u32(f, &limits->open_max);
    default:
        return -1;
    }
}

static void cell_parse_start(
    const char *payload, size_t len, struct guest_start *start, struct memfs_limits *limits)
{
    struct field f;
    size_t at = 0;
    int r;

    memset(start, 0, sizeof(*start));
    start->fields = payload;
    start->fields_len = len;
    while ((r = field_next(payload, len, &at, &f)) == 1) {
        switch (f.tag) {
        case FIELD_NAME:
            start->name = f.bytes;
            start->name_len = f.len;
            break;
        case FIELD_SOURCE:
            start->source = f.bytes;
            start->source_len = f.len;
            break;
        case FIELD_INPUT:
            start->input = f.bytes;
            start->input_len = f.len;
            break;
        case FIELD_INPUT_CBOR:
            start->input = f.bytes;
            start->input_len = f.len;
            start->input_is_cbor = 1;
            break;
        case FIELD_WANT_TEXT:
            r = field_u32(&f, &start->want_text);
            break;
        case FIELD_TIMERS_MAX:
            r = field_u32(&f, &start->timers_max);
            break;
        case FIELD_VALUE_MAX:
            r = field_u32(&f, &start->value_bytes_max);
            break;
        case FIELD_STDIN:
            start->stdin_bytes = f.bytes;
            start->stdin_len = f.len;
            break;
        case FIELD_ENV:
        case FIELD_ARG:
        case FIELD_CWD:
        case FIELD_OUT:
            break; /* read where they are needed */
        case FIELD_KIND:
            r = field_u32(&f, &start->kind);
            break;
        case FIELD_MODULE_NAME:
        case FIELD_MODULE_SOURCE:
            r = cell_parse_module(&f, start);
            break;
        case FIELD_LANGUAGE:
            r = field_u32(&f, &start->language);
            break;
        default:
            r = cell_parse_limit(&f, start, limits);
            break;
        }
        if (r < 0) {
            cell_die();
        }
    }
    if (r < 0 || start->source == NULL || start->name == NULL) {
        cell_die();
    }
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
    cell_send(FRAME_FILE, payload, len);
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

_Noreturn void cell_finish(struct buf *result)
{
    struct timespec used;
    char byte;

    cell_collect(result);
    /* Asked for by its owner only, the kernel brings the account of a running process up to date;
     * the host would read what was written at the last tick. */
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    cell_send(FRAME_RESULT, result->data, result->len);
    /* The host looks at what this process has used, and then ends it. */
    (void)fd_read_up_to(CELL_CONTROL_FD, &byte, 1);
    _exit(0);
}

static _Noreturn void cell_guest(const struct cell_spec *spec)
{
    int hurry = spec->hurry != 0;
    struct memfs_limits limits = LIMITS_FIRST;
    static struct files_in in;
    static struct buf result; /* static: the guest may end the run from far below */
    uint64_t seed[4];
    size_t len = 0;
    const char *payload;
    const char *report;
    size_t report_len;

    slim_cell(hurry, spec->modules != 0);
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed) || GUEST.reseed(seed) < 0) {
        cell_failed("random numbers", EIO);
    }
    if (!hurry) {
        GUEST.touch();
    }
    if (cell_spec->profile == PROFILE_POSIX) {
        cell_prepare_tree();
    }
    memfs_init(&cell_files, &limits);
    files_in_init(&in, &cell_files);
    cell_send(FRAME_READY, NULL, 0);
    payload = cell_receive_start(&in, &len);
    cell_parse_start(payload, len, &cell_start, &limits);
    buf_init(&result, CELL_RESULT_BYTES_MAX);
    cell_settle_files(&in, &limits, &result);
    if (attack_report(&report, &report_len)) {
        if (field_add_u32(&result, FIELD_OUTCOME, OUTCOME_OK, NULL) < 0 ||
            field_add(&result, FIELD_VALUE, report, report_len, NULL) < 0) {
            cell_die();
        }
    } else {
        GUEST.run(&cell_start, &result);
    }
    cell_finish(&result);
}

_Noreturn void cell_main(const struct confine_cell_input *in)
{
    const char *step = "";
    struct layer_report proof;
    int canary = in->spec->kind == CELL_CANARY;

    if (in->spec->kind == CELL_ATTACK) {
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
        cell_send(FRAME_CANARY, &proof, sizeof(proof));
        _exit(0);
    }
    cell_spec = in->spec;
    cell_guest(in->spec);
}
