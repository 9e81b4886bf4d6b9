/* redact_stream.c - see redact.h: a stream is read in several ways at once.
 *
 * Each way of reading turns the stream into bytes and has a state of the automaton of its own: the
 * bytes as they are; with %XX and \uXXXX taken for what they stand for; and, for base64, four
 * readings, because a group of four characters may begin at any of four places. What is found is a
 * span of the stream. Spans that overlap become one. A byte is passed on once no reading can still
 * turn out to have begun at or before it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/redact_set.h"

enum {
    BLOCK_BYTES = 16384,  /* taken in before something is passed on */
    ESCAPE_BYTES_MAX = 6, /* \uXXXX */
    GROUPINGS = 4,        /* of base64 */
    SPANS_FIRST_ALLOC = 16,
    READ_PERCENT = 0, /* the decoders */
    READ_FORM = 1,    /* the same with + for a space */
    READ_JSON = 2,
    DECODERS = 3,
};

/* A part of the stream that is to be replaced. */
struct span {
    uint64_t start, end;
    uint32_t len;   /* of the value that was found; that of the longest one when several were */
    uint16_t match; /* which value it is */
};

/* A reading of a stream with escapes in it. */
struct decoder {
    uint32_t state;
    uint32_t *starts; /* owned; where in the stream each of the last bytes began, a ring */
    uint64_t bytes;   /* read so far; the next one's place in the ring */
    uint64_t end;     /* in the stream, of the last byte */
    unsigned char pending[ESCAPE_BYTES_MAX]; /* what may become an escape */
    size_t pending_len;
};

/* One way to put base64 into groups. */
struct grouping {
    uint32_t state;
    uint64_t start; /* in the stream, of what state stands for; when that is not 0 */
};

struct redact_stream {
    const struct redact *set;
    uint64_t at;    /* in the stream, of the next byte */
    uint32_t plain; /* the state of the bytes as they are */
    struct decoder decoders[DECODERS];
    int busy; /* plain or a decoder is in a state, or may be in an escape */
    size_t ring_mask;
    struct grouping groupings[GROUPINGS];
    uint32_t bits;      /* the last characters of base64, six bits each */
    uint64_t run;       /* how many came in a row */
    int groupings_busy; /* one of them is in a state */
    struct buf held;    /* the bytes that may not be passed on yet */
    uint64_t held_at;   /* in the stream, of the first of them */
    struct span *spans; /* owned; in order, apart from each other, the first at spans_first */
    size_t spans_first, spans_count, spans_capacity;
    int failed;
};

/* ---- making ---- */

void redact_stream_free(struct redact_stream *stream)
{
    size_t i;

    if (stream == NULL) {
        return;
    }
    for (i = 0; i < DECODERS; i++) {
        free(stream->decoders[i].starts);
    }
    buf_wipe(&stream->held);
    free(stream->spans);
    free(stream);
}

int redact_stream_new(const struct redact *set, struct redact_stream **ret, struct vial_error *err)
{
    struct redact_stream *stream = calloc(1, sizeof(*stream));
    size_t ring = 1, i;

    if (stream == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to keep secrets out of answers");
    }
    while (ring <= set->value_bytes_max) {
        ring *= 2;
    }
    stream->set = set;
    stream->ring_mask = ring - 1;
    buf_init(&stream->held,
        (set->value_bytes_max + 1) * ESCAPE_BYTES_MAX + (size_t)BLOCK_BYTES + ESCAPE_BYTES_MAX);
    for (i = 0; i < DECODERS; i++) {
        stream->decoders[i].starts = calloc(ring, sizeof(uint32_t));
        if (stream->decoders[i].starts == NULL) {
            redact_stream_free(stream);
            return vial__fail(err, VIAL_E_NOMEM, "no memory to keep secrets out of answers");
        }
    }
    *ret = stream;
    return VIAL_OK;
}

/* ---- what is found ---- */

static int make_room(struct redact_stream *s, struct vial_error *err)
{
    struct span *grown;
    size_t capacity;

    if (s->spans_first > 0 && s->spans_first + s->spans_count == s->spans_capacity) {
        memmove(s->spans, s->spans + s->spans_first, s->spans_count * sizeof(*s->spans));
        s->spans_first = 0;
    }
    if (s->spans_first + s->spans_count < s->spans_capacity) {
        return VIAL_OK;
    }
    /* Bounded as what is held back is: spans are apart and have four bytes or more. */
    capacity = s->spans_capacity == 0 ? SPANS_FIRST_ALLOC : 2 * s->spans_capacity;
    grown = realloc(s->spans, capacity * sizeof(*grown));
    if (grown == NULL) {
        return vial__fail(err, VIAL_E_NOMEM, "no memory to keep secrets out of answers");
    }
    s->spans = grown;
    s->spans_capacity = capacity;
    return VIAL_OK;
}

/* The value that the state ends with is in the stream from start to end. What was found before ends
 * at the same place or earlier, but for what ends with a broken escape, which is found some bytes
 * late; the bytes between it and what was found meanwhile are then replaced as well. */
static int add_span(
    struct redact_stream *s, uint32_t state, uint64_t start, uint64_t end, struct vial_error *err)
{
    const struct redact_node *node = &s->set->nodes[state];
    struct span span = {start, end, node->match_len, node->match};
    int r;

    while (s->spans_count > 0) {
        const struct span *last = &s->spans[s->spans_first + s->spans_count - 1];

        if (last->end <= span.start) {
            break;
        }
        if (last->len > span.len || (last->len == span.len && last->match < span.match)) {
            span.len = last->len;
            span.match = last->match;
        }
        span.start = last->start < span.start ? last->start : span.start;
        span.end = last->end > span.end ? last->end : span.end;
        s->spans_count--;
    }
    r = make_room(s, err);
    if (r == VIAL_OK) {
        s->spans[s->spans_first + s->spans_count++] = span;
    }
    return r;
}

/* ---- the readings ---- */

static int read_plain(struct redact_stream *s, unsigned char byte, struct vial_error *err)
{
    const struct redact_node *node;

    s->plain = redact_step(s->set, s->plain, byte);
    node = &s->set->nodes[s->plain];
    return node->match_len == 0
               ? VIAL_OK
               : add_span(s, s->plain, s->at + 1 - node->match_len, s->at + 1, err);
}

/* Where in the stream the last so many bytes of a decoder began. */
static uint64_t decoder_start(const struct redact_stream *s, const struct decoder *d, uint64_t n)
{
    uint32_t start = d->starts[(d->bytes - n) & s->ring_mask];

    return d->end - (uint32_t)((uint32_t)d->end - start); /* never 4 GiB apart */
}

/* A decoder has a byte, which the stream has from start to end. */
static int decoded(struct redact_stream *s, struct decoder *d, unsigned char byte, uint64_t start,
    uint64_t end, struct vial_error *err)
{
    const struct redact_node *node;

    d->state = redact_step(s->set, d->state, byte);
    d->starts[d->bytes & s->ring_mask] = (uint32_t)start;
    d->bytes++;
    d->end = end;
    node = &s->set->nodes[d->state];
    return node->match_len == 0
               ? VIAL_OK
               : add_span(s, d->state, decoder_start(s, d, node->match_len), end, err);
}

static int hex_value(unsigned char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* What an escape stands for. */
struct escaped {
    int is_none, is_whole; /* else it may still become one */
    unsigned char bytes[3];
    size_t len;
};

static struct escaped look_percent(const unsigned char *text, size_t len)
{
    if (len > 1 && hex_value(text[1]) < 0) {
        return (struct escaped){.is_none = 1};
    }
    if (len < 3) {
        return (struct escaped){.len = 0};
    }
    if (hex_value(text[2]) < 0) {
        return (struct escaped){.is_none = 1};
    }
    return (struct escaped){.is_whole = 1,
        .bytes = {(unsigned char)(hex_value(text[1]) * 16 + hex_value(text[2]))},
        .len = 1};
}

/* A number of UTF-16 as UTF-8. Halves of pairs come out as something that no value has. */
static struct escaped in_utf8(unsigned unit)
{
    if (unit < 0x80) {
        return (struct escaped){.is_whole = 1, .bytes = {(unsigned char)unit}, .len = 1};
    }
    if (unit < 0x800) {
        return (struct escaped){.is_whole = 1,
            .bytes = {(unsigned char)(0xc0 | unit >> 6), (unsigned char)(0x80 | (unit & 0x3f))},
            .len = 2};
    }
    return (struct escaped){.is_whole = 1,
        .bytes = {(unsigned char)(0xe0 | unit >> 12), (unsigned char)(0x80 | (unit >> 6 & 0x3f)),
            (unsigned char)(0x80 | (unit & 0x3f))},
        .len = 3};
}

static struct escaped look_json(const unsigned char *text, size_t len)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;
    unsigned unit = 0;
    size_t i;

    if (len < 2) {
        return (struct escaped){.len = 0};
    }
    letter = text[1] != '\0' ? strchr(letters, text[1]) : NULL;
    if (letter != NULL) {
        return (struct escaped){
            .is_whole = 1, .bytes = {(unsigned char)meanings[letter - letters]}, .len = 1};
    }
    if (text[1] != 'u') {
        return (struct escaped){.is_none = 1};
    }
    for (i = 2; i < len; i++) {
        if (hex_value(text[i]) < 0) {
            return (struct escaped){.is_none = 1};
        }
        unit = unit * 16 + (unsigned)hex_value(text[i]);
    }
    return len < ESCAPE_BYTES_MAX ? (struct escaped){.len = 0} : in_utf8(unit);
}

/* A byte that begins no escape, at a place in the stream. */
static int literal(struct redact_stream *s, unsigned reading, unsigned char byte, uint64_t start,
    struct vial_error *err)
{
    return decoded(s, &s->decoders[reading],
        reading == READ_FORM && byte == '+' ? (unsigned char)' ' : byte, start, start + 1, err);
}

/* What was pending is no escape: its first byte is itself, and the others are looked at anew. They
 * are digits or a letter, none of which begins an escape, but for the last one, which is
 * unknown. */
static int give_up(struct redact_stream *s, unsigned reading, struct vial_error *err)
{
    struct decoder *d = &s->decoders[reading];
    unsigned char mark = reading == READ_JSON ? '\\' : '%';
    uint64_t start = s->at + 1 - d->pending_len;
    size_t len = d->pending_len, i;
    int r = VIAL_OK;

    d->pending_len = 0;
    for (i = 0; i < len && r == VIAL_OK; i++) {
        if (i > 0 && d->pending[i] == mark) {
            d->pending[0] = mark;
            d->pending_len = 1;
            assert(i == len - 1);
        } else {
            r = literal(s, reading, d->pending[i], start + i, err);
        }
    }
    return r;
}

/* The present byte, for one decoder. */
static int read_escapes(
    struct redact_stream *s, unsigned reading, unsigned char byte, struct vial_error *err)
{
    struct decoder *d = &s->decoders[reading];
    unsigned char mark = reading == READ_JSON ? '\\' : '%';
    struct escaped e;
    uint64_t start;
    int r = VIAL_OK;
    size_t i;

    if (d->pending_len == 0 && byte != mark) {
        return literal(s, reading, byte, s->at, err);
    }
    d->pending[d->pending_len++] = byte;
    e = reading == READ_JSON ? look_json(d->pending, d->pending_len)
                             : look_percent(d->pending, d->pending_len);
    if (e.is_none) {
        return give_up(s, reading, err);
    }
    if (!e.is_whole) {
        return VIAL_OK;
    }
    start = s->at + 1 - d->pending_len;
    d->pending_len = 0;
    for (i = 0; i < e.len && r == VIAL_OK; i++) {
        r = decoded(s, d, e.bytes[i], start, s->at + 1, err);
    }
    return r;
}

/* How many characters have something of n bytes, the last of which is number last of its group. */
static uint64_t base64_span(uint64_t n, unsigned last)
{
    uint64_t end = 3 * n + last; /* as if the groups had begun long before */
    uint64_t first = end - (n - 1);

    return (4 * (end / 3) + end % 3 + 1) - (4 * (first / 3) + first % 3) + 1;
}

static int read_base64(struct redact_stream *s, unsigned char byte, struct vial_error *err)
{
    const uint32_t *first = s->set->first;
    uint32_t busy = 0;
    unsigned i;
    int r = VIAL_OK;

    if (s->set->base64[byte] == 0) {
        if (s->run > 0) {
            s->run = 0;
            s->groupings_busy = 0;
            memset(s->groupings, 0, sizeof(s->groupings));
        }
        return VIAL_OK;
    }
    s->bits = s->bits << 6 | (s->set->base64[byte] - 1U);
    if (!s->groupings_busy &&
        (first[s->bits >> 4 & 0xff] | first[s->bits >> 2 & 0xff] | first[s->bits & 0xff]) == 0) {
        s->run++; /* as nearly always: no value begins here */
        return VIAL_OK;
    }
    for (i = 0; i < GROUPINGS && i < s->run && r == VIAL_OK; i++) {
        struct grouping *g = &s->groupings[i];
        unsigned place = (unsigned)(s->run - i) % 4; /* of this character in its group */
        const struct redact_node *node;

        if (place == 0) {
            busy |= g->state;
            continue; /* only with the next one there is a byte */
        }
        g->state = redact_step(s->set, g->state, (unsigned char)(s->bits >> 2 * (3 - place)));
        if (g->state == 0) {
            continue;
        }
        busy = 1;
        node = &s->set->nodes[g->state];
        g->start = s->at + 1 - base64_span(node->depth, place - 1);
        if (node->match_len > 0) {
            r = add_span(
                s, g->state, s->at + 1 - base64_span(node->match_len, place - 1), s->at + 1, err);
        }
    }
    s->groupings_busy = busy != 0;
    s->run++;
    return r;
}

/* ---- passing on ---- */

/* Nothing that will be found begins before this place. */
static uint64_t safe_up_to(const struct redact_stream *s)
{
    uint64_t safe = s->at - s->set->nodes[s->plain].depth;
    uint64_t start;
    size_t i;

    for (i = 0; i < DECODERS; i++) {
        const struct decoder *d = &s->decoders[i];

        start = d->state != 0 ? decoder_start(s, d, s->set->nodes[d->state].depth)
                              : s->at - d->pending_len;
        safe = start < safe ? start : safe;
    }
    if (s->run > 0) { /* its last character may be the first of an occurrence */
        safe = s->at - 1 < safe ? s->at - 1 : safe;
    }
    for (i = 0; i < GROUPINGS; i++) {
        if (s->groupings[i].state != 0 && s->groupings[i].start < safe) {
            safe = s->groupings[i].start;
        }
    }
    return safe;
}

/* Passes on, or forgets, what is held up to a place. */
static int give_out(
    struct redact_stream *s, uint64_t up_to, int keep, struct buf *out, struct vial_error *err)
{
    size_t n = up_to > s->held_at ? (size_t)(up_to - s->held_at) : 0;
    int r = keep ? buf_add(out, s->held.data, n, err) : VIAL_OK;

    if (r == VIAL_OK && n > 0) {
        buf_consume(&s->held, n);
        s->held_at += n;
    }
    return r;
}

static int pass_on(struct redact_stream *s, uint64_t safe, struct buf *out, struct vial_error *err)
{
    char label[SECRET_NAME_BYTES_MAX + 16];
    int r = VIAL_OK;

    while (r == VIAL_OK && s->spans_count > 0 && s->spans[s->spans_first].start < safe) {
        const struct span *span = &s->spans[s->spans_first];

        r = give_out(s, span->start, 1, out, err);
        r = r < 0 ? r : give_out(s, span->end, 0, out, err);
        if (span->end > safe) { /* it may still grow; so it is not said yet */
            return r;
        }
        (void)snprintf(label, sizeof(label), "[secret %s]", s->set->names[span->match]);
        r = r < 0 ? r : buf_add_text(out, label, err);
        s->spans_first++;
        s->spans_count--;
    }
    if (s->spans_count == 0) {
        s->spans_first = 0;
    }
    return r < 0 ? r : give_out(s, safe, 1, out, err);
}

static int take_block(
    struct redact_stream *s, const char *bytes, size_t len, struct vial_error *err)
{
    int r = buf_add(&s->held, bytes, len, err);
    unsigned reading;
    size_t i;

    for (i = 0; i < len && r == VIAL_OK; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        if (s->busy || s->set->wakes[byte]) {
            r = read_plain(s, byte, err);
            s->busy = s->plain != 0;
            for (reading = 0; reading < DECODERS && r == VIAL_OK; reading++) {
                r = read_escapes(s, reading, byte, err);
                s->busy |= s->decoders[reading].state != 0 || s->decoders[reading].pending_len > 0;
            }
        }
        r = r < 0 ? r : read_base64(s, byte, err);
        s->at++;
    }
    return r;
}

/* Keeps a stream that failed from saying anything later. */
static int outcome(struct redact_stream *s, int r)
{
    s->failed = r < 0;
    return r;
}

int redact_feed(struct redact_stream *stream, const char *bytes, size_t len, struct buf *out,
    struct vial_error *err)
{
    size_t n;
    int r = VIAL_OK;

    if (stream->failed) {
        return vial__fail(err, VIAL_E_GONE, "secrets could not be kept out of an answer before");
    }
    if (stream->set->count == 0) {
        return outcome(stream, buf_add(out, bytes, len, err));
    }
    for (; len > 0 && r == VIAL_OK; bytes += n, len -= n) {
        n = len < BLOCK_BYTES ? len : BLOCK_BYTES;
        r = take_block(stream, bytes, n, err);
        r = r < 0 ? r : pass_on(stream, safe_up_to(stream), out, err);
    }
    return outcome(stream, r);
}

int redact_end(struct redact_stream *stream, struct buf *out, struct vial_error *err)
{
    if (stream->failed) {
        return vial__fail(err, VIAL_E_GONE, "secrets could not be kept out of an answer before");
    }
    return outcome(stream, pass_on(stream, stream->at, out, err));
}

int redact_text(const struct redact *set, const char *bytes, size_t len, struct buf *out,
    struct vial_error *err)
{
    struct redact_stream *stream = NULL;
    int r = redact_stream_new(set, &stream, err);

    if (r < 0 || stream == NULL) {
        return r;
    }
    r = redact_feed(stream, bytes, len, out, err);
    r = r < 0 ? r : redact_end(stream, out, err);
    redact_stream_free(stream);
    return r;
}
