/* value_decode_tag.c - the other half of value_decode.c: what tags are around. */
#include "cell/python/value_decode.h"

#include <datetime.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int value_decode_warm(void)
{
    PyDateTime_IMPORT;
    return PyDateTimeAPI != NULL ? 0 : -1;
}

/* ---- times ---- */

/* Milliseconds are all that a Date of JavaScript has. None for an invalid one. */
static PyObject *date_of_seconds(struct decoder *d, double seconds)
{
    double ms = round(seconds * 1000);
    PyObject *delta, *epoch, *time;
    double days;

    if (isnan(seconds) || fabs(ms) > 8.64e15) {
        Py_RETURN_NONE;
    }
    days = floor(ms / 86400e3);
    ms -= days * 86400e3;
    delta = PyDelta_FromDSU((int)days, (int)floor(ms / 1000), (int)fmod(ms, 1000) * 1000);
    epoch = PyDateTimeAPI->DateTime_FromDateAndTime(
        1970, 1, 1, 0, 0, 0, 0, PyDateTime_TimeZone_UTC, PyDateTimeAPI->DateTimeType);
    time = delta != NULL && epoch != NULL ? PyNumber_Add(epoch, delta) : NULL;
    Py_XDECREF(delta);
    Py_XDECREF(epoch);
    if (time == NULL && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        return decode_fail(d, "a date beyond the years 1 to 9999");
    }
    return time;
}

static PyObject *decode_date(struct decoder *d, unsigned depth)
{
    PyObject *number = decode_value(d, depth + 1);
    PyObject *time = NULL;
    double seconds;

    if (number == NULL) {
        return NULL;
    }
    seconds = PyFloat_Check(number) || PyLong_Check(number) ? PyFloat_AsDouble(number) : -1;
    if (!PyFloat_Check(number) && !PyLong_Check(number)) {
        (void)decode_fail(d, "a date that is not a number");
    } else if (PyErr_Occurred() == NULL) {
        time = date_of_seconds(d, seconds);
    }
    Py_DECREF(number);
    return time;
}

/* Something of a text: what make(text) gives. */
static PyObject *made_of_text(struct decoder *d, PyObject *make)
{
    PyObject *text = decode_text(d);
    PyObject *made = text != NULL ? PyObject_CallOneArg(make, text) : NULL;

    Py_XDECREF(text);
    return made;
}

/* In UTC, whatever zone the text has. */
static PyObject *decode_date_text(struct decoder *d)
{
    PyObject *time = made_of_text(d, value_types.datetime_from_text);
    PyObject *moved;

    if (time == NULL || !PyDateTime_Check(time)) {
        return time;
    }
    if (PyDateTime_DATE_GET_TZINFO(time) == Py_None) {
        moved = PyDateTimeAPI->DateTime_FromDateAndTime(PyDateTime_GET_YEAR(time),
            PyDateTime_GET_MONTH(time), PyDateTime_GET_DAY(time), PyDateTime_DATE_GET_HOUR(time),
            PyDateTime_DATE_GET_MINUTE(time), PyDateTime_DATE_GET_SECOND(time),
            PyDateTime_DATE_GET_MICROSECOND(time), PyDateTime_TimeZone_UTC,
            PyDateTimeAPI->DateTimeType);
    } else {
        moved = PyObject_CallFunctionObjArgs(
            value_types.timezone_change, time, PyDateTime_TimeZone_UTC, NULL);
    }
    Py_DECREF(time);
    return moved;
}

static int decode_int(struct decoder *d, int64_t max, int64_t *ret)
{
    struct decode_head h;

    if (decode_head(d, &h) < 0) {
        return -1;
    }
    if ((h.major != CBOR_UINT && h.major != CBOR_NEGATIVE) || h.argument > (uint64_t)max) {
        (void)decode_fail(d, "a number that is none, or too large");
        return -1;
    }
    *ret = h.major == CBOR_UINT ? (int64_t)h.argument : -1 - (int64_t)h.argument;
    return 0;
}

static PyObject *decode_timedelta(struct decoder *d)
{
    int64_t days, seconds, us;

    if (decode_int(d, 999999999, &days) < 0 || decode_int(d, 86399, &seconds) < 0 ||
        decode_int(d, 999999, &us) < 0) {
        return NULL;
    }
    return PyDelta_FromDSU((int)days, (int)seconds, (int)us);
}

/* ---- numbers ---- */

static PyObject *decode_bigint(struct decoder *d, int is_negative)
{
    const char *bytes;
    PyObject *number;
    uint64_t n;

    if (decode_expect(d, CBOR_BYTES, &n) < 0) {
        return NULL;
    }
    bytes = decode_bytes(d, n);
    number =
        bytes != NULL ? _PyLong_FromByteArray((const unsigned char *)bytes, (size_t)n, 0, 0) : NULL;
    if (number != NULL && is_negative) {
        Py_SETREF(number, PyNumber_Invert(number));
    }
    return number;
}

/* The two parts of a number, integers of any size: 0, or -1. */
static int decode_two(
    struct decoder *d, PyObject **ret_first, PyObject **ret_second, unsigned depth)
{
    uint64_t n;

    *ret_first = *ret_second = NULL;
    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return -1;
    }
    *ret_first = n == 2 ? decode_value(d, depth + 1) : NULL;
    *ret_second = *ret_first != NULL ? decode_value(d, depth + 1) : NULL;
    if (*ret_second == NULL || !PyLong_Check(*ret_first) || !PyLong_Check(*ret_second)) {
        (void)decode_fail(d, "a number without its two parts");
        Py_CLEAR(*ret_first);
        Py_CLEAR(*ret_second);
        return -1;
    }
    return 0;
}

static PyObject *decode_decimal(struct decoder *d, unsigned depth)
{
    PyObject *exponent, *mantissa, *text, *number = NULL;

    if (decode_two(d, &exponent, &mantissa, depth) < 0) {
        return NULL;
    }
    text = PyUnicode_FromFormat("%SE%S", mantissa, exponent);
    if (text != NULL) {
        number = PyObject_CallOneArg((PyObject *)value_types.decimal, text);
        if (number == NULL && PyErr_ExceptionMatches(PyExc_ArithmeticError)) {
            PyErr_Clear();
            (void)decode_fail(d, "a decimal beyond what there is");
        }
    }
    Py_DECREF(exponent);
    Py_DECREF(mantissa);
    Py_XDECREF(text);
    return number;
}

static PyObject *decode_fraction(struct decoder *d, unsigned depth)
{
    PyObject *numerator, *denominator, *number;

    if (decode_two(d, &numerator, &denominator, depth) < 0) {
        return NULL;
    }
    if (_PyLong_Sign(denominator) <= 0) {
        number = decode_fail(d, "a fraction without a denominator");
    } else {
        number = PyObject_CallFunctionObjArgs(
            (PyObject *)value_types.fraction, numerator, denominator, NULL);
    }
    Py_DECREF(numerator);
    Py_DECREF(denominator);
    return number;
}

static PyObject *decode_complex(struct decoder *d, unsigned depth)
{
    PyObject *real = decode_value(d, depth + 1);
    PyObject *imaginary = real != NULL ? decode_value(d, depth + 1) : NULL;
    PyObject *number = NULL;

    if (imaginary != NULL) {
        number = PyFloat_Check(real) && PyFloat_Check(imaginary)
                     ? PyComplex_FromDoubles(PyFloat_AS_DOUBLE(real), PyFloat_AS_DOUBLE(imaginary))
                     : decode_fail(d, "a complex number of something else than floats");
    }
    Py_XDECREF(real);
    Py_XDECREF(imaginary);
    return number;
}

static PyObject *decode_uuid(struct decoder *d)
{
    const char *bytes;
    uint64_t n;

    if (decode_expect(d, CBOR_BYTES, &n) < 0) {
        return NULL;
    }
    bytes = n == UUID_BYTES ? decode_bytes(d, n) : NULL;
    if (bytes == NULL) {
        return decode_fail(d, "a UUID that is not 16 bytes long");
    }
    return PyObject_CallFunction((PyObject *)value_types.uuid, "zy#", NULL, bytes, (Py_ssize_t)n);
}

/* ---- arrays of numbers ---- */

/* The letter that array.array has for a tag, and how many bytes such an element has. */
static char letter_of(uint64_t tag, unsigned *ret_bytes)
{
    static const struct {
        uint16_t tag;
        uint8_t bytes;
        char letter;
    } letters[] = {{TAG_UINT8_CLAMPED, 1, 'B'}, {TAG_UINT16, 2, 'H'}, {TAG_UINT32, 4, 'I'},
        {TAG_UINT64, 8, 'Q'}, {TAG_INT8, 1, 'b'}, {TAG_INT16, 2, 'h'}, {TAG_INT32, 4, 'i'},
        {TAG_INT64, 8, 'q'}, {TAG_FLOAT16, 2, 'e'}, {TAG_FLOAT32, 4, 'f'}, {TAG_FLOAT64, 8, 'd'}};
    size_t i;

    for (i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].tag == tag) {
            *ret_bytes = letters[i].bytes;
            return letters[i].letter;
        }
    }
    return '\0';
}

/* array.array has no floats of 16 bits: they become those of 32. */
static PyObject *widen(const char *bytes, size_t n)
{
    PyObject *wide = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n * 2);
    float v;
    size_t i;

    for (i = 0; wide != NULL && i + 1 < n; i += 2) {
        v = (float)PyFloat_Unpack2(bytes + i, 1);
        memcpy(PyBytes_AS_STRING(wide) + 2 * i, &v, sizeof(v));
    }
    return wide;
}

static PyObject *array_of(char letter, const char *bytes, size_t n)
{
    PyObject *content =
        letter == 'e' ? widen(bytes, n) : PyBytes_FromStringAndSize(bytes, (Py_ssize_t)n);
    PyObject *array = content != NULL ? PyObject_CallFunction((PyObject *)value_types.array, "CO",
                                            letter == 'e' ? 'f' : letter, content)
                                      : NULL;

    Py_XDECREF(content);
    return array;
}

/* dims may be NULL. Bytes without a tag are a typed array only in one of several dimensions. */
static PyObject *typed_array(struct decoder *d, uint64_t tag, PyObject *dims)
{
    unsigned element_bytes = 1;
    char letter = tag == 0 ? 'B' : letter_of(tag, &element_bytes);
    PyObject *memory, *array;
    const char *bytes;
    uint64_t n;

    if (letter == '\0') {
        return decode_fail(d, "an unknown tag");
    }
    if (decode_expect(d, CBOR_BYTES, &n) < 0 || (bytes = decode_bytes(d, n)) == NULL) {
        return NULL;
    }
    if (n % element_bytes != 0) {
        return decode_fail(d, "half an element of a typed array");
    }
    memory = PyByteArray_FromStringAndSize(bytes, (Py_ssize_t)n);
    if (memory == NULL) {
        return NULL;
    }
    array = value_numpy_array((unsigned)tag, memory, dims);
    Py_DECREF(memory);
    return array != NULL ? array : array_of(letter, bytes, (size_t)n);
}

/* Without numpy: lists in lists. Takes the elements in their order from flat. */
static PyObject *nested(PyObject *flat, PyObject *dims, Py_ssize_t level, Py_ssize_t *at)
{
    Py_ssize_t n = PyLong_AsSsize_t(PyList_GET_ITEM(dims, level));
    PyObject *list = n >= 0 ? PyList_New(n) : NULL;
    PyObject *item;
    Py_ssize_t i;

    for (i = 0; list != NULL && i < n; i++) {
        item = level + 1 < PyList_GET_SIZE(dims) ? nested(flat, dims, level + 1, at)
                                                 : PySequence_GetItem(flat, (*at)++);
        if (item == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* The dimensions as a list of ints, and how many elements that makes. */
static PyObject *decode_dims(struct decoder *d, uint64_t *ret_count)
{
    PyObject *dims, *number;
    uint64_t n, v, i;
    uint64_t count = 1;

    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return NULL;
    }
    if (n < 1 || n > NDARRAY_DIMS_MAX) {
        return decode_fail(d, "an array of too many dimensions");
    }
    dims = PyList_New((Py_ssize_t)n);
    for (i = 0; dims != NULL && i < n; i++) {
        number = decode_expect(d, CBOR_UINT, &v) == 0 ? PyLong_FromUnsignedLongLong(v) : NULL;
        if (number == NULL || __builtin_mul_overflow(count, v, &count)) {
            Py_XDECREF(number);
            Py_DECREF(dims);
            return decode_fail(d, "an array that is too large");
        }
        PyList_SET_ITEM(dims, (Py_ssize_t)i, number);
    }
    *ret_count = count;
    return dims;
}

/* Lists of lists. An array without elements is one empty list: its other dimensions may be of any
 * size, and must not become as many lists. */
static PyObject *nest(struct decoder *d, PyObject *flat, PyObject *dims, uint64_t count)
{
    Py_ssize_t n = PyObject_Size(flat);
    Py_ssize_t at = 0;

    if (n < 0 || (uint64_t)n != count) {
        return decode_fail(d, "an array whose dimensions are not those of its elements");
    }
    return count == 0 ? PyList_New(0) : nested(flat, dims, 0, &at);
}

static PyObject *decode_ndarray(struct decoder *d)
{
    PyObject *dims, *array, *lists = NULL;
    struct decode_head h;
    uint64_t n, count = 0;
    size_t before;

    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return NULL;
    }
    dims = n == 2 ? decode_dims(d, &count) : decode_fail(d, "an array without its two parts");
    before = d->at;
    if (dims == NULL || decode_head(d, &h) < 0) {
        Py_XDECREF(dims);
        return NULL;
    }
    if (h.major != CBOR_TAG) {
        h.argument = 0;
        d->at = before; /* the head of the bytes themselves */
    }
    array = typed_array(d, h.argument, dims);
    if (array != NULL && Py_TYPE(array) == value_types.array) {
        lists = nest(d, array, dims, count);
        Py_SETREF(array, lists);
    }
    Py_DECREF(dims);
    return array;
}

/* ---- the rest ---- */

static PyObject *decode_set(struct decoder *d, unsigned depth)
{
    PyObject *list, *set, *item;
    Py_ssize_t i;
    uint64_t n;

    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return NULL;
    }
    list = decode_list(d, n, depth);
    for (i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        item = decode_frozen(Py_NewRef(PyList_GET_ITEM(list, i)));
        if (item == NULL || PyList_SetItem(list, i, item) < 0) {
            Py_CLEAR(list);
        }
    }
    set = list != NULL ? PySet_New(list) : NULL;
    if (set == NULL && list != NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* some of them have no hash: they stay a list */
        return list;
    }
    Py_XDECREF(list);
    return set;
}

/* What Python cannot compile stays text: the two languages differ in the rarer parts. */
static PyObject *decode_regexp(struct decoder *d)
{
    PyObject *source, *flags = NULL, *pattern = NULL;
    long bits = 0;
    Py_ssize_t i;
    uint64_t n;

    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return NULL;
    }
    source = n == 2 ? decode_text(d) : decode_fail(d, "a RegExp without its two parts");
    flags = source != NULL ? decode_text(d) : NULL;
    if (flags == NULL) {
        Py_XDECREF(source);
        return NULL;
    }
    for (i = 0; i < PyUnicode_GET_LENGTH(flags); i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(flags, i);

        bits |= c == 'i' ? 2 : c == 'm' ? 8 : c == 's' ? 16 : 0;
    }
    pattern = PyObject_CallFunction(value_types.regexp_compile, "Ol", source, bits);
    Py_DECREF(flags);
    if (pattern == NULL) {
        PyErr_Clear();
        return source;
    }
    Py_DECREF(source);
    return pattern;
}

/* An exception of the class that Python has by this name, else an Exception that has it as a
 * member. */
static PyObject *exception_of(PyObject *name, PyObject *message)
{
    PyObject *class = PyDict_GetItemWithError(value_types.exceptions, name);
    PyObject *error = class != NULL ? PyObject_CallOneArg(class, message) : NULL;

    if (error == NULL) {
        PyErr_Clear(); /* some want more than a message */
        error = PyObject_CallOneArg(PyExc_Exception, message);
        if (error != NULL && PyObject_SetAttrString(error, "name", name) < 0) {
            Py_CLEAR(error);
        }
    }
    return error;
}

static PyObject *decode_error(struct decoder *d, uint64_t count, unsigned depth)
{
    PyObject *name = decode_text(d);
    PyObject *message = name != NULL ? decode_text(d) : NULL;
    PyObject *stack = message != NULL ? decode_text(d) : NULL;
    PyObject *error = stack != NULL ? exception_of(name, message) : NULL;
    PyObject *cause;

    if (error != NULL && PyUnicode_GET_LENGTH(stack) > 0 &&
        PyObject_SetAttrString(error, "stack", stack) < 0) {
        Py_CLEAR(error);
    }
    if (error != NULL && count == 5) {
        cause = decode_value(d, depth + 1);
        if (cause == NULL) {
            Py_CLEAR(error);
        } else if (PyExceptionInstance_Check(cause)) {
            PyException_SetCause(error, cause); /* takes it */
        } else {
            (void)PyObject_SetAttrString(error, "cause", cause);
            Py_DECREF(cause);
        }
    }
    Py_XDECREF(name);
    Py_XDECREF(message);
    Py_XDECREF(stack);
    return error;
}

static PyObject *decode_sparse(struct decoder *d, unsigned depth)
{
    uint64_t length, pairs, i, index;
    PyObject *list, *item;

    if (decode_expect(d, CBOR_UINT, &length) < 0 || decode_expect(d, CBOR_MAP, &pairs) < 0) {
        return NULL;
    }
    if (length > SPARSE_COUNT_MAX || pairs > length) {
        return decode_fail(d, "a sparse array that is too long");
    }
    list = PyList_New((Py_ssize_t)length);
    for (i = 0; list != NULL && i < length; i++) {
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef(Py_None));
    }
    for (i = 0; list != NULL && i < pairs; i++) {
        item = decode_expect(d, CBOR_UINT, &index) == 0 ? decode_value(d, depth + 1) : NULL;
        if (item == NULL || index >= length) {
            Py_XDECREF(item);
            Py_DECREF(list);
            return decode_fail(d, "an element beyond the end of its array");
        }
        (void)PyList_SetItem(list, (Py_ssize_t)index, item);
    }
    return list;
}

/* A DataFrame where there is pandas and all rows have come, else the dict as it is. */
static PyObject *decode_table(struct decoder *d, unsigned depth)
{
    PyObject *table, *rows, *frame = NULL;
    Py_ssize_t count;
    uint64_t n;

    if (decode_expect(d, CBOR_MAP, &n) < 0) {
        return NULL;
    }
    table = decode_pairs(d, n, 0, depth);
    rows = table != NULL ? PyDict_GetItemString(table, "rows") : NULL;
    if (rows != NULL && PyList_CheckExact(rows)) {
        PyObject *number = PyDict_GetItemString(table, "row_count");

        count = number != NULL && PyLong_Check(number) ? PyLong_AsSsize_t(number) : -1;
        PyErr_Clear();
        frame = count == PyList_GET_SIZE(rows) ? value_pandas_table(table) : NULL;
    }
    if (frame != NULL) {
        Py_SETREF(table, frame);
    }
    return table;
}

static PyObject *decode_function(struct decoder *d)
{
    uint64_t handle;

    if (decode_expect(d, CBOR_UINT, &handle) < 0) {
        return NULL;
    }
    return py_handle_get(handle <= UINT32_MAX ? (uint32_t)handle : 0);
}

/* [type name, ...] */
static PyObject *decode_object(struct decoder *d, unsigned depth)
{
    PyObject *name, *value;
    const char *type;
    uint64_t n;

    if (decode_expect(d, CBOR_ARRAY, &n) < 0) {
        return NULL;
    }
    name = decode_text(d);
    type = name != NULL ? PyUnicode_AsUTF8(name) : NULL;
    if (type == NULL) {
        Py_XDECREF(name);
        return NULL;
    }
    if (strcmp(type, "Error") == 0 && (n == 4 || n == 5)) {
        value = decode_error(d, n, depth);
    } else if (strcmp(type, "ArrayBuffer") == 0 && n == 2) {
        value = decode_value(d, depth + 1);
    } else if (strcmp(type, "Array") == 0 && n == 3) {
        value = decode_sparse(d, depth);
    } else if (strcmp(type, "Function") == 0 && n == 2) {
        value = decode_function(d);
    } else if (strcmp(type, "complex") == 0 && n == 3) {
        value = decode_complex(d, depth);
    } else if (strcmp(type, "datetime") == 0 && n == 2) {
        value = made_of_text(d, value_types.datetime_from_text);
    } else if (strcmp(type, "time") == 0 && n == 2) {
        value = made_of_text(d, value_types.time_from_text);
    } else if (strcmp(type, "timedelta") == 0 && n == 4) {
        value = decode_timedelta(d);
    } else if (strcmp(type, "Decimal") == 0 && n == 2) {
        value = made_of_text(d, (PyObject *)value_types.decimal);
    } else if (strcmp(type, "Table") == 0 && n == 2) {
        value = decode_table(d, depth);
    } else {
        value = decode_fail(d, "an object of an unknown type");
    }
    Py_DECREF(name);
    return value;
}

PyObject *decode_tag(struct decoder *d, uint64_t tag, unsigned depth)
{
    uint64_t n;

    switch (tag) {
    case TAG_DATE_TEXT:
        return decode_date_text(d);
    case TAG_DATE:
        return decode_date(d, depth);
    case TAG_BIGINT:
    case TAG_BIGINT_NEGATIVE:
        return decode_bigint(d, tag == TAG_BIGINT_NEGATIVE);
    case TAG_DECIMAL:
        return decode_decimal(d, depth);
    case TAG_FRACTION:
        return decode_fraction(d, depth);
    case TAG_UUID:
        return decode_uuid(d);
    case TAG_DAY:
        return made_of_text(d, value_types.date_from_text);
    case TAG_URL:
        return decode_text(d);
    case TAG_REGEXP:
        return decode_regexp(d);
    case TAG_NDARRAY:
        return decode_ndarray(d);
    case TAG_SET:
        return decode_set(d, depth);
    case TAG_MAP:
        return decode_expect(d, CBOR_MAP, &n) < 0 ? NULL : decode_pairs(d, n, 1, depth);
    case TAG_OBJECT:
        return decode_object(d, depth);
    default:
        return tag == 0 ? decode_fail(d, "an unknown tag") : typed_array(d, tag, NULL);
    }
}
