/* events.c - see events.h. */
#include "http/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "http/run.h"

enum {
    TEXT_BYTES_MAX = 256 << 20, /* calls with their arguments; output has a smaller one */
    EVENTS_MAX = 200000,        /* ten thousand calls and their like; output stops before */
    OUT_BYTES_MAX = 512 << 20,  /* of one event as it is sent: a result at worst */
    BLOCK_BYTES = 32 * 1024,
    HEAD_BYTES = 96,
};

static const char *const NAMES[] = {
    "start", "stdout", "stderr", "call", "progress", "artifact", "result", "end"};

void events_init(struct events *events, size_t output_bytes_max)
{
    *events = (struct events){.output_bytes_max = output_bytes_max, .begun_us = clock_now_us()};
    buf_init(&events->text, TEXT_BYTES_MAX);
}

void events_release(struct events *events)
{
    buf_release(&events->text);
    free(events->marks);
    events->marks = NULL;
    events->count = events->capacity = 0;
}

static int add_mark(struct events *events, enum event_type type, size_t offset)
{
    if (events->count == events->capacity) {
        size_t capacity = events->capacity == 0 ? 4 : events->capacity * 2;
        struct event_mark *grown = realloc(events->marks, capacity * sizeof(*grown));

        if (grown == NULL || capacity > EVENTS_MAX * 2UL) {
            if (grown != NULL) {
                events->marks = grown;
            }
            return -1;
        }
        events->marks = grown;
        events->capacity = capacity;
    }
    events->marks[events->count++] = (struct event_mark){.offset = offset, .type = type};
    return 0;
}

int events_add(struct events *events, enum event_type type, const char *members, size_t len)
{
    size_t before = events->text.len;
    char head[HEAD_BYTES];

    (void)snprintf(head, sizeof(head), "{\"seq\":%zu,\"t_ms\":%llu,\"type\":\"%s\"%s",
        events->count + 1, (unsigned long long)((clock_now_us() - events->begun_us) / 1000),
        NAMES[type], len > 0 ? "," : "");
    if (buf_add_text(&events->text, head, NULL) < 0 ||
        (len > 0 && buf_add(&events->text, members, len, NULL) < 0) ||
        (type != EVENT_RESULT && buf_add_text(&events->text, "}\n", NULL) < 0) ||
        add_mark(events, type, before) < 0) {
        events->text.len = before;
        return -1;
    }
    return 0;
}

int events_add_output(struct events *events, int stream, const char *bytes, size_t len)
{
    struct json_writer w;
    struct buf members;
    int r = -1;

    if (events->text.len + len > events->output_bytes_max || events->count >= EVENTS_MAX) {
        events->dropped++;
        return 0;
    }
    buf_init(&members, len * 6 + 64);
    if (buf_add_text(&members, "\"text\":", NULL) == 0) {
        json_init(&w, &members, NULL);
        json_write_string(&w, bytes, len);
        if (json_finish(&w) == 0) {
            r = events_add(events, stream == VIAL_STDOUT ? EVENT_STDOUT : EVENT_STDERR,
                members.data, members.len);
        }
    }
    buf_release(&members);
    return r;
}

/* ---- reading them ---- */

/* The object of the event, with its end of line. */
static int render_line(const struct run *run, size_t index, struct buf *out)
{
    const struct events *e = &run->events;
    size_t from = e->marks[index].offset;
    size_t to = index + 1 < e->count ? e->marks[index + 1].offset : e->text.len;
    int r = buf_add(out, e->text.data + from, to - from, NULL);

    if (r == 0 && e->marks[index].type == EVENT_RESULT) {
        r = buf_add(out, run->json, run->json_len, NULL);
        r = r < 0 ? r : buf_add_text(out, "}\n", NULL);
    }
    return r;
}

static int render(struct stream *s)
{
    char head[HEAD_BYTES];
    int r;

    if (!s->is_sse) {
        return render_line(s->run, s->at++, &s->out);
    }
    (void)snprintf(head, sizeof(head), "id: %zu\nevent: %s\ndata: ", s->at + 1,
        NAMES[s->run->events.marks[s->at].type]);
    r = buf_add_text(&s->out, head, NULL);
    r = r < 0 ? r : render_line(s->run, s->at++, &s->out);
    return r < 0 ? r : buf_add_text(&s->out, "\n", NULL);
}

static int has_ended(const struct run *run)
{
    return run->events.count > 0 && run->events.marks[run->events.count - 1].type == EVENT_END;
}

static ssize_t read_stream(void *user, uint64_t at, char *bytes, size_t max)
{
    struct stream *s = user;
    size_t n;

    (void)at;
    if (s->sent == s->out.len) {
        buf_clear(&s->out);
        s->sent = 0;
        while (s->at < s->run->events.count && s->out.len < BLOCK_BYTES) {
            if (render(s) < 0) {
                return MHD_CONTENT_READER_END_WITH_ERROR;
            }
        }
    }
    if (s->out.len == 0) {
        if (has_ended(s->run)) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        exchange_wait(s->exchange);
        return 0;
    }
    n = s->out.len - s->sent < max ? s->out.len - s->sent : max;
    memcpy(bytes, s->out.data + s->sent, n);
    s->sent += n;
    s->said_us = clock_now_us();
    return (ssize_t)n;
}

static void on_gone(struct exchange *x)
{
    struct stream *s = x->stream;

    if (!s->is_gone) {
        s->is_gone = 1;
        if (s->is_owner) {
            run_cancel(s->run, "client_gone");
        }
    }
    exchange_wake(x);
}

int stream_open(struct exchange *x, struct run *run, uint64_t after, int is_owner)
{
    const char *accept = exchange_header(x, "Accept");
    struct stream *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return -1;
    }
    s->exchange = x;
    s->run = run_ref(run);
    s->at = after < run->events.count ? (size_t)after : run->events.count;
    s->is_owner = is_owner;
    s->is_sse = accept != NULL && strstr(accept, "text/event-stream") != NULL;
    s->said_us = clock_now_us();
    buf_init(&s->out, OUT_BYTES_MAX);
    s->next = run->streams;
    run->streams = s;
    x->stream = s;
    x->on_gone = on_gone;
    return 0;
}

enum MHD_Result stream_queue(struct exchange *x)
{
    struct stream *s = x->stream;
    struct MHD_Response *response =
        mhd->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, s, NULL);
    enum MHD_Result r;

    if (response == NULL) {
        return MHD_NO;
    }
    (void)mhd->add_response_header(
        response, "Content-Type", s->is_sse ? "text/event-stream" : "application/x-ndjson");
    (void)mhd->add_response_header(response, "Cache-Control", "no-store");
    (void)mhd->add_response_header(response, "X-Accel-Buffering", "no");
    (void)mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)mhd->add_response_header(response, "Vial-Run-Id", s->run->id);
    r = mhd->queue_response(x->mhd, 200, response);
    mhd->destroy_response(response);
    return r;
}

void streams_wake(struct run *run)
{
    struct stream *s;

    for (s = run->streams; s != NULL; s = s->next) {
        exchange_wake(s->exchange);
    }
}

void streams_beat(struct run *run, uint64_t now_us, uint64_t every_us)
{
    struct stream *s;

    for (s = run->streams; s != NULL; s = s->next) {
        if (s->exchange->is_waiting && s->sent == s->out.len && now_us - s->said_us >= every_us) {
            buf_clear(&s->out);
            s->sent = 0;
            (void)!buf_add_text(&s->out, s->is_sse ? ": ping\n\n" : "{\"type\":\"ping\"}\n", NULL);
            exchange_wake(s->exchange);
        }
    }
}

void stream_close(struct exchange *x)
{
    struct stream *s = x->stream, **at;

    if (s == NULL) {
        return;
    }
    for (at = &s->run->streams; *at != s; at = &(*at)->next) {
    }
    *at = s->next;
    if (s->is_owner && !has_ended(s->run)) {
        run_cancel(s->run, "client_gone");
    }
    x->stream = NULL;
    buf_release(&s->out);
    run_unref(s->run);
    free(s);
}
