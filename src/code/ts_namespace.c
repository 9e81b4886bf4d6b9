/* ts_namespace.c - enums, namespaces, and declarations without a value.
 *
 * An enum or namespace becomes a function that is called at once with the object to fill, in the
 * place where it stands: `enum E { A }` becomes `var E;(function(E){ E[E["A"]=0]="A"
 * })(E||(E={}));` with every line where it was. The parameter of a namespace has a name of its own,
 * since the body may declare the name of the namespace again. A namespace keeps its variables as
 * variables and also makes properties of those it exports; what can change later becomes a property
 * with a getter and a setter. */
#include <stdio.h>
#include <string.h>

#include "code/ts_parser.h"

static const struct ts_name NO_NAME;

enum { NAMES_MAX = 16 }; /* of one dotted namespace; programs have two or three */

/* ---- enum ---- */

struct members {
    struct ts_name object; /* the name of the enum */
    uint64_t path;
    struct ts_name before; /* the last member with a value that only the engine knows */
    int before_is_quoted;
    int is_known; /* the next value is: */
    int32_t value;
};

/* Whether the initializer in front of tok is a text, which has no way back from value to name: one
 * string, or several with + between them. */
static int is_text(struct ts_parser *p, const struct members *e)
{
    struct ts_state saved = p->s;
    int text = 0;

    while (!ts_at_end(p) && !ts_is(p, TS_1(',')) && !ts_is(p, TS_1('}'))) {
        if (p->s.tok.kind == TS_TEMPLATE) {
            text = 1;
            break;
        }
        if (p->s.tok.kind == TS_WORD) {
            const struct ts_member *member;

            if (ts_same_name(p, ts_tok_name(p), e->object) && ts_peek(p).sign == TS_1('.')) {
                ts_next(p);
                ts_next(p);
            }
            member = ts_member_find(p, e->path, ts_tok_name(p));
            text |= member != NULL && member->is_text;
        } else if (p->s.tok.kind == TS_STRING) {
            text = 1;
        } else if (p->s.tok.kind == TS_SIGN && !ts_is(p, TS_1('+'))) {
            text = 0;
            break;
        }
        ts_next(p);
    }
    p->s = saved;
    return text;
}

/* A whole number that is all of the initializer; what the engine would make of others is not
 * guessed. */
static int is_number(struct ts_parser *p, int32_t *ret)
{
    struct ts_state saved = p->s;
    int is_minus = ts_take(p, TS_1('-'));
    uint32_t len = p->s.tok.end - p->s.tok.start;
    int32_t value = 0;
    int is = p->s.tok.kind == TS_NUMBER && len < 10 && (p->src[p->s.tok.start] != '0' || len == 1);

    for (uint32_t i = 0; is && i < len; i++) {
        char c = p->src[p->s.tok.start + i];

        is = c >= '0' && c <= '9';
        value = value * 10 + (c - '0');
    }
    ts_next(p);
    is = is && (ts_is(p, TS_1(',')) || ts_is(p, TS_1('}')));
    p->s = saved;
    *ret = is_minus ? -value : value;
    return is;
}

/* Members of the enum that an initializer names get the enum in front. */
static void qualify(struct ts_parser *p, const struct members *e, size_t refs)
{
    struct ts_name name;

    for (size_t i = refs; i < p->tables[TS_REFS].len; i += sizeof(name)) {
        memcpy(&name, p->tables[TS_REFS].data + i, sizeof(name));
        if (ts_member_find(p, e->path, name) != NULL) {
            ts_insert(p, name.at, "$.", e->object, NO_NAME);
        }
    }
}

/* The name of a member: raw as it stands there, and the text of it. */
static struct ts_name member_name(struct ts_parser *p, struct ts_name *raw, int *is_quoted)
{
    int is_bracketed = ts_is(p, TS_1('['));
    struct ts_name name;

    if (is_bracketed) {
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
    }
    *raw = ts_tok_name(p);
    *is_quoted = p->s.tok.kind == TS_STRING;
    name = *raw;
    if (*is_quoted) {
        name = (struct ts_name){.at = raw->at + 1, .len = raw->len - 2};
    } else if (p->s.tok.kind != TS_WORD || is_bracketed) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    ts_next(p);
    if (is_bracketed) {
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_expect(p, TS_1(']'));
    }
    return name;
}

/* A member without a value has that of the one before it plus one. */
static void auto_member(struct ts_parser *p, struct members *e, struct ts_name raw, int is_quoted)
{
    uint32_t end = raw.at + raw.len;
    char text[64];

    if (e->is_known) {
        (void)snprintf(text, sizeof(text), is_quoted ? "]=%d]=@" : "\"]=%d]=\"@\"", (int)e->value);
        ts_insert(p, end, text, e->object, raw);
        e->value++;
        return;
    }
    ts_insert(p, end, is_quoted ? "]=" : "\"]=", NO_NAME, NO_NAME);
    ts_insert(p, end, e->before_is_quoted ? "$[@]+1" : "$.@+1", e->object, e->before);
    ts_insert(p, end, is_quoted ? "]=@" : "]=\"@\"", NO_NAME, raw);
    e->before = raw;
    e->before_is_quoted = is_quoted;
}

static void enum_member(struct ts_parser *p, struct members *e)
{
    size_t refs = p->tables[TS_REFS].len;
    struct ts_member row = {.path = e->path, .is_enum = 1};
    struct ts_name raw;
    int is_quoted;

    row.name = member_name(p, &raw, &is_quoted);
    if (ts_take(p, TS_1('='))) {
        row.is_text = (uint32_t)is_text(p, e);
        e->is_known = is_number(p, &e->value);
        e->value += e->is_known;
        ts_insert(p, raw.at + raw.len, is_quoted ? "]" : "\"]", NO_NAME, NO_NAME);
        (void)ts_assign(p);
        qualify(p, e, refs);
        if (!row.is_text) {
            ts_insert(p, p->s.prev_end, is_quoted ? "]=@" : "]=\"@\"", NO_NAME, raw);
        }
        e->before = raw;
        e->before_is_quoted = is_quoted;
    } else {
        auto_member(p, e, raw, is_quoted);
    }
    if (row.is_text) {
        ts_insert(p, raw.at, is_quoted ? "$[" : "$[\"", e->object, NO_NAME);
    } else {
        ts_insert(p, raw.at, is_quoted ? "$[$[" : "$[$[\"", e->object, NO_NAME);
    }
    ts_row(p, TS_MEMBERS, &row, sizeof(row));
}

/* What is called with the object: `)(E||(E={}));` or, for a member of ns,
 * `)(E=vial_N.E||(vial_N.E={}));` */
static void close_call(struct ts_parser *p, struct ts_name name, const struct ts_name *parent)
{
    if (parent != NULL) {
        ts_insert(p, p->s.prev_end, ")($=vial_@.$||(vial_@.$={}));", name, *parent);
    } else {
        ts_insert(p, p->s.prev_end, ")($||($={}));", name, NO_NAME);
    }
}

/* The word in front of the name (enum, namespace or module, from at) becomes var or let; when the
 * name is declared already, all goes, from the start of the statement. */
static void open_name(struct ts_parser *p, uint32_t start, uint32_t at, struct ts_name name)
{
    if (ts_has_object(p, name)) {
        ts_blank(p, start, name.at + name.len);
    } else {
        ts_blank(p, at, name.at);
        ts_put_text(p, at, p->s.in_block ? "let" : "var");
        ts_declare(p, name, TS_DECL_OBJECT);
    }
}

void ts_enum(struct ts_parser *p, uint32_t start, const struct ts_namespace *exported)
{
    struct members e = {.is_known = 1};
    uint32_t at = p->s.tok.start;

    ts_next(p);
    e.object = ts_tok_name(p);
    e.path = ts_path(p, exported != NULL ? exported->path : p->s.scope, e.object);
    open_name(p, start, at, e.object);
    ts_next(p);
    ts_insert(p, p->s.tok.start, ";(function($)", e.object, NO_NAME);
    ts_expect(p, TS_1('{'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        enum_member(p, &e);
        if (!ts_is(p, TS_1(','))) {
            break;
        }
        ts_put(p, p->s.tok.start, ';');
        ts_next(p);
    }
    ts_expect(p, TS_1('}'));
    close_call(p, e.object, exported != NULL ? &exported->name : NULL);
    if (exported != NULL) {
        ts_member_add(p, exported->path, e.object);
    }
}

/* ---- namespace ---- */

struct levels {
    struct ts_name names[NAMES_MAX];
    uint64_t paths[NAMES_MAX];
    size_t count;
    int has_more; /* an earlier block of the same namespace exports something */
};

/* a.b.c: all but the last get a function of their own. */
static void namespace_names(struct ts_parser *p, struct levels *l, uint64_t parent)
{
    for (;;) {
        if (p->s.tok.kind != TS_WORD) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
            return;
        }
        if (l->count == NAMES_MAX) {
            ts_fail(p, TS_LIMIT, p->s.tok.start, "has a namespace with too many names");
            return;
        }
        l->names[l->count] = ts_tok_name(p);
        parent = ts_path(p, parent, l->names[l->count]);
        l->paths[l->count++] = parent;
        ts_next(p);
        if (!ts_is(p, TS_1('.'))) {
            return;
        }
        ts_insert(p, p->s.prev_end, ";(function(vial_$){let ", l->names[l->count - 1], NO_NAME);
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
        ts_member_add(p, parent, ts_tok_name(p));
    }
}

/* What earlier blocks of the namespace export can be used by name. The variables for that are in a
 * function around the body, where the body's own can hide them. */
static void open_body(struct ts_parser *p, struct levels *l)
{
    struct ts_name name = l->names[l->count - 1];
    uint64_t path = l->paths[l->count - 1];
    size_t count = ts_rows(p, TS_MEMBERS, sizeof(struct ts_member));
    uint32_t at = p->s.prev_end;

    ts_insert(p, at, ";(function(vial_$)", name, NO_NAME);
    for (size_t i = 0; i < count && p->s.failure == TS_FINE; i++) {
        const struct ts_member *row =
            (const struct ts_member *)(const void *)p->tables[TS_MEMBERS].data + i;

        if (row->path == path && !row->is_enum && ts_member_find(p, path, row->name) == row) {
            ts_insert(p, at, l->has_more ? ",@" : "{let{@", NO_NAME, row->name);
            l->has_more = 1;
        }
    }
    if (l->has_more) {
        ts_insert(p, at, "}=vial_$;(function()", name, NO_NAME);
    }
}

static void close_body(
    struct ts_parser *p, const struct levels *l, const struct ts_namespace *exported)
{
    if (l->has_more) {
        ts_insert(p, p->s.prev_end, ")();}", NO_NAME, NO_NAME);
    }
    for (size_t i = l->count; i > 1; i--) {
        close_call(p, l->names[i - 1], &l->names[i - 2]);
        ts_insert(p, p->s.prev_end, "}", NO_NAME, NO_NAME);
    }
    close_call(p, l->names[0], exported != NULL ? &exported->name : NULL);
}

/* Reads the statements between the braces; whether one of them is more than a type. */
static int namespace_body(struct ts_parser *p, const struct levels *l)
{
    struct ts_namespace ns = {0};
    struct ts_namespace *outside = p->ns;
    uint32_t scope = p->s.scope;
    uint8_t in_block = p->s.in_block;
    int has_values = 0;

    if (l->count > 0) {
        ns.name = l->names[l->count - 1];
        ns.path = l->paths[l->count - 1];
    }
    p->ns = &ns;
    p->s.scope = ++p->scopes;
    p->s.in_block = 0;
    ts_expect(p, TS_1('{'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        uint32_t start = p->s.tok.start;

        ts_statement(p);
        has_values |= p->s.blanked_at != start;
    }
    ts_expect(p, TS_1('}'));
    p->ns = outside;
    p->s.scope = scope;
    p->s.in_block = in_block;
    return has_values;
}

/* tok is namespace or module. With types only it leaves nothing. */
static void namespace_declaration(
    struct ts_parser *p, uint32_t start, int joins, const struct ts_namespace *exported)
{
    struct levels l = {.count = 0};
    struct ts_point point;
    uint32_t at = p->s.tok.start;

    if (!ts_enter(p)) {
        return;
    }
    ts_keep(p, &point);
    ts_next(p);
    open_name(p, start, at, ts_tok_name(p));
    namespace_names(p, &l, exported != NULL ? exported->path : p->s.scope);
    if (p->s.failure == TS_FINE) {
        open_body(p, &l);
    }
    if (namespace_body(p, &l)) {
        close_body(p, &l, exported);
        if (exported != NULL) {
            ts_member_add(p, exported->path, l.names[0]);
        }
    } else if (p->s.failure == TS_FINE) {
        ts_drop(p, &point);
        ts_declare(p, l.names[0], TS_DECL_TYPE);
        ts_blank_statement(p, start, joins);
    }
    ts_leave(p);
}

/* The names that `export let` has bound, from the row first on. */
static void export_bound(struct ts_parser *p, size_t first, int is_const)
{
    struct ts_name name;

    if (p->s.failure == TS_FINE && first < p->tables[TS_BOUND].len &&
        p->src[p->s.prev_end - 1] != ';') {
        ts_insert(p, p->s.prev_end, ";", NO_NAME, NO_NAME);
    }
    for (size_t i = first; i < p->tables[TS_BOUND].len; i += sizeof(name)) {
        memcpy(&name, p->tables[TS_BOUND].data + i, sizeof(name));
        ts_declare(p, name, TS_DECL_BINDING);
        ts_member_add(p, p->ns->path, name);
        ts_insert(p, p->s.prev_end,
            is_const ? "vial_$.@=@;"
                     : "Object.defineProperty(vial_$,\"@\",{get(){return @},set(vial_v){@=vial_v},"
                       "enumerable:true,configurable:true});",
            p->ns->name, name);
    }
    p->tables[TS_BOUND].len = first;
}

static void export_object(struct ts_parser *p, struct ts_name name)
{
    ts_declare(p, name, TS_DECL_OBJECT);
    ts_member_add(p, p->ns->path, name);
    ts_insert(p, p->s.prev_end, "vial_$.@=@;", p->ns->name, name);
}

void ts_namespace_export(struct ts_parser *p, uint32_t start, int joins)
{
    size_t bound = p->tables[TS_BOUND].len;
    struct ts_token second = ts_peek(p);
    struct ts_name name = NO_NAME;
    int is_const = ts_is_word(p, TS_W_CONST);
    struct ts_point point;

    ts_keep(p, &point);
    ts_blank(p, start, start + 6);
    if (ts_is_variables(p)) {
        ts_variables(p, p->ns);
        ts_semicolon(p);
        export_bound(p, bound, is_const);
    } else if (ts_is_word(p, TS_W_CLASS) ||
               (ts_is_word(p, TS_W_ABSTRACT) && second.word == TS_W_CLASS)) {
        if (ts_is_word(p, TS_W_ABSTRACT)) {
            ts_blank(p, p->s.tok.start, p->s.tok.end);
            ts_next(p);
        }
        ts_class(p, &name);
        export_object(p, name);
    } else if (ts_is_word(p, TS_W_FUNCTION) || ts_is_word(p, TS_W_ASYNC)) {
        if (ts_function(p, &name)) {
            export_object(p, name);
        } else {
            ts_semicolon(p);
            ts_drop(p, &point);
            ts_blank_statement(p, start, joins);
        }
    } else if (ts_is_word(p, TS_W_IMPORT)) {
        ts_import_alias(p, p->ns);
    } else if (!ts_declaration(p, start, joins, p->ns)) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

/* ---- declarations ---- */

static void interface(struct ts_parser *p)
{
    ts_next(p);
    ts_declare(p, ts_tok_name(p), TS_DECL_TYPE);
    ts_next(p);
    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
    }
    if (ts_is_word(p, TS_W_EXTENDS)) {
        do {
            ts_next(p);
            ts_type(p);
        } while (ts_is(p, TS_1(',')));
    }
    ts_type(p);
}

static void type_alias(struct ts_parser *p)
{
    ts_next(p);
    ts_declare(p, ts_tok_name(p), TS_DECL_TYPE);
    ts_next(p);
    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
    }
    ts_expect(p, TS_1('='));
    ts_type(p);
    ts_semicolon(p);
}

/* `declare` and what follows, or a module with a quoted name, or global. */
static void ambient(struct ts_parser *p)
{
    struct ts_point point;
    const struct levels nothing = {.count = 0};
    uint8_t outside = p->s.ambient;

    ts_keep(p, &point);
    p->s.ambient = 1;
    ts_next(p);
    if (ts_is_word(p, TS_W_GLOBAL) ||
        (ts_is_word(p, TS_W_MODULE) && ts_peek(p).kind == TS_STRING)) {
        int is_module = ts_is_word(p, TS_W_MODULE);

        ts_next(p);
        if (is_module) {
            ts_next(p);
        }
        if (ts_is(p, TS_1('{'))) {
            (void)namespace_body(p, &nothing);
        } else {
            ts_semicolon(p);
        }
    } else {
        ts_statement(p);
    }
    p->s.ambient = outside;
    ts_drop(p, &point);
}

static int is_declarable(const struct ts_token *tok)
{
    switch (tok->word) {
    case TS_W_VAR:
    case TS_W_LET:
    case TS_W_CONST:
    case TS_W_FUNCTION:
    case TS_W_ASYNC:
    case TS_W_CLASS:
    case TS_W_ABSTRACT:
    case TS_W_ENUM:
    case TS_W_INTERFACE:
    case TS_W_TYPE:
    case TS_W_NAMESPACE:
    case TS_W_MODULE:
    case TS_W_GLOBAL:
    case TS_W_USING:
    case TS_W_IMPORT:
        return !tok->newline;
    default:
        return 0;
    }
}

/* Interfaces and types, `declare`, and abstract classes: those of which little or nothing stays. */
static int erased_declaration(struct ts_parser *p, uint32_t start, int joins)
{
    struct ts_token second = ts_peek(p);
    int is_name = second.kind == TS_WORD && !second.newline;
    struct ts_name name = NO_NAME;
    uint32_t at = p->s.tok.start;

    switch (p->s.tok.word) {
    case TS_W_INTERFACE:
        if (!is_name) {
            return 0;
        }
        interface(p);
        break;
    case TS_W_TYPE:
        if (!is_name || ts_is_reserved(second.word)) {
            return 0;
        }
        type_alias(p);
        break;
    case TS_W_DECLARE:
        if (!is_declarable(&second)) {
            return 0;
        }
        ambient(p);
        break;
    case TS_W_ABSTRACT:
        if (second.word != TS_W_CLASS || second.newline) {
            return 0;
        }
        ts_next(p);
        ts_blank(p, at, p->s.prev_end);
        ts_class(p, &name);
        ts_declare(p, name, TS_DECL_OBJECT);
        return 1;
    default:
        return 0;
    }
    ts_blank_statement(p, start, joins);
    return 1;
}

int ts_declaration(
    struct ts_parser *p, uint32_t start, int joins, const struct ts_namespace *exported)
{
    struct ts_token second = ts_peek(p);
    int is_name = second.kind == TS_WORD && !second.newline && !ts_is_reserved(second.word);

    switch (p->s.tok.word) {
    case TS_W_NAMESPACE:
    case TS_W_MODULE:
        if (!is_name) {
            return 0;
        }
        namespace_declaration(p, start, joins, exported);
        return 1;
    case TS_W_CONST: /* enum: the caller knows that it is no variable */
        if (second.word != TS_W_ENUM) {
            return 0;
        }
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
        ts_enum(p, start, exported);
        return 1;
    case TS_W_ENUM:
        ts_enum(p, start, exported);
        return 1;
    default:
        return erased_declaration(p, start, joins);
    }
}
