/* audit_do.c - `vial audit list`, `export`, `verify`, `head` and `prune`. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "cli/audit.h"
#include "cli/cli.h"
#include "cli/env.h"
#include "cli/time_args.h"
#include "store/audit.h"

enum {
    LIMIT_DEFAULT = 50,
    LINE_BYTES_MAX = AUDIT_RECORD_BYTES_MAX + 6 * AUDIT_CODE_BYTES_MAX + 4096, /* all escaped */
};

/* ---- what several need ---- */

static int open_reader(const struct audit_args *o, struct audit_reader **ret)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct vial_error err;
    int code = env_data_dir(o->data_dir, directory, sizeof(directory));

    if (code != 0) {
        return code;
    }
    return audit_reader_open(directory, ret, &err) < 0 ? env_fail(&err) : 0;
}

static int read_time(const char *option, const char *text, uint64_t *ret)
{
    if (text == NULL || time_args_point(text, id_now_us(), ret) == 0) {
        return 0;
    }
    return cli_fail(EXIT_USAGE,
        "%s takes a time like 2026-11-18, 2026-11-18T02:30:00Z, or 2h for two hours ago", option);
}

static int read_filter(const struct audit_args *o, struct audit_filter *ret)
{
    int code;

    *ret = (struct audit_filter){.key = o->key,
        .agent = o->agent,
        .run = o->run,
        .environment = o->environment,
        .status = o->status,
        .kind = o->kind};
    if (o->kind != NULL && audit_kind_named(o->kind, strlen(o->kind)) < 0) {
        return cli_fail(
            EXIT_USAGE, "there is no kind \"%s\"; `vial audit --help` lists them", o->kind);
    }
    code = read_time("--from", o->from, &ret->from_us);
    return code != 0 ? code : read_time("--until", o->until, &ret->until_us);
}

/* ---- list, export ---- */

static int print_line(const struct audit_entry *entry, void *user)
{
    struct buf *line = user;
    struct vial_error err;
    int r;

    buf_clear(line);
    r = audit_entry_line(entry, line, &err);
    if (r < 0) {
        return r;
    }
    (void)fwrite(line->data, 1, line->len, stdout);
    (void)putchar('\n');
    return ferror(stdout) ? VIAL_E_SYS : 0;
}

static const char *member(const json_t *record, const char *name)
{
    const char *text = json_string_value(json_object_get(record, name));

    return text != NULL ? text : "-";
}

/* One line for people: what is in the record is shown as far as it is text, made visible. */
static int print_row(const struct audit_entry *entry, void *user)
{
    static const char *const names[] = {
        "kind", "key", "agent", "environment", "status", "what", "run", "detail"};
    json_t *record = json_loadb(entry->record, entry->record_len, JSON_ALLOW_NUL, NULL);
    size_t i;

    (void)user;
    (void)printf("%8" PRIu64 "  %s", entry->seq, env_time(entry->time_us));
    for (i = 0; record != NULL && i < sizeof(names) / sizeof(names[0]); i++) {
        (void)printf("  ");
        env_put_line(member(record, names[i]));
    }
    (void)putchar('\n');
    json_decref(record);
    return ferror(stdout) ? VIAL_E_SYS : 0;
}

int audit_do_list(const struct audit_args *o)
{
    char cursor[AUDIT_CURSOR_BYTES_MAX] = "";
    struct audit_reader *reader = NULL;
    struct audit_filter filter;
    struct vial_error err = {.code = 0};
    uint64_t limit = LIMIT_DEFAULT;
    struct buf line;
    int code = read_filter(o, &filter);

    if (code == 0 && o->limit != NULL &&
        (cli_number(o->limit, &limit) < 0 || limit == 0 || limit > AUDIT_PAGE_MAX)) {
        code = cli_fail(EXIT_USAGE, "--limit takes a number from 1 to %d", AUDIT_PAGE_MAX);
    }
    code = code != 0 ? code : open_reader(o, &reader);
    buf_init(&line, LINE_BYTES_MAX);
    if (code == 0 && audit_list(reader, &filter, o->cursor, (uint32_t)limit, o->code,
                         o->json ? print_line : print_row, &line, cursor, &err) < 0) {
        code = err.code != 0 ? env_fail(&err)
                             : cli_fail(EXIT_OUR_FAILURE, "cannot write the list: %s",
                                   strerrordesc_np(errno));
    } else if (code == 0 && cursor[0] != '\0') {
        (void)fprintf(stderr, "There are more; go on with --cursor %s\n", cursor);
    }
    buf_release(&line);
    audit_reader_free(reader);
    return code;
}

int audit_do_export(const struct audit_args *o)
{
    struct audit_reader *reader = NULL;
    struct audit_filter filter;
    struct vial_error err = {.code = 0};
    struct buf line;
    int code = read_filter(o, &filter);

    code = code != 0 ? code : open_reader(o, &reader);
    buf_init(&line, LINE_BYTES_MAX);
    if (code == 0 && audit_export(reader, &filter, o->code, print_line, &line, &err) < 0) {
        code = err.code != 0 ? env_fail(&err)
                             : cli_fail(EXIT_OUR_FAILURE, "cannot write the export: %s",
                                   strerrordesc_np(errno));
    }
    buf_release(&line);
    audit_reader_free(reader);
    return code;
}

/* ---- verify, head ---- */

static const char *const FAULTS[] = {"fine", "changed", "missing", "reordered", "replaced", "torn",
    "code", "truncated", "anchor", "head", "no_head"};

static int print_verdict(const struct audit_verdict *verdict)
{
    char head[AUDIT_HEAD_TEXT_BYTES];
    struct json_writer w;
    struct vial_error err;
    struct buf out;
    int r;

    audit_head_text(&verdict->head, head);
    buf_init(&out, 4096);
    json_init(&w, &out, &err);
    json_begin_object(&w);
    json_key(&w, "ok");
    json_bool(&w, verdict->fault == AUDIT_FINE);
    json_key(&w, "fault");
    json_text(&w, verdict->fault != AUDIT_FINE ? FAULTS[verdict->fault] : NULL);
    json_key(&w, "seq");
    json_u64(&w, verdict->seq);
    json_key(&w, "text");
    json_text(&w, verdict->text);
    json_key(&w, "first");
    json_u64(&w, verdict->first_seq);
    json_key(&w, "count");
    json_u64(&w, verdict->count);
    json_key(&w, "head");
    json_text(&w, head);
    json_end_object(&w);
    r = json_finish(&w);
    if (r == VIAL_OK) {
        (void)printf("%s\n", out.data);
    }
    buf_release(&out);
    return r == VIAL_OK ? 0 : env_fail(&err);
}

int audit_do_verify(const struct audit_args *o)
{
    struct audit_reader *reader = NULL;
    struct audit_verdict verdict;
    struct audit_head kept;
    struct vial_error err;
    int code = 0;

    if (o->head != NULL && audit_head_parse(o->head, strlen(o->head), &kept) < 0) {
        return cli_fail(EXIT_USAGE, "--head takes what `vial audit head` printed: NUMBER:HASH");
    }
    code = open_reader(o, &reader);
    if (code == 0 && audit_verify(reader, o->head != NULL ? &kept : NULL, &verdict, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        code = o->json ? print_verdict(&verdict) : 0;
        if (!o->json && verdict.fault == AUDIT_FINE) {
            (void)printf("%s\n", verdict.text);
        } else if (!o->json) {
            (void)cli_fail(EXIT_REFUSED, "%s (%s)", verdict.text, FAULTS[verdict.fault]);
        }
        code = code == 0 && verdict.fault != AUDIT_FINE ? EXIT_REFUSED : code;
    }
    audit_reader_free(reader);
    return code;
}

int audit_do_head(const struct audit_args *o)
{
    char text[AUDIT_HEAD_TEXT_BYTES];
    struct audit_reader *reader = NULL;
    struct audit_head head;
    struct vial_error err;
    int code = open_reader(o, &reader);

    if (code == 0 && audit_head(reader, &head, &err) < 0) {
        code = env_fail(&err);
    } else if (code == 0) {
        audit_head_text(&head, text);
        (void)printf("%s\n", text);
    }
    audit_reader_free(reader);
    return code;
}

/* ---- prune ---- */

static int prune(const char *directory, uint64_t older_us, uint64_t keep)
{
    const struct audit_options options = {.directory = directory};
    struct audit *audit = NULL;
    uint64_t removed = 1, all = 0;
    struct vial_error err;
    int r = audit_open(&options, &audit, &err);

    while (r == VIAL_OK && removed > 0) {
        r = audit_retain(audit, older_us, keep, &removed, &err);
        all += r == VIAL_OK ? removed : 0;
    }
    audit_free(audit, NULL);
    if (r < 0) {
        return env_fail(&err);
    }
    (void)printf("removed %" PRIu64 " record%s\n", all, all == 1 ? "" : "s");
    return EXIT_FINE;
}

int audit_do_prune(const struct audit_args *o)
{
    char directory[ENV_PATH_BYTES_MAX];
    struct audit_reader *reader = NULL;
    uint64_t older_us = 0, keep = 0;
    int code = 0;

    if (o->older == NULL && o->keep == NULL) {
        return cli_fail(EXIT_USAGE, "vial audit prune needs --older, --keep, or both");
    }
    if (o->keep != NULL && (cli_number(o->keep, &keep) < 0 || keep == 0)) {
        return cli_fail(EXIT_USAGE, "--keep takes a number of records, from 1 on");
    }
    code = read_time("--older", o->older, &older_us);
    code = code != 0 ? code : open_reader(o, &reader); /* is there anything at all? */
    audit_reader_free(reader);
    code = code != 0 ? code : env_data_dir(o->data_dir, directory, sizeof(directory));
    return code != 0 ? code : prune(directory, older_us, keep);
}
