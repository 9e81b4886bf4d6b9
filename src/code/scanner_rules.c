/* scanner_rules.c - the headers of rule files; see scanner_inside.h and docs/scanner.md.
 *
 * A line that begins with one semicolon is a header, one that begins with two is a remark. What a
 * header does not say, or says wrongly, is refused: a rule with a mistyped severity would be one
 * that nobody misses. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "code/scanner_inside.h"

enum { VALUE_BYTES_MAX = 1024, RULES_FIRST = 16 };

/* One line of a file. */
struct line {
    const char *text;
    size_t len;
    uint32_t number, at;
};

/* A file while it is read. */
struct reader {
    struct rule_file *file;
    size_t rules_capacity;
    uint32_t languages; /* that are wanted */
    char *continued;    /* where lines without a key go: a message or an advice, or NULL */
    size_t continued_max;
    struct vial_error *err;
};

static const char *const SEVERITIES[] = {"info", "warn", "block", "off"};

const char *scanner_severity_name(uint32_t severity)
{
    return SEVERITIES[severity <= SEVERITY_OFF ? severity : SEVERITY_OFF];
}

uint32_t rules_line(const char *text, size_t len, size_t at)
{
    uint32_t line = 1;

    for (size_t i = 0; i < at && i < len; i++) {
        line += text[i] == '\n';
    }
    return line;
}

struct rule *rules_at(const struct rule_file *file, uint32_t byte)
{
    for (size_t i = 0; i < file->rules_count; i++) {
        if (byte >= file->rules[i].start && byte < file->rules[i].end) {
            return &file->rules[i];
        }
    }
    return NULL;
}

static int refuse(
    const struct reader *r, uint32_t line, const char *why, const char *word, size_t len)
{
    return vial__fail(r->err, VIAL_E_INVALID, "%s, line %u: %s%s%.*s%s", r->file->name, line, why,
        word != NULL ? " \"" : "", word != NULL ? (int)(len < 80 ? len : 80) : 0,
        word != NULL ? word : "", word != NULL ? "\"" : "");
}

static struct rule *present_rule(const struct reader *r)
{
    return r->file->rules_count > 0 ? &r->file->rules[r->file->rules_count - 1] : NULL;
}

static int is_id(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
                (i > 0 && text[i] == '-'))) {
            return 0;
        }
    }
    return len > 0 && len <= SCANNER_ID_BYTES_MAX;
}

static int begin_rule(struct reader *r, const struct line *line, const char *id, size_t len)
{
    struct rule_file *f = r->file;

    if (!is_id(id, len)) {
        return refuse(r, line->number, "an id is small letters, digits and hyphens, not", id, len);
    }
    for (size_t i = 0; i < f->rules_count; i++) {
        if (strlen(f->rules[i].id) == len && memcmp(f->rules[i].id, id, len) == 0) {
            return refuse(r, line->number, "there is a rule before with the id", id, len);
        }
    }
    if (f->rules_count == r->rules_capacity) {
        size_t capacity = r->rules_capacity > 0 ? 2 * r->rules_capacity : RULES_FIRST;
        struct rule *grown = f->rules_count < SCANNER_RULES_MAX
                                 ? reallocarray(f->rules, capacity, sizeof(*grown))
                                 : NULL;

        if (grown == NULL) {
            return refuse(r, line->number, "there are too many rules", NULL, 0);
        }
        f->rules = grown;
        r->rules_capacity = capacity;
    }
    if (f->rules_count > 0) {
        f->rules[f->rules_count - 1].end = line->at;
    }
    f->rules[f->rules_count++] = (struct rule){.severity = UINT32_MAX,
        .languages = 0,
        .start = line->at,
        .end = UINT32_MAX,
        .line = line->number};
    memcpy(present_rule(r)->id, id, len);
    return VIAL_OK;
}

static int take_severity(struct reader *r, const struct line *line, const char *value, size_t len)
{
    for (uint32_t i = 0; i < sizeof(SEVERITIES) / sizeof(SEVERITIES[0]); i++) {
        if (strlen(SEVERITIES[i]) == len && memcmp(SEVERITIES[i], value, len) == 0) {
            present_rule(r)->severity = i;
            return VIAL_OK;
        }
    }
    return refuse(r, line->number, "a severity is info, warn, block or off, not", value, len);
}

static int take_languages(struct reader *r, const struct line *line, const char *value, size_t len)
{
    static const char *const names[] = {"javascript", "typescript", "python"};
    size_t at = 0;

    while (at < len) {
        size_t n = 0, k;

        while (at + n < len && value[at + n] != ' ' && value[at + n] != ',') {
            n++;
        }
        for (k = 0; k < 3 && (strlen(names[k]) != n || memcmp(names[k], value + at, n) != 0); k++) {
        }
        if (k == 3 && n > 0) {
            return refuse(r, line->number,
                "languages are javascript, typescript and python; there is no", value + at, n);
        }
        present_rule(r)->languages |= n > 0 ? 1U << k : 0;
        at += n + 1;
    }
    return VIAL_OK;
}

/* Adds to a message or an advice, with a space between the lines. */
static int add_words(struct reader *r, const struct line *line, const char *value, size_t len)
{
    size_t used = strlen(r->continued);
    size_t space = used > 0 && len > 0;

    if (!utf8_valid(value, len, NULL) || memchr(value, '\0', len) != NULL) {
        return refuse(r, line->number, "the text is not UTF-8", NULL, 0);
    }
    if (used + space + len > r->continued_max) {
        return refuse(r, line->number, "the text is too long", NULL, 0);
    }
    memcpy(r->continued + used, " ", space);
    memcpy(r->continued + used + space, value, len);
    r->continued[used + space + len] = '\0';
    return VIAL_OK;
}

static int take_value(struct reader *r, const struct line *line, const char *key, size_t key_len,
    const char *value, size_t len)
{
    struct rule *rule = present_rule(r);

    r->continued = NULL;
    if (key_len == 2 && memcmp(key, "id", 2) == 0) {
        return begin_rule(r, line, value, len);
    }
    if (rule == NULL) {
        return refuse(r, line->number, "a rule begins with its id, not with", key, key_len);
    }
    if (key_len == 8 && memcmp(key, "severity", 8) == 0) {
        return take_severity(r, line, value, len);
    }
    if (key_len == 9 && memcmp(key, "languages", 9) == 0) {
        return take_languages(r, line, value, len);
    }
    if (key_len == 4 && memcmp(key, "text", 4) == 0 && len == 6 &&
        memcmp(value, "masked", 6) == 0) {
        rule->is_masked = 1;
        return VIAL_OK;
    }
    if (key_len == 5 && memcmp(key, "needs", 5) == 0) {
        r->continued = rule->needs;
        r->continued_max = SCANNER_NEEDS_BYTES_MAX;
    } else if (key_len == 7 && memcmp(key, "message", 7) == 0) {
        r->continued = rule->message;
        r->continued_max = SCANNER_MESSAGE_BYTES_MAX;
    } else if (key_len == 6 && memcmp(key, "advice", 6) == 0) {
        r->continued = rule->advice;
        r->continued_max = SCANNER_ADVICE_BYTES_MAX;
    } else {
        return refuse(r, line->number,
            "headers are id, severity, languages, needs, message, advice and \"text: masked\", and "
            "remarks "
            "begin with two semicolons; there is no",
            key, key_len);
    }
    r->continued[0] = '\0';
    return add_words(r, line, value, len);
}

/* A line that begins with one semicolon. */
static int take_header(struct reader *r, const struct line *line)
{
    const char *text = line->text + 1;
    size_t len = line->len - 1;
    size_t key = 0, value;

    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\r' || text[len - 1] == '\t')) {
        len--;
    }
    if (len == 0) {
        return VIAL_OK;
    }
    if (r->continued != NULL && len > 3 && memcmp(text, "   ", 3) == 0) {
        while (*text == ' ') {
            text++;
            len--;
        }
        return add_words(r, line, text, len);
    }
    while (len > 0 && *text == ' ') {
        text++;
        len--;
    }
    while (key < len && text[key] >= 'a' && text[key] <= 'z') {
        key++;
    }
    if (key == len || text[key] != ':') {
        return refuse(r, line->number,
            "a header is \"; name: value\", and remarks begin with two semicolons", NULL, 0);
    }
    for (value = key + 1; value < len && text[value] == ' '; value++) {
    }
    return take_value(r, line, text, key, text + value, len - value);
}

static int take_line(struct reader *r, const struct line *line)
{
    size_t i = 0;

    while (
        i < line->len && (line->text[i] == ' ' || line->text[i] == '\t' || line->text[i] == '\r')) {
        i++;
    }
    if (i == line->len || (i + 1 < line->len && line->text[i] == ';' && line->text[i + 1] == ';')) {
        return VIAL_OK;
    }
    if (line->text[0] == ';') {
        return take_header(r, line);
    }
    r->continued = NULL;
    return present_rule(r) != NULL
               ? VIAL_OK
               : refuse(r, line->number, "a rule begins with `; id: ...`", NULL, 0);
}

static int check_rule(const struct reader *r, const struct rule *rule)
{
    const char *missing = rule->severity == UINT32_MAX     ? "severity"
                          : rule->severity == SEVERITY_OFF ? NULL
                          : rule->languages == 0           ? "languages"
                          : rule->message[0] == '\0'       ? "message"
                          : rule->advice[0] == '\0'        ? "advice"
                                                           : NULL;

    return missing == NULL
               ? VIAL_OK
               : vial__fail(r->err, VIAL_E_INVALID, "%s, line %u: the rule %s has no %s",
                     r->file->name, rule->line, rule->id, missing);
}

/* Spaces in the place of rules that are not for us, so that what is left has its place. */
static void blank(const struct reader *r, struct buf *query)
{
    for (size_t i = 0; i < r->file->rules_count; i++) {
        const struct rule *rule = &r->file->rules[i];

        if ((rule->languages & r->languages) != 0 && rule->severity != SEVERITY_OFF) {
            continue;
        }
        for (size_t k = rule->start; k < rule->end && k < query->len; k++) {
            query->data[k] = query->data[k] == '\n' ? '\n' : ' ';
        }
    }
}

int rules_read(struct rule_file *file, const char *text, size_t len, uint32_t languages,
    struct buf *query, struct vial_error *err)
{
    struct reader r = {.file = file, .languages = languages, .err = err};
    struct line line = {.number = 0};
    int result = VIAL_OK;

    if (len > SCANNER_RULES_BYTES_MAX) {
        return vial__fail(err, VIAL_E_INVALID,
            "%s, line 1: the file has %zu bytes; it may have up to %d", file->name, len,
            SCANNER_RULES_BYTES_MAX);
    }
    if (memchr(text, '\0', len) != NULL) {
        return vial__fail(err, VIAL_E_INVALID, "%s, line %u: there is a NUL in the file",
            file->name,
            rules_line(text, len, (size_t)((const char *)memchr(text, '\0', len) - text)));
    }
    while (line.at < len && result == VIAL_OK) {
        const char *end = memchr(text + line.at, '\n', len - line.at);

        line.text = text + line.at;
        line.len = (size_t)((end != NULL ? end : text + len) - line.text);
        line.number++;
        result = take_line(&r, &line);
        line.at += (uint32_t)line.len + 1;
    }
    for (size_t i = 0; i < file->rules_count && result == VIAL_OK; i++) {
        result = check_rule(&r, &file->rules[i]);
    }
    result = result < 0 ? result : buf_add(query, text, len, err);
    if (result == VIAL_OK) {
        blank(&r, query);
    }
    return result;
}

/* Behind spaces and remarks. */
static size_t skip_spaces(const char *text, size_t len, size_t at)
{
    while (at < len &&
           (text[at] == ';' || text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) {
        if (text[at] == ';') {
            const char *end = memchr(text + at, '\n', len - at);

            at = end != NULL ? (size_t)(end - text) : len;
        } else {
            at++;
        }
    }
    return at;
}

/* Behind a string, whose first quote is here. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    for (at++; at < len && text[at] != '"' && text[at] != '\n'; at++) {
        at += text[at] == '\\';
    }
    return at < len ? at + 1 : len;
}

int rules_check_conditions(
    const struct rule_file *file, const char *text, size_t len, struct vial_error *err)
{
    char before = '\0';
    size_t at = skip_spaces(text, len, 0);

    while (at < len) {
        size_t next = text[at] == '"' ? skip_string(text, len, at) : at + 1;

        if (text[at] == '(') {
            next = skip_spaces(text, len, next);
            if (next < len && (text[next] == '#' || text[next] == '.') &&
                (before == '(' || before == '[' || before == ':')) {
                return vial__fail(err, VIAL_E_INVALID,
                    "%s, line %u: a condition stands behind the node that it is about", file->name,
                    rules_line(text, len, at));
            }
        }
        before = text[at];
        at = skip_spaces(text, len, next);
    }
    return VIAL_OK;
}
