/* document_check.c - see document_check.h. */
#include "policy/document_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/near.h"
#include "policy/document_text.h"

enum {
    MESSAGE_BYTES_MAX = 512,
    KEY_SHOWN_BYTES = 128, /* a longer key is cut in paths and messages */
    DIGITS_MAX = 32,
};

/* ---- where ---- */

/* The length of at most max bytes of a text that do not end in the middle of a character. */
static size_t cut_len(const char *text, size_t max)
{
    size_t len = strnlen(text, max + 1);

    if (len <= max) {
        return len;
    }
    for (len = max; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80;) {
        len--;
    }
    return len;
}

size_t check_enter(struct document_check *c, const char *key)
{
    size_t before = c->path.len, len = cut_len(key, KEY_SHOWN_BYTES), i;
    int r = buf_add(&c->path, "/", 1, c->err);

    for (i = 0; i < len && r == VIAL_OK; i++) { /* RFC 6901 */
        r = key[i] == '~'   ? buf_add(&c->path, "~0", 2, c->err)
            : key[i] == '/' ? buf_add(&c->path, "~1", 2, c->err)
                            : buf_add(&c->path, &key[i], 1, c->err);
    }
    if (r == VIAL_OK && key[len] != '\0') {
        r = buf_add_text(&c->path, "...", c->err);
    }
    c->r = c->r < 0 ? c->r : r;
    return before;
}

size_t check_enter_index(struct document_check *c, size_t index)
{
    char digits[DIGITS_MAX];

    (void)snprintf(digits, sizeof(digits), "%zu", index);
    return check_enter(c, digits);
}

void check_leave(struct document_check *c, size_t before)
{
    if (c->path.data != NULL && before <= c->path.len) {
        c->path.len = before;
        c->path.data[before] = '\0';
    }
}

/* ---- saying what is wrong ---- */

void check_say(struct document_check *c, const char *format, ...)
{
    const char *path = c->path.data != NULL ? c->path.data : "";
    char message[MESSAGE_BYTES_MAX];
    va_list ap;

    c->faults++;
    if (c->faults > DOCUMENT_FAULTS_MAX) {
        return;
    }
    if (c->faults == DOCUMENT_FAULTS_MAX) {
        (void)snprintf(message, sizeof(message),
            "there are more faults than the %d that are listed", DOCUMENT_FAULTS_MAX - 1);
        path = "";
    } else {
        va_start(ap, format);
        (void)vsnprintf(message, sizeof(message), format, ap);
        va_end(ap);
    }
    if (c->faults == 1 && c->r == VIAL_OK) {
        (void)vial__fail(
            c->err, VIAL_E_INVALID, "%s%s%s", path, path[0] != '\0' ? ": " : "", message);
    }
    if (report_add(c->report, path, message) < 0) {
        check_no_memory(c);
    }
}

void check_no_memory(struct document_check *c)
{
    if (c->r == VIAL_OK) {
        c->r = vial__fail(c->err, VIAL_E_NOMEM, "no memory for the document of an environment");
    }
}

/* ---- kinds of values ---- */

static const char *kind_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
    default:
        return "null";
    }
}

int must_be_object(struct document_check *c, const json_t *value, size_t max, const char *what)
{
    if (!json_is_object(value)) {
        check_say(c, "must be an object, is %s", kind_of(value));
        return 0;
    }
    if (json_object_size(value) > max) {
        check_say(c, "has %zu %s; there may be up to %zu", json_object_size(value), what, max);
        return 0;
    }
    return 1;
}

int must_be_array(struct document_check *c, const json_t *value, size_t max, const char *what)
{
    if (!json_is_array(value)) {
        check_say(c, "must be an array, is %s", kind_of(value));
        return 0;
    }
    if (json_array_size(value) > max) {
        check_say(c, "has %zu %s; there may be up to %zu", json_array_size(value), what, max);
        return 0;
    }
    return 1;
}

static int is_known(const char *key, const char *const known[])
{
    size_t i;

    for (i = 0; known[i] != NULL; i++) {
        if (strcmp(key, known[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

void check_keys(struct document_check *c, json_t *object, const char *const known[])
{
    const char *key, *meant;
    json_t *value;
    size_t before;

    json_object_foreach(object, key, value)
    {
        if (is_known(key, known)) {
            continue;
        }
        meant = near_word(key, known);
        before = check_enter(c, key);
        if (meant != NULL) {
            check_say(c, "there is no such key here; did you mean \"%s\"?", meant);
        } else {
            check_say(c, "there is no such key here");
        }
        check_leave(c, before);
    }
}

void *check_array_new(struct document_check *c, size_t count, size_t size)
{
    void *array = count > 0 ? calloc(count, size) : NULL;

    if (array == NULL && count > 0) {
        check_no_memory(c);
    }
    return array;
}

char *must_be_string(struct document_check *c, const json_t *value, size_t bytes_max)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    char *copy;

    if (text == NULL) {
        check_say(c, "must be a string, is %s", kind_of(value));
        return NULL;
    }
    if (len > bytes_max) {
        check_say(c, "has %zu bytes; it may have up to %zu", len, bytes_max);
        return NULL;
    }
    if (strlen(text) != len) {
        check_say(c, "has the character U+0000 in it");
        return NULL;
    }
    copy = strdup(text);
    if (copy == NULL) {
        check_no_memory(c);
    }
    return copy;
}

char *check_member(
    struct document_check *c, const json_t *object, const char *key, size_t bytes_max)
{
    const json_t *value = json_object_get(object, key);
    size_t before;
    char *text;

    if (value == NULL) {
        return NULL;
    }
    before = check_enter(c, key);
    text = must_be_string(c, value, bytes_max);
    check_leave(c, before);
    return text;
}

int check_bool(struct document_check *c, const json_t *object, const char *key, int by_default)
{
    const json_t *value = json_object_get(object, key);
    size_t before;

    if (value == NULL) {
        return by_default;
    }
    if (!json_is_boolean(value)) {
        before = check_enter(c, key);
        check_say(c, "must be true or false, is %s", kind_of(value));
        check_leave(c, before);
        return by_default;
    }
    return json_is_true(value);
}

/* 1 with the number when a value is a whole one that is not negative. 1.0 is one: JSON has only one
 * kind of number, and so has JavaScript, which wrote it. */
static int whole_number(const json_t *value, uint64_t *ret)
{
    double real = json_real_value(value);

    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *ret = (uint64_t)json_integer_value(value);
        return 1;
    }
    if (json_is_real(value) && real >= 0 && real < 9007199254740992.0 &&
        real == (double)(uint64_t)real) {
        *ret = (uint64_t)real;
        return 1;
    }
    return 0;
}

uint64_t must_be_number(struct document_check *c, const json_t *object, const char *key,
    uint64_t by_default, uint64_t min, uint64_t max)
{
    const json_t *value = json_object_get(object, key);
    uint64_t number = by_default;
    size_t before;

    if (value == NULL) {
        return by_default;
    }
    if (!whole_number(value, &number) || number < min || number > max) {
        before = check_enter(c, key);
        check_say(c, "must be a whole number from %" PRIu64 " to %" PRIu64, min, max);
        check_leave(c, before);
        return by_default;
    }
    return number;
}

unsigned check_choice(
    struct document_check *c, const json_t *object, const char *key, const char *const choices[])
{
    const json_t *value = json_object_get(object, key);
    const char *text = json_string_value(value);
    char list[MESSAGE_BYTES_MAX / 2] = "";
    size_t used = 0, before;
    unsigned i;

    if (value == NULL) {
        return 0;
    }
    for (i = 0; choices[i] != NULL; i++) {
        if (text != NULL && strlen(text) == json_string_length(value) &&
            strcmp(text, choices[i]) == 0) {
            return i;
        }
        used += (size_t)snprintf(list + used, used < sizeof(list) ? sizeof(list) - used : 0,
            "%s\"%s\"", i > 0 ? " or " : "", choices[i]);
    }
    before = check_enter(c, key);
    check_say(c, "must be %s", list);
    check_leave(c, before);
    return 0;
}

/* ---- lists of texts ---- */

static char *joined(
    struct document_check *c, const char *name, const char *joint, const char *value)
{
    size_t size = strlen(name) + strlen(joint) + strlen(value) + 1;
    char *text = malloc(size);

    if (text == NULL) {
        check_no_memory(c);
        return NULL;
    }
    (void)snprintf(text, size, "%s%s%s", name, joint, value);
    return text;
}

void check_pairs(struct document_check *c, json_t *object, const char *joint, size_t bytes_max,
    const char *(*name_fault)(const char *name, size_t len),
    const char *(*value_fault)(const char *value, size_t len), struct document_strings *ret)
{
    const char *name, *fault;
    json_t *value;
    size_t before;
    char *text;

    ret->items = check_array_new(c, json_object_size(object), sizeof(*ret->items));
    json_object_foreach(object, name, value)
    {
        before = check_enter(c, name);
        fault = name_fault(name, strlen(name));
        if (fault != NULL) {
            check_say(c, "the name %s", fault);
        }
        text = must_be_string(c, value, bytes_max);
        fault = text != NULL && value_fault != NULL ? value_fault(text, strlen(text)) : NULL;
        if (fault != NULL) {
            check_say(c, "the value %s", fault);
        }
        if (text != NULL && ret->items != NULL) {
            ret->items[ret->count] = joined(c, name, joint, text);
            ret->count += ret->items[ret->count] != NULL;
        }
        free(text);
        check_leave(c, before);
    }
}

void document_strings_release(struct document_strings *strings)
{
    union {
        const char *borrowed;
        char *owned;
    } p;
    size_t i;

    for (i = 0; i < strings->count; i++) {
        p.borrowed = strings->items[i];
        free(p.owned);
    }
    free(strings->items);
    *strings = (struct document_strings){.count = 0};
}

/* ---- values as text ---- */

static int dump(const json_t *value, struct buf *out);

/* The fewest digits that mean the same number; the last of them always do. */
static int dump_real(double real, struct buf *out)
{
    char digits[DIGITS_MAX];
    int precision;

    for (precision = 1; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, real);
        if (strtod(digits, NULL) == real) {
            break;
        }
    }
    return buf_add_text(out, digits, NULL);
}

static int dump_object(json_t *object, struct buf *out)
{
    const char *key;
    json_t *value;
    const char *comma = "";
    int r = buf_add(out, "{", 1, NULL);

    json_object_foreach(object, key, value)
    {
        r = r < 0 ? r : buf_add_text(out, comma, NULL);
        r = r < 0 ? r : document_text_quote(key, strlen(key), out);
        r = r < 0 ? r : buf_add(out, ":", 1, NULL);
        r = r < 0 ? r : dump(value, out);
        comma = ",";
    }
    return r < 0 ? r : buf_add(out, "}", 1, NULL);
}

static int dump_array(const json_t *array, struct buf *out)
{
    size_t i;
    int r = buf_add(out, "[", 1, NULL);

    for (i = 0; i < json_array_size(array) && r == VIAL_OK; i++) {
        r = i > 0 ? buf_add(out, ",", 1, NULL) : VIAL_OK;
        r = r < 0 ? r : dump(json_array_get(array, i), out);
    }
    return r < 0 ? r : buf_add(out, "]", 1, NULL);
}

/* Recurses DOCUMENT_DEPTH_MAX deep at most: document_parse has looked at that. */
static int dump(const json_t *value, struct buf *out)
{
    char digits[DIGITS_MAX];

    switch (json_typeof(value)) {
    case JSON_OBJECT:
        /* Iterating wants a pointer to what is not const, and changes nothing. */
        return dump_object((json_t *)(uintptr_t)value, out);
    case JSON_ARRAY:
        return dump_array(value, out);
    case JSON_STRING:
        return document_text_quote(json_string_value(value), json_string_length(value), out);
    case JSON_INTEGER:
        (void)snprintf(digits, sizeof(digits), "%" PRId64, (int64_t)json_integer_value(value));
        return buf_add_text(out, digits, NULL);
    case JSON_REAL:
        return dump_real(json_real_value(value), out);
    case JSON_TRUE:
        return buf_add_text(out, "true", NULL);
    case JSON_FALSE:
        return buf_add_text(out, "false", NULL);
    case JSON_NULL:
    default:
        return buf_add_text(out, "null", NULL);
    }
}

char *check_dump(struct document_check *c, const json_t *value)
{
    struct buf out;
    char *text = NULL;
    size_t len;
    int r;

    /* A character becomes six at most when it is escaped, and each number here is short. */
    buf_init(&out, (size_t)6 * DOCUMENT_BYTES_MAX);
    r = dump(value, &out);
    r = r < 0 ? r : buf_take(&out, &text, &len, NULL);
    if (r < 0) {
        check_no_memory(c);
    }
    buf_release(&out);
    return text;
}
