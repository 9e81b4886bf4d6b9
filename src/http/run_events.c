/* run_events.c - the events that every run has: its start, what it showed, its result, its end. */
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

static void put_artifact(struct json_writer *w, const struct run *run, size_t index)
{
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    uint32_t i;

    if (vial_result_artifact(run->result, index, &artifact) < 0) {
        return;
    }
    json_key(w, "name");
    json_text(w, artifact.name);
    json_key(w, "representations");
    json_begin_array(w);
    for (i = 0; i < artifact.representation_count; i++) {
        struct vial_representation shown = VIAL_REPRESENTATION_INIT;
        char url[128];

        if (vial_result_representation(run->result, index, i, &shown) < 0) {
            continue;
        }
        (void)snprintf(url, sizeof(url), "/v1/runs/%s/artifacts/%zu/%u", run->id, index, i);
        json_begin_object(w);
        json_key(w, "mime");
        json_text(w, shown.mime);
        json_key(w, "bytes");
        json_u64(w, shown.len);
        json_key(w, "url");
        json_text(w, url);
        json_end_object(w);
    }
    json_end_array(w);
}

static void add_artifact(struct run *run, size_t index)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, MEMBERS_BYTES_MAX);
    if (buf_add_text(&out, "\"artifact\":", NULL) == 0) {
        json_init(&w, &out, NULL);
        json_begin_object(&w);
        json_key(&w, "index");
        json_u64(&w, index);
        put_artifact(&w, run, index);
        json_end_object(&w);
        if (json_finish(&w) == 0) {
            (void)events_add(&run->events, EVENT_ARTIFACT, out.data, out.len);
        }
    }
    buf_release(&out);
}

void run_events_end(struct run *run)
{
    char members[96];
    size_t i, count;
    int n;

    if (run->events.count == 0 || run->events.marks[0].type == EVENT_PROGRESS) {
        (void)run_event_start(run);
    }
    count = run->result != NULL ? vial_result_artifact_count(run->result) : 0;
    for (i = 0; i < count; i++) {
        add_artifact(run, i);
    }
    if (run->json != NULL) {
        (void)events_add(&run->events, EVENT_RESULT, "\"result\":", strlen("\"result\":"));
    }
    n = snprintf(members, sizeof(members), "\"status\":\"%s\",\"events_dropped\":%llu", run->status,
        (unsigned long long)run->events.dropped);
    (void)events_add(&run->events, EVENT_END, members, (size_t)n);
}
