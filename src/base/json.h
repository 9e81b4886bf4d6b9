/* json.h - writing JSON, and telling whether text is JSON, without ever building a tree.
 *
 * The writer puts values one after another onto a buffer and sets the commas itself. It remembers
 * the first failure, so a caller writes a whole object and checks once:
 *
 *     json_init(&w, &out, err);
 *     json_begin_object(&w);
 *     json_key(&w, "stdout");
 *     json_write_string(&w, bytes, len);
 *     json_end_object(&w);
 *     r = json_finish(&w);
 *
 * Whatever bytes it is given, what it writes is valid JSON on a single line that a terminal can
 * show.
 *
 * The checker reads text of any origin once, in constant memory, and says where and why it is not
 * JSON. */
#ifndef VIAL_BASE_JSON_H
#define VIAL_BASE_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
    /* The documents we write are a result or a report, five levels deep at most; and one bit a
     * level has to fit into 32. Guest data does not nest here: it is passed through by json_raw. */
    JSON_WRITE_DEPTH_MAX = 32,
    /* The largest depth_max of json_check. One bit a level makes 512 bytes of stack, and engines
     * parse four thousand levels by recursion within the stack a cell has. */
    JSON_CHECK_DEPTH_MAX = 4096,
};

/* The fields belong to json.c. */
struct json_writer {
    struct buf *out;         /* borrowed */
    struct vial_error *err;  /* borrowed; may be NULL */
    int r;                   /* the first failure, or 0 */
    unsigned depth;          /* containers open now */
    uint32_t objects;        /* bit d: the container at depth d + 1 is an object */
    uint32_t begun;          /* bit d: it has an element already, so the next one needs a comma */
    unsigned char key_given; /* a key waits for its value */
    unsigned char ended;     /* the one value of the document is complete */
    size_t out_len;          /* of out at the beginning, to return to on failure */
};

/* out must outlive the writer and is written by nobody else until json_finish. */
void json_init(struct json_writer *w, struct buf *out, struct vial_error *err);

/* 0 when the whole document is in out; else the first failure, and out is as json_init found it. */
VIAL_NODISCARD int json_finish(struct json_writer *w);

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);

/* The name of the next value, inside an object only; escaped as any string is. */
void json_key(struct json_writer *w, const char *name);

/* Bytes that need not be UTF-8: what is not becomes U+FFFD. Quotes, backslashes, all control
 * characters (DEL and those above it too) and the line separators U+2028 and U+2029 are escaped. */
void json_write_string(struct json_writer *w, const char *bytes, size_t len);

/* Bytes as a string in base64. */
void json_base64(struct json_writer *w, const char *bytes, size_t len);

/* The same as json_write_string for a text that ends in NUL; NULL is written as null. */
void json_text(struct json_writer *w, const char *text);
void json_u64(struct json_writer *w, uint64_t v);
void json_i64(struct json_writer *w, int64_t v);
void json_bool(struct json_writer *w, int v);
void json_write_null(struct json_writer *w);

/* One value that is JSON already, as json_check would accept it. Copied as it is, but for line
 * breaks and tabs between its tokens, which become spaces: what is written is always one line. */
void json_raw(struct json_writer *w, const char *json, size_t len);

/* Where and why a text is not JSON. */
struct json_fault {
    size_t offset;   /* in bytes; the length of the text when it ends too early */
    unsigned line;   /* 1-based */
    unsigned column; /* 1-based, in characters, not bytes */
    const char *why; /* static; reads on from "line 3, column 7: " */
};

/* 0 when text is exactly one JSON value as RFC 8259 has it, nested at most depth_max containers
 * deep; else VIAL_E_INVALID and *fault, which may be NULL, is filled. Escapes of lone surrogates
 * are accepted: the grammar allows them and engines write them. Names that repeat are accepted too.
 */
VIAL_NODISCARD int json_check(
    const char *text, size_t len, unsigned depth_max, struct json_fault *fault);

#endif
