/* run_events.c - the events that every run has: its start, its result, its end. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "http/run_inside.h"

enum { MEMBERS_BYTES_MAX = 1 << 20 };

int run_event_start(struct run *run)
{
    struct json_writer w;
    struct buf out;
    char at[RUN_TIME_BYTES];
    int r;

    buf_init(&out, MEMBERS_BYTES_MAX);
    r = buf_add_text(&out, "\"run\":", NULL);
    if (r == 0) {
        json_init(&w, &out, NULL);
        json_begin_object(&w);
        json_key(&w, "id");
        json_text(&w, run->id);
        run_time_text(run->created_us, at);
        json_key(&w, "created_at");
        json_text(&w, at);
        json_end_object(&w);
        r = json_finish(&w);
    }
    r = r < 0 ? r : events_add(&run->events, EVENT_START, out.data, out.len);
    buf_release(&out);
    streams_wake(run);
    return r;
}

void run_events_end(struct run *run)
{
    char members[96];
    int n;

    if (run->events.count == 0 || run->events.marks[0].type == EVENT_PROGRESS) {
        (void)run_event_start(run);
    }
    run_shown_end(run);
    if (run->json != NULL) {
        (void)events_add(&run->events, EVENT_RESULT, "\"result\":", strlen("\"result\":"));
    }
    n = snprintf(members, sizeof(members), "\"status\":\"%s\",\"events_dropped\":%llu", run->status,
        (unsigned long long)run->events.dropped);
    (void)events_add(&run->events, EVENT_END, members, (size_t)n);
}
