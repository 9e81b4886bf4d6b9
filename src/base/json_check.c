/* json_check.c - see json.h; this is the checker.
 *
 * It is a loop over two steps, "a value" and "what follows a value", with one bit per open
 * container. Guest text decides how deep it nests, so nothing here recurses. The time goes into
 * strings, which utf8_plain_run steps through eight bytes at a time. */
#include "base/json.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"

struct check {
    const char *p; /* the next byte; at the culprit once why is set */
    const char *end;
    const char *why; /* NULL while all is well */
    unsigned depth;
    unsigned depth_max;
    uint64_t
        objects[JSON_CHECK_DEPTH_MAX / 64]; /* bit d: the container at depth d + 1 is an object */
};

/* What a step found. */
enum step { STEP_FAULT, STEP_VALUE_DONE, STEP_VALUE_WANTED, STEP_ALL_DONE };

static enum step fault_at(struct check *c, const char *p, const char *why)
{
    c->p = p;
    c->why = p == c->end ? "the text ends too early" : why;
    return STEP_FAULT;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
        p++;
    }
    return p;
}

/* p is at the backslash; the end of the escape, or NULL with the fault noted. */
static const char *check_escape(struct check *c, const char *p)
{
    /* A table, because text that is code or a file is full of these. */
    static const char letters[256] = {['"'] = 1,
        ['\\'] = 1,
        ['/'] = 1,
        ['b'] = 1,
        ['f'] = 1,
        ['n'] = 1,
        ['r'] = 1,
        ['t'] = 1,
        ['u'] = 5};
    int len;
    int i;

    p++;
    len = p < c->end ? letters[(unsigned char)*p] : 0;
    if (len == 0) {
        (void)fault_at(
            c, p, "this is no escape; only \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX are");
        return NULL;
    }
    for (i = 1; i < len; i++) {
        if (p + i == c->end || !is_hex(p[i])) {
            (void)fault_at(c, p + i, "\\u takes four hexadecimal digits");
            return NULL;
        }
    }
    return p + len;
}

/* c->p is after the opening quote; moves it after the closing one. */
static enum step check_string(struct check *c)
{
    const char *p = c->p;
    int n;

    for (;;) {
        if (p < c->end && (unsigned char)*p < 0x80 && *p != '\\') {
            p += utf8_plain_run(p, c->end); /* pays off only where such a run can begin */
        }
        if (p == c->end) {
            return fault_at(c, p, NULL);
        }
        if (*p == '"') {
            c->p = p + 1;
            return STEP_VALUE_DONE;
        }
        if (*p == '\\') {
            p = check_escape(c, p);
            if (p == NULL) {
                return STEP_FAULT;
            }
        } else if ((unsigned char)*p < 0x20) {
            return fault_at(c, p, "a control character in a string has to be escaped");
        } else {
            n = utf8_sequence(p, (size_t)(c->end - p)); /* 0x7f comes here too, and is legal */
            if (n < 0) {
                return fault_at(c, p, "these bytes are not UTF-8");
            }
            p += n;
        }
    }
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p)) {
        p++;
    }
    return p;
}

/* c->p is at a digit or a minus. */
static enum step check_number(struct check *c)
{
    const char *p = c->p;
    const char *end = c->end;

    if (*p == '-') {
        p++;
    }
    if (p == end || !is_digit(*p)) {
        return fault_at(c, p, "a minus must be followed by a digit");
    }
    if (*p == '0' && p + 1 < end && is_digit(p[1])) {
        return fault_at(c, p, "a number must not begin with a needless zero");
    }
    p = skip_digits(p, end);
    if (p < end && *p == '.') {
        p++;
        if (p == end || !is_digit(*p)) {
            return fault_at(c, p, "a decimal point must be followed by a digit");
        }
        p = skip_digits(p, end);
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }
        if (p == end || !is_digit(*p)) {
            return fault_at(c, p, "an exponent must have a digit");
        }
        p = skip_digits(p, end);
    }
    c->p = p;
    return STEP_VALUE_DONE;
}

static enum step check_word(struct check *c, const char *word, size_t len)
{
    size_t i;

    for (i = 0; i < len; i++) {
        if (c->p + i == c->end || c->p[i] != word[i]) {
            return fault_at(c, c->p + i < c->end ? c->p : c->end, "this is no JSON value");
        }
    }
    c->p += len;
    return STEP_VALUE_DONE;
}

/* The name of a member and its colon; c->p is where the quote has to be. */
static enum step check_key(struct check *c)
{
    if (c->p == c->end || *c->p != '"') {
        return fault_at(c, c->p, "a member must begin with its name in double quotes");
    }
    c->p++;
    if (check_string(c) == STEP_FAULT) {
        return STEP_FAULT;
    }
    c->p = skip_space(c->p, c->end);
    if (c->p == c->end || *c->p != ':') {
        return fault_at(c, c->p, "the name of a member must be followed by a colon");
    }
    c->p++;
    return STEP_VALUE_WANTED;
}

/* c->p is at the opening bracket. An empty container is a value that is done. */
static enum step check_open(struct check *c, int is_object)
{
    uint64_t bit = UINT64_C(1) << (c->depth % 64);

    if (c->depth == c->depth_max) {
        return fault_at(c, c->p, "the text nests too deeply");
    }
    c->p = skip_space(c->p + 1, c->end);
    if (c->p < c->end && *c->p == (is_object ? '}' : ']')) {
        c->p++;
        return STEP_VALUE_DONE;
    }
    if (is_object) {
        c->objects[c->depth / 64] |= bit;
    } else {
        c->objects[c->depth / 64] &= ~bit;
    }
    c->depth++;
    return is_object ? check_key(c) : STEP_VALUE_WANTED;
}

static enum step check_value(struct check *c)
{
    c->p = skip_space(c->p, c->end);
    if (c->p == c->end) {
        return fault_at(c, c->p, NULL);
    }
    switch (*c->p) {
    case '"':
        c->p++;
        return check_string(c);
    case '{':
        return check_open(c, 1);
    case '[':
        return check_open(c, 0);
    case 't':
        return check_word(c, "true", 4);
    case 'f':
        return check_word(c, "false", 5);
    case 'n':
        return check_word(c, "null", 4);
    default:
        if (is_digit(*c->p) || *c->p == '-') {
            return check_number(c);
        }
        return fault_at(c, c->p, "this is no JSON value");
    }
}

/* After a value: closes what ends here, until something wants another value or the text is over. */
static enum step check_after(struct check *c)
{
    int is_object;

    for (;;) {
        c->p = skip_space(c->p, c->end);
        if (c->depth == 0) {
            return c->p == c->end ? STEP_ALL_DONE
                                  : fault_at(c, c->p, "there is more text after the value");
        }
        is_object = (int)(c->objects[(c->depth - 1) / 64] >> ((c->depth - 1) % 64) & 1);
        if (c->p < c->end && *c->p == ',') {
            c->p = skip_space(c->p + 1, c->end);
            return is_object ? check_key(c) : STEP_VALUE_WANTED;
        }
        if (c->p == c->end || *c->p != (is_object ? '}' : ']')) {
            return fault_at(c, c->p,
                is_object ? "a member must be followed by a comma or a closing brace"
                          : "an element must be followed by a comma or a closing bracket");
        }
        c->p++;
        c->depth--;
    }
}

static void fill_fault(const struct check *c, const char *text, struct json_fault *fault)
{
    const char *p;

    *fault =
        (struct json_fault){.offset = (size_t)(c->p - text), .line = 1, .column = 1, .why = c->why};
    for (p = text; p < c->p; p++) {
        if (*p == '\n') {
            fault->line++;
            fault->column = 1;
        } else if (((unsigned char)*p & 0xc0) != 0x80) {
            fault->column++; /* a continuation byte belongs to the character before it */
        }
    }
}

int json_check(const char *text, size_t len, unsigned depth_max, struct json_fault *fault)
{
    struct check c = {.p = text, .end = text, .depth_max = depth_max};
    enum step step = STEP_VALUE_WANTED;

    assert(depth_max <= JSON_CHECK_DEPTH_MAX);
    if (len > 0) {
        c.end = text + len; /* text may be NULL when there is none */
    }
    while (step == STEP_VALUE_WANTED || step == STEP_VALUE_DONE) {
        step = step == STEP_VALUE_WANTED ? check_value(&c) : check_after(&c);
    }
    if (step == STEP_ALL_DONE) {
        return VIAL_OK;
    }
    if (fault != NULL) {
        fill_fault(&c, text, fault);
    }
    return vial__fail(NULL, VIAL_E_INVALID, "%s", c.why);
}
