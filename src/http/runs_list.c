/* runs_list.c - GET /v1/runs: what the store has, and what it does not have yet because it runs or
 * has just ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/run_inside.h"
#include "http/runs.h"
#include "http/server.h"

enum { LIST_BYTES_MAX = 4 << 20 };

/* A run that the store does not have, or has as it was before. */
struct recent {
    struct stored_run row;
    int is_wanted; /* by the filter; those that are not take the place of what the store says */
};

/* A list on its way: the loop fills in recent, a thread beside it the rest. */
struct listing {
    struct run_filter filter;
    const char *cursor;
    uint32_t limit;
    struct recent *recent; /* newest first */
    size_t recent_count;
};

void runs_put_row(struct json_writer *w, const struct stored_run *run)
{
    const struct {
        const char *key;
        uint64_t us;
    } times[] = {{"created_at", run->created_us}, {"started_at", run->started_us},
        {"ended_at", run->ended_us}};
    const struct {
        const char *key, *text;
    } texts[] = {{"id", run->id}, {"status", run->status}, {"environment", run->environment},
        {"session", run->session}, {"key", run->key}, {"agent", run->agent}};
    char at[RUN_TIME_BYTES];
    size_t i;

    json_begin_object(w);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_key(w, texts[i].key);
        json_text(w, texts[i].text[0] != '\0' ? texts[i].text : NULL);
    }
    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        run_time_text(times[i].us, at);
        json_key(w, times[i].key);
        json_text(w, times[i].us != 0 ? at : NULL);
    }
    json_key(w, "cpu_us");
    json_u64(w, run->cpu_us);
    json_end_object(w);
}

/* Is this what the filter asks for? The store says the same in SQL. */
static int is_wanted(const struct listing *l, const struct stored_run *row)
{
    const struct run_filter *f = &l->filter;
    size_t len = f->environment != NULL ? strlen(f->environment) : 0;

    if (f->environment != NULL &&
        (strncmp(row->environment, f->environment, len) != 0 ||
            (row->environment[len] != '\0' && row->environment[len] != '@'))) {
        return 0;
    }
    return (f->key == NULL || strcmp(f->key, row->key) == 0) &&
           (f->session == NULL || strcmp(f->session, row->session) == 0) &&
           (f->status == NULL || strcmp(f->status, row->status) == 0) &&
           (l->cursor == NULL || strcmp(row->id, l->cursor) < 0);
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct recent *)b)->row.id, ((const struct recent *)a)->row.id);
}

/* In the loop. 0, or -1 without memory. */
static int collect(struct exchange *x, struct listing *l)
{
    const struct runs *runs = x->server->runs;
    size_t left = runs->unstored_count;
    const struct run *run;

    l->recent = calloc(left + 1, sizeof(*l->recent));
    if (l->recent == NULL) {
        return -1;
    }
    for (run = runs->newest; run != NULL && left > 0; run = run->older) {
        if (run->is_stored) {
            continue;
        }
        left--;
        if (runs_may_see(x, run->key)) {
            struct recent *r = &l->recent[l->recent_count++];

            run_to_stored(run, &r->row);
            r->row.request = r->row.result = NULL; /* the run's; not for another thread */
            r->is_wanted = is_wanted(l, &r->row);
        }
    }
    /* Ids of the same moment are in no order, and the next page goes by them. */
    qsort(l->recent, l->recent_count, sizeof(*l->recent), compare);
    return 0;
}

static const struct recent *find_recent(const struct listing *l, const char *id)
{
    size_t low = 0, high = l->recent_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = strcmp(id, l->recent[middle].row.id);

        if (c == 0) {
            return &l->recent[middle];
        }
        if (c > 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

/* Both lists as one, newest first, up to the limit. cursor is the store's: with it, what is older
 * than the last that it gave belongs on a later page. It becomes that of the whole. */
static void merge(struct json_writer *w, const struct listing *l, const struct stored_run *list,
    size_t count, char cursor[ID_BYTES_MAX + 1])
{
    size_t i = 0, k = 0, given = 0;
    const char *last = "";

    for (;;) {
        const struct stored_run *a = NULL, *b = NULL, *next;

        while (i < count && find_recent(l, list[i].id) != NULL) {
            i++;
        }
        while (k < l->recent_count && !l->recent[k].is_wanted) {
            k++;
        }
        a = i < count ? &list[i] : NULL;
        b = k < l->recent_count ? &l->recent[k].row : NULL;
        if (b != NULL && cursor[0] != '\0' && strcmp(b->id, cursor) < 0) {
            b = NULL;
        }
        next = a == NULL || (b != NULL && strcmp(b->id, a->id) > 0) ? b : a;
        if (next == NULL) {
            return;
        }
        if (given == l->limit) { /* there is more than may be given */
            (void)snprintf(cursor, ID_BYTES_MAX + 1, "%s", last);
            return;
        }
        runs_put_row(w, next);
        last = next->id;
        given++;
        i += next == a;
        k += next == b;
    }
}

/* In a thread beside the loop. */
static void list_all(struct exchange *x)
{
    struct listing *l = x->user;
    char cursor[ID_BYTES_MAX + 1] = "";
    struct stored_run *list = NULL;
    size_t count = 0;
    struct vial_error err;
    struct json_writer w;
    struct buf out;

    x->user = NULL;
    if (run_store_list(x->server->run_store, &l->filter, l->cursor, l->limit, &list, &count, cursor,
            &err) < 0) {
        answer_problem(
            x, err.code == VIAL_E_INVALID ? PROBLEM_INVALID : PROBLEM_STORE, "%s", err.text);
    } else {
        buf_init(&out, LIST_BYTES_MAX);
        json_init(&w, &out, NULL);
        json_begin_object(&w);
        json_key(&w, "items");
        json_begin_array(&w);
        merge(&w, l, list, count, cursor);
        json_end_array(&w);
        json_key(&w, "next_cursor");
        json_text(&w, cursor[0] != '\0' ? cursor : NULL);
        json_end_object(&w);
        answer_written(x, 200, &w, &out);
    }
    free(list);
    free(l->recent);
    free(l);
}

void runs_list(struct exchange *x)
{
    int sees_all = (x->caller.scopes & KEY_SCOPE_ADMIN) != 0;
    struct listing *l = calloc(1, sizeof(*l));

    if (l == NULL) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        return;
    }
    l->filter = (struct run_filter){.key = sees_all ? exchange_query(x, "key") : x->caller.id,
        .environment = exchange_query(x, "environment"),
        .session = exchange_query(x, "session"),
        .status = exchange_query(x, "status")};
    l->cursor = exchange_query(x, "cursor");
    if (runs_page_limit(x, RUN_PAGE_MAX, &l->limit) == 0) {
        if (collect(x, l) < 0) {
            answer_problem(x, PROBLEM_INTERNAL, "out of memory");
        } else {
            x->user = l;
            if (exchange_aside(x, list_all) == 0) {
                return; /* which has it now */
            }
            x->user = NULL;
        }
    }
    free(l->recent);
    free(l);
}
