/* session.c - see session.h.
 *
 * Two things look at the tree: a pass over the statements at the top, which makes the changes that
 * session.h shows, and a walk over all of it, which finds the `var` in blocks and the assignments
 * to constants. Whether an assignment means the constant is decided by names alone: only a name
 * that nothing else in the source declares is judged, so no other variable can be meant. */
#include "code/session.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/scan.h"
#include "code/script.h"
#include "code/session_walk.h"
#include "code/statement.h"

enum {
    /* Names are at most as many as tokens, and none is longer than its source. */
    TABLE_BYTES_MAX = 256 << 20,
    CHANGES_MAX = 4 * CODE_TOKENS_MAX,
    TEXT_EXTRA_BYTES = 4096,
    TEXT_FACTOR = 16, /* `let a` becomes `;( a=void 0);`, and is in the head too */
    NAME_CONSTANT = 1,
};

/* An inserted text that was made for one place. */
struct text {
    struct text *next;
    char bytes[];
};

/* A source while it is read. */
struct session_reader {
    const char *source;
    size_t len;
    struct session_source *out;
    struct changes changes;
    struct changes function_changes; /* of the functions that are a script of their own */
    struct buf functions;            /* struct span of each of these, in their order */
    struct names names;              /* flags: NAME_CONSTANT; value: how often it is declared */
    struct buf targets;              /* TSNode: assigned constants */
    struct text *texts;
    int is_async;
    int is_unknown; /* names may mean something that the text does not tell */
    int failed;     /* no memory */
};

static void add_bytes(struct session_reader *r, struct buf *to, const void *bytes, size_t n)
{
    if (buf_add(to, bytes, n, NULL) < 0) {
        r->failed = 1;
    }
}

static void add_text(struct session_reader *r, struct buf *to, const char *text)
{
    add_bytes(r, to, text, strlen(text));
}

/* A text that lives as long as the reader. */
__attribute__((format(printf, 2, 3))) static const char *keep(
    struct session_reader *r, const char *format, ...)
{
    struct text *text;
    va_list ap;
    int n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    text = malloc(sizeof(*text) + (size_t)n + 1);
    if (text == NULL) {
        r->failed = 1;
        return "";
    }
    va_start(ap, format);
    (void)vsnprintf(text->bytes, (size_t)n + 1, format, ap);
    va_end(ap);
    text->next = r->texts;
    r->texts = text;
    return text->bytes;
}

static int node_len(TSNode node)
{
    return (int)(ts_node_end_byte(node) - ts_node_start_byte(node));
}

static const char *node_text(const struct session_reader *r, TSNode node)
{
    return r->source + ts_node_start_byte(node);
}

static const struct span *functions_of(const struct session_reader *r, size_t *ret_count)
{
    *ret_count = r->functions.len / sizeof(struct span);
    return (const struct span *)(const void *)r->functions.data;
}

/* The changes of the text that has the byte at `at`. */
static struct changes *changes_at(struct session_reader *r, uint32_t at)
{
    size_t first = 0, count;
    const struct span *spans = functions_of(r, &count);

    while (count > 0) { /* the first that does not end before it */
        size_t half = count / 2;

        if (spans[first + half].end <= at) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first < r->functions.len / sizeof(*spans) && spans[first].at <= at ? &r->function_changes
                                                                              : &r->changes;
}

static void insert(struct session_reader *r, uint32_t at, const char *text)
{
    changes_insert(changes_at(r, at), at, text);
}

/* ---- names ---- */

static void declare_text(struct session_reader *r, const char *text, size_t len, uint32_t flags)
{
    struct session_source *out = r->out;
    struct module_text row = {.at = (uint32_t)out->strings.len, .len = (uint32_t)len};
    uint32_t known = r->names.count;
    struct name *name;

    if (len == 0) { /* where the grammar misses a name it puts one without letters */
        return;
    }
    name = names_add(&r->names, text, len);
    if (name == NULL) {
        r->failed = 1;
        return;
    }
    name->flags |= flags;
    if (r->names.count > known) {
        add_bytes(r, &out->strings, text, len);
        add_bytes(r, &out->names, &row, sizeof(row));
    }
}

static void declare_variable(TSNode name, void *user)
{
    struct session_reader *r = user;

    declare_text(r, node_text(r, name), (size_t)node_len(name), 0);
}

static void declare_constant(TSNode name, void *user)
{
    struct session_reader *r = user;

    declare_text(r, node_text(r, name), (size_t)node_len(name), NAME_CONSTANT);
}

/* Imports have their places in the array of values; a statement declares each once. */
static void declare_imports(struct session_reader *r)
{
    const struct module *m = &r->out->module;
    const struct module_import *imports =
        (const struct module_import *)(const void *)m->imports.data;

    for (size_t i = 0; i < m->imports.len / sizeof(*imports); i++) {
        const char *local = m->strings.data + imports[i].local.at;
        struct name *name;

        declare_text(r, local, imports[i].local.len, NAME_CONSTANT);
        name = names_find(&r->names, local, imports[i].local.len);
        if (name != NULL) {
            name->value = 1;
        }
    }
}

/* ---- declarations ---- */

/* Calls each with the names of all declarators of a declaration; the last declarator. */
static TSNode read_declarators(struct session_reader *r, TSNode declaration,
    void (*each)(TSNode name, void *user), const char *missing)
{
    TSTreeCursor cursor = ts_tree_cursor_new(declaration);
    TSNode last = {.id = NULL};
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_DECLARATOR) {
            TSNode name = node_child(node, "name");

            last = node;
            if (!ts_node_is_null(name)) {
                pattern_names(name, each, r);
            }
            if (missing != NULL && ts_node_is_null(node_child(node, "value"))) {
                insert(r, ts_node_end_byte(node), missing);
            }
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    return last;
}

/* let and const. A variable that is declared again without a value has none. The semicolon behind
 * the declaration ends it where a line break did, which no longer does behind a value. */
static void read_lexical(struct session_reader *r, TSNode node)
{
    uint32_t at = ts_node_start_byte(node);
    int is_constant = r->source[at] == 'c';
    TSNode last = read_declarators(
        r, node, is_constant ? declare_constant : declare_variable, is_constant ? NULL : "=void 0");

    if (ts_node_is_null(last)) {
        return;
    }
    if (r->is_async) {
        changes_replace(&r->changes, at, is_constant ? ";(   " : ";( ");
        insert(r, ts_node_end_byte(last), ");");
    } else {
        changes_replace(&r->changes, at, is_constant ? "var  " : "var");
        insert(r, ts_node_end_byte(last), ";");
    }
}

static void read_function(struct session_reader *r, TSNode node, TSNode name, int is_default)
{
    struct span span = {.at = ts_node_start_byte(node), .end = ts_node_end_byte(node)};

    declare_variable(name, r);
    if (r->is_async) {
        add_bytes(r, &r->functions, &span, sizeof(span));
        changes_blank(&r->changes, span.at, span.end, ';');
    }
    if (is_default) {
        insert(r, span.end, keep(r, ";vial$d=%.*s;", node_len(name), node_text(r, name)));
    }
}

static void read_class(struct session_reader *r, TSNode node, TSNode name, int is_default)
{
    declare_variable(name, r);
    insert(r, ts_node_start_byte(node),
        keep(r, "%s%.*s=%s", r->is_async ? ";(" : "var ", node_len(name), node_text(r, name),
            is_default ? "vial$d=" : ""));
    insert(r, ts_node_end_byte(node), r->is_async ? ");" : ";");
}

static void read_declaration(struct session_reader *r, TSNode node, int is_default)
{
    TSNode name = node_child(node, "name");

    switch ((int)node_kind(node)) {
    case KIND_LEXICAL:
        read_lexical(r, node);
        break;
    case KIND_HOISTED:
    case KIND_FUNCTION:
        if (!ts_node_is_null(name)) {
            read_function(r, node, name, is_default);
        }
        break;
    case KIND_CLASS:
    case KIND_CLASS_DECLARATION:
        if (!ts_node_is_null(name)) {
            read_class(r, node, name, is_default);
        }
        break;
    default:
        break;
    }
}

/* ---- export ---- */

static void blank_words(struct session_reader *r, struct export_words words)
{
    uint32_t at = (uint32_t)words.export_at;

    changes_blank(&r->changes, at, at + 6, ';');
    if (words.default_at != NO_OFFSET) {
        at = (uint32_t)words.default_at;
        changes_blank(&r->changes, at, at + 7, ' ');
    }
}

/* What has no name gets the name "default" from the object that it is a member of for a moment. */
static void read_default(struct session_reader *r, TSNode value, struct export_words words)
{
    TSNode declaration = statement_leading_declaration(value, r->source);
    int is_declaration = !ts_node_is_null(declaration);

    if (is_declaration && !ts_node_is_null(node_child(declaration, "name"))) {
        blank_words(r, words);
        read_declaration(r, declaration, 1);
        return;
    }
    changes_blank(&r->changes, (uint32_t)words.export_at, (uint32_t)words.export_at + 6, ';');
    changes_replace(&r->changes, (uint32_t)words.default_at, "vial$d=");
    if (is_declaration || statement_is_anonymous(value)) {
        TSNode node = is_declaration ? declaration : value;

        insert(r, ts_node_start_byte(node), "{default:");
        insert(r, ts_node_end_byte(node), is_declaration ? "}.default;" : "}.default");
    }
}

static void read_export(struct session_reader *r, TSNode node)
{
    TSNode declaration = node_child(node, "declaration");
    TSNode value = node_child(node, "value");
    struct export_words words = statement_words(node);

    if (words.export_at == NO_OFFSET) {
        return;
    }
    if (!ts_node_is_null(value) && words.default_at != NO_OFFSET) {
        read_default(r, value, words);
    } else if (!ts_node_is_null(declaration)) {
        blank_words(r, words);
        read_declaration(r, declaration, words.default_at != NO_OFFSET);
    } else {
        changes_blank(&r->changes, ts_node_start_byte(node), ts_node_end_byte(node), ';');
    }
}

static void read_statements(struct session_reader *r, TSNode root)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        switch ((int)node_kind(node)) {
        case KIND_IMPORT:
            changes_blank(&r->changes, ts_node_start_byte(node), ts_node_end_byte(node), ';');
            break;
        case KIND_EXPORT:
            read_export(r, node);
            break;
        default:
            read_declaration(r, node, 0);
            break;
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

/* ---- what is found anywhere in the source ---- */

static void see_var(TSNode node, enum var_place place, void *user)
{
    struct session_reader *r = user;
    TSNode word = node_child(node, "kind");
    uint32_t at = ts_node_start_byte(place == VAR_IN_FOR_IN ? word : node);
    TSNode last;

    if (place == VAR_IN_FOR_IN) {
        pattern_names(node_child(node, "left"), declare_variable, r);
    } else {
        last = read_declarators(r, node, declare_variable, NULL);
    }
    if (!r->is_async) {
        return;
    }
    switch (place) {
    case VAR_IN_FOR_IN:
    case VAR_IN_FOR:
        changes_blank(&r->changes, at, at + 3, ' ');
        break;
    case VAR_IN_LIST:
    case VAR_ALONE:
        changes_replace(&r->changes, at, place == VAR_IN_LIST ? ";( " : "(  ");
        if (!ts_node_is_null(last)) {
            insert(r, ts_node_end_byte(last), place == VAR_IN_LIST ? ");" : ")");
        }
        break;
    }
}

static void see_target(TSNode node, void *user)
{
    struct session_reader *r = user;
    const struct name *name = names_find(&r->names, node_text(r, node), (size_t)node_len(node));

    if (name != NULL && name->flags & NAME_CONSTANT) {
        add_bytes(r, &r->targets, &node, sizeof(node));
    }
}

static void see_binding(TSNode node, void *user)
{
    struct session_reader *r = user;
    struct name *name = names_find(&r->names, node_text(r, node), (size_t)node_len(node));

    if (name != NULL) {
        name->value++;
    }
}

static void see_unknown(void *user)
{
    struct session_reader *r = user;

    r->is_unknown = 1;
}

/* Makes each assignment to a constant of this source one that fails. */
static void change_targets(struct session_reader *r)
{
    const TSNode *nodes = (const TSNode *)(const void *)r->targets.data;
    size_t count = r->is_unknown ? 0 : r->targets.len / sizeof(*nodes);

    for (size_t i = 0; i < count; i++) {
        int len = node_len(nodes[i]);
        const char *text = node_text(r, nodes[i]);
        const struct name *name = names_find(&r->names, text, (size_t)len);
        int is_property = node_kind(nodes[i]) == KIND_SHORTHAND;

        if (name == NULL || name->value != 1) {
            continue;
        }
        insert(r, ts_node_start_byte(nodes[i]),
            is_property ? keep(r, "%.*s:vial$k.", len, text) : "vial$k.");
    }
}

static void change_imports(struct session_reader *r, const struct scan *scan)
{
    const struct span *spans = (const struct span *)(const void *)scan->import_calls.data;
    size_t count = scan->import_calls.len / sizeof(*spans);

    for (size_t i = 0; i < count; i++) {
        changes_replace(changes_at(r, spans[i].at), spans[i].at, "vial$i");
    }
    spans = (const struct span *)(const void *)scan->metas.data;
    count = scan->metas.len / sizeof(*spans);
    for (size_t i = 0; i < count; i++) {
        struct changes *changes = changes_at(r, spans[i].at);

        changes_replace(changes, spans[i].at, "vial$m");
        changes_blank(changes, spans[i].at + 6, spans[i].end, ' ');
    }
}

/* ---- the text ---- */

/* Whether the source begins with "use strict", which would not count behind a head. */
static int is_strict(const struct session_reader *r, TSNode root)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int more = ts_tree_cursor_goto_first_child(&cursor);
    int found = 0;

    while (more && !found) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum node_kind kind = node_kind(node);
        TSNode value;

        if (kind == KIND_EXPRESSION) {
            value = ts_node_named_child(node, 0);
            if (ts_node_is_null(value) || node_kind(value) != KIND_STRING) {
                break;
            }
            found = node_len(value) == 12 && memcmp(node_text(r, value) + 1, "use strict", 10) == 0;
        } else if (kind != KIND_NOTHING) {
            break;
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* `var` with the imports and their values and, when the declarations have become assignments, all
 * other names. */
static void add_names(struct session_reader *r, struct buf *head)
{
    const struct session_source *s = r->out;
    size_t import_count = s->module.imports.len / sizeof(struct module_import);
    size_t count = r->is_async ? session_name_count(s) : import_count;

    for (size_t i = 0; i < count; i++) {
        size_t len = 0;
        const char *name = session_name(s, i, &len);

        add_text(r, head, i == 0 ? "var " : ",");
        add_bytes(r, head, name, len);
        if (i < import_count) {
            add_text(r, head, keep(r, "=vial$v[%zu]", i));
        }
    }
    add_text(r, head, count > 0 ? ";" : "");
}

static void make_head(struct session_reader *r, TSNode root, struct buf *head)
{
    int is_module = r->out->module.kind == MODULE_ES;

    if (is_module && !r->is_async) { /* a string is a value, which must not be that of the source */
        add_text(r, head, "\"use strict\";void 0;");
    }
    add_names(r, head);
    if (r->is_async) {
        add_text(r, head, SCRIPT_HEAD);
        add_text(r, head, is_module || is_strict(r, root) ? "\"use strict\";" : "");
    }
}

/* The functions that are a script of their own, at their places. */
static int write_functions(struct session_reader *r, TSNode root, struct vial_error *err)
{
    int is_module = r->out->module.kind == MODULE_ES;
    size_t count;
    const struct span *spans = functions_of(r, &count);
    uint32_t at = 0;

    if (count == 0) {
        return VIAL_OK;
    }
    for (size_t i = 0; i < count; i++) {
        changes_blank(&r->function_changes, at, spans[i].at, ' ');
        at = spans[i].end;
    }
    changes_blank(&r->function_changes, at, (uint32_t)r->len, ' ');
    return changes_apply(&r->function_changes, r->source, r->len,
        is_module || is_strict(r, root) ? "\"use strict\";" : "", "", &r->out->functions, err);
}

static int write_text(struct session_reader *r, TSNode root, struct vial_error *err)
{
    struct session_source *out = r->out;
    struct buf head;
    int ret;

    buf_init(&head, out->rewrite.text.max);
    make_head(r, root, &head);
    if (head.len > 0) {
        script_change_hashbang(r->source, r->len, &r->changes);
    }
    if (r->failed) {
        ret = vial__fail(err, VIAL_E_NOMEM, "no memory for what a source of a session has");
    } else if (head.len == 0 && r->changes.items.len == 0) {
        ret = VIAL_OK;
    } else {
        ret = changes_apply(&r->changes, r->source, r->len, head.len > 0 ? head.data : "",
            r->is_async ? SCRIPT_TAIL : "", &out->rewrite, err);
        out->shape = r->is_async ? SESSION_ASYNC : SESSION_SCRIPT;
    }
    buf_release(&head);
    return ret < 0 ? ret : write_functions(r, root, err);
}

static int read_tree(struct session_reader *r, TSNode root, struct vial_error *err)
{
    static const struct session_walk_ops ops = {.see_var = see_var,
        .see_target = see_target,
        .see_binding = see_binding,
        .see_unknown = see_unknown};
    const struct module *m = &r->out->module;
    struct scan scan;
    int ret = scan_tree(root, r->source, r->len, NULL, &scan, err);

    r->is_async = m->kind == MODULE_ES ? m->is_async : m->is_wrapped;
    if (ret == VIAL_OK) {
        declare_imports(r);
        if (r->is_async) { /* first: the word `return` is in front of all else */
            script_change_values(root, r->source, &r->changes);
        }
        read_statements(r, root);
        change_imports(r, &scan);
        ret = session_walk(root, r->source, r->len, &ops, r, err);
    }
    if (ret == VIAL_OK) {
        change_targets(r);
        ret = write_text(r, root, err);
    }
    scan_release(&scan);
    return ret;
}

static void reader_release(struct session_reader *r)
{
    changes_release(&r->changes);
    changes_release(&r->function_changes);
    buf_release(&r->functions);
    names_release(&r->names);
    buf_release(&r->targets);
    while (r->texts != NULL) {
        struct text *next = r->texts->next;

        free(r->texts);
        r->texts = next;
    }
}

int session_read(const char *source, size_t len, unsigned flags, struct session_source *ret,
    struct vial_error *err)
{
    struct session_reader r = {.source = source, .len = len, .out = ret};
    unsigned how = MODULE_MAIN | (flags & SESSION_NOT_WRAPPED ? MODULE_NOT_WRAPPED : 0);
    TSTree *tree = NULL;
    int code;

    *ret = (struct session_source){.shape = SESSION_AS_IS};
    rewrite_init(&ret->rewrite, len * TEXT_FACTOR + TEXT_EXTRA_BYTES);
    rewrite_init(&ret->functions, len * TEXT_FACTOR + TEXT_EXTRA_BYTES);
    buf_init(&ret->names, TABLE_BYTES_MAX);
    buf_init(&ret->strings, TABLE_BYTES_MAX);
    code = module_read(source, len, MODULE_AUTO, how, &ret->module, err);
    if (code < 0 || ret->module.fault[0] != '\0') {
        return code;
    }
    code = module_parse(source, len, (enum module_kind)MODULE_AUTO, &tree, err);
    if (code < 0) {
        return code;
    }
    changes_init(&r.changes, CHANGES_MAX);
    changes_init(&r.function_changes, CHANGES_MAX);
    buf_init(&r.functions, TABLE_BYTES_MAX);
    names_init(&r.names);
    buf_init(&r.targets, TABLE_BYTES_MAX);
    code = read_tree(&r, ts_tree_root_node(tree), err);
    reader_release(&r);
    ts_tree_delete(tree);
    return code;
}

void session_release(struct session_source *s)
{
    module_release(&s->module);
    rewrite_release(&s->rewrite);
    rewrite_release(&s->functions);
    buf_release(&s->names);
    buf_release(&s->strings);
}

size_t session_name_count(const struct session_source *s)
{
    return s->names.len / sizeof(struct module_text);
}

const char *session_name(const struct session_source *s, size_t index, size_t *ret_len)
{
    const struct module_text *names = (const struct module_text *)(const void *)s->names.data;

    assert(index < session_name_count(s));
    *ret_len = names[index].len;
    return s->strings.data + names[index].at;
}
