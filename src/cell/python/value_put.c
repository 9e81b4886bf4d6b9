/* value_put.c - the bytes of values: numbers and strings as JSON and as CBOR. See value_walk.h.
 *
 * Whether a value has become too long is looked at after a piece was written, so that what is one
 * byte below the limit is not refused for the room its escapes might have needed. No piece is
 * longer than a few kilobytes, but for bytes, whose length is known before. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cell/python/value_walk.h"

enum {
    PIECE_CHARACTERS = 1024,
    ESCAPE_BYTES = 6, /* \u0000 is the longest form of a character */
};

static const int64_t SAFE_INTEGER_MAX = INT64_C(9007199254740991); /* 2^53 - 1 */

char *value_room(struct walk *w, size_t n)
{
    struct buf *out = w->out;

    if (out->len > w->len_max) {
        (void)value_refuse_size(w);
        return NULL;
    }
    if (out->data != NULL && out->capacity - out->len >= n) {
        return out->data + out->len;
    }
    if (n > out->max - out->len) {
        (void)value_refuse_size(w);
        return NULL;
    }
    if (buf_reserve(out, n, NULL) < 0) {
        (void)PyErr_NoMemory();
        return NULL;
    }
    return out->data + out->len;
}

int value_put(struct walk *w, const char *bytes, size_t n)
{
    char *to;

    if (n > w->len_max || w->out->len > w->len_max - n) {
        return value_refuse_size(w);
    }
    to = value_room(w, n);
    if (to == NULL) {
        return -1;
    }
    if (n > 0) {
        memcpy(to, bytes, n);
    }
    w->out->len += n;
    return 0;
}

int value_put_byte(struct walk *w, char byte)
{
    char *to = value_room(w, 1);

    if (to == NULL) {
        return -1;
    }
    *to = byte;
    w->out->len++;
    return 0;
}

int value_put_head(struct walk *w, enum value_major major, uint64_t argument)
{
    char *to = value_room(w, 9);
    unsigned first = (unsigned)major << 5;
    unsigned n, i;

    if (to == NULL) {
        return -1;
    }
    if (argument < 24) {
        *to = (char)(first | (unsigned)argument);
        w->out->len++;
        return 0;
    }
    n = argument <= UINT8_MAX ? 0 : argument <= UINT16_MAX ? 1 : argument <= UINT32_MAX ? 2 : 3;
    *to++ = (char)(first | (24 + n));
    n = 1U << n;
    for (i = 0; i < n; i++) {
        to[i] = (char)(argument >> 8 * (n - 1 - i));
    }
    w->out->len += 1 + n;
    return 0;
}

int value_put_octets(struct walk *w, const char *bytes, size_t n)
{
    return value_put_head(w, CBOR_BYTES, n) < 0 ? -1 : value_put(w, bytes, n);
}

int value_put_none(struct walk *w)
{
    return w->is_cbor ? value_put_byte(w, (char)CBOR_NULL) : value_put(w, "null", 4);
}

/* ---- strings ---- */

/* A character as JSON has it in a string; how many bytes that took. */
static size_t put_escaped(char *to, Py_UCS4 c)
{
    static const char hex[] = "0123456789abcdef";
    const char *letter;

    if (c == '"' || c == '\\') {
        to[0] = '\\';
        to[1] = (char)c;
        return 2;
    }
    if (c >= 0x20 && (c < 0xd800 || c > 0xdfff)) {
        return utf8_put(to, c);
    }
    letter = c == 8 ? "b" : c == 9 ? "t" : c == 10 ? "n" : c == 12 ? "f" : c == 13 ? "r" : NULL;
    to[0] = '\\';
    if (letter != NULL) {
        to[1] = letter[0];
        return 2;
    }
    to[1] = 'u';
    to[2] = hex[c >> 12 & 15];
    to[3] = hex[c >> 8 & 15];
    to[4] = hex[c >> 4 & 15];
    to[5] = hex[c & 15];
    return 6;
}

static int put_json_ascii(struct walk *w, const char *text, size_t n)
{
    const char *end = text + n;
    char *to, *start;
    size_t run;

    while (text < end) {
        run = utf8_plain_run(text, end);
        if (run > 0) {
            if (value_put(w, text, run) < 0) {
                return -1;
            }
            text += run;
        }
        if (text < end) {
            start = value_room(w, ESCAPE_BYTES);
            if (start == NULL) {
                return -1;
            }
            to = start + put_escaped(start, (unsigned char)*text++);
            w->out->len += (size_t)(to - start);
        }
    }
    return 0;
}

static int put_json_wide(struct walk *w, PyObject *str)
{
    int kind = (int)PyUnicode_KIND(str);
    const void *data = PyUnicode_DATA(str);
    Py_ssize_t n = PyUnicode_GET_LENGTH(str);
    Py_ssize_t i = 0, end;
    char *to, *start;

    while (i < n) {
        end = n - i < PIECE_CHARACTERS ? n : i + PIECE_CHARACTERS;
        start = value_room(w, (size_t)(end - i) * ESCAPE_BYTES);
        if (start == NULL) {
            return -1;
        }
        for (to = start; i < end; i++) {
            to += put_escaped(to, PyUnicode_READ(kind, data, i));
        }
        w->out->len += (size_t)(to - start);
    }
    return 0;
}

/* What is no character in UTF-8, half a pair, becomes U+FFFD. */
static Py_UCS4 character_at(int kind, const void *data, Py_ssize_t i)
{
    Py_UCS4 c = PyUnicode_READ(kind, data, i);

    return c >= 0xd800 && c <= 0xdfff ? 0xfffd : c;
}

static size_t utf8_length(PyObject *str)
{
    int kind = (int)PyUnicode_KIND(str);
    const void *data = PyUnicode_DATA(str);
    Py_ssize_t n = PyUnicode_GET_LENGTH(str);
    size_t bytes = 0;
    Py_ssize_t i;

    for (i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);

        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    return bytes;
}

static int put_cbor_str(struct walk *w, PyObject *str)
{
    int kind = (int)PyUnicode_KIND(str);
    const void *data = PyUnicode_DATA(str);
    Py_ssize_t n = PyUnicode_GET_LENGTH(str);
    size_t bytes;
    Py_ssize_t i;
    char *to;

    if (PyUnicode_IS_ASCII(str)) {
        return value_put_head(w, CBOR_TEXT, (uint64_t)n) < 0 ? -1 : value_put(w, data, (size_t)n);
    }
    bytes = utf8_length(str);
    if (value_put_head(w, CBOR_TEXT, bytes) < 0) {
        return -1;
    }
    if (bytes > w->len_max || w->out->len > w->len_max - bytes) {
        return value_refuse_size(w);
    }
    to = value_room(w, bytes);
    for (i = 0; to != NULL && i < n; i++) {
        to += utf8_put(to, character_at(kind, data, i));
    }
    w->out->len += to != NULL ? bytes : 0;
    return to != NULL ? 0 : -1;
}

int value_put_str(struct walk *w, PyObject *str)
{
    int r;

    if (PyUnicode_READY(str) < 0) {
        return -1;
    }
    if (w->is_cbor) {
        return put_cbor_str(w, str);
    }
    if (value_put_byte(w, '"') < 0) {
        return -1;
    }
    r = PyUnicode_IS_ASCII(str)
            ? put_json_ascii(w, PyUnicode_DATA(str), (size_t)PyUnicode_GET_LENGTH(str))
            : put_json_wide(w, str);
    return r < 0 ? -1 : value_put_byte(w, '"');
}

int value_put_text(struct walk *w, const char *text)
{
    size_t n = strlen(text);

    if (w->is_cbor) {
        return value_put_head(w, CBOR_TEXT, n) < 0 ? -1 : value_put(w, text, n);
    }
    return value_put_byte(w, '"') < 0 || put_json_ascii(w, text, n) < 0 ? -1
                                                                        : value_put_byte(w, '"');
}

int value_add_utf8(struct buf *out, PyObject *str, size_t max)
{
    char piece[PIECE_CHARACTERS * 4];
    Py_ssize_t i = 0, n;
    size_t used = 0, left = max;
    const void *data;
    int kind;

    if (PyUnicode_READY(str) < 0) {
        return -1;
    }
    kind = (int)PyUnicode_KIND(str);
    data = PyUnicode_DATA(str);
    n = PyUnicode_GET_LENGTH(str);
    for (;;) {
        while (i < n && used + 4 <= sizeof(piece)) {
            char one[4];
            size_t bytes = utf8_put(one, character_at(kind, data, i));

            if (bytes > left) {
                n = i; /* the end: what is shorter must not go on behind a hole */
                break;
            }
            memcpy(piece + used, one, bytes);
            used += bytes;
            left -= bytes;
            i++;
        }
        if (buf_add(out, piece, used, NULL) < 0) {
            (void)PyErr_NoMemory();
            return -1;
        }
        used = 0;
        if (i >= n) {
            return 0;
        }
    }
}

/* ---- numbers ---- */

int value_put_small(struct walk *w, int64_t v)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    char digits[24];
    size_t at = sizeof(digits);

    if (w->is_cbor) {
        return v < 0 ? value_put_head(w, CBOR_NEGATIVE, size - 1)
                     : value_put_head(w, CBOR_UINT, size);
    }
    do {
        digits[--at] = (char)('0' + size % 10);
        size /= 10;
    } while (size > 0);
    if (v < 0) {
        digits[--at] = '-';
    }
    return value_put(w, digits + at, sizeof(digits) - at);
}

/* Of an int, or of a subclass of it, whose own operators are not asked. */
static int put_bigint(struct walk *w, PyObject *number)
{
    int is_negative = _PyLong_Sign(number) < 0;
    PyObject *size = is_negative ? PyLong_Type.tp_as_number->nb_invert(number) : Py_NewRef(number);
    size_t bits = size != NULL ? _PyLong_NumBits(size) : 0;
    size_t bytes = bits / 8 + (bits % 8 != 0);
    char *to;
    int r = -1;

    if (size == NULL || (bits == (size_t)-1 && PyErr_Occurred() != NULL)) {
        Py_XDECREF(size);
        return -1;
    }
    if (bytes > w->len_max || w->out->len > w->len_max - bytes) {
        Py_DECREF(size);
        return value_refuse_size(w);
    }
    if (value_put_head(w, CBOR_TAG, is_negative ? TAG_BIGINT_NEGATIVE : TAG_BIGINT) == 0 &&
        value_put_head(w, CBOR_BYTES, bytes) == 0) {
        to = value_room(w, bytes);
        if (to != NULL &&
            _PyLong_AsByteArray((PyLongObject *)size, (unsigned char *)to, bytes, 0, 0) == 0) {
            w->out->len += bytes;
            r = 0;
        }
    }
    Py_DECREF(size);
    return r;
}

int value_put_int(struct walk *w, PyObject *number, unsigned depth)
{
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(number, &overflow);

    if (overflow == 0 && v >= -SAFE_INTEGER_MAX && v <= SAFE_INTEGER_MAX) {
        return v == -1 && PyErr_Occurred() != NULL ? -1 : value_put_small(w, v);
    }
    if (value_needs_cbor(w, depth, "an int beyond 2**53", "use str(...)") < 0) {
        return -1;
    }
    return put_bigint(w, number);
}

/* The shortest decimals that give the same number back, and always such that it is no int. */
int value_put_double(struct walk *w, double v, unsigned depth)
{
    uint64_t bits;
    char *text;
    int i, r;

    if (w->is_cbor) {
        text = value_room(w, 9);
        if (text == NULL) {
            return -1;
        }
        memcpy(&bits, &v, sizeof(bits));
        *text++ = (char)CBOR_FLOAT64;
        for (i = 0; i < 8; i++) {
            text[i] = (char)(bits >> (56 - 8 * i));
        }
        w->out->len += 9;
        return 0;
    }
    if (!isfinite(v) || (v == 0 && signbit(v))) {
        return value_needs_cbor(w, depth,
            isnan(v)   ? "nan"
            : isinf(v) ? "infinite"
                       : "-0.0",
            "use None or a str");
    }
    text = PyOS_double_to_string(v, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text == NULL) {
        return -1;
    }
    r = value_put(w, text, strlen(text));
    PyMem_Free(text);
    return r;
}

/* ---- containers ---- */

int value_put_object(struct walk *w, const char *name, unsigned count)
{
    return value_put_head(w, CBOR_TAG, TAG_OBJECT) < 0 || value_put_head(w, CBOR_ARRAY, count) < 0
               ? -1
               : value_put_text(w, name);
}

int value_open(struct walk *w, enum value_major major, uint64_t count)
{
    return w->is_cbor ? value_put_head(w, major, count)
                      : value_put_byte(w, major == CBOR_MAP ? '{' : '[');
}

int value_next(struct walk *w, uint64_t index)
{
    return w->is_cbor || index == 0 ? 0 : value_put_byte(w, ',');
}

int value_close(struct walk *w, enum value_major major)
{
    return w->is_cbor ? 0 : value_put_byte(w, major == CBOR_MAP ? '}' : ']');
}
