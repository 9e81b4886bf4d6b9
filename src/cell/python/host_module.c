/* host_module.c - the module _vial_host: what the prelude cannot do in Python.
 *
 * Calls of tools go out and answers come in through cell/calls.h. Who waits for an answer lets
 * other threads of Python go on. */
#include <math.h>

#include "base/clock.h"
#include "cell/artifacts.h"
#include "cell/calls.h"
#include "cell/python/python.h"
#include "cell/python/value.h"
#include "wire/fetch.h"
#include "wire/field.h"
#include "wire/frame.h"

enum { ARGS_KEEP_BYTES = 65536 }; /* a larger buffer is given back after the call is sent */

static uint32_t call_bytes_max, request_bytes_max;
static struct buf args = {.max = SIZE_MAX / 4};

void py_host_begin(const struct guest_start *start)
{
    call_bytes_max = start->call_bytes_max;
    request_bytes_max = start->request_bytes_max;
    if (call_bytes_max > 0 || request_bytes_max > 0) {
        calls_begin(request_bytes_max > 0 && call_bytes_max < FETCH_PIECE_BYTES ? FETCH_PIECE_BYTES
                                                                                : call_bytes_max);
    }
}

/* (tool, value, may_be_cbor, is_waited_for): makes a call and gives its number. Arguments that are
 * too large are left out, and the host says so. */
static PyObject *host_call(PyObject *self, PyObject *const *argv, Py_ssize_t argc)
{
    uint32_t kind;
    uint32_t id;
    uint64_t size;
    long tool;
    int is_cbor = 0;

    (void)self;
    if (argc != 4) {
        PyErr_SetString(PyExc_TypeError, "call takes a tool, a value and two kinds");
        return NULL;
    }
    tool = PyLong_AsLong(argv[0]);
    buf_clear(&args);
    if (PyErr_Occurred() != NULL ||
        py_value_encode(argv[1], PyObject_IsTrue(argv[2]), UINT32_MAX, &args, &is_cbor) < 0) {
        return NULL;
    }
    size = args.len;
    kind = args.len > call_bytes_max ? CALL_LARGE : is_cbor ? CALL_CBOR : CALL_JSON;
    id = (PyObject_IsTrue(argv[3]) ? calls_add_claimed : calls_add)((uint32_t)tool, kind,
        kind == CALL_LARGE ? (const char *)&size : args.data,
        kind == CALL_LARGE ? sizeof(size) : args.len);
    if (args.capacity > ARGS_KEEP_BYTES) {
        buf_release(&args);
    }
    return PyLong_FromUnsignedLong(id);
}

/* (op, stream, head, body, is_waited_for, flags): a call of FETCH_TOOL; head and body are bytes.
 * Its number. A body that is too large is left out, and the host says so. */
static PyObject *host_fetch(PyObject *self, PyObject *const *argv, Py_ssize_t argc)
{
    struct fetch_ask ask = {.op = FETCH_OPEN};
    uint32_t (*add)(uint32_t, uint32_t, const char *, size_t);
    struct buf bytes = {.max = SIZE_MAX / 4};
    size_t head_len, body_len;
    uint64_t size;
    uint32_t id;

    (void)self;
    if (argc != 6 || !PyBytes_Check(argv[2]) || !PyBytes_Check(argv[3])) {
        PyErr_SetString(PyExc_TypeError, "fetch takes two numbers, two bytes, a kind and flags");
        return NULL;
    }
    ask.op = (uint32_t)PyLong_AsUnsignedLongMask(argv[0]);
    ask.stream = (uint32_t)PyLong_AsUnsignedLongMask(argv[1]);
    ask.flags = (uint32_t)PyLong_AsUnsignedLongMask(argv[5]);
    if (PyErr_Occurred() != NULL) {
        return NULL;
    }
    head_len = (size_t)PyBytes_GET_SIZE(argv[2]);
    body_len = (size_t)PyBytes_GET_SIZE(argv[3]);
    add = PyObject_IsTrue(argv[4]) ? calls_add_claimed : calls_add;
    if (body_len > request_bytes_max || head_len > FETCH_HEAD_BYTES_MAX) {
        size = head_len + body_len;
        return PyLong_FromUnsignedLong(
            add(FETCH_TOOL, CALL_LARGE, (const char *)&size, sizeof(size)));
    }
    ask.head_len = (uint32_t)head_len;
    if (buf_add(&bytes, &ask, sizeof(ask), NULL) < 0 ||
        buf_add(&bytes, PyBytes_AS_STRING(argv[2]), head_len, NULL) < 0 ||
        buf_add(&bytes, PyBytes_AS_STRING(argv[3]), body_len, NULL) < 0) {
        buf_release(&bytes);
        return PyErr_NoMemory();
    }
    id = add(FETCH_TOOL, CALL_BYTES, bytes.data, bytes.len);
    buf_release(&bytes);
    return PyLong_FromUnsignedLong(id);
}

/* What came with an answer. */
static PyObject *answer_value(const struct answer *answer)
{
    if (answer->kind == ANSWER_UNDEFINED) {
        Py_RETURN_NONE;
    }
    if (answer->kind == ANSWER_BYTES) {
        return PyBytes_FromStringAndSize(answer->bytes, (Py_ssize_t)answer->len);
    }
    return answer->kind == ANSWER_CBOR ? py_value_from_cbor(answer->bytes, answer->len)
                                       : py_value_from_json(answer->bytes, answer->len);
}

/* (number): waits for the answer to a call that is waited for. (kind, value). */
static PyObject *host_wait(PyObject *self, PyObject *number)
{
    uint32_t id = (uint32_t)PyLong_AsUnsignedLongMask(number);
    struct answer answer;
    PyObject *value;
    int came;

    (void)self;
    Py_BEGIN_ALLOW_THREADS;
    came = calls_wait_for(id, &answer);
    Py_END_ALLOW_THREADS;
    if (!came) { /* the program is to stop, or has ended */
        if (Py_MakePendingCalls() == 0) {
            PyErr_SetString(PyExc_KeyboardInterrupt, "the call was abandoned");
        }
        return NULL;
    }
    value = answer_value(&answer);
    return value != NULL ? Py_BuildValue("(kN)", (unsigned long)answer.kind, value) : NULL;
}

static int add_answer(PyObject *list, const struct answer *answer)
{
    PyObject *value = answer_value(answer);
    PyObject *row = value != NULL ? Py_BuildValue("(kkN)", (unsigned long)answer->id,
                                        (unsigned long)answer->kind, value)
                                  : NULL;
    int r = row != NULL ? PyList_Append(list, row) : -1;

    Py_XDECREF(row);
    return r;
}

/* (seconds): the answers that have come, waiting so long for the first one, for ever when negative.
 */
static PyObject *host_answers(PyObject *self, PyObject *seconds)
{
    double wait = PyFloat_AsDouble(seconds);
    PyObject *list = PyList_New(0);
    struct answer answer;
    uint64_t until;
    int came, r = 0;

    (void)self;
    if (list == NULL || PyErr_Occurred() != NULL) {
        Py_XDECREF(list);
        return NULL;
    }
    until = wait < 0 || wait > 1e9 ? UINT64_MAX : clock_now_us() + (uint64_t)ceil(wait * 1e6);
    Py_BEGIN_ALLOW_THREADS;
    came = calls_next(until, &answer);
    Py_END_ALLOW_THREADS;
    while (came && r == 0) {
        r = add_answer(list, &answer);
        came = calls_has_more() && calls_next(0, &answer);
    }
    if (r < 0) {
        Py_DECREF(list);
        return NULL;
    }
    return list;
}

/* One (type, bytes) of an artifact, borrowed. 0, or -1 with an exception. */
static int read_part(PyObject *pair, struct artifact_part *part)
{
    PyObject *mime = NULL, *bytes = NULL;
    Py_ssize_t len = 0;

    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "a representation is a tuple of a type and bytes");
        return -1;
    }
    mime = PyTuple_GET_ITEM(pair, 0);
    bytes = PyTuple_GET_ITEM(pair, 1);
    if (!PyUnicode_Check(mime) || !PyBytes_Check(bytes)) {
        PyErr_SetString(PyExc_TypeError, "a representation is a tuple of a type and bytes");
        return -1;
    }
    part->mime = PyUnicode_AsUTF8AndSize(mime, &len);
    part->mime_len = (size_t)len;
    part->bytes = PyBytes_AS_STRING(bytes);
    part->len = (size_t)PyBytes_GET_SIZE(bytes);
    return part->mime != NULL ? 0 : -1;
}

/* (name, parts): shows something beside the value of the program. The name is a string or None, the
 * parts are a list of (type, bytes), which nobody else has. */
static PyObject *host_artifact(PyObject *self, PyObject *const *argv, Py_ssize_t argc)
{
    struct artifact_part parts[ARTIFACT_PARTS_MAX] = {{.mime = NULL}};
    const char *name = "", *why = "";
    Py_ssize_t name_len = 0, i, count;

    (void)self;
    if (argc != 2 || !PyList_Check(argv[1]) || (argv[0] != Py_None && !PyUnicode_Check(argv[0]))) {
        PyErr_SetString(PyExc_TypeError, "artifact takes a name or None, and a list");
        return NULL;
    }
    if (argv[0] != Py_None) {
        name = PyUnicode_AsUTF8AndSize(argv[0], &name_len);
        if (name == NULL) {
            return NULL;
        }
    }
    count = PyList_GET_SIZE(argv[1]);
    for (i = 0; i < count && i < ARTIFACT_PARTS_MAX; i++) {
        if (read_part(PyList_GET_ITEM(argv[1], i), &parts[i]) < 0) {
            return NULL;
        }
    }
    if (cell_artifact(name, (size_t)name_len, parts,
            (unsigned)(count <= ARTIFACT_PARTS_MAX ? count : ARTIFACT_PARTS_MAX + 1), &why) < 0) {
        PyErr_SetString(PyExc_ValueError, why);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"call", (PyCFunction)(void (*)(void))host_call, METH_FASTCALL, NULL},
    {"fetch", (PyCFunction)(void (*)(void))host_fetch, METH_FASTCALL, NULL},
    {"wait", host_wait, METH_O, NULL},
    {"answers", host_answers, METH_O, NULL},
    {"artifact", (PyCFunction)(void (*)(void))host_artifact, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, .m_name = "_vial_host", .m_size = -1, .m_methods = METHODS};

PyObject *py_host_module(void)
{
    return PyModule_Create(&MODULE);
}
