/* calls.c - see calls.h.
 *
 * Threads, where a language has them: whoever wants an answer and finds nobody waiting at the
 * socket waits there, for all; what came is kept by its number for those who want it. Between two
 * programs the socket belongs to whoever reads orders, and a thread that still waits for an answer
 * gets none.
 */
#include "cell/calls.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
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
    SMALL_BYTES = 1024,                     /* a frame up to this is sent with its header */
    WAITING_BYTES_MAX = 1024 * 1024 * 1024, /* the host limits the calls that wait at once */
    CLAIMS_MAX = 64,                        /* threads that wait at once; fewer can be made */
    SLICE_US = 20 * 1000, /* a thread that waits for another one looks up so often */
};

/* An answer that somebody will ask for. */
struct arrived {
    struct arrived *next;
    uint32_t id, kind;
    size_t len;
    char bytes[]; /* and one more */
};

static pthread_mutex_t sending =
    PTHREAD_MUTEX_INITIALIZER; /* guards out, and frames on their way */
static uint32_t last_id;
static int is_told; /* what came of the program, or a part: nothing that threads say may follow */
static struct buf out = {.max = WAITING_BYTES_MAX};

static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static uint32_t bytes_max;
static struct buf in = {.max = WAITING_BYTES_MAX}; /* what came from the host and is not whole */
static struct arrived *first, **last = &first;
static size_t arrived_bytes;
static uint32_t claims[CLAIMS_MAX]; /* calls that a thread waits for by their number */
static unsigned claims_count;
static int has_reader;   /* somebody waits at the socket */
static int is_resting;   /* no program is under way */
static unsigned program; /* how many there were: what waits for an answer to an earlier one stops */
static int polls;        /* the socket is looked at before it is read */
static volatile sig_atomic_t is_interrupted;
static __thread struct arrived *held; /* what this thread was given last */

/* There is no memory, or the host has gone, or it says what it never says. */
static _Noreturn void die(void)
{
    _exit(1);
}

void calls_begin(uint32_t call_bytes_max)
{
    bytes_max = call_bytes_max;
}

void calls_poll(void)
{
    polls = 1;
}

void calls_interrupt(void)
{
    is_interrupted = 1;
}

static void forget_arrived(void)
{
    struct arrived *a;

    while ((a = first) != NULL) {
        first = a->next;
        free(a);
    }
    last = &first;
    arrived_bytes = 0;
}

void calls_forget(void)
{
    (void)pthread_mutex_init(&sending, NULL);
    (void)pthread_mutex_init(&receiving, NULL);
    (void)pthread_cond_init(&came, NULL);
    buf_release(&out);
    buf_release(&in);
    forget_arrived();
    claims_count = 0;
    has_reader = 0;
}

/* ---- out ---- */

/* With the lock held. */
static void flush(void)
{
    if (is_told) { /* nobody will answer */
        buf_clear(&out);
    }
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

/* So that no other thread takes the answer for its own, this is done before it can come. */
static void claim(uint32_t id)
{
    (void)pthread_mutex_lock(&receiving);
    if (claims_count == CLAIMS_MAX) {
        die();
    }
    claims[claims_count++] = id;
    (void)pthread_mutex_unlock(&receiving);
}

static uint32_t add(uint32_t tool, uint32_t kind, const char *bytes, size_t len, int is_claimed)
{
    struct call_head head = {.tool = tool, .kind = kind};
    struct frame_header frame = {.len = (uint32_t)(sizeof(head) + len), .type = FRAME_CALL};

    (void)pthread_mutex_lock(&sending);
    head.id = ++last_id;
    if (is_claimed) {
        claim(head.id);
    }
    if (buf_add(&out, &frame, sizeof(frame), NULL) < 0 ||
        buf_add(&out, &head, sizeof(head), NULL) < 0 || buf_add(&out, bytes, len, NULL) < 0) {
        die();
    }
    if (out.len >= SEND_BYTES) {
        flush();
    }
    (void)pthread_mutex_unlock(&sending);
    return head.id;
}

uint32_t calls_add(uint32_t tool, uint32_t kind, const char *bytes, size_t len)
{
    return add(tool, kind, bytes, len, 0);
}

uint32_t calls_add_claimed(uint32_t tool, uint32_t kind, const char *bytes, size_t len)
{
    return add(tool, kind, bytes, len, 1);
}

void calls_flush(void)
{
    (void)pthread_mutex_lock(&sending);
    flush();
    (void)pthread_mutex_unlock(&sending);
}

/* From now on no thread waits for answers: what the host says next is not one. */
static void stop_waiting(void)
{
    (void)pthread_mutex_lock(&receiving);
    is_resting = 1;
    program++;
    (void)pthread_cond_broadcast(&came);
    (void)pthread_mutex_unlock(&receiving);
}

/* What a program says, and not the cell itself. */
static int is_of_program(uint8_t type)
{
    return type == FRAME_STDOUT || type == FRAME_STDERR || type == FRAME_ARTIFACT;
}

void calls_send(uint8_t type, const void *payload, size_t len)
{
    struct frame_header header = {.len = (uint32_t)len, .type = type};
    char small[FRAME_HEADER_BYTES + SMALL_BYTES];
    int r;

    (void)pthread_mutex_lock(&sending);
    if (is_told && is_of_program(type)) { /* of a thread that goes on: it is lost */
        (void)pthread_mutex_unlock(&sending);
        return;
    }
    flush(); /* what was called before is told before */
    if (type == FRAME_FILE || type == FRAME_RESULT) {
        stop_waiting();
        is_told = 1;
    }
    if (len <= SMALL_BYTES) { /* one call for all short frames */
        memcpy(small, &header, sizeof(header));
        if (len > 0) {
            memcpy(small + sizeof(header), payload, len);
        }
        r = fd_write_all(FORK_CONTROL_FD, small, sizeof(header) + len);
    } else {
        r = fd_write_all(FORK_CONTROL_FD, &header, sizeof(header));
        r = r < 0 ? r : fd_write_all(FORK_CONTROL_FD, payload, len);
    }
    if (r < 0) {
        die();
    }
    (void)pthread_mutex_unlock(&sending);
}

/* ---- in ---- */

/* Takes the whole ANSWERs out of what came. */
static void sort_out(void)
{
    struct frame_header frame;
    struct answer_head head;
    struct arrived *a;
    size_t at = 0;

    while (in.len - at >= sizeof(frame)) {
        memcpy(&frame, in.data + at, sizeof(frame));
        if (frame.type != FRAME_ANSWER || frame.len < sizeof(head) ||
            frame.len > sizeof(head) + (uint64_t)bytes_max + ANSWER_EXTRA_BYTES) {
            die();
        }
        if (in.len - at - sizeof(frame) < frame.len) {
            break;
        }
        memcpy(&head, in.data + at + sizeof(frame), sizeof(head));
        a = malloc(sizeof(*a) + frame.len + 1);
        arrived_bytes += frame.len;
        if (a == NULL || arrived_bytes > WAITING_BYTES_MAX) {
            die();
        }
        *a = (struct arrived){.id = head.id, .kind = head.kind, .len = frame.len - sizeof(head)};
        memcpy(a->bytes, in.data + at + sizeof(frame) + sizeof(head), a->len);
        a->bytes[a->len] = '\0';
        *last = a;
        last = &a->next;
        at += sizeof(frame) + frame.len;
    }
    buf_consume(&in, at);
    if (in.len == 0 && in.capacity > KEEP_BYTES) {
        buf_release(&in);
    }
}

/* Reads what there is. */
static void receive(void)
{
    ssize_t n;

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
    sort_out();
}

static int has_claim(uint32_t id)
{
    unsigned i;

    for (i = 0; i < claims_count; i++) {
        if (claims[i] == id) {
            return 1;
        }
    }
    return 0;
}

/* The answer to this call, or with 0 one that no thread waits for; out of the list, or NULL. */
static struct arrived *take(uint32_t id)
{
    struct arrived **p, *a;

    for (p = &first; (a = *p) != NULL; p = &a->next) {
        if (id != 0 ? a->id == id : !has_claim(a->id)) {
            *p = a->next;
            last = *p == NULL ? p : last;
            arrived_bytes -= a->len + sizeof(struct answer_head);
            return a;
        }
    }
    return NULL;
}

/* Waits until the host has said something; 0 when the time is over, or a signal came. */
static int wait_until(uint64_t until_us)
{
    struct pollfd fd = {.fd = FORK_CONTROL_FD, .events = POLLIN};
    struct timespec left = {0};
    uint64_t now;

    if (until_us == UINT64_MAX) {
        /* Reading waits by itself, but a signal does not end it. */
        return !polls || ppoll(&fd, 1, NULL, NULL) > 0;
    }
    now = clock_now_us();
    if (until_us > now) {
        left.tv_sec = (time_t)((until_us - now) / 1000000);
        left.tv_nsec = (long)((until_us - now) % 1000000) * 1000;
    }
    return ppoll(&fd, 1, &left, NULL) > 0;
}

/* Waits for what another thread reads; 0 when the time is over. */
static int wait_for_reader(uint64_t until_us)
{
    uint64_t now = clock_now_us();
    uint64_t slice = now + SLICE_US < until_us ? now + SLICE_US : until_us;
    struct timespec until = {
        .tv_sec = (time_t)(slice / 1000000), .tv_nsec = (long)(slice % 1000000) * 1000};

    if (until_us <= now || is_interrupted) {
        return 0;
    }
    (void)pthread_cond_clockwait(&came, &receiving, CLOCK_MONOTONIC, &until);
    return 1;
}

/* With the lock held: an answer as take() finds it, waiting for it. */
static struct arrived *wait_for(uint32_t id, uint64_t until_us)
{
    unsigned began = program;
    struct arrived *a;
    int waited;

    while ((a = take(id)) == NULL && began == program && !is_resting) {
        if (has_reader) {
            if (!wait_for_reader(until_us)) {
                return NULL;
            }
            continue;
        }
        has_reader = 1;
        if (polls || until_us != UINT64_MAX) {
            (void)pthread_mutex_unlock(&receiving);
            waited = wait_until(until_us);
            (void)pthread_mutex_lock(&receiving);
        } else {
            waited = 1; /* there is one thread */
        }
        has_reader = 0;
        if (waited && !is_resting && began == program) {
            receive();
        }
        (void)pthread_cond_broadcast(&came);
        if (!waited) {
            return take(id);
        }
    }
    return a;
}

/* Makes it this thread's, until it asks for the next one. */
static int give(struct arrived *a, struct answer *ret)
{
    if (a == NULL) {
        return 0;
    }
    free(held);
    held = a;
    *ret = (struct answer){.id = a->id, .kind = a->kind, .bytes = a->bytes, .len = a->len};
    return 1;
}

int calls_next(uint64_t until_us, struct answer *ret)
{
    struct arrived *a;

    calls_flush();
    (void)pthread_mutex_lock(&receiving);
    a = wait_for(0, until_us);
    (void)pthread_mutex_unlock(&receiving);
    return give(a, ret);
}

int calls_has_more(void)
{
    const struct arrived *a;

    (void)pthread_mutex_lock(&receiving);
    for (a = first; a != NULL && has_claim(a->id); a = a->next) {
    }
    (void)pthread_mutex_unlock(&receiving);
    return a != NULL;
}

int calls_wait_for(uint32_t id, struct answer *ret)
{
    struct arrived *a;
    unsigned i;

    calls_flush();
    (void)pthread_mutex_lock(&receiving);
    a = wait_for(id, UINT64_MAX);
    for (i = 0; i < claims_count; i++) {
        if (claims[i] == id) {
            claims[i] = claims[--claims_count];
        }
    }
    (void)pthread_mutex_unlock(&receiving);
    return give(a, ret);
}

/* ---- between two programs ---- */

/* Reads so many bytes and forgets them. */
static void skip(size_t len)
{
    char bytes[4096];
    size_t piece;

    for (; len > 0; len -= piece) {
        piece = len < sizeof(bytes) ? len : sizeof(bytes);
        if (fd_read_up_to(FORK_CONTROL_FD, bytes, piece) != (ssize_t)piece) {
            die();
        }
    }
}

/* Not one byte more is read than the half frame lacks: what follows is not an answer. */
void calls_rest(void)
{
    struct frame_header frame;
    size_t have;

    (void)pthread_mutex_lock(&receiving);
    is_resting = 1;
    program++;
    is_interrupted = 0;
    have = in.len;
    if (have > 0) {
        memcpy(&frame, in.data, have < sizeof(frame) ? have : sizeof(frame));
        if (have < sizeof(frame)) {
            if (fd_read_up_to(FORK_CONTROL_FD, (char *)&frame + have, sizeof(frame) - have) !=
                (ssize_t)(sizeof(frame) - have)) {
                die();
            }
            have = sizeof(frame);
        }
        skip(sizeof(frame) + frame.len - have);
    }
    buf_clear(&in);
    forget_arrived();
    (void)pthread_cond_broadcast(&came);
    (void)pthread_mutex_unlock(&receiving);
}

void calls_work(void)
{
    (void)pthread_mutex_lock(&sending);
    is_told = 0;
    (void)pthread_mutex_unlock(&sending);
    (void)pthread_mutex_lock(&receiving);
    is_resting = 0;
    (void)pthread_mutex_unlock(&receiving);
}

void calls_skip(uint32_t len)
{
    skip(len);
}
