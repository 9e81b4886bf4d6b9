/* ts_stmt.c - statements, functions and variables. */
#include <string.h>

#include "code/ts_parser.h"

static const struct ts_name NO_NAME;

void ts_semicolon(struct ts_parser *p)
{
    if (ts_take(p, TS_1(';'))) {
        return;
    }
    if (ts_is(p, TS_1('}')) || ts_at_end(p)) {
        return;
    }
    if (p->s.tok.newline) {
        p->s.asi_at = p->s.prev_end;
    } else {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

/* ---- names and patterns ---- */

static void pattern_member(struct ts_parser *p)
{
    if (ts_take(p, TS_3('.', '.', '.'))) {
        ts_binding(p);
        return;
    }
    if (p->s.tok.kind == TS_WORD && ts_peek(p).sign != TS_1(':')) {
        ts_binding(p);
    } else {
        ts_property_name(p);
        ts_expect(p, TS_1(':'));
        ts_binding(p);
    }
    if (ts_take(p, TS_1('='))) {
        (void)ts_assign(p);
    }
}

static void pattern(struct ts_parser *p, uint32_t close)
{
    ts_next(p);
    while (!ts_at_end(p) && !ts_is(p, close)) {
        if (close == TS_1('}')) {
            pattern_member(p);
        } else if (!ts_is(p, TS_1(','))) {
            (void)ts_take(p, TS_3('.', '.', '.'));
            ts_binding(p);
            if (ts_take(p, TS_1('='))) {
                (void)ts_assign(p);
            }
        }
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    ts_expect(p, close);
}

void ts_binding(struct ts_parser *p)
{
    struct ts_name name = ts_tok_name(p);

    if (!ts_enter(p)) {
        return;
    }
    if (ts_is(p, TS_1('{'))) {
        pattern(p, TS_1('}'));
    } else if (ts_is(p, TS_1('['))) {
        pattern(p, TS_1(']'));
    } else if (p->s.tok.kind == TS_WORD && !ts_is_reserved(p->s.tok.word)) {
        ts_note_name(p);
        ts_row(p, TS_BOUND, &name, sizeof(name));
        ts_next(p);
    } else {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
    ts_leave(p);
}

/* ---- functions ---- */

static int is_parameter_modifier(struct ts_parser *p)
{
    struct ts_token second;

    switch (p->s.tok.word) {
    case TS_W_PUBLIC:
    case TS_W_PRIVATE:
    case TS_W_PROTECTED:
    case TS_W_READONLY:
    case TS_W_OVERRIDE:
        second = ts_peek(p);
        return second.kind == TS_WORD || second.sign == TS_1('{') || second.sign == TS_1('[');
    default:
        return 0;
    }
}

static void param(struct ts_parser *p, unsigned flags)
{
    uint32_t start = p->s.tok.start;
    int is_property = 0;
    int is_this = 0;
    struct ts_name name;

    if (ts_is(p, TS_1('@'))) {
        ts_refuse_decorator(p);
    }
    while (is_parameter_modifier(p)) {
        is_property = 1;
        ts_next(p);
        ts_blank(p, start, p->s.prev_end);
    }
    (void)ts_take(p, TS_3('.', '.', '.'));
    name = ts_tok_name(p);
    is_this = ts_is_word(p, TS_W_THIS);
    if (is_this) {
        ts_next(p);
    } else {
        if (is_property && (flags & TS_F_CONSTRUCTOR) && p->s.tok.kind == TS_WORD) {
            ts_row(p, TS_PROPS, &name, sizeof(name));
        }
        ts_binding(p);
    }
    if (ts_is(p, TS_1('?'))) {
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
    }
    ts_annotation(p, p->s.tok.start);
    if (ts_take(p, TS_1('='))) {
        (void)ts_assign(p);
    }
    if (is_this) {
        ts_blank(p, start, ts_is(p, TS_1(',')) ? p->s.tok.end : p->s.prev_end);
    }
}

void ts_params(struct ts_parser *p, unsigned flags)
{
    uint8_t in_condition = p->s.in_condition;
    uint8_t no_in = p->s.no_in;
    size_t bound = p->tables[TS_BOUND].len;

    p->s.in_condition = 0;
    p->s.no_in = 0;
    ts_expect(p, TS_1('('));
    while (!ts_at_end(p) && !ts_is(p, TS_1(')'))) {
        param(p, flags);
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    ts_expect(p, TS_1(')'));
    p->s.in_condition = in_condition;
    p->s.no_in = no_in;
    p->tables[TS_BOUND].len = bound;
}

/* The assignments of parameter properties, from the row first on. */
static void insert_properties(struct ts_parser *p, uint32_t at, size_t first)
{
    struct ts_name name;

    if (at > 0 && p->src[at - 1] != ';' && p->src[at - 1] != '{') {
        ts_insert(p, at, ";", NO_NAME, NO_NAME);
    }
    for (size_t i = first; i < ts_rows(p, TS_PROPS, sizeof(name)); i++) {
        memcpy(&name, p->tables[TS_PROPS].data + i * sizeof(name), sizeof(name));
        ts_insert(p, at, "this.$=$;", name, NO_NAME);
    }
}

static void constructor_statements(struct ts_parser *p, unsigned flags, size_t first)
{
    uint32_t at = flags & TS_F_DERIVED ? 0 : p->s.prev_end;
    uint32_t start = p->s.prev_end;

    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        int is_super = at == 0 && ts_is_word(p, TS_W_SUPER);

        ts_statement(p);
        if (is_super) {
            at = p->s.prev_end;
        }
    }
    insert_properties(p, at > 0 ? at : start, first);
}

void ts_function_body(struct ts_parser *p, unsigned flags)
{
    struct ts_state outside = p->s;
    struct ts_namespace *ns = p->ns;
    size_t props = p->tables[TS_PROPS].len;

    p->ns = NULL;
    p->s.scope = ++p->scopes;
    p->s.in_condition = 0;
    p->s.no_in = 0;
    p->s.in_block = 0;
    p->s.generator = (flags & TS_F_GENERATOR) != 0;
    p->s.functions++;
    ts_expect(p, TS_1('{'));
    if ((flags & TS_F_CONSTRUCTOR) && props > 0) {
        constructor_statements(p, flags, 0);
    }
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        ts_statement(p);
    }
    p->ns = ns;
    p->s.scope = outside.scope;
    p->s.in_condition = outside.in_condition;
    p->s.no_in = outside.no_in;
    p->s.in_block = outside.in_block;
    p->s.generator = outside.generator;
    p->s.functions = outside.functions;
    ts_expect(p, TS_1('}'));
}

int ts_function_rest(struct ts_parser *p, unsigned flags)
{
    uint32_t start = p->s.tok.start;
    uint8_t generator = p->s.generator;

    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
        ts_blank(p, start, p->s.prev_end);
    }
    p->s.generator = (flags & TS_F_GENERATOR) != 0;
    p->s.functions++;
    ts_params(p, flags);
    p->s.functions--;
    p->s.generator = generator;
    ts_annotation(p, p->s.tok.start);
    if (!ts_is(p, TS_1('{'))) {
        return 0;
    }
    ts_function_body(p, flags);
    return 1;
}

int ts_function(struct ts_parser *p, struct ts_name *ret_name)
{
    unsigned flags = 0;

    if (ts_is_word(p, TS_W_ASYNC)) {
        flags |= TS_F_ASYNC;
        ts_next(p);
    }
    ts_next(p);
    flags |= ts_take(p, TS_1('*')) ? TS_F_GENERATOR : 0;
    if (p->s.tok.kind == TS_WORD) {
        if (ret_name != NULL) {
            *ret_name = ts_tok_name(p);
        }
        ts_note_name(p);
        ts_next(p);
    }
    return ts_function_rest(p, flags);
}

/* ---- variables ---- */

int ts_is_variables(struct ts_parser *p)
{
    struct ts_token second;

    switch (p->s.tok.word) {
    case TS_W_VAR:
        return 1;
    case TS_W_CONST:
        return ts_peek(p).word != TS_W_ENUM;
    case TS_W_LET:
        second = ts_peek(p);
        return second.sign == TS_1('[') || second.sign == TS_1('{') ||
               (second.kind == TS_WORD && second.word != TS_W_IN && second.word != TS_W_INSTANCEOF);
    case TS_W_USING:
        second = ts_peek(p);
        p->odd = 1;
        return second.kind == TS_WORD && !second.newline && !ts_is_reserved(second.word) &&
               second.word != TS_W_OF && second.word != TS_W_AS;
    default:
        return 0;
    }
}

static void variable(struct ts_parser *p, int is_const, const struct ts_namespace *exported)
{
    struct ts_name name = ts_tok_name(p);
    size_t bound = p->tables[TS_BOUND].len;
    int is_name = p->s.tok.kind == TS_WORD;

    ts_binding(p);
    if (ts_is(p, TS_1('!')) && !p->s.tok.newline) {
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
    }
    ts_annotation(p, p->s.tok.start);
    if (ts_take(p, TS_1('='))) {
        if (exported != NULL && is_const && is_name) {
            ts_insert(p, p->s.tok.start, "vial_$.@=", exported->name, name);
            ts_member_add(p, exported->path, name);
            p->tables[TS_BOUND].len = bound; /* done */
        }
        (void)ts_assign(p);
    }
}

void ts_variables(struct ts_parser *p, const struct ts_namespace *exported)
{
    int is_const = ts_is_word(p, TS_W_CONST);

    do {
        ts_next(p);
        variable(p, is_const, exported);
    } while (ts_is(p, TS_1(',')));
}

static void declare_bound(struct ts_parser *p, size_t first)
{
    struct ts_name name;

    for (size_t i = first; i < p->tables[TS_BOUND].len; i += sizeof(name)) {
        memcpy(&name, p->tables[TS_BOUND].data + i, sizeof(name));
        ts_declare(p, name, TS_DECL_BINDING);
    }
    p->tables[TS_BOUND].len = first;
}

/* ---- statements ---- */

static void paren_expr(struct ts_parser *p)
{
    ts_expect(p, TS_1('('));
    ts_expr(p);
    ts_expect(p, TS_1(')'));
}

static void block(struct ts_parser *p)
{
    uint32_t scope = p->s.scope;
    uint8_t in_block = p->s.in_block;
    size_t values = p->tables[TS_VALUES].len;

    p->s.scope = ++p->scopes;
    p->s.in_block = 1;
    ts_expect(p, TS_1('{'));
    /* To the grammar, `{a: 1}` is an object here. */
    p->odd |= p->s.functions == 0 && p->s.tok.kind == TS_WORD && ts_peek(p).sign == TS_1(':');
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        ts_list_statement(p, values);
    }
    p->s.scope = scope;
    p->s.in_block = in_block;
    ts_expect(p, TS_1('}'));
}

static void for_statement(struct ts_parser *p)
{
    size_t bound = p->tables[TS_BOUND].len;

    ts_next(p);
    if (ts_is_word(p, TS_W_AWAIT)) {
        ts_note_await(p);
        ts_next(p);
    }
    ts_expect(p, TS_1('('));
    p->s.no_in = 1;
    if (ts_is_variables(p)) {
        ts_variables(p, NULL);
        p->tables[TS_BOUND].len = bound;
    } else if (!ts_is(p, TS_1(';'))) {
        ts_expr(p);
    }
    p->s.no_in = 0;
    if (ts_is_word(p, TS_W_OF) || ts_is_word(p, TS_W_IN)) {
        ts_next(p);
        ts_expr(p);
    } else {
        ts_expect(p, TS_1(';'));
        if (!ts_is(p, TS_1(';'))) {
            ts_expr(p);
        }
        ts_expect(p, TS_1(';'));
        if (!ts_is(p, TS_1(')'))) {
            ts_expr(p);
        }
    }
    ts_expect(p, TS_1(')'));
    ts_statement(p);
}

/* A chain of else-ifs is no nesting. */
static void if_statement(struct ts_parser *p)
{
    do {
        ts_next(p);
        paren_expr(p);
        ts_statement(p);
        if (!ts_is_word(p, TS_W_ELSE)) {
            return;
        }
        ts_next(p);
    } while (ts_is_word(p, TS_W_IF));
    ts_statement(p);
}

static void switch_statement(struct ts_parser *p)
{
    uint32_t scope = p->s.scope;
    uint8_t in_block = p->s.in_block;

    ts_next(p);
    paren_expr(p);
    p->s.scope = ++p->scopes;
    p->s.in_block = 1;
    ts_expect(p, TS_1('{'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        if (ts_is_word(p, TS_W_CASE)) {
            ts_next(p);
            p->s.in_condition = 1; /* a : follows */
            ts_expr(p);
            p->s.in_condition = 0;
            ts_expect(p, TS_1(':'));
        } else if (ts_is_word(p, TS_W_DEFAULT)) {
            ts_next(p);
            ts_expect(p, TS_1(':'));
        } else {
            ts_statement(p);
        }
    }
    p->s.scope = scope;
    p->s.in_block = in_block;
    ts_expect(p, TS_1('}'));
}

static void try_statement(struct ts_parser *p)
{
    size_t bound = p->tables[TS_BOUND].len;

    ts_next(p);
    block(p);
    if (ts_is_word(p, TS_W_CATCH)) {
        ts_next(p);
        if (ts_take(p, TS_1('('))) {
            ts_binding(p);
            ts_annotation(p, p->s.tok.start);
            ts_expect(p, TS_1(')'));
            p->tables[TS_BOUND].len = bound;
        }
        block(p);
    }
    if (ts_is_word(p, TS_W_FINALLY)) {
        size_t values = p->tables[TS_VALUES].len;

        ts_next(p);
        block(p);
        p->tables[TS_VALUES].len = values;
    }
}

static void function_statement(struct ts_parser *p)
{
    uint32_t start = p->s.tok.start;
    int joins = ts_joins(p);
    struct ts_name name = NO_NAME;
    struct ts_point point;

    ts_keep(p, &point);
    if (ts_function(p, &name)) {
        p->odd |= name.len == 0; /* a declaration has one */
        ts_declare(p, name, TS_DECL_OBJECT);
    } else {
        ts_semicolon(p);
        ts_drop(p, &point);
        ts_blank_statement(p, start, joins);
    }
}

static void expression_statement(struct ts_parser *p)
{
    p->s.expr_start = p->s.tok.start;
    if (p->s.functions == 0) {
        ts_row(p, TS_VALUES, &p->s.tok.start, sizeof(p->s.tok.start));
    }
    ts_expr(p);
    ts_semicolon(p);
}

/* Those whose last statement does not give their value. 0 when it is none of them. */
static int loop_statement(struct ts_parser *p)
{
    switch (p->s.tok.word) {
    case TS_W_FOR:
        for_statement(p);
        return 1;
    case TS_W_WHILE:
    case TS_W_WITH:
        ts_next(p);
        paren_expr(p);
        ts_statement(p);
        return 1;
    case TS_W_DO:
        ts_next(p);
        ts_statement(p);
        if (!ts_is_word(p, TS_W_WHILE)) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
        ts_next(p);
        paren_expr(p);
        (void)ts_take(p, TS_1(';'));
        return 1;
    case TS_W_SWITCH:
        switch_statement(p);
        return 1;
    default:
        return 0;
    }
}

/* Statements that end where their last part ends. 0 when it is none of them. */
static int compound_statement(struct ts_parser *p)
{
    size_t values = p->tables[TS_VALUES].len;

    if (ts_is_word(p, TS_W_IF)) {
        if_statement(p);
        return 1;
    }
    if (ts_is_word(p, TS_W_TRY)) {
        try_statement(p);
        return 1;
    }
    if (loop_statement(p)) {
        p->tables[TS_VALUES].len = values;
        return 1;
    }
    return 0;
}

/* return or throw */
static void leave_statement(struct ts_parser *p)
{
    if (p->s.functions == 0 && p->s.return_at == 0 && ts_is_word(p, TS_W_RETURN)) {
        p->s.return_at = p->s.tok.start + 1;
    }
    ts_next(p);
    if (!ts_is(p, TS_1(';')) && !ts_is(p, TS_1('}')) && !ts_at_end(p) && !p->s.tok.newline) {
        ts_expr(p);
    }
    ts_semicolon(p);
}

static void word_statement(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);
    size_t bound = p->tables[TS_BOUND].len;

    switch (p->s.tok.word) {
    case TS_W_RETURN:
    case TS_W_THROW:
        leave_statement(p);
        return;
    case TS_W_BREAK:
    case TS_W_CONTINUE:
    case TS_W_DEBUGGER:
        ts_next(p);
        if (p->s.tok.kind == TS_WORD && !p->s.tok.newline) {
            ts_next(p);
        }
        ts_semicolon(p);
        return;
    case TS_W_FUNCTION:
        function_statement(p);
        return;
    case TS_W_ASYNC:
        if (second.word == TS_W_FUNCTION && !second.newline) {
            function_statement(p);
            return;
        }
        break;
    case TS_W_CLASS: {
        struct ts_name name = NO_NAME;

        ts_class(p, &name);
        p->odd |= name.len == 0;
        ts_declare(p, name, TS_DECL_OBJECT);
        return;
    }
    case TS_W_IMPORT:
        if (second.sign != TS_1('(') && second.sign != TS_1('.')) {
            p->odd |= p->s.depth > 1;
            ts_import_statement(p);
            return;
        }
        break;
    case TS_W_EXPORT:
        p->odd |= p->s.depth > 1;
        ts_export_statement(p);
        return;
    case TS_W_AWAIT: /* await using x = y */
        if (second.word == TS_W_USING && !second.newline) {
            ts_note_await(p);
            ts_next(p);
            word_statement(p);
            return;
        }
        break;
    default:
        break;
    }
    if (ts_is_variables(p)) {
        ts_variables(p, NULL);
        ts_semicolon(p);
        declare_bound(p, bound);
    } else if (!compound_statement(p) && !ts_declaration(p, p->s.tok.start, ts_joins(p), NULL)) {
        expression_statement(p);
    }
}

void ts_statement(struct ts_parser *p)
{
    if (!ts_enter(p)) {
        return;
    }
    while (p->s.tok.kind == TS_WORD && !ts_is_reserved(p->s.tok.word) &&
           ts_peek(p).sign == TS_1(':')) {
        ts_note_name(p);
        ts_next(p); /* a label */
        ts_next(p);
    }
    if (ts_is(p, TS_1('{'))) {
        block(p);
    } else if (ts_is(p, TS_1('@'))) {
        ts_refuse_decorator(p);
    } else if (p->s.tok.kind == TS_WORD) {
        word_statement(p);
    } else if (!ts_take(p, TS_1(';'))) {
        expression_statement(p);
    }
    ts_leave(p);
}

/* Whether tok begins a statement that does nothing when it is reached. */
static int is_passed_over(struct ts_parser *p)
{
    struct ts_token second;

    switch (p->s.tok.word) {
    case TS_W_FUNCTION:
        return 1;
    case TS_W_ASYNC:
        second = ts_peek(p);
        return second.word == TS_W_FUNCTION && !second.newline;
    case TS_W_IMPORT:
        second = ts_peek(p);
        return second.sign != TS_1('(') && second.sign != TS_1('.');
    case TS_W_EXPORT:
        second = ts_peek(p);
        return second.sign == TS_1('{') || second.sign == TS_1('*');
    default:
        return ts_is(p, TS_1(';'));
    }
}

void ts_list_statement(struct ts_parser *p, size_t values)
{
    if (!is_passed_over(p)) {
        p->tables[TS_VALUES].len = values;
    }
    ts_statement(p);
}
