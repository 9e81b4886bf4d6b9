/* module.c - see module.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/parse.h"
#include "code/scan.h"
#include "code/script.h"
#include "code/statement.h"

enum {
    /* Rows and names are at most as many as tokens, and none is longer than its source. */
    TABLE_BYTES_MAX = 256 << 20,
    CHANGES_MAX = 4 * CODE_TOKENS_MAX,
    NAME_SHOWN_BYTES = 60,   /* longer names are left out of messages */
    TEXT_EXTRA_BYTES = 4096, /* heads and tails */
    TEXT_FACTOR = 16,        /* `f()` becomes `vial$c(f)()`, and `let a` adds `()=>a,` */
};

static const char COMMONJS_HEAD[] =
    "(function vial_main(exports,require,module,__filename,__dirname,vial$i){";
static const char PLAIN_TAIL[] = "\n})";
static const char EXACT_TAIL[] = "\n}}})";

static int is_word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

static int has_word(const char *source, size_t len, const char *word)
{
    size_t n = strlen(word);
    const char *end = source + len;
    const char *at = source;

    while ((at = memmem(at, (size_t)(end - at), word, n)) != NULL) {
        if ((at == source || !is_word_letter(at[-1])) &&
            (at + n == end || !is_word_letter(at[n]))) {
            return 1;
        }
        at += n;
    }
    return 0;
}

int module_may_be(const char *source, size_t len)
{
    return len > 0 && (has_word(source, len, "import") || has_word(source, len, "export"));
}

static void module_init(struct module *m, size_t len)
{
    *m = (struct module){.kind = MODULE_SCRIPT};
    rewrite_init(&m->rewrite, len * TEXT_FACTOR + TEXT_EXTRA_BYTES);
    buf_init(&m->strings, TABLE_BYTES_MAX);
    buf_init(&m->requests, TABLE_BYTES_MAX);
    buf_init(&m->imports, TABLE_BYTES_MAX);
    buf_init(&m->exports, TABLE_BYTES_MAX);
}

void module_release(struct module *m)
{
    rewrite_release(&m->rewrite);
    buf_release(&m->strings);
    buf_release(&m->requests);
    buf_release(&m->imports);
    buf_release(&m->exports);
}

static const struct span *spans_of(const struct buf *b, size_t *ret_count)
{
    *ret_count = b->len / sizeof(struct span);
    return (const struct span *)(const void *)b->data;
}

/* import() and import.meta become names of the same length. */
static void change_imports(struct module_reader *r, const struct scan *scan)
{
    size_t count, i;
    const struct span *spans = spans_of(&scan->import_calls, &count);

    for (i = 0; i < count; i++) {
        changes_replace(&r->changes, spans[i].at, "vial$i");
    }
    spans = spans_of(&scan->metas, &count);
    for (i = 0; i < count; i++) {
        changes_replace(&r->changes, spans[i].at, "vial$m");
        changes_blank(&r->changes, spans[i].at + 6, spans[i].end, ' ');
    }
}

/* An imported name that is called: not a method of what it is looked up in. */
static void change_calls(struct module_reader *r, const struct scan *scan)
{
    size_t count, i;
    const struct span *spans = spans_of(&scan->named_calls, &count);

    for (i = 0; i < count; i++) {
        changes_insert(&r->changes, spans[i].at, "vial$c(");
        changes_insert(&r->changes, spans[i].end, ")");
    }
}

/* What is an error in a module, and none in a function. */
static void find_faults(struct module_reader *r, const struct scan *scan)
{
    if (scan->return_at != NO_OFFSET) {
        module_fault(
            r, (uint32_t)scan->return_at, "Return statements are only valid inside functions");
    }
    if (scan->yield_at != NO_OFFSET) {
        module_fault(r, (uint32_t)scan->yield_at, "Unexpected keyword 'yield' in a module");
    }
    if (scan->await_name_at != NO_OFFSET) {
        module_fault(r, (uint32_t)scan->await_name_at, "Cannot use 'await' as a name in a module");
    }
}

static void fault_export(
    struct module *m, const struct module_export *e, const char *before, const char *behind)
{
    if (m->fault[0] == '\0') {
        m->fault_line = e->line;
        m->fault_column = e->column;
        (void)snprintf(m->fault, sizeof(m->fault), "%s '%.*s'%s", before,
            e->local.len < NAME_SHOWN_BYTES ? (int)e->local.len : 0, m->strings.data + e->local.at,
            behind);
    }
}

/* Settles what kind of export each of the module's own variables is, now that all is known. */
static void settle_exports(struct module_reader *r, const struct scan *scan)
{
    struct module *m = r->module;
    struct module_export *exports = (struct module_export *)(void *)m->exports.data;
    const struct module_import *imports =
        (const struct module_import *)(const void *)m->imports.data;
    size_t count = m->exports.len / sizeof(*exports);

    for (size_t i = 0; i < count; i++) {
        struct module_export *e = &exports[i];
        const struct name *name;
        const char *local;

        if (e->binding != BINDING_LOCAL) {
            continue; /* there may be no strings at all: export * from '' */
        }
        local = m->strings.data + e->local.at;
        name = names_find(&r->names, local, e->local.len);
        if (name == NULL) { /* a default export without a name */
            continue;
        }
        if (name->flags & NAME_IMPORTED && e->is_declaration) {
            fault_export(m, e, "Cannot declare a variable twice:", ", which is imported");
        } else if (name->flags & NAME_IMPORTED) {
            e->binding = imports[name->value].binding;
            e->request = imports[name->value].request;
            e->imported = imports[name->value].imported;
        } else if (memchr(local, '\\', e->local.len) != NULL) {
            e->may_change = 1; /* somebody else may have written it another way */
        } else {
            e->may_change = scan->assigns_anything || name->flags & NAME_ASSIGNED;
            if (!(name->flags & NAME_DECLARED) && !e->is_declaration) {
                fault_export(
                    m, e, "Exported binding", " needs to refer to a top-level declared variable");
            }
        }
    }
}

static int add_getters(const struct module_reader *r, struct buf *head)
{
    const struct module *m = r->module;
    const struct module_export *exports =
        (const struct module_export *)(const void *)m->exports.data;
    size_t count = m->exports.len / sizeof(*exports);
    int added = 0;
    int ret = 0;

    for (size_t i = 0; i < count && ret == 0; i++) {
        if (exports[i].binding != BINDING_LOCAL) {
            continue;
        }
        ret = buf_add_text(head, added ? "," : "vial$x([", NULL);
        ret = ret < 0 ? ret : buf_add_text(head, "()=>", NULL);
        ret = ret < 0 ? ret
                      : buf_add(head, m->strings.data + exports[i].local.at, exports[i].local.len,
                            NULL);
        added = 1;
    }
    if (added && ret == 0) {
        ret = buf_add_text(head, r->names_default ? "],vial$d);" : "]);", NULL);
    }
    return ret;
}

static int add_constants(const struct module *m, struct buf *head)
{
    const struct module_import *imports =
        (const struct module_import *)(const void *)m->imports.data;
    size_t count = m->imports.len / sizeof(*imports);
    char place[32];
    int ret = 0;

    for (size_t i = 0; i < count && ret == 0; i++) {
        (void)snprintf(place, sizeof(place), "=vial$v[%zu]", i);
        ret = buf_add_text(head, i > 0 ? "," : "const ", NULL);
        ret = ret < 0 ? ret
                      : buf_add(head, m->strings.data + imports[i].local.at, imports[i].local.len,
                            NULL);
        ret = ret < 0 ? ret : buf_add_text(head, place, NULL);
    }
    return count > 0 && ret == 0 ? buf_add_text(head, ";", NULL) : ret;
}

static int make_plain_head(const struct module_reader *r, struct buf *head)
{
    int ret = buf_add_text(head, r->module->is_async ? "(async " : "(", NULL);

    ret = ret < 0 ? ret
                  : buf_add_text(head,
                        "function vial_main(vial$x,vial$v,vial$i,vial$m){\"use strict\";", NULL);
    ret = ret < 0 ? ret : add_constants(r->module, head);
    return ret < 0 ? ret : add_getters(r, head);
}

static int make_exact_head(const struct module_reader *r, struct buf *head)
{
    int is_async = r->module->is_async;
    int ret;

    ret = buf_add_text(
        head, "(function(vial$x,vial$v,vial$i,vial$m,vial$c,vial$w){with(vial$v){return ", NULL);
    ret = ret < 0 ? ret : buf_add_text(head, is_async ? "async function " : "function*", NULL);
    ret = ret < 0 ? ret : buf_add_text(head, "vial_main(){\"use strict\";", NULL);
    ret = ret < 0 ? ret : add_getters(r, head);
    return ret < 0 ? ret : buf_add_text(head, is_async ? "await vial$w;" : "yield;", NULL);
}

/* What a source was read by: one of the two. */
struct reading {
    TSNode root;
    const struct outline *outline; /* NULL: the tree */
};

static void change_values(struct module_reader *r, const struct reading *by)
{
    if (by->outline != NULL) {
        outline_change_values(by->outline, &r->changes);
    } else {
        script_change_values(by->root, r->source, &r->changes);
    }
}

static int write_es(struct module_reader *r, const struct reading *by, const struct scan *scan,
    unsigned flags, struct vial_error *err)
{
    struct module *m = r->module;
    struct buf head;
    int ret;

    m->is_async = scan->await_at != NO_OFFSET;
    find_faults(r, scan);
    settle_exports(r, scan);
    if (m->fault[0] != '\0') {
        return VIAL_OK;
    }
    script_change_hashbang(r->source, r->len, &r->changes);
    if (flags & MODULE_MAIN) {
        change_values(r, by);
    }
    change_imports(r, scan);
    if (flags & MODULE_EXACT) {
        change_calls(r, scan);
    }
    buf_init(&head, m->rewrite.text.max);
    ret = flags & MODULE_EXACT ? make_exact_head(r, &head) : make_plain_head(r, &head);
    if (ret == 0) {
        ret = changes_apply(&r->changes, r->source, r->len, head.data,
            flags & MODULE_EXACT ? EXACT_TAIL : PLAIN_TAIL, &m->rewrite, err);
    }
    buf_release(&head);
    return ret;
}

static int write_other(struct module_reader *r, const struct reading *by, const struct scan *scan,
    unsigned flags, struct vial_error *err)
{
    struct module *m = r->module;
    int top = scan->await_at != NO_OFFSET || scan->return_at != NO_OFFSET;
    const char *head = "";
    const char *tail = "";

    if (m->kind == MODULE_COMMONJS) {
        head = COMMONJS_HEAD;
        tail = PLAIN_TAIL;
    } else if (top && !(flags & MODULE_NOT_WRAPPED)) {
        m->is_wrapped = 1;
        head = SCRIPT_HEAD;
        tail = SCRIPT_TAIL;
        change_values(r, by);
    }
    if (head[0] != '\0') {
        script_change_hashbang(r->source, r->len, &r->changes);
    }
    m->has_import_calls = scan->import_calls.len > 0;
    change_imports(r, scan);
    return changes_apply(&r->changes, r->source, r->len, head, tail, &m->rewrite, err);
}

static int settle_kind(
    enum module_kind kind, unsigned flags, const struct module_reader *r, const struct scan *scan)
{
    if (kind != MODULE_AUTO) {
        return (int)kind;
    }
    if (r->has_statements || scan->metas.len > 0) {
        return MODULE_ES;
    }
    if (!(flags & MODULE_REQUIRED)) {
        return MODULE_SCRIPT;
    }
    return scan->await_at != NO_OFFSET ? MODULE_ES : MODULE_COMMONJS;
}

static int write_module(struct module_reader *r, const struct reading *by, const struct scan *scan,
    enum module_kind kind, unsigned flags, struct vial_error *err)
{
    r->module->kind = settle_kind(kind, flags, r, scan);
    return r->module->kind == MODULE_ES ? write_es(r, by, scan, flags, err)
                                        : write_other(r, by, scan, flags, err);
}

static int read_tree(struct module_reader *r, TSNode root, enum module_kind kind, unsigned flags,
    struct vial_error *err)
{
    struct reading by = {.root = root};
    struct scan scan;
    int ret;

    if (kind == MODULE_AUTO || kind == MODULE_ES) {
        statements_read(r, root);
    }
    ret = scan_tree(root, r->source, r->len, &r->names, &scan, err);
    if (ret == VIAL_OK && r->failed) {
        ret = vial__fail(err, VIAL_E_NOMEM, "no memory for what a module has");
    }
    if (ret == VIAL_OK) {
        if (scan.bad_import_at != NO_OFFSET) {
            module_fault(r, (uint32_t)scan.bad_import_at, "import() needs the name of a module");
        }
        ret = write_module(r, &by, &scan, kind, flags, err);
    }
    scan_release(&scan);
    return ret;
}

/* The first byte at or behind p that is no blank, or end. */
static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r'))) {
        p++;
    }
    return p;
}

/* Whether a line, without the blanks around it, declares variables and gives them no values. */
static int is_bare_declaration(const char *line, size_t len)
{
    if (len < 5 || (memcmp(line, "let ", 4) != 0 && memcmp(line, "var ", 4) != 0) ||
        !is_word_letter(line[len - 1])) {
        return 0;
    }
    for (size_t i = 4; i < len; i++) {
        if (!is_word_letter(line[i]) && line[i] != ' ' && line[i] != ',') {
            return 0;
        }
    }
    return 1;
}

/* Whether a line, without the blanks around it, ends an import or export statement, or a
 * declaration without a value. */
static int ends_statement(const char *line, size_t len)
{
    char last = len > 0 ? line[len - 1] : '\0';

    if (is_bare_declaration(line, len)) {
        return 1;
    }
    if (len < 8 || (last != '"' && last != '\'' && last != '}')) {
        return 0;
    }
    return memcmp(line, "import", 6) == 0 || memcmp(line, "export", 6) == 0 ||
           (line[0] == '}' && memmem(line, len, "from", 4) != NULL);
}

/* The grammar takes a line that begins with a bracket for the rest of the line before, also behind
 * `let x`, or an import or export statement, without a semicolon, where it cannot be. A copy of the
 * source with a semicolon in the place of each such line break; NULL when there is none, or no
 * memory. */
static char *end_statements(const char *source, size_t len)
{
    const char *end = source + len;
    const char *line = source;
    const char *newline;
    char *copy = NULL;

    while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
        const char *first = skip_blanks(line, newline);
        const char *next = skip_blanks(newline, end);
        const char *last = newline;

        while (last > first && (last[-1] == ' ' || last[-1] == '\r' || last[-1] == '\t')) {
            last--;
        }
        if (next < end && strchr("([`/+-", *next) != NULL && *next != '\0' &&
            ends_statement(first, (size_t)(last - first))) {
            if (copy == NULL) {
                copy = malloc(len);
                if (copy == NULL) {
                    return NULL;
                }
                memcpy(copy, source, len);
            }
            copy[newline - source] = ';';
        }
        line = newline + 1;
    }
    return copy;
}

int module_parse(
    const char *source, size_t len, enum module_kind kind, TSTree **ret, struct vial_error *err)
{
    int r = code_parse(tree_sitter_javascript(), source, len, ret, err);
    TSTree *second = NULL;
    char *copy;

    if (r < 0 || kind == MODULE_SCRIPT || kind == MODULE_COMMONJS ||
        !ts_node_has_error(ts_tree_root_node(*ret))) {
        return r;
    }
    copy = end_statements(source, len);
    if (copy != NULL && code_parse(tree_sitter_javascript(), copy, len, &second, NULL) == 0) {
        ts_tree_delete(*ret);
        *ret = second;
    }
    free(copy);
    return VIAL_OK;
}

/* A CommonJS module without any word that needs reading. */
static int read_nothing(struct module_reader *r, struct vial_error *err)
{
    r->module->kind = MODULE_COMMONJS;
    script_change_hashbang(r->source, r->len, &r->changes);
    return changes_apply(
        &r->changes, r->source, r->len, COMMONJS_HEAD, PLAIN_TAIL, &r->module->rewrite, err);
}

static int is_surely_commonjs(const char *source, size_t len, enum module_kind kind, unsigned flags)
{
    return (kind == MODULE_COMMONJS || (kind == MODULE_AUTO && flags & MODULE_REQUIRED)) &&
           !module_may_be(source, len) &&
           (kind == MODULE_COMMONJS || len == 0 || memmem(source, len, "await", 5) == NULL);
}

static void reader_begin(struct module_reader *r, const char *source, size_t len, struct module *m)
{
    *r = (struct module_reader){.source = source,
        .len = len,
        .module = m,
        .request_place = PLACE_START,
        .export_place = PLACE_START};
    module_init(m, len);
    names_init(&r->names);
    changes_init(&r->changes, CHANGES_MAX);
}

static void reader_end(struct module_reader *r)
{
    changes_release(&r->changes);
    names_release(&r->names);
}

/* Reads a module by its outline. 0 when the outline does not tell all, and nothing has happened;
 * else 1, and *ret_code is what module_read returns. Whether the variables that a module exports
 * change later is not in an outline; nobody asks for that of the main one. */
static int read_outline(struct module_reader *r, enum module_kind kind, unsigned flags,
    int *ret_code, struct vial_error *err)
{
    struct outline outline;
    struct reading by = {.outline = &outline};
    struct scan scan;
    int known;

    if (flags & (MODULE_EXACT | MODULE_BY_TREE)) {
        return 0;
    }
    known = outline_read(r->source, r->len, &outline);
    if (known && (kind == MODULE_AUTO || kind == MODULE_ES)) {
        known = statements_read_outline(r, &outline) &&
                (flags & MODULE_MAIN || r->module->exports.len == 0);
    }
    if (known) {
        scan_none(&scan);
        scan.await_at = outline.await_at;
        scan.return_at = outline.return_at;
        scan.assigns_anything = 1;
        *ret_code = r->failed ? vial__fail(err, VIAL_E_NOMEM, "no memory for what a module has")
                              : write_module(r, &by, &scan, kind, flags, err);
        scan_release(&scan);
    }
    outline_release(&outline);
    return known;
}

int module_read(const char *source, size_t len, enum module_kind kind, unsigned flags,
    struct module *ret, struct vial_error *err)
{
    struct module_reader r;
    TSTree *tree = NULL;
    int code;

    reader_begin(&r, source, len, ret);
    if (is_surely_commonjs(source, len, kind, flags)) {
        code = read_nothing(&r, err);
    } else if (!read_outline(&r, kind, flags, &code, err)) {
        reader_end(&r);
        module_release(ret);
        reader_begin(&r, source, len, ret);
        code = module_parse(source, len, kind, &tree, err);
        if (code == VIAL_OK) {
            ret->has_errors = ts_node_has_error(ts_tree_root_node(tree));
            code = read_tree(&r, ts_tree_root_node(tree), kind, flags, err);
            ts_tree_delete(tree);
        }
    }
    reader_end(&r);
    return code;
}
