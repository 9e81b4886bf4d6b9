/* statement.c - see statement.h.
 *
 * An import statement, and an export statement that only names things, becomes one semicolon and
 * spaces: the semicolon ends the statement before, as the word import would have. Of other export
 * statements only the words go:
 *
 *     export const a = 1             ______ const a = 1
 *     export default a               const  vial$d= a
 *     export default function () {}  ______ _______ function vial$d() {}
 *     export default class {}        const  vial$d= {default:class {}}.default;
 *
 * The object in the last line is what gives a class or function without a name the name "default".
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "code/statement.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "code/literal.h"

static const char DEFAULT_LOCAL[] = "vial$d";

enum { SHOWN_BYTES_MAX = 24 }; /* of a name in a message */

/* How much of a piece of the source a message shows, in whole characters. */
static int shown_len(const struct module_reader *r, uint32_t at, uint32_t len)
{
    uint32_t n = len < SHOWN_BYTES_MAX ? len : SHOWN_BYTES_MAX;

    while (n > 0 && at + n < r->len && ((unsigned char)r->source[at + n] & 0xc0) == 0x80) {
        n--;
    }
    return (int)n;
}

void module_fault(struct module_reader *r, uint32_t at, const char *format, ...)
{
    struct module *m = r->module;
    va_list ap;

    if (m->fault[0] != '\0' && r->fault_at <= at) {
        return;
    }
    r->fault_at = at;
    source_position(r->source, r->len, at, &m->fault_line, &m->fault_column);
    va_start(ap, format);
    (void)vsnprintf(m->fault, sizeof(m->fault), format, ap);
    va_end(ap);
}

static void add_row(struct module_reader *r, struct buf *rows, const void *row, size_t size)
{
    if (buf_add(rows, row, size, NULL) < 0) {
        r->failed = 1;
    }
}

struct module_text module_text_at(struct module_reader *r, uint32_t at, uint32_t len)
{
    struct module *m = r->module;
    struct module_text text = {.at = (uint32_t)m->strings.len};

    if (literal_decode(r->source + at, len, &m->strings) < 0) {
        module_fault(r, at, "Invalid escape in a name of a module or of what it exports");
        return text;
    }
    text.len = (uint32_t)m->strings.len - text.at;
    return text;
}

static struct module_text text_of(struct module_reader *r, TSNode node)
{
    uint32_t at = ts_node_start_byte(node);
    uint32_t end = ts_node_end_byte(node);

    if (node_kind(node) == KIND_STRING && end - at >= 2) {
        at++;
        end--;
    }
    return module_text_at(r, at, end - at);
}

struct module_text module_text_constant(struct module_reader *r, const char *text)
{
    struct module_text ret = {
        .at = (uint32_t)r->module->strings.len, .len = (uint32_t)strlen(text)};

    add_row(r, &r->module->strings, text, ret.len);
    return ret;
}

/* The first child of that kind, or a null node. Statements are short, lists are walked. */
static TSNode child_of_kind(TSNode node, enum node_kind kind)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    TSNode found = {.id = NULL};
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more && found.id == NULL) {
        TSNode child = ts_tree_cursor_current_node(&cursor);

        if (node_kind(child) == kind) {
            found = child;
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

/* Finds what of a statement cannot be read: the first node that is an error or that the grammar
 * made up. */
static void find_fault(struct module_reader *r, TSNode statement, const char *what)
{
    TSTreeCursor cursor = ts_tree_cursor_new(statement);
    TSNode node = statement;
    int more = 1;
    uint32_t at;
    int len;

    while (more && node_kind(node) != KIND_ERROR && !ts_node_is_missing(node)) {
        if (!ts_node_has_error(node) || !ts_tree_cursor_goto_first_child(&cursor)) {
            while (more && !ts_tree_cursor_goto_next_sibling(&cursor)) {
                more = ts_tree_cursor_goto_parent(&cursor);
            }
        }
        node = ts_tree_cursor_current_node(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    at = ts_node_start_byte(node);
    len = shown_len(r, at, ts_node_end_byte(node) - at);
    if (ts_node_is_missing(node)) {
        module_fault(r, at, "Expected '%s' in an %s statement", ts_node_type(node), what);
    } else if (len > 0 && node_kind(node) == KIND_ERROR) {
        module_fault(r, at, "Unexpected '%.*s' in an %s statement", len, r->source + at, what);
    } else {
        module_fault(r, at, "Cannot read this %s statement", what);
    }
}

/* ---- what is asked for ---- */

static void read_attribute(struct module_reader *r, TSNode pair, struct module_request *request)
{
    TSNode key = node_child(pair, "key");
    TSNode value = node_child(pair, "value");
    struct module_text name;

    if (ts_node_is_null(key) || ts_node_is_null(value) || node_kind(value) != KIND_STRING) {
        module_fault(r, ts_node_start_byte(pair), "An import attribute must be a string");
        return;
    }
    name = text_of(r, key);
    if (name.len != 4 || memcmp(r->module->strings.data + name.at, "type", 4) != 0) {
        module_fault(r, ts_node_start_byte(pair), "The only import attribute is type");
    } else if (request->has_type) {
        module_fault(r, ts_node_start_byte(pair), "The import attribute type is there twice");
    } else {
        request->type = text_of(r, value);
        request->has_type = 1;
    }
}

static void read_attributes(
    struct module_reader *r, TSNode statement, struct module_request *request)
{
    TSNode attribute = child_of_kind(statement, KIND_IMPORT_ATTRIBUTE);
    TSNode object = attribute;
    TSTreeCursor cursor;
    int more;

    if (!ts_node_is_null(attribute)) {
        object = child_of_kind(attribute, KIND_OBJECT);
    }
    if (ts_node_is_null(object)) {
        return;
    }
    cursor = ts_tree_cursor_new(object);
    more = ts_tree_cursor_goto_first_child(&cursor);
    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_PAIR) {
            read_attribute(r, node, request);
        } else if (ts_node_is_named(node) && node_kind(node) != KIND_NOTHING) {
            module_fault(r, ts_node_start_byte(node), "An import attribute must be a string");
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

uint32_t module_add_request(struct module_reader *r, struct module_request *request, uint32_t at)
{
    struct module *m = r->module;

    place_move(&r->request_place, r->source, r->len, at);
    request->line = r->request_place.line;
    request->column = r->request_place.column;
    add_row(r, &m->requests, request, sizeof(*request));
    return (uint32_t)(m->requests.len / sizeof(*request)) - 1;
}

/* The index of the module that a statement asks for. */
static uint32_t read_request(struct module_reader *r, TSNode statement)
{
    struct module_request request = {.has_type = 0};
    TSNode source = node_child(statement, "source");

    request.specifier = text_of(r, source);
    read_attributes(r, statement, &request);
    return module_add_request(r, &request, ts_node_start_byte(source));
}

/* ---- import ---- */

static int is_reserved(const char *text, size_t len)
{
    static const char *const words[] = {"arguments", "await", "break", "case", "catch", "class",
        "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "eval",
        "export", "extends", "false", "finally", "for", "function", "if", "implements", "import",
        "in", "instanceof", "interface", "let", "new", "null", "package", "private", "protected",
        "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
        "var", "void", "while", "with", "yield"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strlen(words[i]) == len && memcmp(words[i], text, len) == 0) {
            return 1;
        }
    }
    return 0;
}

void module_add_import(struct module_reader *r, uint32_t binding, uint32_t request,
    struct module_text imported, uint32_t at, uint32_t len)
{
    struct module *m = r->module;
    struct module_import import = {.binding = binding, .request = request, .imported = imported};
    struct name *name;

    import.local = module_text_at(r, at, len);
    if (m->strings.data != NULL &&
        is_reserved(m->strings.data + import.local.at, import.local.len)) {
        module_fault(r, at, "Cannot use '%.*s' as the name of an import", shown_len(r, at, len),
            r->source + at);
        return;
    }
    name = names_add(&r->names, r->source + at, len);
    if (name == NULL) {
        r->failed = 1;
        return;
    }
    if (name->flags & NAME_IMPORTED) {
        module_fault(r, at, "Cannot declare an imported binding name twice: '%.*s'",
            shown_len(r, at, len), r->source + at);
    }
    name->flags |= NAME_IMPORTED;
    name->value = (uint32_t)(m->imports.len / sizeof(import));
    add_row(r, &m->imports, &import, sizeof(import));
}

static void add_import(struct module_reader *r, uint32_t binding, uint32_t request, TSNode local,
    struct module_text imported)
{
    uint32_t at = ts_node_start_byte(local);

    if (node_kind(local) == KIND_STRING) {
        module_fault(r, at, "A string can be imported only with `as` and a name");
        return;
    }
    module_add_import(r, binding, request, imported, at, ts_node_end_byte(local) - at);
}

static void read_import_list(struct module_reader *r, TSNode list, uint32_t request)
{
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_IMPORT_SPECIFIER) {
            TSNode name = node_child(node, "name");
            TSNode alias = node_child(node, "alias");

            add_import(
                r, BINDING_NAME, request, ts_node_is_null(alias) ? name : alias, text_of(r, name));
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

static void read_import(struct module_reader *r, TSNode statement)
{
    TSNode clause, node;
    uint32_t request;

    changes_blank(&r->changes, ts_node_start_byte(statement), ts_node_end_byte(statement), ';');
    if (ts_node_has_error(statement) || ts_node_is_null(node_child(statement, "source"))) {
        find_fault(r, statement, "import");
        return;
    }
    request = read_request(r, statement);
    clause = child_of_kind(statement, KIND_IMPORT_CLAUSE);
    if (ts_node_is_null(clause)) {
        return;
    }
    node = child_of_kind(clause, KIND_IDENTIFIER);
    if (!ts_node_is_null(node)) {
        add_import(r, BINDING_NAME, request, node, module_text_constant(r, "default"));
    }
    node = child_of_kind(clause, KIND_IMPORT_NAMESPACE);
    if (!ts_node_is_null(node)) {
        add_import(r, BINDING_NAMESPACE, request, child_of_kind(node, KIND_IDENTIFIER),
            (struct module_text){0});
    }
    node = child_of_kind(clause, KIND_IMPORT_LIST);
    if (!ts_node_is_null(node)) {
        read_import_list(r, node, request);
    }
}

/* ---- export ---- */

static void add_export(struct module_reader *r, struct module_export *export, uint32_t at)
{
    place_move(&r->export_place, r->source, r->len, at);
    export->line = r->export_place.line;
    export->column = r->export_place.column;
    add_row(r, &r->module->exports, export, sizeof(*export));
}

void module_add_local(struct module_reader *r, struct module_text name, uint32_t name_at,
    uint32_t local_at, uint32_t local_len, uint32_t is_declaration)
{
    struct module_export export = {
        .binding = BINDING_LOCAL, .name = name, .is_declaration = is_declaration};

    if (names_add(&r->names, r->source + local_at, local_len) == NULL) {
        r->failed = 1;
    }
    if (is_declaration && is_reserved(r->source + local_at, local_len)) {
        module_fault(r, local_at, "Cannot use '%.*s' as a name", shown_len(r, local_at, local_len),
            r->source + local_at);
    }
    /* As it is written, since it goes back into the text and is looked up among the names. */
    export.local = (struct module_text){.at = (uint32_t)r->module->strings.len, .len = local_len};
    add_row(r, &r->module->strings, r->source + local_at, local_len);
    add_export(r, &export, name_at);
}

static void add_local(struct module_reader *r, struct module_text name, TSNode local,
    uint32_t name_at, uint32_t is_declaration)
{
    uint32_t at = ts_node_start_byte(local);

    module_add_local(r, name, name_at, at, ts_node_end_byte(local) - at, is_declaration);
}

static void add_default(struct module_reader *r, uint32_t at)
{
    struct module_export export = {.binding = BINDING_LOCAL};

    export.name = module_text_constant(r, "default");
    export.local = module_text_constant(r, DEFAULT_LOCAL);
    add_export(r, &export, at);
}

void module_add_default(struct module_reader *r, uint32_t export_at, uint32_t default_at)
{
    changes_replace(&r->changes, export_at, "const ");
    changes_replace(&r->changes, default_at, "vial$d=");
    add_default(r, default_at);
}

/* The list in braces, of the module's own variables or of another module's exports. */
static void read_export_list(struct module_reader *r, TSNode list, int64_t request)
{
    TSTreeCursor cursor = ts_tree_cursor_new(list);
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_EXPORT_SPECIFIER) {
            TSNode local = node_child(node, "name");
            TSNode alias = node_child(node, "alias");
            TSNode name = ts_node_is_null(alias) ? local : alias;
            uint32_t at = ts_node_start_byte(name);

            if (request >= 0) {
                struct module_export export = {.binding = BINDING_NAME,
                    .request = (uint32_t)request,
                    .name = text_of(r, name)};

                export.imported = text_of(r, local);
                add_export(r, &export, at);
            } else if (node_kind(local) == KIND_STRING) {
                module_fault(r, at, "A string can be exported only from another module");
            } else {
                add_local(r, text_of(r, name), local, at, 0);
            }
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

/* Whether a name in a pattern may be one that is declared: not a default value, and not in a
 * computed key. */
static int may_declare(const TSTreeCursor *cursor, enum node_kind kind)
{
    return node_field(cursor) != FIELD_OF_RIGHT && kind != KIND_MEMBER_KEY;
}

/* The nodes are few levels deep in sane code, and no walk here recurses for the others. */
void pattern_names(TSNode pattern, void (*each)(TSNode name, void *user), void *user)
{
    TSTreeCursor cursor = ts_tree_cursor_new(pattern);
    size_t depth = 0;
    int more = 1;

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum node_kind kind = node_kind(node);

        if (kind == KIND_IDENTIFIER || kind == KIND_SHORTHAND) {
            each(node, user);
        } else if ((depth == 0 || may_declare(&cursor, kind)) &&
                   ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        do {
            more = depth > 0;
            if (more && ts_tree_cursor_goto_next_sibling(&cursor)) {
                node = ts_tree_cursor_current_node(&cursor);
                kind = node_kind(node);
                if (may_declare(&cursor, kind)) {
                    break;
                }
                continue;
            }
            if (more) {
                (void)ts_tree_cursor_goto_parent(&cursor);
                depth--;
            }
        } while (more);
    }
    ts_tree_cursor_delete(&cursor);
}

static void export_name(TSNode name, void *user)
{
    struct module_reader *r = user;

    add_local(r, text_of(r, name), name, ts_node_start_byte(name), 1);
}

static void export_declaration(struct module_reader *r, TSNode declaration)
{
    TSNode name = node_child(declaration, "name");
    TSTreeCursor cursor;
    int more;

    if (!ts_node_is_null(name)) { /* of a function or class */
        add_local(r, text_of(r, name), name, ts_node_start_byte(name), 1);
        return;
    }
    cursor = ts_tree_cursor_new(declaration);
    more = ts_tree_cursor_goto_first_child(&cursor);
    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_DECLARATOR) {
            name = node_child(node, "name");
            if (!ts_node_is_null(name)) {
                pattern_names(name, export_name, r);
            }
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}

TSNode statement_leading_declaration(TSNode value, const char *source)
{
    uint32_t start = ts_node_start_byte(value);
    TSTreeCursor cursor = ts_tree_cursor_new(value);
    TSNode found = {.id = NULL};
    int more = 1;

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum node_kind kind = node_kind(node);

        if (ts_node_start_byte(node) != start) {
            break;
        }
        if (kind == KIND_CLASS ||
            (kind == KIND_FUNCTION && !ts_node_is_null(node_child(node, "parameters")) &&
                strcmp(ts_node_type(node), "arrow_function") != 0)) {
            found = node;
            break;
        }
        more = source[start] != '(' && ts_tree_cursor_goto_first_child(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
    return found;
}

int statement_is_anonymous(TSNode value)
{
    TSTreeCursor cursor = ts_tree_cursor_new(value);
    enum node_kind kind = node_kind(value);
    TSNode node = value;

    while (kind == KIND_PARENTHESES && ts_tree_cursor_goto_first_child(&cursor)) {
        do {
            node = ts_tree_cursor_current_node(&cursor);
            kind = node_kind(node);
        } while ((!ts_node_is_named(node) || kind == KIND_NOTHING) &&
                 ts_tree_cursor_goto_next_sibling(&cursor));
    }
    ts_tree_cursor_delete(&cursor);
    return (kind == KIND_FUNCTION || kind == KIND_CLASS) &&
           ts_node_is_null(node_child(node, "name"));
}

static void wrap_default(struct module_reader *r, TSNode value, const char *behind)
{
    changes_insert(&r->changes, ts_node_start_byte(value), "{default:");
    changes_insert(&r->changes, ts_node_end_byte(value), behind);
}

/* export default, whose words are at the places. */
static void export_default(
    struct module_reader *r, TSNode value, uint32_t export_at, uint32_t default_at)
{
    TSNode declaration = statement_leading_declaration(value, r->source);
    TSNode name = ts_node_is_null(declaration) ? declaration : node_child(declaration, "name");

    if (!ts_node_is_null(declaration) &&
        (node_kind(declaration) == KIND_FUNCTION || !ts_node_is_null(name))) {
        changes_blank(&r->changes, export_at, export_at + 6, ' ');
        changes_blank(&r->changes, default_at, default_at + 7, ' ');
        if (!ts_node_is_null(name)) {
            add_local(r, module_text_constant(r, "default"), name, default_at, 1);
            return;
        }
        changes_insert(
            &r->changes, ts_node_start_byte(node_child(declaration, "parameters")), " vial$d");
        r->names_default = 1;
        add_default(r, default_at);
        return;
    }
    module_add_default(r, export_at, default_at);
    if (!ts_node_is_null(declaration)) {
        wrap_default(r, declaration, "}.default;");
    } else if (statement_is_anonymous(value)) {
        wrap_default(r, value, "}.default");
    }
}

struct export_words statement_words(TSNode statement)
{
    struct export_words words = {.export_at = NO_OFFSET, .default_at = NO_OFFSET};
    TSTreeCursor cursor = ts_tree_cursor_new(statement);
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (node_kind(node) == KIND_EXPORT_WORD && words.export_at == NO_OFFSET) {
            words.export_at = ts_node_start_byte(node);
        } else if (words.export_at != NO_OFFSET && strcmp(ts_node_type(node), "default") == 0) {
            words.default_at = ts_node_start_byte(node);
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor) && words.default_at == NO_OFFSET;
    }
    ts_tree_cursor_delete(&cursor);
    return words;
}

/* A statement that names things: a list, or what is behind a star. */
static void read_export_names(struct module_reader *r, TSNode statement)
{
    TSNode list = child_of_kind(statement, KIND_EXPORT_LIST);
    TSNode space = child_of_kind(statement, KIND_EXPORT_NAMESPACE);
    int has_source = !ts_node_is_null(node_child(statement, "source"));
    uint32_t at = ts_node_start_byte(statement);

    changes_blank(&r->changes, at, ts_node_end_byte(statement), ';');
    if (ts_node_has_error(statement) || (!has_source && ts_node_is_null(list))) {
        find_fault(r, statement, "export");
    } else if (!ts_node_is_null(list)) {
        read_export_list(r, list, has_source ? (int64_t)read_request(r, statement) : NO_OFFSET);
    } else {
        struct module_export export = {
            .binding = ts_node_is_null(space) ? BINDING_STAR : BINDING_NAMESPACE,
            .request = read_request(r, statement)};

        if (!ts_node_is_null(space)) {
            TSNode name = child_of_kind(space, KIND_IDENTIFIER);

            name = ts_node_is_null(name) ? child_of_kind(space, KIND_STRING) : name;
            export.name = text_of(r, name);
        }
        add_export(r, &export, at);
    }
}

static void read_export(struct module_reader *r, TSNode statement)
{
    TSNode declaration = node_child(statement, "declaration");
    TSNode value = node_child(statement, "value");
    struct export_words words = statement_words(statement);

    if (words.export_at == NO_OFFSET) {
        find_fault(r, statement, "export");
    } else if (!ts_node_is_null(value) && words.default_at != NO_OFFSET) {
        export_default(r, value, (uint32_t)words.export_at, (uint32_t)words.default_at);
    } else if (!ts_node_is_null(declaration)) {
        uint32_t at = (uint32_t)words.export_at;

        changes_blank(&r->changes, at, at + 6, ' ');
        if (words.default_at != NO_OFFSET) {
            TSNode name = node_child(declaration, "name");

            at = (uint32_t)words.default_at;
            changes_blank(&r->changes, at, at + 7, ' ');
            if (ts_node_is_null(name)) {
                module_fault(r, at, "Expected an expression behind export default");
                return;
            }
            add_local(r, module_text_constant(r, "default"), name, at, 1);
        } else {
            export_declaration(r, declaration);
        }
    } else {
        read_export_names(r, statement);
    }
}

/* An error at the top level that begins with one of the words is a statement of a module. */
static void read_error(struct module_reader *r, TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);

    if (ts_tree_cursor_goto_first_child(&cursor)) {
        enum node_kind kind = node_kind(ts_tree_cursor_current_node(&cursor));
        int is_next = ts_tree_cursor_goto_next_sibling(&cursor);
        TSNode next = ts_tree_cursor_current_node(&cursor);
        char c = r->source[ts_node_start_byte(next)];

        if (kind == KIND_EXPORT_WORD ||
            (kind == KIND_IMPORT_WORD && is_next && c != '(' && c != '.')) {
            r->has_statements = 1;
            uint32_t at = ts_node_start_byte(node);
            int asserts = memmem(r->source + at, ts_node_end_byte(node) - at, "assert", 6) != NULL;

            module_fault(r, at, "Cannot read this %s statement%s",
                kind == KIND_EXPORT_WORD ? "export" : "import",
                asserts ? ": attributes are written `with`, not `assert`" : "");
        }
    }
    ts_tree_cursor_delete(&cursor);
}

void statements_read(struct module_reader *r, TSNode root)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);
    int more = ts_tree_cursor_goto_first_child(&cursor);

    while (more) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum node_kind kind = node_kind(node);

        if (kind == KIND_IMPORT || kind == KIND_EXPORT) {
            r->has_statements = 1;
        }
        if (kind == KIND_IMPORT) {
            read_import(r, node);
        } else if (kind == KIND_EXPORT) {
            read_export(r, node);
        } else if (kind == KIND_ERROR) {
            read_error(r, node);
        }
        more = ts_tree_cursor_goto_next_sibling(&cursor);
    }
    ts_tree_cursor_delete(&cursor);
}
