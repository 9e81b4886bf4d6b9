/* tools.c - functions of Python as tools.
 *
 * The library calls call_function without the GIL, in any thread, and possibly when the run is over
 * and its tools are gone. So what it is given is a number, which is looked up with the GIL held. */
#include "binding.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 64 }; /* of an error, as the library has it */

struct tools_object {
    PyObject_HEAD struct vial_tool *tools;
    size_t count;
    PyObject *keep; /* owners of the strings */
    uint64_t *numbers;
};

static PyObject *functions; /* by number: (function, is_later, context) */
static uint64_t last_number;
static int is_stopped;

int tools_setup(void)
{
    functions = PyDict_New();
    return functions != NULL ? 0 : -1;
}

void tools_stop(void)
{
    __atomic_store_n(&is_stopped, 1, __ATOMIC_SEQ_CST);
}

/* ---- answers ---- */

/* How long an answer may be; 0: as the library has it. */
static size_t answer_bytes_max(PyObject *context)
{
    PyObject *number = PyObject_GetAttrString(context, "answer_bytes_max");
    size_t n = number != NULL ? PyLong_AsSize_t(number) : 0;

    Py_XDECREF(number);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return 0;
    }
    return n;
}

static int answer(struct vial_engine *engine, uint64_t id, PyObject *value, PyObject *context)
{
    struct encoded e = {.is_cbor = 0};
    struct vial_error err = {.code = 0};
    int r;

    if (encode_value(value, "the answer", context, 0, answer_bytes_max(context), &e) < 0) {
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS;
    r = e.is_cbor ? vial_call_answer_cbor(engine, id, e.bytes.data, e.bytes.len, &err)
                  : vial_call_answer(engine, id, e.bytes.data, e.bytes.len, &err);
    Py_END_ALLOW_THREADS;
    bytes_release(&e.bytes);
    (void)r; /* one that is too late, or refused, has been told to the guest */
    return 0;
}

static const char *utf8_of(PyObject *text, PyObject **ret_owner)
{
    *ret_owner = text != NULL ? PyUnicode_AsEncodedString(text, "utf-8", "replace") : NULL;
    return *ret_owner != NULL ? PyBytes_AsString(*ret_owner) : NULL;
}

/* Tells the guest the exception that is set, and clears it. */
static void fail_with_exception(struct vial_engine *engine, uint64_t id)
{
    PyObject *type, *value, *trace, *name, *text, *name_bytes, *text_bytes;
    const char *name_text, *message;
    struct vial_error err;
    int r;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    name = type != NULL ? PyObject_GetAttrString(type, "__name__") : NULL;
    text = value != NULL ? PyObject_Str(value) : NULL;
    PyErr_Clear();
    name_text = utf8_of(name, &name_bytes);
    message = utf8_of(text, &text_bytes);
    PyErr_Clear();
    Py_BEGIN_ALLOW_THREADS;
    r = vial_call_fail(engine, id,
        name_text != NULL && strlen(name_text) <= NAME_BYTES_MAX ? name_text : "Error",
        message != NULL ? message : "the tool failed", NULL, &err);
    Py_END_ALLOW_THREADS;
    (void)r;
    Py_XDECREF(name_bytes);
    Py_XDECREF(text_bytes);
    Py_XDECREF(name);
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

static PyObject *entry_of(uint64_t number)
{
    PyObject *key = PyLong_FromUnsignedLongLong(number);
    PyObject *entry = key != NULL ? PyDict_GetItemWithError(functions, key) : NULL;

    Py_XDECREF(key);
    Py_XINCREF(entry);
    return entry;
}

static PyObject *arguments_of(const struct vial_call *call, PyObject *context)
{
    return call->args_is_cbor != 0 ? decode_cbor(call->args, call->args_len, context)
                                   : decode_json(call->args, call->args_len);
}

static void call_with_gil(struct vial_engine *engine, const struct vial_call *call, PyObject *entry)
{
    PyObject *function = PyTuple_GetItem(entry, 0);
    int is_later = PyTuple_GetItem(entry, 1) == Py_True;
    PyObject *context = PyTuple_GetItem(entry, 2);
    PyObject *args = arguments_of(call, context);
    PyObject *value = NULL;

    if (args != NULL) {
        value = is_later ? PyObject_CallFunction(function, "OKK", args,
                               (unsigned long long)call->id, (unsigned long long)call->run_id)
                         : PyObject_CallFunctionObjArgs(function, args, NULL);
    }
    Py_XDECREF(args);
    if (value != NULL && !is_later && answer(engine, call->id, value, context) < 0) {
        Py_CLEAR(value);
    }
    if (value == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_Exception) && waiting_take_exception()) {
            struct vial_error err;

            (void)!vial_call_fail(engine, call->id, "AbortError", "interrupted", NULL, &err);
        } else {
            fail_with_exception(engine, call->id);
        }
    }
    Py_XDECREF(value);
}

static void call_function(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    struct vial_error err;
    PyGILState_STATE gil;
    PyObject *entry;

    if (__atomic_load_n(&is_stopped, __ATOMIC_SEQ_CST)) {
        (void)!vial_call_fail(engine, call->id, "AbortError", "the host is ending", NULL, &err);
        return;
    }
    gil = PyGILState_Ensure();
    entry = entry_of((uint64_t)(uintptr_t)user);
    if (entry != NULL) {
        call_with_gil(engine, call, entry);
        Py_DECREF(entry);
    } else {
        PyErr_Clear();
        (void)!vial_call_fail(engine, call->id, "AbortError", "the tool is gone", NULL, &err);
    }
    PyGILState_Release(gil);
}

/* on_approve of a request whose user is a struct request. */
int tools_approve(struct vial_engine *engine, const struct vial_call *call, void *user)
{
    const struct request *q = user;
    PyGILState_STATE gil;
    PyObject *args, *said = NULL;
    long code = VIAL_APPROVAL_NO;

    (void)engine;
    if (__atomic_load_n(&is_stopped, __ATOMIC_SEQ_CST)) {
        return VIAL_APPROVAL_NO;
    }
    gil = PyGILState_Ensure();
    args = arguments_of(call, q->context);
    if (args != NULL && q->on_approve != NULL) {
        said = PyObject_CallFunction(
            q->on_approve, "sOK", call->name, args, (unsigned long long)call->id);
    }
    if (said != NULL) {
        code = PyLong_Check(said) ? PyLong_AsLong(said) : VIAL_APPROVAL_NO;
    } else if (PyErr_Occurred() != NULL) {
        PyErr_WriteUnraisable(q->on_approve);
    }
    Py_XDECREF(args);
    Py_XDECREF(said);
    PyGILState_Release(gil);
    return code == VIAL_APPROVAL_YES || code == VIAL_APPROVAL_LATER ? (int)code : VIAL_APPROVAL_NO;
}

/* ---- answers that come later ---- */

PyObject *tools_answer(PyObject *module, PyObject *args)
{
    PyObject *engine, *value, *context;
    unsigned long long id;
    struct vial_engine *e;

    (void)module;
    if (!PyArg_ParseTuple(args, "OKOO:answer", &engine, &id, &value, &context)) {
        return NULL;
    }
    e = engine_use((struct engine_object *)engine);
    if (e == NULL || answer(e, id, value, context) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *tools_fail(PyObject *module, PyObject *args)
{
    const char *name, *message;
    unsigned long long id;
    struct vial_error err;
    struct vial_engine *e;
    PyObject *engine;

    (void)module;
    if (!PyArg_ParseTuple(args, "OKss:fail", &engine, &id, &name, &message)) {
        return NULL;
    }
    e = engine_use((struct engine_object *)engine);
    if (e == NULL) {
        return NULL;
    }
    if (strlen(name) > NAME_BYTES_MAX) {
        name = "Error";
    }
    Py_BEGIN_ALLOW_THREADS;
    (void)!vial_call_fail(e, id, name, message, NULL, &err);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

PyObject *tools_approve_later(PyObject *module, PyObject *args)
{
    PyObject *engine;
    const char *reason;
    unsigned long long id;
    struct vial_error err;
    struct vial_engine *e;
    int yes;

    (void)module;
    if (!PyArg_ParseTuple(args, "OKpz:approve", &engine, &id, &yes, &reason)) {
        return NULL;
    }
    e = engine_use((struct engine_object *)engine);
    if (e == NULL) {
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS;
    (void)!vial_call_approve(e, id, yes, reason, &err);
    Py_END_ALLOW_THREADS;
    Py_RETURN_NONE;
}

/* ---- sets of tools ---- */

static const char *keep_text(struct tools_object *self, PyObject *text)
{
    PyObject *bytes;
    int r;

    if (text == Py_None) {
        return NULL;
    }
    bytes = PyUnicode_AsUTF8String(text);
    r = bytes != NULL ? PyList_Append(self->keep, bytes) : -1;
    Py_XDECREF(bytes);
    return r == 0 ? PyBytes_AsString(bytes) : NULL;
}

/* One of (name, description, input_schema, output_schema, mode, flags, timeout_ms, calls_max,
 * concurrency_max, function, is_later). */
static int add_tool(struct tools_object *self, PyObject *row, PyObject *context)
{
    struct vial_tool *t = &self->tools[self->count];
    PyObject *texts[4], *function, *is_later, *entry, *key;
    unsigned mode, flags, timeout, calls, at_once;
    uint64_t number = ++last_number;
    int r = -1;

    if (!PyArg_ParseTuple(row, "OOOOIIIIIOO", &texts[0], &texts[1], &texts[2], &texts[3], &mode,
            &flags, &timeout, &calls, &at_once, &function, &is_later)) {
        return -1;
    }
    *t = (struct vial_tool)VIAL_TOOL_INIT;
    t->mode = mode;
    t->flags = flags;
    t->timeout_ms_max = timeout;
    t->calls_max = calls;
    t->concurrency_max = at_once;
    t->name = keep_text(self, texts[0]);
    t->description = keep_text(self, texts[1]);
    t->input_schema = keep_text(self, texts[2]);
    t->output_schema = keep_text(self, texts[3]);
    if (PyErr_Occurred() != NULL) {
        return -1;
    }
    t->call = call_function;
    t->user = (void *)(uintptr_t)number; /* NOLINT(performance-no-int-to-ptr): a number */
    self->numbers[self->count] = number;
    entry = PyTuple_Pack(3, function, is_later, context);
    key = PyLong_FromUnsignedLongLong(number);
    if (entry != NULL && key != NULL) {
        r = PyDict_SetItem(functions, key, entry);
    }
    Py_XDECREF(entry);
    Py_XDECREF(key);
    self->count += r == 0;
    return r;
}

static PyObject *tools_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct tools_object *self;
    PyObject *rows, *context;
    Py_ssize_t count;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O:Tools", &PyList_Type, &rows, &context)) {
        return NULL;
    }
    count = PyList_Size(rows);
    self = (struct tools_object *)PyType_GenericAlloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->tools = calloc((size_t)count + 1, sizeof(*self->tools));
    self->numbers = calloc((size_t)count + 1, sizeof(*self->numbers));
    self->keep = PyList_New(0);
    if (self->tools == NULL || self->numbers == NULL || self->keep == NULL) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (add_tool(self, PyList_GetItem(rows, i), context) < 0) {
            Py_DECREF((PyObject *)self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

static void tools_dealloc(PyObject *object)
{
    struct tools_object *self = (struct tools_object *)object;
    PyTypeObject *type = Py_TYPE(object);

    for (size_t i = 0; i < self->count; i++) {
        PyObject *key = PyLong_FromUnsignedLongLong(self->numbers[i]);

        if (key == NULL || PyDict_DelItem(functions, key) < 0) {
            PyErr_Clear();
        }
        Py_XDECREF(key);
    }
    free(self->tools);
    free(self->numbers);
    Py_XDECREF(self->keep);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

int tools_get(PyObject *set, const struct vial_tool **ret, size_t *ret_count)
{
    struct tools_object *self = (struct tools_object *)set;

    if ((PyObject *)Py_TYPE(set) != binding.tools_type) {
        PyErr_SetString(PyExc_TypeError, "tools must be a _vial.Tools");
        return -1;
    }
    *ret = self->tools;
    *ret_count = self->count;
    return 0;
}

PyObject *tools_type_new(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)tools_new}, {Py_tp_dealloc, (void *)tools_dealloc}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Tools",
        .basicsize = sizeof(struct tools_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}
