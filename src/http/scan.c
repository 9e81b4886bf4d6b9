/* scan.c - /v1/scan: what the scanner finds in a program, which is not run. It is read in a cell
 * all the same, so it is a run to the queue. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run.h"
#include "http/runs.h"
#include "http/server.h"

enum { FINDINGS_BYTES_MAX = 4 << 20 };

static void put_finding(struct json_writer *w, const struct vial_finding *f)
{
    const struct {
        const char *key, *text;
    } texts[] = {{"id", f->id}, {"severity", vial_severity_name((int)f->severity)},
        {"file", f->file}, {"text", f->text}, {"message", f->message}, {"advice", f->advice}};
    size_t i;

    json_begin_object(w);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_key(w, texts[i].key);
        json_text(w, texts[i].text);
    }
    json_key(w, "line");
    json_u64(w, f->line);
    json_key(w, "column");
    json_u64(w, f->column);
    json_end_object(w);
}

/* Makes the findings the answer of whoever waits. */
static void on_end(struct run *run, void *user)
{
    size_t i, count = run->result != NULL ? vial_result_finding_count(run->result) : 0;
    struct exchange *x = user;
    struct json_writer w;
    struct buf out;

    x->on_gone = NULL;
    if (run->r < 0) {
        answer_problem(x, run->problem, "%s", run->err.text);
        exchange_wake(x);
        return;
    }
    buf_init(&out, FINDINGS_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "status");
    json_text(&w, run->status);
    json_key(&w, "findings");
    json_begin_array(&w);
    for (i = 0; i < count; i++) {
        struct vial_finding f = VIAL_FINDING_INIT;

        if (vial_result_finding(run->result, i, &f) == 0) {
            put_finding(&w, &f);
        }
    }
    json_end_array(&w);
    json_end_object(&w);
    answer_written(x, 200, &w, &out);
    exchange_wake(x);
}

static void on_gone(struct exchange *x)
{
    run_cancel(x->user, "client_gone");
}

void scan_create(struct exchange *x)
{
    struct vial_error err;
    struct run *run = run_new(x->server, &x->caller, &err);

    if (run == NULL) {
        answer_error(x, &err);
        return;
    }
    if (runs_take_body(run, x, "ScanRequest") == 0) {
        runs_note_client(run, x);
        run->spec.request.scan = VIAL_SCAN_ONLY;
        run->is_quiet = 1;
        run->on_end = on_end;
        run->on_end_user = x;
        if (run_submit(run, x) == 0) {
            x->user = run;
            x->on_gone = on_gone;
            exchange_wait(x);
        }
    }
    run_unref(run);
}
