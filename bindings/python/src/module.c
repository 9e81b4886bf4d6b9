/* module.c - the module vial._vial: its classes and functions, and what it needs of Python. */
#include "binding.h"

#include <string.h>

struct binding binding;

struct tagged_object {
    PyObject_HEAD unsigned long long tag;
    PyObject *value;
};

PyObject *raise_vial(const struct vial_error *err)
{
    PyObject *type = err->code == VIAL_E_INVALID ? PyExc_ValueError
                     : err->code == VIAL_E_NOMEM ? PyExc_MemoryError
                     : err->code == VIAL_E_GONE  ? binding.gone
                                                 : binding.error;
    PyObject *text = PyUnicode_DecodeUTF8(err->text, (Py_ssize_t)strlen(err->text), "replace");
    PyObject *made = text != NULL ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
    PyObject *code = made != NULL ? PyLong_FromLong(err->code) : NULL;

    if (made != NULL) {
        if (code == NULL || PyObject_SetAttrString(made, "code", code) < 0) {
            PyErr_Clear();
        }
        PyErr_SetObject(type, made);
    }
    Py_XDECREF(text);
    Py_XDECREF(made);
    Py_XDECREF(code);
    return NULL;
}

/* ---- Tagged: a CBOR tag around a value ---- */

static PyObject *tagged_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct tagged_object *self;
    unsigned long long tag;
    PyObject *value;

    (void)keywords;
    if (!PyArg_ParseTuple(args, "KO:Tagged", &tag, &value)) {
        return NULL;
    }
    self = (struct tagged_object *)PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        self->tag = tag;
        Py_INCREF(value);
        self->value = value;
    }
    return (PyObject *)self;
}

static void tagged_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    Py_XDECREF(((struct tagged_object *)object)->value);
    PyObject_Free(object);
    Py_DECREF((PyObject *)type);
}

int tagged_get(PyObject *object, unsigned long long *ret_tag, PyObject **ret_value)
{
    struct tagged_object *self = (struct tagged_object *)object;

    if (self->value == NULL) {
        PyErr_SetString(PyExc_ValueError, "a tag is around nothing");
        return -1;
    }
    *ret_tag = self->tag;
    *ret_value = self->value;
    return 0;
}

PyObject *tagged_type_new(void)
{
    static PyType_Slot slots[] = {
        {Py_tp_new, (void *)tagged_new}, {Py_tp_dealloc, (void *)tagged_dealloc}, {0, NULL}};
    static PyType_Spec spec = {.name = "vial._vial.Tagged",
        .basicsize = sizeof(struct tagged_object),
        .flags = Py_TPFLAGS_DEFAULT,
        .slots = slots};

    return PyType_FromSpec(&spec);
}

/* ---- functions ---- */

/* setup(error, gone, simplify, restore, undefined, json_decode, json_decode_long): called once by
 * the package. */
static PyObject *setup(PyObject *module, PyObject *args)
{
    PyObject *parts[7];

    (void)module;
    if (!PyArg_ParseTuple(args, "OOOOOOO:setup", &parts[0], &parts[1], &parts[2], &parts[3],
            &parts[4], &parts[5], &parts[6])) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        Py_INCREF(parts[i]);
    }
    binding.error = parts[0];
    binding.gone = parts[1];
    binding.simplify = parts[2];
    binding.restore = parts[3];
    binding.undefined = parts[4];
    binding.json_decode = parts[5];
    binding.json_decode_long = parts[6];
    Py_RETURN_NONE;
}

static PyObject *encode(PyObject *module, PyObject *args)
{
    struct encoded e = {.is_cbor = 0};
    PyObject *value, *context, *made;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO:encode", &value, &context) ||
        encode_value(value, "value", context, 0, 0, &e) < 0) {
        return NULL;
    }
    made = Py_BuildValue(
        "(Oy#)", e.is_cbor ? Py_True : Py_False, e.bytes.data, (Py_ssize_t)e.bytes.len);
    bytes_release(&e.bytes);
    return made;
}

static PyObject *decode(PyObject *module, PyObject *args)
{
    PyObject *context;
    const char *bytes;
    Py_ssize_t len;
    int is_cbor;

    (void)module;
    if (!PyArg_ParseTuple(args, "py#O:decode", &is_cbor, &bytes, &len, &context)) {
        return NULL;
    }
    return is_cbor ? decode_cbor(bytes, (size_t)len, context) : decode_json(bytes, (size_t)len);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(vial_version());
}

static PyObject *stop(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    tools_stop();
    Py_RETURN_NONE;
}

static PyObject *after_fork(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    interrupt_setup();
    Py_RETURN_NONE;
}

static PyObject *interrupts(PyObject *module, PyObject *unused)
{
    int fd = interrupt_open();

    (void)module;
    (void)unused;
    return fd < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromLong(fd);
}

static PyObject *check_document(PyObject *module, PyObject *args)
{
    struct vial_error err = {.code = 0};
    const char *document;
    PyObject *list;
    Py_ssize_t len;
    char *json = NULL;

    (void)module;
    if (!PyArg_ParseTuple(args, "s#:check_document", &document, &len)) {
        return NULL;
    }
    if (vial_env_check(document, (size_t)len, &json, &err) < 0) {
        return raise_vial(&err);
    }
    list = decode_json(json, strlen(json));
    vial_text_free(json);
    return list;
}

/* ---- the module ---- */

static int add_type(PyObject *module, const char *name, PyObject *type, PyObject **ret)
{
    *ret = type;
    if (type == NULL) {
        return -1;
    }
    Py_INCREF(type);
    return PyModule_AddObject(module, name, type);
}

static int add_types(PyObject *module)
{
    PyObject *engine_type;

    return add_type(module, "Engine", engine_type_new(), &engine_type) < 0 ||
                   add_type(module, "Run", run_type_new(), &binding.run_type) < 0 ||
                   add_type(module, "Session", session_type_new(), &binding.session_type) < 0 ||
                   add_type(module, "Environment", environment_type_new(),
                       &binding.environment_type) < 0 ||
                   add_type(module, "Tools", tools_type_new(), &binding.tools_type) < 0 ||
                   add_type(module, "Result", result_type_new(), &binding.result_type) < 0 ||
                   add_type(module, "Tagged", tagged_type_new(), &binding.tagged_type) < 0
               ? -1
               : 0;
}

/* The library says what it is; the numbers before the last dot must be those we were made for. */
static int check_library(void)
{
    const char *built = VIAL_PYTHON_VERSION;
    const char *dot = strrchr(built, '.');
    size_t len = dot != NULL ? (size_t)(dot - built) + 1 : strlen(built);

    if (strncmp(vial_version(), built, len) == 0) {
        return 0;
    }
    PyErr_Format(PyExc_ImportError,
        "libvial is of version %s, and this module was made for version %s; install both of one "
        "version",
        vial_version(), built);
    return -1;
}

PyMODINIT_FUNC PyInit__vial(void);

PyMODINIT_FUNC PyInit__vial(void)
{
    static PyMethodDef methods[] = {{"setup", setup, METH_VARARGS, NULL},
        {"encode", encode, METH_VARARGS, NULL}, {"decode", decode, METH_VARARGS, NULL},
        {"version", version, METH_NOARGS, NULL}, {"stop", stop, METH_NOARGS, NULL},
        {"after_fork", after_fork, METH_NOARGS, NULL},
        {"interrupts", interrupts, METH_NOARGS, NULL}, {"answer", tools_answer, METH_VARARGS, NULL},
        {"fail", tools_fail, METH_VARARGS, NULL},
        {"approve", tools_approve_later, METH_VARARGS, NULL},
        {"check_document", check_document, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
    static struct PyModuleDef definition = {
        PyModuleDef_HEAD_INIT, .m_name = "vial._vial", .m_size = -1, .m_methods = methods};
    PyObject *module;

    if (check_library() < 0) {
        return NULL;
    }
    module = PyModule_Create(&definition);
    if (module == NULL || tools_setup() < 0 || add_types(module) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    interrupt_setup();
    return module;
}
