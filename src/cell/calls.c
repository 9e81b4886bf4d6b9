/* calls.c - see calls.h. */
#include "cell/calls.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fd.h"
#include "jail/fork.h"
#include "wire/frame.h"

enum {
    SEND_BYTES = 65536,    /* so much is gathered before it is sent */
    RECEIVE_BYTES = 65536, /* taken from the socket at once */
    KEEP_BYTES = 1024 * 1024,
    ASIDE_BYTES_MAX = 1024 * 1024 * 1024, /* the host limits the calls that wait at once */
};

static uint32_t last_id;
static uint32_t bytes_max;
static struct buf out = {.max = ASIDE_BYTES_MAX};
static struct buf in = {.max = ASIDE_BYTES_MAX};    /* what came from the host */
static size_t in_at;                                /* so much of it has been read */
static struct buf aside = {.max = ASIDE_BYTES_MAX}; /* whole frames that somebody else wants */
static size_t aside_at;
static int stays;

/* There is no memory, or the host has gone, or it says what it never says. */
static _Noreturn void die(void)
{
    _exit(1);
}

void calls_begin(uint32_t call_bytes_max)
{
    bytes_max = call_bytes_max;
}

void calls_stay(void)
{
    stays = 1;
}

void calls_forget(void)
{
    buf_release(&out);
    buf_release(&in);
    buf_release(&aside);
    in_at = aside_at = 0;
}

uint32_t calls_add(uint32_t tool, uint32_t kind, const char *bytes, size_t len)
{
    struct call_head head = {.id = ++last_id, .tool = tool, .kind = kind};
    struct frame_header frame = {.len = (uint32_t)(sizeof(head) + len), .type = FRAME_CALL};

    if (buf_add(&out, &frame, sizeof(frame), NULL) < 0 ||
        buf_add(&out, &head, sizeof(head), NULL) < 0 || buf_add(&out, bytes, len, NULL) < 0) {
        die();
    }
    if (out.len >= SEND_BYTES) {
        calls_flush();
    }
    return last_id;
}

void calls_flush(void)
{
    if (out.len == 0) {
        return;
    }
    if (fd_write_all(FORK_CONTROL_FD, out.data, out.len) < 0) {
        die();
    }
    buf_clear(&out);
    if (out.capacity > KEEP_BYTES) {
        buf_release(&out);
    }
}

/* Takes a whole ANSWER out of b at *at; 0 when it is not whole yet. */
static int take(struct buf *b, size_t *at, struct answer *ret)
{
    struct frame_header frame;
    struct answer_head head;

    if (b->len - *at < sizeof(frame)) {
        return 0;
    }
    memcpy(&frame, b->data + *at, sizeof(frame));
    if (frame.type != FRAME_ANSWER || frame.len < sizeof(head) ||
        frame.len > sizeof(head) + (uint64_t)bytes_max + ANSWER_EXTRA_BYTES) {
        die();
    }
    if (b->len - *at - sizeof(frame) < frame.len) {
        return 0;
    }
    memcpy(&head, b->data + *at + sizeof(frame), sizeof(head));
    *ret = (struct answer){.id = head.id,
        .kind = head.kind,
        .bytes = b->data + *at + sizeof(frame) + sizeof(head),
        .len = frame.len - sizeof(head)};
    *at += sizeof(frame) + frame.len;
    return 1;
}

/* Waits until the host has said something; 0 when the time is over. */
static int wait_until(uint64_t until_us)
{
    struct pollfd fd = {.fd = FORK_CONTROL_FD, .events = POLLIN};
    struct timespec left = {0};
    uint64_t now;

    if (until_us == UINT64_MAX) {
        /* Reading waits by itself, but a signal does not end it. */
        return !stays || ppoll(&fd, 1, NULL, NULL) > 0;
    }
    now = clock_now_us();
    if (until_us > now) {
        left.tv_sec = (time_t)((until_us - now) / 1000000);
        left.tv_nsec = (long)((until_us - now) % 1000000) * 1000;
    }
    return ppoll(&fd, 1, &left, NULL) > 0;
}

/* Reads what there is. The buffer starts anew when all of it has been used. */
static void receive(void)
{
    ssize_t n;

    if (in_at > 0) {
        buf_consume(&in, in_at);
        in_at = 0;
    }
    if (in.len == 0 && in.capacity > KEEP_BYTES) {
        buf_release(&in);
    }
    if (buf_reserve(&in, RECEIVE_BYTES, NULL) < 0) {
        die();
    }
    do {
        size_t room = in.capacity - in.len;

        n = read(FORK_CONTROL_FD, in.data + in.len, room); /* short counts handled */
    } while (n < 0 && errno == EINTR);
    if (n <= 0) {
        die();
    }
    in.len += (size_t)n;
}

/* An answer from the host. */
static int next_new(uint64_t until_us, struct answer *ret)
{
    for (;;) {
        if (take(&in, &in_at, ret)) {
            return 1;
        }
        if (!wait_until(until_us)) {
            return 0;
        }
        receive();
    }
}

int calls_next(uint64_t until_us, struct answer *ret)
{
    calls_flush();
    if (aside_at < aside.len) {
        return take(&aside, &aside_at, ret);
    }
    return next_new(until_us, ret);
}

int calls_has_more(void)
{
    struct answer answer;
    size_t at = in_at;

    return aside_at < aside.len || take(&in, &at, &answer);
}

int calls_wait_for(uint32_t id, struct answer *ret)
{
    struct frame_header frame = {.type = FRAME_ANSWER};
    struct answer_head head;

    calls_flush();
    for (;;) {
        if (!next_new(UINT64_MAX, ret)) {
            return 0;
        }
        if (ret->id == id) {
            return 1;
        }
        if (aside_at == aside.len) {
            buf_clear(&aside);
            aside_at = 0;
        }
        head = (struct answer_head){.id = ret->id, .kind = ret->kind};
        frame.len = (uint32_t)(sizeof(head) + ret->len);
        if (buf_add(&aside, &frame, sizeof(frame), NULL) < 0 ||
            buf_add(&aside, &head, sizeof(head), NULL) < 0 ||
            buf_add(&aside, ret->bytes, ret->len, NULL) < 0) {
            die();
        }
    }
}
