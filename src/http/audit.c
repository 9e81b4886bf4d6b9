/* audit.c - /v1/audit: what happened, newest first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "http/audit_page.h"
#include "http/handlers.h"
#include "http/problem.h"
#include "http/runs.h"
#include "http/server.h"
#include "store/audit.h"

enum { PAGE_BYTES_MAX = 256 << 20 };

static int put_entry(const struct audit_entry *entry, void *user)
{
    struct json_writer *w = user;

    json_begin_object(w);
    json_key(w, "seq");
    json_u64(w, entry->seq);
    json_key(w, "hash");
    json_text(w, entry->hash);
    json_key(w, "record");
    json_raw(w, entry->record, entry->record_len);
    if (entry->code != NULL) {
        json_key(w, "code");
        json_write_string(w, entry->code, entry->code_len);
    }
    json_end_object(w);
    return 0;
}

/* A time of the query, in seconds since 1970 or as RFC 3339 has it. 0, or -1 with an answer. */
static int take_time(struct exchange *x, const char *name, uint64_t *ret)
{
    const char *text = exchange_query(x, name);
    char *end = NULL;
    unsigned long long seconds;

    if (text == NULL) {
        return 0;
    }
    seconds = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || seconds > 100000000000ULL) {
        answer_problem(x, PROBLEM_INVALID, "%s must be seconds since 1970", name);
        return -1;
    }
    *ret = seconds * 1000000ULL;
    return 0;
}

void audit_page(struct exchange *x, struct audit_filter *filter)
{
    char cursor[AUDIT_CURSOR_BYTES_MAX] = "";
    struct audit_reader *reader = NULL;
    const char *code = exchange_query(x, "code");
    struct vial_error err;
    struct json_writer w;
    struct buf out;
    uint32_t limit;
    int r;

    if (runs_page_limit(x, AUDIT_PAGE_MAX, &limit) < 0 ||
        take_time(x, "from", &filter->from_us) < 0 ||
        take_time(x, "until", &filter->until_us) < 0) {
        return;
    }
    buf_init(&out, PAGE_BYTES_MAX);
    json_init(&w, &out, NULL);
    json_begin_object(&w);
    json_key(&w, "items");
    json_begin_array(&w);
    r = audit_reader_open(x->server->options->data_dir, &reader, &err);
    r = r < 0 ? r
              : audit_list(reader, filter, exchange_query(x, "cursor"), limit,
                    code != NULL && strcmp(code, "true") == 0, put_entry, &w, cursor, &err);
    audit_reader_free(reader);
    json_end_array(&w);
    json_key(&w, "next_cursor");
    json_text(&w, cursor[0] != '\0' ? cursor : NULL);
    json_end_object(&w);
    if (r < 0) {
        answer_problem(
            x, err.code == VIAL_E_INVALID ? PROBLEM_INVALID : PROBLEM_STORE, "%s", err.text);
    } else if (json_finish(&w) < 0) {
        answer_problem(x, PROBLEM_INTERNAL, "out of memory");
    } else {
        answer_json(x, 200, &out);
    }
    buf_release(&out);
}

void audit_get(struct exchange *x)
{
    struct audit_filter filter = {.key = exchange_query(x, "key"),
        .agent = exchange_query(x, "agent"),
        .run = exchange_query(x, "run"),
        .environment = exchange_query(x, "environment"),
        .status = exchange_query(x, "status"),
        .kind = exchange_query(x, "kind")};

    audit_page(x, &filter);
}
