/* run_shown.c - what a program shows while it runs: an event for each artifact, and its bytes until
 * the run has ended and its result has them. They are bounded as those of a result are: 100 with
 * 16 MiB in all (docs/artifacts.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mime.h"
#include "base/name.h"
#include "http/run_inside.h"
#include "http/server.h"
#include "wire/field.h"

enum { MEMBERS_BYTES_MAX = 1 << 20 };

struct shown_part {
    char mime[MIME_BYTES_MAX + 1];
    size_t at, len; /* in bytes */
};

struct run_shown {
    struct loop_post post;
    struct run_shown *next;
    struct run *run;
    size_t index;
    uint32_t parts_count;
    struct shown_part parts[ARTIFACT_PARTS_MAX];
    int has_name;
    char name[FILE_NAME_PART_BYTES_MAX + 1];
    char bytes[];
};

/* One artifact of a result, with a copy of its bytes or without them; NULL without memory. */
static struct run_shown *shown_new(const struct vial_result *result, size_t index, int with_bytes)
{
    struct vial_representation parts[ARTIFACT_PARTS_MAX] = {VIAL_REPRESENTATION_INIT};
    struct vial_artifact artifact = VIAL_ARTIFACT_INIT;
    struct run_shown *s;
    size_t len = 0, at = 0;
    uint32_t i;

    if (vial_result_artifact(result, index, &artifact) < 0 ||
        artifact.representation_count > ARTIFACT_PARTS_MAX) {
        return NULL;
    }
    for (i = 0; i < artifact.representation_count; i++) {
        parts[i] = (struct vial_representation)VIAL_REPRESENTATION_INIT;
        if (vial_result_representation(result, index, i, &parts[i]) < 0) {
            return NULL;
        }
        len += parts[i].len;
    }
    s = malloc(sizeof(*s) + (with_bytes ? len : 0));
    if (s == NULL) {
        return NULL;
    }
    *s = (struct run_shown){.index = index, .parts_count = artifact.representation_count};
    s->has_name = artifact.name != NULL;
    (void)snprintf(s->name, sizeof(s->name), "%s", artifact.name != NULL ? artifact.name : "");
    for (i = 0; i < s->parts_count; i++) {
        (void)snprintf(s->parts[i].mime, sizeof(s->parts[i].mime), "%s",
            parts[i].mime != NULL ? parts[i].mime : "");
        s->parts[i].at = at;
        s->parts[i].len = parts[i].len;
        if (with_bytes) {
            memcpy(s->bytes + at, parts[i].bytes, parts[i].len);
        }
        at += parts[i].len;
    }
    return s;
}

static void put_artifact(struct json_writer *w, const char *run, const struct run_shown *s)
{
    char url[128];
    uint32_t i;

    json_begin_object(w);
    json_key(w, "index");
    json_u64(w, s->index);
    json_key(w, "name");
    json_text(w, s->has_name ? s->name : NULL);
    json_key(w, "representations");
    json_begin_array(w);
    for (i = 0; i < s->parts_count; i++) {
        (void)snprintf(url, sizeof(url), "/v1/runs/%s/artifacts/%zu/%u", run, s->index, i);
        json_begin_object(w);
        json_key(w, "mime");
        json_text(w, s->parts[i].mime);
        json_key(w, "bytes");
        json_u64(w, s->parts[i].len);
        json_key(w, "url");
        json_text(w, url);
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
}

static void add_event(struct run *run, const struct run_shown *s)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, MEMBERS_BYTES_MAX);
    if (buf_add_text(&out, "\"artifact\":", NULL) == 0) {
        json_init(&w, &out, NULL);
        put_artifact(&w, run->id, s);
        if (json_finish(&w) == 0) {
            (void)events_add(&run->events, EVENT_ARTIFACT, out.data, out.len);
        }
    }
    buf_release(&out);
    run->shown_count = s->index + 1;
}

static void take_shown(struct loop_post *post)
{
    struct run_shown *s = (struct run_shown *)post;
    struct run *run = s->run;

    if (s->index !=
        run->shown_count) { /* one before it had no memory: in their order, at the end */
        free(s);
        return;
    }
    s->next = run->shown;
    run->shown = s;
    add_event(run, s);
    streams_wake(run);
}

void run_on_artifact(const struct vial_result *result, size_t index, void *user)
{
    struct run *run = user;
    struct run_shown *s = shown_new(result, index, 1);

    if (s != NULL) { /* else it comes with the end */
        s->post.run = take_shown;
        s->run = run;
        loop_post(&run->server->loop, &s->post);
    }
}

void run_shown_end(struct run *run)
{
    size_t i, count = run->result != NULL ? vial_result_artifact_count(run->result) : 0;

    for (i = run->shown_count; i < count; i++) {
        struct run_shown *s = shown_new(run->result, i, 0);

        if (s != NULL) {
            add_event(run, s);
            free(s);
        }
    }
    run_shown_release(run);
}

int run_shown_find(
    const struct run *run, size_t artifact, size_t index, struct vial_representation *ret)
{
    const struct run_shown *s = run->shown;

    while (s != NULL && s->index != artifact) {
        s = s->next;
    }
    if (s == NULL || index >= s->parts_count) {
        return -1;
    }
    ret->mime = s->parts[index].mime;
    ret->bytes = s->bytes + s->parts[index].at;
    ret->len = s->parts[index].len;
    return 0;
}

void run_shown_release(struct run *run)
{
    while (run->shown != NULL) {
        struct run_shown *next = run->shown->next;

        free(run->shown);
        run->shown = next;
    }
}
