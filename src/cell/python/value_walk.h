/* value_walk.h - what the files of value.h share: the state of a walk over a value, what it writes
 * with, and the types that were taken before guest code ran.
 *
 * Functions return 0, or -1. After -1 an exception is set, unless needs_cbor is: then JSON cannot
 * say it, and the walk begins anew with CBOR. */
#ifndef VIAL_CELL_PYTHON_VALUE_WALK_H
#define VIAL_CELL_PYTHON_VALUE_WALK_H

#include "cell/python/value.h"

enum value_major {
    CBOR_UINT,
    CBOR_NEGATIVE,
    CBOR_BYTES,
    CBOR_TEXT,
    CBOR_ARRAY,
    CBOR_MAP,
    CBOR_TAG,
    CBOR_SIMPLE
};

enum {
    CBOR_FALSE = 0xf4,
    CBOR_TRUE = 0xf5,
    CBOR_NULL = 0xf6,
    CBOR_FLOAT64 = 0xfb,

    TAG_DATE_TEXT = 0,
    TAG_DATE = 1,
    TAG_BIGINT = 2,
    TAG_BIGINT_NEGATIVE = 3,
    TAG_DECIMAL = 4,
    TAG_OBJECT = 27,
    TAG_FRACTION = 30,
    TAG_URL = 32,
    TAG_UUID = 37,
    TAG_NDARRAY = 40,
    TAG_UINT8_CLAMPED = 68,
    TAG_UINT16 = 69,
    TAG_UINT32 = 70,
    TAG_UINT64 = 71,
    TAG_INT8 = 72,
    TAG_INT16 = 77,
    TAG_INT32 = 78,
    TAG_INT64 = 79,
    TAG_FLOAT16 = 84,
    TAG_FLOAT32 = 85,
    TAG_FLOAT64 = 86,
    TAG_SET = 258,
    TAG_MAP = 259,
    TAG_DAY = 1004,
    TAG_REGEXP = 21066,

    UUID_BYTES = 16,
    /* Longer ones cross as text: nobody computes with them, and reading decimals takes the square
     * of their number. 10^308 is below 2^1024, the largest integer that the host shows in decimals.
     */
    DECIMAL_DIGITS_MAX = 308,
    NDARRAY_DIMS_MAX = 32, /* numpy has no more */
};

/* How one gets from a value to one that is in it. */
enum value_step_kind { STEP_INDEX, STEP_KEY, STEP_KEY_ITSELF, STEP_MEMBER, STEP_NOTHING };

struct value_step {
    enum value_step_kind kind;
    Py_ssize_t index;
    PyObject *key;      /* borrowed from who walks there; of STEP_KEY */
    const char *member; /* static or borrowed likewise; of STEP_MEMBER */
};

struct walk {
    struct buf *out;
    size_t len_max;           /* of out, when the value is as long as it may be */
    uint32_t bytes_max;       /* the same for the value alone, to be told */
    unsigned char is_cbor;    /* else JSON */
    unsigned char may_cbor;   /* what JSON cannot say may be said in CBOR; else it is refused */
    unsigned char needs_cbor; /* found out while writing JSON */
    unsigned char in_session; /* functions become handles */
    /* steps[d] leads from parents[d] to what is at depth d + 1. */
    PyObject *parents[VALUE_DEPTH_MAX];
    struct value_step steps[VALUE_DEPTH_MAX + 1];
};

/* All of it is taken in the template, is never given back, and no guest changes it. */
struct value_types {
    PyTypeObject *array, *decimal, *enumeration, *field, *file, *fraction, *path, *pattern, *uuid;
    PyObject *datetime_from_text, *datetime_offset, *date_from_text, *decimal_text, *field_kind,
        *field_plain, *fraction_denominator, *fraction_numerator, *path_text, *pattern_flags,
        *pattern_source, *regexp_compile, *time_from_text, *time_text, *timezone_change, *uuid_int;
    PyObject *exceptions;               /* a dict: names of the built-in ones, and their types */
    PyObject *name_fields, *name_value; /* "__dataclass_fields__", "_value_" */
};
extern struct value_types value_types;

/* Takes the C interface of datetime into a static of the file that includes this after datetime.h.
 * Each file that uses its macros has one. */
int value_other_warm(void);
int value_decode_warm(void);

/* ---- value_put.c: bytes ---- */

/* Room for n more bytes, where they go, or NULL. The caller adds what it used to out->len. */
char *value_room(struct walk *w, size_t n);
int value_put(struct walk *w, const char *bytes, size_t n);
int value_put_byte(struct walk *w, char byte);
int value_put_head(struct walk *w, enum value_major major, uint64_t argument);
int value_put_octets(struct walk *w, const char *bytes, size_t n);

/* A text of ours, in ASCII, as a string. */
int value_put_text(struct walk *w, const char *text);
int value_put_str(struct walk *w, PyObject *str);
int value_put_int(struct walk *w, PyObject *number, unsigned depth);
int value_put_small(struct walk *w, int64_t v);
int value_put_double(struct walk *w, double v, unsigned depth);
int value_put_none(struct walk *w);

/* Adds a str as UTF-8 to a buffer, at most max bytes of it and no half characters. */
int value_add_utf8(struct buf *out, PyObject *str, size_t max);

/* The two beginnings of a tag 27: an array of the type's name and count - 1 more. */
int value_put_object(struct walk *w, const char *name, unsigned count);

/* An array of count items; value_next goes before each, value_close behind all. */
int value_open(struct walk *w, enum value_major major, uint64_t count);
int value_next(struct walk *w, uint64_t index);
int value_close(struct walk *w, enum value_major major);

/* ---- value_refuse.c: what cannot cross ---- */

/* These set the exception and give -1. what is "a function", advice what to do instead. */
int value_refuse(struct walk *w, unsigned depth, const char *what, const char *advice);
int value_refuse_size(struct walk *w);
int value_refuse_change(struct walk *w, unsigned depth);
int value_refuse_cycle(struct walk *w, unsigned depth, unsigned back_to);
int value_refuse_depth(struct walk *w, unsigned depth);
int value_refuse_object(struct walk *w, PyObject *object, unsigned depth);

/* 0 when the walk writes CBOR; else -1: it has to, or what is refused. */
int value_needs_cbor(struct walk *w, unsigned depth, const char *what, const char *advice);

/* ---- value_walk.c: the walk ---- */

int value_walk(struct walk *w, PyObject *object, unsigned depth);

/* Before what is in an object is walked: refuses cycles and depth. */
int value_enter(struct walk *w, PyObject *object, unsigned depth);

/* The elements of a list, which belongs to what was entered at depth. */
int value_walk_list(struct walk *w, PyObject *list, unsigned depth);

/* Each of these: 1 when it was one of theirs and is written, 0 when not, -1. */
int value_walk_other(struct walk *w, PyObject *object, unsigned depth); /* value_other.c */
int value_walk_class(struct walk *w, PyObject *object, unsigned depth); /* value_class.c */
int value_walk_data(struct walk *w, PyObject *object, unsigned depth);  /* value_data.c */

/* The tag of a typed array whose elements have this format of the module struct, and their size; 0
 * for what is none. Bytes are a typed array without a tag: 0 and a size of 1. */
unsigned value_typed_tag(char format, Py_ssize_t item_bytes, int *ret_is_typed);

/* value_data.c, for reading. NULL without an exception: there is no such module here. */
PyObject *value_numpy_array(unsigned tag, PyObject *bytearray, PyObject *dims);
PyObject *value_pandas_table(PyObject *table);

/* value_handle.c: forgets the functions that were kept since the number was the last one. */
uint32_t py_handle_last(void);
void py_handle_forget_since(uint32_t last);

#endif
