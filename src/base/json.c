/* json.c - see json.h; this is the writer.
 *
 * A string is written as runs of bytes that stand for themselves, each copied at once, with an
 * escape or a replacement between two of them. */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/utf8.h"

enum { BASE64_STEP_BYTES = 3 * 1024 }; /* a multiple of three, so that padding is at the end only */

static void put(struct json_writer *w, const char *bytes, size_t len)
{
    if (w->r == VIAL_OK) {
        w->r = buf_add(w->out, bytes, len, w->err);
    }
}

/* Called before each value: sets the comma and checks that a value may stand here. */
static void begin_value(struct json_writer *w)
{
    uint32_t bit;

    assert(!w->ended);
    if (w->depth == 0) {
        return;
    }
    bit = UINT32_C(1) << (w->depth - 1);
    if ((w->objects & bit) != 0) {
        assert(w->key_given);
        w->key_given = 0;
        return; /* json_key has set the comma */
    }
    if ((w->begun & bit) != 0) {
        put(w, ",", 1);
    }
    w->begun |= bit;
}

static void end_value(struct json_writer *w)
{
    w->ended = w->depth == 0;
}

static void put_value(struct json_writer *w, const char *bytes, size_t len)
{
    begin_value(w);
    put(w, bytes, len);
    end_value(w);
}

static void begin_container(struct json_writer *w, int is_object)
{
    uint32_t bit;

    begin_value(w);
    assert(w->depth < JSON_WRITE_DEPTH_MAX);
    bit = UINT32_C(1) << w->depth;
    w->depth++;
    w->begun &= ~bit;
    w->objects = is_object ? w->objects | bit : w->objects & ~bit;
    put(w, is_object ? "{" : "[", 1);
}

static void end_container(struct json_writer *w, int is_object)
{
    assert(w->depth > 0);
    assert(!w->key_given);
    w->depth--;
    assert((int)(w->objects >> w->depth & 1) == is_object);
    put(w, is_object ? "}" : "]", 1);
    end_value(w);
}

/* The code point of a well-formed sequence when it has to be escaped although it is not ASCII: the
 * control characters U+0080 to U+009F, which move a terminal's cursor as well as the old ones do,
 * and the two separators that JavaScript once took for line ends. Else 0. */
static unsigned escaped_code_point(const char *p, int n)
{
    const unsigned char *b = (const unsigned char *)p;

    if (n == 2 && b[0] == 0xc2 && b[1] < 0xa0) {
        return b[1];
    }
    if (n == 3 && b[0] == 0xe2 && b[1] == 0x80 && (b[2] == 0xa8 || b[2] == 0xa9)) {
        return 0x2000u | (b[2] & 0x3fu);
    }
    return 0;
}

/* The number of bytes at p that can be copied as they are. */
static size_t copy_run(const char *p, const char *end)
{
    const char *at = p;
    int n;

    for (;;) {
        if (at < end && (unsigned char)*at < 0x80) {
            at += utf8_plain_run(at, end); /* pays off only where such a run can begin */
        }
        if (at == end || (unsigned char)*at < 0x80) {
            break;
        }
        n = utf8_sequence(at, (size_t)(end - at));
        if (n < 0 || escaped_code_point(at, n) != 0) {
            break;
        }
        at += n;
    }
    return (size_t)(at - p);
}

/* Writes what stands for the sequence at p, which copy_run stopped at; returns the length it had.
 */
static size_t put_escape(struct json_writer *w, const char *p, const char *end)
{
    static const char short_form[] = "\"\"\\\\\bb\tt\nn\ff\rr"; /* pairs: the byte, its letter */
    unsigned code_point = (unsigned char)*p;
    char escape[8] = "\\";
    size_t i;
    int n = 1;

    for (i = 0; i + 1 < sizeof(short_form); i += 2) {
        if (short_form[i] == *p) {
            escape[1] = short_form[i + 1];
            put(w, escape, 2);
            return 1;
        }
    }
    if (code_point >= 0x80) {
        n = utf8_sequence(p, (size_t)(end - p));
        if (n < 0) {
            put(w, "\xef\xbf\xbd", 3);
            return (size_t)-n;
        }
        code_point = escaped_code_point(p, n);
    }
    (void)snprintf(escape, sizeof(escape), "\\u%04x", code_point & 0xffffu);
    put(w, escape, 6);
    return (size_t)n;
}

static void put_string(struct json_writer *w, const char *bytes, size_t len)
{
    const char *p = bytes;
    const char *end = len > 0 ? bytes + len : bytes; /* bytes may be NULL when there are none */
    size_t n;

    if (w->r == VIAL_OK) {
        w->r = buf_reserve(w->out, len, w->err); /* no form is shorter than what it stands for */
    }
    put(w, "\"", 1);
    while (p < end && w->r == VIAL_OK) {
        n = copy_run(p, end);
        put(w, p, n);
        p += n;
        if (p < end) {
            p += put_escape(w, p, end);
        }
    }
    put(w, "\"", 1);
}

void json_init(struct json_writer *w, struct buf *out, struct vial_error *err)
{
    *w = (struct json_writer){.out = out, .err = err, .out_len = out->len};
}

int json_finish(struct json_writer *w)
{
    assert(w->depth == 0);
    assert(w->ended);
    if (w->r < 0 && w->out->len > w->out_len) {
        w->out->len = w->out_len;
        w->out->data[w->out->len] = '\0';
    }
    return w->r;
}

void json_begin_object(struct json_writer *w)
{
    begin_container(w, 1);
}

void json_end_object(struct json_writer *w)
{
    end_container(w, 1);
}

void json_begin_array(struct json_writer *w)
{
    begin_container(w, 0);
}

void json_end_array(struct json_writer *w)
{
    end_container(w, 0);
}

void json_key(struct json_writer *w, const char *name)
{
    uint32_t bit;

    assert(w->depth > 0);
    bit = UINT32_C(1) << (w->depth - 1);
    assert((w->objects & bit) != 0);
    assert(!w->key_given);
    if ((w->begun & bit) != 0) {
        put(w, ",", 1);
    }
    w->begun |= bit;
    w->key_given = 1;
    put_string(w, name, strlen(name));
    put(w, ":", 1);
}

void json_write_string(struct json_writer *w, const char *bytes, size_t len)
{
    begin_value(w);
    put_string(w, bytes, len);
    end_value(w);
}

void json_base64(struct json_writer *w, const char *bytes, size_t len)
{
    char text[BASE64_ENCODED_BYTES(BASE64_STEP_BYTES)];
    size_t at, n;

    begin_value(w);
    if (w->r == VIAL_OK) {
        w->r = buf_reserve(w->out, BASE64_ENCODED_BYTES(len), w->err);
    }
    put(w, "\"", 1);
    for (at = 0; at < len && w->r == VIAL_OK; at += n) {
        n = len - at < BASE64_STEP_BYTES ? len - at : BASE64_STEP_BYTES;
        base64_encode(bytes + at, n, text);
        put(w, text, BASE64_ENCODED_BYTES(n));
    }
    put(w, "\"", 1);
    end_value(w);
}

void json_text(struct json_writer *w, const char *text)
{
    if (text == NULL) {
        json_write_null(w);
        return;
    }
    json_write_string(w, text, strlen(text));
}

void json_u64(struct json_writer *w, uint64_t v)
{
    char digits[20]; /* of 2^64 - 1 */
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    put_value(w, digits + at, sizeof(digits) - at);
}

void json_i64(struct json_writer *w, int64_t v)
{
    char digits[24]; /* 20 for -2^63, and the NUL */

    put_value(w, digits, (size_t)snprintf(digits, sizeof(digits), "%" PRId64, v));
}

void json_bool(struct json_writer *w, int v)
{
    put_value(w, v ? "true" : "false", v ? 4 : 5);
}

void json_write_null(struct json_writer *w)
{
    put_value(w, "null", 4);
}

void json_raw(struct json_writer *w, const char *json, size_t len)
{
    char *p, *end;

    assert(len > 0);
    put_value(w, json, len);
    if (w->r != VIAL_OK) {
        return;
    }
    /* Strings have none of these, so they stand between tokens. */
    end = w->out->data + w->out->len;
    for (p = end - len; p < end; p++) {
        *p = (unsigned char)*p < ' ' ? ' ' : *p;
    }
}
