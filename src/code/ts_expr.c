/* ts_expr.c - expressions.
 *
 * Operators need no precedence here, since no tree is built: an expression is a row of operands
 * with signs between them. Parentheses are read once for both of what they can be, an expression or
 * the parameters of an arrow function. */
#include "code/ts_parser.h"

static const struct ts_name NO_NAME;

/* What holds between two brackets and not outside of them. */
struct brackets {
    uint8_t in_condition, no_in;
};

static struct brackets open_brackets(struct ts_parser *p)
{
    struct brackets outside = {.in_condition = p->s.in_condition, .no_in = p->s.no_in};

    p->s.in_condition = 0;
    p->s.no_in = 0;
    return outside;
}

static void close_brackets(struct ts_parser *p, struct brackets outside)
{
    p->s.in_condition = outside.in_condition;
    p->s.no_in = outside.no_in;
}

static unsigned unary(struct ts_parser *p);

static int is_expr_start(const struct ts_token *tok)
{
    switch (tok->sign) {
    case TS_1('('):
    case TS_1('['):
    case TS_1('{'):
    case TS_1('+'):
    case TS_1('-'):
    case TS_1('!'):
    case TS_1('~'):
    case TS_2('+', '+'):
    case TS_2('-', '-'):
    case TS_1('/'):
    case TS_2('/', '='):
    case TS_1('<'):
    case TS_1('@'):
        return 1;
    case 0:
        return tok->kind != TS_END && tok->word != TS_W_IN && tok->word != TS_W_INSTANCEOF &&
               tok->word != TS_W_OF && tok->word != TS_W_AS && tok->word != TS_W_SATISFIES;
    default:
        return 0;
    }
}

enum { LEVEL_NONE, LEVEL_LOW, LEVEL_RELATION, LEVEL_HIGH };

/* How tightly the operator that is tok binds, compared with `as`, which is a relation. */
static int operator_level(const struct ts_parser *p)
{
    switch (p->s.tok.sign) {
    case TS_1('+'):
    case TS_1('-'):
    case TS_1('*'):
    case TS_1('/'):
    case TS_1('%'):
    case TS_2('*', '*'):
    case TS_2('<', '<'):
    case TS_2('>', '>'):
        return LEVEL_HIGH;
    case TS_1('<'):
    case TS_1('>'):
    case TS_2('<', '='):
    case TS_3('>', '=', ' '):
        return LEVEL_RELATION;
    case TS_2('=', '='):
    case TS_2('!', '='):
    case TS_3('=', '=', '='):
    case TS_3('!', '=', '='):
    case TS_1('&'):
    case TS_1('|'):
    case TS_1('^'):
    case TS_2('&', '&'):
    case TS_2('|', '|'):
    case TS_2('?', '?'):
        return LEVEL_LOW;
    default:
        return ts_is_word(p, TS_W_INSTANCEOF) || (ts_is_word(p, TS_W_IN) && !p->s.no_in)
                   ? LEVEL_RELATION
                   : LEVEL_NONE;
    }
}

static int is_assignment(const struct ts_parser *p)
{
    switch (p->s.tok.sign) {
    case TS_1('='):
    case TS_2('+', '='):
    case TS_2('-', '='):
    case TS_2('*', '='):
    case TS_2('/', '='):
    case TS_2('%', '='):
    case TS_2('&', '='):
    case TS_2('|', '='):
    case TS_2('^', '='):
    case TS_2('>', '='): /* >>= and >>>= */
    case TS_3('*', '*', '='):
    case TS_3('<', '<', '='):
    case TS_3('&', '&', '='):
    case TS_3('|', '|', '='):
    case TS_3('?', '?', '='):
        return 1;
    default:
        return 0;
    }
}

static unsigned arrow_body(struct ts_parser *p)
{
    uint8_t generator = p->s.generator;

    ts_next(p);
    if (ts_is(p, TS_1('{'))) {
        ts_function_body(p, 0);
    } else {
        p->s.generator = 0;
        p->s.functions++;
        p->s.expr_start = p->s.tok.start;
        (void)ts_assign(p);
        p->s.functions--;
        p->s.generator = generator;
    }
    return TS_E_ARROW;
}

static int is_arrow(const struct ts_parser *p)
{
    return ts_is(p, TS_2('=', '>')) && !p->s.tok.newline;
}

/* `: type => body` behind the ) at close. When it must be one, what is wrong in it is a failure;
 * else it may also be the second half of a condition. */
static int arrow_with_type(struct ts_parser *p, uint32_t close, int must)
{
    struct ts_point point;
    uint32_t colon = p->s.tok.start;

    ts_keep(p, &point);
    ts_next(p);
    ts_return_type(p);
    if (!is_arrow(p)) {
        if (!must) {
            ts_back(p, &point);
        }
        return 0;
    }
    if (ts_has_newline(p, close, p->s.tok.start)) {
        /* No line break may come between ) and =>, so the ) moves down. */
        ts_blank(p, close, p->s.prev_end);
        ts_put(p, p->s.prev_end - 1, ')');
    } else {
        ts_blank(p, colon, p->s.prev_end);
    }
    (void)arrow_body(p);
    if (!must && p->s.in_condition && !ts_is(p, TS_1(':'))) {
        ts_back(p, &point);
        return 0;
    }
    return 1;
}

/* One of what is between parentheses; 1 when it can only be a parameter. */
static int paren_item(struct ts_parser *p, int *could_be_params)
{
    int must = ts_take(p, TS_3('.', '.', '.'));
    uint32_t from;

    *could_be_params &= (ts_assign(p) & (TS_E_NAME | TS_E_PATTERN)) != 0;
    from = p->s.tok.start;
    if (ts_is(p, TS_1('?'))) {
        must = 1;
        ts_next(p);
        ts_blank(p, from, from + 1);
    }
    if (ts_is(p, TS_1(':'))) {
        must = 1;
        ts_annotation(p, p->s.tok.start);
    }
    if (must && ts_take(p, TS_1('='))) {
        (void)ts_assign(p);
    }
    return must;
}

/* An expression in parentheses, an arrow function, or the arguments of a function named async. */
static unsigned paren(struct ts_parser *p, int is_call)
{
    struct brackets outside;
    uint32_t await_at = p->s.await_at;
    int could_be_params = 1;
    int must;
    uint32_t close;

    if (!ts_enter(p)) {
        return 0;
    }
    ts_next(p);
    outside = open_brackets(p);
    must = ts_is(p, TS_1(')'));
    while (!ts_at_end(p) && !ts_is(p, TS_1(')'))) {
        must |= paren_item(p, &could_be_params);
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    close = p->s.tok.start;
    close_brackets(p, outside);
    ts_expect(p, TS_1(')'));
    ts_leave(p);
    if (is_arrow(p)) {
        p->odd |= p->s.await_at != await_at; /* it was in a parameter */
        return arrow_body(p);
    }
    if (ts_is(p, TS_1(':')) && could_be_params && arrow_with_type(p, close, must && !is_call)) {
        return TS_E_ARROW;
    }
    if (must && !is_call) {
        ts_fail(p, TS_SYNTAX, close, NULL);
    }
    return 0;
}

static void refuse_jsx(struct ts_parser *p, uint32_t at)
{
    ts_fail(p, TS_UNSUPPORTED, at, TS_NO_JSX);
}

/* Type parameters of an arrow function or the type of a cast: <T> up to its end. */
static void angle(struct ts_parser *p)
{
    uint32_t start = p->s.tok.start;
    struct ts_token name = ts_peek(p);
    struct ts_token second;
    struct ts_point point;

    if (name.sign == TS_1('>')) {
        refuse_jsx(p, start);
        return;
    }
    ts_keep(p, &point);
    ts_type_params(p);
    if (p->s.failure == TS_UNSUPPORTED) {
        struct ts_state failed = p->s;

        ts_back(p, &point);
        ts_next(p);
        second = ts_peek(p);
        p->s = failed;
        if (name.kind == TS_WORD && !ts_is_reserved(name.word) &&
            (second.kind == TS_WORD || second.sign == TS_1('/') || second.sign == TS_1('{') ||
                second.sign == TS_1('.') || second.sign == TS_1('-'))) {
            p->s.failure = TS_FINE;
            refuse_jsx(p, start);
        }
    } else if (name.kind == TS_WORD && p->s.failure == TS_FINE) {
        p->s.jsx = (struct ts_name){.at = name.start, .len = name.end - name.start};
    }
}

/* Blanks <T> in front of a (. When a line break is inside, the ( moves up, since none may follow a
 * return, or an async of an arrow function. */
static void blank_angle(struct ts_parser *p, uint32_t start)
{
    if (ts_has_newline(p, start, p->s.tok.start)) {
        ts_blank(p, start, p->s.tok.end);
        ts_put(p, start, '(');
    } else {
        ts_blank(p, start, p->s.prev_end);
    }
}

/* <T>x or <T>(x) => y */
static unsigned cast(struct ts_parser *p)
{
    uint32_t start = p->s.tok.start;
    int wrap;
    unsigned flags;

    if (!ts_enter(p)) {
        return 0;
    }
    angle(p);
    if (ts_is(p, TS_1('('))) {
        blank_angle(p, start);
        flags = unary(p) & TS_E_ARROW;
        ts_leave(p);
        return flags;
    }
    wrap = ts_has_newline(p, start, p->s.tok.start);
    if (p->s.expr_start == start) {
        p->s.expr_start = p->s.tok.start; /* for a cast inside of this one */
        wrap |= ts_is(p, TS_1('{')) || ts_is_word(p, TS_W_FUNCTION) || ts_is_word(p, TS_W_CLASS) ||
                ts_is_word(p, TS_W_ASYNC) || ts_is_word(p, TS_W_LET);
    }
    ts_blank(p, start, p->s.prev_end);
    if (wrap) {
        ts_put(p, start, '(');
    }
    flags = unary(p) & TS_E_ARROW;
    if (wrap) {
        ts_insert(p, p->s.prev_end, ")", NO_NAME, NO_NAME);
    }
    ts_leave(p);
    return flags;
}

int ts_is_property_name(const struct ts_token *tok)
{
    return tok->kind == TS_WORD || tok->kind == TS_STRING || tok->kind == TS_NUMBER ||
           tok->kind == TS_PRIVATE || tok->sign == TS_1('[');
}

void ts_property_name(struct ts_parser *p)
{
    if (ts_is(p, TS_1('['))) {
        struct brackets outside = open_brackets(p);

        ts_next(p);
        (void)ts_assign(p);
        ts_expect(p, TS_1(']'));
        close_brackets(p, outside);
    } else if (ts_is_property_name(&p->s.tok)) {
        ts_next(p);
    } else {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

static void object_member(struct ts_parser *p)
{
    struct ts_token name;
    unsigned flags = 0;

    for (;;) {
        struct ts_token second = ts_peek(p);

        if (!(ts_is_word(p, TS_W_ASYNC) || ts_is_word(p, TS_W_GET) || ts_is_word(p, TS_W_SET)) ||
            !(ts_is_property_name(&second) || second.sign == TS_1('*'))) {
            break;
        }
        flags |= ts_is_word(p, TS_W_ASYNC) ? TS_F_ASYNC : 0;
        ts_next(p);
    }
    flags |= ts_take(p, TS_1('*')) ? TS_F_GENERATOR : 0;
    name = p->s.tok;
    ts_property_name(p);
    if (ts_is(p, TS_1('(')) || ts_is(p, TS_1('<'))) {
        if (!ts_function_rest(p, flags)) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
    } else if (ts_take(p, TS_1(':'))) {
        (void)ts_assign(p);
    } else {
        if (name.kind == TS_WORD) {
            p->odd |= name.word == TS_W_AWAIT || name.word == TS_W_YIELD;
            ts_ref(p, (struct ts_name){.at = name.start, .len = name.end - name.start});
        }
        if (ts_take(p, TS_1('='))) {
            (void)ts_assign(p);
        }
    }
}

/* {...}, [...] or (...) with commas; an array may leave some out. */
static void list(struct ts_parser *p, uint32_t close, int is_object)
{
    struct brackets outside = open_brackets(p);

    ts_next(p);
    while (!ts_at_end(p) && !ts_is(p, close)) {
        if (close == TS_1(']') && ts_take(p, TS_1(','))) {
            continue;
        }
        if (ts_take(p, TS_3('.', '.', '.')) || !is_object) {
            (void)ts_assign(p);
        } else {
            object_member(p);
        }
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    ts_expect(p, close);
    close_brackets(p, outside);
}

static void template(struct ts_parser *p)
{
    struct brackets outside = open_brackets(p);

    while (ts_template_part(p)) {
        ts_next(p);
        ts_expr(p);
        if (!ts_is(p, TS_1('}'))) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
        p->s.at = p->s.tok.end;
    }
    close_brackets(p, outside);
    ts_next(p);
}

/* What starts with `async`: a function, an arrow function, or a name. */
static unsigned async_thing(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);
    struct ts_point point;
    uint32_t start;
    unsigned flags = 0;

    if (second.newline) {
        second.kind = TS_END;
        second.sign = 0;
    }
    if (second.kind == TS_WORD && second.word == TS_W_FUNCTION) {
        (void)ts_function(p, NULL);
        return 0;
    }
    ts_keep(p, &point);
    ts_next(p);
    if (second.kind == TS_WORD) {
        ts_note_name(p);
        ts_next(p);
        if (is_arrow(p)) {
            return arrow_body(p);
        }
    } else if (second.sign == TS_1('(')) {
        return paren(p, 1);
    } else if (second.sign == TS_1('<')) {
        start = p->s.tok.start;
        ts_type_params(p);
        if (ts_is(p, TS_1('('))) {
            blank_angle(p, start);
            flags = paren(p, 1);
        }
        if (flags & TS_E_ARROW) {
            return flags;
        }
    }
    ts_back(p, &point);
    ts_ref(p, ts_tok_name(p));
    ts_next(p);
    return is_arrow(p) ? arrow_body(p) : TS_E_NAME;
}

static unsigned word(struct ts_parser *p)
{
    switch (p->s.tok.word) {
    case TS_W_FUNCTION:
        if (!ts_function(p, NULL)) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
        return 0;
    case TS_W_CLASS:
        ts_class(p, NULL);
        return 0;
    case TS_W_ASYNC:
        return async_thing(p);
    case TS_W_IMPORT: /* import() or import.meta */
        p->odd = 1;
        ts_next(p);
        return 0;
    case TS_W_NEW: /* new.target: the rest is done by the caller */
    case TS_W_THIS:
    case TS_W_SUPER:
    case TS_W_NULL:
    case TS_W_TRUE:
    case TS_W_FALSE:
        ts_next(p);
        return 0;
    default:
        break;
    }
    if (ts_is_reserved(p->s.tok.word)) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        return 0;
    }
    ts_note_name(p);
    ts_ref(p, ts_tok_name(p));
    ts_next(p);
    return is_arrow(p) ? arrow_body(p) : TS_E_NAME;
}

static unsigned primary(struct ts_parser *p)
{
    switch (p->s.tok.kind) {
    case TS_WORD:
        return word(p);
    case TS_NUMBER:
    case TS_STRING:
    case TS_PRIVATE:
        ts_next(p);
        return 0;
    case TS_TEMPLATE:
        template(p);
        return 0;
    default:
        break;
    }
    switch (p->s.tok.sign) {
    case TS_1('('):
        return paren(p, 0);
    case TS_1('['):
        list(p, TS_1(']'), 0);
        return TS_E_PATTERN;
    case TS_1('{'):
        list(p, TS_1('}'), 1);
        return TS_E_PATTERN;
    case TS_1('/'):
    case TS_2('/', '='):
        ts_scan_regex(p);
        return 0;
    case TS_1('@'):
        ts_refuse_decorator(p);
        return 0;
    default:
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        return 0;
    }
}

/* f<T> and what follows it, if the < is not an operator. The rule for what may follow is
 * TypeScript's. */
static int type_args(struct ts_parser *p)
{
    struct ts_point point;
    uint32_t start = p->s.tok.start;
    uint32_t end;
    int is;

    ts_keep(p, &point);
    ts_type_args(p);
    end = p->s.prev_end;
    is = p->s.failure == TS_FINE && !(end < p->len && (p->src[end] == '=' || p->src[end] == '>'));
    if (is && !ts_is(p, TS_1('(')) && p->s.tok.kind != TS_TEMPLATE) {
        is = !ts_is(p, TS_1('<')) && !ts_is(p, TS_1('>')) && !ts_is(p, TS_1('+')) &&
             !ts_is(p, TS_1('-')) && !ts_is(p, TS_2('<', '<')) &&
             (p->s.tok.newline || operator_level(p) != LEVEL_NONE || !is_expr_start(&p->s.tok));
    }
    if (!is) {
        ts_back(p, &point);
        return 0;
    }
    ts_blank(p, start, end);
    return 1;
}

static int postfix_once(struct ts_parser *p)
{
    if (p->s.tok.kind == TS_TEMPLATE) {
        template(p);
        return 1;
    }
    switch (p->s.tok.sign) {
    case TS_2('?', '.'):
        ts_next(p);
        if (ts_is(p, TS_1('<')) || ts_is(p, TS_2('<', '<'))) {
            return type_args(p);
        }
        if (p->s.tok.kind == TS_WORD || p->s.tok.kind == TS_PRIVATE) {
            ts_next(p);
        }
        return 1;
    case TS_1('.'):
        ts_next(p);
        if (p->s.tok.kind != TS_WORD && p->s.tok.kind != TS_PRIVATE) {
            ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
        }
        ts_next(p);
        return 1;
    case TS_1('['): {
        struct brackets outside = open_brackets(p);

        ts_next(p);
        ts_expr(p);
        ts_expect(p, TS_1(']'));
        close_brackets(p, outside);
        return 1;
    }
    case TS_1('('):
        list(p, TS_1(')'), 0);
        return 1;
    case TS_1('!'):
        if (p->s.tok.newline) {
            return 0;
        }
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
        return 1;
    case TS_1('<'):
    case TS_2('<', '<'):
        return type_args(p);
    default:
        return 0;
    }
}

unsigned ts_postfix(struct ts_parser *p)
{
    unsigned flags = primary(p);

    if (flags & TS_E_ARROW) {
        return flags;
    }
    while (!ts_at_end(p) && postfix_once(p)) {
        flags = 0;
    }
    return flags;
}

/* 1 when tok is an operator in front of its operand. */
static int is_prefix(struct ts_parser *p)
{
    struct ts_token second;

    switch (p->s.tok.sign) {
    case TS_1('!'):
    case TS_1('~'):
    case TS_1('+'):
    case TS_1('-'):
    case TS_2('+', '+'):
    case TS_2('-', '-'):
        return 1;
    default:
        break;
    }
    switch (p->s.tok.word) {
    case TS_W_TYPEOF:
    case TS_W_VOID:
    case TS_W_DELETE:
        return 1;
    case TS_W_NEW:
        return ts_peek(p).sign != TS_1('.');
    case TS_W_AWAIT:
        second = ts_peek(p);
        return is_expr_start(&second);
    default:
        return 0;
    }
}

static unsigned unary(struct ts_parser *p)
{
    unsigned flags;
    int has_prefix = 0;

    while (is_prefix(p)) {
        has_prefix = 1;
        if (ts_is_word(p, TS_W_AWAIT)) {
            ts_note_await(p);
        }
        ts_next(p);
    }
    flags = ts_is(p, TS_1('<')) ? cast(p) : ts_postfix(p);
    if ((ts_is(p, TS_2('+', '+')) || ts_is(p, TS_2('-', '-'))) && !p->s.tok.newline) {
        ts_next(p);
        flags = 0;
    }
    return has_prefix ? flags & TS_E_ARROW : flags;
}

/* `as T` or `satisfies T`. The text in front of it back to left binds as tightly as it or tighter;
 * has_operator says whether there is more than one operand in it. */
static void as_type(struct ts_parser *p, uint32_t left, int has_operator)
{
    uint32_t start = p->s.tok.start;

    ts_next(p);
    ts_type(p);
    ts_blank(p, start, p->s.prev_end);
    if (p->s.tok.newline &&
        (ts_is(p, TS_1('(')) || ts_is(p, TS_1('[')) || p->s.tok.kind == TS_TEMPLATE)) {
        ts_put(p, start, ';');
    }
    if (ts_is(p, TS_1('>'))) {
        ts_join_greater(p);
    }
    if (has_operator && operator_level(p) == LEVEL_HIGH) {
        ts_insert(p, left, "(", NO_NAME, NO_NAME);
        ts_put(p, start, ')');
    }
}

static unsigned binary(struct ts_parser *p)
{
    uint32_t left = p->s.tok.start;
    int has_operator = 0;
    unsigned flags = unary(p);
    int level;

    while (!(flags & TS_E_ARROW) && !ts_at_end(p)) {
        if ((ts_is_word(p, TS_W_AS) || ts_is_word(p, TS_W_SATISFIES)) && !p->s.tok.newline) {
            as_type(p, left, has_operator);
            has_operator = 0;
            flags = TS_E_BINARY;
            continue;
        }
        if (ts_is(p, TS_1('>'))) {
            ts_join_greater(p);
        }
        level = operator_level(p);
        if (level == LEVEL_NONE) {
            break;
        }
        ts_next(p);
        if (level == LEVEL_LOW) {
            left = p->s.tok.start;
        }
        has_operator = level != LEVEL_LOW;
        flags = TS_E_BINARY | (unary(p) & TS_E_ARROW);
    }
    return flags;
}

/* a ? b : c, but not the ? of an optional parameter, which nothing can follow that starts an
 * expression. */
static int is_condition(struct ts_parser *p)
{
    struct ts_token second;

    if (!ts_is(p, TS_1('?'))) {
        return 0;
    }
    second = ts_peek(p);
    return second.sign != TS_1(':') && second.sign != TS_1(',') && second.sign != TS_1(')') &&
           second.sign != TS_1('=');
}

static unsigned conditional(struct ts_parser *p)
{
    unsigned flags = binary(p);
    uint8_t in_condition = p->s.in_condition;
    uint8_t no_in = p->s.no_in;

    while (!(flags & TS_E_ARROW) && is_condition(p)) {
        ts_next(p);
        p->s.in_condition = 1;
        p->s.no_in = 0;
        (void)ts_assign(p);
        p->s.in_condition = in_condition;
        p->s.no_in = no_in;
        ts_expect(p, TS_1(':'));
        if (ts_is_word(p, TS_W_YIELD) && p->s.generator) {
            (void)ts_assign(p);
            return TS_E_BINARY;
        }
        flags = (binary(p) & TS_E_ARROW) | TS_E_BINARY;
    }
    return flags;
}

unsigned ts_assign(struct ts_parser *p)
{
    unsigned flags = 0;

    if (!ts_enter(p)) {
        return 0;
    }
    if (ts_is_word(p, TS_W_YIELD) && p->s.generator) {
        ts_next(p);
        if (!p->s.tok.newline && (ts_take(p, TS_1('*')) || is_expr_start(&p->s.tok))) {
            (void)ts_assign(p);
        }
        ts_leave(p);
        return 0;
    }
    flags = conditional(p);
    if (!(flags & TS_E_ARROW) && is_assignment(p)) {
        flags = flags & (TS_E_NAME | TS_E_PATTERN) && ts_is(p, TS_1('=')) ? TS_E_PATTERN : 0;
        ts_next(p);
        (void)ts_assign(p);
    }
    ts_leave(p);
    return flags;
}

void ts_expr(struct ts_parser *p)
{
    do {
        (void)ts_assign(p);
    } while (ts_take(p, TS_1(',')));
}
