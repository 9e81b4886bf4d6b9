/* outline.c - see outline.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/outline.h"

#include <string.h>

#include "code/script.h"
#include "code/ts_parser.h"
#include "code/typescript.h"

/* A comment as in HTML, which scripts may have and the parser does not know. */
static int may_have_html_comment(const char *source, size_t len)
{
    return memmem(source, len, "<!--", 4) != NULL || memmem(source, len, "-->", 3) != NULL;
}

static struct buf take_table(struct ts_parser *p, enum ts_table table)
{
    struct buf taken = p->tables[table];

    buf_init(&p->tables[table], 0);
    return taken;
}

int outline_read(const char *source, size_t len, struct outline *ret)
{
    struct ts_parser p;
    int known = 0;

    *ret = (struct outline){.await_at = -1, .return_at = -1};
    buf_init(&ret->values, 0);
    buf_init(&ret->statements, 0);
    if (len > TYPESCRIPT_BYTES_MAX || may_have_html_comment(source, len)) {
        return 0;
    }
    ts_parser_init(&p, source, len);
    ts_statements(&p);
    if (p.s.failure == TS_FINE && !p.odd && p.tables[TS_MARKS].len == 0 &&
        ts_rows(&p, TS_VALUES, sizeof(uint32_t)) < SCRIPT_EDITS_MAX) {
        ret->await_at = (int64_t)p.s.await_at - 1;
        ret->return_at = (int64_t)p.s.return_at - 1;
        ret->values = take_table(&p, TS_VALUES);
        ret->statements = take_table(&p, TS_OUTSIDE);
        known = 1;
    }
    ts_parser_release(&p);
    return known;
}

void outline_release(struct outline *o)
{
    buf_release(&o->values);
    buf_release(&o->statements);
}

void outline_change_values(const struct outline *o, struct changes *changes)
{
    const uint32_t *places = (const uint32_t *)(const void *)o->values.data;

    for (size_t i = 0; i < o->values.len / sizeof(*places); i++) {
        changes_insert(changes, places[i], "return ");
    }
}
