/* cell.c - see cell.h.
 *
 * Nothing of the host is in this process, and after confine_cell nothing of the kernel either that
 * the filter does not list. A failure of the cell itself ends it; the host sees the end of the
 * socket. */
#include "cell/cell.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "cell/attack.h"
#include "cell/guest.h"
#include "cell/slim.h"
#include "jail/fork.h"
#include "wire/field.h"
#include "wire/frame.h"

enum {
    CELL_CONTROL_FD = FORK_CONTROL_FD,
    /* The value twice (JSON and text) and the error texts; the host checks the real limit. */
    CELL_RESULT_BYTES_MAX = 768 * 1024 * 1024,
};

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

/* Reads the start message into memory that lives as long as the cell. */
static char *cell_receive_start(size_t *ret_len)
{
    struct frame_header header;
    char *payload;

    if (fd_read_up_to(CELL_CONTROL_FD, &header, sizeof(header)) != (ssize_t)sizeof(header)) {
        _exit(0); /* the host let go of a cell it did not need */
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

static void cell_parse_start(const char *payload, size_t len, struct guest_start *start)
{
    struct field f;
    size_t at = 0;
    int r;

    memset(start, 0, sizeof(*start));
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
        case FIELD_WANT_TEXT:
            r = field_u32(&f, &start->want_text);
            break;
        case FIELD_TIMERS_MAX:
            r = field_u32(&f, &start->timers_max);
            break;
        case FIELD_VALUE_MAX:
            r = field_u32(&f, &start->value_bytes_max);
            break;
        case FIELD_LANGUAGE:
            r = field_u32(&f, &start->language);
            break;
        default:
            r = -1;
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

static _Noreturn void cell_guest(int hurry)
{
    struct guest_start start;
    struct buf result;
    uint64_t seed[4];
    size_t len = 0;
    const char *payload;
    const char *report;
    size_t report_len;

    slim_cell(hurry);
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed) || GUEST.reseed(seed) < 0) {
        cell_failed("random numbers", EIO);
    }
    if (!hurry) {
        GUEST.touch();
    }
    cell_send(FRAME_READY, NULL, 0);
    payload = cell_receive_start(&len);
    cell_parse_start(payload, len, &start);
    buf_init(&result, CELL_RESULT_BYTES_MAX);
    if (attack_report(&report, &report_len)) {
        if (field_add_u32(&result, FIELD_OUTCOME, OUTCOME_OK, NULL) < 0 ||
            field_add(&result, FIELD_VALUE, report, report_len, NULL) < 0) {
            cell_die();
        }
    } else {
        GUEST.run(&start, &result);
    }
    cell_send(FRAME_RESULT, result.data, result.len);
    /* The host looks at what this process has used, and then ends it. */
    (void)fd_read_up_to(CELL_CONTROL_FD, &len, 1);
    _exit(0);
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
    cell_guest(in->spec->hurry != 0);
}
