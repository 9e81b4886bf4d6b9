/* ts_class.c - classes.
 *
 * What must hold after the modifiers and types of a member are gone: it does not become part of the
 * initializer in front of it (a field may end without a semicolon), and a field that is called get,
 * set or static does not become a modifier of what follows. */
#include <string.h>

#include "code/ts_parser.h"

static const struct ts_name NO_NAME;

enum {
    MOD_STATIC = 1,
    MOD_ASYNC = 2,
    MOD_ACCESSOR = 4, /* the word, not get or set */
    MOD_NOTHING = 8,  /* abstract or declare: not there at run time */
    MOD_GENERATOR = 16,
    MOD_BLANK_FIRST = 32, /* the first of the modifiers is blanked */
};

struct member {
    uint32_t start;
    unsigned mods;
    struct ts_token name;
    int joins;         /* the field in front of it has no semicolon */
    uint32_t accessor; /* where that word is */
};

struct class
{
    uint32_t open; /* behind the { */
    int is_derived;
    int is_field_open; /* the last member is a field without a semicolon */
};

void ts_refuse_decorator(struct ts_parser *p)
{
    ts_fail(p, TS_UNSUPPORTED, p->s.tok.start, "uses a decorator (@), which is not supported");
}

/* 1 when the word that is tok is a modifier here: what follows goes on with the member. */
static int is_modifier(struct ts_parser *p)
{
    struct ts_token second;

    switch (p->s.tok.word) {
    case TS_W_PUBLIC:
    case TS_W_PRIVATE:
    case TS_W_PROTECTED:
    case TS_W_READONLY:
    case TS_W_OVERRIDE:
    case TS_W_ABSTRACT:
    case TS_W_DECLARE:
    case TS_W_ACCESSOR:
    case TS_W_ASYNC:
        second = ts_peek(p);
        return !second.newline && (ts_is_property_name(&second) || second.sign == TS_1('*'));
    case TS_W_STATIC:
    case TS_W_GET:
    case TS_W_SET:
        second = ts_peek(p);
        return ts_is_property_name(&second) || second.sign == TS_1('*');
    default:
        return 0;
    }
}

static void modifiers(struct ts_parser *p, struct member *m)
{
    while (is_modifier(p)) {
        int is_first = p->s.tok.start == m->start;
        uint32_t at = p->s.tok.start;

        switch (p->s.tok.word) {
        case TS_W_STATIC:
            m->mods |= MOD_STATIC;
            break;
        case TS_W_ASYNC:
            m->mods |= MOD_ASYNC;
            break;
        case TS_W_GET:
        case TS_W_SET:
            break;
        case TS_W_ACCESSOR:
            m->mods |= MOD_ACCESSOR;
            m->accessor = at;
            break;
        case TS_W_ABSTRACT:
        case TS_W_DECLARE:
            m->mods |= MOD_NOTHING;
            break;
        default:
            ts_blank(p, at, p->s.tok.end);
            m->mods |= is_first ? MOD_BLANK_FIRST : 0;
            break;
        }
        ts_next(p);
    }
    if (ts_take(p, TS_1('*'))) {
        m->mods |= MOD_GENERATOR;
    }
}

static int is_index_signature(struct ts_parser *p)
{
    struct ts_state saved = p->s;
    int is;

    if (!ts_take(p, TS_1('['))) {
        return 0;
    }
    is = p->s.tok.kind == TS_WORD && ts_peek(p).sign == TS_1(':');
    p->s = saved;
    return is;
}

static void end_of_field(struct ts_parser *p, struct class *c)
{
    c->is_field_open = 0;
    if (ts_take(p, TS_1(';')) || ts_take(p, TS_1(',')) || ts_is(p, TS_1('}')) || ts_at_end(p)) {
        return;
    }
    c->is_field_open = 1;
    if (!p->s.tok.newline) {
        ts_fail(p, TS_SYNTAX, p->s.tok.start, NULL);
    }
}

static void blank_member(struct ts_parser *p, struct class *c, const struct member *m)
{
    ts_blank(p, m->start, p->s.prev_end);
    if (m->joins) {
        ts_put(p, m->start, ';');
    }
    c->is_field_open = 0;
}

/* `accessor x = 1` is a private field with a getter and a setter, which the engine does not make
 * by itself yet. */
static void accessor(struct ts_parser *p, const struct member *m, uint32_t end)
{
    struct ts_name name = {.at = m->name.start, .len = m->name.end - m->name.start};
    struct ts_name s = {.at = m->start, .len = 0};

    if (m->name.kind != TS_WORD) {
        ts_fail(p, TS_UNSUPPORTED, m->accessor,
            "uses accessor with something else than a plain name, which is not supported");
        return;
    }
    ts_blank(p, m->accessor, m->accessor + 8);
    ts_insert(p, m->name.start, "#vial_", s, s);
    ts_insert(p, end,
        m->mods & MOD_STATIC ? ";static get $(){return this.#vial_$}static set $(v){this.#vial_$=v}"
                             : ";get $(){return this.#vial_$}set $(v){this.#vial_$=v}",
        name, NO_NAME);
}

/* From behind the name. */
static void field(struct ts_parser *p, struct class *c, const struct member *m)
{
    uint32_t from = p->s.tok.start;
    uint32_t end;
    int is_typed = 0;

    if (ts_is(p, TS_1('?')) || (ts_is(p, TS_1('!')) && !p->s.tok.newline)) {
        ts_blank(p, from, p->s.tok.end);
        ts_next(p);
        is_typed = 1;
    }
    if (ts_is(p, TS_1(':'))) {
        ts_annotation(p, p->s.tok.start);
        is_typed = 1;
    }
    if (ts_take(p, TS_1('='))) {
        uint32_t scope = p->s.scope;

        p->s.scope = ++p->scopes;
        p->s.functions++;
        (void)ts_assign(p);
        p->s.functions--;
        p->s.scope = scope;
    } else if (is_typed && (m->name.word == TS_W_GET || m->name.word == TS_W_SET ||
                               m->name.word == TS_W_STATIC)) {
        ts_put(p, from, ';');
    }
    end = p->s.prev_end;
    end_of_field(p, c);
    if (m->mods & MOD_ACCESSOR) {
        accessor(p, m, end);
    }
}

static int is_constructor(const struct ts_parser *p, const struct member *m)
{
    return !(m->mods & MOD_STATIC) && m->name.end - m->name.start == 11 &&
           memcmp(p->src + m->name.start, "constructor", 11) == 0;
}

/* From behind the name; 0 when it is a signature without a body. */
static int method(struct ts_parser *p, struct class *c, const struct member *m)
{
    unsigned flags =
        (m->mods & MOD_ASYNC ? TS_F_ASYNC : 0) | (m->mods & MOD_GENERATOR ? TS_F_GENERATOR : 0);
    struct buf outer = p->tables[TS_PROPS];
    int is_method;
    struct ts_name name;

    if (!is_constructor(p, m)) {
        is_method = ts_function_rest(p, flags);
    } else {
        /* The constructor of a class around this one may be half read. */
        buf_init(&p->tables[TS_PROPS], outer.max);
        flags |= TS_F_CONSTRUCTOR | (c->is_derived ? TS_F_DERIVED : 0);
        is_method = ts_function_rest(p, flags);
        for (size_t i = 0; is_method && i < p->tables[TS_PROPS].len; i += sizeof(name)) {
            memcpy(&name, p->tables[TS_PROPS].data + i, sizeof(name));
            ts_insert(p, c->open, "$;", name, NO_NAME);
        }
        buf_release(&p->tables[TS_PROPS]);
        p->tables[TS_PROPS] = outer;
    }
    if (!is_method) {
        end_of_field(p, c);
    }
    c->is_field_open = 0;
    return is_method;
}

static void static_block(struct ts_parser *p)
{
    ts_next(p);
    ts_function_body(p, 0);
}

static void member(struct ts_parser *p, struct class *c)
{
    struct member m = {.start = p->s.tok.start, .joins = c->is_field_open};
    struct ts_point point;

    if (ts_take(p, TS_1(';'))) {
        c->is_field_open = 0;
        return;
    }
    if (ts_is(p, TS_1('@'))) {
        ts_refuse_decorator(p);
        return;
    }
    if (ts_is_word(p, TS_W_STATIC) && ts_peek(p).sign == TS_1('{')) {
        static_block(p);
        c->is_field_open = 0;
        return;
    }
    ts_keep(p, &point);
    modifiers(p, &m);
    if (is_index_signature(p)) {
        ts_type(p); /* the brackets look like a tuple with a name */
        if (ts_take(p, TS_1(':'))) {
            ts_type(p);
        }
        end_of_field(p, c);
        ts_drop(p, &point);
        blank_member(p, c, &m);
        return;
    }
    if (m.joins && (m.mods & MOD_BLANK_FIRST) &&
        (ts_is(p, TS_1('[')) || (m.mods & MOD_GENERATOR) || ts_is_word(p, TS_W_IN) ||
            ts_is_word(p, TS_W_INSTANCEOF))) {
        ts_put(p, m.start, ';');
    }
    m.name = p->s.tok;
    ts_property_name(p);
    if ((ts_is(p, TS_1('?')) || ts_is(p, TS_1('!'))) &&
        (ts_peek(p).sign == TS_1('(') || ts_peek(p).sign == TS_1('<'))) {
        ts_blank(p, p->s.tok.start, p->s.tok.end);
        ts_next(p);
    }
    if (ts_is(p, TS_1('(')) || ts_is(p, TS_1('<'))) {
        if (!method(p, c, &m)) {
            m.mods |= MOD_NOTHING;
        }
    } else {
        field(p, c, &m);
    }
    if (m.mods & MOD_NOTHING) {
        ts_drop(p, &point);
        blank_member(p, c, &m);
    }
}

static void heritage(struct ts_parser *p, struct class *c)
{
    uint32_t start;

    if (ts_is_word(p, TS_W_EXTENDS)) {
        c->is_derived = 1;
        ts_next(p);
        (void)ts_postfix(p);
        start = p->s.tok.start;
        if (ts_is(p, TS_1('<'))) {
            ts_type_args(p);
            ts_blank(p, start, p->s.prev_end);
        }
    }
    if (ts_is_word(p, TS_W_IMPLEMENTS)) {
        start = p->s.tok.start;
        do {
            ts_next(p);
            ts_type(p);
        } while (ts_is(p, TS_1(',')));
        ts_blank(p, start, p->s.prev_end);
    }
}

void ts_class(struct ts_parser *p, struct ts_name *ret_name)
{
    struct class c = {0};
    struct ts_namespace *ns = p->ns;
    uint8_t in_condition = p->s.in_condition;
    uint8_t no_in = p->s.no_in;
    uint32_t start;

    if (!ts_enter(p)) {
        return;
    }
    ts_next(p);
    if (p->s.tok.kind == TS_WORD && !ts_is_word(p, TS_W_EXTENDS) &&
        (!ts_is_word(p, TS_W_IMPLEMENTS) || ts_peek(p).kind != TS_WORD)) {
        if (ret_name != NULL) {
            *ret_name = ts_tok_name(p);
        }
        ts_note_name(p);
        ts_next(p);
    }
    start = p->s.tok.start;
    if (ts_is(p, TS_1('<'))) {
        ts_type_params(p);
        ts_blank(p, start, p->s.prev_end);
    }
    heritage(p, &c);
    ts_expect(p, TS_1('{'));
    c.open = p->s.prev_end;
    p->ns = NULL;
    p->s.in_condition = 0;
    p->s.no_in = 0;
    while (!ts_at_end(p) && !ts_is(p, TS_1('}'))) {
        member(p, &c);
    }
    ts_expect(p, TS_1('}'));
    p->ns = ns;
    p->s.in_condition = in_condition;
    p->s.no_in = no_in;
    ts_leave(p);
}
