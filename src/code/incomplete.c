/* incomplete.c - see incomplete.h.
 *
 * A slash begins a regular expression or divides, which only a parser knows for sure. The rule here
 * is that of syntax highlighters: it divides behind what can be a value. Of brackets it is known
 * what opened them, so `if (a) /b/` is read well; the rest errs in code that nobody writes. */
#include "code/incomplete.h"

#include <string.h>

/* What the last word or sign was. */
enum token {
    TOKEN_NONE,     /* there was none, or a semicolon */
    TOKEN_VALUE,    /* something that can be the end of an expression */
    TOKEN_OPERATOR, /* something that needs an operand behind it */
    TOKEN_HEAD,     /* something that needs a statement or a block behind it */
    TOKEN_BLOCK,    /* the closing brace of a block */
    TOKEN_TRY,      /* that of a try */
};

/* What a bracket was opened by. */
enum opener {
    OPENER_PLAIN,
    OPENER_HEAD,     /* the parentheses of if, for, while, with, switch and catch */
    OPENER_DO_WHILE, /* those behind the while of a do */
    OPENER_FUNCTION, /* those of parameters behind the word function */
    OPENER_BLOCK,    /* braces around statements */
    OPENER_TRY,      /* the braces of a try */
    OPENER_TEMPLATE, /* ${ in a template */
};

/* A list of statements or expressions between brackets, or the whole source. */
struct list {
    char close; /* the sign that ends it */
    unsigned char opener;
    unsigned char awaits_body; /* a function or class that has none yet */
    unsigned char import_rest; /* an import that has not yet named its module */
    size_t do_count;           /* words do that wait for their while */
    size_t angle_count;        /* signs `<` that may be those of types */
};

struct reader {
    const char *at, *end;
    enum token last;
    const char *word; /* the last word, NULL when it was a sign */
    size_t word_len;
    char sign;          /* the last sign, 0 when it was a word or anything else */
    int after_arrow;    /* it was `=>` */
    int after_function; /* the word function was the last but for a star and a name */
    int is_open;        /* a template, a comment or a string is */
    int is_wrong;
    size_t depth;
    struct list lists[INCOMPLETE_NESTING_MAX + 1];
};

static struct list *list_of(struct reader *r)
{
    return &r->lists[r->depth];
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '#' || c == '@' || c == '\\' || (unsigned char)c >= 0x80;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_among(const char *word, size_t len, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

#define IS_AMONG(word, len, list) is_among(word, len, list, sizeof(list) / sizeof((list)[0]))

static int is_word(const struct reader *r, const char *word)
{
    return r->word != NULL && strlen(word) == r->word_len &&
           memcmp(r->word, word, r->word_len) == 0;
}

/* Whether what is between the brackets are statements; the body of an arrow function is taken for
 * one. */
static int holds_statements(const struct list *list)
{
    return list->opener == OPENER_BLOCK || list->opener == OPENER_TRY;
}

static void set_last(struct reader *r, enum token token)
{
    r->last = token;
    r->word = NULL;
    r->sign = '\0';
    r->after_arrow = 0;
    r->after_function = 0;
}

/* ---- what may hold anything ---- */

/* A comment or a blank, if there is one. */
static int skip_nothing(struct reader *r)
{
    size_t left = (size_t)(r->end - r->at);
    const char *found;

    if (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r')) {
        r->at++;
        return 1;
    }
    if (left < 2 || *r->at != '/' || (r->at[1] != '/' && r->at[1] != '*')) {
        return 0;
    }
    found = r->at[1] == '/' ? memchr(r->at, '\n', left) : NULL;
    if (r->at[1] == '*') {
        for (const char *p = r->at + 2; p + 1 < r->end && found == NULL; p++) {
            found = p[0] == '*' && p[1] == '/' ? p + 2 : NULL;
        }
        r->is_open = found == NULL;
    }
    r->at = found != NULL ? found : r->end;
    return 1;
}

/* A string in quotes. One that ends with the line is wrong, unless a backslash is at its end. */
static void read_string(struct reader *r)
{
    char quote = *r->at++;

    while (r->at < r->end && *r->at != quote && *r->at != '\n') {
        if (*r->at == '\\') {
            r->at++;
            if (r->at < r->end && *r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') {
                r->at++;
            }
            r->is_open = r->at >= r->end || (*r->at == '\n' && r->at + 1 == r->end);
        }
        r->at += r->at < r->end ? 1 : 0;
    }
    if (r->at < r->end && *r->at == quote) {
        r->at++;
        set_last(r, TOKEN_VALUE);
    } else {
        r->is_wrong = !r->is_open;
    }
}

static void open_list(struct reader *r, char close, enum opener opener)
{
    if (r->depth == INCOMPLETE_NESTING_MAX) {
        r->is_wrong = 1;
        return;
    }
    r->depth++;
    *list_of(r) = (struct list){.close = close, .opener = (unsigned char)opener};
    set_last(r, TOKEN_NONE);
}

/* The rest of a template, up to its end or to an expression in it. */
static void read_template(struct reader *r)
{
    while (r->at < r->end && *r->at != '`') {
        if (*r->at == '$' && r->at + 1 < r->end && r->at[1] == '{') {
            r->at += 2;
            open_list(r, '}', OPENER_TEMPLATE);
            return;
        }
        r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    }
    if (r->at == r->end) {
        r->is_open = 1;
        return;
    }
    r->at++;
    set_last(r, TOKEN_VALUE);
}

static void read_regexp(struct reader *r)
{
    int in_class = 0;

    r->at++;
    while (r->at < r->end && *r->at != '\n' && (*r->at != '/' || in_class)) {
        in_class = *r->at == '[' || (in_class && *r->at != ']');
        r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    }
    if (r->at >= r->end || *r->at != '/') {
        r->is_wrong = 1;
        return;
    }
    r->at++;
    set_last(r, TOKEN_VALUE);
}

/* A number, so that the dot of `1.` is no operator. */
static void read_number(struct reader *r)
{
    while (r->at < r->end &&
           (is_letter(*r->at) || *r->at == '.' ||
               ((*r->at == '+' || *r->at == '-') && (r->at[-1] == 'e' || r->at[-1] == 'E')))) {
        r->at++;
    }
    set_last(r, TOKEN_VALUE);
}

/* ---- words ---- */

/* Words that need an operand or a name behind them. */
static const char *const operand_words[] = {"new", "typeof", "void", "delete", "await", "in",
    "instanceof", "case", "throw", "const", "let", "var", "extends", "import", "export", "default",
    "function", "class", "enum", "if", "for", "while", "with", "switch"};

/* Words that need a statement or a block. */
static const char *const statement_words[] = {"else", "do", "try", "finally", "catch"};

/* Words behind which a slash begins a regular expression, although they can end a statement. */
static const char *const open_words[] = {"return", "yield", "of"};

static int is_text(const char *word, size_t len, const char *text)
{
    return strlen(text) == len && memcmp(text, word, len) == 0;
}

/* What a word says about the statement that it is in. */
static void see_statement_word(struct reader *r, const char *word, size_t len, enum token before)
{
    struct list *list = list_of(r);

    if (is_text(word, len, "do")) {
        list->do_count++;
    } else if (is_text(word, len, "class") || is_text(word, len, "enum")) {
        list->awaits_body = 1;
    } else if (is_text(word, len, "function")) {
        list->awaits_body = 1;
        r->after_function = 1;
    } else if (is_text(word, len, "import") && before != TOKEN_OPERATOR && holds_statements(list)) {
        list->import_rest = 1;
    }
}

/* In TypeScript `void` is a type, behind these signs. */
static int is_void_type(const struct reader *before, const char *word, size_t len)
{
    return is_text(word, len, "void") &&
           (before->after_arrow || before->sign == ':' || before->sign == '|');
}

static enum token token_of_word(const struct reader *before, const char *word, size_t len)
{
    if (before->sign == '.' || is_void_type(before, word, len)) {
        return TOKEN_VALUE;
    }
    if (IS_AMONG(word, len, operand_words)) {
        return TOKEN_OPERATOR;
    }
    return IS_AMONG(word, len, statement_words) ? TOKEN_HEAD : TOKEN_VALUE;
}

static void read_word(struct reader *r)
{
    const char *word = r->at;
    int is_property = r->sign == '.';
    int is_for = is_word(r, "for");
    int is_function_name = r->after_function;
    enum token before = r->last;
    enum token token;
    size_t len;

    while (r->at < r->end && is_letter(*r->at)) {
        r->at++;
    }
    len = (size_t)(r->at - word);
    token = token_of_word(r, word, len);
    r->is_wrong = before == TOKEN_TRY && token != TOKEN_HEAD;
    set_last(r, token);
    r->after_function = is_function_name;
    if (is_property) {
        return;
    }
    r->word = word;
    r->word_len = len;
    if (is_for && is_text(word, len, "await")) { /* `for await` is a `for` */
        r->word = "for";
        r->word_len = 3;
    }
    see_statement_word(r, word, len, before);
}

/* ---- signs ---- */

static void open_parenthesis(struct reader *r)
{
    static const char *const heads[] = {"if", "for", "while", "with", "switch", "catch"};
    struct list *list = list_of(r);
    enum opener opener = OPENER_PLAIN;

    if (r->after_function) {
        opener = OPENER_FUNCTION;
    } else if (is_word(r, "while") && list->do_count > 0) {
        list->do_count--;
        opener = OPENER_DO_WHILE;
    } else if (r->word != NULL && IS_AMONG(r->word, r->word_len, heads)) {
        opener = OPENER_HEAD;
    } else if (is_word(r, "import")) {
        list->import_rest = 0;
    }
    open_list(r, ')', opener);
}

static void open_brace(struct reader *r)
{
    struct list *list = list_of(r);
    int is_block = (r->last == TOKEN_NONE && holds_statements(list)) || r->last == TOKEN_HEAD ||
                   r->last == TOKEN_BLOCK || r->last == TOKEN_VALUE || r->after_arrow ||
                   list->awaits_body;

    list->awaits_body = 0;
    if (is_word(r, "try")) {
        open_list(r, '}', OPENER_TRY);
    } else {
        open_list(r, '}', is_block && !list->import_rest ? OPENER_BLOCK : OPENER_PLAIN);
    }
}

static void close_list(struct reader *r)
{
    enum opener opener = (enum opener)list_of(r)->opener;

    if (r->depth == 0 || list_of(r)->close != *r->at) {
        r->is_wrong = 1;
        return;
    }
    r->depth--;
    r->at++;
    switch (opener) {
    case OPENER_HEAD:
    case OPENER_FUNCTION:
        set_last(r, TOKEN_HEAD);
        break;
    case OPENER_BLOCK:
        set_last(r, TOKEN_BLOCK);
        break;
    case OPENER_TRY:
        set_last(r, TOKEN_TRY);
        break;
    case OPENER_TEMPLATE:
        read_template(r);
        break;
    case OPENER_PLAIN:
    case OPENER_DO_WHILE:
        set_last(r, TOKEN_VALUE);
        break;
    }
}

/* `a++` ends an expression and `++` in front of one does not; the same is true of TypeScript's `a!`
 * and of the `>` behind its type arguments. */
static void read_operator(struct reader *r)
{
    struct list *list = list_of(r);
    char c = *r->at;
    int is_double = r->at + 1 < r->end && r->at[1] == c;
    int is_value = r->last == TOKEN_VALUE;

    if ((c == '+' || c == '-') && is_double) {
        r->at += 2;
        set_last(r, is_value ? TOKEN_VALUE : TOKEN_OPERATOR);
        return;
    }
    r->at++;
    list->angle_count += c == '<' && is_value;
    if (c == '>' && list->angle_count > 0 && r->last != TOKEN_OPERATOR) {
        list->angle_count--;
        set_last(r, TOKEN_VALUE);
    } else if (c == '!' && is_value && (r->at == r->end || *r->at != '=')) {
        set_last(r, TOKEN_VALUE);
    } else {
        int is_star = c == '*' && r->after_function;
        int is_arrow = c == '>' && r->sign == '=' && r->at[-2] == '=';

        list->import_rest = c == '*' && is_word(r, "export") ? 1 : c == '=' ? 0 : list->import_rest;
        set_last(r, TOKEN_OPERATOR);
        r->sign = c;
        r->after_arrow = is_arrow;
        r->after_function = is_star;
    }
}

static void read_sign(struct reader *r)
{
    switch (*r->at) {
    case '(':
        open_parenthesis(r);
        r->at++;
        break;
    case '[':
        open_list(r, ']', OPENER_PLAIN);
        r->at++;
        break;
    case '{':
        open_brace(r);
        r->at++;
        break;
    case ')':
    case ']':
    case '}':
        close_list(r);
        break;
    case ';':
        list_of(r)->awaits_body = 0;
        list_of(r)->import_rest = 0;
        list_of(r)->angle_count = 0;
        set_last(r, TOKEN_NONE);
        r->at++;
        break;
    default:
        if (*r->at == '.' && is_word(r, "import")) {
            list_of(r)->import_rest = 0;
        }
        read_operator(r);
        break;
    }
}

static int begins_regexp(const struct reader *r)
{
    return *r->at == '/' && (r->last != TOKEN_VALUE ||
                                (r->word != NULL && IS_AMONG(r->word, r->word_len, open_words)));
}

static void read_next(struct reader *r)
{
    char c = *r->at;

    if (c == '"' || c == '\'') {
        list_of(r)->import_rest = 0;
        read_string(r);
    } else if (c == '`') {
        r->at++;
        read_template(r);
    } else if (begins_regexp(r)) {
        read_regexp(r);
    } else if (is_digit(c) || (c == '.' && r->at + 1 < r->end && is_digit(r->at[1]))) {
        r->at++;
        read_number(r);
    } else if (is_letter(c)) {
        read_word(r);
    } else {
        read_sign(r);
    }
}

int session_is_incomplete(const char *source, size_t len)
{
    struct reader r;
    const struct list *list = &r.lists[0];

    memset(&r, 0, offsetof(struct reader, lists) + sizeof(r.lists[0]));
    r.lists[0].opener = OPENER_BLOCK;
    r.at = source;
    r.end = source + len;
    if (len >= 2 && source[0] == '#' && source[1] == '!') {
        const char *newline = memchr(source, '\n', len);

        r.at = newline != NULL ? newline : r.end;
    }
    while (r.at < r.end && !r.is_wrong && !r.is_open) {
        if (!skip_nothing(&r)) {
            read_next(&r);
        }
    }
    if (r.is_wrong) {
        return 0;
    }
    return r.is_open || r.depth > 0 || r.last == TOKEN_OPERATOR || r.last == TOKEN_HEAD ||
           r.last == TOKEN_TRY || list->awaits_body || list->do_count > 0 || list->import_rest;
}
