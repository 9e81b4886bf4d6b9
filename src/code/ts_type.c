/* ts_type.c - reads types. Nothing of a type is left at run time, so nothing of it is noted.
 *
 * The engine never sees a type, so what is wrong in one is said here. */
#include "code/ts_parser.h"

static const char NOT_A_TYPE[] = "has something here that is not part of a type";

static void fail_type(struct ts_parser *p)
{
    ts_fail(p, TS_UNSUPPORTED, p->s.tok.start, NOT_A_TYPE);
}

static void expect(struct ts_parser *p, uint32_t sign)
{
    if (!ts_take(p, sign)) {
        fail_type(p);
    }
}

static int is_type_start(const struct ts_token *tok)
{
    switch (tok->sign) {
    case 0:
        return tok->kind != TS_END && tok->kind != TS_PRIVATE && tok->word != TS_W_EXTENDS &&
               tok->word != TS_W_IN && tok->word != TS_W_IS;
    case TS_1('{'):
    case TS_1('['):
    case TS_1('('):
    case TS_1('<'):
    case TS_1('-'):
    case TS_1('|'):
    case TS_1('&'):
        return 1;
    default:
        return 0;
    }
}

/* A type in brackets of its own, where `extends` is free again. */
static void inner_type(struct ts_parser *p)
{
    uint8_t no_conditional = p->s.no_conditional;

    p->s.no_conditional = 0;
    ts_type(p);
    p->s.no_conditional = no_conditional;
}

static void inner_params(struct ts_parser *p)
{
    uint8_t no_conditional = p->s.no_conditional;

    p->s.no_conditional = 0;
    ts_params(p, 0);
    p->s.no_conditional = no_conditional;
}

/* From an opening bracket to behind the closing one. */
static void skip_brackets(struct ts_parser *p)
{
    uint32_t level = 0;

    do {
        if (ts_is(p, TS_1('{')) || ts_is(p, TS_1('[')) || ts_is(p, TS_1('('))) {
            level++;
        } else if (ts_is(p, TS_1('}')) || ts_is(p, TS_1(']')) || ts_is(p, TS_1(')'))) {
            level--;
        }
        ts_next(p);
    } while (level > 0 && !ts_at_end(p));
}

/* Whether the ( starts the parameters of a function type. */
static int is_function_type(struct ts_parser *p)
{
    struct ts_state saved = p->s;
    int is = 0;

    ts_next(p);
    if (ts_is(p, TS_1(')')) || ts_is(p, TS_3('.', '.', '.'))) {
        is = 1;
    } else if (p->s.tok.kind == TS_WORD || ts_is(p, TS_1('{')) || ts_is(p, TS_1('['))) {
        skip_brackets(p); /* or one word */
        if (ts_take(p, TS_1(')'))) {
            is = ts_is(p, TS_2('=', '>'));
        } else {
            is = ts_is(p, TS_1(':')) || ts_is(p, TS_1(',')) || ts_is(p, TS_1('?')) ||
                 ts_is(p, TS_1('='));
        }
    }
    p->s = saved;
    return is;
}

void ts_type_args(struct ts_parser *p)
{
    if (ts_is(p, TS_2('<', '<'))) {
        ts_split_less(p);
    }
    expect(p, TS_1('<'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('>'))) {
        inner_type(p);
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    expect(p, TS_1('>'));
}

/* A cast looks the same and may have any type, so any type is taken. */
static void type_param(struct ts_parser *p)
{
    uint8_t no_conditional = p->s.no_conditional;

    p->s.no_conditional = 1;
    ts_type(p);
    p->s.no_conditional = 0;
    if (ts_is_word(p, TS_W_EXTENDS)) {
        ts_next(p);
        ts_type(p);
        if (ts_take(p, TS_1('?'))) {
            ts_type(p);
            expect(p, TS_1(':'));
            ts_type(p);
        }
    }
    if (ts_take(p, TS_1('='))) {
        ts_type(p);
    }
    p->s.no_conditional = no_conditional;
}

void ts_type_params(struct ts_parser *p)
{
    expect(p, TS_1('<'));
    while (!ts_at_end(p) && !ts_is(p, TS_1('>'))) {
        while ((ts_is_word(p, TS_W_CONST) || ts_is_word(p, TS_W_IN) || ts_is_word(p, TS_W_OUT)) &&
               ts_peek(p).kind == TS_WORD && ts_peek(p).word != TS_W_EXTENDS) {
            ts_next(p);
        }
        type_param(p);
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    expect(p, TS_1('>'));
}

static void tuple(struct ts_parser *p)
{
    ts_next(p);
    while (!ts_at_end(p) && !ts_is(p, TS_1(']'))) {
        (void)ts_take(p, TS_3('.', '.', '.'));
        inner_type(p);
        (void)ts_take(p, TS_1('?'));
        if (ts_take(p, TS_1(':'))) {
            inner_type(p);
            (void)ts_take(p, TS_1('?'));
        }
        if (!ts_take(p, TS_1(','))) {
            break;
        }
    }
    expect(p, TS_1(']'));
}

/* [K in T as U], [key: T] or [name], from behind the [ to behind the ]. 1 when it is a key that a
 * value is the name of. */
static int bracketed_key(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);

    if (p->s.tok.kind == TS_WORD && second.word == TS_W_IN) {
        ts_next(p);
        ts_next(p);
        inner_type(p);
        if (ts_is_word(p, TS_W_AS)) {
            ts_next(p);
            inner_type(p);
        }
        expect(p, TS_1(']'));
        return 0;
    }
    if (p->s.tok.kind == TS_WORD && second.sign == TS_1(':')) {
        ts_next(p);
        ts_next(p);
        inner_type(p);
        expect(p, TS_1(']'));
        return 0;
    }
    (void)ts_assign(p);
    expect(p, TS_1(']'));
    return 1;
}

static void signature(struct ts_parser *p)
{
    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
    }
    if (!ts_is(p, TS_1('('))) {
        fail_type(p);
    }
    inner_params(p);
    if (ts_take(p, TS_1(':'))) {
        ts_return_type(p);
    }
}

static void member_name(struct ts_parser *p)
{
    for (;;) {
        struct ts_token second = ts_peek(p);

        if (!(ts_is_word(p, TS_W_READONLY) || ts_is_word(p, TS_W_GET) || ts_is_word(p, TS_W_SET)) ||
            !ts_is_property_name(&second)) {
            break;
        }
        ts_next(p);
    }
    if (ts_take(p, TS_1('['))) {
        (void)bracketed_key(p);
    } else if (ts_is_property_name(&p->s.tok)) {
        ts_next(p);
    } else {
        fail_type(p);
    }
}

static void member(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);

    if (ts_is(p, TS_1('(')) || ts_is(p, TS_1('<'))) {
        signature(p);
        return;
    }
    if (ts_is_word(p, TS_W_NEW) && (second.sign == TS_1('(') || second.sign == TS_1('<'))) {
        ts_next(p);
        signature(p);
        return;
    }
    if ((ts_is(p, TS_1('-')) || ts_is(p, TS_1('+'))) && second.word == TS_W_READONLY) {
        ts_next(p);
    }
    member_name(p);
    if (ts_is(p, TS_1('-')) || ts_is(p, TS_1('+'))) {
        ts_next(p);
    }
    (void)ts_take(p, TS_1('?'));
    if (ts_is(p, TS_1('(')) || ts_is(p, TS_1('<'))) {
        signature(p);
    } else if (ts_take(p, TS_1(':'))) {
        inner_type(p);
    }
}

static void object(struct ts_parser *p)
{
    uint8_t no_conditional = p->s.no_conditional;

    p->s.no_conditional = 0;
    ts_next(p);
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        member(p);
        if (!ts_take(p, TS_1(';')) && !ts_take(p, TS_1(',')) && !ts_is(p, TS_1('}')) &&
            !p->s.tok.newline) {
            fail_type(p);
        }
    }
    expect(p, TS_1('}'));
    p->s.no_conditional = no_conditional;
}

static void template(struct ts_parser *p)
{
    while (ts_template_part(p)) {
        ts_next(p);
        inner_type(p);
        if (!ts_is(p, TS_1('}'))) {
            fail_type(p);
        }
        p->s.at = p->s.tok.end;
    }
    ts_next(p);
}

/* a.b.c<T>, also behind typeof and import() */
static void qualified(struct ts_parser *p)
{
    while (ts_is(p, TS_1('.'))) {
        ts_next(p);
        if (p->s.tok.kind != TS_WORD && p->s.tok.kind != TS_PRIVATE) {
            fail_type(p);
        }
        ts_next(p);
    }
    if ((ts_is(p, TS_1('<')) || ts_is(p, TS_2('<', '<'))) && !p->s.tok.newline) {
        ts_type_args(p);
    }
}

static void imported(struct ts_parser *p)
{
    ts_next(p);
    if (!ts_is(p, TS_1('('))) {
        fail_type(p);
    }
    skip_brackets(p);
    qualified(p);
}

static void primary(struct ts_parser *p)
{
    switch (p->s.tok.kind) {
    case TS_STRING:
    case TS_NUMBER:
        ts_next(p);
        return;
    case TS_TEMPLATE:
        template(p);
        return;
    case TS_WORD:
        if (ts_is_word(p, TS_W_IMPORT)) {
            imported(p);
        } else if (ts_is_reserved(p->s.tok.word) && !ts_is_word(p, TS_W_THIS) &&
                   !ts_is_word(p, TS_W_NULL) && !ts_is_word(p, TS_W_TRUE) &&
                   !ts_is_word(p, TS_W_FALSE) && !ts_is_word(p, TS_W_VOID) &&
                   !ts_is_word(p, TS_W_CONST)) {
            fail_type(p);
        } else {
            ts_next(p);
            qualified(p);
        }
        return;
    default:
        break;
    }
    if (ts_is(p, TS_1('{'))) {
        object(p);
    } else if (ts_is(p, TS_1('['))) {
        tuple(p);
    } else if (ts_take(p, TS_1('('))) {
        inner_type(p);
        expect(p, TS_1(')'));
    } else if (ts_take(p, TS_1('-')) && p->s.tok.kind == TS_NUMBER) {
        ts_next(p);
    } else {
        fail_type(p);
    }
}

/* infer X, or infer X extends T where that is no condition */
static void inferred(struct ts_parser *p)
{
    struct ts_state saved;

    ts_next(p);
    ts_next(p);
    if (!ts_is_word(p, TS_W_EXTENDS)) {
        return;
    }
    saved = p->s;
    ts_next(p);
    p->s.no_conditional = 1;
    ts_type(p);
    if (p->s.failure == TS_FINE && !saved.no_conditional && ts_is(p, TS_1('?'))) {
        p->s = saved;
    } else if (p->s.failure == TS_FINE) {
        p->s.no_conditional = saved.no_conditional;
    }
}

static void operand(struct ts_parser *p)
{
    for (;;) {
        struct ts_token second = ts_peek(p);

        if (ts_is_word(p, TS_W_INFER) && second.kind == TS_WORD && second.word != TS_W_EXTENDS) {
            inferred(p);
            return;
        }
        if (ts_is_word(p, TS_W_TYPEOF)) {
            ts_next(p);
            if (ts_is_word(p, TS_W_IMPORT)) {
                imported(p);
            } else {
                ts_next(p);
                qualified(p);
            }
            break;
        }
        if (!((ts_is_word(p, TS_W_KEYOF) || ts_is_word(p, TS_W_UNIQUE) ||
                  ts_is_word(p, TS_W_READONLY)) &&
                is_type_start(&second) && !second.newline)) {
            primary(p);
            break;
        }
        ts_next(p);
    }
    while (ts_is(p, TS_1('[')) && !p->s.tok.newline) {
        ts_next(p);
        if (!ts_is(p, TS_1(']'))) {
            inner_type(p);
        }
        expect(p, TS_1(']'));
    }
}

/* 1 when it was a function or constructor type. */
static int function_type(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);
    int is_new = ts_is_word(p, TS_W_NEW) && (second.sign == TS_1('(') || second.sign == TS_1('<'));
    uint8_t no_conditional;

    if (ts_is_word(p, TS_W_ABSTRACT) && second.word == TS_W_NEW) {
        ts_next(p);
        is_new = 1;
    }
    if (is_new) {
        ts_next(p);
    } else if (!ts_is(p, TS_1('<')) && !(ts_is(p, TS_1('(')) && is_function_type(p))) {
        return 0;
    }
    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
    }
    inner_params(p);
    expect(p, TS_2('=', '>'));
    no_conditional = p->s.no_conditional;
    p->s.no_conditional = 0;
    ts_return_type(p);
    p->s.no_conditional = no_conditional;
    return 1;
}

static void union_of(struct ts_parser *p)
{
    for (;;) {
        while (ts_is(p, TS_1('|')) || ts_is(p, TS_1('&'))) {
            ts_next(p);
        }
        if (!function_type(p)) {
            operand(p);
        }
        if (!ts_is(p, TS_1('|')) && !ts_is(p, TS_1('&'))) {
            return;
        }
    }
}

void ts_type(struct ts_parser *p)
{
    struct ts_point point;
    uint8_t no_conditional = p->s.no_conditional;

    if (!ts_enter(p)) {
        return;
    }
    ts_keep(p, &point);
    for (;;) {
        union_of(p);
        if (no_conditional || !ts_is_word(p, TS_W_EXTENDS) || p->s.tok.newline) {
            break;
        }
        ts_next(p);
        p->s.no_conditional = 1;
        ts_type(p);
        p->s.no_conditional = 0;
        expect(p, TS_1('?'));
        ts_type(p);
        expect(p, TS_1(':'));
    }
    p->s.no_conditional = no_conditional;
    ts_drop(p, &point);
    ts_leave(p);
}

void ts_return_type(struct ts_parser *p)
{
    struct ts_token second = ts_peek(p);

    if (ts_is_word(p, TS_W_ASSERTS) && second.kind == TS_WORD && !second.newline &&
        second.word != TS_W_IS) {
        ts_next(p);
        second = ts_peek(p);
        if (second.word != TS_W_IS || second.newline) {
            ts_next(p);
            return;
        }
    }
    if (p->s.tok.kind == TS_WORD && second.word == TS_W_IS && !second.newline) {
        ts_next(p);
        ts_next(p);
    }
    ts_type(p);
}

void ts_annotation(struct ts_parser *p, uint32_t from)
{
    if (ts_take(p, TS_1(':'))) {
        ts_return_type(p);
        ts_blank(p, from, p->s.prev_end);
    }
}
